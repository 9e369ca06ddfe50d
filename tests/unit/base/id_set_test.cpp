#include <catch2/catch.hpp>
#include <limits>
#include <set>

#include "libdag/base/id_set.hpp"
#include "libdag/base/random.hpp"

using dag::IdSet;

TEST_CASE("A set of ids holds what was put into it, and no more runs than there are gaps", "[base]") {
  dag::Random random(7);
  for (int round = 0; round < 200; ++round) {
    IdSet set;
    std::set<std::uint64_t> model;
    for (int step = 0; step < 60; ++step) {
      const std::uint64_t first = random.next() % 80, last = first + random.next() % 4;
      set.insert(first, last);
      for (std::uint64_t id = first; id <= last; ++id) model.insert(id);
      std::size_t runs = 0;
      for (const std::uint64_t id : model) runs += model.contains(id + 1) ? 0 : 1;
      REQUIRE(set.ranges().size() == runs);
      for (std::uint64_t id = 0; id < 90; ++id) REQUIRE(set.contains(id) == model.contains(id));
    }
  }
}

TEST_CASE("The last number has none behind it", "[base]") {
  constexpr auto last = std::numeric_limits<std::uint64_t>::max();
  IdSet set;
  set.insert(0);
  set.insert(last);
  set.insert(last - 1);
  CHECK(set.ranges() == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 0}, {last - 1, last}});
}
