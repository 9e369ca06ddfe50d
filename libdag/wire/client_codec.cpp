// schema/client.capnp as values.

#include "libdag/wire/codec/claims.hpp"
#include "libdag/wire/codec/explain.hpp"
#include "libdag/wire/codec/launch.hpp"
#include "libdag/wire/codec/weigh.hpp"

namespace dag::wire {
namespace {

static_assert(static_cast<int>(JobPhase::starting) == static_cast<int>(schema::JobInfo::Phase::STARTING));
static_assert(static_cast<int>(JobPhase::running) == static_cast<int>(schema::JobInfo::Phase::RUNNING));
static_assert(static_cast<int>(JobPhase::finished) == static_cast<int>(schema::JobInfo::Phase::FINISHED));
static_assert(static_cast<int>(JobPhase::failed) == static_cast<int>(schema::JobInfo::Phase::FAILED));
static_assert(static_cast<int>(JobPhase::cancelled) == static_cast<int>(schema::JobInfo::Phase::CANCELLED));
static_assert(static_cast<int>(JobPhase::recovering) == static_cast<int>(schema::JobInfo::Phase::RECOVERING));

// ---- What is known of nodes and jobs

Claim claim_of(const NodeInfo& node) { return {node.life, node.state, 0, node.endpoint, node.load}; }

void write_node(schema::NodeInfo::Builder to, const NodeInfo& node) {
  write(to.initClaim(), claim_of(node));
  to.setJobs(node.jobs);
  to.setPid(node.pid);
  write_list(
      node.not_ready, [&](unsigned count) { return to.initNotReady(count); },
      [](auto& list, unsigned i, const std::string& why) { list.set(i, as_text(why)); });
  if (!node.heard) return;
  auto heard = to.initHeard();
  heard.setAgo(node.heard->ago.count());
  heard.setRoundTrip(node.heard->round_trip.count());
}

NodeInfo read_node(schema::NodeInfo::Reader from, Reading& reading) {
  Claim claim = read(from.getClaim());
  NodeInfo node{claim.life,
                claim.state,
                std::move(claim.endpoint),
                std::move(claim.load),
                from.getJobs(),
                from.getPid(),
                {},
                {}};
  if (from.hasHeard()) {
    const auto heard = from.getHeard();
    node.heard = HeardOf{Duration(heard.getAgo()), Duration(heard.getRoundTrip())};
  }
  const auto reasons = from.getNotReady();
  reading.count(reasons.size(), notices_max, "NodeInfo.notReady");
  for (const auto why : reasons)
    node.not_ready.push_back(text_from(why, text_bytes_max, "NodeInfo.notReady"));
  return node;
}

JobPhase read_phase(schema::JobInfo::Phase from) {
  if (from > schema::JobInfo::Phase::RECOVERING) throw Invalid{"JobInfo.phase is none we know"};
  return static_cast<JobPhase>(from);
}

void write_counts(schema::JobCounts::Builder to, const JobCounts& counts) {
  to.setOpen(counts.open);
  to.setFinished(counts.finished);
  to.setFailed(counts.failed);
  to.setSkipped(counts.skipped);
  to.setCancelled(counts.cancelled);
  to.setTolerated(counts.tolerated);
}

JobCounts read_counts(schema::JobCounts::Reader from) {
  return {from.getOpen(),    from.getFinished(),  from.getFailed(),
          from.getSkipped(), from.getCancelled(), from.getTolerated()};
}

void write_details(schema::JobDetails::Builder to, const JobDetails& details) {
  write_list(
      details.tasks, [&](unsigned count) { return to.initTasks(count); },
      [](auto& list, unsigned i, const TaskInfo& task) {
        auto one = list[i];
        one.setTask(word_of(task.task));
        if (!task.name.empty()) one.setName(as_text(task.name));
        one.setOutcome(static_cast<schema::Outcome>(task.outcome));
        one.setTries(task.tries);
        if (task.error) write(one.initError(), *task.error);
        one.setLate(task.late.count());
      });
  to.setTasksBeyond(details.tasks_beyond);
  to.setLate(details.late);
  write_list(
      details.classes, [&](unsigned count) { return to.initClasses(count); },
      [](auto& list, unsigned i, const ClassInfo& one) {
        if (!one.name.empty()) list[i].setName(as_text(one.name));
        write_counts(list[i].initCounts(), one.counts);
      });
  write_counts(to.initOthers(), details.others);
  write_list(
      details.progress, [&](unsigned count) { return to.initProgress(count); },
      [](auto& list, unsigned i, const TaskProgress& progress) {
        auto one = list[i];
        one.setTask(word_of(progress.task));
        if (!progress.name.empty()) one.setName(as_text(progress.name));
        one.setNumber(progress.number);
        if (!progress.device.empty()) one.setDevice(as_text(progress.device));
        one.setFraction(progress.fraction);
        if (!progress.note.empty()) one.setNote(as_text(progress.note));
      });
}

JobDetails read_details(schema::JobDetails::Reader from, Reading& reading) {
  JobDetails details;
  const auto tasks = from.getTasks();
  reading.count(tasks.size(), job_details_max, "JobDetails.tasks");
  details.tasks.reserve(tasks.size());
  for (const auto task : tasks) {
    TaskInfo& one = details.tasks.emplace_back();
    one.task = task_from(task.getTask());
    one.name = text_from(task.getName(), label_bytes_max, "TaskInfo.name");
    one.outcome = read(task.getOutcome(), "TaskInfo.outcome");
    one.tries = task.getTries();
    if (task.hasError()) one.error = read(task.getError());
    one.late = Duration(task.getLate());
  }
  details.tasks_beyond = from.getTasksBeyond();
  details.late = from.getLate();
  const auto classes = from.getClasses();
  reading.count(classes.size(), job_details_max, "JobDetails.classes");
  details.classes.reserve(classes.size());
  for (const auto one : classes) {
    details.classes.push_back(
        {text_from(one.getName(), label_bytes_max, "ClassInfo.name"), read_counts(one.getCounts())});
  }
  details.others = read_counts(from.getOthers());
  const auto progress = from.getProgress();
  reading.count(progress.size(), job_details_max, "JobDetails.progress");
  details.progress.reserve(progress.size());
  for (const auto one : progress) {
    details.progress.push_back(
        {task_from(one.getTask()), text_from(one.getName(), label_bytes_max, "TaskProgress.name"),
         one.getNumber(), text_from(one.getDevice(), name_bytes_max, "TaskProgress.device"),
         one.getFraction(), text_from(one.getNote(), text_bytes_max, "TaskProgress.note")});
  }
  return details;
}

void write_job(schema::JobInfo::Builder to, const JobInfo& job) {
  to.setJob(job.job.value);
  if (!job.name.empty()) to.setName(as_text(job.name));
  to.setPhase(static_cast<schema::JobInfo::Phase>(job.phase));
  write_counts(to.initCounts(), job.counts);
  to.setAge(job.age.count());
  write_list(
      job.workers, [&](unsigned count) { return to.initWorkers(count); },
      [](auto& list, unsigned i, const WorkerInfo& worker) {
        auto one = list[i];
        one.setLife(word_of(worker.life));
        one.setNode(worker.node.value);
        one.setPid(worker.pid);
        one.setUp(worker.up);
        if (!worker.end.empty()) one.setEnd(as_text(worker.end));
      });
  if (job.error) write(to.initError(), *job.error);
  if (job.details) write_details(to.initDetails(), *job.details);
  write_list(
      job.copies, [&](unsigned count) { return to.initCopies(count); },
      [](auto& list, unsigned i, ProcessId node) { list.set(i, node.value); });
  to.setTotal(job.total);
  to.setRetries(job.retries.value);
}

JobInfo read_job(schema::JobInfo::Reader from, Reading& reading) {
  // A phase this build does not know may be an end or not: a client that waits must not guess.
  JobInfo job;
  job.job = JobId{from.getJob()};
  job.name = text_from(from.getName(), label_bytes_max, "JobInfo.name");
  job.phase = read_phase(from.getPhase());
  job.counts = read_counts(from.getCounts());
  job.age = Duration(from.getAge());
  const auto workers = from.getWorkers();
  reading.count(workers.size(), job_workers_max, "JobInfo.workers");
  job.workers.reserve(workers.size());
  for (const auto worker : workers) {
    job.workers.push_back({life_from(worker.getLife()), ProcessId{worker.getNode()}, worker.getPid(),
                           worker.getUp(), text_from(worker.getEnd(), text_bytes_max, "WorkerInfo.end")});
  }
  if (from.hasError()) job.error = read(from.getError());
  if (from.hasDetails()) job.details = read_details(from.getDetails(), reading);
  const auto copies = from.getCopies();
  reading.count((copies.size() + 1) / 2, members_max, "JobInfo.copies");  // Two to a word.
  for (const std::uint32_t node : copies) job.copies.push_back({node});
  job.total = from.getTotal();
  job.retries = JobId{from.getRetries()};
  return job;
}

// ---- What a journal says

void write_place(schema::JournalPlace::Builder to, const JournalPlace& place) {
  to.setFile(place.file);
  to.setBytes(place.bytes);
  to.setOf(place.of);
}
JournalPlace read_place(schema::JournalPlace::Reader from) {
  return {from.getFile(), from.getBytes(), from.getOf()};
}

void write_page(schema::JournalPage::Builder to, const JournalPage& page) {
  write_place(to.initRead(), page.read);
  if (page.bytes) to.setBytes(as_data(page.bytes));
  write_list(
      page.notices, [&](unsigned count) { return to.initNotices(count); },
      [](auto& list, unsigned i, const std::string& notice) { list.set(i, as_text(notice)); });
}

JournalPage read_page(schema::JournalPage::Reader from, Reading& reading) {
  JournalPage page;
  page.read = read_place(from.getRead());
  if (from.hasBytes()) page.bytes = read_blob(from.getBytes());
  const auto notices = from.getNotices();
  reading.count(notices.size(), notices_max, "JournalPage.notices");
  for (const auto notice : notices)
    page.notices.push_back(text_from(notice, text_bytes_max, "JournalPage.notices"));
  return page;
}

client::AskJournal read_ask_journal(std::uint64_t number, JobId job, schema::AskJournal::Reader from,
                                    Reading& reading) {
  client::AskJournal ask{number,
                         from.getAll() ? std::nullopt : std::optional(job),
                         read_place(from.getRead()),
                         from.getLogs(),
                         {}};
  if (from.hasWhich()) ask.which = read(from.getWhich(), reading);
  return ask;
}

void write_filter(schema::JobFilter::Builder to, const JobFilter& filter) {
  if (!filter.name.empty()) to.setName(as_text(filter.name));
  to.setHasPhase(filter.phase.has_value());
  to.setPhase(static_cast<schema::JobInfo::Phase>(filter.phase.value_or(JobPhase{})));
  to.setFailed(filter.failed);
  to.setFirst(filter.first);
}

JobFilter read_filter(schema::JobFilter::Reader from) {
  JobFilter filter{
      text_from(from.getName(), text_bytes_max, "JobFilter.name"), {}, from.getFailed(), from.getFirst()};
  if (from.getHasPhase()) filter.phase = read_phase(from.getPhase());
  return filter;
}

// ---- Writing

void write_submit(schema::AskSubmit::Builder to, const client::AskSubmit& message, const CodeMap& codes) {
  DAG_CHECK(message.graph != nullptr);
  if (!message.name.empty()) to.setName(as_text(message.name));
  write(to.initGraph(), *message.graph, codes);
  write(to.initLaunch(), message.launch);
  to.setDetached(message.detached);
  to.setSupervised(message.supervise_all);
  to.setKey(message.key);
  to.setDryRun(message.dry_run);
  to.setKept(message.kept);
}

void write_answer(schema::Answer::Builder to, const client::Answer& message) {
  if (message.error) write(to.initError(), *message.error);
  to.setHasJob(message.job.has_value());
  to.setWantsProgram(message.wants_program);
  if (!message.elsewhere.empty()) to.setElsewhere(as_text(message.elsewhere));
  write_list(
      message.nodes, [&](unsigned count) { return to.initNodes(count); },
      [](auto& list, unsigned i, const NodeInfo& node) { write_node(list[i], node); });
  write_list(
      message.jobs, [&](unsigned count) { return to.initJobs(count); },
      [](auto& list, unsigned i, const JobInfo& job) { write_job(list[i], job); });
  write_list(
      message.explained, [&](unsigned count) { return to.initExplained(count); },
      [](auto& list, unsigned i, const ProcessExplained& process) { write(list[i], process); });
  write_lives(message.silent, [&](unsigned count) { return to.initSilent(count); });
  to.setJobsBeyond(message.jobs_beyond);
  if (message.journal) write_page(to.initJournal(), *message.journal);
  write_list(
      message.outputs, [&](unsigned count) { return to.initOutputs(count); },
      [](auto& list, unsigned i, const OutputInfo& output) {
        list[i].setTask(output.task);
        list[i].setName(as_text(output.name));
      });
}

void write_settled(schema::TaskSettled::Builder to, const client::TaskSettled& message) {
  to.setTask(message.task);
  to.setOutcome(static_cast<schema::Outcome>(message.outcome));
  if (message.output) to.setOutput(as_data(message.output));
  if (message.error) write(to.initError(), *message.error);
}

void write_ended(schema::JobEnded::Builder to, const client::JobEnded& message) {
  if (message.stopped) write(to.initStopped(), *message.stopped);
  write_counts(to.initCounts(), message.counts);
}

/// For messages with an optional job.
JobId job_of(const std::optional<JobId>& job) { return job.value_or(JobId{}); }

// ---- Reading

client::AskSubmit read_submit(schema::Client::Reader from, Reading& reading) {
  const auto body = from.getAskSubmit();
  return {from.getNumber(),
          JobId{from.getJob()},
          text_from(body.getName(), label_bytes_max, "AskSubmit.name"),
          read(body.getGraph(), reading, 0),
          read(body.getLaunch(), reading),
          body.getDetached(),
          body.getSupervised(),
          body.getKey(),
          body.getDryRun(),
          body.getKept()};
}

client::AskFollow read_follow(std::uint64_t number, JobId job, schema::AskFollow::Reader from,
                              Reading& reading) {
  const auto tasks = from.getTasks();
  reading.count((tasks.size() + 1) / 2, limits::tasks_max, "AskFollow.tasks");  // Two to a word.
  return {number, job, values_from<std::uint32_t>(tasks), from.getKey(), from.getAttaches()};
}

client::Answer read_answer(schema::Client::Reader from, Reading& reading) {
  const auto body = from.getAnswer();
  client::Answer answer;
  answer.number = from.getNumber();
  if (body.hasError()) answer.error = read(body.getError());
  if (body.getHasJob()) answer.job = JobId{from.getJob()};
  answer.wants_program = body.getWantsProgram();
  answer.elsewhere = text_from(body.getElsewhere(), address_bytes_max, "Answer.elsewhere");
  const auto nodes = body.getNodes();
  reading.count(nodes.size(), members_max, "Answer.nodes");
  answer.nodes.reserve(nodes.size());
  for (const auto node : nodes) answer.nodes.push_back(read_node(node, reading));
  const auto jobs = body.getJobs();
  reading.count(jobs.size(), jobs_max, "Answer.jobs");
  answer.jobs.reserve(jobs.size());
  for (const auto job : jobs) answer.jobs.push_back(read_job(job, reading));
  const auto explained = body.getExplained();
  reading.count(explained.size(), job_workers_max, "Answer.explained");
  answer.explained.reserve(explained.size());
  for (const auto process : explained) answer.explained.push_back(read(process, reading));
  answer.silent = read_lives(body.getSilent(), reading, "Answer.silent");
  answer.jobs_beyond = body.getJobsBeyond();
  if (body.hasJournal()) answer.journal = read_page(body.getJournal(), reading);
  const auto outputs = body.getOutputs();
  reading.count(outputs.size(), outputs_told_max, "Answer.outputs");
  for (const auto output : outputs)
    answer.outputs.push_back(
        {output.getTask(), text_from(output.getName(), label_bytes_max, "OutputInfo.name")});
  return answer;
}

client::TaskSettled read_settled(JobId job, schema::TaskSettled::Reader from) {
  client::TaskSettled settled{
      job, from.getTask(), read(from.getOutcome(), "TaskSettled.outcome"), {}, std::nullopt};
  if (from.hasOutput()) settled.output = read_blob(from.getOutput());
  if (from.hasError()) settled.error = read(from.getError());
  return settled;
}

client::JobEnded read_ended(JobId job, schema::JobEnded::Reader from) {
  client::JobEnded ended{job, std::nullopt, read_counts(from.getCounts())};
  if (from.hasStopped()) ended.stopped = read(from.getStopped());
  return ended;
}

}  // namespace

// ---- Weighing, where a value is not written field by field

template <>
struct Below<NodeInfo> {
  static std::size_t words(const NodeInfo& node) {
    return field_words(claim_of(node)) + field_words(node.not_ready) + field_words(node.heard);
  }
};
template <>
struct Below<OutputInfo> {
  static std::size_t words(const OutputInfo& output) { return written_text_words(output.name); }
};
template <>
struct Below<client::AskOutputs> {
  static std::size_t words(const client::AskOutputs& ask) { return written_text_words(ask.task); }
};
template <>
struct Below<client::AskJobs> {
  static std::size_t words(const client::AskJobs& ask) {
    return ask.job || ask.which == JobFilter{} ? 0 : field_words(ask.which);
  }
};
template <>
struct Below<client::AskJournal> {
  static std::size_t words(const client::AskJournal& ask) {
    return field_words(ask.read) + (ask.which == TaskSelector{} ? 0 : field_words(ask.which));
  }
};

std::size_t words(const ClientMessage& message) {
  return words_of<schema::Client> + std::visit([](const auto& one) { return field_words(one); }, message);
}

void write(schema::Client::Builder to, const ClientMessage& message, const CodeMap& codes) {
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { one.number; }) to.setNumber(one.number);
        if constexpr (requires { one.job; }) to.setJob(job_of(one.job).value);
      },
      message);
  std::visit(
      Overloaded{[&](const client::AskHandle&) { to.setAskHandle(); },
                 [&](const client::AskSubmit& ask) { write_submit(to.initAskSubmit(), ask, codes); },
                 [&](const client::AskNodes&) { to.setAskNodes(); },
                 [&](const client::AskJobs& ask) {
                   if (ask.job || ask.which == JobFilter{}) {
                     to.setAskJobs(ask.job.has_value());
                   } else {
                     write_filter(to.initAskJobList(), ask.which);
                   }
                 },
                 [&](const client::AskEnd&) { to.setAskEnd(); },
                 [&](const client::AskCancel&) { to.setAskCancel(); },
                 [&](const client::AskShutdown&) { to.setAskShutdown(); },
                 [&](const client::Answer& answer) { write_answer(to.initAnswer(), answer); },
                 [&](const client::Want& want) { to.setWant(want.task); },
                 [&](const client::ForgetJob&) { to.setForgetJob(); },
                 [&](const client::TaskSettled& settled) { write_settled(to.initTaskSettled(), settled); },
                 [&](const client::JobEnded& ended) { write_ended(to.initJobEnded(), ended); },
                 [&](const client::JobLost& lost) { write(to.initJobLost(), lost.why); },
                 [&](const client::AskFollow& ask) {
                   auto body = to.initAskFollow();
                   body.setKey(ask.key);
                   body.setAttaches(ask.attaches);
                   auto tasks = body.initTasks(static_cast<unsigned>(ask.tasks.size()));
                   for (unsigned i = 0; i < tasks.size(); ++i) tasks.set(i, ask.tasks[i]);
                 },
                 [&](const client::JobMoved&) { to.setJobMoved(); },
                 [&](const client::AskDrain& ask) { to.setAskDrain(ask.draining); },
                 [&](const client::AskExplain& ask) { write(to.initAskExplain(), ask.what); },
                 [&](const client::AskOutputs& ask) { to.setAskOutputs(as_text(ask.task)); },
                 [&](const client::AskRetry& ask) {
                   ask.only_unfinished ? to.setAskRetryUnfinished() : to.setAskRetry();
                 },
                 [&](const client::AskJournal& ask) {
                   auto body = to.initAskJournal();
                   body.setAll(!ask.job.has_value());
                   write_place(body.initRead(), ask.read);
                   body.setLogs(ask.logs);
                   if (ask.which != TaskSelector{}) write(body.initWhich(), ask.which);
                 }},
      message);
}

