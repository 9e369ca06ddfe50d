// The estimate follows what it sees, and is bounded.
#include "libdag/placement/duration_predictor.hpp"

#include <catch2/catch.hpp>

#include "libdag/base/random.hpp"

using namespace dag;
using namespace std::chrono_literals;

TEST_CASE("the first observations weigh the same, as in a plain mean") {
  Random random(GENERATE(range(1u, 10u)));
  DurationEstimate estimate;
  double sum = 0, squares = 0;
  for (int n = 1; n <= 8; ++n) {
    const auto ran = Duration(random.below(1'000'000'000));
    estimate.observe(ran);
    sum += static_cast<double>(ran.count());
    squares += static_cast<double>(ran.count()) * static_cast<double>(ran.count());
    const double mean = sum / n, variance = squares / n - mean * mean;
    CHECK(static_cast<double>(estimate.mean().count()) == Approx(mean));
    CHECK(static_cast<double>(estimate.deviation().count()) == Approx(std::sqrt(variance)).margin(100));
  }
}

TEST_CASE("a change is followed within some twenty observations") {
  DurationEstimate estimate;
  for (int n = 0; n < 1000; ++n) estimate.observe(10ms);
  CHECK(estimate.mean() == 10ms);
  CHECK(estimate.deviation() == 0ms);
  for (int n = 0; n < 20; ++n) estimate.observe(100ms);
  CHECK(estimate.mean() > 90ms);
  CHECK(estimate.at_most() >= 100ms);
}

TEST_CASE("nothing seen means nothing predicted, unless the user said something") {
  DurationPredictor predictor;
  CHECK_FALSE(predictor.predict(TaskClass{3}, KindIndex{0}));
  CHECK(predictor.predict(TaskClass{3}, KindIndex{0}, 2s) == Duration(2s));
  predictor.observe(TaskClass{3}, KindIndex{0}, 5ms);
  CHECK(predictor.predict(TaskClass{3}, KindIndex{0}, 2s) == Duration(5ms));
  CHECK_FALSE(predictor.predict(TaskClass{3}, KindIndex{1}));
  CHECK_FALSE(predictor.predict(TaskClass{2}, KindIndex{0}));
}

TEST_CASE("classes and kinds beyond the limits are not learned") {
  DurationPredictor predictor;
  predictor.observe(TaskClass{DurationPredictor::classes_max}, KindIndex{0}, 1s);
  predictor.observe(TaskClass{0}, KindIndex{DurationPredictor::kinds_max}, 1s);
  CHECK_FALSE(predictor.estimate(TaskClass{DurationPredictor::classes_max}, KindIndex{0}));
  CHECK_FALSE(predictor.estimate(TaskClass{0}, KindIndex{DurationPredictor::kinds_max}));
  CHECK_FALSE(predictor.estimate(TaskClass{1}, KindIndex{0}));
}
