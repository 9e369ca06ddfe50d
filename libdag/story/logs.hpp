#pragma once
// What tasks of a job said and its processes printed, as lines.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libdag/story/journal_view.hpp"

namespace dag::detail {

struct LogLine {
  std::int64_t unix_ns = 0;  ///< since 1970, by the clock of the node
  std::string place;         ///< the process, and the lane where a task said it: n1/w1, n1/w1/l0
  /// Who said it; none: the process printed it, and which task did is not known.
  std::optional<TaskId> task;
  std::string name;          ///< the task's
  std::uint32_t number = 0;  ///< of the attempt, as Context::attempt says
  std::string text;          ///< without its end
  /// Nothing was said: here something is missing, and `text` says what.
  bool gap = false;
};

struct LogFilter {
  TaskSelector tasks = {};
  bool takes(const LogLine& line) const;
};

/// What is missing; unix_ns 0: it is not known when.
LogLine gap_line(std::int64_t unix_ns, std::string place, std::string text);
/// train (3)@n1#2: attempt 2 of task 3 on node n1. n1/w1: a process.
std::string prefix_of(const LogLine& line);
/// A record gives a line, or several (what is printed comes in pieces), or none.
std::vector<LogLine> lines_in(const JournalEntry& entry);

}  // namespace dag::detail
