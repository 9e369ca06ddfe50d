// Records find the story of their job, from when it begins until it is forgotten.
#include "nodes/keeper/job_stories.hpp"

#include <catch2/catch.hpp>

using namespace dag;

namespace {

JournalEvent of_job(JobId job, EventWhat what) {
  JournalEvent record;
  record.job = job;
  record.what = std::move(what);
  return record;
}

}  // namespace

TEST_CASE("each job's records are its own, and go when it is forgotten") {
  JobStories records;
  REQUIRE(records.enabled());
  const JobId one{1}, two{2};
  records.record(of_job(one, event::Settled{Outcome::finished, "a"}));
  CHECK_FALSE(records.details(one));  // Not begun.
  for (const JobId job : {one, two}) {
    records.record(of_job(job, event::TasksKnown{true, {{"a", 2}}}));
  }
  records.record(of_job(one, event::Settled{Outcome::finished, "a"}));
  records.record(of_job(one, event::Started{}));
  CHECK(records.details(one)->classes == std::vector<ClassInfo>{{"a", {1, 1, 0, 0, 0}}});
  CHECK(records.details(two)->classes == std::vector<ClassInfo>{{"a", {2, 0, 0, 0, 0}}});
  records.forget(one);
  records.record(of_job(one, event::Settled{Outcome::finished, "a"}));
  CHECK_FALSE(records.details(one));
  CHECK(records.details(two));
}

TEST_CASE("a job that was led elsewhere goes on from what it had come to, and nothing counts twice") {
  JobStories records;
  const JobId job{1};
  JobSoFar so_far;
  so_far.job = job;
  so_far.records = {of_job(job, event::TasksKnown{true, {{"a", 5}, {"b", 1}}}),
                    of_job(job, event::TasksKnown{false, {{"a", 1}}}),
                    of_job(job, event::Settled{Outcome::failed, "b"})};
  so_far.finished = {{"a", 3}};
  for (int leader = 0; leader < 2; ++leader) records.goes_on(so_far);
  records.record(of_job(job, event::Settled{Outcome::finished, "a"}));
  CHECK(records.details(job)->classes ==
        std::vector<ClassInfo>{{"a", {2, 4, 0, 0, 0}}, {"b", {0, 0, 1, 0, 0}}});
  CHECK(records.details(job)->tasks.size() == 1);
}
