// schema/keeper.capnp as values.

#include "libdag/wire/codec/explain.hpp"
#include "libdag/wire/codec/launch.hpp"
#include "libdag/wire/codec/weigh.hpp"

namespace dag::wire {
namespace {

// ---- Programs

void write_program(schema::ProgramId::Builder to, const ProgramId& program) {
  to.setHashHigh(program.hash_high);
  to.setHashLow(program.hash_low);
  to.setSizeBytes(program.size_bytes);
}

ProgramId read_program(schema::ProgramId::Reader from) {
  if (from.getSizeBytes() > program_bytes_max) {
    throw Invalid{"ProgramId.sizeBytes is " + std::to_string(from.getSizeBytes()) + ", at most " +
                  std::to_string(program_bytes_max) + " are taken"};
  }
  return {from.getHashHigh(), from.getHashLow(), from.getSizeBytes()};
}

/// Limits of the texts that a program is started with.
struct TextsLimit {
  const char* field;
  std::size_t count_max, bytes_max;  // Bytes of all together.
};
constexpr TextsLimit arguments_limit{"Launch.arguments", arguments_max, arguments_bytes_max};
constexpr TextsLimit environment_limit{"Launch.environment", variables_max, environment_bytes_max};

/// Checked on both sides, so that a program started with too much is refused before it is sent.
void check_texts(const TextsLimit& limit, std::size_t count, std::size_t bytes) {
  check_count(count, limit.count_max, limit.field);
  if (bytes > limit.bytes_max) {
    throw Invalid{std::string(limit.field) + " have " + std::to_string(bytes) + " bytes together, at most " +
                  std::to_string(limit.bytes_max) + " are taken"};
  }
}

std::size_t bytes_of(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  return bytes;
}

std::vector<std::string> texts_from(capnp::List<capnp::Text>::Reader from, const TextsLimit& limit,
                                    Reading& reading) {
  reading.count(from.size(), limit.count_max, limit.field);
  std::vector<std::string> texts;
  std::size_t bytes = 0;
  for (const auto text : from) {
    bytes += text.size();
    check_texts(limit, from.size(), bytes);
    texts.push_back(text_from(text, limit.bytes_max, limit.field));
  }
  return texts;
}

void check_size(std::size_t bytes, std::size_t bytes_max, const char* field) {
  if (bytes > bytes_max) {
    throw Invalid{std::string(field) + " has " + std::to_string(bytes) + " bytes, at most " +
                  std::to_string(bytes_max) + " are taken"};
  }
}

// ---- Endpoints

void write_endpoint(schema::Endpoint::Builder to, const Endpoint& endpoint) {
  if (!endpoint.control.empty()) to.setControl(as_text(endpoint.control));
  if (!endpoint.bulk.empty()) to.setBulk(as_text(endpoint.bulk));
  if (!endpoint.web.empty()) to.setWeb(as_text(endpoint.web));
}

Endpoint read_endpoint(schema::Endpoint::Reader from) {
  return {text_from(from.getControl(), address_bytes_max, "Endpoint.control"),
          text_from(from.getBulk(), address_bytes_max, "Endpoint.bulk"),
          text_from(from.getWeb(), address_bytes_max, "Endpoint.web")};
}

static_assert(static_cast<int>(ProcessEnd::faulted) == static_cast<int>(schema::WorkerDown::End::FAULTED));
static_assert(static_cast<int>(ProcessEnd::out_of_memory) ==
              static_cast<int>(schema::WorkerDown::End::OUT_OF_MEMORY));
static_assert(static_cast<int>(ProcessEnd::killed) == static_cast<int>(schema::WorkerDown::End::KILLED));
static_assert(static_cast<int>(ProcessEnd::stopped_by_us) ==
              static_cast<int>(schema::WorkerDown::End::STOPPED_BY_US));
static_assert(static_cast<int>(ProcessEnd::went_with_node) ==
              static_cast<int>(schema::WorkerDown::End::WENT_WITH_NODE));

// ---- Writing

void write_body(schema::Keeper::Builder to, const keeper::StartWorker& message) {
  write(to.initStartWorker(), message.launch);
}
void write_body(schema::Keeper::Builder to, const keeper::StopWorkers&) { to.setStopWorkers(); }
void write_body(schema::Keeper::Builder to, const keeper::JobsGiven& message) {
  to.setJobsGiven(message.count);
}
void write_body(schema::Keeper::Builder to, const keeper::WorkerUp& message) {
  auto builder = to.initWorkerUp();
  builder.setLife(word_of(message.life));
  write_endpoint(builder.initEndpoint(), message.endpoint);
  builder.setPid(message.pid);
}
void write_body(schema::Keeper::Builder to, const keeper::WorkerDown& message) {
  auto builder = to.initWorkerDown();
  builder.setLife(word_of(message.life));
  builder.setEnd(static_cast<schema::WorkerDown::End>(message.end));
  builder.setHasGuiltyLane(message.guilty_lane.has_value());
  builder.setGuiltyLane(message.guilty_lane.value_or(0));
  if (!message.text.empty()) builder.setText(as_text(message.text));
  write_list(
      message.running, [&](unsigned count) { return builder.initRunning(count); },
      [](auto& list, unsigned i, const RunningAttempt& running) {
        auto one = list[i];
        one.setTask(word_of(running.task));
        one.setEpoch(word_of(running.attempt.epoch));
        one.setAttempt(running.attempt.number);
        one.setLane(running.lane);
        one.setSuspected(running.suspected);
      });
}
void write_body(schema::Keeper::Builder to, const keeper::WorkerRefused& message) {
  write(to.initWorkerRefused(), message.why);
}
void write_body(schema::Keeper::Builder to, const keeper::WantProgram& message) {
  write_program(to.initWantProgram(), message.program);
}
void write_body(schema::Keeper::Builder to, const keeper::Unheard& message) {
  // A member of the union is written even when it is empty.
  auto list = to.initUnheard(static_cast<unsigned>(message.lives.size()));
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, word_of(message.lives[i]));
}
void write_body(schema::Keeper::Builder to, const keeper::StopWorker&) { to.setStopWorker(); }
void write_body(schema::Keeper::Builder to, const keeper::AnotherLeads&) { to.setAnotherLeads(); }
void write_body(schema::Keeper::Builder to, const keeper::Explain& message) {
  write(to.initExplain(), message.what);
}
void write_body(schema::Keeper::Builder to, const keeper::Explained& message) {
  write(to.initExplained(), message.process);
}
void write_body(schema::Keeper::Builder to, const keeper::KeepProgram& message) {
  write_program(to.initKeepProgram(), message.program);
}
void write_body(schema::Keeper::Builder to, const keeper::HaveProgram& message) {
  write_program(to.initHaveProgram(), message.program);
}
void write_body(schema::Keeper::Builder to, const keeper::ProgramBytes& message) {
  check_size(message.bytes.size_bytes(), program_bytes_max, "ProgramBytes.bytes");
  auto builder = to.initProgramBytes();
  write_program(builder.initProgram(), message.program);
  if (message.bytes) builder.setBytes(as_data(message.bytes));
}
void write_body(schema::Keeper::Builder to, const keeper::SaveCopy& message) {
  check_size(message.save.bytes.size_bytes(), save_bytes_max, "SaveCopy.bytes");
  auto builder = to.initSaveCopy();
  const KeepSave& save = message.save;
  if (!message.job_name.empty()) builder.setJobName(as_text(message.job_name));
  if (!message.actor_name.empty()) builder.setActorName(as_text(message.actor_name));
  builder.setGroup(save.as.group);
  builder.setMembers(save.as.members);
  builder.setNumber(save.as.number);
  builder.setActor(save.as.actor);
  write(builder.initName(), save.name);
  write_list(
      save.inputs, [&](unsigned count) { return builder.initInputs(count); },
      [](auto& list, unsigned i, const OutputName& input) { write(list[i], input); });
  if (save.bytes) builder.setBytes(as_data(save.bytes));
}
void write_body(schema::Keeper::Builder to, const keeper::Begin& message) {
  auto builder = to.initBegin();
  builder.setCell(word_of(message.cell));
  write_list(
      message.others, [&](unsigned count) { return builder.initOthers(count); },
      [](auto& list, unsigned i, const Endpoint& other) { write_endpoint(list[i], other); });
}

// ---- Reading

keeper::WorkerDown read_down(JobId job, std::uint32_t number, schema::WorkerDown::Reader from,
                             Reading& reading) {
  // An unknown end could be any process's fault.
  if (from.getEnd() > schema::WorkerDown::End::WENT_WITH_NODE) {
    throw Invalid{"WorkerDown.end is none we know"};
  }
  keeper::WorkerDown down{job,
                          number,
                          life_from(from.getLife()),
                          static_cast<ProcessEnd>(from.getEnd()),
                          text_from(from.getText(), text_bytes_max, "WorkerDown.text"),
                          {},
                          std::nullopt};
  const auto list = from.getRunning();
  reading.count(list.size(), limits::tasks_max, "WorkerDown.running");
  down.running.reserve(list.size());
  for (const auto one : list) {
    down.running.push_back({task_from(one.getTask()), AttemptId{epoch_from(one.getEpoch()), one.getAttempt()},
                            one.getLane(), one.getSuspected()});
  }
  if (from.getHasGuiltyLane()) down.guilty_lane = from.getGuiltyLane();
  return down;
}

keeper::ProgramBytes read_bytes(schema::ProgramBytes::Reader from) {
  keeper::ProgramBytes program{read_program(from.getProgram()), {}};
  if (from.hasBytes()) program.bytes = blob_from(from.getBytes(), program_bytes_max, "ProgramBytes.bytes");
  return program;
}

keeper::SaveCopy read_save(JobId job, schema::SaveCopy::Reader from, Reading& reading) {
  keeper::SaveCopy copy;
  copy.job = job;
  copy.job_name = text_from(from.getJobName(), text_bytes_max, "SaveCopy.jobName");
  copy.actor_name = text_from(from.getActorName(), text_bytes_max, "SaveCopy.actorName");
  copy.save.as = {from.getGroup(), from.getMembers(), from.getNumber(), from.getActor()};
  copy.save.name = read(from.getName());
  copy.save.inputs = read_names(from.getInputs(), reading, "SaveCopy.inputs");
  copy.save.bytes = blob_from(from.getBytes(), save_bytes_max, "SaveCopy.bytes");
  return copy;
}

keeper::Begin read_begin(JobId job, std::uint32_t term, schema::Begin::Reader from, Reading& reading) {
  keeper::Begin begin{job, life_from(from.getCell()), term, {}};
  const auto others = from.getOthers();
  reading.count(others.size(), members_max, "Begin.others");
  begin.others.reserve(others.size());
  for (const auto other : others) begin.others.push_back(read_endpoint(other));
  return begin;
}

}  // namespace

