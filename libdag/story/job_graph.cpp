#include "libdag/story/job_graph.hpp"

#include <algorithm>
#include <functional>
#include <queue>

#include "libdag/journal/graph_part.hpp"

namespace dag::detail {

void JobGraph::add(const JournalEvent& record) {
  if (const auto* became = std::get_if<event::Became>(&record.what)) {
    became_[record.task] = became->tail;
    return;
  }
  const auto* part = std::get_if<event::GraphPart>(&record.what);
  if (part == nullptr) return;
  TaskId newest;
  read_graph_part(record, {[&](TaskId task, const std::string&) {
                             newest = task;
                             if (part->parent) spawned_.push_back({*part->parent, task});
                           },
                           [&](TaskId predecessor, std::uint8_t kind, bool data) {
                             edges_.push_back({predecessor, newest, kind, data});
                           }});
}

TaskId JobGraph::tail_of(TaskId task) const {
  // Bounded by the number of steps, since damaged events may form a circle.
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
  for (const Edge& edge : edges_) all.push_back({tail_of(edge.from), edge.to, edge.kind, edge.data});
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

PlacedGraph::PlacedGraph(const std::vector<JobGraph::Edge>& edges, std::vector<TaskId> tasks)
    : tasks_(std::move(tasks)) {
  for (const auto& edge : edges) {
    tasks_.push_back(edge.from);
    tasks_.push_back(edge.to);
  }
  std::sort(tasks_.begin(), tasks_.end());
  tasks_.erase(std::unique(tasks_.begin(), tasks_.end()), tasks_.end());
  first_.resize(tasks_.size() + 1);
  to_.resize(edges.size());
  waits_for_.resize(tasks_.size());
  for (const auto& edge : edges) ++first_[place_of(edge.from) + 1];
  for (std::size_t i = 0; i < tasks_.size(); ++i) first_[i + 1] += first_[i];
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (const auto& edge : edges) {
    const std::size_t successor = place_of(edge.to);
    to_[next[place_of(edge.from)]++] = successor;
    ++waits_for_[successor];
  }
}

std::size_t PlacedGraph::place_of(TaskId task) const {
  const auto found = std::lower_bound(tasks_.begin(), tasks_.end(), task);
  return found == tasks_.end() || *found != task ? none : static_cast<std::size_t>(found - tasks_.begin());
}

std::vector<std::size_t> PlacedGraph::order() const {
  std::vector<std::size_t> order, missing = waits_for_;
  order.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) {
    if (missing[i] == 0) order.push_back(i);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::size_t successor : after(order[i])) {
      if (--missing[successor] == 0) order.push_back(successor);
    }
  }
  return order;
}

CriticalPath critical_path(const PlacedGraph& graph, const std::vector<Duration>& ran) {
  constexpr std::size_t nowhere = PlacedGraph::none;
  std::vector<Duration> length(graph.size());
  std::vector<std::size_t> before(graph.size(), nowhere);
  std::size_t last = nowhere;
  for (const std::size_t task : graph.order()) {
    length[task] += ran[task];
    if (last == nowhere || length[task] > length[last]) last = task;
    for (const std::size_t successor : graph.after(task)) {
      if (before[successor] != nowhere && length[task] <= length[successor]) continue;
      length[successor] = length[task];
      before[successor] = task;
    }
  }
  CriticalPath path;
  if (last == nowhere) return path;
  path.length = length[last];
  for (std::size_t task = last; task != nowhere; task = before[task]) path.tasks.push_back(graph.task(task));
  std::reverse(path.tasks.begin(), path.tasks.end());
  return path;
}

CriticalPath critical_path(const std::vector<JobGraph::Edge>& edges, const std::map<TaskId, Duration>& ran) {
  std::vector<TaskId> tasks;
  for (const auto& [task, span] : ran) tasks.push_back(task);
  const PlacedGraph graph(edges, std::move(tasks));
  std::vector<Duration> spans(graph.size());
  for (const auto& [task, span] : ran) spans[graph.place_of(task)] = span;
  return critical_path(graph, spans);
}

Duration list_schedule(const PlacedGraph& graph, const std::vector<Duration>& ran, std::size_t lanes) {
  const std::vector<std::size_t> order = graph.order();
  std::vector<Duration> to_the_end(graph.size());
  for (auto task = order.rbegin(); task != order.rend(); ++task) {
    for (const std::size_t successor : graph.after(*task))
      to_the_end[*task] = std::max(to_the_end[*task], to_the_end[successor]);
    to_the_end[*task] += ran[*task];
  }
  std::vector<std::size_t> missing = graph.waits_for();
  std::priority_queue<std::pair<Duration, std::size_t>> ready;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (missing[i] == 0) ready.emplace(to_the_end[i], i);
  }
  using End = std::pair<Duration, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> running;
  Duration now{0};
  while (!ready.empty() || !running.empty()) {
    while (!ready.empty() && running.size() < std::max<std::size_t>(lanes, 1)) {
      const std::size_t task = ready.top().second;
      ready.pop();
      running.emplace(now + ran[task], task);
    }
    now = running.top().first;
    const std::size_t ended = running.top().second;
    running.pop();
    for (const std::size_t successor : graph.after(ended)) {
      if (--missing[successor] == 0) ready.emplace(to_the_end[successor], successor);
    }
  }
  return now;
}

}  // namespace dag::detail
