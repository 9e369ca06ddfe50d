#include "libdag/here/job_router.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"

namespace dag {

void JobRouter::open() {
  if (std::exchange(open_, true)) return;
  look_again();
}

Admission JobRouter::on_message(Life from, JobMessage message) {
  const Admission admission = judge(from, message);
  if (admission == Admission::wait) door_.hold(from, std::move(message));
  if (admission == Admission::deliver) route(from, std::move(message));
  return admission;
}

Admission JobRouter::judge(Life from, const JobMessage& message) const {
  if (over_) return Admission::drop;
  if (!open_) return Admission::wait;
  return door_.judge(from, message, state_, [this](std::uint32_t shard) -> std::optional<Epoch> {
    const auto home = homes_.find(shard);
    return home == homes_.end() ? std::nullopt : std::optional(home->second);
  });
}

void JobRouter::route(Life from, JobMessage&& message) {
  if (const auto* state = std::get_if<message::JobState>(&message)) return on_state(from, *state);
  if (auto* assign = std::get_if<message::Assign>(&message)) return on_assign(std::move(*assign));
  if (const auto* request = std::get_if<message::StealRequest>(&message))
    return on_steal_request(from, request->slots);
  const Recipient to = recipient_of(message);
  if (to == Recipient::process) return;
  if (std::holds_alternative<message::Lend>(message) && from != self_) routes_.emplace_back(WorkCame{from});
  const auto named = shard_epoch_of(message);
  if (to == Recipient::home && (!named || !homes_.contains(named->shard))) return;
  routes_.emplace_back(HandOn{to, named ? named->shard : 0, from, std::move(message)});
}

void JobRouter::on_state(Life from, const message::JobState& state) {
  if (state.version <= state_.version) return;
  state_ = state;
  door_.on_state(state_);
  for (std::uint32_t shard = 0; shard < state_.homes.size(); ++shard) {
    if (state_.homes[shard].home != self_ && homes_.contains(shard)) end_home(shard);
  }
  dispatch_state(from);
  if (message::is_over_for(state_, self_)) return end_job();
  if (!state_.ended) begin_first_homes();
  look_again();
}

void JobRouter::begin_first_homes() {
  for (std::uint32_t shard = 0; shard < state_.homes.size(); ++shard) {
    const message::ShardHome& place = state_.homes[shard];
    if (place.home == self_ && place.epoch.count == 1 && !homes_.contains(shard))
      begin_home(shard, place.epoch, std::nullopt);
  }
}

void JobRouter::dispatch_state(Life from) {
  routes_.emplace_back(HandOn{Recipient::runner, 0, from, state_});
  for (const auto& [shard, epoch] : homes_)
    routes_.emplace_back(HandOn{Recipient::home, shard, from, state_});
}

void JobRouter::on_assign(message::Assign&& assign) {
  const message::ShardHome& place = state_.homes[assign.shard];
  if (place.home != self_ || place.epoch != assign.epoch) return;
  if (const auto home = homes_.find(assign.shard); home != homes_.end()) {
    if (assign.epoch <= home->second) return;  // The home has begun already.
    end_home(assign.shard);
  }
  const std::uint32_t shard = assign.shard;
  const Epoch epoch = assign.epoch;
  begin_home(shard, epoch, std::move(assign));
  look_again();
}

/// The homes begin in turn, so that not all thieves empty the same one.
void JobRouter::on_steal_request(Life thief, std::uint32_t slots) {
  AskedForWork asked{thief, slots, {}};
  for (const auto& [shard, epoch] : homes_) asked.homes.push_back(shard);
  if (!asked.homes.empty()) {
    const auto first = static_cast<std::ptrdiff_t>(next_home_asked_++ % asked.homes.size());
    std::rotate(asked.homes.begin(), asked.homes.begin() + first, asked.homes.end());
  }
  routes_.emplace_back(std::move(asked));
}

void JobRouter::begin_home(std::uint32_t shard, Epoch epoch, std::optional<message::Assign> assign) {
  homes_[shard] = epoch;
  routes_.emplace_back(BeginHome{shard, epoch, std::move(assign), state_});
}

void JobRouter::end_home(std::uint32_t shard) {
  homes_.erase(shard);
  routes_.emplace_back(EndHome{shard});
}

void JobRouter::end_job() {
  over_ = true;
  while (!homes_.empty()) end_home(homes_.begin()->first);
  door_.take_waiting();
  routes_.emplace_back(JobOver{});
}

void JobRouter::look_again() {
  for (auto& [from, message] : door_.take_waiting()) on_message(from, std::move(message));
}

void JobRouter::check_invariants() const {
  DAG_CHECK(!over_ || homes_.empty());
  DAG_CHECK(!over_ || door_.waiting() == 0);
  DAG_CHECK(open_ || state_.version == 0);
  for (const auto& [shard, epoch] : homes_) {
    DAG_CHECK(shard < state_.homes.size());
    DAG_CHECK(state_.homes[shard].home == self_);
    DAG_CHECK(epoch <= state_.homes[shard].epoch);
  }
  // A message that waits has something to wait for.
  door_.each_waiting([this](Life from, const JobMessage& message) {
    DAG_CHECK(judge(from, message) != Admission::deliver);
  });
}

}  // namespace dag