void write(schema::Launch::Builder to, const Launch& launch) {
  check_texts(arguments_limit, launch.arguments.size(), bytes_of(launch.arguments));
  check_texts(environment_limit, launch.environment.size(), bytes_of(launch.environment));
  check_size(launch.directory.size(), directory_bytes_max, "Launch.directory");
  check_size(launch.library_path.size(), environment_bytes_max, "Launch.libraryPath");
  check_count(launch.limits.size(), limits_max, "Launch.limits");
  write_program(to.initProgram(), launch.program);
  if (!launch.build.empty()) to.setBuild(as_text(launch.build));
  const auto set_text = [](auto& list, unsigned i, const std::string& text) { list.set(i, as_text(text)); };
  const auto set = [](auto& list, unsigned i, std::uint64_t value) { list.set(i, value); };
  write_list(
      launch.arguments, [&](unsigned count) { return to.initArguments(count); }, set_text);
  if (!launch.directory.empty()) to.setDirectory(as_text(launch.directory));
  write_list(
      launch.environment, [&](unsigned count) { return to.initEnvironment(count); }, set_text);
  write_list(
      launch.limits, [&](unsigned count) { return to.initLimits(count); }, set);
  if (!launch.library_path.empty()) to.setLibraryPath(as_text(launch.library_path));
  to.setSession(launch.session);
}

