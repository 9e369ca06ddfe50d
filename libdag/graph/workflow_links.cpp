#include "libdag/graph/workflow_links.hpp"

#include <algorithm>
#include <utility>

namespace dag {

Result<std::vector<WorkflowEdge>> WorkflowLinks::edges() const {
  std::vector<WorkflowEdge> edges;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> known;
  for (const Dependency& dependency : dependencies_) {
    const auto parent = tasks_.find(dependency.parent);
    const auto child = tasks_.find(dependency.child);
    if (parent == tasks_.end() || child == tasks_.end()) {
      const bool lacks_parent = parent == tasks_.end();
      return Error{ErrorCode::configuration_invalid,
                   "task '" + (lacks_parent ? dependency.child : dependency.parent) + "' names '" +
                       (lacks_parent ? dependency.parent : dependency.child) +
                       (lacks_parent ? "' as its parent" : "' as its child") +
                       ", which is no task of this workflow",
                   "the file may have been cut or edited by hand"};
    }
    const std::pair key{parent->second, child->second};
    if (known.emplace(key, edges.size()).second) edges.push_back({key.first, key.second, 0});
  }
  for (const auto& [reader, files] : readers_) {
    for (const std::string& file : files) {
      const auto writers = writers_.find(file);
      if (writers == writers_.end()) continue;
      for (const Written& written : writers->second) {
        const auto edge = known.find({written.task, reader});
        if (edge != known.end()) edges[edge->second].size_bytes += written.size_bytes;
      }
    }
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const WorkflowEdge& a, const WorkflowEdge& b) { return a.to < b.to; });
  return edges;
}

}  // namespace dag
