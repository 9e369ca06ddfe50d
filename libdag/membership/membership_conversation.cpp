// Messages of a MembershipMachine: sending them, and taking them in. membership_machine.cpp
// judges.
#include <algorithm>
#include <utility>

#include "libdag/base/check.hpp"
#include "libdag/membership/membership_machine.hpp"

namespace dag {

namespace {

const std::vector<Claim>& claims_of(const MembershipMessage& message) {
  return std::visit([](const auto& any) -> const std::vector<Claim>& { return any.claims; }, message);
}

}  // namespace

MembershipEffects MembershipMachine::on_message(Life from, const MembershipMessage& message, Instant now) {
  if (over_) return {};
  const auto& claims = claims_of(message);
  // The wire refuses such messages; a machine that is driven otherwise must not believe them either.
  if (claims.empty() || claims.size() > members_max || claims.front().life != from) return {};
  begin_event(now);

  if (from == self_.life) {
    // A seed is our own address, by another name.
    const auto* join = std::get_if<membership::Join>(&message);
    for (Seed& seed : seeds_) {
      if (join && seed.address == join->address) seed.answered = self_.life.process;
    }
    return end_event();
  }
  if (const Member* known = table_.find(from.process)) {
    const Life life = known->claim.life;
    if (life.incarnation > from.incarnation || (life == from && !is_up(known->claim.state))) {
      // A dead life is told so, and none of its claims is believed: its claims about others are as old as
      // it.
      tell_the_dead(from, *known, message);
      return end_event();
    }
  }
  for (const Claim& claim : claims) {
    take(claim);
    if (over_) return end_event();
  }
  if (Member* member = table_.find_up(from)) {
    member->heard = now_;
    std::visit([&](const auto& content) { handle(*member, content); }, message);
  }
  return end_event();
}

void MembershipMachine::tell_the_dead(Life from, const Member& known, const MembershipMessage& message) {
  if (known.claim.life == from && known.claim.state == MemberState::left) return;  // The member knows.
  const auto up = static_cast<std::uint32_t>(table_.up_count() + 1);
  if (const auto* obituary = std::get_if<membership::Obituary>(&message)) {
    const bool we_yield =
        obituary->members_up > up || (obituary->members_up == up && from.process < self_.life.process);
    if (we_yield) {
      if (obituary->deceased.life.process == self_.life.process) take_about_self(obituary->deceased);
      return;
    }
  }
  effects_.emplace_back(SendMembership{known.claim.endpoint.control, from,
                                       membership::Obituary{known.claim, up, std::vector<Claim>{self_}}});
}

void MembershipMachine::take(const Claim& claim) {
  if (claim.life.process == self_.life.process) {
    take_about_self(claim);
  } else {
    believe(claim, DownWhy::told);
  }
}

void MembershipMachine::take_about_self(const Claim& claim) {
  if (claim.life.incarnation < self_.life.incarnation) return;
  if (claim.life.incarnation > self_.life.incarnation || !is_up(claim.state)) {
    over_ = true;
    const bool gone = !is_up(claim.state) || claim.endpoint.control == self_.endpoint.control;
    effects_.emplace_back(ComeBackAs{Incarnation{claim.life.incarnation.value + 1},
                                     gone && claim.life.incarnation > self_.life.incarnation});
    return;
  }
  if (claim.state == MemberState::suspect && claim.beat >= self_.beat) {
    self_.beat = claim.beat + 1;
    health_.worse();  // We were too slow for some process.
    news_ = true;
  }
}

void MembershipMachine::believe(const Claim& claim, DownWhy why) {
  if (table_.believe(claim, now_, why, effects_)) news_ = true;
  Member* member = table_.find(claim.life.process);
  if (member && member->claim.state == MemberState::suspect && !member->dead_at) {
    member->dead_at = now_ + health_.stretch(options_.dead_after);
  }
}

void MembershipMachine::handle(const Member& from, const membership::Ping& ping) {
  send(from.claim, membership::Ack{ping.number, claims()});
  // Beats fall together, so that a process wakes once for all of them and not once for each of the others:
  // the first to beat triggers the others, as fireflies do (Mirollo, Strogatz, 1990).
  if (next_beat_ - now_ <= options_.heartbeat / 4) beat();
}

void MembershipMachine::handle(Member& from, const membership::Ack& ack) {
  ++acks_since_beat_;
  if (from.ping == ack.number) {
    const Duration sample = now_ - from.ping_sent;
    from.ping = 0;
    // As TCP smooths it (RFC 6298).
    from.round_trip =
        from.round_trip == Duration{0} ? sample : from.round_trip + (sample - from.round_trip) / 8;
  }
  if (from.reconnect && ack.number >= from.reconnect->ping) from.reconnect.reset();
  if (stale_ && ack.number >= stale_->ping) become_fresh();

  const auto relay = std::find_if(relays_.begin(), relays_.end(),
                                  [&](const Relay& waiting) { return waiting.ping == ack.number; });
  if (relay != relays_.end()) {
    if (const Member* asker = table_.find_up(relay->asker)) {
      // The suspect's claim, with its newest beat, refutes the suspicion: it must be among the claims
      // told.
      auto told = claims();
      const bool has = std::any_of(told.begin(), told.end(),
                                   [&](const Claim& claim) { return claim.life == from.claim.life; });
      if (!has) told.push_back(from.claim);
      send(asker->claim, membership::Ack{relay->request, std::move(told)});
    }
    relays_.erase(relay);
  }
  settle_request(ack.number, from.claim.life);
}

void MembershipMachine::handle(const Member& from, const membership::PingRequest& request) {
  Member* target = table_.find_up(request.target);
  if (!target || relays_.size() >= membership_exchanges_max) {
    send(from.claim, membership::Nack{request.number, claims()});
    return;
  }
  relays_.push_back({ping(*target), from.claim.life, request.number, now_ + options_.nack_after});
}

void MembershipMachine::handle(const Member& from, const membership::Nack& nack) {
  settle_request(nack.number, from.claim.life);
}

void MembershipMachine::settle_request(std::uint64_t number, Life helper) {
  for (Request& request : requests_) {
    if (request.number == number) std::erase(request.owing, helper);
  }
}

void MembershipMachine::handle(const Member&, const membership::Gossip&) {}

void MembershipMachine::handle(const Member&, const membership::Obituary& obituary) {
  if (obituary.deceased.life.process == self_.life.process) take_about_self(obituary.deceased);
}

void MembershipMachine::handle(const Member& from, const membership::Join& join) {
  auto everything = table_.claims_to_tell(self_, members_max, UINT32_MAX);
  send(from.claim, membership::Welcome{join.address, std::move(everything)});
}

void MembershipMachine::handle(const Member& from, const membership::Welcome& welcome) {
  for (Seed& seed : seeds_) {
    if (seed.address == welcome.address) seed.answered = from.claim.life.process;
  }
}

MembershipEffects MembershipMachine::leave(Instant now) {
  if (over_) return {};
  begin_event(now);
  self_.state = MemberState::left;
  ++self_.beat;
  for (const auto& [process, member] : table_.all()) {
    if (is_up(member.claim.state)) send(member.claim, membership::Gossip{std::vector<Claim>{self_}});
  }
  over_ = true;
  return end_event();
}

std::uint64_t MembershipMachine::ping(Member& member) {
  member.ping = next_number_++;
  member.ping_sent = now_;
  send(member.claim, membership::Ping{member.ping, claims()});
  return member.ping;
}

void MembershipMachine::send(const Claim& to, MembershipMessage message) {
  effects_.emplace_back(SendMembership{to.endpoint.control, to.life, std::move(message)});
}

std::vector<Claim> MembershipMachine::claims() {
  return table_.claims_to_tell(self_, options_.claims_per_message, options_.death_repeats);
}

}  // namespace dag
