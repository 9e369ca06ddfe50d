#include "libdag/client/waiting.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace dag::detail {
namespace {

/// What waits for nothing could when it was known.
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
};

/// Goes from one change to the next. When all lanes ran something.
std::vector<Span> add_idle(Waiting& sum, std::vector<Step> steps, std::size_t lanes) {
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
  std::int64_t from = 0, to = 0;
  for (const Step& step : steps) {
    if (step.running == 0) continue;
    if (from == 0) from = step.at;
    to = step.at;
  }
  std::vector<Span> full;
  std::int64_t last = from, running = 0, ready = 0;
  for (const Step& step : steps) {
    const std::int64_t now = std::clamp(step.at, from, to);
    const std::int64_t idle = std::max<std::int64_t>(0, static_cast<std::int64_t>(lanes) - running);
    sum.idle += Duration((now - last) * idle);
    sum.idle_while_ready += Duration((now - last) * std::min(idle, std::max<std::int64_t>(0, ready)));
    if (idle == 0 && now > last) full.emplace_back(last, now);
    last = now;
    running += step.running;
    ready += step.ready;
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
                const std::vector<std::vector<Span>>& lanes) {
  Waiting sum;
  std::vector<Step> steps;
  for (const std::vector<Span>& lane : lanes) {
    for (const auto& [begin, end] : lane) {
      steps.push_back({begin, 1, 0});
      steps.push_back({end, -1, 0});
    }
  }
  for (const auto& [from, to] : ready_spans(graph, times)) {
    steps.push_back({from, 0, 1});
    steps.push_back({to, 0, -1});
  }
  const Spans full(add_idle(sum, std::move(steps), lanes.size()));
  const std::vector<std::int64_t> could = could_begin(graph, times);
  for (std::size_t place = 0; place < graph.size(); ++place) {
    const TaskTimes& task = times[place];
    if (!task.ran) continue;
    // Clocks of two nodes differ; and a task that ran again began before what it waits for did so, too.
    const std::int64_t ready = std::min(could[place], task.first_begin);
    sum.dependencies += Duration(std::max<std::int64_t>(0, ready - task.known));
    const std::int64_t lost = std::clamp(task.lost, ready, task.first_begin);
    const std::int64_t came = std::min(task.first_begin, lost + task.transfer.count());
    sum.transfer += Duration(came - lost);
    const std::int64_t queued = full.within(came, task.first_begin);
    sum.queue += Duration(queued);
    sum.other += Duration(task.first_begin - came - queued);
    sum.retry += Duration(lost - ready) + task.retries;
  }
  return sum;
}

}  // namespace dag::detail
