#pragma once
// Everything that one process can say to another: one alternative per conversation, as in
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

/// Something a newer peer said that this build does not know. Comes out of decode, never goes into encode.
struct Unknown {
  /// Number of the conversation in the schema's union, and of the message in the conversation's.
  std::uint16_t conversation = 0;
  std::uint16_t message = 0;
  bool operator==(const Unknown&) const = default;
};

/// Number of the conversation about rings: whoever does not know it gets none.
inline constexpr std::uint16_t conversation_of_rings = 11;
/// And of replicas.
inline constexpr std::uint16_t conversation_of_replicas = 12;

/// In place of a message: of that conversation nothing is known.
inline constexpr std::uint16_t whole_conversation = 0xFFFF;

/// The answer to it.
struct Unimplemented {
  std::uint16_t conversation = 0;
  std::uint16_t message = 0;
  bool operator==(const Unimplemented&) const = default;
};

inline Unimplemented unimplemented_answer(const Unknown& unknown) {
  return {unknown.conversation, unknown.message};
}

/// A part of an encoded Envelope with one operation that is too large for a frame. Who sends cuts, who
/// receives joins; the link keeps pieces in order.
struct Piece {
  /// Of the message: the same in all its pieces.
  std::uint64_t number = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t offset = 0;
  /// At most limits::bulk_chunk_bytes.
  Blob bytes;
  /// The last so many bytes of the message are not encoded: they are the output that was left out of it,
  /// since no encoded one may be so large. 0: nothing was left out.
  std::uint64_t output_bytes = 0;
};

/// What a kernel said by Context::log or Context::progress, or what happened to an attempt, on its way to who
/// watches the job. Longer texts than text_bytes_max are cut by who sends.
struct JobNote {
  /// `over`: a kernel that had said how far it is does not run any more.
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
