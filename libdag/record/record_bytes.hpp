#pragma once
// A record as bytes, and back: dag/codec.hpp's, so whoever reads them must know the same alternatives.

#include <cstddef>
#include <optional>
#include <span>

#include "dag/codec.hpp"
#include "libdag/record/record.hpp"

namespace dag {

void write_record(Writer& to, const Record& record);
/// Nothing: these bytes are no record.
std::optional<Record> read_record(std::span<const std::byte> bytes);

}  // namespace dag
