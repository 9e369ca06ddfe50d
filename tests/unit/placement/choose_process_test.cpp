// Where a ready task runs, and why.
#include "libdag/placement/choose_process.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>

using namespace dag;
using namespace std::chrono_literals;

namespace {

NodeDevices node(std::uint32_t process, std::uint32_t cpus = 4, std::uint32_t gpus = 0) {
  return {ProcessId{process}, {{"cpu", {cpus, gpus, 8_GiB}, {cpus, gpus, 8_GiB}}}};
}

/// Facts for a question. Process 1 asks; runs take 10 ms everywhere, round trips 100 us, links carry 1
/// GB/s.
struct Asked {
  NodeDevices node_1 = node(1), node_2 = node(2), node_3 = node(3);
  TaskNeeds needs = {};
  std::vector<PlacementInput> inputs = {};
  Duration round_trip = 100us;
  PlacementCandidate here{.node = &node_1, .wait = 0s, .run = 10ms};
  std::vector<PlacementCandidate> others{{.node = &node_2, .wait = 0s, .run = 10ms},
                                         {.node = &node_3, .wait = 0s, .run = 10ms}};

  Asked() = default;
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
  PlacementQuestion question() const { return {needs, inputs, round_trip, here, others}; }
};

PlacementChoice choose(const Asked& asked) { return choose_process(asked.question()).value(); }

std::vector<Life> lives_of(const std::vector<std::uint32_t>& processes) {
  std::vector<Life> lives;
  for (const std::uint32_t process : processes) lives.push_back({ProcessId{process}, Incarnation{1}});
  return lives;
}
std::vector<std::uint32_t> considered(ProcessId here, const std::vector<PlacementInput>& inputs,
                                      const std::vector<Life>& members, Random& random) {
  std::vector<std::uint32_t> processes;
  const Considered whom = whom_to_consider(here, inputs, members, random);
  for (const std::uint32_t place : whom.all()) {
    processes.push_back(members.at(place).process.value);
  }
  return processes;
}

}  // namespace

TEST_CASE("a run shorter than four round trips stays, however long the queue") {
  Asked asked;
  asked.here.wait = 1s;
  asked.inputs = {{1u << 30, {ProcessId{2}}}};
  asked.here.run = 399us;
  const auto choice = choose(asked);
  CHECK(choice.process == ProcessId{1});
  CHECK(choice.rule == PlacementRule::short_run);
  CHECK(stays_here(asked.question()) == PlacementRule::short_run);
  asked.here.run = 400us;
  CHECK(choose(asked).rule == PlacementRule::earliest_finish);
}

TEST_CASE("with its inputs here and a lane nearly free it stays") {
  Asked asked;
  asked.inputs = {{1000, {ProcessId{1}, ProcessId{2}}}};
  asked.here.wait = 99us;
  CHECK(choose(asked).rule == PlacementRule::inputs_here);
  asked.here.wait = 100us;
  CHECK(choose(asked).rule == PlacementRule::earliest_finish);
  asked.here.wait = 0s;
  asked.inputs[0].holders = {ProcessId{2}};
  CHECK(choose(asked).rule == PlacementRule::earliest_finish);
}

TEST_CASE("the earliest finish wins: queue, bytes, speed, and a round trip for going away") {
  struct Row {
    Duration wait_here, wait_2, run_3;
    std::uint64_t bytes;
    std::uint32_t chosen;
  };
  const auto row = GENERATE(Row{50ms, 0s, 10ms, 0, 2},           // Shorter queue.
                            Row{150us, 60us, 10ms, 0, 1},        // Not by enough to pay for the way.
                            Row{20ms, 0s, 10ms, 50'000'000, 1},  // 50 MB take 50 ms to move.
                            Row{20ms, 0s, 10ms, 5'000'000, 2},   // 5 MB take 5 ms.
                            Row{20ms, 15ms, 1ms, 0, 3});         // A faster device.
  Asked asked;
  asked.here.wait = row.wait_here;
  asked.others[0].wait = row.wait_2;
  asked.others[1].wait = 15ms;
  asked.others[1].run = row.run_3;
  asked.inputs = {{row.bytes, {ProcessId{1}}}};
  CHECK(choose(asked).process == ProcessId{row.chosen});
  // The reasons say the same.
  const auto scores = scores_of(asked.question());
  REQUIRE(scores.size() == 3);
  CHECK(scores[0].process == ProcessId{1});
  for (const auto& score : scores) {
    CHECK(score.finish == score.wait + score.transfer + score.run);
    CHECK(score.finish >= scores[row.chosen - 1].finish);
  }
}

TEST_CASE("ties stay here, or go to the lower id whatever the order") {
  Asked asked;
  asked.round_trip = 0s;
  asked.here.wait = 1ms;
  asked.others[0].wait = asked.others[1].wait = 1ms;
  CHECK(choose(asked).process == ProcessId{1});
  asked.here.wait = 2ms;
  CHECK(choose(asked).process == ProcessId{2});
  std::swap(asked.others[0], asked.others[1]);
  CHECK(choose(asked).process == ProcessId{2});
}

