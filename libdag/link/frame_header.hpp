#pragma once
// Header of every frame, about the frame's link. Decides nothing; wire/ carries it, the windows read it.

#include <cstdint>

#include "libdag/base/ids.hpp"

namespace dag {

/// The cluster of a process, drawn at random when the cluster is made: processes of two clusters on one
/// machine, or behind a port that has changed hands, never accept each other's frames. Zero: not known
/// yet.
struct ClusterId {
  std::uint64_t value = 0;
  auto operator<=>(const ClusterId&) const = default;
};

}  // namespace dag

namespace dag::link {

/// All numbers are counts since the link began, so a late or repeated header never undoes a newer one.
struct FrameHeader {
  ClusterId cluster;
  /// The sender and its life.
  Life from;
  /// The receiver, as far as the sender knows. A frame for an earlier life is refused, never half understood.
  Life to;
  /// Number of the frame, from 1. Zero: the frame carries no operations of the link and is never repeated.
  std::uint64_t seq = 0;
  /// Byte credit that its operations take, by the sender's measure. The receiver gives the same amount
  /// back.
  std::uint64_t charge_bytes = 0;
  /// Every frame of the receiver with a lower number has arrived.
  std::uint64_t ack = 1;
  /// Bit i: the receiver's frame `ack + 1 + i` has arrived as well. (Frame `ack` itself has not.)
  std::uint64_t ack_beyond = 0;
  /// How many operations, and how many bytes of charge, the receiver may have sent in all.
  std::uint64_t credit_operations = 0;
  std::uint64_t credit_bytes = 0;
  /// Not zero: please answer at once, with this number in `answer`.
  std::uint64_t probe = 0;
  /// The receiver's probe that had arrived when this frame was made; zero when there was none.
  std::uint64_t answer = 0;

  bool operator==(const FrameHeader&) const = default;
};

}  // namespace dag::link
