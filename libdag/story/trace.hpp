#pragma once
// What the lanes of a job did, as a trace that Perfetto and Chrome's about:tracing open: a track per lane, a
// slice per attempt that came back, an arrow from what a task waited for to it, marks for what went wrong,
// and how many tasks waited for a lane. Made of the journals of nodes.
//
// The form is the Trace Event Format's JSON (Google, 2016): times in microseconds, here with the nanoseconds
// behind the point, since the first slice began.

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
  std::uint64_t arrows_beyond = 0;  ///< that were left out: more than were asked for
  /// Likewise: what they come from ended after what waited for it began in another process, or ended in the
  /// same one; it ran again, or clocks differ.
  std::uint64_t arrows_backwards = 0;
  std::uint64_t counts = 0;  ///< of waiting tasks and busy lanes, over time
  std::uint64_t tasks_run = 0;
  Unrun unrun;
};

/// Of so many Perfetto shows a trace without trouble.
inline constexpr std::uint64_t trace_arrows_usual = 200'000;
/// Of each count, twice so many moments at most.
inline constexpr std::int64_t trace_counts_max = 10'000;

/// Reads these journals twice, and writes as it reads the second time: held
/// in memory are the names of the job's tasks, what they wait for, and where they ran. `notices` gets what
/// could not be read. Throws Failure(usage) when there is no journal in one of them. The first `arrows_max`
/// arrows, in the order of what waited.
TraceCounts write_trace(const JournalPaths& journals, JobId job, std::ostream& out,
                        std::vector<std::string>& notices, std::uint64_t arrows_max = trace_arrows_usual);

}  // namespace dag::detail
