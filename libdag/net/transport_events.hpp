#pragma once
// Events of a transport, as values.

#include <cstdint>
#include <string>
#include <variant>

#include "dag/blob.hpp"

namespace dag::net {

/// Control never waits behind bulk: they are different connections.
enum class Channel : std::uint8_t { control, bulk };

/// A peer we connected to. Given by connect(), not used again after disconnect().
struct PeerHandle {
  std::uint64_t value = 0;
  auto operator<=>(const PeerHandle&) const = default;
};

/// A connection that another process made to us; good for answers as long as it lasts. It does not identify
/// the process: the envelope does, and authentication proves it.
struct CallerHandle {
  std::string routing_id;
  auto operator<=>(const CallerHandle&) const = default;
};

struct FrameArrived {
  Channel channel = Channel::control;
  /// A caller's frame, or a peer's answer on the connection that we made.
  std::variant<CallerHandle, PeerHandle> from;
  /// Word-aligned, as decode likes it.
  Blob bytes;
};

/// The connection stands; frames that were sent before a break are lost.
struct PeerConnected {
  PeerHandle peer;
  Channel channel = Channel::control;
};

/// The connection broke: the death of a process shows here within milliseconds. A hint, since only the
/// connection may be broken; it is being made again.
struct PeerDisconnected {
  PeerHandle peer;
  Channel channel = Channel::control;
};

/// An attempt to connect failed: usually no process listens there. Repeated, ever more slowly.
struct PeerRefused {
  PeerHandle peer;
  Channel channel = Channel::control;
};

using TransportEvent = std::variant<FrameArrived, PeerConnected, PeerDisconnected, PeerRefused>;

}  // namespace dag::net
