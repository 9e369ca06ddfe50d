// schema/cell.capnp as values.

#include "libdag/wire/codec/jobs.hpp"

namespace dag::wire {
namespace {

message::JobCreate read_create(JobId job, schema::JobCreate::Reader from, Reading& reading) {
  auto plan = std::make_shared<JobPlan>();
  plan->job = job;
  plan->name = text_from(from.getName(), label_bytes_max, "JobCreate.name");
  plan->graph = read(from.getGraph(), reading, 0);
  plan->shards = from.getShards();
  const auto shard_of = from.getShardOf();
  check_count(shard_of.size(), limits::tasks_max, "JobCreate.shardOf");
  if (plan->shards > limits::shards_max) {
    throw Invalid{"JobCreate.shards is " + std::to_string(plan->shards) + ", at most " +
                  std::to_string(limits::shards_max) + " are taken"};
  }
  plan->shard_of.reserve(shard_of.size());
  for (const std::uint32_t shard : shard_of) {
    if (shard >= plan->shards) throw Invalid{"JobCreate.shardOf names a shard that there is not"};
    plan->shard_of.push_back(static_cast<ShardIndex>(shard));
  }
  if (plan->shard_of.size() != plan->graph->size()) {
    throw Invalid{"JobCreate.shardOf has " + std::to_string(plan->shard_of.size()) + " entries for " +
                  std::to_string(plan->graph->size()) + " tasks"};
  }
  plan->representation = from.getSupervised() ? Representation::supervised : Representation::as_needed;
  plan->inline_bytes_max = from.getInlineBytesMax();
  plan->quarantine = from.getQuarantine();
  plan->seed = from.getSeed();
  return {std::move(plan)};
}

std::vector<message::Crashed> read_crashed(capnp::List<schema::Crashed>::Reader from, Reading& reading,
                                           const char* field) {
  reading.count(from.size(), limits::tasks_max, field);
  std::vector<message::Crashed> crashed;
  for (const auto one : from) {
    crashed.push_back(
        {task_from(one.getTask()), one.getTimes(), text_from(one.getWhat(), text_bytes_max, "Crashed.what")});
  }
  return crashed;
}

message::JobState read_state(JobId job, schema::JobState::Reader from, Reading& reading) {
  message::JobState state;
  state.job = job;
  state.version = from.getVersion();
  state.lives = read_lives(from.getLives(), reading, "JobState.lives");
  const auto homes = from.getHomes();
  const auto epochs = from.getEpochs();
  reading.count(homes.size(), limits::tasks_max, "JobState.homes");
  if (homes.size() != epochs.size()) throw Invalid{"JobState has not an epoch for each home"};
  for (unsigned i = 0; i < homes.size(); ++i) {
    state.homes.push_back({life_from(homes[i]), epoch_from(epochs[i])});
  }
  state.cell = life_from(from.getCell());
  state.cancelled = from.getCancelled();
  state.ended = from.getEnded();
  if (from.hasStopped()) state.stopped = read(from.getStopped());
  state.term = from.getTerm();
  state.replicas = from.getReplicas();
  state.recorders = read_lives(from.getRecorders(), reading, "JobState.recorders");
  state.crashed = read_crashed(from.getCrashed(), reading, "JobState.crashed");
  state.suspects = read_crashed(from.getSuspects(), reading, "JobState.suspects");
  return state;
}

/// The numbers of each step end no list before the one before it does, and the last all of them.
void check_steps(const message::Outcomes& outcomes) {
  if (outcomes.steps.empty()) return;
  using Step = message::OutcomeStep;
  const auto one = [&](const char* field, std::uint32_t Step::*end, std::size_t size) {
    std::uint32_t before = 0;
    for (const Step& step : outcomes.steps) {
      if (step.*end < before)
        throw Invalid{std::string(field) + " ends before it begins in a step of Outcomes"};
      before = step.*end;
    }
    if (before != size) throw Invalid{std::string(field) + " is not what the steps of Outcomes say"};
  };
  one("firstTry", &Step::first_try, outcomes.first_try.size());
  one("plain", &Step::plain, outcomes.plain.size());
  one("records", &Step::records, outcomes.records.size());
  one("needsFirst", &Step::needs_first, outcomes.needs_first.size());
  one("needs", &Step::needs, outcomes.needs.size());
}

message::Outcomes read_outcomes(JobId job, std::uint32_t shard, Epoch epoch, schema::Outcomes::Reader from,
                                Reading& reading) {
  message::Outcomes outcomes;
  outcomes.job = job;
  outcomes.shard = shard;
  outcomes.epoch = epoch;
  outcomes.number = from.getNumber();
  outcomes.first_step = from.getFirstStep();
  reading.count(from.getSteps().size(), limits::tasks_max, "Outcomes.steps");
  outcomes.steps.reserve(from.getSteps().size());
  for (const auto step : from.getSteps()) {
    outcomes.steps.push_back({step.getFirstTry(), step.getPlain(), step.getRecords(), step.getNeedsFirst(),
                              step.getNeeds(), step.getRows()});
  }
  reading.count(from.getNeedsFirst().size(), limits::tasks_max, "Outcomes.needsFirst");
  outcomes.needs_first.reserve(from.getNeedsFirst().size());
  for (const auto needs : from.getNeedsFirst()) {
    outcomes.needs_first.push_back(
        {epoch_from(needs.getEpoch()), {task_from(needs.getFirst()), needs.getBits()}});
    check(outcomes.needs_first.back().tasks, "Outcomes.needsFirst");
  }
  outcomes.needs = read_names(from.getNeeds(), reading, "Outcomes.needs");
  outcomes.first_try = read_bits(from.getFirstTry(), reading, "Outcomes.firstTry");
  outcomes.plain = read_names(from.getPlain(), reading, "Outcomes.plain");
  outcomes.records = read_records(from.getRecords(), reading, "Outcomes.records");
  outcomes.freed = read_tasks(from.getFreed(), reading, "Outcomes.freed");
  outcomes.rows_open = from.getRowsOpen();
  outcomes.tried = read_tried(from.getTried(), reading, "Outcomes.tried");
  outcomes.started = read_tasks(from.getStarted(), reading, "Outcomes.started");
  check_steps(outcomes);
  return outcomes;
}

}  // namespace

std::vector<message::Tried> read_tried(capnp::List<schema::Tried>::Reader from, Reading& reading,
                                       const char* field) {
  reading.count(from.size(), limits::tasks_max, field);
  std::vector<message::Tried> tried;
  tried.reserve(from.size());
  for (const auto one : from) tried.push_back({task_from(one.getTask()), one.getFailed()});
  return tried;
}

std::vector<message::FirstTry> read_first_try(capnp::List<schema::FirstTry>::Reader from, Reading& reading,
                                              const char* field) {
  reading.count(from.size(), limits::tasks_max, field);
  std::vector<message::FirstTry> all;
  for (const auto some : from) {
    all.push_back({epoch_from(some.getEpoch()), read_bits(some.getTasks(), reading, field)});
  }
  return all;
}

// ---- Writing

void write(schema::Cell::Builder to, const message::JobCreate& message, const CodeMap& codes) {
  const JobPlan& plan = *message.plan;
  to.setJob(plan.job.value);
  auto builder = to.initJobCreate();
  if (!plan.name.empty()) builder.setName(as_text(plan.name));
  write(builder.initGraph(), *plan.graph, codes);
  write_list(
      plan.shard_of, [&](unsigned count) { return builder.initShardOf(count); },
      [](auto& list, unsigned i, ShardIndex shard) { list.set(i, shard); });
  builder.setShards(plan.shards);
  builder.setSupervised(plan.representation == Representation::supervised);
  builder.setInlineBytesMax(plan.inline_bytes_max);
  builder.setQuarantine(plan.quarantine);
  builder.setSeed(plan.seed);
}

void write(schema::Cell::Builder to, const message::JobState& message, const CodeMap&) {
  auto builder = to.initJobState();
  builder.setVersion(message.version);
  write_lives(message.lives, [&](unsigned count) { return builder.initLives(count); });
  write_list(
      message.homes, [&](unsigned count) { return builder.initHomes(count); },
      [](auto& list, unsigned i, const message::ShardHome& home) { list.set(i, word_of(home.home)); });
  write_list(
      message.homes, [&](unsigned count) { return builder.initEpochs(count); },
      [](auto& list, unsigned i, const message::ShardHome& home) { list.set(i, word_of(home.epoch)); });
  builder.setCell(word_of(message.cell));
  builder.setCancelled(message.cancelled);
  builder.setEnded(message.ended);
  if (message.stopped) write(builder.initStopped(), *message.stopped);
  builder.setTerm(message.term);
  builder.setReplicas(message.replicas);
  write_lives(message.recorders, [&](unsigned count) { return builder.initRecorders(count); });
  const auto write_one = [](auto& list, unsigned i, const message::Crashed& crashed) {
    list[i].setTask(word_of(crashed.task));
    list[i].setTimes(crashed.times);
    if (!crashed.what.empty()) list[i].setWhat(as_text(crashed.what));
  };
  write_list(
      message.crashed, [&](unsigned count) { return builder.initCrashed(count); }, write_one);
  write_list(
      message.suspects, [&](unsigned count) { return builder.initSuspects(count); }, write_one);
}

void write(schema::Cell::Builder to, const message::Assign& message, const CodeMap& codes) {
  auto builder = to.initAssign();
  write_lives(message.asked, [&](unsigned count) { return builder.initAsked(count); });
  write_records(
      message.settled, [&](unsigned count) { return builder.initSettled(count); }, codes);
  write_names(message.kept, [&](unsigned count) { return builder.initKept(count); });
  write_tasks(message.cancelled, [&](unsigned count) { return builder.initCancelled(count); });
  write_tried(message.tried, [&](unsigned count) { return builder.initTried(count); });
  write_first_try(message.first_try, [&](unsigned count) { return builder.initFirstTry(count); });
  write_tasks(message.started, [&](unsigned count) { return builder.initStarted(count); });
}

void write(schema::Cell::Builder to, const message::Settled& message, const CodeMap& codes) {
  auto builder = to.initSettled();
  builder.setFrom(message.from);
  builder.setTo(message.to);
  builder.setOutcomes(message.outcomes);
  builder.setSteps(message.steps);
  write_records(
      message.predecessors, [&](unsigned count) { return builder.initPredecessors(count); }, codes);
}

void write(schema::Cell::Builder to, const message::Keep& message, const CodeMap&) {
  auto list = to.initKeep(static_cast<unsigned>(message.tasks.size()));
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, word_of(message.tasks[i]));
}

