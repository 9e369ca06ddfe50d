#pragma once
// All messages between processes: an alternative per conversation, as in
// schema/envelope.capnp.

#include <cstdint>
#include <string>
#include <variant>

#include "dag/blob.hpp"
#include "libdag/consensus/messages.hpp"
#include "libdag/job/messages.hpp"
#include "libdag/keeper/messages.hpp"
#include "libdag/link/handshake.hpp"
#include "libdag/membership/messages.hpp"
#include "libdag/ring/messages.hpp"

namespace dag::wire {

using Handshake = std::variant<link::Hello, link::Welcome, link::HelloRefused>;

/// A message of a newer peer that this build does not know. Decoded, never encoded.
struct Unknown {
  /// Number of the conversation in the schema's union, and of the message in the conversation's.
  std::uint16_t conversation = 0;
  std::uint16_t message = 0;
  bool operator==(const Unknown&) const = default;
};

/// Number of the conversation about rings: a peer that does not know it gets no rings.
inline constexpr std::uint16_t conversation_of_rings = 11;
/// Number of the replicas' conversation.
inline constexpr std::uint16_t conversation_of_replicas = 12;

/// In place of a message: the peer does not know the conversation at all.
inline constexpr std::uint16_t whole_conversation = 0xFFFF;

/// The answer to an unknown message.
struct Unimplemented {
  std::uint16_t conversation = 0;
  std::uint16_t message = 0;
  bool operator==(const Unimplemented&) const = default;
};

inline Unimplemented unimplemented_answer(const Unknown& unknown) {
  return {unknown.conversation, unknown.message};
}

/// A part of an encoded Envelope whose only operation is too large for a frame. The sender cuts, the receiver
/// joins; the link keeps pieces in order.
struct Piece {
  /// Number of the message: the same in all its pieces.
  std::uint64_t number = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t offset = 0;
  /// At most limits::bulk_chunk_bytes.
  Blob bytes;
  /// The last bytes of the message are not encoded: they are its output, which was left out since no encoded
  /// output may be so large. 0: nothing was left out.
  std::uint64_t output_bytes = 0;
};

/// A line or progress report of a kernel (Context::log, Context::progress), or an event of an attempt, for
/// the watchers of the job. The sender cuts texts longer than text_bytes_max.
struct JobNote {
  /// `over`: a kernel that had reported progress has ended.
  enum class Kind : std::uint8_t { log, progress, over, retry, crash, timeout };
  JobId job;
  Kind kind = Kind::log;
  double fraction = 0;
  std::string name;    ///< of the task
  std::string device;  ///< where the kernel runs; empty where none does
  std::string text;
  TaskId task = {};
  std::uint32_t number = 0;  ///< of the attempt, as Context::attempt says
};

/// A JobMessage lies in one of three conversations of the schema: cell, tasks, outputs.
using Operation = std::variant<Unknown, Unimplemented, Handshake, MembershipMessage, JobMessage, Piece,
                               JobNote, ClientMessage, KeeperMessage, RingMessage, consensus::Addressed>;

}  // namespace dag::wire
