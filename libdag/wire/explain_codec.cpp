// schema/explain.capnp as values.

#include "libdag/wire/codec/explain.hpp"

#include "libdag/membership/messages.hpp"

namespace dag::wire {
namespace {

using schema::TaskExplained;

static_assert(static_cast<int>(RowState::waiting) == static_cast<int>(TaskExplained::State::WAITING));
static_assert(static_cast<int>(RowState::held) == static_cast<int>(TaskExplained::State::HELD));
static_assert(static_cast<int>(RowState::ready) == static_cast<int>(TaskExplained::State::READY));
static_assert(static_cast<int>(RowState::running) == static_cast<int>(TaskExplained::State::RUNNING));
static_assert(static_cast<int>(RowState::lent) == static_cast<int>(TaskExplained::State::LENT));
static_assert(static_cast<int>(RowState::ended) == static_cast<int>(TaskExplained::State::ENDED));

void write_needs(TaskExplained::Needs::Builder to, const TaskNeeds& needs) {
  to.setCpus(needs.cpus);
  to.setGpus(needs.gpus);
  to.setMemory(needs.memory_bytes);
}
TaskNeeds read_needs(TaskExplained::Needs::Reader from) {
  return {from.getCpus(), from.getGpus(), from.getMemory(), {}};
}

void write_runs(schema::RunEstimate::Builder to, const RunEstimate& runs) {
  to.setMean(runs.mean.count());
  to.setLeast(runs.least.count());
  to.setMost(runs.most.count());
  to.setRuns(runs.runs);
}
RunEstimate read_runs(schema::RunEstimate::Reader from) {
  return {Duration(from.getMean()), Duration(from.getLeast()), Duration(from.getMost()), from.getRuns()};
}

void write_task(TaskExplained::Builder to, const dag::TaskExplained& task) {
  to.setTask(word_of(task.task));
  if (!task.name.empty()) to.setName(as_text(task.name));
  to.setState(static_cast<TaskExplained::State>(task.state));
  to.setOutcome(static_cast<schema::Outcome>(task.outcome));
  to.setEpoch(word_of(task.attempt.epoch));
  to.setAttempt(task.attempt.number);
  if (!task.why.empty()) to.setWhy(as_text(task.why));
  to.setFailures(task.failures);
  write_tasks(task.waits_for, [&](unsigned count) { return to.initWaitsFor(count); });
  to.setWaitsForAll(task.waits_for_all);
  write_list(
      task.candidates, [&](unsigned count) { return to.initCandidates(count); },
      [](auto& list, unsigned i, const event::Candidate& candidate) {
        auto one = list[i];
        one.setProcess(candidate.process.value);
        one.setWait(candidate.wait.count());
        one.setTransfer(candidate.transfer.count());
        one.setRun(candidate.run.count());
        if (!candidate.misfit.empty()) one.setMisfit(as_text(candidate.misfit));
      });
  if (task.usual) write_runs(to.initUsual(), *task.usual);
  to.setPlace(task.place);
  if (task.error) write(to.initError(), *task.error);
  write_needs(to.initNeeds(), task.needs);
  to.setPriority(static_cast<std::uint8_t>(task.priority));
}

dag::TaskExplained read_task(TaskExplained::Reader from, Reading& reading) {
  if (from.getState() > TaskExplained::State::ENDED) throw Invalid{"TaskExplained.state is none we know"};
  dag::TaskExplained task;
  task.task = task_from(from.getTask());
  task.name = text_from(from.getName(), label_bytes_max, "TaskExplained.name");
  task.state = static_cast<RowState>(from.getState());
  task.outcome = read(from.getOutcome(), "TaskExplained.outcome");
  task.attempt = {epoch_from(from.getEpoch()), from.getAttempt()};
  task.why = text_from(from.getWhy(), why_bytes_max, "TaskExplained.why");
  task.failures = from.getFailures();
  task.waits_for = read_tasks(from.getWaitsFor(), reading, "TaskExplained.waitsFor");
  task.waits_for_all = from.getWaitsForAll();
  const auto candidates = from.getCandidates();
  reading.count(candidates.size(), members_max, "TaskExplained.candidates");
  task.candidates.reserve(candidates.size());
  for (const auto one : candidates) {
    task.candidates.push_back({ProcessId{one.getProcess()}, Duration(one.getWait()),
                               Duration(one.getTransfer()), Duration(one.getRun()),
                               text_from(one.getMisfit(), text_bytes_max, "Candidate.misfit")});
  }
  if (from.hasUsual()) task.usual = read_runs(from.getUsual());
  task.place = from.getPlace();
  if (from.hasError()) task.error = read(from.getError());
  task.needs = read_needs(from.getNeeds());
  if (from.getPriority() > static_cast<std::uint8_t>(Priority::urgent))
    throw Invalid{"TaskExplained.priority is none we know"};
  task.priority = static_cast<Priority>(from.getPriority());
  return task;
}

std::vector<dag::TaskExplained> read_list(capnp::List<TaskExplained>::Reader from, Reading& reading,
                                          const char* field) {
  reading.count(from.size(), explained_max, field);
  std::vector<dag::TaskExplained> tasks;
  tasks.reserve(from.size());
  for (const auto task : from) tasks.push_back(read_task(task, reading));
  return tasks;
}

}  // namespace

void write(schema::TaskSelector::Builder to, const TaskSelector& selector) {
  if (!selector.name.empty()) to.setName(as_text(selector.name));
  write_tasks(selector.tasks, [&](unsigned count) { return to.initTasks(count); });
  to.setOutputs(selector.outputs);
  if (selector.range) {
    auto range = to.initRange();
    if (!selector.range->name.empty()) range.setName(as_text(selector.range->name));
    range.setFirst(word_of(selector.range->first));
    range.setLast(selector.range->last);
  }
  to.setFailed(selector.failed);
  to.setCriticalPath(selector.critical_path);
}

TaskSelector read(schema::TaskSelector::Reader from, Reading& reading) {
  TaskSelector selector;
  selector.name = text_from(from.getName(), label_bytes_max, "TaskSelector.name");
  selector.tasks = read_tasks(from.getTasks(), reading, "TaskSelector.tasks");
  selector.outputs = from.getOutputs();
  if (from.hasRange()) {
    const auto range = from.getRange();
    selector.range = {text_from(range.getName(), label_bytes_max, "TaskRange.name"),
                      task_from(range.getFirst()), range.getLast()};
  }
  selector.failed = from.getFailed();
  selector.critical_path = from.getCriticalPath();
  return selector;
}

void write(schema::ProcessExplained::Builder to, const ProcessExplained& process) {
  to.setLife(word_of(process.life));
  const auto write_one = [](auto& list, unsigned i, const dag::TaskExplained& task) {
    write_task(list[i], task);
  };
  write_list(
      process.tasks, [&](unsigned count) { return to.initTasks(count); }, write_one);
  write_list(
      process.counts, [&](unsigned count) { return to.initCounts(count); },
      [](auto& list, unsigned i, std::uint64_t count) { list.set(i, count); });
  write_list(
      process.taken, [&](unsigned count) { return to.initTaken(count); }, write_one);
  write_list(
      process.running, [&](unsigned count) { return to.initRunning(count); },
      [](auto& list, unsigned i, const RunningNow& running) {
        auto one = list[i];
        one.setTask(word_of(running.task));
        one.setEpoch(word_of(running.attempt.epoch));
        one.setAttempt(running.attempt.number);
        one.setLane(running.lane);
        one.setRan(running.ran.count());
        if (!running.name.empty()) one.setName(as_text(running.name));
        if (running.usual) write_runs(one.initUsual(), *running.usual);
        one.setGivenUp(running.given_up);
        one.setNumber(running.number);
      });
  to.setLanes(process.lanes);
  to.setQueued(process.queued);
  write_list(
      process.held, [&](unsigned count) { return to.initHeld(count); },
      [](auto& list, unsigned i, const dag::HeldOutputs& held) {
        auto one = list[i];
        if (!held.name.empty()) one.setName(as_text(held.name));
        one.setOutputs(held.outputs);
        one.setBytes(held.bytes);
      });
  if (process.critical_path) {
    auto path = to.initCriticalPath();
    path.setLeft(process.critical_path->left.count());
    path.setTasks(process.critical_path->tasks);
    path.setFirst(word_of(process.critical_path->first));
  }
  if (process.runs) write_runs(to.initRuns(), *process.runs);
}

ProcessExplained read(schema::ProcessExplained::Reader from, Reading& reading) {
  ProcessExplained process;
  process.life = life_from(from.getLife());
  process.tasks = read_list(from.getTasks(), reading, "ProcessExplained.tasks");
  const auto counts = from.getCounts();
  check_count(counts.size(), row_states, "ProcessExplained.counts");
  for (unsigned i = 0; i < counts.size(); ++i) process.counts[i] = counts[i];
  process.taken = read_list(from.getTaken(), reading, "ProcessExplained.taken");
  const auto running = from.getRunning();
  reading.count(running.size(), running_max, "ProcessExplained.running");
  process.running.reserve(running.size());
  for (const auto one : running) {
    RunningNow& lane = process.running.emplace_back();
    lane.task = task_from(one.getTask());
    lane.attempt = {epoch_from(one.getEpoch()), one.getAttempt()};
    lane.lane = one.getLane();
    lane.ran = Duration(one.getRan());
    lane.name = text_from(one.getName(), label_bytes_max, "RunningNow.name");
    if (one.hasUsual()) lane.usual = read_runs(one.getUsual());
    lane.given_up = one.getGivenUp();
    lane.number = one.getNumber();
  }
  process.lanes = from.getLanes();
  process.queued = from.getQueued();
  const auto held = from.getHeld();
  reading.count(held.size(), held_names_max + 1, "ProcessExplained.held");
  for (const auto one : held) {
    process.held.push_back(
        {text_from(one.getName(), label_bytes_max, "HeldOutputs.name"), one.getOutputs(), one.getBytes()});
  }
  if (from.hasCriticalPath()) {
    const auto path = from.getCriticalPath();
    process.critical_path = {Duration(path.getLeft()), path.getTasks(), task_from(path.getFirst())};
  }
  if (from.hasRuns()) process.runs = read_runs(from.getRuns());
  return process;
}

}  // namespace dag::wire
