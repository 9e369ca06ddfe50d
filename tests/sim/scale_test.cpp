// Clusters at a pace: what is measured is what happened, and happens again.
#include "tools/sim/scale.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using sim::scale;
using sim::ScaleOptions;
using sim::ScaleResult;

namespace {

ScaleOptions small(const std::string& pattern) {
  ScaleOptions options;
  options.pattern = pattern;
  options.nodes = 4;
  options.lanes_each = 2;
  options.steps = 6;
  return options;
}

}  // namespace

TEST_CASE("a cluster at a pace runs each graph to its end, the same way each time") {
  const ScaleOptions options = small(GENERATE("stencil", "chains", "random"));
  const ScaleResult result = scale(options), again = scale(options);
  CHECK(result.tasks == 4 * 2 * 2 * 6);
  CHECK(result.took == again.took);
  CHECK(result.bytes == again.bytes);
  // Two columns per lane, one after the other.
  CHECK(result.took >= options.pace.kernel * 2 * 6);
  CHECK(result.efficiency > 0.2);
  CHECK(result.efficiency <= 1);
  CHECK(result.bytes_share >= 0.25);
  CHECK(result.bytes_share <= 1);
  CHECK(result.messages > 0);
}

TEST_CASE("what takes longer makes lanes wait") {
  ScaleOptions options = small("random");
  const double at_once = scale(options).efficiency;
  options.pace.latency = std::chrono::milliseconds(1);
  CHECK(scale(options).efficiency < at_once / 2);
  options = small("random");
  options.pace.per_message = std::chrono::microseconds(300);
  CHECK(scale(options).efficiency < at_once / 2);
  // Chains hear from nobody.
  CHECK(scale(small("chains")).efficiency > 0.8);
}
