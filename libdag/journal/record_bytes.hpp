#pragma once
// A record as bytes, and back: what all records have, then dag/codec.hpp's bytes of what was recorded, so
// whoever reads them must know the same alternatives. That an attempt ran and finished, which lanes record of
// each task, is 56 bytes that cost some nanoseconds.

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "dag/codec.hpp"
#include "libdag/journal/record.hpp"

namespace dag {

using FinishedBytes = std::array<std::byte, 56>;
/// Those of that record; nothing when it is another one.
std::optional<FinishedBytes> finished_bytes(const Record& record);
void write_record(Writer& to, const Record& record);
/// Nothing: these bytes are no record.
std::optional<Record> read_record(std::span<const std::byte> bytes);

}  // namespace dag
