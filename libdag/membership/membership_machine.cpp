// Time and judgement: heartbeats, silence, broken links, our own lateness. membership_conversation.cpp has
// the messages.
#include "libdag/membership/membership_machine.hpp"

#include <algorithm>
#include <utility>

#include "libdag/base/check.hpp"

namespace dag {

MembershipMachine::MembershipMachine(Life self, Endpoint endpoint, MembershipOptions options, Random random,
                                     Instant now)
    : options_(std::move(options)),
      random_(random),
      self_{.life = self, .endpoint = std::move(endpoint)},
      table_(self.process),
      next_beat_(now),
      last_event_(now),
      planned_(now) {
  DAG_CHECK(options_.heartbeat > Duration{0});
  DAG_CHECK(options_.suspect_after > 2 * options_.heartbeat);
  DAG_CHECK(options_.watched_max > 0);
  DAG_CHECK(options_.claims_per_message > 1);
  for (auto& address : options_.seeds) seeds_.push_back({.address = address});
}

// ---- Our own sleep

void MembershipMachine::begin_event(Instant now) {
  now_ = std::max(now, last_event_);
  DAG_CHECK(effects_.empty());
  news_ = false;
  const Duration late = now_ - planned_;
  const Duration gap = now_ - last_event_;
  if (late > options_.heartbeat / 4) forgive(late);
  if (late > options_.heartbeat / 2) {
    health_.worse();
    late_since_beat_ = true;
  }
  if (gap > 2 * options_.heartbeat) become_stale();
}

MembershipEffects MembershipMachine::end_event() {
  if (news_ && !over_) {
    for (Member* member : table_.next_in_ring(options_.watched_max)) {
      send(member->claim, membership::Gossip{claims()});
    }
  }
  last_event_ = now_;
  planned_ = wake_at();
  return std::exchange(effects_, {});
}

// No process counts as silent while we slept: its messages may be in our mailbox, behind this event.
void MembershipMachine::forgive(Duration slept) {
  for (auto& [process, member] : table_.all()) {
    if (!is_up(member.claim.state)) continue;
    member.heard = std::min(member.heard + slept, now_);
    if (member.dead_at) member.dead_at = *member.dead_at + slept;
    if (member.reconnect) member.reconnect->until = member.reconnect->until + slept;
  }
  for (Relay& relay : relays_) relay.nack_at = relay.nack_at + slept;
  for (Request& request : requests_) request.until = request.until + slept;
}

void MembershipMachine::become_stale() {
  if (table_.up_count() == 0) return;  // No other process could know better.
  if (!stale_) effects_.emplace_back(ViewStale{});
  stale_ = Stale{next_number_, now_ + health_.stretch(options_.suspect_after)};
  ++self_.beat;  // So that our first message refutes suspicions about us.
  for (Member* member : table_.next_in_ring(options_.watched_max)) {
    ping(*member);
    // The answer may be late through our own fault, and any of the new pings will do.
    if (member->reconnect) member->reconnect->until = now_ + health_.stretch(options_.reconnect_within);
  }
}

void MembershipMachine::become_fresh() {
  stale_.reset();
  effects_.emplace_back(ViewFresh{});
}

// ---- Heartbeats

MembershipEffects MembershipMachine::on_tick(Instant now) {
  if (over_) return {};
  begin_event(now);
  if (stale_ && now_ >= stale_->until) become_fresh();
  judge_members();
  expire_relays();
  expire_requests();
  if (now_ >= next_beat_) beat();
  return end_event();
}

void MembershipMachine::on_load(LoadSummary load) {
  load_ = std::move(load);
  if (self_.beat == 0) self_.load = load_;  // Others must not take us for a process without devices.
}

void MembershipMachine::on_seeds(const std::vector<std::string>& addresses) {
  std::vector<Seed> before = std::exchange(seeds_, {});
  for (const std::string& address : addresses) {
    const auto known =
        std::find_if(before.begin(), before.end(), [&](const Seed& seed) { return seed.address == address; });
    seeds_.push_back(known == before.end() ? Seed{.address = address} : std::move(*known));
  }
}

void MembershipMachine::beat() {
  judge_health();
  ++self_.beat;
  self_.load = load_;
  for (Member* member : table_.next_in_ring(options_.watched_max)) ping(*member);
  ask_seeds();
  next_beat_ = now_ + options_.heartbeat;
}

// Lifeguard takes every missed answer for a bad sign of our own; among few processes that would slow down the
// discovery of a real death just when it matters. So only signs that point at us count: lateness, answers
// that nobody gives though several should, helpers that say nothing, and being suspected.
void MembershipMachine::judge_health() {
  const auto watched = table_.next_in_ring(options_.watched_max);
  const auto trusted = std::count_if(watched.begin(), watched.end(), [](const Member* member) {
    return member->claim.state == MemberState::alive && !member->reconnect;
  });
  if (acks_since_beat_ == 0 && trusted >= 2) {
    health_.worse();
  } else if (!late_since_beat_) {
    health_.better();
  }
  acks_since_beat_ = 0;
  late_since_beat_ = false;
}

void MembershipMachine::ask_seeds() {
  const bool alone = table_.up_count() == 0;
  for (Seed& seed : seeds_) {
    if (now_ < seed.ask_at || seed.address == self_.endpoint.control) continue;
    if (seed.answered == self_.life.process) continue;
    if (seed.answered) {
      const Member* member = table_.find(*seed.answered);
      if (member && is_up(member->claim.state)) continue;
    }
    // Also when we know others: this is how the two halves of a healed cluster find each other.
    effects_.emplace_back(
        SendMembership{seed.address, std::nullopt, membership::Join{seed.address, claims()}});
    seed.ask_at = now_ + (alone ? options_.join_every : options_.rejoin_every);
  }
}

// ---- Judgement

void MembershipMachine::judge_members() {
  std::vector<ProcessId> watched;
  for (Member* member : table_.next_in_ring(options_.watched_max)) {
    watched.push_back(member->claim.life.process);
    // A process that enters our part of the ring was watched by another one until now.
    if (!std::exchange(member->watched, true)) member->heard = now_;
  }
  for (auto& [process, member] : table_.all()) {
    if (!is_up(member.claim.state)) continue;
    const bool is_watched = std::find(watched.begin(), watched.end(), process) != watched.end();
    member.watched = is_watched;
    if (member.reconnect && now_ >= member.reconnect->until) {
      declare(member, MemberState::dead, DownWhy::process_died);
      continue;
    }
    if (stale_) continue;
    const bool silent = now_ - member.heard >= health_.stretch(options_.suspect_after);
    if (member.claim.state == MemberState::alive) {
      if (is_watched && silent) suspect(member);
    } else if (member.dead_at && now_ >= *member.dead_at) {
      if (is_watched && !silent) {
        // Others suspect it, but we have heard of it since: its own next beat will settle the matter.
        member.dead_at = now_ + health_.stretch(options_.dead_after);
      } else {
        declare(member, MemberState::dead, DownWhy::silent);
      }
    }
  }
}

void MembershipMachine::declare(Member& member, MemberState state, DownWhy why) {
  Claim claim = member.claim;
  claim.state = state;
  believe(claim, why);
}

void MembershipMachine::suspect(Member& member) {
  declare(member, MemberState::suspect, DownWhy::silent);
  ping(member);
  if (requests_.size() >= membership_exchanges_max) return;
  std::vector<Member*> helpers = table_.next_in_ring(members_max);
  std::erase_if(helpers, [&](const Member* helper) {
    return helper == &member || helper->claim.state != MemberState::alive;
  });
  std::shuffle(helpers.begin(), helpers.end(), random_);
  if (helpers.size() > options_.helpers) helpers.resize(options_.helpers);
  if (helpers.empty()) return;
  Request request{next_number_++, {}, now_ + 2 * options_.nack_after};
  for (const Member* helper : helpers) {
    request.owing.push_back(helper->claim.life);
    send(helper->claim, membership::PingRequest{request.number, member.claim.life, claims()});
  }
  requests_.push_back(std::move(request));
}

MembershipEffects MembershipMachine::on_disconnected(Life life, Instant now) {
  if (over_) return {};
  begin_event(now);
  if (Member* member = table_.find_up(life); member && !member->reconnect) await_reconnect(*member);
  return end_event();
}

MembershipEffects MembershipMachine::on_refused(Life life, Instant now) {
  if (over_) return {};
  begin_event(now);
  if (Member* member = table_.find_up(life)) {
    // Without a break before it, a refusal may be an old one, of the time before the process listened.
    if (member->reconnect) {
      declare(*member, MemberState::dead, DownWhy::process_died);
    } else {
      await_reconnect(*member);
    }
  }
  return end_event();
}

void MembershipMachine::await_reconnect(Member& member) {
  const Instant until = now_ + health_.stretch(options_.reconnect_within);
  member.reconnect = Member::Reconnect{ping(member), until};
}

void MembershipMachine::expire_relays() {
  std::erase_if(relays_, [&](const Relay& relay) {
    if (now_ < relay.nack_at) return false;
    if (const Member* asker = table_.find_up(relay.asker)) {
      send(asker->claim, membership::Nack{relay.request, claims()});
    }
    return true;
  });
}

// A helper that is up and says nothing at all is a bad sign about us, not about the suspect.
void MembershipMachine::expire_requests() {
  std::erase_if(requests_, [&](const Request& request) {
    if (now_ < request.until) return false;
    const bool ignored = std::any_of(request.owing.begin(), request.owing.end(), [&](Life helper) {
      const Member* member = table_.find_up(helper);
      return member && member->claim.state == MemberState::alive;
    });
    if (ignored) health_.worse();
    return true;
  });
}

Instant MembershipMachine::wake_at() const {
  Instant first = next_beat_;
  const auto sooner = [&](Instant at) { first = std::min(first, at); };
  if (stale_) sooner(stale_->until);
  for (const auto& [process, member] : table_.all()) {
    if (!is_up(member.claim.state)) continue;
    if (member.reconnect) sooner(member.reconnect->until);
    if (stale_) continue;
    if (member.dead_at) sooner(*member.dead_at);
    if (member.watched && member.claim.state == MemberState::alive) {
      sooner(member.heard + health_.stretch(options_.suspect_after));
    }
  }
  for (const Relay& relay : relays_) sooner(relay.nack_at);
  for (const Request& request : requests_) sooner(request.until);
  return std::max(first, last_event_);
}

}  // namespace dag
