#include "tests/support/patience.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using dag::test::comes_true;
using dag::test::patience_factor;

TEST_CASE("DAG_PATIENCE is a positive number, and 1 unless it is set") {
  CHECK(patience_factor(nullptr) == 1);
  CHECK(patience_factor("") == 1);
  CHECK(patience_factor("0.2") == 0.2);
  CHECK(patience_factor("5") == 5);
  const std::string text = GENERATE("0", "-1", "x", "2s", "nan", "inf", " ");
  CHECK_THROWS_WITH(patience_factor(text.c_str()),
                    "DAG_PATIENCE is '" + text + "', but must be a number above 0, such as 0.2");
}

TEST_CASE("a condition is looked at until it holds or the limit is over") {
  int looks = 0;
  CHECK(comes_true([&] { return ++looks == 3; }));
  CHECK(looks == 3);
  CHECK_FALSE(comes_true([&] { return ++looks == 0; }, 20ms));
  CHECK(looks > 4);
}
