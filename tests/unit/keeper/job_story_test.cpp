// The kept part of a job's records, and its bounds.
#include "libdag/keeper/job_story.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace std::chrono_literals;

namespace {

JournalEvent settled(std::uint32_t task, event::Settled what) {
  JournalEvent record;
  record.job = JobId{7};
  record.task = {0, task};
  record.what = std::move(what);
  return record;
}
JournalEvent known(std::vector<event::TaskClass> classes) {
  JournalEvent record;
  record.what = event::TasksKnown{true, std::move(classes)};
  return record;
}
Error error(std::string what, std::string cause = {}) {
  return {ErrorCode::task_failed, std::move(what), "look at it", std::move(cause)};
}

}  // namespace

TEST_CASE("tasks are counted by name and outcome, and those in trouble are kept with their error") {
  JobStory story;
  story.add(known({{"load", 3}, {"train", 2}}));
  CHECK(story.details().classes ==
        std::vector<ClassInfo>{{"load", {3, 0, 0, 0, 0}}, {"train", {2, 0, 0, 0, 0}}});
  story.add(settled(0, {Outcome::finished, "load"}));
  story.add(settled(1, {Outcome::failed, "load", 2, error("threw")}));
  story.add(settled(2, {Outcome::skipped, "load", 0, error("no condition")}));
  story.add(settled(3, {Outcome::cancelled, "train", 0, error("needs load", "threw")}));
  const JobDetails details = story.details();
  CHECK(details.classes == std::vector<ClassInfo>{{"load", {0, 1, 1, 1, 0}}, {"train", {1, 0, 0, 0, 1}}});
  CHECK(details.others == JobCounts{});
  CHECK(details.tasks ==
        std::vector<TaskInfo>{{{0, 1}, "load", Outcome::failed, 2, error("threw"), 0ns},
                              {{0, 3}, "train", Outcome::cancelled, 0, error("needs load", "threw"), 0ns}});
  CHECK(details.tasks_beyond == 0);
  CHECK(details.late == 0);
}

TEST_CASE("a late task is kept whatever its outcome, and counted") {
  JobStory story;
  story.add(known({{"load", 2}}));
  story.add(settled(0, {Outcome::finished, "load", 0, std::nullopt, 3s}));
  story.add(settled(1, {Outcome::failed, "load", 1, error("threw"), 4s}));
  CHECK(story.details().late == 2);
  CHECK(story.details().tasks.size() == 2);
  CHECK(story.details().tasks[0].late == 3s);
}

TEST_CASE("a hundred tasks are kept, first those that failed by themselves; the others are counted") {
  JobStory story;
  for (std::uint32_t task = 0; task < 150; ++task) {
    story.add(settled(task, {Outcome::cancelled, "train", 0, error("needs load")}));
  }
  story.add(settled(150, {Outcome::failed, "load", 1, error("threw")}));
  const JobDetails details = story.details();
  REQUIRE(details.tasks.size() == JobStory::tasks_max);
  CHECK(details.tasks_beyond == 51);
  CHECK(details.tasks.back().task == TaskId{0, 150});
  CHECK(details.tasks[98].task == TaskId{0, 98});  // The last of the others made room.
}

TEST_CASE("so many names are counted apart, and long texts are cut") {
  JobStory story;
  std::vector<event::TaskClass> classes;
  for (int i = 0; i < 130; ++i) classes.push_back({"task" + std::to_string(i), 1});
  story.add(known(classes));
  story.add(settled(0, {Outcome::finished, "task0"}));
  story.add(settled(129, {Outcome::failed, "task129", 1, error(std::string(100'000, 'x'))}));
  const JobDetails details = story.details();
  CHECK(details.classes.size() == JobStory::classes_max);
  CHECK(details.classes[0] == ClassInfo{"task0", {0, 1, 0, 0, 0}});
  CHECK(details.others == JobCounts{29, 0, 1, 0, 0});
  REQUIRE(details.tasks.size() == 1);
  CHECK(details.tasks[0].name == "task129");
  CHECK(details.tasks[0].error->what.size() == JobStory::text_bytes_max);
}
