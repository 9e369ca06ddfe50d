// Processes that have to go, so that the others hear each other.
#include "libdag/supervision/apart.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "libdag/base/random.hpp"

using namespace dag;

namespace {

/// A worker process of a node.
Life on(std::uint32_t node) { return {ProcessId{1u << 16 | node}, Incarnation{7}}; }
constexpr Life leader{ProcessId{0}, Incarnation{7}};

}  // namespace

TEST_CASE("nobody goes where all hear each other") { CHECK(who_goes({}, leader).empty()); }

TEST_CASE("of two that are apart one goes: not that of the leader's node, else that with the higher number") {
  CHECK(who_goes({{on(0), on(1)}, {on(1), on(0)}}, leader) == std::vector{on(1)});
  CHECK(who_goes({{on(1), on(2)}, {on(2), on(1)}}, leader) == std::vector{on(2)});
  CHECK(who_goes({{on(2), on(1)}, {on(1), on(2)}}, leader) == std::vector{on(2)});
}

TEST_CASE("of two of whom one says nothing the silent one goes: it may be frozen") {
  CHECK(who_goes({{on(0), on(1)}}, leader) == std::vector{on(1)});
  CHECK(who_goes({{on(1), on(0)}}, leader) == std::vector{on(0)});
  CHECK(who_goes({{on(2), on(1)}}, leader) == std::vector{on(1)});
}

TEST_CASE("who is apart from most goes, and nobody else if that is enough") {
  CHECK(who_goes({{on(1), on(2)}, {on(1), on(3)}, {on(4), on(1)}}, leader) == std::vector{on(1)});
}

TEST_CASE("whom the leader does not hear goes, with however few others it is apart") {
  CHECK(who_goes({{leader, on(1)}}, leader) == std::vector{on(1)});
  CHECK(who_goes({{leader, on(1)}, {on(1), on(2)}, {on(2), on(3)}}, leader) == std::vector{on(1), on(3)});
}

TEST_CASE("where a third one hears both sides, one side goes") {
  // 0 and 1 on one side, 3 and 4 on the other, 2 hears all.
  std::vector<Apart> apart;
  for (const std::uint32_t a : {0u, 1u}) {
    for (const std::uint32_t b : {3u, 4u}) apart.push_back({on(a), on(b)});
  }
  std::vector<Life> gone = who_goes(apart, leader);
  std::sort(gone.begin(), gone.end());
  CHECK(gone == std::vector{on(3), on(4)});
}

TEST_CASE("whoever remains hears all others, and who was apart from nobody remains") {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<Apart> apart;
    std::set<Life> concerned;
    for (std::uint64_t pairs = random.below(8); pairs > 0; --pairs) {
      const auto a = static_cast<std::uint32_t>(random.below(6)),
                 b = static_cast<std::uint32_t>(random.below(6));
      if (a == b) continue;
      apart.push_back({random.chance(0.2) ? leader : on(a), on(b)});
      concerned.insert({apart.back().who, on(b)});
    }
    const std::vector<Life> gone = who_goes(apart, leader);
    const auto goes = [&](Life life) { return std::find(gone.begin(), gone.end(), life) != gone.end(); };
    REQUIRE_FALSE(goes(leader));
    for (const Life life : gone) REQUIRE(concerned.contains(life));
    for (const Apart& pair : apart) REQUIRE((goes(pair.who) || goes(pair.silent)));
  }
}
