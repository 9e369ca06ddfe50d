#include "libdag/membership/member_table.hpp"

#include <algorithm>
#include <tuple>

#include "libdag/base/check.hpp"

namespace dag {

namespace {

/// A new state is told this often before it queues with everything else.
constexpr std::uint32_t state_urgent_times = 8;

}  // namespace

std::string_view name(DownWhy why) {
  switch (why) {
    case DownWhy::silent:
      return "silent";
    case DownWhy::process_died:
      return "its process died";
    case DownWhy::told:
      return "found dead by another process";
    case DownWhy::superseded:
      return "a newer incarnation appeared";
    case DownWhy::left:
      return "left";
  }
  return "unknown";
}

Member* MemberTable::find(ProcessId process) {
  const auto found = members_.find(process);
  return found == members_.end() ? nullptr : &found->second;
}

const Member* MemberTable::find(ProcessId process) const {
  const auto found = members_.find(process);
  return found == members_.end() ? nullptr : &found->second;
}

Member* MemberTable::find_up(Life life) {
  Member* member = find(life.process);
  return member && member->claim.life == life && is_up(member->claim.state) ? member : nullptr;
}

// The dead are forgotten oldest first. A process that is forgotten too early and speaks again would pass for
// new: terms, epochs and the link's own refusals guard against its messages.
bool MemberTable::make_room() {
  if (members_.size() < members_max) return true;
  auto oldest = members_.end();
  for (auto at = members_.begin(); at != members_.end(); ++at) {
    if (is_up(at->second.claim.state)) continue;
    if (oldest == members_.end() || at->second.heard < oldest->second.heard) oldest = at;
  }
  if (oldest == members_.end()) return false;
  members_.erase(oldest);
  return true;
}

bool MemberTable::believe(const Claim& claim, Instant now, DownWhy why, MembershipEffects& effects) {
  DAG_CHECK(claim.life.process != self_);
  Member* member = find(claim.life.process);
  if (!member) {
    if (!make_room()) return false;
    members_.emplace(claim.life.process, Member{.claim = claim, .heard = now});
    if (is_up(claim.state)) effects.emplace_back(MemberUp{claim.life, claim.endpoint});
    if (claim.state == MemberState::suspect) effects.emplace_back(MemberSuspected{claim.life});
    return true;
  }

  const Claim old = member->claim;
  if (!(old < claim)) {
    // Some process takes a dead one for alive, perhaps since it started anew after the death was told: tell
    // it again.
    if (claim.life == old.life && is_up(claim.state) && !is_up(old.state)) member->state_told = 0;
    return false;
  }
  const bool was_up = is_up(old.state), up = is_up(claim.state);
  if (claim.life != old.life) {
    if (was_up) effects.emplace_back(MemberDown{old.life, DownWhy::superseded});
    *member = Member{.claim = claim, .heard = now};
    if (up) effects.emplace_back(MemberUp{claim.life, claim.endpoint});
    if (claim.state == MemberState::suspect) effects.emplace_back(MemberSuspected{claim.life});
    return true;
  }
  member->claim = claim;
  if (up && claim.beat > old.beat) member->heard = now;
  if (claim.state == old.state) return false;
  member->state_told = 0;
  member->dead_at.reset();
  if (!up) {
    member->reconnect.reset();
    member->heard = now;  // From here on: when it died, for make_room().
    if (was_up) {
      effects.emplace_back(MemberDown{claim.life, claim.state == MemberState::left ? DownWhy::left : why});
    }
  } else if (claim.state == MemberState::suspect) {
    effects.emplace_back(MemberSuspected{claim.life});
  } else {
    effects.emplace_back(MemberTrusted{claim.life});
  }
  return true;
}

std::vector<Member*> MemberTable::next_in_ring(std::size_t count) {
  std::vector<Member*> ring;
  const auto take = [&](auto first, auto last) {
    for (auto at = first; at != last && ring.size() < count; ++at) {
      if (is_up(at->second.claim.state)) ring.push_back(&at->second);
    }
  };
  const auto behind = members_.upper_bound(self_);
  take(behind, members_.end());
  take(members_.begin(), behind);
  return ring;
}

std::size_t MemberTable::up_count() const {
  return static_cast<std::size_t>(std::count_if(
      members_.begin(), members_.end(), [](const auto& entry) { return is_up(entry.second.claim.state); }));
}

std::vector<Claim> MemberTable::claims_to_tell(const Claim& own, std::size_t count,
                                               std::uint32_t death_repeats) {
  std::vector<Member*> queue;
  for (auto& [process, member] : members_) {
    if (is_up(member.claim.state) || member.state_told < death_repeats) queue.push_back(&member);
  }
  if (queue.size() + 1 > count) {
    std::stable_sort(queue.begin(), queue.end(), [](const Member* a, const Member* b) {
      return std::make_tuple(std::min(a->state_told, state_urgent_times), a->told_last) <
             std::make_tuple(std::min(b->state_told, state_urgent_times), b->told_last);
    });
    queue.resize(count - 1);
  }
  ++messages_formed_;
  std::vector<Claim> claims{own};
  for (Member* member : queue) {
    ++member->state_told;
    member->told_last = messages_formed_;
    claims.push_back(member->claim);
  }
  return claims;
}

}  // namespace dag
