#include "examples/train_gpt/adam.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/train_gpt/helpers.hpp"

using namespace gpt;

TEST_CASE("train_gpt: Adam agrees with the paper's formulas in double") {
  constexpr std::size_t count = 7;
  std::vector<float> weights = test::noise(count, 1);
  std::vector<double> exact(weights.begin(), weights.end());
  std::vector<double> m(count);
  std::vector<double> v(count);
  AdamState state;
  for (int t = 1; t <= 5; ++t) {
    const std::vector<float> gradients = test::noise(count, static_cast<std::uint64_t>(10 + t));
    adam_update(weights, gradients, state, {.learning_rate = 0.01F, .gradient_scale = 0.5F});
    for (std::size_t i = 0; i < count; ++i) {
      const double g = 0.5 * static_cast<double>(gradients[i]);
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.95 * v[i] + 0.05 * g * g;
      const double first = m[i] / (1.0 - std::pow(0.9, t));
      const double second = v[i] / (1.0 - std::pow(0.95, t));
      exact[i] -= 0.01 * first / (std::sqrt(second) + 1e-8);
      CHECK(static_cast<double>(weights[i]) == Approx(exact[i]).margin(1e-6));
    }
  }
  CHECK(state.updates == 5);
  CHECK_THROWS_AS(adam_update(weights, {1.0F}, state, {}), std::invalid_argument);
}

TEST_CASE("train_gpt: moments without gradients end at zero, never denormal") {
  std::vector<float> weights(5, 1.0F);
  AdamState state;
  adam_update(weights, std::vector<float>(5, 1e-3F), state, {.learning_rate = 1e-3F});
  for (int i = 0; i < 2000; ++i) {
    adam_update(weights, std::vector<float>(5, 0.0F), state, {.learning_rate = 1e-3F});
    for (const float moment : {state.first[4], state.second[0]})
      if (std::fpclassify(moment) == FP_SUBNORMAL) FAIL("denormal after " << i);
  }
  CHECK(state.first[0] == 0.0F);
  CHECK(state.second[4] == 0.0F);
}

TEST_CASE("train_gpt: the learning rate rises straight and falls as a half cosine") {
  const Schedule schedule{.peak = 1.0F, .warm_up_steps = 4, .steps = 14, .end_share = 0.1F};
  CHECK(learning_rate(schedule, 0) == Approx(0.25));
  CHECK(learning_rate(schedule, 3) == Approx(1.0));
  CHECK(learning_rate(schedule, 4) == Approx(1.0));
  CHECK(learning_rate(schedule, 9) == Approx(0.55));
  CHECK(learning_rate(schedule, 14) == Approx(0.1));
  CHECK(learning_rate(schedule, 1000) == Approx(0.1));
  for (std::uint32_t step = 4; step < 14; ++step)
    CHECK(learning_rate(schedule, step + 1) < learning_rate(schedule, step));
  CHECK(learning_rate({.peak = 1.0F, .warm_up_steps = 0, .steps = 1}, 0) == Approx(1.0));
  CHECK(learning_rate({.peak = 1.0F, .warm_up_steps = 5, .steps = 2}, 1) == Approx(0.4));
}

TEST_CASE("train_gpt: clipping brings the norm down to its limit, and leaves smaller ones alone") {
  const std::vector<double> squares = {9.0, 16.0};  // norm 5
  CHECK(clipped_scale(squares, 0.5F, 0.0F) == 0.5F);
  CHECK(clipped_scale(squares, 0.5F, 3.0F) == 0.5F);
  CHECK(clipped_scale(squares, 0.5F, 1.0F) == Approx(0.2F));
  CHECK(clipped_scale({0.0}, 0.5F, 1.0F) == 0.5F);
}
