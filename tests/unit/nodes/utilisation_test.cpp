// What a node remembers of how busy the cluster's lanes were.
#include "nodes/inspector/utilisation.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace dag;
using inspector::Utilisation;

namespace {

NodeInfo node(std::uint32_t lanes, std::uint32_t free, MemberState state = MemberState::alive) {
  NodeInfo info;
  info.state = state;
  info.load.devices = {{"cpu", lanes, free, 0, 0, Duration{0}}};
  return info;
}

}  // namespace

TEST_CASE("what a node remembers of utilisation is bounded, in order, and of nodes that are up") {
  Utilisation seen;
  CHECK(nlohmann::json::parse(seen.json()).at("unix_seconds").empty());
  seen.add(100, {node(4, 1), node(2, 2), node(8, 0, MemberState::dead)});
  seen.add(110, {node(4, 0)});
  seen.add(105, {node(4, 9)});  // The clock was set back.
  auto json = nlohmann::json::parse(seen.json());
  CHECK(json.at("every_seconds") == 5.0);
  CHECK(json.at("unix_seconds") == std::vector<int>{100, 105});
  CHECK(json.at("lanes_busy") == std::vector<int>{3, 0});
  CHECK(json.at("lanes") == std::vector<int>{6, 4});
  for (int i = 0; i < 1000; ++i) seen.add(200 + 5 * i, {node(4, 0)});
  json = nlohmann::json::parse(seen.json());
  CHECK(json.at("unix_seconds").size() == Utilisation::kept);
  CHECK(json.at("unix_seconds").back() == 200 + 5 * 999);
}
