#pragma once
// What the lanes of a job did, as a trace that Perfetto and Chrome's about:tracing open: a track per lane, a
// slice per attempt that came back, and marks for what went wrong. Made of the journals of nodes.
//
// The form is the Trace Event Format's JSON (Google, 2016): times in microseconds, here with the nanoseconds
// behind the point, since the first slice began.

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "libdag/base/ids.hpp"

namespace dag::detail {

struct TraceCounts {
  std::uint64_t slices = 0;
  std::uint64_t lanes = 0;
  std::uint64_t marks = 0;
  std::uint64_t tasks_settled = 0;  ///< that the journals know: more than ran, where records are missing
  std::uint64_t tasks_run = 0;
};

/// Reads the journals at these paths (journal_view.hpp) twice, and writes as it reads the second time: held
/// in memory are the names of the job's tasks, and which of them ran. `notices` gets what could not be read.
/// Throws Failure(usage) when there is no journal in one of them.
TraceCounts write_trace(const std::vector<std::string>& paths, JobId job, std::ostream& out,
                        std::vector<std::string>& notices);

}  // namespace dag::detail
