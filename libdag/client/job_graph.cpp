#include "libdag/client/job_graph.hpp"

#include <algorithm>

#include "libdag/record/graph_part.hpp"

namespace dag::detail {

void JobGraph::add(const Record& record) {
  if (const auto* became = std::get_if<recorded::Became>(&record.what)) {
    became_[record.task] = became->tail;
    return;
  }
  const auto* part = std::get_if<recorded::GraphPart>(&record.what);
  if (part == nullptr) return;
  TaskId newest;
  read_graph_part(record, {[&](TaskId task, const std::string&) {
                             newest = task;
                             if (part->parent) spawned_.push_back({*part->parent, task});
                           },
                           [&](TaskId predecessor, std::uint8_t kind) {
                             edges_.push_back({predecessor, newest, kind});
                           }});
}

TaskId JobGraph::tail_of(TaskId task) const {
  // As many steps as there are, whatever records say.
  for (std::size_t steps = became_.size(); steps > 0; --steps) {
    const auto found = became_.find(task);
    if (found == became_.end()) break;
    task = found->second;
  }
  return task;
}

std::vector<JobGraph::Edge> JobGraph::edges() const {
  std::vector<Edge> all = spawned_;
  all.reserve(spawned_.size() + edges_.size());
  for (const Edge& edge : edges_) all.push_back({tail_of(edge.from), edge.to, edge.kind});
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

CriticalPath critical_path(const std::vector<JobGraph::Edge>& edges, const std::map<TaskId, Duration>& ran) {
  std::vector<TaskId> tasks;
  for (const auto& [task, span] : ran) tasks.push_back(task);
  for (const auto& edge : edges) {
    tasks.push_back(edge.from);
    tasks.push_back(edge.to);
  }
  std::sort(tasks.begin(), tasks.end());
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  const auto index_of = [&](TaskId task) {
    return static_cast<std::size_t>(std::lower_bound(tasks.begin(), tasks.end(), task) - tasks.begin());
  };

  // Successors, as runs in one array.
  std::vector<std::size_t> first(tasks.size() + 1), to(edges.size()), missing(tasks.size());
  for (const auto& edge : edges) ++first[index_of(edge.from) + 1];
  for (std::size_t i = 0; i < tasks.size(); ++i) first[i + 1] += first[i];
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (const auto& edge : edges) {
    const std::size_t successor = index_of(edge.to);
    to[next[index_of(edge.from)]++] = successor;
    ++missing[successor];
  }

  constexpr std::size_t none = ~std::size_t{0};
  std::vector<Duration> length(tasks.size());
  std::vector<std::size_t> before(tasks.size(), none), ready;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (missing[i] == 0) ready.push_back(i);
  }
  std::size_t last = none;
  while (!ready.empty()) {
    const std::size_t task = ready.back();
    ready.pop_back();
    if (const auto found = ran.find(tasks[task]); found != ran.end()) length[task] += found->second;
    if (last == none || length[task] > length[last]) last = task;
    for (std::size_t i = first[task]; i < first[task + 1]; ++i) {
      const std::size_t successor = to[i];
      if (before[successor] == none || length[task] > length[successor]) {
        length[successor] = length[task];
        before[successor] = task;
      }
      if (--missing[successor] == 0) ready.push_back(successor);
    }
  }
  CriticalPath path;
  if (last == none) return path;
  path.length = length[last];
  for (std::size_t task = last; task != none; task = before[task]) path.tasks.push_back(tasks[task]);
  std::reverse(path.tasks.begin(), path.tasks.end());
  return path;
}

}  // namespace dag::detail
