#pragma once
// The order in which ready tasks run, and which of them may be given away. Decides the order; lanes have
// queues of their own for what they make ready themselves (actors/lanes), this is the queue of a process for
// all the rest.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "dag/options.hpp"
#include "libdag/base/ids.hpp"
#include "libdag/base/limits.hpp"
#include "libdag/base/time.hpp"

namespace dag {

/// A task that could run now.
struct ReadyTask {
  TaskId task;
  AttemptId attempt;
  Priority priority = Priority::normal;
  /// Predicted time from its start to the end of the graph, along its longest path: who is late for the end
  /// goes first. Zero where nothing is known, which leaves first come, first served.
  Duration upward_rank{0};
  /// Some of its inputs would have to come from other processes.
  bool has_remote_inputs = false;
  /// A call of a job actor runs where the actor's state is.
  bool is_actor_call = false;
  bool operator==(const ReadyTask&) const = default;
};

/// By band, then by upward rank, then in the order of arrival. Not a container for millions on a hot path:
/// lanes keep what they make ready; what comes here was lent, retried, or waits for resources.
class ReadyQueue {
 public:
  explicit ReadyQueue(std::size_t tasks_max = limits::tasks_max) : tasks_max_(tasks_max) {}

  /// False when the queue is full; the caller then gives the task back. A task that waits already is a bug.
  [[nodiscard]] bool push(const ReadyTask& task);
  /// The next one to run.
  std::optional<ReadyTask> pop();
  std::optional<ReadyTask> next() const;
  /// Takes out one that was cancelled or lost; false when it is not here.
  bool remove(TaskId task);

  std::size_t size() const { return arrival_.size(); }
  bool empty() const { return arrival_.empty(); }
  /// What a thief could be given; gossiped as `tasks_ready`.
  std::size_t stealable() const { return arrival_.size() - actor_calls_; }

  /// Takes out what a thief with so many free slots gets: what_to_give(), below.
  std::vector<ReadyTask> give_away(std::uint32_t slots);

 private:
  struct Entry {
    ReadyTask task;
    std::uint64_t arrival = 0;
  };
  struct RunsBefore {
    bool operator()(const Entry& a, const Entry& b) const;
  };
  void erase(std::set<Entry, RunsBefore>::iterator entry);

  std::size_t tasks_max_;
  std::uint64_t next_arrival_ = 0;
  std::size_t actor_calls_ = 0;
  std::set<Entry, RunsBefore> order_;
  std::map<TaskId, std::set<Entry, RunsBefore>::iterator> arrival_;
};

/// Which of these, oldest first, a thief gets: indices into `oldest_first`, in the order in which they are
/// given.
///  - never a call of a job actor: its state is here;
///  - at most half of what may go, rounded up, and never more than the thief has slots for: the victim keeps
///  working,
///    and a task that travels must find a free lane at the end of its way;
///  - the oldest, because their inputs are least likely to be in our caches still; those with remote inputs
///  last,
///    because they would travel again.
std::vector<std::size_t> what_to_give(const std::vector<ReadyTask>& oldest_first, std::uint32_t slots);

}  // namespace dag
