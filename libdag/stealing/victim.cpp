#include "libdag/stealing/victim.hpp"

#include <algorithm>
#include <tuple>

namespace dag {

std::optional<ThiefMachine::Ask> ThiefMachine::next(const std::vector<VictimView>& views, Instant now) {
  if (open_) {
    if (now < open_until_) return std::nullopt;
    refused(open_->victim, now);
    open_.reset();
  }
  const VictimView* best = nullptr;
  for (const VictimView& view : views) {
    if (view.tasks_ready == 0 || view.wait <= view.round_trip) continue;
    const auto refusals = refusals_.find(view.life);
    if (refusals != refusals_.end() && now < refusals->second.until) continue;
    // Nearest first; among equally near ones the one with the longest queue; then by id, to be repeatable.
    const auto key = [](const VictimView& one) { return std::make_tuple(one.rung, -one.wait, one.life); };
    if (!best || key(view) < key(*best)) best = &view;
  }
  if (!best) return std::nullopt;
  open_ = Ask{best->life, next_request_++};
  open_until_ = now + options_.answer_within;
  return open_;
}

bool ThiefMachine::on_answer(Life victim, std::uint64_t request, std::size_t tasks_granted, Instant now) {
  if (tasks_granted > 0) refusals_.erase(victim);
  if (open_ != Ask{victim, request}) return false;
  open_.reset();
  if (tasks_granted == 0) refused(victim, now);
  return true;
}

void ThiefMachine::on_member_down(Life victim) {
  if (open_ && open_->victim == victim) open_.reset();
  refusals_.erase(victim);
}

void ThiefMachine::refused(Life victim, Instant now) {
  Refusals& refusals = refusals_[victim];
  Duration pause = options_.pause_after_refusal;
  for (std::uint32_t n = 0; n < refusals.count && pause < options_.pause_max; ++n) pause *= 2;
  refusals.until = now + std::min(pause, options_.pause_max);
  ++refusals.count;
}

std::uint32_t rows_to_give(std::uint32_t lanes, std::uint32_t queued, std::optional<Duration> mean_run) {
  // Some tens of round trips on one host. A Lend and an Ended for each row are worth a batch, not a flood.
  constexpr Duration run_ahead = std::chrono::milliseconds(10);
  constexpr Duration::rep rows_max = 128;
  Duration::rep each_lane = 1;
  if (mean_run) {
    each_lane = std::clamp(run_ahead / std::max(*mean_run, Duration{1}), Duration::rep{1}, rows_max);
  }
  const std::uint64_t wanted = std::uint64_t{lanes} * static_cast<std::uint64_t>(each_lane);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, (std::uint64_t{queued} + 1) / 2));
}

std::optional<Instant> ThiefMachine::wake_at(Instant now) const {
  if (open_) return open_until_;
  std::optional<Instant> first;
  for (const auto& [life, refusals] : refusals_) {
    if (refusals.until > now && (!first || refusals.until < *first)) first = refusals.until;
  }
  return first;
}

}  // namespace dag
