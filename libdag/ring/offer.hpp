#pragma once
// How two processes of a host get a ring between them. Each makes an inbox, which it reads, and tells the
// other in a control message where the inbox and its doorbell are (messages.hpp); the other accepts, and
// writes into it. Two offers that cross make a link. Everything in an offer is the peer's word and is
// checked; a process that cannot accept goes on without a ring, so all refusals have one code.

#include "libdag/ring/doorbell.hpp"
#include "libdag/ring/messages.hpp"
#include "libdag/ring/ring.hpp"

namespace dag::ring {

Result<Host> this_host();

inline constexpr std::uint64_t inbox_capacity_bytes = 256 * 1024;
/// Limit of the memory that a peer may make us map for it.
inline constexpr std::uint64_t inbox_capacity_bytes_max = 16 * 1024 * 1024;

/// The memory of a ring, in the process that reads it or in the one that writes it.
class RingMemory {
 public:
  /// The nonce should be new: it tells this ring from others that were offered under the same numbers.
  static Result<RingMemory> create(std::uint64_t nonce, std::uint64_t capacity_bytes = inbox_capacity_bytes);
  static Result<RingMemory> open(const Offer& offer);

  View<std::atomic> view() const;
  std::uint64_t nonce() const { return nonce_; }
  std::uint64_t capacity_bytes() const { return capacity_bytes_; }
  int file() const { return memory_.file(); }

 private:
  RingMemory(SharedMemory memory, std::uint64_t nonce, std::uint64_t capacity_bytes)
      : memory_(std::move(memory)), nonce_(nonce), capacity_bytes_(capacity_bytes) {}

  SharedMemory memory_;
  std::uint64_t nonce_;
  std::uint64_t capacity_bytes_;
};

Result<Offer> offer(const RingMemory& inbox, const Doorbell& own);

/// A process's access to a peer whose offer it accepted.
struct Outbound {
  RingMemory ring;
  Doorbell doorbell;
};
/// ring_unavailable: another host or namespace, a process that is gone or of another user, or memory that
/// differs from the offer.
Result<Outbound> accept(const Offer& offer);

}  // namespace dag::ring
