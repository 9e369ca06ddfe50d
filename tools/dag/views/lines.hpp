#pragma once
// The records of journals, a line for each.

#include <optional>
#include <string>

#include "libdag/story/journal_view.hpp"

namespace dag::tool {

/// Prints those that pass, as text or as JSON; then, on stderr, unreadable parts. Returns their number.
std::uint64_t print_lines(detail::JournalView& journals, const detail::LineFilter& filter, bool json);

}  // namespace dag::tool
