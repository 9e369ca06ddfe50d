#pragma once
// The patience of membership, in one place. By the defaults a process that died on a living host is missed
// within 50 ms, a silent one (host, network, SIGSTOP) after about 1 s.

#include <cstdint>
#include <string>
#include <vector>

#include "libdag/base/time.hpp"

namespace dag {

/// Requests to helpers, and pings on behalf of others, that are open at once. What comes on top is refused
/// (Nack) or not asked: the suspicion then stands on silence alone.
inline constexpr std::size_t membership_exchanges_max = 64;

struct MembershipOptions {
  /// Addresses to ask for the others; our own may be among them. Empty: we wait to be found.
  std::vector<std::string> seeds;
  /// Time between two rounds of pings. A ping that comes in its last quarter calls the next round at once.
  Duration heartbeat = std::chrono::milliseconds(100);
  /// Silence after which a process is suspected, and how long it then has to be heard of.
  Duration suspect_after = std::chrono::milliseconds(800);
  Duration dead_after = std::chrono::milliseconds(200);
  /// After its link broke: to answer, over a new one.
  Duration reconnect_within = std::chrono::milliseconds(50);
  /// How long a helper waits for the answer to its own ping before it says Nack.
  Duration nack_after = std::chrono::milliseconds(100);
  /// How often unanswered seeds are asked, before and after we know anyone.
  Duration join_every = std::chrono::milliseconds(100);
  Duration rejoin_every = std::chrono::seconds(1);
  /// Helpers asked about a suspect.
  std::uint32_t helpers = 3;
  /// Members that each process pings, the next ones in the ring of process ids. In a cluster of up to this
  /// many plus one, everyone watches everyone.
  std::uint32_t watched_max = 8;
  /// Claims that a ping carries at most; in a cluster of up to this many, every message says everything.
  std::uint32_t claims_per_message = 16;
  /// Times a death is repeated. (Others may hear of it from others.)
  std::uint32_t death_repeats = 32;
};

}  // namespace dag
