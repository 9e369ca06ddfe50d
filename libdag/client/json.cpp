#include "libdag/client/json.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

namespace dag::detail {

using nlohmann::json;

namespace {

double seconds(Duration span) { return std::chrono::duration<double>(span).count(); }

/// null: nothing is known of it.
void add_heard(json& to, const std::optional<HeardOf>& heard) {
  to["heard_seconds_ago"] = heard ? json(seconds(heard->ago)) : json();
  const bool measured = heard && heard->round_trip > Duration{0};
  to["round_trip_seconds"] = measured ? json(seconds(heard->round_trip)) : json();
}

json progress_json(const std::vector<TaskProgress>& progress) {
  auto all = json::array();
  for (const TaskProgress& one : progress)
    all.push_back({{"task", to_string(one.task)},
                   {"name", one.name},
                   {"attempt", one.number},
                   {"device", one.device},
                   {"fraction", one.fraction},
                   {"note", one.note}});
  return all;
}

json details_json(const JobDetails& details) {
  auto tasks = json::array(), classes = json::array();
  for (const TaskInfo& task : details.tasks)
    tasks.push_back({{"task", to_string(task.task)},
                     {"name", task.name},
                     {"outcome", name(task.outcome)},
                     {"tries", task.tries},
                     {"error", task.error ? to_json(*task.error) : json()},
                     {"late_seconds", seconds(task.late)}});
  for (const ClassInfo& one : details.classes)
    classes.push_back({{"name", one.name}, {"counts", to_json(one.counts)}});
  return {{"tasks", std::move(tasks)},
          {"tasks_beyond", details.tasks_beyond},
          {"late", details.late},
          {"classes", std::move(classes)},
          {"others", to_json(details.others)},
          {"progress", progress_json(details.progress)}};
}

void add(JobCounts& counts, Outcome outcome) {
  switch (outcome) {
    case Outcome::none:
      ++counts.open;
      break;
    case Outcome::finished:
      ++counts.finished;
      break;
    case Outcome::failed:
      ++counts.failed;
      break;
    case Outcome::skipped:
      ++counts.skipped;
      break;
    case Outcome::cancelled:
      ++counts.cancelled;
      break;
  }
}

json candidates_json(const std::vector<event::Candidate>& candidates) {
  auto all = json::array();
  for (const event::Candidate& candidate : candidates)
    all.push_back({{"process", to_string(candidate.process)},
                   {"wait_seconds", seconds(candidate.wait)},
                   {"transfer_seconds", seconds(candidate.transfer)},
                   {"run_seconds", seconds(candidate.run)},
                   {"misfit", candidate.misfit}});
  return all;
}

json needs_json(const TaskNeeds& needs) {
  return {{"cpus", needs.cpus}, {"gpus", needs.gpus}, {"memory_bytes", needs.memory_bytes}};
}

json reason_json(const TaskReason& reason) {
  const TaskExplained& task = reason.task;
  auto waits_for = json::array();
  for (const TaskId before : task.waits_for) waits_for.push_back(to_string(before));
  json fields{{"task", to_string(task.task)},
              {"name", task.name},
              {"state", name(task.state)},
              {"why", task.why},
              {"home", to_string(reason.home.process)},
              {"failures", task.failures},
              {"waits_for", std::move(waits_for)},
              {"waits_for_all", task.waits_for_all},
              {"candidates", places_left_out(reason) ? json() : candidates_json(task.candidates)},
              {"error", task.error ? to_json(*task.error) : json()}};
  if (task.state == RowState::ended) fields["outcome"] = name(task.outcome);
  if (const auto first = would_begin(reason)) {
    fields["would_begin_seconds"] = seconds(first->in);
    fields["would_begin_at"] = to_string(first->process);
  }
  if (const auto left = left_of(reason)) fields["left_seconds"] = seconds(*left);
  if (task.usual) {
    fields["usual_seconds"] = seconds(task.usual->mean);
    fields["usual_runs"] = task.usual->runs;
  }
  if (task.state != RowState::waiting && task.state != RowState::ended) fields["attempt"] = task.failures + 1;
  if (reason.place > 0) fields["place_in_queue"] = reason.place;
  if (reason.starts)
    fields["starts"] = {{"in_seconds", seconds(reason.starts->about)},
                        {"least_seconds", seconds(reason.starts->least)},
                        {"most_seconds", seconds(reason.starts->most)},
                        {"runs", reason.starts->runs}};
  for (const auto& [life, given_up] : reason.given_up)
    fields["given_up"].push_back({{"at", to_string(life.process)},
                                  {"lane", given_up.lane},
                                  {"attempt", given_up.number},
                                  {"ran_seconds", seconds(given_up.ran)}});
  if (task.state != RowState::ended) {
    fields["needs"] = needs_json(task.needs);
    fields["priority"] = name(task.priority);
  }
  if (reason.at) fields["at"] = to_string(reason.at->process);
  if (!reason.taken.empty()) fields["taken"] = reason.taken;
  if (reason.running) {
    fields["lane"] = reason.running->lane;
    fields["ran_seconds"] = seconds(reason.running->ran);
  }
  return fields;
}

}  // namespace

json to_json(const Error& error) {
  return {{"code", name(error.code)},
          {"number", static_cast<unsigned>(error.code)},
          {"what", error.what},
          {"hint", error.hint},
          {"cause", error.cause}};
}

json to_json(const NodeInfo& node) {
  auto devices = json::array();
  for (const DeviceLoad& device : node.load.devices)
    devices.push_back({{"kind", device.kind},
                       {"lanes", device.lanes},
                       {"lanes_free", device.lanes_free},
                       {"memory_bytes", device.memory_bytes},
                       {"memory_free_bytes", device.memory_free_bytes},
                       {"backlog_seconds", seconds(device.backlog)},
                       {"busy_seconds", seconds(device.busy)}});
  json fields{{"node", to_string(node.life.process)},
              {"life", to_string(node.life)},
              {"state", name(node.state)},
              {"draining", node.load.draining},
              {"witness", node.load.witness},
              {"disk_full", node.load.disk_full},
              {"disk_stuck", node.load.disk_stuck},
              {"sick", node.load.sick},
              {"address", node.endpoint.control},
              {"bulk_address", node.endpoint.bulk},
              {"http", nullptr},
              {"devices", std::move(devices)},
              {"tasks_ready", node.load.tasks_ready},
              {"pid", nullptr},
              {"jobs", nullptr},
              {"not_ready", nullptr}};
  add_heard(fields, node.heard);
  if (!node.endpoint.web.empty()) fields["http"] = "http://" + node.endpoint.web + "/";
  // Only the node that answers knows these of itself, and no process has pid 0.
  if (node.pid != 0) {
    fields["pid"] = node.pid;
    fields["jobs"] = node.jobs;
    fields["not_ready"] = node.not_ready;
  }
  return fields;
}

json to_json(const NodeLink& link) {
  json fields{{"from", to_string(link.from)},
              {"to", to_string(link.to)},
              {"suspect", link.suspect},
              {"in_trouble", link.in_trouble()}};
  add_heard(fields, link.heard);
  return fields;
}

json to_json(const JobCounts& counts) {
  return {{"open", counts.open},       {"finished", counts.finished},   {"failed", counts.failed},
          {"skipped", counts.skipped}, {"cancelled", counts.cancelled}, {"tolerated", counts.tolerated}};
}

json to_json(const JobInfo& job) {
  auto workers = json::array(), copies = json::array();
  for (const WorkerInfo& worker : job.workers)
    workers.push_back({{"process", process_text(worker)},
                       {"life", to_string(worker.life)},
                       {"node", to_string(worker.node)},
                       {"pid", worker.pid},
                       {"up", worker.up},
                       {"end", worker.end}});
  for (const ProcessId node : job.copies) copies.push_back(to_string(node));
  return {{"job", to_string(job.job)},
          {"name", job.name},
          {"phase", name(job.phase)},
          {"counts", to_json(job.counts)},
          {"total_tasks", job.total > 0 ? json(job.total) : json()},
          {"retries", job.retries == JobId{} ? json() : json(to_string(job.retries))},
          {"age_seconds", seconds(job.age)},
          {"workers", std::move(workers)},
          {"copies", std::move(copies)},
          {"error", job.error ? to_json(*job.error) : json()},
          {"details", job.details ? details_json(*job.details) : json()}};
}

json row_json(const JobInfo& job, ProcessId leader) {
  return {{"job", to_string(job.job)},       {"name", job.name},
          {"phase", name(job.phase)},        {"counts", to_json(job.counts)},
          {"age_seconds", seconds(job.age)}, {"processes", processes_up(job)},
          {"leader", to_string(leader)}};
}

json to_json(const Explanation& found) {
  json counts;
  for (std::size_t state = 0; state < row_states; ++state)
    counts[std::string(name(static_cast<RowState>(state)))] = found.counts[state];
  auto tasks = json::array(), roots = tasks, processes = tasks, silent = tasks;
  for (const TaskReason& reason : found.tasks) tasks.push_back(reason_json(reason));
  for (const TaskReason& reason : found.roots) roots.push_back(reason_json(reason));
  for (const ProcessExplained& process : found.processes) {
    const std::size_t given_up = given_up_in(process);
    processes.push_back({{"process", to_string(process.life.process)},
                         {"lanes", process.lanes},
                         {"running", process.running.size() - given_up},
                         {"given_up", given_up},
                         {"queued", process.queued}});
  }
  for (const Life life : found.silent) silent.push_back(to_string(life.process));
  const auto earliest = not_before(found);
  return {{"counts", std::move(counts)},
          {"tasks", std::move(tasks)},
          {"waits_in_the_end_for", std::move(roots)},
          {"waits_beyond", found.roots_beyond},
          {"not_before_seconds", earliest ? json(seconds(*earliest)) : json()},
          {"processes", std::move(processes)},
          {"silent", std::move(silent)}};
}

json to_json(const PastTask& task, JobId job) {
  auto steps = json::array();
  for (const PastStep& step : task.steps) {
    json& fields = steps.emplace_back(json{{"time", utc_text(step.unix_ns)}, {"unix_ns", step.unix_ns}});
    if (!step.attempt) {
      fields["note"] = step.note;
      continue;
    }
    const PastAttempt& attempt = *step.attempt;
    fields["attempt"] = attempt.number;
    fields["attempt_id"] = to_string(attempt.id);
    fields["at"] = to_string(attempt.at);
    fields["why_there"] = attempt.why_there;
    fields["candidates"] = candidates_json(attempt.candidates);
    fields["end"] = attempt.end;
    if (attempt.lane) fields["lane"] = *attempt.lane;
    if (attempt.began_unix_ns) fields["began_unix_ns"] = *attempt.began_unix_ns;
    if (attempt.ran) fields["ran_seconds"] = seconds(*attempt.ran);
  }
  json fields{{"job", to_string(job)},
              {"task", to_string(task.task)},
              {"name", task.name},
              {"outcome", task.settled ? json(name(task.settled->outcome)) : json()},
              {"error", task.settled && task.settled->error ? to_json(*task.settled->error) : json()},
              {"steps", std::move(steps)}};
  if (task.ready_unix_ns) fields["ready_unix_ns"] = *task.ready_unix_ns;
  if (task.settled_unix_ns) fields["settled_unix_ns"] = *task.settled_unix_ns;
  return fields;
}

json to_json(const JournalLine& line) {
  json fields{{"time", utc_text(line.unix_ns)},
              {"unix_ns", line.unix_ns},
              {"node", to_string(line.node.process)},
              {"place", line.place},
              {"kind", line.kind},
              {"text", line.what}};
  if (line.job != JobId{}) fields["job"] = to_string(line.job);
  if (line.task) fields["task"] = to_string(*line.task);
  if (!line.name.empty()) fields["name"] = line.name;
  return fields;
}

json to_json(const LogLine& line, JobId job) {
  json fields{{"job", to_string(job)}, {"place", line.place}, {line.gap ? "gap" : "text", line.text}};
  if (line.unix_ns > 0) {
    fields["time"] = utc_text(line.unix_ns);
    fields["unix_ns"] = line.unix_ns;
  }
  if (line.task) {
    fields["task"] = to_string(*line.task);
    fields["name"] = line.name;
    fields["attempt"] = line.number;
  }
  return fields;
}

json to_json(const JobHeld& job) {
  auto processes = json::array(), silent = processes;
  for (const ProcessHeld& process : job.processes) {
    auto held = json::array();
    for (const HeldOutputs& one : process.held)
      held.push_back({{"name", one.name}, {"outputs", one.outputs}, {"bytes", one.bytes}});
    processes.push_back({{"process", to_string(process.life.process)}, {"held", std::move(held)}});
  }
  for (const Life life : job.silent) silent.push_back(to_string(life.process));
  return {{"job", to_string(job.job)},
          {"name", job.name},
          {"outputs", job.outputs},
          {"bytes", job.bytes},
          {"processes", std::move(processes)},
          {"silent", std::move(silent)}};
}

json to_json(const PastJob& job) {
  json fields{{"job", to_string(job.job)}, {"name", job.name}, {"end", end_text(job)}};
  if (job.began_unix_ns) {
    fields["began"] = utc_text(*job.began_unix_ns);
    fields["began_unix_ns"] = *job.began_unix_ns;
    fields["tasks_submitted"] = job.tasks;
  }
  if (const auto span = took(job)) fields["seconds"] = seconds(*span);
  if (job.over) {
    fields["over"] = utc_text(*job.over_unix_ns);
    fields["over_unix_ns"] = *job.over_unix_ns;
    fields["counts"] = {{"finished", job.over->finished},
                        {"failed", job.over->failed},
                        {"skipped", job.over->skipped},
                        {"cancelled", job.over->cancelled}};
    if (job.over->stopped) fields["error"] = to_json(*job.over->stopped);
  }
  return fields;
}

json to_json(const JobReport& report, JobId job) {
  auto classes = json::array(), stragglers = classes, lanes = classes;
  for (const ClassReport& one : report.classes)
    classes.push_back({{"name", one.name},
                       {"runs", one.runs},
                       {"failed", one.failed},
                       {"tasks", one.tasks},
                       {"total_seconds", seconds(one.total)},
                       {"median_seconds", seconds(one.median)},
                       {"p99_seconds", seconds(one.p99)},
                       {"longest_seconds", seconds(one.longest)}});
  for (const Straggler& one : report.stragglers)
    stragglers.push_back({{"task", to_string(one.task)},
                          {"name", one.name},
                          {"lane", to_string(one.place)},
                          {"ran_seconds", seconds(one.ran)},
                          {"median_seconds", seconds(one.median)}});
  for (const LaneReport& lane : report.lanes)
    lanes.push_back(
        {{"lane", to_string(lane.lane)}, {"runs", lane.runs}, {"busy_seconds", seconds(lane.busy)}});
  json path;
  if (report.path) {
    auto of_path = json::array();
    for (const PathReport::Class& one : report.path->classes)
      of_path.push_back({{"name", one.name}, {"tasks", one.tasks}, {"total_seconds", seconds(one.total)}});
    path = {{"seconds", seconds(report.path->length)},
            {"span_seconds", seconds(report.path->span)},
            {"tasks", report.path->tasks},
            {"classes", std::move(of_path)}};
  }
  json waits;
  if (report.waiting) {
    const Waiting& waiting = *report.waiting;
    waits = {{"dependencies_seconds", seconds(waiting.dependencies)},
             {"transfer_seconds", seconds(waiting.transfer)},
             {"resources_seconds", seconds(waiting.resources)},
             {"queue_seconds", seconds(waiting.queue)},
             {"retry_seconds", seconds(waiting.retry)},
             {"other_seconds", seconds(waiting.other)},
             {"idle_seconds", seconds(waiting.idle)},
             {"idle_while_ready_seconds", seconds(waiting.idle_while_ready)},
             {"idle_scattered_seconds", seconds(waiting.idle_scattered)}};
  }
  json schedule;
  if (report.scheduled && report.with_one_more)
    schedule = {{"seconds", seconds(*report.scheduled)},
                {"with_one_more_lane_seconds", seconds(*report.with_one_more)}};
  return {{"job", to_string(job)},
          {"over", report.over},
          {"critical_path", std::move(path)},
          {"waiting", std::move(waits)},
          {"schedule", std::move(schedule)},
          {"delays",
           {{"tasks", report.delays},
            {"median_seconds", seconds(report.delay_median)},
            {"p99_seconds", seconds(report.delay_p99)},
            {"total_seconds", seconds(report.delay_total)}}},
          {"tasks", report.tasks},
          {"runs", report.runs},
          {"settled", report.settled},
          {"settled_unrun", report.unrun.others},
          {"runs_missing", report.unrun.finished},
          {"span_seconds", seconds(report.span)},
          {"busy_seconds", seconds(report.busy)},
          {"again_seconds", seconds(report.again)},
          {"crashes", report.crashes},
          {"losses", report.losses},
          {"retries", report.retries},
          {"classes", std::move(classes)},
          {"stragglers", std::move(stragglers)},
          {"stragglers_beyond", report.stragglers_beyond},
          {"lanes", std::move(lanes)}};
}

json to_json(const Timeline& timeline, JobId job) {
  auto lanes = json::array(), marks = json::array();
  for (const TimelineLane& lane : timeline.lanes)
    lanes.push_back({{"lane", to_string(lane.place)},
                     {"runs", lane.runs},
                     {"busy_seconds", seconds(lane.busy)},
                     {"busy", lane.column_busy},
                     {"name", lane.column_name}});
  for (const TimelineMark& mark : timeline.marks)
    marks.push_back({{"at", seconds(mark.at)}, {"place", mark.place}, {"text", mark.text}});
  json slices;
  if (timeline.slices) {
    slices = json::array();
    for (const TimelineSlice& slice : *timeline.slices)
      slices.push_back({{"lane", slice.lane},
                        {"name", slice.name},
                        {"task", to_string(slice.task)},
                        {"begin", seconds(slice.begin)},
                        {"seconds", seconds(slice.ran)},
                        {"outcome", name(slice.outcome)}});
  }
  return {{"job", to_string(job)},
          {"began_unix_ns", timeline.began_unix_ns},
          {"span_seconds", seconds(timeline.span)},
          {"from", seconds(timeline.window.from)},
          {"to", seconds(timeline.window.to)},
          {"columns", timeline.window.columns},
          {"runs", timeline.runs},
          {"names", timeline.names},
          {"lanes", std::move(lanes)},
          {"slices", std::move(slices)},
          {"marks", std::move(marks)},
          {"marks_beyond", timeline.marks_beyond}};
}

json to_json(const PastGraph& graph, const GraphPicture& picture, JobId job) {
  const Drawing& drawing = picture.drawing;
  std::vector<JobCounts> counts(drawing.nodes.size());
  std::vector<Duration> ran(drawing.nodes.size());
  std::vector<std::size_t> first(drawing.nodes.size(), graph.tasks.size());
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    const std::uint32_t node = drawing.node_of[i];
    add(counts[node], graph.outcomes[i]);
    ran[node] += graph.ran[i];
    first[node] = std::min(first[node], i);
  }
  int width = 0, height = 0;
  auto nodes = json::array(), edges = json::array();
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
    const DrawnNode& node = drawing.nodes[i];
    const Box& box = picture.boxes[i];
    width = std::max(width, box.x + box.width);
    height = std::max(height, box.y + box.height);
    nodes.push_back({{"label", node.label},
                     {"name", graph.fragment.name(static_cast<std::uint32_t>(first[i]))},
                     {"tasks", node.tasks},
                     {"task", node.tasks == 1 ? json(to_string(graph.tasks[first[i]])) : json()},
                     {"counts", to_json(counts[i])},
                     {"ran_seconds", seconds(ran[i])},
                     {"critical", node.marked},
                     {"x", box.x},
                     {"y", box.y},
                     {"width", box.width},
                     {"height", box.height}});
  }
  static constexpr std::array<std::string_view, 3> kinds{"strong", "weak", "conditional"};
  for (const DrawnEdge& edge : drawing.edges)
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"kind", kinds[static_cast<std::size_t>(edge.kind)]},
                     {"edges", edge.edges},
                     {"critical", edge.marked}});
  return {{"job", to_string(job)},
          {"name", graph.name},
          {"tasks", graph.tasks.size()},
          {"edges_of_tasks", graph.fragment.edges.size()},
          {"width", width},
          {"height", height},
          {"nodes", std::move(nodes)},
          {"edges", std::move(edges)}};
}

std::string json_line(const json& fields) {
  return fields.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string json_text(const json& fields) {
  return fields.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string process_text(const WorkerInfo& worker) {
  return worker.life == Life{} ? to_string(worker.node) + "/-" : to_string(worker.life.process);
}

std::size_t processes_up(const JobInfo& job) {
  return static_cast<std::size_t>(std::count_if(job.workers.begin(), job.workers.end(),
                                                [](const WorkerInfo& worker) { return worker.up; }));
}

std::string_view name(Priority priority) {
  static constexpr std::string_view names[] = {"low", "normal", "high", "urgent"};
  return names[static_cast<std::size_t>(priority)];
}

std::string_view name(RowState state) {
  static constexpr std::array<std::string_view, row_states> names{"waiting", "held", "ready",
                                                                  "running", "lent", "ended"};
  return names[static_cast<std::size_t>(state)];
}

std::string utc_text(std::int64_t unix_ns) {
  const std::time_t whole = unix_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&whole, &parts);
  char date[32], text[48];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text, sizeof text, "%s.%06dZ", date, static_cast<int>(unix_ns % 1'000'000'000 / 1000));
  return text;
}

}  // namespace dag::detail
