#pragma once
// Time limits of membership, in one place. By the defaults a process that died on a living host is missed
// within 50 ms, a silent one (host, network, SIGSTOP) after about 1 s.

#include <cstdint>
#include <string>
#include <vector>

#include "libdag/base/time.hpp"

namespace dag {

/// Limit of open requests to helpers, and of open pings on behalf of others. Further ones are refused (Nack)
/// or not sent: the suspicion then stands on silence alone.
inline constexpr std::size_t membership_exchanges_max = 64;

struct MembershipOptions {
  /// Addresses to ask for other members; our own may be among them. Empty: we wait to be found.
  std::vector<std::string> seeds;
  /// Time between two rounds of pings. A ping that comes in its last quarter calls the next round at once.
  Duration heartbeat = std::chrono::milliseconds(100);
  /// Silence after which a process is suspected, and the time that it then has to be heard of.
  Duration suspect_after = std::chrono::milliseconds(800);
  Duration dead_after = std::chrono::milliseconds(200);
  /// Time to answer over a new link after the old one broke.
  Duration reconnect_within = std::chrono::milliseconds(50);
  /// How long a helper waits for the answer to its own ping before it says Nack.
  Duration nack_after = std::chrono::milliseconds(100);
  /// How often unanswered seeds are asked, before and after we know anyone.
  Duration join_every = std::chrono::milliseconds(100);
  Duration rejoin_every = std::chrono::seconds(1);
  /// Helpers asked about a suspect.
  std::uint32_t helpers = 3;
  /// Members that each process pings: the next ones in the ring of process ids. In a cluster of up to this
  /// many plus one, every process watches every other.
  std::uint32_t watched_max = 8;
  /// Claims in a ping, at most; in a cluster of up to this many, every message has all claims.
  std::uint32_t claims_per_message = 16;
  /// Times a death is repeated. (Others may hear of it from others.)
  std::uint32_t death_repeats = 32;
};

}  // namespace dag
