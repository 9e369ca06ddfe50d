#pragma once
// What became of tasks, as journals tell it: the attempts at each, where they ran and why there, how they
// ended, and what came between them. For jobs that are over, when nobody is left to ask.

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
  ProcessId at;                                    ///< where it was last
  std::optional<std::uint32_t> lane = {};          ///< that ran it; none: no lane says that it did
  std::optional<std::int64_t> began_unix_ns = {};  ///< of the run, by the clock of its node
  std::optional<Duration> ran = {};
  /// For people: "its inputs lay there". Empty: nothing was decided, it became ready there.
  std::string why_there = {};
  /// What the decision was made from, if anybody was asked.
  std::vector<recorded::Candidate> candidates = {};
  std::uint32_t number = 0;  ///< as Context::attempt said
  std::string end = {};      ///< "finished", "failed: 403", "lost: n1 died"; empty: the journals do not know
};

/// An attempt, or what happened to the task beside its attempts.
struct PastStep {
  std::int64_t unix_ns = 0;  ///< since 1970
  std::optional<PastAttempt> attempt = {};
  std::string note = {};  ///< for people, if it is no attempt
};

struct PastTask {
  TaskId task;
  std::string name;  ///< empty: nobody said it
  std::optional<std::int64_t> ready_unix_ns, settled_unix_ns;
  std::optional<recorded::Settled> settled;  ///< none: it was not, or the journals do not know
  std::vector<PastStep> steps;               ///< in the order of time, as well as clocks agree
  std::uint32_t charged = 0;                 ///< attempts that failed or took their process down
};

/// Takes what journals say, entry by entry.
class PastTasks {
 public:
  /// Of the first `tasks_max` tasks that are named all is kept; the others are counted.
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
