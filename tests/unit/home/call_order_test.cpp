#include "libdag/home/call_order.hpp"

#include <catch2/catch.hpp>

using dag::CallOrder;
using dag::RowIndex;

namespace {

void expect(const CallOrder& order, const std::vector<RowIndex>& rows) {
  REQUIRE(std::vector<RowIndex>(order.begin(), order.end()) == rows);
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(order.place_of(rows[i]) == i);
}

}  // namespace

TEST_CASE("calls keep their order, and each is found where it is") {
  CallOrder order;
  CHECK(order.empty());
  CHECK(order.place_of(4) == 0);
  for (const RowIndex row : {4u, 9u, 12u}) order.insert(order.size(), row);
  expect(order, {4, 9, 12});
  order.insert(1, 20);
  expect(order, {4, 20, 9, 12});
  order.erase(9);
  expect(order, {4, 20, 12});
  CHECK(order.place_of(9) == order.size());
  order.erase(12);
  order.insert(0, 9);
  expect(order, {9, 4, 20});
}
