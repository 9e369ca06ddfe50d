// A process with both shards of a job, its record beside it, and lanes that run a row as soon as it is
// ready.
#include "libdag/here/job_here.hpp"

#include <catch2/catch.hpp>

#include "dag/codec.hpp"
#include "libdag/cell/cell.hpp"
#include "tests/support/small_graph.hpp"

namespace dag {
namespace {

constexpr Life self{ProcessId{0}, Incarnation{1}}, other{ProcessId{1}, Incarnation{1}};

/// Tasks a, b and c, each of which reads the one before it; b lies in another shard.
std::shared_ptr<const JobPlan> chain_of_three() {
  detail::Builder builder;
  const std::uint32_t a = test::add(builder, "a"), b = test::add(builder, "b"), c = test::add(builder, "c");
  test::strong(builder, a, b);
  test::strong(builder, b, c);
  auto plan = std::make_shared<JobPlan>();
  plan->job = JobId{7};
  plan->graph = std::make_shared<const detail::Fragment>(builder.sealed());
  plan->shards = 2;
  plan->shard_of = {0, 1, 0};
  return plan;
}

struct Process : JobPorts {
  std::unique_ptr<HomeHere> make_home(const BeginHome& which) override {
    HomeOptions options;
    options.shard = which.shard;
    options.epoch = which.epoch;
    options.self = self;
    return std::make_unique<HomeHere>(options, plan, std::make_shared<SharedRows>(plan->representation, 0),
                                      records, simple_placement());
  }
  void end_home(std::unique_ptr<HomeHere> home) override { ended.push_back(home->home.options().shard); }
  Waiting waiting(std::optional<Duration>) override { return {}; }
  std::vector<RowIndex> take_rows(std::uint32_t, std::uint32_t) override { return {}; }
  std::vector<OutputName> take_attempts(std::uint32_t,
                                        const std::function<bool(const OutputName&)>&) override {
    return {};
  }

  void tell(JobMessage message, Life from = self) {
    CHECK(job.on_message(from, std::move(message)) == Admission::deliver);
    go_on();
  }
  /// Until nobody here has anything to say or to run.
  void go_on() {
    for (auto effects = job.run(now); !effects.empty(); effects = job.run(now)) {
      job.check_invariants();
      for (JobEffect& effect : effects) carry_out(effect);
    }
  }
  void carry_out(JobEffect& any) {
    if (const auto* ready = std::get_if<OfferRow>(&any)) {
      run(ready->shard, ready->row);
    } else if (auto* said = std::get_if<TellCell>(&any)) {
      cell.on_message(said->from, said->message, now);
      hear_cell();
    } else if (auto* message = std::get_if<SendMessage>(&any)) {
      left.push_back(std::move(*message));
    }
  }
  void run(std::uint32_t shard, RowIndex row) {
    HomeHere& here = *job.homes().at(shard);
    const Next claim = here.table.apply(row, Claimed{});
    REQUIRE(claim.what == Do::run);
    ran.push_back(here.table.id(row));
    LaneReport report;
    report.slow.push_back({row, claim.word.attempt, AttemptEnd{}});
    report.slow.back().ended.task = here.table.id(row);
    report.slow.back().ended.id = {here.home.epoch(), claim.word.attempt};
    job.on_lanes(shard, std::move(report), now);
  }
  void hear_cell() {
    for (CellEffect& effect : cell.take_effects()) {
      if (std::holds_alternative<JobIsOver>(effect)) job_ended = true;
      auto* message = std::get_if<SendMessage>(&effect);
      if (message != nullptr && message->to == self) job.on_message(self, std::move(message->message));
    }
  }

