#pragma once
// An event as bytes, and back: the common fields, then dag/codec.hpp's bytes of what happened, so a reader
// must know the same alternatives. The event of a finished run, which lanes write for each task, is 56 bytes
// and costs some nanoseconds.

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "dag/codec.hpp"
#include "libdag/journal/event.hpp"

namespace dag {

using FinishedBytes = std::array<std::byte, 56>;
/// Bytes of an event of a finished run; none for another event.
std::optional<FinishedBytes> finished_bytes(const JournalEvent& record);
void write_record(Writer& to, const JournalEvent& record);
/// None: the bytes are no event.
std::optional<JournalEvent> read_record(std::span<const std::byte> bytes);

}  // namespace dag
