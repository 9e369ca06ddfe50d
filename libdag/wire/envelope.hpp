#pragma once
// A frame as a value, and its conversion to bytes and back. Decides what a well-formed frame is; link/
// decides whether it belongs to a living link, and net/ how it travels.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dag/blob.hpp"
#include "libdag/link/frame_header.hpp"
#include "libdag/wire/code_map.hpp"
#include "libdag/wire/lengths.hpp"
#include "libdag/wire/operation.hpp"

namespace dag::wire {

struct Envelope {
  std::uint16_t version = link::versions_spoken.max;
  link::FrameHeader header;
  std::vector<Operation> operations;
};

/// Outside the link (handshake, membership): not for LinkMachine::on_frame.
inline bool is_loose(const Envelope& envelope) {
  return envelope.header.seq == 0 && !envelope.operations.empty();
}

/// Exact size of the operation in a frame: the `size_bytes` of LinkMachine::offer.
std::size_t size_bytes(const Operation& operation);

/// The frame, 64-byte aligned. Refused (frame_invalid) when it is larger than `frame_bytes_max`, holds more
/// operations than a receiver takes, or names code that `codes` does not know.
Result<Blob> encode(const Envelope& envelope, std::size_t frame_bytes_max = limits::control_frame_bytes_max,
                    const CodeMap& codes = CodeMap::of_this_process());
/// As above, from the parts of a link's Send effect.
Result<Blob> encode(std::uint16_t version, const link::FrameHeader& header,
                    std::span<const Operation> operations,
                    std::size_t frame_bytes_max = limits::control_frame_bytes_max,
                    const CodeMap& codes = CodeMap::of_this_process());

/// All of the frame or nothing: frame_invalid when it is cut off, corrupt, too large or too deep;
/// peer_version when this build does not speak its version (a handshake is understood in every version).
/// Never throws.
Result<Envelope> decode(std::span<const std::byte> frame,
                        std::size_t frame_bytes_max = limits::control_frame_bytes_max,
                        const CodeMap& codes = CodeMap::of_this_process());

/// The readable part of a frame that decode has refused.
struct Heading {
  link::FrameHeader header;
  /// The claimed number, limited by what a receiver takes; 1 when it cannot be read.
  std::size_t operations = 1;
};

/// Empty when the heading cannot be read either. Never throws.
std::optional<Heading> decode_heading(std::span<const std::byte> frame);

}  // namespace dag::wire