TEST_CASE("what can never run it is no candidate, what is only busy is") {
  Asked asked;
  asked.needs = {.cpus = 1, .gpus = 1};
  asked.here.run = 1us;
  asked.node_3 = node(3, 4, 1);
  asked.node_3.devices[0].free.gpus = 0;
  asked.others[1].wait = 1h;
  CHECK(choose(asked).process == ProcessId{3});
  CHECK(to_string(scores_of(asked.question())[2].misfits) == "busy: 0 of 1 gpu free, needs 1");

  asked.others.pop_back();
  const auto refused = choose_process(asked.question());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::needs_impossible);
  CHECK(refused.error().cause ==
        "n1 never: has no gpu, needs 1\n"
        "n2 never: has no gpu, needs 1");
}

TEST_CASE("a device nothing ran on is taken for the fastest known, so it is tried") {
  Asked asked;
  asked.here.wait = 5ms;
  asked.others[0].run.reset();
  CHECK(choose(asked).process == ProcessId{2});
  CHECK(scores_of(asked.question())[1].run == 10ms);
}

TEST_CASE("alone it stays, and senseless figures do no harm") {
  Asked asked;
  asked.others.clear();
  asked.here.wait = Duration::max();
  CHECK(choose(asked).rule == PlacementRule::inputs_here);
  Asked senseless;
  senseless.here.wait = Duration::max();
  senseless.here.bandwidth_bytes_per_second = 0;
  senseless.inputs = {{UINT64_MAX, {}}};
  senseless.others[0].bandwidth_bytes_per_second = -1;
  senseless.others[0].run = Duration::max();
  senseless.others[1].wait = Duration::min();
  CHECK(choose(senseless).process == ProcessId{3});
}

TEST_CASE("who holds the inputs is considered, and two more at random") {
  Random random(5);
  const std::vector<Life> members = lives_of({1, 2, 3, 4, 5, 6, 7, 8, 9});
  // 50 is not a member: it is suspected, or dead.
  const std::vector<PlacementInput> inputs = {{1000, {ProcessId{4}, ProcessId{50}, ProcessId{1}}},
                                              {0, {ProcessId{7}}}};
  std::map<std::uint32_t, int> seen;
  for (int draw = 0; draw < 2000; ++draw) {
    const auto whom = considered(ProcessId{1}, inputs, members, random);
    REQUIRE(whom.size() == 3);
    REQUIRE(std::adjacent_find(whom.begin(), whom.end(), std::greater_equal<>()) == whom.end());
    for (const std::uint32_t process : whom) ++seen[process];
  }
  CHECK(seen[4] == 2000);
  CHECK_FALSE(seen.contains(1));
  CHECK_FALSE(seen.contains(50));
  for (const std::uint32_t process : {2u, 3u, 5u, 6u, 7u, 8u, 9u}) {
    CHECK(seen[process] > 2000 * 2 / 7 / 2);
  }
}

TEST_CASE("of many holders, those of most bytes; of equal ones, the lower ids") {
  Random random(3);
  std::vector<std::uint32_t> processes;
  for (std::uint32_t process = 1; process <= 100; ++process) processes.push_back(process);
  const std::vector<Life> members = lives_of(processes);
  std::vector<PlacementInput> inputs;
  for (const std::uint32_t process : {90u, 40u, 41u, 42u, 43u}) inputs.push_back({10, {ProcessId{process}}});
  inputs.push_back({1, {ProcessId{43}, ProcessId{1}}});
  const auto whom = considered(ProcessId{1}, inputs, members, random);
  CHECK(whom.size() == placement_holders_max + placement_sampled);
  for (const std::uint32_t process : {40u, 41u, 42u, 43u}) {
    CHECK(std::find(whom.begin(), whom.end(), process) != whom.end());
  }
}

TEST_CASE("few members are all considered, many holders are not") {
  Random random(1);
  CHECK(considered(ProcessId{1}, {}, {}, random).empty());
  CHECK(considered(ProcessId{1}, {}, lives_of({1}), random).empty());
  CHECK(considered(ProcessId{1}, {}, lives_of({1, 2}), random) == std::vector<std::uint32_t>{2});
  CHECK(considered(ProcessId{9}, {}, lives_of({1, 2}), random) == std::vector<std::uint32_t>{1, 2});
  std::vector<std::uint32_t> processes;
  std::vector<ProcessId> holders;
  for (std::uint32_t process = 1; process <= 100; ++process) {
    processes.push_back(process);
    holders.push_back(ProcessId{process});
  }
  CHECK(considered(ProcessId{1}, {{10, holders}}, lives_of(processes), random).size() ==
        placement_holders_max + placement_sampled);
}
