#pragma once
// The view of a cluster for `dag top`. Decides only the text; top.cpp decides when to ask and where to write.

#include <map>

#include "libdag/client/all_nodes.hpp"
#include "tools/dag/options.hpp"
#include "tools/dag/views/progress.hpp"

namespace dag::tool {

using detail::Seen;

/// The paces of a cluster's jobs.
class Paces {
 public:
  void on_seen(const Seen& seen, Instant now);
  /// For a job that was not seen: a Pace that knows nothing.
  const Pace& of(JobId job) const;

 private:
  std::map<JobId, Pace> paces_;
};

/// Nodes, then jobs, running ones with a line for each name of their tasks. At most rows - 1 lines of the
/// screen's columns: names go first, then jobs that have ended, then others; their number is shown.
std::vector<std::string> top_lines(const Seen& seen, const Paces& paces, const Screen& screen);
/// All nodes and jobs.
nlohmann::json top_json(const Seen& seen, const Paces& paces);

}  // namespace dag::tool
