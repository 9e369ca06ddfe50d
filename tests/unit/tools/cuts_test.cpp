// The ways in which chaos cuts a network of five.
#include "tools/chaos/cuts.hpp"

#include <catch2/catch.hpp>
#include <map>

using namespace dag::chaos;

TEST_CASE("a network of five is cut in 61 ways, no two of them the same") {
  const auto cuts = all_cuts();
  CHECK(cuts.size() == 61);
  std::map<std::string, std::size_t> kinds;
  std::set<std::pair<Deaf, bool>> different;
  for (const Cut& cut : cuts) {
    ++kinds[cut.kind()];
    CHECK(different.emplace(cut.deaf, cut.flaps).second);
    for (const auto& [from, to] : cut.deaf) CHECK((from != to && from < 5 && to < 5));
    // The sides of a split do not hear each other, and each hears itself.
    for (const auto& [from, to] : cut.deaf)
      CHECK((cut.side.empty() || cut.side.contains(from) != cut.side.contains(to)));
    if (!cut.side.empty()) CHECK(cut.deaf.size() == 2 * cut.side.size() * (5 - cut.side.size()));
  }
  CHECK(kinds ==
        std::map<std::string, std::size_t>{
            {"split", 15}, {"one-way", 20}, {"bridge", 15}, {"deaf", 5}, {"mute", 5}, {"flapping", 1}});
}
