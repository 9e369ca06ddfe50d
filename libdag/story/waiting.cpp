#include "libdag/story/waiting.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace dag::detail {
namespace {

/// A task without predecessors could begin when it became known.
std::vector<std::int64_t> could_begin(const PlacedGraph& graph, const std::vector<TaskTimes>& times) {
  std::vector<std::int64_t> could = ends_before(graph, times);
  for (std::size_t task = 0; task < graph.size(); ++task)
    could[task] = std::max(could[task], times[task].known);
  return could;
}

/// Spans of time that follow each other, so that it can be said how much of another one they are.
class Spans {
 public:
  explicit Spans(std::vector<Span> spans) : spans_(std::move(spans)) {
    std::int64_t sum = 0;
    for (const Span& one : spans_) before_.push_back(std::exchange(sum, sum + one.second - one.first));
  }
  std::int64_t within(std::int64_t from, std::int64_t to) const { return until(to) - until(from); }

 private:
  std::int64_t until(std::int64_t at) const {
    const auto next =
        std::upper_bound(spans_.begin(), spans_.end(), Span{at, std::numeric_limits<std::int64_t>::max()});
    if (next == spans_.begin()) return 0;
    const auto last = static_cast<std::size_t>(next - spans_.begin()) - 1;
    return before_[last] + std::min(at, spans_[last].second) - spans_[last].first;
  }

  std::vector<Span> spans_;
  std::vector<std::int64_t> before_;  ///< all that lies before each
};

/// How many more or fewer there are from that moment on.
struct Step {
  std::int64_t at = 0;
  int running = 0, ready = 0;
  std::size_t node = 0;  ///< where it is running; the place among all nodes
};

/// How many lanes are idle at each node, by how much that changes.
class IdleLanes {
 public:
  explicit IdleLanes(std::vector<std::int64_t> at_nodes) : at_(std::move(at_nodes)) {
    for (const std::int64_t there : at_) put(there, 1);
    most_ = nodes_with_.size() - std::min<std::size_t>(nodes_with_.size(), 1);
  }
  void begins(std::size_t node) { change(node, -1); }
  void ends(std::size_t node) { change(node, 1); }
  std::int64_t all() const { return all_; }
  /// At the node that has most.
  std::int64_t most() const { return static_cast<std::int64_t>(most_); }

 private:
  /// Where spans of one lane overlap, as clocks go, it is below zero for a while: none.
  static std::size_t idle(std::int64_t there) {
    return static_cast<std::size_t>(std::max<std::int64_t>(0, there));
  }
  void put(std::int64_t there, int nodes) {
    const std::size_t count = idle(there);
    if (nodes_with_.size() <= count) nodes_with_.resize(count + 1);
    nodes_with_[count] += nodes;
    all_ += nodes * static_cast<std::int64_t>(count);
  }
  void change(std::size_t node, int by) {
    put(at_[node], -1);
    at_[node] += by;
    put(at_[node], 1);
    most_ = std::max(most_, idle(at_[node]));
    while (most_ > 0 && nodes_with_[most_] == 0) --most_;
  }

  std::vector<std::int64_t> at_;
  std::vector<int> nodes_with_;  ///< so many idle lanes
  std::int64_t all_ = 0;
  std::size_t most_ = 0;
};

/// Goes from one change to the next. When all lanes ran something.
/// `lanes`: as they are before the first step.
std::vector<Span> add_idle(Waiting& sum, std::vector<Step> steps, IdleLanes lanes) {
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
  std::int64_t from = 0, to = 0;
  for (const Step& step : steps) {
    if (step.running == 0) continue;
    if (from == 0) from = step.at;
    to = step.at;
  }
  std::vector<Span> full;
  std::int64_t last = from, ready = 0;
  for (const Step& step : steps) {
    const std::int64_t now = std::clamp(step.at, from, to);
    const std::int64_t idle = lanes.all();
    sum.idle += Duration((now - last) * idle);
    sum.idle_while_ready += Duration((now - last) * std::min(idle, std::max<std::int64_t>(0, ready)));
    sum.idle_scattered += Duration((now - last) * (idle - lanes.most()));
    if (idle == 0 && now > last) full.emplace_back(last, now);
    last = now;
    if (step.running > 0) lanes.begins(step.node);
    if (step.running < 0) lanes.ends(step.node);
    ready += step.ready;
  }
  return full;
}

/// When so many lanes all ran something.
std::vector<Span> full_spans(std::vector<Step> steps, std::int64_t lanes) {
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
  std::vector<Span> full;
  std::int64_t idle = lanes, last = 0;
  for (const Step& step : steps) {
    if (idle <= 0 && step.at > last) full.emplace_back(last, step.at);
    idle -= step.running;
    last = step.at;
  }
  return full;
}

}  // namespace

