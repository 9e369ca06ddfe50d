#pragma once
// A process's beliefs about the others, and the order of telling them. Decides how a claim changes the table
// and what that change means; the MembershipMachine decides which process to suspect, and when.

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
  /// The last sign of life: a message from it, or news of a newer beat.
  Instant heard;
  /// True: we ping it and judge its silence.
  bool watched = false;
  /// While suspect: it is dead at this time unless it was heard of.
  std::optional<Instant> dead_at = std::nullopt;

  /// After its link broke: the ping that it must answer, and the time limit.
  struct Reconnect {
    std::uint64_t ping = 0;
    Instant until;
  };
  std::optional<Reconnect> reconnect = std::nullopt;

  /// Its newest ping, to measure the round trip. Zero: none, or answered.
  std::uint64_t ping = 0;
  Instant ping_sent = {};
  /// Smoothed; zero: not measured yet.
  Duration round_trip{0};

  /// How often the present state was told, and the number of messages formed when the claim was told last.
  std::uint32_t state_told = 0;
  std::uint64_t told_last = 0;
};

class MemberTable {
 public:
  explicit MemberTable(ProcessId self) : self_(self) {}

  Member* find(ProcessId process);
  const Member* find(ProcessId process) const;
  /// The entry of exactly this life; null unless it is up.
  Member* find_up(Life life);
  std::map<ProcessId, Member>& all() { return members_; }
  const std::map<ProcessId, Member>& all() const { return members_; }

  /// Takes a claim about another process (never ourselves) if it is stronger. `why` is the reason for a
  /// death. Returns true when a state or a life changed, which others should hear of soon.
  bool believe(const Claim& claim, Instant now, DownWhy why, MembershipEffects& effects);

  /// The next `count` processes that are up, in the ring of ids after ourselves.
  std::vector<Member*> next_in_ring(std::size_t count);
  std::size_t up_count() const;

  /// `own`, then up to `count - 1` claims about others: changed states first, then the claims told longest
  /// ago.
  std::vector<Claim> claims_to_tell(const Claim& own, std::size_t count, std::uint32_t death_repeats);

 private:
  bool make_room();
  ProcessId self_;
  std::map<ProcessId, Member> members_;  // At most members_max; the dead are kept to be recognised.
  std::uint64_t messages_formed_ = 0;
};

}  // namespace dag
