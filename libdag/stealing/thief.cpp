#include "libdag/stealing/thief.hpp"

#include <algorithm>
#include <tuple>

namespace dag {

std::optional<Life> ThiefMachine::next(const std::vector<VictimView>& views, Instant now) {
  if (open_) {
    if (now < open_until_) return std::nullopt;
    refused(*open_, now);
    open_.reset();
  }
  if (views.empty() || now < pause_until_) return std::nullopt;
  const auto key = [&](const VictimView& view) {
    const bool has_work = view.tasks_ready > 0 && view.wait > view.round_trip;
    const auto refusals = refusals_.find(view.life);
    // Ties go to the longest queue, then to the first in order, so that a run can be repeated.
    const Duration wait = has_work ? view.wait : Duration{0};
    return std::make_tuple(!has_work, refusals == refusals_.end() ? 0 : refusals->second, view.rung, -wait);
  };
  const auto best = std::min_element(
      views.begin(), views.end(), [&](const auto& one, const auto& other) { return key(one) < key(other); });
  open_ = best->life;
  open_until_ = now + options_.answer_within;
  return open_;
}

void ThiefMachine::on_new_job() {
  refusals_.clear();
  pause_ = Duration{0};
  pause_until_ = {};
}

void ThiefMachine::on_work(Life victim) {
  on_new_job();
  if (open_ == victim) open_.reset();
}

void ThiefMachine::on_member_down(Life victim) {
  if (open_ == victim) open_.reset();
  refusals_.erase(victim);
}

void ThiefMachine::refused(Life victim, Instant now) {
  ++refusals_[victim];
  pause_ = std::clamp(pause_ * 2, options_.pause_after_refusal, options_.pause_max);
  pause_until_ = now + pause_;
}

std::optional<Instant> ThiefMachine::wake_at() const {
  if (open_) return open_until_;
  if (!refusals_.empty()) return pause_until_;
  return std::nullopt;
}

}  // namespace dag
