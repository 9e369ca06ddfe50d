#pragma once
// Limits of a link, and their relations. The windows are part of the protocol: both ends begin with the same
// ones, so a new link has credit before the first frame arrived.

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "libdag/base/check.hpp"
#include "libdag/base/limits.hpp"
#include "libdag/base/time.hpp"

namespace dag::link {

/// A word of acknowledgement (`FrameHeader::ack_beyond`) describes a whole window.
inline constexpr std::uint64_t frames_in_flight_max = 64;

struct LinkOptions {
  /// Limit of operations and bytes that the peer has sent and we have not handled.
  std::uint64_t window_operations = limits::credit_operations;
  std::uint64_t window_bytes = limits::credit_bytes;
  /// A batch is closed at this many operations or bytes, and due when it is this old.
  std::size_t flush_operations = limits::flush_operations;
  std::size_t flush_bytes = limits::flush_bytes;
  Duration flush_age{limits::flush_age_ns};
  /// The largest single operation. More is a bug of the caller, who must split it.
  std::size_t operation_bytes_max = limits::control_frame_bytes_max - limits::flush_bytes;
  /// Limit of queued operations and bytes. From half of it on producers are told to slow down.
  std::size_t outbox_operations_max = 4096;
  std::size_t outbox_bytes_max = 8u << 20;
  /// Arrived frames are acknowledged when there are so many, or after this long.
  std::uint64_t ack_frames = frames_in_flight_max / 4;
  Duration ack_after = std::chrono::milliseconds(1);
  /// Without progress for this long we probe; each further probe waits twice as long, up to the maximum.
  Duration probe_after = std::chrono::milliseconds(50);
  Duration probe_after_max = std::chrono::seconds(1);
  /// A peer that owes an answer and is silent for this long is away. A hint only.
  Duration away_after = std::chrono::seconds(2);
};

/// Relations without which a link could wait for itself for ever.
inline void check(const LinkOptions& options) {
  DAG_CHECK(options.flush_operations >= 1);
  DAG_CHECK(options.flush_bytes >= 1);
  // A whole batch fits the credit that is certainly announced once the receiver has handled everything: it
  // keeps back at most a quarter of its window.
  DAG_CHECK(options.flush_operations <= options.window_operations / 2);
  DAG_CHECK(options.flush_bytes <= options.window_bytes / 2);
  DAG_CHECK(options.operation_bytes_max <= options.window_bytes / 2);
  // An empty outbox takes any operation.
  DAG_CHECK(options.operation_bytes_max <= options.outbox_bytes_max / 2);
  DAG_CHECK(options.outbox_operations_max >= 2);
  DAG_CHECK(options.ack_frames >= 1 && options.ack_frames <= frames_in_flight_max);
  DAG_CHECK(options.ack_after < options.probe_after);
  DAG_CHECK(options.probe_after <= options.probe_after_max);
}

/// For the bulk channel: one chunk per frame, few of them queued.
inline LinkOptions bulk_link_options() {
  LinkOptions options;
  options.operation_bytes_max = limits::bulk_chunk_bytes + 4096;
  options.outbox_bytes_max = 4 * options.operation_bytes_max;
  return options;
}

}  // namespace dag::link
