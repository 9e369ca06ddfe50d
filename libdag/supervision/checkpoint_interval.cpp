#include "libdag/supervision/checkpoint_interval.hpp"

#include <algorithm>
#include <cmath>

namespace dag {
namespace {

constexpr double share_max = 0.02;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }
Duration from_seconds(double count) {
  constexpr double most = 1e9;  // 30 years.
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::min(count, most)));
}

}  // namespace

Duration checkpoint_interval(Duration cost, Duration lost_after) {
  const double c = std::max(0.0, seconds(cost));
  const double best = std::sqrt(2 * c * std::max(0.0, seconds(lost_after)));
  return from_seconds(std::max(best, c * (1 - share_max) / share_max));
}

void SaveTimes::took(Duration cost) { last_ = std::max(last_, cost); }

void SaveTimes::saved(Instant now) {
  saved_at_ = now;
  if (last_ > Duration{0}) before_ = (before_ + last_) / 2;
  last_ = Duration{0};
}

bool SaveTimes::due(Duration every, Duration lost_after, Instant now) const {
  const Duration cost = last_ > Duration{0} ? (before_ + last_) / 2 : before_;
  return now - saved_at_ >= (every > Duration{0} ? every : checkpoint_interval(cost, lost_after));
}

void Losses::note(std::size_t lost, std::size_t watched, Instant now) {
  if (began_) seconds_ += seconds(now - since_) * static_cast<double>(watched);
  began_ = true;
  since_ = now;
  lost_ += static_cast<double>(lost);
}

Duration Losses::mean_time(Instant now, std::size_t watched) const {
  const double since = began_ ? seconds(now - since_) * static_cast<double>(watched) : 0;
  return from_seconds((seconds_ + since) / lost_);
}

}  // namespace dag
