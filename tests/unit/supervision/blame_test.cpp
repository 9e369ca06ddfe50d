// P7: only the task that ran in the process that died is charged, and only when it is known to be the one.
#include "libdag/supervision/blame.hpp"

#include <catch2/catch.hpp>

using namespace dag;

namespace {

RunningAttempt on_lane(std::uint32_t lane, std::uint32_t suspected = 0) {
  return {TaskId{0, lane}, AttemptId{{1, 0}, lane + 1}, lane, suspected};
}

}  // namespace

TEST_CASE("the lane that faulted is charged, its neighbours are lost") {
  const auto result = charges(ProcessEnd::faulted, 1, {on_lane(0), on_lane(1), on_lane(2)});
  REQUIRE(result.size() == 3);
  CHECK(result[0].exit == Exit::lost);
  CHECK(result[1].exit == Exit::failed);
  CHECK(result[2].exit == Exit::lost);
  for (const auto& charge : result) CHECK_FALSE(charge.suspect);
}

TEST_CASE("with an unknown killer all are suspects and none is charged") {
  const auto end = GENERATE(ProcessEnd::killed, ProcessEnd::out_of_memory, ProcessEnd::faulted);
  // Lane 7 ran nothing: its fault tells nothing about the attempts.
  const auto lane = GENERATE(std::optional<std::uint32_t>{}, std::optional<std::uint32_t>{7});
  for (const auto& charge : charges(end, lane, {on_lane(0), on_lane(1)})) {
    CHECK(charge.exit == Exit::lost);
    CHECK(charge.suspect);
  }
}

TEST_CASE("alone in its process, it was the one") {
  const auto end = GENERATE(ProcessEnd::out_of_memory, ProcessEnd::faulted);
  const auto result = charges(end, {}, {on_lane(0)});
  REQUIRE(result.size() == 1);
  CHECK(result[0].exit == Exit::failed);
  CHECK_FALSE(result[0].suspect);
}

TEST_CASE("what we or the node did is nobody's fault, but a timeout's attempt is charged") {
  for (const auto& charge : charges(ProcessEnd::went_with_node, 0, {on_lane(0)})) {
    CHECK(charge.exit == Exit::lost);
    CHECK_FALSE(charge.suspect);
  }
  for (const auto& charge : charges(ProcessEnd::stopped_by_us, {}, {on_lane(0)}))
    CHECK(charge.exit == Exit::lost);
  const auto timed_out = charges(ProcessEnd::stopped_by_us, 1, {on_lane(0), on_lane(1)});
  CHECK(timed_out[0].exit == Exit::lost);
  CHECK(timed_out[1].exit == Exit::failed);
}

TEST_CASE("a kill that nobody explains counts from the third time on, in company and alone") {
  const bool company = GENERATE(true, false);
  for (std::uint32_t before = 0; before < 4; ++before) {
    std::vector<RunningAttempt> running{on_lane(0, before)};
    if (company) running.push_back(on_lane(1));
    const auto result = charges(ProcessEnd::killed, {}, running);
    CHECK(result[0].suspect);
    CHECK(result[0].exit == (before < 2 ? Exit::lost : Exit::failed));
    if (company) CHECK(result[1].exit == Exit::lost);
  }
  CHECK_FALSE(charges(ProcessEnd::went_with_node, {}, {on_lane(0, 2)})[0].suspect);
}

TEST_CASE("nothing ran, nothing is charged") { CHECK(charges(ProcessEnd::killed, 0, {}).empty()); }

TEST_CASE("a crash counts for no task exactly where none is charged or suspected") {
  for (const ProcessEnd end : {ProcessEnd::faulted, ProcessEnd::out_of_memory, ProcessEnd::killed}) {
    CHECK(counts_for_no_task(end, {}));
    for (const auto& running :
         {std::vector{on_lane(0)}, std::vector{on_lane(0), on_lane(1)}, std::vector{on_lane(1, 5)}}) {
      CHECK_FALSE(counts_for_no_task(end, running));
      for (const std::optional<std::uint32_t> lane :
           {std::optional<std::uint32_t>(), std::optional(0u), std::optional(3u)}) {
        const auto result = charges(end, lane, running);
        CHECK(std::any_of(result.begin(), result.end(),
                          [](const Charge& one) { return one.suspect || one.exit == Exit::failed; }));
      }
    }
  }
  CHECK_FALSE(counts_for_no_task(ProcessEnd::stopped_by_us, {}));
  CHECK_FALSE(counts_for_no_task(ProcessEnd::went_with_node, {}));
}
