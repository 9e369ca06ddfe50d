#include "libdag/story/job_times.hpp"

#include <algorithm>
#include <limits>

#include "libdag/journal/graph_part.hpp"

namespace dag::detail {

void JobTimes::add(const JournalEntry& entry) {
  const JournalEvent& record = entry.record;
  graph_.add(record);
  if (const auto* ran = std::get_if<event::Ran>(&record.what)) {
    runs_.push_back({record.task, record.place, entry.unix_ns, ran->ran, ran->outcome == Outcome::failed});
    lanes_.insert(lane_of(record.place));
    ran_.insert(record.task);
  } else if (const auto* came = std::get_if<event::InputsCame>(&record.what)) {
    transfers_[record.task] = came->took;
  } else if (const auto* part = std::get_if<event::GraphPart>(&record.what)) {
    if (!part->parent) return;
    read_graph_part(record, {[&](TaskId task, const std::string&) { spawned_.emplace(task, entry.unix_ns); },
                             [](TaskId, std::uint8_t, bool) {}});
  } else if (std::holds_alternative<event::JobBegan>(record.what)) {
    if (!began_unix_ns_) began_unix_ns_ = entry.unix_ns;
  } else if (std::holds_alternative<event::Crashed>(record.what) ||
             std::holds_alternative<event::Lost>(record.what)) {
    if (!ran_.contains(record.task)) lost_[record.task] = entry.unix_ns;
  }
}

JobTimes::Placed JobTimes::placed() const {
  std::vector<TaskId> tasks;
  std::int64_t began = began_unix_ns_.value_or(std::numeric_limits<std::int64_t>::max());
  for (const Run& run : runs_) {
    tasks.push_back(run.task);
    began = std::min(began, run.begin_unix_ns());
  }
  Placed all{PlacedGraph(graph_.edges(), std::move(tasks)), {}, {}, {}};
  all.times.resize(all.graph.size());
  all.ran.resize(all.graph.size());
  for (const Lane& lane : lanes_) all.lanes.push_back({node_of(lane.first)});
  std::vector<bool> failed(all.graph.size());  ///< the newest run
  const std::vector<Lane> lanes(lanes_.begin(), lanes_.end());
  for (const Run& run : runs_) {
    const std::size_t place = all.graph.place_of(run.task);
    const auto lane = static_cast<std::size_t>(
        std::lower_bound(lanes.begin(), lanes.end(), lane_of(run.place)) - lanes.begin());
    all.lanes[lane].ran.emplace_back(run.begin_unix_ns(), run.end_unix_ns);
    all.ran[place] = run.ran;
    TaskTimes& times = all.times[place];
    if (!std::exchange(times.ran, true)) {
      times.first_begin = run.begin_unix_ns();
      times.node = node_of(run.place.process);
      times.known = began;
    } else if (failed[place]) {
      times.retries += Duration(std::max<std::int64_t>(0, run.begin_unix_ns() - times.end));
    }
    failed[place] = run.failed;
    times.begin = run.begin_unix_ns();
    times.end = run.end_unix_ns;
  }
  const auto each = [&](const auto& known, auto&& note) {
    for (const auto& [task, what] : known) {
      const std::size_t place = all.graph.place_of(task);
      if (place != PlacedGraph::none && all.times[place].ran) note(all.times[place], what);
    }
  };
  // A cell may hear of spawned tasks only after they have ended.
  each(spawned_,
       [&](TaskTimes& task, std::int64_t at) { task.known = std::clamp(at, began, task.first_begin); });
  each(transfers_, [](TaskTimes& task, Duration took) { task.transfer = took; });
  each(lost_, [](TaskTimes& task, std::int64_t at) { task.lost = at; });
  return all;
}

}  // namespace dag::detail