void write(schema::Cell::Builder to, const message::Cancel& message, const CodeMap&) {
  auto list = to.initCancel(static_cast<unsigned>(message.tasks.size()));
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, word_of(message.tasks[i]));
}

void write(schema::Cell::Builder to, const message::Outcomes& message, const CodeMap& codes) {
  auto builder = to.initOutcomes();
  builder.setNumber(message.number);
  builder.setRowsOpen(message.rows_open);
  write_names(message.plain, [&](unsigned count) { return builder.initPlain(count); });
  write_records(
      message.records, [&](unsigned count) { return builder.initRecords(count); }, codes);
  write_tasks(message.freed, [&](unsigned count) { return builder.initFreed(count); });
  write_bits(message.first_try, [&](unsigned count) { return builder.initFirstTry(count); });
  write_tried(message.tried, [&](unsigned count) { return builder.initTried(count); });
  write_tasks(message.started, [&](unsigned count) { return builder.initStarted(count); });
  builder.setFirstStep(message.first_step);
  write_list(
      message.steps, [&](unsigned count) { return builder.initSteps(count); },
      [](auto& list, unsigned i, const message::OutcomeStep& step) {
        list[i].setFirstTry(step.first_try);
        list[i].setPlain(step.plain);
        list[i].setRecords(step.records);
        list[i].setNeedsFirst(step.needs_first);
        list[i].setNeeds(step.needs);
        list[i].setRows(step.rows);
      });
  write_list(
      message.needs_first, [&](unsigned count) { return builder.initNeedsFirst(count); },
      [](auto& list, unsigned i, const message::NeededFirst& needed) {
        list[i].setEpoch(word_of(needed.epoch));
        list[i].setFirst(word_of(needed.tasks.first));
        list[i].setBits(needed.tasks.bits);
      });
  write_names(message.needs, [&](unsigned count) { return builder.initNeeds(count); });
}

