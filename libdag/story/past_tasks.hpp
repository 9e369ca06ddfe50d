#pragma once
// The story of tasks out of journals: their attempts, where each ran and why there, how it ended, and events
// between attempts. For jobs that are over, when no process can be asked.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libdag/story/journal_view.hpp"

namespace dag::detail {

struct PastAttempt {
  AttemptId id;
  ProcessId at;                                    ///< the last process that had it
  std::optional<std::uint32_t> lane = {};          ///< the lane that ran it; none: no lane reported it
  std::optional<std::int64_t> began_unix_ns = {};  ///< of the run, by the clock of its node
  std::optional<Duration> ran = {};
  /// For people: "its inputs lay there". Empty: no decision was made; the task became ready there.
  std::string why_there = {};
  /// The processes that were compared for the decision, if any.
  std::vector<event::Candidate> candidates = {};
  std::uint32_t number = 0;  ///< as Context::attempt said
  std::string end = {};      ///< "finished", "failed: 403", "lost: n1 died"; empty: not in the journals
};

/// An attempt, or an event of the task between attempts.
struct PastStep {
  std::int64_t unix_ns = 0;  ///< since 1970
  std::optional<PastAttempt> attempt = {};
  std::string note = {};  ///< for people, if it is no attempt
};

struct PastTask {
  TaskId task;
  std::string name;  ///< empty: not in the journals
  std::optional<std::int64_t> ready_unix_ns, settled_unix_ns;
  std::optional<event::Settled> settled;  ///< none: not settled, or not in the journals
  std::vector<PastStep> steps;            ///< in the order of time, as well as clocks agree
  std::uint32_t charged = 0;              ///< attempts that failed or crashed their process
};

/// Collects tasks from journal entries.
class PastTasks {
 public:
  /// Keeps the steps of the first `tasks_max` tasks that are named, and counts the others.
  explicit PastTasks(std::size_t tasks_max) : tasks_max_(tasks_max) {}
  void add(const JournalEntry& entry, const JournalLine& line);

  /// In the order of their ids.
  std::vector<PastTask> tasks() const;
  std::uint64_t beyond() const { return beyond_.size(); }

 private:
  const std::size_t tasks_max_;
  std::map<TaskId, PastTask> tasks_;
  std::set<TaskId> beyond_;
};

}  // namespace dag::detail