  std::shared_ptr<const JobPlan> plan = chain_of_three();
  NullEventSink records;
  Cell cell{CellOptions{self}, plan, records};
  JobHere job{RunnerOptions{self}, plan, *this, records};
  Instant now;
  std::vector<TaskId> ran;
  std::vector<SendMessage> left;
  std::vector<std::uint32_t> ended;
  bool job_ended = false;
};

TEST_CASE("a job in one process runs by what its machines say to each other, and nothing leaves") {
  Process process;
  process.job.open();
  process.cell.begin({self}, {}, process.now);
  process.hear_cell();
  process.go_on();
  CHECK(process.ran == std::vector<TaskId>{{0, 0}, {0, 1}, {0, 2}});
  for (int waits = 0; waits < 5 && !process.job_ended; ++waits) {
    process.now = process.job.wake_at().value();
    process.job.on_time(process.now);
    process.go_on();
  }
  CHECK(process.job_ended);
  CHECK(process.left.empty());
  process.cell.close();
  process.hear_cell();
  process.go_on();
  CHECK(process.ended == std::vector<std::uint32_t>{0, 1});
  CHECK(process.job.homes().empty());
  CHECK_FALSE(process.job.wake_at());
}

/// Its homes are here from the beginning, and nothing has run.
struct BegunElsewhere : Process {
  BegunElsewhere() {
    job.open();
    state.job = JobId{7};
    state.version = 1;
    state.cell = other;
    state.lives = {self, other};
    state.homes = {{self, {1, 1}}, {self, {1, 1}}};
    job.on_message(other, state);
  }
  message::JobState state;
};

TEST_CASE("each machine hears a state in a step of its own") {
  BegunElsewhere process;
  CHECK(process.job.homes().empty());
  CHECK(process.job.step(process.now));  // The runner.
  CHECK(process.job.step(process.now));
  CHECK(process.job.homes().size() == 1);
  CHECK(process.job.step(process.now));
  CHECK(process.job.homes().size() == 2);
  CHECK_FALSE(process.job.step(process.now));
  process.job.check_invariants();
}

TEST_CASE("the rows of a home that ends go back to the process, and lanes report to nobody") {
  BegunElsewhere process;
  process.job.run(process.now);
  process.state.version = 2;
  process.state.homes[0] = {other, {1, 2}};
  process.job.on_message(other, process.state);
  process.job.run(process.now);
  CHECK(process.ended == std::vector<std::uint32_t>{0});
  CHECK(process.job.homes().contains(1));
  process.job.on_lanes(0, LaneReport{}, process.now);
  CHECK(process.job.take_effects().empty());
  process.job.check_invariants();
}

TEST_CASE("what homes here know of the rows of another home goes along in the runner's report") {
  BegunElsewhere process;
  process.go_on();
  REQUIRE(process.ran == std::vector<TaskId>{{0, 0}, {0, 1}, {0, 2}});
  process.left.clear();
  process.state.version = 2;
  process.state.homes[0] = {other, {1, 2}};
  process.tell(process.state, other);
  const auto report = std::find_if(process.left.begin(), process.left.end(), [](const SendMessage& message) {
    return std::holds_alternative<message::Report>(message.message);
  });
  REQUIRE(report != process.left.end());
  CHECK(report->to == other);
  CHECK(std::get<message::Report>(report->message).shard == 0);
  CHECK_FALSE(std::get<message::Report>(report->message).ended.empty());
}

TEST_CASE("an answer about tasks has all that the homes and the runner here know") {
  BegunElsewhere process;
  process.go_on();
  REQUIRE(process.ran.size() == 3);
  OutcomeRecord retried;
  retried.task = {0, 1};
  retried.attempt = {{1, 1}, 1};
  process.job.publish(retried, detail::to_blob(std::uint64_t{8}));
  TaskSelector all;
  all.outputs = true;
  ProcessExplained answer;
  process.job.explain(all, process.now, answer);
  CHECK(answer.tasks.size() == 3);
  CHECK(answer.taken.empty());
  CHECK(answer.held == std::vector<HeldOutputs>{{"b", 1, 8}});
}

TEST_CASE("processes fetch here what a job began with, and what lay on the disk") {
  Process process;
  OutcomeRecord retried;
  retried.task = {0, 1};
  retried.attempt = {{1, 1}, 1};
  process.job.publish(retried, detail::to_blob(std::uint64_t{8}));
  KeepSave save;
  save.name = {{0, 2}, {{1, 1}, checkpoint_numbers}};
  save.bytes = detail::to_blob(std::uint64_t{9});
  const OutputName saved = save.name;
  process.job.found(std::move(save));
  process.job.open();
  message::JobState state;
  state.job = JobId{7};
  state.version = 1;
  state.cell = other;
  state.lives = {self, other};
  state.homes = {{other, {1, 1}}, {other, {1, 1}}};
  process.tell(state, other);
  for (const OutputName& name : {retried.name(), saved}) {
    process.left.clear();
    process.tell(message::Fetch{JobId{7}, name}, other);
    REQUIRE(process.left.size() == 1);
    CHECK(process.left[0].to == other);
    const auto* data = std::get_if<message::Data>(&process.left[0].message);
    REQUIRE(data != nullptr);
    CHECK(data->name == name);
    CHECK(data->bytes.size_bytes() == 8);
  }
}

}  // namespace
}  // namespace dag
