#pragma once
// The client's state of a job that it submitted. The runtime's threads fill it; the user's threads wait for
// it.

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dag/blob.hpp"
#include "dag/detail/fragment.hpp"
#include "dag/error.hpp"
#include "dag/options.hpp"
#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"

namespace dag::detail {

class Client;

/// Outcome counts of a cell or a node, as the user gets them.
template <class Counts>
std::map<Outcome, std::uint64_t> by_outcome(const Counts& counts) {
  return {{Outcome::finished, counts.finished},
          {Outcome::failed, counts.failed},
          {Outcome::skipped, counts.skipped},
          {Outcome::cancelled, counts.cancelled}};
}

/// How a task of the submitted graph ended, once that is settled.
struct Settlement {
  Outcome outcome = Outcome::none;
  Blob output;                 ///< only where the client asked for it and the task finished
  std::optional<Error> error;  ///< why it did not finish, with the chain of causes
};

struct JobState {
  JobState() = default;
  /// The last handle is gone: the runtime may forget the job.
  ~JobState();
  JobState(const JobState&) = delete;
  JobState& operator=(const JobState&) = delete;

  // Set before anybody else sees it; `client` is taken away when the session ends first.
  Client* client = nullptr;
  JobId id;
  std::string name;
  std::uint64_t graph_serial = 0;         ///< of the builder whose handles refer to this job
  std::shared_ptr<const Fragment> graph;  ///< for names in messages; null: submitted elsewhere
  std::string label_of(std::uint32_t task) const;

  /// The runtime calls these. Repeated news change nothing.
  void settle(std::uint32_t task, Settlement settlement);
  void count(std::map<Outcome, std::uint64_t> counts);  ///< so far
  void end(bool ok, std::map<Outcome, std::uint64_t> counts);
  void lose(Error why);  ///< the cluster is gone: wakes all waiting threads

  // The user calls these, and waits.
  /// Empty: it has not settled within the limit.
  std::optional<Settlement> wait_for(std::uint32_t task, Duration limit = Duration::max());
  /// Asks the runtime to report each task's end.
  void want(const std::vector<std::uint32_t>& tasks);
  /// The task that was settled after `before` others. The caller may not have wanted it.
  std::uint32_t wait_for_next(std::size_t before);
  std::optional<bool> wait_for_end(std::optional<Duration> limit);
  std::map<Outcome, std::uint64_t> counts();

 private:
  template <class Done>
  void wait(std::unique_lock<std::mutex>& lock, Duration limit, const Done& done);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::uint32_t> wanted_;  ///< the runtime was told
  std::map<std::uint32_t, Settlement> settled_;
  std::vector<std::uint32_t> order_;  ///< the keys of `settled_`, as they came
  std::map<Outcome, std::uint64_t> counts_;
  std::optional<bool> ended_;
  std::optional<Error> lost_;
};

}  // namespace dag::detail
