#pragma once
// A rule for members of a group, checked in the records of homes: none ends well by an attempt that had begun
// before another one, with which it is to start again, failed or was lost.

#include <map>
#include <memory>
#include <set>
#include <string>

#include "dag/detail/fragment.hpp"
#include "libdag/journal/event.hpp"
#include "tools/sim/result.hpp"

namespace dag::sim {

class GangWatch {
 public:
  explicit GangWatch(std::shared_ptr<const detail::Fragment> graph) : graph_(std::move(graph)) {}

  void record(const JournalEvent& record) {
    if (record.task.origin != 0 || record.task.index >= graph_->size()) return;
    const std::uint32_t task = record.task.index;
    const std::optional<std::uint32_t> group = graph_->policy(task).group;
    if (!group) return;
    std::map<std::uint32_t, AttemptId>& out = out_[record.place.process];
    if (std::holds_alternative<event::Lent>(record.what)) out[task] = record.attempt;
    const auto* retried = std::get_if<event::Retried>(&record.what);
    const bool lost = std::holds_alternative<event::Lost>(record.what);
    if ((retried != nullptr && retried->charged) || lost) {
      out.erase(task);
      for (const auto& [other, attempt] : out) {
        if (graph_->policy(other).group == group && starts_with(graph_->groups[*group], task, other))
          overtaken_.insert({record.place.process, other, attempt});
      }
    }
    const auto* ended = std::get_if<event::Ended>(&record.what);
    if (ended == nullptr || ended->outcome != Outcome::finished) return;
    out.erase(task);
    if (overtaken_.contains({record.place.process, task, record.attempt})) {
      throw Violation("task " + to_string(record.task) + " ended by attempt " + to_string(record.attempt) +
                      ", which its group had stopped");
    }
  }

  /// The process is gone. No later home knows of the restarts that a home there had ordered: it takes over
  /// attempts that still run.
  void forget(ProcessId process) {
    out_.erase(process);
    std::erase_if(overtaken_, [&](const auto& one) { return std::get<ProcessId>(one) == process; });
  }

 private:
  static bool starts_with(const detail::GroupDraft& group, std::uint32_t fallen, std::uint32_t other) {
    return group.strategy == Strategy::one_for_all ||
           (group.strategy == Strategy::rest_for_one && other > fallen);
  }

  std::shared_ptr<const detail::Fragment> graph_;
  // A home that is dead for the others, and does not know it, has a group of its own.
  std::map<ProcessId, std::map<std::uint32_t, AttemptId>> out_;
  std::set<std::tuple<ProcessId, std::uint32_t, AttemptId>> overtaken_;
};

}  // namespace dag::sim
