#pragma once
// Effects of a LinkMachine, as values in the order in which its driver carries them out.

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "libdag/link/frame_header.hpp"
#include "libdag/link/outbox.hpp"

namespace dag::link {

/// Give this frame to the carrier. It may be lost or refused there: the machine finds out by itself.
template <class Operation>
struct Send {
  FrameHeader header;
  /// Null for a frame that only acknowledges, gives credit, probes or answers.
  std::shared_ptr<const Batch<Operation>> batch;
};

/// The next operations from the peer, in the order in which they were offered there. Call `on_handled` with
/// these two numbers when they are handled; until then they count against the peer's credit.
template <class Operation>
struct Deliver {
  std::vector<Operation> operations;
  std::uint64_t charge_bytes = 0;
};

/// Producers that were slowed down or refused may go on.
struct RoomAgain {};

/// The peer owes an answer and has been silent for too long. Reported once; the link goes on trying.
struct PeerAway {};

/// A peer that was reported away has been heard again.
struct PeerBack {};

enum class Refusal {
  /// From an earlier life of the peer: it is dead, nothing to do.
  stale_sender,
  /// From a later life of the peer: this link is over; a new one may be made.
  newer_sender,
  /// For an earlier life of ours: the peer has been told.
  other_receiver,
  /// Misdirected, say by a port that has changed hands. Neither answered nor believed.
  other_cluster,
  other_process,
  /// Below: the peer breaks the protocol. Its operations were dropped; whoever drives the link may cut it.
  malformed,
  ack_of_unsent,
  beyond_window,
  over_credit,
};

std::string_view name(Refusal refusal);

struct FrameRefused {
  Refusal why;
  Life from;
};

template <class Operation>
using Effect = std::variant<Send<Operation>, Deliver<Operation>, RoomAgain, PeerAway, PeerBack, FrameRefused>;

}  // namespace dag::link