Launch read(schema::Launch::Reader from, Reading& reading) {
  const auto limits = from.getLimits();
  reading.count(limits.size(), limits_max, "Launch.limits");
  return {read_program(from.getProgram()),
          text_from(from.getBuild(), build_bytes_max, "Launch.build"),
          texts_from(from.getArguments(), arguments_limit, reading),
          text_from(from.getDirectory(), directory_bytes_max, "Launch.directory"),
          texts_from(from.getEnvironment(), environment_limit, reading),
          values_from<std::uint64_t>(limits),
          text_from(from.getLibraryPath(), environment_bytes_max, "Launch.libraryPath"),
          from.getSession()};
}

std::size_t words(const KeeperMessage& message) {
  return words_of<schema::Keeper> + std::visit([](const auto& one) { return field_words(one); }, message);
}

void write(schema::Keeper::Builder to, const KeeperMessage& message) {
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { one.job; }) to.setJob(one.job.value);
        if constexpr (requires { one.number; }) to.setNumber(one.number);
        if constexpr (requires { one.term; }) to.setTerm(one.term);
        if constexpr (requires { one.question; }) to.setQuestion(one.question);
        write_body(to, one);
      },
      message);
}

std::optional<KeeperMessage> read(schema::Keeper::Reader from, Reading& reading) {
  const JobId job{from.getJob()};
  const std::uint32_t number = from.getNumber();
  switch (from.which()) {
    case schema::Keeper::START_WORKER:
      return keeper::StartWorker{job, number, from.getTerm(), read(from.getStartWorker(), reading)};
    case schema::Keeper::STOP_WORKERS:
      return keeper::StopWorkers{job};
    case schema::Keeper::JOBS_GIVEN:
      return keeper::JobsGiven{from.getJobsGiven()};
    case schema::Keeper::WORKER_UP: {
      const auto reader = from.getWorkerUp();
      return keeper::WorkerUp{job, number, life_from(reader.getLife()), read_endpoint(reader.getEndpoint()),
                              reader.getPid()};
    }
    case schema::Keeper::WORKER_DOWN:
      return read_down(job, number, from.getWorkerDown(), reading);
    case schema::Keeper::WORKER_REFUSED:
      return keeper::WorkerRefused{job, number, read(from.getWorkerRefused())};
    case schema::Keeper::WANT_PROGRAM:
      return keeper::WantProgram{read_program(from.getWantProgram())};
    case schema::Keeper::UNHEARD:
      return keeper::Unheard{job, read_lives(from.getUnheard(), reading, "Keeper.unheard")};
    case schema::Keeper::STOP_WORKER:
      return keeper::StopWorker{job, number};
    case schema::Keeper::ANOTHER_LEADS:
      return keeper::AnotherLeads{job};
    case schema::Keeper::EXPLAIN:
      return keeper::Explain{job, from.getQuestion(), read(from.getExplain(), reading)};
    case schema::Keeper::EXPLAINED:
      return keeper::Explained{job, from.getQuestion(), read(from.getExplained(), reading)};
    case schema::Keeper::KEEP_PROGRAM:
      return keeper::KeepProgram{read_program(from.getKeepProgram())};
    case schema::Keeper::HAVE_PROGRAM:
      return keeper::HaveProgram{read_program(from.getHaveProgram())};
    case schema::Keeper::PROGRAM_BYTES:
      return read_bytes(from.getProgramBytes());
    case schema::Keeper::SAVE_COPY:
      return read_save(job, from.getSaveCopy(), reading);
    case schema::Keeper::BEGIN:
      return read_begin(job, from.getTerm(), from.getBegin(), reading);
  }
  return std::nullopt;
}

}  // namespace dag::wire
