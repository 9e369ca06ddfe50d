// Why a task does not fit: every reason, now or for ever, in words.
#include "libdag/placement/misfit.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace dag;

namespace {

Device cpu(std::uint32_t free = 8, std::uint64_t memory_free = 24_GiB) {
  return {"cpu", {8, 0, 24_GiB}, {free, 0, memory_free}};
}
Device gpu(std::uint32_t free = 1) { return {"cuda", {0, 1, 0}, {0, free, 0}}; }

}  // namespace

TEST_CASE("each misfit says what is missing, and whether waiting helps") {
  struct Row {
    TaskNeeds needs;
    Device device;
    std::string text;
    bool never;
  };
  const auto row = GENERATE(
      Row{{}, cpu(), "", false}, Row{{.cpus = 8, .memory_bytes = 24_GiB}, cpu(), "", false},
      Row{{.cpus = 2}, cpu(1), "busy: 1 of 8 cpus free, needs 2", false},
      Row{{.cpus = 9}, cpu(), "never: has 8 cpus, needs 9", true},
      Row{{.gpus = 1}, cpu(), "never: has no gpu, needs 1", true},
      Row{{.cpus = 0, .gpus = 1}, gpu(0), "busy: 0 of 1 gpu free, needs 1", false},
      Row{{.cpus = 0, .gpus = 2}, gpu(), "never: has 1 gpu, needs 2", true},
      Row{{.memory_bytes = 20_GiB},
          cpu(8, 14_GiB),
          "busy: 14.0 GiB of 24.0 GiB of memory free, needs 20.0 GiB",
          false},
      Row{{.memory_bytes = 25_GiB}, cpu(), "never: has 24.0 GiB of memory, needs 25.0 GiB", true},
      Row{{.device_kind = "cpu"}, cpu(), "", false},
      Row{{.device_kind = "npu"}, cpu(), "never: is not of kind npu but cpu", true},
      Row{{.cpus = 2, .gpus = 1, .memory_bytes = 20_GiB},
          cpu(0, 1_GiB),
          "busy: 0 of 8 cpus free, needs 2; never: has no gpu, needs 1; busy: 1.0 GiB of 24.0 GiB of "
          "memory free, needs 20.0 GiB",
          true});
  const auto why = misfits(row.needs, row.device);
  CHECK(to_string(why) == row.text);
  CHECK(never_fits(why) == row.never);
}

TEST_CASE("a node offers its devices together") {
  const NodeDevices node{ProcessId{1}, {cpu(4), gpu()}};
  CHECK(misfits({.cpus = 2, .gpus = 1, .memory_bytes = 8_GiB}, node).empty());
  CHECK(to_string(misfits({.cpus = 5, .gpus = 1}, node)) == "busy: 4 of 8 cpus free, needs 5");
  CHECK(misfits({.cpus = 0, .gpus = 1, .device_kind = "cuda"}, node).empty());
  CHECK(to_string(misfits({.device_kind = "npu"}, node)) == "never: is not of kind npu but cpu, cuda");
}

TEST_CASE("fractions of a lane are rounded up, and nonsense becomes what nobody has") {
  CHECK(needs_of({.cpus = 0.25}).cpus == 1);
  CHECK(needs_of({.cpus = 2}).cpus == 2);
  CHECK(needs_of({.cpus = 0}).cpus == 0);
  CHECK(needs_of({.cpus = -1}).cpus == 0);
  CHECK(needs_of({.cpus = 1e300}).cpus == std::numeric_limits<std::uint32_t>::max());
  CHECK(needs_of({.cpus = std::numeric_limits<double>::quiet_NaN()}).cpus ==
        std::numeric_limits<std::uint32_t>::max());
}

TEST_CASE("needs that no node could ever meet are refused with each node's reasons") {
  const std::vector<NodeDevices> nodes = {{ProcessId{1}, {cpu(0)}}, {ProcessId{2}, {cpu(), gpu(0)}}};
  // Busy is no reason: it will end.
  CHECK(able_nodes("train", {.cpus = 8}, nodes).value() == std::vector{ProcessId{1}, ProcessId{2}});
  CHECK(able_nodes("train", {.gpus = 1}, nodes).value() == std::vector{ProcessId{2}});
  const auto refused = able_nodes("train", {.cpus = 9, .gpus = 1}, nodes);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::needs_impossible);
  CHECK(refused.error().what == "no node could ever run task train");
  CHECK(refused.error().cause ==
        "n1 never: has 8 cpus, needs 9; never: has no gpu, needs 1\n"
        "n2 never: has 8 cpus, needs 9");
  CHECK(able_nodes("train", {}, {}).error().cause == "the cluster has no nodes");
}

TEST_CASE("a large cluster's reasons are cut, and say so") {
  std::vector<NodeDevices> nodes;
  for (std::uint32_t node = 0; node < 100; ++node) nodes.push_back({ProcessId{node}, {cpu()}});
  const auto refused = able_nodes("train", {.gpus = 1}, nodes);
  CHECK(refused.error().cause.find("\n... and 84 more nodes") != std::string::npos);
}
