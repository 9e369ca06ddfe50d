#include "libdag/story/report.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "libdag/story/job_times.hpp"
#include "libdag/story/journal_view.hpp"
#include "libdag/story/task_names.hpp"

namespace dag::detail {
namespace {

using Run = JobTimes::Run;
using Placed = JobTimes::Placed;

/// By nearest rank, of ascending ones; not empty.
Duration quantile(const std::vector<Duration>& sorted, double part) {
  const auto rank = static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1) + 0.5);
  return sorted[std::min(rank, sorted.size() - 1)];
}

void add_classes(JobReport& report, const std::vector<Run>& runs, const TaskNames& names) {
  // Few names, and a million runs: most are told apart without their text.
  std::vector<std::vector<const Run*>> by_index(names.names().size());
  std::map<std::string, std::vector<const Run*>> by_name;
  for (const Run& run : runs) {
    const auto index = names.index_of(run.task);
    (index ? by_index[*index] : by_name[names.name_of(run.task)]).push_back(&run);
  }
  for (std::size_t i = 0; i < by_index.size(); ++i) {
    if (!by_index[i].empty()) by_name[names.names()[i]] = std::move(by_index[i]);
  }
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
    if (of_name.size() < 3) continue;  // Too few runs for a usual duration.
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

void add_path(JobReport& report, const Placed& job, const TaskNames& names) {
  const CriticalPath longest = critical_path(job.graph, job.ran);
  PathReport path;
  path.length = longest.length;
  std::map<std::string, PathReport::Class> classes;
  std::int64_t began = std::numeric_limits<std::int64_t>::max(), ended = 0;
  for (const TaskId task : longest.tasks) {
    const std::size_t place = job.graph.place_of(task);
    const TaskTimes& times = job.times[place];
    if (!times.ran) continue;
    ++path.tasks;
    PathReport::Class& one = classes[names.name_of(task)];
    ++one.tasks;
    one.total += job.ran[place];
    began = std::min(began, times.begin);
    ended = std::max(ended, times.end);
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

/// Measures tasks that waited for tasks which ran.
void add_delays(JobReport& report, const Placed& job) {
  const std::vector<std::int64_t> could_begin = ends_before(job.graph, job.times);
  std::vector<Duration> delays;
  for (std::size_t place = 0; place < job.graph.size(); ++place) {
    if (could_begin[place] == 0 || !job.times[place].ran) continue;
    // Clocks of two nodes differ, and a task that ran again may have begun before its predecessor's last end.
    delays.push_back(Duration(std::max<std::int64_t>(0, job.times[place].begin - could_begin[place])));
    report.delay_total += delays.back();
  }
  if (delays.empty()) return;
  std::sort(delays.begin(), delays.end());
  report.delays = delays.size();
  report.delay_median = quantile(delays, 0.5);
  report.delay_p99 = quantile(delays, 0.99);
}

}  // namespace

JobReport make_report(const JournalPaths& journals, JobId job, std::vector<std::string>& notices) {
  JobReport report;
  TaskNames names;
  JobTimes times;
  std::unordered_map<TaskId, bool> came_back;  ///< and well
  std::map<JobTimes::Lane, LaneReport> lanes;
  std::int64_t began = std::numeric_limits<std::int64_t>::max(), ended = 0;
  JournalView view(journals);
  while (const auto entry = view.next()) {
    const JournalEvent& record = entry->record;
    if (record.job != job) continue;
    names.add(record);
    times.add(*entry);
    if (const auto* ran = std::get_if<event::Ran>(&record.what)) {
      const bool failed = ran->outcome == Outcome::failed;
      bool& well = came_back[record.task];
      if (failed || well) report.again += ran->ran;
      well = well || !failed;
      LaneReport& lane = lanes[JobTimes::lane_of(record.place)];
      lane.lane = record.place;
      ++lane.runs;
      lane.busy += ran->ran;
      report.busy += ran->ran;
      began = std::min(began, entry->unix_ns - ran->ran.count());
      ended = std::max(ended, entry->unix_ns);
    } else if (std::holds_alternative<event::JobOver>(record.what)) {
      report.over = true;
    } else if (std::holds_alternative<event::Crashed>(record.what)) {
      ++report.crashes;
    } else if (std::holds_alternative<event::Lost>(record.what)) {
      ++report.losses;
    } else if (std::holds_alternative<event::Retried>(record.what)) {
      ++report.retries;
    }
  }
  report.runs = times.runs().size();
  report.settled = names.settled();
  report.unrun = names.unrun([&](TaskId task) { return times.has_run(task); });
  if (report.runs > 0) report.span = Duration(ended - began);
  for (auto& [place, lane] : lanes) report.lanes.push_back(std::move(lane));
  const auto doing = [&](std::string_view what, double part) {
    if (journals.on_progress) journals.on_progress(what, part);
  };
  doing("adding up the runs", 0);
  add_classes(report, times.runs(), names);
  if (!times.graph().empty()) {
    doing("finding the critical path", 0);
    const Placed placed = times.placed();
    add_path(report, placed, names);
    add_delays(report, placed);
    doing("estimating the best schedule", 0);
    report.scheduled = list_schedule(placed.graph, placed.ran, report.lanes.size());
    doing("estimating the best schedule", 0.5);
    report.with_one_more = list_schedule(placed.graph, placed.ran, report.lanes.size() + 1);
    doing("finding the causes of waiting", 0);
    report.waiting = waiting(placed.graph, placed.times, placed.lanes);
  }
  notices = view.notices();
  return report;
}

}  // namespace dag::detail
