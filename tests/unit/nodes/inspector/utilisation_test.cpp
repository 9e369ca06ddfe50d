// A node's memory of how busy the cluster's lanes were.
#include "nodes/inspector/utilisation.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace dag;
using namespace std::chrono_literals;
using inspector::Utilisation;

namespace {

NodeInfo node(std::uint32_t number, std::uint32_t lanes, Duration busy, std::uint32_t free = 0) {
  NodeInfo info;
  info.life = {{number}, {1}};
  info.state = MemberState::alive;
  info.load.devices = {{"cpu", lanes, free, 0, 0, Duration{0}, busy}};
  return info;
}

Instant at(int seconds) { return Instant{} + std::chrono::seconds(seconds); }

}  // namespace

TEST_CASE("utilisation is the time that lanes spent in kernels, not what runs when somebody looks") {
  Utilisation seen;
  CHECK(nlohmann::json::parse(seen.json()).at("unix_seconds").empty());
  // At each look all lanes happen to be free.
  seen.add(100, at(0), {node(0, 4, 10s, 4), node(1, 2, 0s, 2)});
  seen.add(105, at(5), {node(0, 4, 20s, 4), node(1, 2, 1s, 2)});
  // Node 1 began again, so its lanes begin to count again, and what they do now is all that is known.
  NodeInfo again = node(1, 2, 3s, 1);
  again.life.incarnation = {2};
  seen.add(110, at(10), {node(0, 4, 20s, 4), again});
  seen.add(115, at(15), {node(0, 4, 90s, 4)});
  const auto json = nlohmann::json::parse(seen.json());
  CHECK(json.at("every_seconds") == 5.0);
  CHECK(json.at("lanes_busy") == std::vector<double>{0, 10.0 / 5 + 1.0 / 5, 1, 4});
  CHECK(json.at("lanes") == std::vector<int>{6, 6, 6, 4});
}

TEST_CASE("what a node remembers of utilisation is bounded, in order, and of nodes that are up") {
  Utilisation seen;
  NodeInfo gone = node(2, 8, 0s);
  gone.state = MemberState::dead;
  seen.add(100, at(0), {node(0, 4, 0s, 1), node(1, 2, 0s, 2), gone});
  seen.add(110, at(10), {node(0, 4, 10s)});
  seen.add(105, at(15), {node(0, 4, 10s)});  // The clock was set back.
  auto json = nlohmann::json::parse(seen.json());
  CHECK(json.at("unix_seconds") == std::vector<int>{100, 105});
  CHECK(json.at("lanes_busy") == std::vector<double>{3, 0});
  CHECK(json.at("lanes") == std::vector<int>{6, 4});
  for (int i = 0; i < 1000; ++i) seen.add(200 + 5 * i, at(20 + 5 * i), {node(0, 4, 0s)});
  json = nlohmann::json::parse(seen.json());
  CHECK(json.at("unix_seconds").size() == Utilisation::kept);
  CHECK(json.at("unix_seconds").back() == 200 + 5 * 999);
}
