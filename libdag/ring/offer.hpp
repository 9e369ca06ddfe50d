#pragma once
// How two processes of one host get a ring between them. Each makes an Inbox, which it reads, and tells the
// other in a control message where it lies and which doorbell is its own (Offer); the other accepts, and
// writes into it. Two offers that cross make a link. Everything about an offer is the peer's word and is
// checked; whoever cannot accept goes on without a ring, so all refusals have one code.

#include <string>

#include "libdag/ring/doorbell.hpp"
#include "libdag/ring/ring.hpp"

namespace dag::ring {

/// Where process ids mean the same: one boot of one kernel, one namespace.
struct Host {
  std::string boot;
  std::uint64_t process_namespace = 0;
  bool operator==(const Host&) const = default;
};
Result<Host> this_host();

/// A plain value, complete in itself.
struct Offer {
  Host host;
  std::int32_t process = 0;
  std::int32_t inbox_file = -1;
  std::int32_t doorbell_file = -1;
  std::uint64_t inbox_nonce = 0;
  std::uint64_t doorbell_nonce = 0;
  std::uint64_t capacity_bytes = 0;
  bool operator==(const Offer&) const = default;
};

inline constexpr std::uint64_t inbox_capacity_bytes = 256 * 1024;
/// What a peer may make us map for it.
inline constexpr std::uint64_t inbox_capacity_bytes_max = 16 * 1024 * 1024;

/// The memory of one ring, in the process that reads it or in the one that writes it.
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

/// What a process has of a peer whose offer it accepted.
struct Outbound {
  RingMemory ring;
  Doorbell doorbell;
};
/// ring_unavailable: another host or namespace, a process that is gone or of another user, memory that is not
/// what was offered.
Result<Outbound> accept(const Offer& offer);

}  // namespace dag::ring
