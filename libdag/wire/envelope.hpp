#pragma once
// A frame as a value, and the two functions between values and bytes. Decides what a well-formed frame is;
// leaves to link/ whether it belongs to a living link, and to net/ how it travels.

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

/// What the operation adds to a frame, exactly: the `size_bytes` of LinkMachine::offer.
std::size_t size_bytes(const Operation& operation);

/// The frame, 64-byte aligned. Refused (frame_invalid) when it would be larger than `frame_bytes_max`, holds
/// more operations than a receiver takes, or names code that `codes` does not know.
Result<Blob> encode(const Envelope& envelope, std::size_t frame_bytes_max = limits::control_frame_bytes_max,
                    const CodeMap& codes = CodeMap::of_this_process());
/// The same without an Envelope around the operations: what a link's Send effect holds.
Result<Blob> encode(std::uint16_t version, const link::FrameHeader& header,
                    std::span<const Operation> operations,
                    std::size_t frame_bytes_max = limits::control_frame_bytes_max,
                    const CodeMap& codes = CodeMap::of_this_process());

/// All of the frame or nothing: frame_invalid when it is cut off, corrupt, too large or too deep;
/// peer_version when it is of a version that this build does not speak (a handshake is understood in every
/// version). Never throws.
Result<Envelope> decode(std::span<const std::byte> frame,
                        std::size_t frame_bytes_max = limits::control_frame_bytes_max,
                        const CodeMap& codes = CodeMap::of_this_process());

/// What is left of a frame that decode has refused.
struct Heading {
  link::FrameHeader header;
  /// That the frame claims to have, as far as a receiver takes so many; 1 when that cannot be read.
  std::size_t operations = 1;
};

/// Empty when not even so much can be read. Never throws.
std::optional<Heading> decode_heading(std::span<const std::byte> frame);

}  // namespace dag::wire
