#pragma once
// The messages of membership. Plain values; libdag/wire gives them bytes. The envelope names the sender's
// life, so no message repeats it.
//
// Ping         anyone -> a member it watches, each heartbeat. Owes an Ack with the same number.
// Ack          the answer, from the pinged one; or from a helper whose own ping was answered.
// PingRequest  "I do not hear `target`, do you?" The helper pings it and owes an Ack or, after a while, a
// Nack. Nack         "I do not hear it either": tells the asker that at least the helper hears the asker.
// Gossip       news that should not wait for the next heartbeat. Owes nothing.
// Join         to an address, not to a member: the sender knows nobody there yet. Owes a Welcome.
// Welcome      all that the answerer knows.
// Obituary     the answer to anything but an Obituary from a life that is over: "you are dead". Two processes
// that
//              were parted may hold each other dead: then the one that sees fewer members up yields (on a tie
//              the higher process id) and the other one answers its Obituary with its own. As each carries
//              the sender's present count, that ends as soon as the counts stand still.
//
// Each may be lost, late or repeated: claims are merged by `stronger`, numbers only match an answer to its
// question, and the next heartbeat says everything again. Nothing waits for an answer without a limit, so the
// conversation ends when the processes do.

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "libdag/membership/claim.hpp"

namespace dag {

/// Limit of claims in a message and of members that a process knows (dead ones included).
inline constexpr std::size_t members_max = 1024;
/// Limit of devices in a claim.
inline constexpr std::size_t member_devices_max = 64;

namespace membership {

// In every message the first claim is the sender's own.

struct Ping {
  std::uint64_t number = 0;
  std::vector<Claim> claims;
  bool operator==(const Ping&) const = default;
};
struct Ack {
  std::uint64_t number = 0;  ///< of the Ping or PingRequest it answers
  std::vector<Claim> claims;
  bool operator==(const Ack&) const = default;
};
struct PingRequest {
  std::uint64_t number = 0;
  Life target;
  std::vector<Claim> claims;
  bool operator==(const PingRequest&) const = default;
};
struct Nack {
  std::uint64_t number = 0;  ///< of the PingRequest it answers
  std::vector<Claim> claims;
  bool operator==(const Nack&) const = default;
};
struct Gossip {
  std::vector<Claim> claims;
  bool operator==(const Gossip&) const = default;
};
struct Join {
  /// The address it was sent to, as the sender wrote it; repeated to tell which of its seeds answered.
  std::string address;
  std::vector<Claim> claims;
  bool operator==(const Join&) const = default;
};
struct Welcome {
  std::string address;  ///< as in the Join
  std::vector<Claim> claims;
  bool operator==(const Welcome&) const = default;
};

struct Obituary {
  /// The sender's claim about the receiver: dead, or replaced by a newer incarnation.
  Claim deceased;
  std::uint32_t members_up = 0;  ///< in the sender's view, itself included
  std::vector<Claim> claims;     ///< only the sender's own
  bool operator==(const Obituary&) const = default;
};

}  // namespace membership

using MembershipMessage =
    std::variant<membership::Ping, membership::Ack, membership::PingRequest, membership::Nack,
                 membership::Gossip, membership::Join, membership::Welcome, membership::Obituary>;

}  // namespace dag
