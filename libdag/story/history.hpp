#pragma once
// The jobs in the journals: when each began, and how it ended.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dag/error.hpp"
#include "libdag/base/time.hpp"
#include "libdag/journal/event.hpp"
#include "libdag/story/journal_view.hpp"

namespace dag::detail {

struct PastJob {
  JobId job;
  std::string name;  ///< empty: the journals do not go back to its beginning
  std::uint64_t tasks = 0;
  std::optional<std::int64_t> began_unix_ns, over_unix_ns;
  std::optional<event::JobOver> over;  ///< none: it runs, or its end was not seen
  event::JobVerdict verdict;
};

/// "not over", "finished", "failed", "cancelled" or "stopped".
std::string end_text(const PastJob& job);
/// None: the beginning or the end is not known.
std::optional<Duration> took(const PastJob& job);

/// In the order of their beginnings.
std::vector<PastJob> read_history(JournalView& view);

}  // namespace dag::detail
