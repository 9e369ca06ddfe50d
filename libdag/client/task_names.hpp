#pragma once
// What the tasks of a job are called, as its records say.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "libdag/record/record.hpp"

namespace dag::detail {

class TaskNames {
 public:
  /// Of that one job.
  void add(const Record& record) {
    const auto* settled = std::get_if<recorded::Settled>(&record.what);
    if (settled == nullptr) return;
    const auto [found, fresh] =
        index_of_.try_emplace(settled->name, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(settled->name);
    of_[record.task] = found->second;
  }
  /// Its number, when nobody has said its name.
  std::string name_of(TaskId task) const {
    const auto found = of_.find(task);
    return found == of_.end() ? to_string(task) : names_[found->second];
  }
  /// Which of names() it is; none when nobody has said it.
  std::optional<std::uint32_t> index_of(TaskId task) const {
    const auto found = of_.find(task);
    return found == of_.end() ? std::nullopt : std::optional(found->second);
  }
  /// In the order in which they were said first.
  const std::vector<std::string>& names() const { return names_; }
  /// Tasks whose names are known: those that settled.
  std::size_t size() const { return of_.size(); }

 private:
  std::map<TaskId, std::uint32_t> of_;  ///< an index in `names_`: many tasks have one name
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> index_of_;
};

}  // namespace dag::detail
