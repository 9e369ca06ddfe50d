#include "libdag/placement/duration_predictor.hpp"

#include <algorithm>

namespace dag {

namespace {

/// Weight of a new observation once there are enough of them; before, all weigh the same.
constexpr double newest_weight = 1.0 / 8;

}  // namespace

void DurationEstimate::observe(Duration ran) {
  const double sample = static_cast<double>(std::max(ran, Duration{0}).count());
  ++observations_;
  const double weight = std::max(newest_weight, 1.0 / static_cast<double>(observations_));
  const double difference = sample - mean_ns_;
  const double step = weight * difference;
  mean_ns_ += step;
  variance_ns2_ = observations_ == 1 ? 0 : (1 - weight) * (variance_ns2_ + difference * step);
}

void DurationPredictor::observe(TaskClass task_class, KindIndex kind, Duration ran) {
  if (task_class.index >= classes_max || kind.index >= kinds_max) return;
  const std::size_t at = std::size_t{task_class.index} * kinds_max + kind.index;
  if (at >= estimates_.size()) estimates_.resize((std::size_t{task_class.index} + 1) * kinds_max);
  estimates_[at].observe(ran);
}

std::optional<DurationEstimate> DurationPredictor::estimate(TaskClass task_class, KindIndex kind) const {
  if (kind.index >= kinds_max) return std::nullopt;
  const std::size_t at = std::size_t{task_class.index} * kinds_max + kind.index;
  if (at >= estimates_.size() || estimates_[at].observations() == 0) return std::nullopt;
  return estimates_[at];
}

std::optional<Duration> DurationPredictor::predict(TaskClass task_class, KindIndex kind,
                                                   std::optional<Duration> stated) const {
  const auto seen = estimate(task_class, kind);
  return seen ? std::optional(seen->mean()) : stated;
}

}  // namespace dag