std::vector<std::int64_t> ends_before(const PlacedGraph& graph, const std::vector<TaskTimes>& times) {
  std::vector<std::int64_t> ends(graph.size());
  for (std::size_t task = 0; task < graph.size(); ++task) {
    if (!times[task].ran) continue;
    for (const std::size_t successor : graph.after(task))
      ends[successor] = std::max(ends[successor], times[task].end);
  }
  return ends;
}

std::vector<Span> ready_spans(const PlacedGraph& graph, const std::vector<TaskTimes>& times) {
  const std::vector<std::int64_t> could = could_begin(graph, times);
  std::vector<Span> spans;
  for (std::size_t task = 0; task < graph.size(); ++task) {
    if (times[task].ran && could[task] < times[task].first_begin)
      spans.emplace_back(could[task], times[task].first_begin);
  }
  return spans;
}

Waiting waiting(const PlacedGraph& graph, const std::vector<TaskTimes>& times,
                const std::vector<LaneSpans>& lanes) {
  Waiting sum;
  std::vector<Step> steps;
  std::map<ProcessId, std::size_t> places;
  std::vector<std::int64_t> idle_at;
  std::vector<std::vector<Step>> steps_at;
  for (const LaneSpans& lane : lanes) {
    const std::size_t node = places.try_emplace(lane.node, places.size()).first->second;
    idle_at.resize(places.size());
    steps_at.resize(places.size());
    ++idle_at[node];
    for (const auto& [begin, end] : lane.ran) {
      steps_at[node].push_back({begin, 1, 0, node});
      steps_at[node].push_back({end, -1, 0, node});
    }
  }
  std::vector<Spans> full_at;
  for (std::size_t node = 0; node < places.size(); ++node) {
    steps.insert(steps.end(), steps_at[node].begin(), steps_at[node].end());
    full_at.emplace_back(full_spans(std::move(steps_at[node]), idle_at[node]));
  }
  for (const auto& [from, to] : ready_spans(graph, times)) {
    steps.push_back({from, 0, 1});
    steps.push_back({to, 0, -1});
  }
  const Spans full(add_idle(sum, std::move(steps), IdleLanes(std::move(idle_at))));
  const std::vector<std::int64_t> could = could_begin(graph, times);
  for (std::size_t place = 0; place < graph.size(); ++place) {
    const TaskTimes& task = times[place];
    if (!task.ran) continue;
    // Clocks of two nodes differ, and a task that ran again may have begun before its predecessor's last end.
    const std::int64_t ready = std::min(could[place], task.first_begin);
    sum.dependencies += Duration(std::max<std::int64_t>(0, ready - task.known));
    const std::int64_t lost = std::clamp(task.lost, ready, task.first_begin);
    const std::int64_t came = std::min(task.first_begin, lost + task.transfer.count());
    sum.transfer += Duration(came - lost);
    const std::int64_t full_everywhere = full.within(came, task.first_begin);
    const auto node = places.find(task.node);
    const std::int64_t full_there =
        node == places.end() ? full_everywhere : full_at[node->second].within(came, task.first_begin);
    sum.resources += Duration(full_everywhere);
    sum.queue += Duration(full_there - full_everywhere);
    sum.other += Duration(task.first_begin - came - full_there);
    sum.retry += Duration(lost - ready) + task.retries;
  }
  return sum;
}

}  // namespace dag::detail
