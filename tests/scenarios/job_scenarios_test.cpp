// Scenarios of one job, told by its own records and by the messages that matter. The machines are the real
// ones: cell, homes and runners of a few processes, one after the other (tests/unit/home/local_job.hpp). The
// texts are tests/scenarios/transcripts; each begins with what to look for.

#include <set>

#include "tests/scenarios/transcript.hpp"
#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;
using namespace std::chrono_literals;

namespace {

/// Runs a job and writes down what it records, and messages of some kinds.
class Stage final : public EventSink {
 public:
  Stage(const std::string& about, std::set<std::string> kinds)
      : transcript(about), kinds_(std::move(kinds)) {}

  /// The job begins: processes n0 (the cell alone), n1 and n2, and the home of shard 0 at n1.
  LocalJob& begin(const Names& graph, const Kernel& kernel, LocalJobOptions options) {
    graph_ = graph.builder.sealed();
    options.records = this;
    transcript.step("the job begins; n0 has its record");
    job_ = std::make_unique<LocalJob>(graph_, kernel, options);
    listen();
    return *job_;
  }
  /// Tells messages; `held` are not delivered until release().
  void listen(std::function<bool(const LocalJob::Mail&)> held = nullptr) {
    job_->hold = [this, held = std::move(held)](const LocalJob::Mail& mail) {
      const bool stays = held && held(mail);
      if (kinds_.contains(std::string(dag::name(mail.message))))
        transcript.line(job_->now, text_of(mail) + (stays ? " (does not arrive yet)" : ""));
      return stays;
    };
  }
  void release() {
    job_->release_held();
    listen();
  }
  void step(const std::string& what) { transcript.step(what); }
  void end() {
    job_->run();
    transcript.line(job_->now, "the job has ended");
  }

  void record(const JournalEvent& record) override {
    if (std::holds_alternative<event::Ready>(record.what)) return;
    if (std::holds_alternative<event::TasksKnown>(record.what)) return;
    std::string line = to_string(record.place) + "  ";
    if (is_about_task(record.what)) line += name_of(record.task);
    if (is_about_task(record.what) && record.attempt) line += to_string(record.attempt);
    transcript.line(record.at, line + (line.ends_with("  ") ? "" : " ") + to_string(record.what));
  }

  Transcript transcript;

 private:
  std::string name_of(TaskId task) const {
    return task.origin == 0 ? graph_.name(task.index) : to_string(task);
  }
  std::string text_of(const LocalJob::Mail& mail) const {
    std::string text = to_string(mail.from.process) + " -> " + to_string(mail.to.process) + "  " +
                       std::string(dag::name(mail.message));
    const auto add = [&](const OutputName& name) {
      text += " " + name_of(name.task) + to_string(name.attempt);
    };
    std::visit(
        [&](const auto& message) {
          if constexpr (requires { message.record.task; }) add(message.record.name());
          if constexpr (requires { message.attempt.id; }) add({message.attempt.task, message.attempt.id});
          if constexpr (requires { message.name.attempt; }) add(message.name);
          if constexpr (requires { message.slots; }) text += " for " + std::to_string(message.slots);
          if constexpr (requires { message.had; }) {
            for (const auto& had : message.had) add(had.record.name());
            if (!message.running.empty()) text += ", running:";
            for (const auto& running : message.running) add(running.name);
          }
        },
        mail.message);
    return text;
  }

  const std::set<std::string> kinds_;
  detail::Fragment graph_;
  std::unique_ptr<LocalJob> job_;
};

LocalJobOptions two_workers(std::uint32_t place) {
  LocalJobOptions options = home_at_1(Representation::supervised);
  options.cell_runs = false;
  options.place = place;
  return options;
}

}  // namespace

TEST_CASE("scenario: a process is lost while it runs a task") {
  Stage stage(
      "A process is lost while it runs a task.\n"
      "The home (n1) handed b to n2. n2 dies: the attempt is lost, which charges no try, and b runs again\n"
      "at n1. a is not run again: its outcome is settled.",
      {"Lend", "Ended"});
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a});
  graph.task("c", {b});
  LocalJobOptions options = two_workers(1);
  options.places = {{"b", 2}};
  LocalJob& job = stage.begin(graph, Script().kernel(), options);
  job.paused = {"b"};
  job.settle_down();
  stage.step("n2 dies");
  job.die(2);
  job.settle_down();
  stage.step("b's kernel returns");
  job.paused.clear();
  stage.end();
  CHECK(job.runs("a") == 1);
  stage.transcript.check("loss");
}

TEST_CASE("scenario: the home of a shard is lost, and the next one counts again") {
  Stage stage(
      "The home of a shard is lost, and the next one counts again.\n"
      "n2 runs all attempts, so it has what the lost home (n1) knew: its Report tells the new home that a "
      "ended\n"
      "and that b is running. Nothing runs twice; attempts keep the epoch of the home that issued them.",
      {"Assign", "Report", "Lend", "Ended"});
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a});
  graph.task("c", {b});
  LocalJob& job = stage.begin(graph, Script().kernel(), two_workers(2));
  job.paused = {"b"};
  stage.listen(is_a<message::Outcomes>);  // The record hears of nothing before the loss.
  job.settle_down();
  stage.step("n1 dies; nothing of the shard is settled");
  job.die(1);
  job.held.clear();  // Died with n1.
  stage.listen();
  job.settle_down();
  stage.step("b's kernel returns");
  job.paused.clear();
  stage.end();
  for (const char* name : {"a", "b", "c"}) CHECK(job.runs(name) == 1);
  stage.transcript.check("recount");
}

