#pragma once
// All that one process believes of the others, and which of it is told next. Decides how a claim changes the
// table and what that change means; whom to suspect, and when, is the MembershipMachine's.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/membership/claim.hpp"
#include "libdag/membership/effects.hpp"

namespace dag {

struct Member {
  Claim claim;
  /// The last sign of life: a message from it, or news of a beat that we had not heard of.
  Instant heard;
  /// It is ours to ping, and its silence ours to judge.
  bool watched = false;
  /// While suspect: when it is dead unless it was heard of.
  std::optional<Instant> dead_at = std::nullopt;

  /// Since its link broke: the ping that it must answer, and until when.
  struct Reconnect {
    std::uint64_t ping = 0;
    Instant until;
  };
  std::optional<Reconnect> reconnect = std::nullopt;

  /// Its newest ping, to measure the round trip by its answer. Zero: none, or answered.
  std::uint64_t ping = 0;
  Instant ping_sent = {};
  /// Smoothed; zero: not measured yet.
  Duration round_trip{0};

  /// How often the present state was told, and when (in messages formed) the claim was told last.
  std::uint32_t state_told = 0;
  std::uint64_t told_last = 0;
};

class MemberTable {
 public:
  explicit MemberTable(ProcessId self) : self_(self) {}

  Member* find(ProcessId process);
  const Member* find(ProcessId process) const;
  /// The entry of exactly this life, while it is up.
  Member* find_up(Life life);
  std::map<ProcessId, Member>& all() { return members_; }
  const std::map<ProcessId, Member>& all() const { return members_; }

  /// Believes a claim of another process (never of ourselves) if it is stronger. `why` is what a death is put
  /// down to. Returns true when a state or a life changed, which others should hear of soon.
  bool believe(const Claim& claim, Instant now, DownWhy why, MembershipEffects& effects);

  /// The next `count` processes that are up, in the ring of ids behind ourselves.
  std::vector<Member*> next_in_ring(std::size_t count);
  std::size_t up_count() const;

  /// `own`, then up to `count - 1` claims of others: changed states first, then what was not told for
  /// longest.
  std::vector<Claim> claims_to_tell(const Claim& own, std::size_t count, std::uint32_t death_repeats);

 private:
  bool make_room();
  ProcessId self_;
  std::map<ProcessId, Member> members_;  // At most members_max; the dead are kept to be recognised.
  std::uint64_t messages_formed_ = 0;
};

}  // namespace dag
