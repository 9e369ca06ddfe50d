#pragma once
// Output of a job as lines: Context::log of its tasks, and what its processes printed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libdag/story/journal_view.hpp"

namespace dag::detail {

struct LogLine {
  std::int64_t unix_ns = 0;  ///< since 1970, by the clock of the node
  std::string place;         ///< the process, and the lane if a task logged it: n1/w1, n1/w1/l0
  /// The task that logged the line; none: a process printed it, and the task is not known.
  std::optional<TaskId> task;
  std::string name;          ///< the task's
  std::uint32_t number = 0;  ///< of the attempt, as Context::attempt says
  std::string text;          ///< without its end
  /// A gap in the log; `text` says what is missing.
  bool gap = false;
};

struct LogFilter {
  TaskSelector tasks = {};
  bool takes(const LogLine& line) const;
};

/// A gap; unix_ns 0: its time is not known.
LogLine gap_line(std::int64_t unix_ns, std::string place, std::string text);
/// train (3)@n1#2: attempt 2 of task 3 on node n1. n1/w1: a process.
std::string prefix_of(const LogLine& line);
/// The lines of an event: one, several (printed output comes in pieces), or none.
std::vector<LogLine> lines_in(const JournalEntry& entry);

}  // namespace dag::detail
