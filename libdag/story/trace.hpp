#pragma once
// A trace of a job's lanes for Perfetto and Chrome's about:tracing: a track per lane, a slice per ended
// attempt, an arrow per edge, marks for failures and losses, and the number of queued tasks. Made of the
// journals of nodes.
//
// The form is the Trace Event Format's JSON (Google, 2016). Times are microseconds since the first slice
// began, with nanoseconds behind the point.

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/story/journal_view.hpp"
#include "libdag/story/task_names.hpp"

namespace dag::detail {

struct TraceCounts {
  std::uint64_t slices = 0;
  std::uint64_t lanes = 0;
  std::uint64_t marks = 0;
  std::uint64_t arrows = 0;
  std::uint64_t arrows_beyond = 0;  ///< arrows beyond the limit, left out
  /// Left out as well: arrows that lead back in time. The predecessor ended after its successor began in
  /// another process, or ended in the same one; it ran again, or clocks differ.
  std::uint64_t arrows_backwards = 0;
  std::uint64_t counts = 0;  ///< of waiting tasks and busy lanes, over time
  std::uint64_t tasks_run = 0;
  Unrun unrun;
};

/// Perfetto shows a trace of so many arrows without trouble.
inline constexpr std::uint64_t trace_arrows_usual = 200'000;
/// Intervals per counter; each has at most two points.
inline constexpr std::int64_t trace_counts_max = 10'000;

/// Reads these journals twice and writes during the second reading. In memory are the names of the job's
/// tasks, their edges, and where they ran. `notices` gets the gaps. Throws Failure(usage) when there is
/// no journal at one of the paths. At most `arrows_max` arrows are written, in the order of the
/// successors.
TraceCounts write_trace(const JournalPaths& journals, JobId job, std::ostream& out,
                        std::vector<std::string>& notices, std::uint64_t arrows_max = trace_arrows_usual);

}  // namespace dag::detail
