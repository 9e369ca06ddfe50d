#pragma once
// What journals say, a line for each record.

#include <optional>
#include <string>

#include "libdag/client/journal_view.hpp"

namespace dag::tool {

/// In UTC, since journals of several machines lie side by side: 2026-11-25T07:30:12.000123Z.
std::string time_text(std::int64_t unix_ns);

struct LineFilter {
  std::optional<JobId> job;
  std::string task;  ///< a name or a number
  bool failed = false;
};
/// Prints those that pass, as text or as JSON; then, on stderr, what could not be read. How many there were.
std::uint64_t print_lines(detail::JournalView& journals, const LineFilter& filter, bool json);

}  // namespace dag::tool
