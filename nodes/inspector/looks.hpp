#pragma once
// Looks at the whole cluster while somebody wants to see it, as `dag top` does: all who ask within a moment
// see the same look, so that twenty who watch cost what one does.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "libdag/client/all_nodes.hpp"

namespace dag::inspector {

/// As it was at a moment. Texts are JSON in one line (libdag/client/json.hpp), as events have it.
struct Look {
  detail::Seen seen;
  std::string cluster;
  std::map<JobId, std::string> jobs;  ///< in depth: those that somebody asked for
  std::map<JobId, JobInfo> known;     ///< of these, all that is known
  std::map<JobId, Error> refused;     ///< of these, why `jobs` has no more than an error
  std::optional<Error> failed;        ///< no node answers: the others are empty
};
using LookPointer = std::shared_ptr<const Look>;

/// An event has no more rows of each list: nodes, jobs, links, processes and tasks of a job, ... It says how
/// many there are besides, and its counts are of all. A client gets an event each HttpOptions::pause, 500 ms,
/// at most: 400 rows of each list in a second, however large the cluster is.
inline constexpr std::size_t rows_in_event_max = 200;
/// `node`: who says it. Nodes in trouble are among the rows, and of the jobs the first as in_order() has
/// them.
std::string cluster_json(const detail::Seen& seen, const std::string& node, std::int64_t unix_ms);
/// In depth.
std::string job_json(const JobInfo& job);
/// Those that run first, then the newest first.
std::vector<const JobInfo*> in_order(const std::vector<JobInfo>& jobs);

class Looks {
 public:
  using Then = std::function<void(LookPointer)>;
  /// Not older, when it is asked for.
  static constexpr Duration fresh = std::chrono::milliseconds(250);
  /// Who asked for a job is likely to ask again: each look has it for so long.
  static constexpr Duration remembered = std::chrono::seconds(2);
  /// Connections are kept for so long after somebody asked.
  static constexpr Duration idle = std::chrono::seconds(30);

  /// `address` and `node`: of the node that is asked first.
  Looks(std::string address, std::string node, std::function<void()> on_thread);
  ~Looks() { end(); }
  Looks(const Looks&) = delete;
  Looks& operator=(const Looks&) = delete;
  /// Answers nobody any more.
  void end();

  /// `then` is called soon, on this or on another thread; never, if this ends first.
  void ask(std::optional<JobId> job, Then then);

 private:
  void run();
  LookPointer look(const std::set<JobId>& jobs);

  const std::string address_, node_;
  const std::function<void()> on_thread_;
  std::unique_ptr<detail::AllNodes> nodes_;  ///< the thread's
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::optional<JobId>, Then>> waiting_;
  std::map<JobId, Instant> wanted_;  ///< when it was asked for last
  LookPointer newest_;
  Instant looked_at_{};
  bool ends_ = false;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace dag::inspector