void write(schema::Cell::Builder to, const message::JobFailed& message, const CodeMap&) {
  write(to.initJobFailed(), message.error);
}

void write(schema::Cell::Builder to, const message::AskPlan&, const CodeMap&) { to.setAskPlan(); }
void write(schema::Cell::Builder to, const message::RenewLease& message, const CodeMap&) {
  to.setRenewLease(message.number);
}

void write(schema::Cell::Builder to, const message::LeaseRenewed& message, const CodeMap&) {
  to.setLeaseRenewed(message.number);
}

// ---- Reading

bool read(schema::Cell::Reader from, Reading& reading, JobMessage& into) {
  const JobId job{from.getJob()};
  const std::uint32_t shard = from.getShard();
  const Epoch epoch = epoch_from(from.getEpoch());
  switch (from.which()) {
    case schema::Cell::JOB_CREATE:
      into = read_create(job, from.getJobCreate(), reading);
      return true;
    case schema::Cell::JOB_STATE:
      into = read_state(job, from.getJobState(), reading);
      return true;
    case schema::Cell::ASSIGN: {
      const auto reader = from.getAssign();
      into = message::Assign{job,
                             shard,
                             epoch,
                             read_lives(reader.getAsked(), reading, "Assign.asked"),
                             read_records(reader.getSettled(), reading, "Assign.settled"),
                             read_names(reader.getKept(), reading, "Assign.kept"),
                             read_tasks(reader.getCancelled(), reading, "Assign.cancelled"),
                             read_tried(reader.getTried(), reading, "Assign.tried"),
                             read_first_try(reader.getFirstTry(), reading, "Assign.firstTry"),
                             read_tasks(reader.getStarted(), reading, "Assign.started")};
      return true;
    }
    case schema::Cell::SETTLED: {
      const auto reader = from.getSettled();
      into = message::Settled{job,
                              shard,
                              epoch,
                              reader.getFrom(),
                              reader.getTo(),
                              reader.getOutcomes(),
                              reader.getSteps(),
                              read_records(reader.getPredecessors(), reading, "Settled.predecessors")};
      return true;
    }
    case schema::Cell::KEEP:
      into = message::Keep{job, shard, epoch, read_tasks(from.getKeep(), reading, "Cell.keep")};
      return true;
    case schema::Cell::CANCEL:
      into = message::Cancel{job, shard, epoch, read_tasks(from.getCancel(), reading, "Cell.cancel")};
      return true;
    case schema::Cell::OUTCOMES:
      into = read_outcomes(job, shard, epoch, from.getOutcomes(), reading);
      return true;
    case schema::Cell::JOB_FAILED:
      into = message::JobFailed{job, shard, epoch, read(from.getJobFailed())};
      return true;
    case schema::Cell::RENEW_LEASE:
      into = message::RenewLease{job, from.getRenewLease()};
      return true;
    case schema::Cell::LEASE_RENEWED:
      into = message::LeaseRenewed{job, from.getLeaseRenewed()};
      return true;
    case schema::Cell::ASK_PLAN:
      into = message::AskPlan{job};
      return true;
  }
  return false;
}

}  // namespace dag::wire
