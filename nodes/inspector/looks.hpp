#pragma once
// Looks at the whole cluster while somebody watches, as `dag top` does: all requests within a moment get the
// same look, so that twenty watchers cost as much as one.

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

/// The cluster at a moment. Texts are JSON in one line (libdag/client/json.hpp), as events have it.
struct Look {
  detail::Seen seen;
  std::string cluster;
  std::map<JobId, std::string> jobs;  ///< in depth: the jobs that somebody asked for
  std::map<JobId, JobInfo> known;     ///< all that is known of these jobs
  std::map<JobId, Error> refused;     ///< why `jobs` has only an error for these jobs
  std::optional<Error> failed;        ///< no node answers: the other fields are empty
};
using LookPointer = std::shared_ptr<const Look>;

/// An event has no more rows of each list: nodes, jobs, links, processes and tasks of a job, ... It says how
/// many there are besides, and its counts are of all. A client gets an event each HttpOptions::pause, 500 ms,
/// at most: 400 rows of each list in a second, however large the cluster is.
inline constexpr std::size_t rows_in_event_max = 200;
/// `node`: the node that reports. Nodes in trouble are among the rows, and of the jobs the first ones of
/// in_order().
std::string cluster_json(const detail::Seen& seen, const std::string& node, std::int64_t unix_ms);
/// The job in depth.
std::string job_json(const JobInfo& job);
/// Running jobs first, then the newest first.
std::vector<const JobInfo*> in_order(const std::vector<JobInfo>& jobs);

class Looks {
 public:
  using Then = std::function<void(LookPointer)>;
  /// The greatest age of a look when it is asked for.
  static constexpr Duration fresh = std::chrono::milliseconds(250);
  /// A browser that asked for a job is likely to ask again: each look includes the job for this time.
  static constexpr Duration remembered = std::chrono::seconds(2);
  /// Connections are kept for this time after the last request.
  static constexpr Duration idle = std::chrono::seconds(30);

  /// `address` and `node`: the node that is asked first.
  Looks(std::string address, std::string node, std::function<void()> on_thread);
  ~Looks() { end(); }
  Looks(const Looks&) = delete;
  Looks& operator=(const Looks&) = delete;
  /// Stops answering.
  void end();

  /// `then` is called soon, on any thread; never, if this ends first.
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
  std::map<JobId, Instant> wanted_;  ///< when the job was asked for last
  LookPointer newest_;
  Instant looked_at_{};
  bool ends_ = false;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace dag::inspector
