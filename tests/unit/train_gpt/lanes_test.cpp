// The vector helpers against plain loops, with every row length around the lane count.
#include <catch2/catch.hpp>
#include <cmath>

#include "examples/train_gpt/lanes.hpp"
#include "tests/unit/train_gpt/helpers.hpp"

using namespace gpt;

TEST_CASE("train_gpt: sums, dots and maxima agree with plain loops for every length") {
  const std::vector<float> a = test::noise(40, 1);
  const std::vector<float> b = test::noise(40, 2);
  for (std::size_t count = 1; count <= a.size(); ++count) {
    double plain_sum = 0.0;
    double plain_dot = 0.0;
    float plain_maximum = a[0];
    for (std::size_t i = 0; i < count; ++i) {
      plain_sum += static_cast<double>(a[i]);
      plain_dot += static_cast<double>(a[i]) * static_cast<double>(b[i]);
      plain_maximum = std::max(plain_maximum, a[i]);
    }
    CHECK(static_cast<double>(sum(a.data(), count)) == Approx(plain_sum).margin(1e-5));
    CHECK(static_cast<double>(dot(a.data(), b.data(), count)) == Approx(plain_dot).margin(1e-5));
    CHECK(maximum(a.data(), count) == plain_maximum);
  }
}

TEST_CASE("train_gpt: for_each_lane writes its elements and none behind them") {
  const std::vector<float> a = test::noise(16, 1);
  for (std::size_t count = 0; count < 16; ++count) {
    std::vector<float> out(16, 9.0F);
    for_each_lane(a.data(), out.data(), count, [](Lanes x) { return x + x; });
    for (std::size_t i = 0; i < 16; ++i) CHECK(out[i] == (i < count ? 2.0F * a[i] : 9.0F));
  }
}

TEST_CASE("train_gpt: the exponential is within 3e-7 relative, and never denormal") {
  double worst = 0.0;
  for (float x = -87.0F; x <= 88.0F; x += 0.0137F) {
    const auto ours = static_cast<double>(exponential(fill(x))[2]);
    const double exact = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::abs(ours - exact) / exact);
  }
  CHECK(worst < 3e-7);
  CHECK(exponential(fill(0.0F))[0] == 1.0F);
  CHECK(std::isnormal(exponential(fill(-1000.0F))[0]));
  CHECK(std::isfinite(exponential(fill(1000.0F))[0]));
}
