// When a job that has ended needs its actors no more.

#include "nodes/process/ended_jobs.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "dag/graph.hpp"

using namespace dag;

namespace {

const JobId job{7};

/// Questions of EndedJobs, in order.
struct Asked {
  std::vector<std::uint32_t> wanted;
  int let_go = 0;
  std::function<void()> later;
  EndedJobs jobs{{[this](JobId, std::uint32_t task) { wanted.push_back(task); }, [this](JobId) { ++let_go; },
                  [this](Duration, std::function<void()> call) { later = std::move(call); }}};
};

/// Task 2 reads tasks 0 and 1; `keeps`: task 1 is to be kept.
std::shared_ptr<const detail::Fragment> two_and_their_sum(bool keeps) {
  Graph graph("pair");
  auto a = graph.task("a", [] { return 1; });
  auto b = graph.task("b", [] { return 2; });
  if (keeps) b.keep();
  graph.task(
      "sum", [](int x, int y) { return x + y; }, a, b);
  return graph.builder().seal();
}

}  // namespace

TEST_CASE("results come to the handle, and others can be asked for some time") {
  const bool keeps = GENERATE(false, true);
  Asked asked;
  asked.jobs.begin(job, two_and_their_sum(keeps));
  asked.jobs.ended(job, true);
  CHECK(asked.wanted == (keeps ? std::vector<std::uint32_t>{1, 2} : std::vector<std::uint32_t>{2}));
  for (const std::uint32_t task : std::vector(asked.wanted)) asked.jobs.settled(job, task);
  CHECK(asked.let_go == 0);
  REQUIRE(asked.later);
  SECTION("nobody asks") {
    asked.later();
    CHECK(asked.let_go == 1);
    CHECK_FALSE(asked.jobs.want(job, 0));
  }
  SECTION("somebody asks in time") {
    CHECK(asked.jobs.want(job, 0));
    asked.later();
    CHECK(asked.let_go == 0);
    asked.jobs.settled(job, 0);
    CHECK(asked.let_go == 1);
  }
}

TEST_CASE("what a client had before the end is not asked for again") {
  Asked asked;
  asked.jobs.begin(job, two_and_their_sum(false));
  CHECK(asked.jobs.want(job, 2));
  asked.jobs.settled(job, 2);
  asked.jobs.ended(job, true);
  CHECK(asked.wanted == std::vector<std::uint32_t>{2});
  asked.later();
  CHECK(asked.let_go == 1);
}

TEST_CASE("of a job that did not finish well all tasks are asked, so that a client can ask why") {
  Asked asked;
  asked.jobs.begin(job, two_and_their_sum(false));
  asked.jobs.ended(job, false);
  CHECK(asked.wanted == std::vector<std::uint32_t>{0, 1, 2});
  CHECK_FALSE(asked.later);
  for (const std::uint32_t task : {0U, 1U, 2U}) asked.jobs.settled(job, task);
  CHECK(asked.let_go == 1);
}

TEST_CASE("a job whose handle is gone is let go by whoever forgets it") {
  Asked asked;
  asked.jobs.begin(job, two_and_their_sum(false));
  asked.jobs.forget(job);
  asked.jobs.ended(job, true);
  CHECK(asked.wanted.empty());
  CHECK_FALSE(asked.jobs.want(job, 2));
  CHECK(asked.let_go == 0);
}