TEST_CASE("scenario: an end does not count after all") {
  Stage stage(
      "An end does not count after all (a void end).\n"
      "a gives another value with each attempt. c, of another shard, ran with what came of the first one; "
      "then\n"
      "n1 dies with a's output before a is settled, and a runs again. The new home of shard 0 tells the home "
      "of\n"
      "shard 1 (n2) that b has not ended after all (NotEnded), and c runs again with the value that counts.",
      {"Assign", "Report", "PredecessorEnded", "NotEnded", "Lend"});
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a}), c = graph.task("c", {b});
  std::uint64_t tries = 0;
  Script script;
  script.special["a"] = [&tries](const KernelCall&) {
    AttemptEnd ended;
    ended.output = detail::to_blob(++tries);
    return ended;
  };
  LocalJobOptions options;
  options.processes = 4;
  options.shards = 2;
  options.shard_of = {0, 0, 1};
  options.homes = {1, 2};
  options.cell_runs = false;
  options.inline_bytes_max = 0;
  options.representation = Representation::supervised;
  LocalJob& job = stage.begin(graph, script.kernel(), options);
  stage.listen(is_a<message::Outcomes>);
  job.settle_down();
  CHECK(job.runs("c") == 1);
  stage.step("n1 dies; neither a nor b is settled");
  job.die(1);
  std::erase_if(job.held, [&](const LocalJob::Mail& mail) { return mail.from.process == ProcessId{1}; });
  stage.release();
  stage.end();
  CHECK(job.runs("c") == 2);
  CHECK(job.outcome(c) == Outcome::finished);
  stage.transcript.check("void_end");
}

TEST_CASE("scenario: an idle process asks for work") {
  Stage stage(
      "An idle process asks for work.\n"
      "n1, the victim, has three tasks and no lane free. n2, the thief, has nothing to do and asks for two. "
      "The\n"
      "home at n1 hands out two rows that no lane has claimed; their ends come back to it.",
      {"StealRequest", "Lend", "Ended"});
  Names graph;
  for (const char* name : {"a", "b", "c"}) graph.task(name);
  LocalJobOptions options = home_at_1(Representation::as_needed);
  options.cell_runs = false;
  LocalJob& job = stage.begin(graph, Script().kernel(), options);
  job.paused = {"a", "b", "c"};
  job.settle_down();
  stage.step("n2 asks n1");
  job.steal(2, 1, 2);
  job.settle_down();
  stage.step("the kernels return");
  job.paused.clear();
  stage.end();
  stage.transcript.check("steal");
}

TEST_CASE("scenario: a group restarts together") {
  Stage stage(
      "A group restarts together.\n"
      "left and right are a group with one_for_all. right fails once: left is stopped, though nothing is "
      "wrong\n"
      "with it, and both start again when right's pause is over. Only right is charged a try.",
      {"Stop"});
  Names graph;
  const TaskId left = graph.task("left"), right = graph.task("right");
  for (const TaskId member : {left, right}) graph.attempts(member, 1, 1s);
  graph.group("pair", Strategy::one_for_all, {.restarts = 3, .period = 60s}, {left, right});
  Script script;
  script.failures = {{"right", 1}};
  LocalJobOptions options = two_workers(2);
  LocalJob& job = stage.begin(graph, script.kernel(), options);
  job.paused = {"left"};
  job.settle_down();
  stage.step("a second passes");
  job.paused.clear();
  stage.end();
  CHECK(job.outcome(left) == Outcome::finished);
  stage.transcript.check("group_restart");
}

TEST_CASE("scenario: a save border") {
  Stage stage(
      "A save border.\n"
      "Two job actors live at n1 and are saved behind each step; their home is n2. A call behind a save "
      "waits\n"
      "until the border is complete: both saves settled, and each state held by a second process "
      "(Replicate,\n"
      "Holding). Then n1 dies: the actors are made again from the border, and only calls behind it run "
      "again.",
      {"Replicate", "Holding"});
  Names graph;
  for (const char* name : {"A", "B"}) graph.actor(name);
  graph.builder.add_save_group({0, 1});
  TaskId last;
  for (int at = 1; at <= 2; ++at) {
    const std::string number = std::to_string(at);
    const TaskId a = graph.call(0, "a" + number);
    if (at > 1) graph.edge(last, a, detail::EdgeKind::strong);
    last = graph.call(1, "b" + number, {a});
    graph.call(0, "save A" + number, {}, detail::CallKind::save);
    graph.call(1, "save B" + number, {}, detail::CallKind::save);
  }
  LocalJobOptions options;
  options.processes = 4;
  options.homes = {2};
  options.place = 1;
  options.cell_runs = false;
  options.inline_bytes_max = 0;
  LocalJob& job = stage.begin(graph, Script().kernel(), options);
  job.paused = {"b2"};
  job.settle_down();
  stage.step("n1 dies in the second step");
  job.die(1);
  job.settle_down();
  stage.step("b2's kernel returns");
  job.paused.clear();
  stage.end();
  CHECK(job.runs("a1") == 1);
  stage.transcript.check("save_border");
}

TEST_CASE("scenario: a task spawns tasks, and becomes one of them") {
  Stage stage(
      "A task spawns tasks, and becomes one of them.\n"
      "train spawns two tasks of shard 0 (s0/...) and becomes the second: it ends as that one ends, and "
      "report,\n"
      "which waits for train, gets that one's output. Spawned tasks run before their parent is settled.",
      {"Lend", "Ended"});
  Names graph;
  const TaskId train = graph.task("train");
  graph.task("report", {train});
  Script script;
  script.special["train"] = [](const KernelCall&) {
    Names below;
    const TaskId step = below.task("step");
    below.task("result", {step});
    return spawning(below, 1);
  };
  LocalJob& job = stage.begin(graph, script.kernel(), two_workers(2));
  stage.end();
  CHECK(job.runs("result") == 1);
  stage.transcript.check("spawn");
}
