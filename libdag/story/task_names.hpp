#pragma once
// Names of a job's tasks, out of its events.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libdag/journal/event.hpp"
#include "libdag/journal/graph_part.hpp"

namespace dag::detail {

/// Settled tasks that no lane reported to have run.
struct Unrun {
  std::uint64_t finished = 0;  ///< ran; the report is missing, or the journal dropped it
  std::uint64_t others = 0;    ///< skipped, cancelled, or lost at each attempt
  bool operator==(const Unrun&) const = default;
};

class TaskNames {
 public:
  /// Takes events of one job only.
  void add(const JournalEvent& record) {
    if (const auto* settled = std::get_if<event::Settled>(&record.what)) {
      Known& known = of_.try_emplace(record.task, Known{index_of(settled->name)}).first->second;
      if (std::exchange(known.outcome, settled->outcome) == Outcome::none) ++settled_;
    } else {
      read_graph_part(record, {[this](TaskId task, const std::string& name) {
                                 of_.try_emplace(task, Known{index_of(name)});
                               },
                               [](TaskId, std::uint8_t, bool) {}});
    }
  }
  /// The task's number, if its name is not known.
  std::string name_of(TaskId task) const {
    const auto index = index_of(task);
    return index ? names_[*index] : to_string(task);
  }
  /// The name's index in names(); none if the name is not known.
  std::optional<std::uint32_t> index_of(TaskId task) const {
    const auto found = of_.find(task);
    return found == of_.end() ? std::nullopt : std::optional(found->second.name);
  }
  /// Visits every task that events mention, in the order of ids.
  template <class Visit>
  void each(Visit&& visit) const {
    std::vector<TaskId> tasks;
    tasks.reserve(of_.size());
    for (const auto& [task, known] : of_) tasks.push_back(task);
    std::sort(tasks.begin(), tasks.end());
    for (const TaskId task : tasks) visit(task);
  }
  /// In the order of their first mention.
  const std::vector<std::string>& names() const { return names_; }
  std::size_t settled() const { return settled_; }
  template <class HasRun>
  Unrun unrun(HasRun&& has_run) const {
    Unrun counts;
    for (const auto& [task, known] : of_)
      if (known.outcome != Outcome::none && !has_run(task))
        ++(known.outcome == Outcome::finished ? counts.finished : counts.others);
    return counts;
  }

 private:
  struct Known {
    std::uint32_t name = 0;  ///< index in `names_`, shared by tasks of a name
    Outcome outcome = Outcome::none;
  };
  std::uint32_t index_of(const std::string& name) {
    const auto [found, fresh] = index_of_name_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return found->second;
  }

  std::unordered_map<TaskId, Known> of_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> index_of_name_;
  std::size_t settled_ = 0;
};

}  // namespace dag::detail
