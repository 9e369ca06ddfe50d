#include "libdag/base/in_turn.hpp"

#include <catch2/catch.hpp>
#include <map>

using dag::next_in_turn;

TEST_CASE("whoever wants something all the time is served once while each other is") {
  std::map<int, int> wishes{{1, 100}, {3, 2}, {4, 0}, {7, 1}};
  std::vector<int> served;
  int last = 0;
  for (int turn = 0; turn < 6; ++turn) {
    const auto next = next_in_turn(wishes, last, [](const auto& one) { return one.second > 0; });
    REQUIRE(next != wishes.end());
    last = next->first;
    --next->second;
    served.push_back(last);
  }
  CHECK(served == std::vector{1, 3, 7, 1, 3, 1});
}

TEST_CASE("where nobody wants anything it is nobody's turn, whoever was served last") {
  std::map<int, int> wishes{{1, 0}, {3, 0}};
  for (int last = 0; last < 5; ++last)
    CHECK(next_in_turn(wishes, last, [](const auto& one) { return one.second > 0; }) == wishes.end());
  wishes.clear();
  CHECK(next_in_turn(wishes, 1, [](const auto&) { return true; }) == wishes.end());
}

TEST_CASE("who alone wants something is served again") {
  const std::map<int, int> wishes{{1, 0}, {3, 1}};
  for (int last = 0; last < 5; ++last)
    CHECK(next_in_turn(wishes, last, [](const auto& one) { return one.second > 0; })->first == 3);
}