std::optional<ClientMessage> read(schema::Client::Reader from, Reading& reading) {
  const std::uint64_t number = from.getNumber();
  const JobId job{from.getJob()};
  switch (from.which()) {
    case schema::Client::ASK_HANDLE:
      return client::AskHandle{number};
    case schema::Client::ASK_SUBMIT:
      return read_submit(from, reading);
    case schema::Client::ASK_NODES:
      return client::AskNodes{number};
    case schema::Client::ASK_JOBS:
      return client::AskJobs{number, from.getAskJobs() ? std::optional(job) : std::nullopt, {}};
    case schema::Client::ASK_JOB_LIST:
      return client::AskJobs{number, std::nullopt, read_filter(from.getAskJobList())};
    case schema::Client::ASK_END:
      return client::AskEnd{number, job};
    case schema::Client::ASK_CANCEL:
      return client::AskCancel{number, job};
    case schema::Client::ASK_SHUTDOWN:
      return client::AskShutdown{number};
    case schema::Client::ANSWER:
      return read_answer(from, reading);
    case schema::Client::WANT:
      return client::Want{job, from.getWant()};
    case schema::Client::FORGET_JOB:
      return client::ForgetJob{job};
    case schema::Client::TASK_SETTLED:
      return read_settled(job, from.getTaskSettled());
    case schema::Client::JOB_ENDED:
      return read_ended(job, from.getJobEnded());
    case schema::Client::JOB_LOST:
      return client::JobLost{job, read(from.getJobLost())};
    case schema::Client::ASK_FOLLOW:
      return read_follow(number, job, from.getAskFollow(), reading);
    case schema::Client::JOB_MOVED:
      return client::JobMoved{job};
    case schema::Client::ASK_DRAIN:
      return client::AskDrain{number, from.getAskDrain()};
    case schema::Client::ASK_EXPLAIN:
      return client::AskExplain{number, job, read(from.getAskExplain(), reading)};
    case schema::Client::ASK_JOURNAL:
      return read_ask_journal(number, job, from.getAskJournal(), reading);
    case schema::Client::ASK_OUTPUTS:
      return client::AskOutputs{number, job,
                                text_from(from.getAskOutputs(), label_bytes_max, "Client.askOutputs")};
    case schema::Client::ASK_RETRY:
      return client::AskRetry{number, job};
    case schema::Client::ASK_RETRY_UNFINISHED:
      return client::AskRetry{number, job, true};
  }
  return std::nullopt;
}

}  // namespace dag::wire
