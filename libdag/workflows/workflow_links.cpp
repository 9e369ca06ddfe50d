#include "libdag/workflows/workflow_links.hpp"

#include <algorithm>

namespace dag {
namespace {

/// Answers, for the dependencies that a workflow states, whether one task follows another. A search goes no
/// deeper than the task that it looks for.
class StatedOrder {
 public:
  explicit StatedOrder(const std::vector<WorkflowEdge>& edges) {
    std::uint32_t tasks = 0;
    for (const WorkflowEdge& edge : edges) tasks = std::max({tasks, edge.from + 1, edge.to + 1});
    after_.resize(tasks);
    depth_.assign(tasks, 0);
    seen_in_.assign(tasks, 0);
    std::vector<std::uint32_t> missing(tasks, 0), ready;
    for (const WorkflowEdge& edge : edges) {
      after_[edge.from].push_back(edge.to);
      ++missing[edge.to];
    }
    for (std::uint32_t task = 0; task < tasks; ++task)
      if (missing[task] == 0) ready.push_back(task);
    while (!ready.empty()) {
      const std::uint32_t task = ready.back();
      ready.pop_back();
      for (const std::uint32_t next : after_[task]) {
        depth_[next] = std::max(depth_[next], depth_[task] + 1);
        if (--missing[next] == 0) ready.push_back(next);
      }
    }
  }

  bool follows(std::uint32_t later, std::uint32_t earlier) {
    if (std::max(later, earlier) >= after_.size() || depth_[later] <= depth_[earlier]) return false;
    ++search_;
    std::vector<std::uint32_t> open{earlier};
    while (!open.empty()) {
      const std::uint32_t task = open.back();
      open.pop_back();
      for (const std::uint32_t next : after_[task]) {
        if (next == later) return true;
        if (depth_[next] >= depth_[later] || seen_in_[next] == search_) continue;
        seen_in_[next] = search_;
        open.push_back(next);
      }
    }
    return false;
  }

 private:
  std::vector<std::vector<std::uint32_t>> after_;
  std::vector<std::uint32_t> depth_;  ///< the longest chain that leads to the task
  std::vector<std::uint64_t> seen_in_;
  std::uint64_t search_ = 0;
};

}  // namespace

Result<std::uint32_t> WorkflowLinks::find(const std::string& id, const std::string& other,
                                          const char* role) const {
  if (const auto task = tasks_.find(id); task != tasks_.end()) return task->second;
  const auto named = names_.find(id);
  if (named != names_.end() && named->second.size() == 1) return named->second.front();
  const std::string why =
      named == names_.end() ? ", which is no task of this workflow" : ", and several tasks have that name";
  return Error{
      ErrorCode::configuration_invalid, "task '" + other + "' names '" + id + "' as its " + role + why,
      named == names_.end() ? "the file may have been cut or edited by hand" : "name the task by its id"};
}

Result<std::vector<WorkflowEdge>> WorkflowLinks::edges() const {
  std::vector<WorkflowEdge> edges;
  std::map<Pair, std::size_t> known;
  for (const Dependency& dependency : dependencies_) {
    const auto parent = find(dependency.parent, dependency.child, "parent");
    if (!parent) return parent.error();
    const auto child = find(dependency.child, dependency.parent, "child");
    if (!child) return child.error();
    if (known.emplace(Pair{*parent, *child}, edges.size()).second) edges.push_back({*parent, *child, 0});
  }
  StatedOrder stated(edges);
  for (const auto& [reader, files] : readers_) {
    for (const std::string& file : files) {
      const auto writers = writers_.find(file);
      if (writers == writers_.end()) continue;
      for (const Written& written : writers->second) {
        auto edge = known.find({written.task, reader});
        if (edge == known.end()) {
          if (written.task == reader || stated.follows(reader, written.task) ||
              stated.follows(written.task, reader)) {
            continue;
          }
          edge = known.emplace(Pair{written.task, reader}, edges.size()).first;
          edges.push_back({written.task, reader, 0});
        }
        edges[edge->second].size_bytes += written.size_bytes;
      }
    }
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const WorkflowEdge& a, const WorkflowEdge& b) { return a.to < b.to; });
  return edges;
}

}  // namespace dag
