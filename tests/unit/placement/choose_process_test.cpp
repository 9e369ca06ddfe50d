// Where a ready task runs, and why.
#include "libdag/placement/choose_process.hpp"

#include <catch2/catch.hpp>
#include <map>

using namespace dag;
using namespace std::chrono_literals;

namespace {

NodeDevices node(std::uint32_t process, std::uint32_t cpus = 4, std::uint32_t gpus = 0) {
  return {ProcessId{process}, {{"cpu", {cpus, gpus, 8_GiB}, {cpus, gpus, 8_GiB}}}};
}

/// Process 1 asks; runs take 10 ms everywhere, round trips 100 us, links carry 1 GB/s.
PlacementQuestion question() {
  return {.needs = {},
          .inputs = {},
          .round_trip = 100us,
          .here = {.node = node(1), .wait = 0s, .run = 10ms},
          .others = {{.node = node(2), .wait = 0s, .run = 10ms}, {.node = node(3), .wait = 0s, .run = 10ms}}};
}

PlacementChoice choose(const PlacementQuestion& asked) { return choose_process(asked).value(); }

}  // namespace

TEST_CASE("a run shorter than four round trips stays, however long the queue") {
  auto asked = question();
  asked.here.wait = 1s;
  asked.inputs = {{1u << 30, {ProcessId{2}}}};
  asked.here.run = 399us;
  const auto choice = choose(asked);
  CHECK(choice.process == ProcessId{1});
  CHECK(choice.rule == PlacementRule::short_run);
  CHECK(choice.scores.empty());
  asked.here.run = 400us;
  CHECK(choose(asked).rule == PlacementRule::earliest_finish);
}

TEST_CASE("with its inputs here and a lane nearly free it stays") {
  auto asked = question();
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
  auto asked = question();
  asked.here.wait = row.wait_here;
  asked.others[0].wait = row.wait_2;
  asked.others[1].wait = 15ms;
  asked.others[1].run = row.run_3;
  asked.inputs = {{row.bytes, {ProcessId{1}}}};
  const auto choice = choose(asked);
  CHECK(choice.process == ProcessId{row.chosen});
  REQUIRE(choice.scores.size() == 3);
  CHECK(choice.scores[0].process == ProcessId{1});
  for (const auto& score : choice.scores) {
    CHECK(score.finish == score.wait + score.transfer + score.run);
  }
}

TEST_CASE("ties stay here, or go to the lower id whatever the order") {
  auto asked = question();
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
  auto asked = question();
  asked.needs = {.cpus = 1, .gpus = 1};
  asked.here.run = 1us;
  asked.others[1] = {.node = node(3, 4, 1), .wait = 1h, .run = 10ms};
  asked.others[1].node.devices[0].free.gpus = 0;
  const auto choice = choose(asked);
  CHECK(choice.process == ProcessId{3});
  CHECK(to_string(choice.scores[2].misfits) == "gpu: 0 of 1 free, needs 1");

  asked.others.pop_back();
  const auto refused = choose_process(asked);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::needs_impossible);
  CHECK(refused.error().cause ==
        "n1 never: has no gpu, needs 1\n"
        "n2 never: has no gpu, needs 1");
}

TEST_CASE("a device nothing ran on is taken for the fastest known, so it is tried") {
  auto asked = question();
  asked.here.wait = 5ms;
  asked.others[0].run.reset();
  const auto choice = choose(asked);
  CHECK(choice.process == ProcessId{2});
  CHECK(choice.scores[1].run == 10ms);
}

TEST_CASE("alone it stays, and senseless figures do no harm") {
  auto asked = question();
  asked.others.clear();
  asked.here.wait = Duration::max();
  CHECK(choose(asked).rule == PlacementRule::inputs_here);
  asked = question();
  asked.here.wait = Duration::max();
  asked.here.bandwidth_bytes_per_second = 0;
  asked.inputs = {{UINT64_MAX, {}}};
  asked.others[0].bandwidth_bytes_per_second = -1;
  asked.others[0].run = Duration::max();
  asked.others[1].wait = Duration::min();
  CHECK(choose(asked).process == ProcessId{3});
}

TEST_CASE("who holds the inputs is considered, and two more at random") {
  Random random(5);
  std::vector<ProcessId> members;
  for (std::uint32_t process = 9; process > 0; --process) members.push_back(ProcessId{process});
  // 50 is not a member: it is suspected, or dead.
  const std::vector<PlacementInput> inputs = {{1000, {ProcessId{4}, ProcessId{50}, ProcessId{1}}},
                                              {0, {ProcessId{7}}}};
  std::map<ProcessId, int> seen;
  for (int draw = 0; draw < 2000; ++draw) {
    const auto whom = whom_to_consider(ProcessId{1}, inputs, members, random);
    REQUIRE(whom.size() == 3);
    REQUIRE(std::is_sorted(whom.begin(), whom.end()));
    for (const ProcessId process : whom) ++seen[process];
  }
  CHECK(seen[ProcessId{4}] == 2000);
  CHECK_FALSE(seen.contains(ProcessId{1}));
  CHECK_FALSE(seen.contains(ProcessId{50}));
  for (const std::uint32_t process : {2u, 3u, 5u, 6u, 7u, 8u, 9u}) {
    CHECK(seen[ProcessId{process}] > 2000 * 2 / 7 / 2);
  }
}

TEST_CASE("few members are all considered, many holders are not") {
  Random random(1);
  CHECK(whom_to_consider(ProcessId{1}, {}, {ProcessId{1}}, random).empty());
  CHECK(whom_to_consider(ProcessId{1}, {}, {ProcessId{2}, ProcessId{1}}, random) ==
        std::vector{ProcessId{2}});
  std::vector<ProcessId> members;
  for (std::uint32_t process = 1; process <= 100; ++process) members.push_back(ProcessId{process});
  CHECK(whom_to_consider(ProcessId{1}, {{10, members}}, members, random).size() ==
        placement_holders_max + placement_sampled);
}
