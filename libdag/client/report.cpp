#include "libdag/client/report.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "libdag/client/job_graph.hpp"
#include "libdag/client/journal_view.hpp"
#include "libdag/client/task_names.hpp"

namespace dag::detail {
namespace {

struct Run {
  TaskId task;
  RecordPlace place;
  Duration ran{0};
  bool failed = false;
};
/// The newest run of a task.
struct Newest {
  std::int64_t end_unix_ns = 0;
  Duration ran{0};
  std::int64_t begin_unix_ns() const { return end_unix_ns - ran.count(); }
};

/// By nearest rank, of ascending ones; not empty.
Duration quantile(const std::vector<Duration>& sorted, double part) {
  const auto rank = static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1) + 0.5);
  return sorted[std::min(rank, sorted.size() - 1)];
}

void add_classes(JobReport& report, const std::vector<Run>& runs, const TaskNames& names) {
  std::map<std::string, std::vector<const Run*>> by_name;
  for (const Run& run : runs) by_name[names.name_of(run.task)].push_back(&run);
  for (const auto& [name, of_name] : by_name) {
    ClassReport& one = report.classes.emplace_back();
    one.name = name;
    std::vector<Duration> spans;
    std::vector<TaskId> tasks;
    for (const Run* run : of_name) {
      spans.push_back(run->ran);
      tasks.push_back(run->task);
      one.total += run->ran;
      one.failed += run->failed ? 1 : 0;
    }
    std::sort(spans.begin(), spans.end());
    std::sort(tasks.begin(), tasks.end());
    one.runs = of_name.size();
    one.tasks = static_cast<std::uint64_t>(std::unique(tasks.begin(), tasks.end()) - tasks.begin());
    one.median = quantile(spans, 0.5);
    one.p99 = quantile(spans, 0.99);
    one.longest = spans.back();
    report.tasks += one.tasks;
    if (of_name.size() < 3) continue;  // Nobody can say what is usual.
    for (const Run* run : of_name) {
      if (run->ran >= straggler_min && run->ran > straggler_times * one.median)
        report.stragglers.push_back({run->task, name, run->place, run->ran, one.median});
    }
  }
  std::stable_sort(report.classes.begin(), report.classes.end(),
                   [](const ClassReport& a, const ClassReport& b) { return a.total > b.total; });
  std::stable_sort(
      report.stragglers.begin(), report.stragglers.end(),
      [](const Straggler& a, const Straggler& b) { return a.ran - a.median > b.ran - b.median; });
  if (report.stragglers.size() > stragglers_max) {
    report.stragglers_beyond = report.stragglers.size() - stragglers_max;
    report.stragglers.resize(stragglers_max);
  }
}

void add_path(JobReport& report, const std::vector<JobGraph::Edge>& edges,
              const std::map<TaskId, Newest>& runs, const TaskNames& names) {
  std::map<TaskId, Duration> ran;
  for (const auto& [task, run] : runs) ran[task] = run.ran;
  const CriticalPath longest = critical_path(edges, ran);
  PathReport path;
  path.length = longest.length;
  std::map<std::string, PathReport::Class> classes;
  std::int64_t began = std::numeric_limits<std::int64_t>::max(), ended = 0;
  for (const TaskId task : longest.tasks) {
    const auto run = runs.find(task);
    if (run == runs.end()) continue;
    ++path.tasks;
    PathReport::Class& one = classes[names.name_of(task)];
    ++one.tasks;
    one.total += run->second.ran;
    began = std::min(began, run->second.begin_unix_ns());
    ended = std::max(ended, run->second.end_unix_ns);
  }
  if (path.tasks > 0) path.span = Duration(ended - began);
  for (auto& [name, one] : classes) {
    one.name = name;
    path.classes.push_back(std::move(one));
  }
  std::stable_sort(path.classes.begin(), path.classes.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  report.path = std::move(path);
}

void add_delays(JobReport& report, const std::vector<JobGraph::Edge>& edges,
                const std::map<TaskId, Newest>& runs) {
  std::map<TaskId, std::int64_t> could_begin;
  for (const JobGraph::Edge& edge : edges) {
    const auto from = runs.find(edge.from);
    if (from == runs.end()) continue;
    std::int64_t& at = could_begin[edge.to];
    at = std::max(at, from->second.end_unix_ns);
  }
  std::vector<Duration> delays;
  for (const auto& [task, at] : could_begin) {
    const auto run = runs.find(task);
    if (run == runs.end()) continue;
    // Clocks of two nodes differ; and a task that ran again began before what it waits for did so, too.
    delays.push_back(Duration(std::max<std::int64_t>(0, run->second.begin_unix_ns() - at)));
    report.delay_total += delays.back();
  }
  if (delays.empty()) return;
  std::sort(delays.begin(), delays.end());
  report.delays = delays.size();
  report.delay_median = quantile(delays, 0.5);
  report.delay_p99 = quantile(delays, 0.99);
}

}  // namespace

JobReport make_report(const std::vector<std::string>& paths, JobId job, std::vector<std::string>& notices) {
  JobReport report;
  TaskNames names;
  JobGraph graph;
  std::vector<Run> runs;
  std::map<TaskId, Newest> newest;
  std::map<TaskId, bool> came_back;  ///< and well
  std::map<std::pair<ProcessId, std::uint32_t>, LaneReport> lanes;
  std::int64_t began = std::numeric_limits<std::int64_t>::max(), ended = 0;
  JournalView view(paths);
  while (const auto entry = view.next()) {
    const Record& record = entry->record;
    if (record.job != job) continue;
    names.add(record);
    graph.add(record);
    if (const auto* ran = std::get_if<recorded::Ran>(&record.what)) {
      const bool failed = ran->outcome == Outcome::failed;
      newest[record.task] = {entry->unix_ns, ran->ran};
      runs.push_back({record.task, record.place, ran->ran, failed});
      bool& well = came_back[record.task];
      if (failed || well) report.again += ran->ran;
      well = well || !failed;
      LaneReport& lane = lanes[{record.place.process, record.place.lane.value_or(0)}];
      lane.lane = record.place;
      ++lane.runs;
      lane.busy += ran->ran;
      report.busy += ran->ran;
      began = std::min(began, entry->unix_ns - ran->ran.count());
      ended = std::max(ended, entry->unix_ns);
    } else if (std::holds_alternative<recorded::Crashed>(record.what)) {
      ++report.crashes;
    } else if (std::holds_alternative<recorded::Lost>(record.what)) {
      ++report.losses;
    } else if (std::holds_alternative<recorded::Retried>(record.what)) {
      ++report.retries;
    }
  }
  report.runs = runs.size();
  report.settled = names.settled();
  if (!runs.empty()) report.span = Duration(ended - began);
  for (auto& [place, lane] : lanes) report.lanes.push_back(std::move(lane));
  add_classes(report, runs, names);
  if (!graph.empty()) {
    const std::vector<JobGraph::Edge> edges = graph.edges();
    add_path(report, edges, newest, names);
    add_delays(report, edges, newest);
  }
  notices = view.notices();
  return report;
}

}  // namespace dag::detail
