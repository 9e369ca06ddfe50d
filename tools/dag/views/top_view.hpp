#pragma once
// What `dag top` shows of a cluster. Decides only; when it is asked, and where this is written, is top.cpp.

#include <map>

#include "libdag/client/all_nodes.hpp"
#include "tools/dag/options.hpp"
#include "tools/dag/views/progress.hpp"

namespace dag::tool {

using detail::Seen;

/// How fast the jobs of a cluster go.
class Paces {
 public:
  void on_seen(const Seen& seen, Instant now);
  /// Of a job that was not seen: one that knows nothing.
  const Pace& of(JobId job) const;

 private:
  std::map<JobId, Pace> paces_;
};

/// Nodes, then jobs, those that run with a line for each name of their tasks. At most rows - 1 lines of at
/// most so many columns: names go first, then jobs that have ended, then others; how many is said.
std::vector<std::string> top_lines(const Seen& seen, const Paces& paces, const Screen& screen);
/// All of it.
nlohmann::json top_json(const Seen& seen, const Paces& paces);

}  // namespace dag::tool
