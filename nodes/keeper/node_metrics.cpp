#include "nodes/keeper/node_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "nodes/http/metrics_text.hpp"

namespace dag {
namespace {

using web::MetricsText;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }
double number(std::uint64_t count) { return static_cast<double>(count); }

void add_nodes(MetricsText& to, const std::vector<NodeInfo>& nodes) {
  std::map<MemberState, std::uint64_t> states{{MemberState::alive, 0}, {MemberState::suspect, 0}};
  for (const NodeInfo& node : nodes) ++states[node.state];
  to.gauge("dag_nodes", "Nodes of the cluster that are up, as this node sees them.");
  for (const auto& [state, count] : states) to.add(number(count), {{"state", std::string(name(state))}});
  to.gauge("dag_node_ready", "1 if this node is ready, see /readyz.");
  if (!nodes.empty()) to.add(nodes.front().not_ready.empty() ? 1 : 0);
  const auto add = [&](const NodeInfo& node, Duration time) {
    to.add(seconds(time), {{"node", to_string(node.life.process)}});
  };
  to.gauge("dag_heartbeat_age_seconds", "Time since this node heard another node last.");
  for (const NodeInfo& node : nodes) {
    if (node.heard) add(node, node.heard->ago);
  }
  to.gauge("dag_heartbeat_round_trip_seconds", "Round trip of heartbeats to another node, smoothed.");
  for (const NodeInfo& node : nodes) {
    if (node.heard && node.heard->round_trip > Duration{0}) add(node, node.heard->round_trip);
  }
}

void add_counts(MetricsText& to, const std::string& of, const JobCounts& counts) {
  const auto add = [&](const char* state, std::uint64_t count) {
    to.add(number(count), {{"state", state}, {"class", of}});
  };
  add("open", counts.open);
  add("finished", counts.finished);
  add("failed", counts.failed);
  add("skipped", counts.skipped);
  add("cancelled", counts.cancelled);
}

JobCounts operator+(const JobCounts& a, const JobCounts& b) {
  return {a.open + b.open,       a.finished + b.finished,   a.failed + b.failed,
          a.skipped + b.skipped, a.cancelled + b.cancelled, a.tolerated + b.tolerated};
}

/// Names beyond this number are counted together.
constexpr std::size_t classes_max = 200;

void add_jobs(MetricsText& to, const NodeMeasures& measures, const std::vector<JobInfo>& jobs) {
  std::map<JobPhase, std::uint64_t> phases;
  for (const JobPhase phase : {JobPhase::starting, JobPhase::running, JobPhase::finished, JobPhase::failed,
                               JobPhase::cancelled, JobPhase::no_quorum, JobPhase::recovering}) {
    phases[phase] = 0;
  }
  for (const JobInfo& job : jobs) ++phases[job.phase];
  to.gauge("dag_jobs", "Jobs that this node leads, by phase, with recently ended ones.");
  for (const auto& [phase, count] : phases) to.add(number(count), {{"phase", std::string(name(phase))}});

  std::map<std::string, JobCounts> classes;
  JobCounts others;
  for (const JobInfo& job : jobs) {
    const auto tasks = measures.tasks.find(job.job);
    if (tasks == measures.tasks.end() || job.phase > JobPhase::running) continue;
    others = others + tasks->second.others;
    for (const ClassInfo& one : tasks->second.classes) {
      JobCounts& counts =
          classes.size() < classes_max || classes.contains(one.name) ? classes[one.name] : others;
      counts = counts + one.counts;
    }
  }
  to.gauge("dag_tasks", "Tasks of the running jobs that this node leads, by name and state.");
  for (const auto& [name, counts] : classes) add_counts(to, name, counts);
  if (others != JobCounts{}) add_counts(to, "(others)", others);

  to.counter("dag_tasks_finished_total", "Tasks settled in jobs that this node led, by outcome.");
  for (std::size_t outcome = 1; outcome < measures.settled.size(); ++outcome) {
    to.add(number(measures.settled[outcome]),
           {{"outcome", std::string(name(static_cast<Outcome>(outcome)))}});
  }
}

void add_answers(MetricsText& to, const NodeMeasures& measures) {
  std::uint64_t bytes = 0;
  Duration left{0};
  for (const auto& [id, job] : measures.jobs) {
    bytes += job.output_bytes;
    if (job.critical_path) left = std::max(left, job.critical_path->left);
  }
  to.gauge("dag_output_bytes",
           "Bytes of outputs held by processes of the running jobs that this node leads. Each copy counts.");
  to.add(number(bytes), {{"tier", "memory"}});
  to.gauge("dag_critical_path_seconds",
           "Estimated critical path left, by usual task durations: the longest of the running jobs that this "
           "node leads. Jobs of more than 2,000,000 tasks are not counted.");
  to.add(seconds(left));
}

/// Free resources that lie on different nodes, so that no single task can have them all.
void add_fragmentation(MetricsText& to, const std::vector<NodeInfo>& nodes) {
  struct Free {
    std::uint64_t all = 0, most = 0;
  };
  std::map<std::string, Free> kinds;
  for (const NodeInfo& node : nodes) {
    if (!is_up(node.state)) continue;
    for (const DeviceLoad& device : node.load.devices) {
      Free& free = kinds[device.kind];
      free.all += device.lanes_free;
      free.most = std::max<std::uint64_t>(free.most, device.lanes_free);
    }
  }
  to.gauge(
      "dag_fragmentation_ratio",
      "Fragmentation of free lanes: the share of the cluster's free lanes that are not on the node with the "
      "most free lanes, by the last reports of nodes.");
  for (const auto& [kind, free] : kinds) {
    const double rest = number(free.all - free.most);
    to.add(free.all == 0 ? 0 : rest / number(free.all), {{"device_kind", kind}});
  }
}

void add_runs(MetricsText& to, const NodeMeasures& measures) {
  const RunTotals& run = measures.run;
  std::array<double, RunTotals::bounds.size()> bounds{};
  for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = seconds(RunTotals::bounds[i]);
  Duration busy{0};
  for (const Duration one : run.busy) busy += one;
  to.histogram("dag_task_duration_seconds", "Run time of attempts in processes of this node.", bounds,
               run.by_duration, seconds(busy));
  to.counter("dag_attempts_failed_total", "Failed attempts in processes of this node.");
  to.add(number(run.failed));
  to.counter("dag_device_busy_seconds_total",
             "Kernel time of ended attempts, by the number of the lane in its process.");
  for (std::size_t lane = 0; lane < run.busy.size(); ++lane)
    to.add(seconds(run.busy[lane]), {{"device", "cpu" + std::to_string(lane)}, {"kind", "cpu"}});
  to.gauge("dag_device_lanes", "Lanes of each job process on this node.");
  to.add(measures.lanes_each, {{"kind", "cpu"}});
  to.gauge("dag_device_lanes_running", "Busy lanes of all processes on this node.");
  to.add(measures.workers.lanes_running, {{"kind", "cpu"}});
  to.gauge("dag_queue_depth", "Tasks queued for a lane of this node, by the last reports of its processes.");
  to.add(number(measures.workers.queued), {{"device_kind", "cpu"}});
  to.counter("dag_steals_total",
             "Stolen tasks: by a lane from a lane of its process, and from processes of this node by idle "
             "processes of its host and of other hosts.");
  for (const auto& [distance, tasks] : {std::pair("process", run.stolen), std::pair("host", run.stolen_host),
                                        std::pair("cluster", run.stolen_cluster)})
    to.add(number(tasks), {{"distance", distance}, {"result", "taken"}});
  to.counter("dag_transfer_bytes_total",
             "Bytes of inputs fetched from other processes for attempts of this node that waited for them. "
             "Not counted without a journal.");
  to.add(number(run.transfer_bytes));
  to.summary(
      "dag_task_wait_seconds",
      "Waiting time of attempts on this node after their predecessors had ended, by cause. queue, for a "
      "lane: all attempts that ran are counted. Other causes: only attempts that waited, and only with a "
      "journal.");
  for (const auto& [cause, waits] :
       {std::pair("queue", run.queue), std::pair("transfer", run.transfer), std::pair("retry", run.retry)})
    to.add_summary(waits.count, seconds(waits.total), {{"cause", cause}});
  to.summary("dag_placement_seconds",
             "Time to place an attempt if there are several processes, in processes of this node.");
  to.add_summary(run.placement.count, seconds(run.placement.total), {});
  to.gauge(
      "dag_pipeline_bubble_ratio",
      "Idle lanes (ratio): idle time of the lanes of job processes on this node / their lifetime. 0 without "
      "processes.");
  const double lane_time = seconds(measures.workers.lane_time);
  to.add(lane_time <= 0 ? 0 : std::clamp(1 - seconds(measures.workers.busy) / lane_time, 0.0, 1.0));
  to.gauge("dag_worker_processes", "Processes of jobs on this node.");
  to.add(measures.workers.processes);
}

void add_process(MetricsText& to, const NodeMeasures& measures) {
  if (measures.log) {
    to.gauge("dag_log_lag_seconds",
             "Time since the disk made progress while records wait for it; 0 if none wait.");
    to.add(seconds(measures.log->lag));
    to.gauge("dag_log_waiting_bytes", "Bytes of records that wait for the disk.");
    to.add(number(measures.log->waiting_bytes));
  }
  // Prometheus has the same four names everywhere.
  to.counter("process_cpu_seconds_total", "CPU time of the node itself, without processes of jobs.");
  to.add(seconds(measures.process.cpu));
  to.gauge("process_resident_memory_bytes", "Memory of the node itself, without processes of jobs.");
  to.add(number(measures.process.resident_bytes));
  to.gauge("process_open_fds", "Open files and sockets of the node itself.");
  to.add(number(measures.process.open_files));
  to.gauge("process_start_time_seconds", "Start time of the node, seconds since 1970.");
  to.add(measures.process.started_unix_s);
}

double as_seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// The kernel says it in ticks since the machine was started.
double started_unix_s() {
  std::ifstream stat("/proc/self/stat");
  std::string line, skipped;
  std::getline(stat, line);
  std::istringstream behind_name(line.substr(line.rfind(')') + 1));
  for (int field = 3; field < 22; ++field) behind_name >> skipped;
  double ticks = 0;
  behind_name >> ticks;
  return as_seconds(CLOCK_REALTIME) - as_seconds(CLOCK_BOOTTIME) +
         ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

ProcessUse use_of_this_process() {
  ProcessUse use;
  rusage spent{};
  getrusage(RUSAGE_SELF, &spent);
  const auto duration = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  use.cpu = duration(spent.ru_utime) + duration(spent.ru_stime);
  std::uint64_t mapped = 0, resident = 0;
  if (std::ifstream pages("/proc/self/statm"); pages >> mapped >> resident)
    use.resident_bytes = resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::error_code none;
  for (std::filesystem::directory_iterator file("/proc/self/fd", none), end; !none && file != end;
       file.increment(none)) {
    ++use.open_files;
  }
  static const double started = started_unix_s();  // The difference of two clocks, which go apart.
  use.started_unix_s = started;
  return use;
}

std::string metrics_of(const NodeMeasures& measures, const std::vector<NodeInfo>& nodes,
                       const std::vector<JobInfo>& jobs) {
  MetricsText text;
  text.gauge("dag_build_info", "Always 1; the label is the version of the node.");
  text.add(1, {{"version", DAG_VERSION}});
  add_nodes(text, nodes);
  add_jobs(text, measures, jobs);
  add_answers(text, measures);
  add_fragmentation(text, nodes);
  add_runs(text, measures);
  add_process(text, measures);
  return text.text();
}

}  // namespace dag
