#pragma once
// The records of a run, per task, as far as two runs can be compared by them (libdag/journal/outcome.hpp).

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "libdag/journal/outcome.hpp"

namespace dag::test {

/// Lines per task, in their order. A task of the graph is called by its index; a spawned one, whose id
/// depends on the order of spawning, by its parent and its place among the parent's spawned tasks: `7.0`.
inline std::map<std::string, std::vector<std::string>> histories(const std::deque<JournalEvent>& records) {
  std::map<TaskId, std::string> names;
  std::map<TaskId, std::uint32_t> children;
  const auto name_of = [&](TaskId task) {
    const auto [at, added] = names.try_emplace(task);
    if (added) at->second = task.origin == 0 ? std::to_string(task.index) : "unknown " + to_string(task);
    return at->second;
  };
  std::map<std::string, std::vector<std::string>> found;
  for (const JournalEvent& record : records) {
    if (const auto* spawned = std::get_if<event::Spawned>(&record.what)) {
      names[record.task] = name_of(spawned->parent) + "." + std::to_string(children[spawned->parent]++);
    }
    if (is_outcome(record)) found[name_of(record.task)].push_back(outcome_text(record));
  }
  return found;
}

}  // namespace dag::test
