#pragma once
// A graph as journal records, for tests of readers of journals.

#include <vector>

#include "libdag/journal/graph_part.hpp"

namespace dag::test {

/// For each task the places of its predecessors; all tasks have one name.
inline std::vector<JournalEvent> graph_records(JobId job,
                                               const std::vector<std::vector<std::uint32_t>>& graph,
                                               TaskId first = {}, std::optional<TaskId> parent = {},
                                               const std::string& name = "t") {
  std::vector<JournalEvent> records;
  GraphPartWriter writer(first, [&](TaskId from, event::GraphPart part) {
    part.parent = parent;
    records.push_back({{}, {}, job, from, {}, std::move(part)});
  });
  for (const auto& before : graph) {
    writer.task(name);
    for (const std::uint32_t place : before) writer.waits_for(place, 0, true);
  }
  writer.finish();
  return records;
}

}  // namespace dag::test
