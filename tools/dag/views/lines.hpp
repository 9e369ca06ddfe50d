#pragma once
// What journals say, a line for each record.

#include <optional>
#include <string>

#include "libdag/story/journal_view.hpp"

namespace dag::tool {

/// Prints those that pass, as text or as JSON; then, on stderr, what could not be read. How many there were.
std::uint64_t print_lines(detail::JournalView& journals, const detail::LineFilter& filter, bool json);

}  // namespace dag::tool
