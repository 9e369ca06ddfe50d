// The record of a job, played the messages of its homes by hand.
#include "libdag/cell/cell.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "libdag/base/spawned.hpp"
#include "tests/support/small_graph.hpp"

using namespace dag;

namespace {

constexpr Life life(std::uint32_t process, std::uint32_t incarnation = 1) {
  return {ProcessId{process}, Incarnation{incarnation}};
}
constexpr Life cell_life = life(9);
constexpr Instant now{};

/// 0 -> 1 -> 2, in the shards that are given.
std::shared_ptr<const JobPlan> chain_plan(std::vector<ShardIndex> shard_of, std::uint32_t shards,
                                          Effects effects = Effects::pure) {
  detail::Builder builder;
  for (const char* name : {"a", "b", "c"}) {
    test::add(builder, name);
    builder.change_policy(static_cast<std::uint32_t>(builder.size()) - 1,
                          [&](Policy& policy) { policy.effects = effects; });
  }
  test::strong(builder, 0, 1);
  test::strong(builder, 1, 2);
  auto plan = std::make_shared<JobPlan>();
  plan->job = JobId{7};
  plan->graph = std::make_shared<const detail::Fragment>(builder.sealed());
  plan->shard_of = std::move(shard_of);
  plan->shards = shards;
  return plan;
}

OutcomeRecord finished(std::uint32_t task, AttemptId attempt, std::uint64_t value = 0) {
  OutcomeRecord record;
  record.task = {0, task};
  record.attempt = attempt;
  record.outcome = Outcome::finished;
  record.has_output = true;
  record.value = detail::to_blob(value);
  return record;
}

/// A cell, and what it said since the last look.
struct Job {
  Job(std::shared_ptr<const JobPlan> the_plan, bool self_runs = true,
      std::optional<Instant> submitted = std::nullopt)
      : plan(std::move(the_plan)), cell({cell_life, 1, self_runs, submitted}, plan, records) {}

  void look() {
    sent.clear();
    told.clear();
    ended.clear();
    for (CellEffect& effect : cell.take_effects()) {
      if (auto* message = std::get_if<SendMessage>(&effect)) sent.push_back(std::move(*message));
      if (auto* tell = std::get_if<TellClient>(&effect)) told.push_back(std::move(*tell));
      if (auto* end = std::get_if<JobIsOver>(&effect)) ended.push_back(std::move(*end));
    }
  }
  /// Messages of one kind, each with its receiver.
  template <class M>
  std::vector<std::pair<Life, M>> of() const {
    std::vector<std::pair<Life, M>> found;
    for (const SendMessage& message : sent) {
      if (const auto* wanted = std::get_if<M>(&message.message)) found.emplace_back(message.to, *wanted);
    }
    return found;
  }
  const message::ShardHome& home(std::uint32_t shard) const { return cell.state().homes[shard]; }
  /// The next Outcomes of the home of a shard.
  message::Outcomes cut(std::uint32_t shard, std::uint64_t number, std::uint64_t open,
                        std::vector<OutcomeRecord> ended_now = {}) {
    message::Outcomes outcomes;
    outcomes.job = plan->job;
    outcomes.shard = shard;
    outcomes.epoch = home(shard).epoch;
    outcomes.number = number;
    auto& steps = steps_of[{shard, outcomes.epoch}];
    for (const auto& [other, count] : steps) outcomes.first_step += other < number ? count : 0;
    steps[number] = ended_now.empty() ? 0 : 1;
    outcomes.rows_open = open;
    outcomes.records = std::move(ended_now);
    return outcomes;
  }
  void say(const message::Outcomes& outcomes) {
    cell.on_message(home(outcomes.shard).home, outcomes, now);
    look();
  }

  CollectingEventSink records;
  std::shared_ptr<const JobPlan> plan;
  Cell cell;
  std::vector<SendMessage> sent;
  std::vector<TellClient> told;
  std::vector<JobIsOver> ended;

  /// How many steps the cuts that were made here have, by their numbers.
  std::map<std::pair<std::uint32_t, Epoch>, std::map<std::uint64_t, std::uint64_t>> steps_of;
};

}  // namespace

TEST_CASE("a job begins: everybody is told what it is and who takes part, shards go round") {
  Job job(chain_plan({0, 1, 2}, 3));
  job.cell.begin({cell_life, life(1)}, {}, now);
  job.look();
  CHECK(job.of<message::JobCreate>().size() == 2);
  const auto states = job.of<message::JobState>();
  REQUIRE(states.size() == 2);
  CHECK(states[0].second.lives == std::vector<Life>{life(1), cell_life});
  CHECK(job.home(0).home == cell_life);
  CHECK(job.home(1).home == life(1));
  CHECK(job.home(2).home == cell_life);
  CHECK(job.home(2).epoch == Epoch{1, 1});
}

TEST_CASE("homes can be named") {
  Job job(chain_plan({0, 1, 1}, 2));
  job.cell.begin({cell_life, life(1), life(2)}, {life(2), life(1)}, now);
  CHECK(job.home(0).home == life(2));
  CHECK(job.home(1).home == life(1));
}

TEST_CASE("an outcome is settled once, and told to its home, to shards that wait for it, and to clients") {
  // Only what has effects waits until its predecessors are settled.
  Job job(chain_plan({0, 1, 1}, 2, Effects::idempotent));
  job.cell.begin({cell_life, life(1)}, {life(1), cell_life}, now);
  job.cell.follow({1}, {{0, 0}}, now);
  job.look();
  const AttemptId attempt{{1, 1}, 1};
  const message::Outcomes first = job.cut(0, 1, 0, {finished(0, attempt, 5)});
  job.say(first);
  const auto settled = job.of<message::Settled>();
  REQUIRE(settled.size() == 2);
  for (const auto& [to, message] : settled) {
    CHECK(message.from == 0);
    CHECK(message.to == 1);
    if (message.shard == 0) {
      CHECK(to == life(1));
      CHECK(message.outcomes == 1);
      CHECK(message.predecessors.empty());
    } else {
      CHECK(to == cell_life);
      REQUIRE(message.predecessors.size() == 1);
      CHECK(detail::from_blob<std::uint64_t>(message.predecessors[0].value) == 5);
    }
  }
  REQUIRE(job.told.size() == 1);
  CHECK(job.told[0].record.attempt == attempt);
  CHECK(job.told[0].holders == std::vector<Life>{life(1)});
  CHECK(job.cell.counts().settled == 1);

  job.say(first);  // Repeated.
  CHECK(job.sent.empty());
  CHECK(job.told.empty());
  CHECK(job.cell.counts().settled == 1);
  job.cell.follow({1}, {{0, 0}}, now);
  job.cell.follow({2}, {{0, 0}}, now);
  job.look();
  REQUIRE(job.told.size() == 1);  // Each client is told once.
  CHECK(job.told[0].client == ClientId{2});
}

TEST_CASE("only who is the home now is believed") {
  Job job(chain_plan({0, 0, 0}, 1));
  job.cell.begin({cell_life, life(1), life(2)}, {life(1)}, now);
  job.look();
  const message::Outcomes old = job.cut(0, 1, 2, {finished(0, {{1, 1}, 1})});
  job.cell.on_message(life(2), old, now);
  CHECK(job.cell.counts().settled == 0);
  job.cell.on_life_down(life(1), now);
  job.cell.on_message(life(1), old, now);
  job.cell.on_message(job.home(0).home, old, now);
  CHECK(job.cell.counts().settled == 0);
  job.say(job.cut(0, 1, 2, {finished(0, {{1, 2}, 1})}));
  CHECK(job.cell.counts().settled == 1);
}

TEST_CASE("the job ends when every home has said that nothing is open") {
  Job job(chain_plan({0, 0, 1}, 2));
  job.cell.begin({cell_life, life(1)}, {}, now);
  job.look();
  job.say(job.cut(0, 1, 0, {finished(0, {{1, 1}, 1}), finished(1, {{1, 1}, 2})}));
  CHECK(job.ended.empty());  // The other home was not heard.
  job.say(job.cut(1, 1, 1));
  CHECK(job.ended.empty());
  job.say(job.cut(1, 2, 0, {finished(2, {{1, 1}, 1})}));
  REQUIRE(job.ended.size() == 1);
  CHECK_FALSE(job.ended[0].stopped);
  CHECK(job.cell.counts().finished == 3);
}

TEST_CASE("a shard whose home died goes to another life with all that is settled of it and around it") {
  Job job(chain_plan({0, 1, 1}, 2));
  job.cell.begin({cell_life, life(1)}, {cell_life, life(1)}, now);
  job.cell.keep({{0, 2}}, now);
  job.cell.cancel({{0, 1}, {0, 0}}, now);
  job.say(job.cut(0, 1, 0, {finished(0, {{1, 1}, 1})}));
  OutcomeRecord grew = finished(1, {{1, 1}, 1});
  grew.outcome = Outcome::none;
  job.say(job.cut(1, 1, 2, {grew}));
  job.say(job.cut(1, 2, 1, {finished(1, {{1, 1}, 9})}));
  job.cell.on_life_down(life(1), now);
  job.look();
  const auto assigned = job.of<message::Assign>();
  REQUIRE(assigned.size() == 1);
  CHECK(assigned[0].first == cell_life);
  const message::Assign& assign = assigned[0].second;
  CHECK(assign.shard == 1);
  CHECK(assign.epoch == Epoch{1, 2});
  CHECK(assign.asked == std::vector<Life>{cell_life});
  REQUIRE(assign.settled.size() == 3);
  CHECK(assign.settled[0].outcome == Outcome::none);  // As it grew, then as it ended.
  CHECK(assign.settled[1].outcome == Outcome::finished);
  CHECK(assign.settled[1].attempt == AttemptId{{1, 1}, 9});
  CHECK(assign.settled[2].task == TaskId{0, 0});
  REQUIRE(assign.kept.size() == 1);
  CHECK(assign.kept[0].task == TaskId{0, 2});
  CHECK(assign.cancelled == std::vector<TaskId>{{0, 1}});
  const auto states = job.of<message::JobState>();
  REQUIRE(states.size() == 1);  // The dead are told nothing.
  CHECK(states[0].second.lives == std::vector<Life>{cell_life});
  // The new home counts its own cuts, and its stream begins anew.
  job.say(job.cut(1, 1, 0, {finished(2, {{1, 2}, 1})}));
  const auto settled = job.of<message::Settled>();
  REQUIRE(settled.size() == 1);
  CHECK(settled[0].second.from == 0);
  CHECK(job.ended.size() == 1);
}

TEST_CASE(
    "shards of the dead are spread over the living, and a life that comes up later takes nothing away") {
  Job job(chain_plan({0, 1, 2}, 3));
  job.cell.begin({cell_life, life(1), life(2)}, {life(1), life(1), life(1)}, now);
  job.cell.on_life_down(life(1), now);
  std::set<Life> homes{job.home(0).home, job.home(1).home, job.home(2).home};
  CHECK(homes == std::set<Life>{cell_life, life(2)});
  const auto before = job.cell.state().homes;
  job.look();
  job.cell.on_life_up(life(1, 2), now);
  job.look();
  CHECK(job.cell.state().homes == before);
  CHECK(job.of<message::JobState>().size() == 3);
  CHECK(job.of<message::JobCreate>().size() == 1);
  CHECK(job.of<message::Assign>().empty());
  const auto version = job.cell.state().version;
  job.cell.on_life_up(life(1, 2), now);    // Known already.
  job.cell.on_life_down(life(1, 1), now);  // So is its death.
  CHECK(job.cell.state().version == version);
}

TEST_CASE("a shard may lose its home again and again") {
  Job job(chain_plan({0, 0, 0}, 1), false);
  job.cell.begin({cell_life, life(1), life(2)}, {}, now);
  constexpr std::uint32_t losses = 1000;
  for (std::uint32_t i = 0; i < losses; ++i) {
    const Life home = job.home(0).home;
    job.cell.on_life_down(home, now);
    job.cell.on_life_up(life(home.process.value, home.incarnation.value + 1), now);
    job.look();
    REQUIRE(job.ended.empty());
  }
  CHECK(job.home(0).epoch == Epoch{1, losses + 1});
  job.say(job.cut(0, 1, 0, {finished(0, {{1, losses + 1}, 1})}));
  REQUIRE(job.ended.size() == 1);
  CHECK_FALSE(job.ended[0].stopped);
}

TEST_CASE("the job stops when a shard was lost more often than homes can number") {
  CollectingEventSink records;
  const auto plan = chain_plan({0, 0, 0}, 1);
  CellOptions options{cell_life, 1, false};
  options.replicas = 3;
  Cell first(options, plan, records);
  first.begin({cell_life, life(1), life(2)}, {life(1)}, now);
  CellSnapshot near_the_end = first.snapshot();
  near_the_end.state.homes[0].epoch.count = epochs_max - 2;
  Cell cell(options, near_the_end, records);
  cell.on_life_down(life(1), now);
  cell.on_life_up(life(1, 2), now);
  REQUIRE(cell.state().homes[0].home == life(2));
  REQUIRE_FALSE(cell.ended());
  cell.on_life_down(life(2), now);
  REQUIRE(cell.ended());
  REQUIRE(cell.ended()->stopped);
  CHECK(cell.ended()->stopped->code == ErrorCode::process_crashed);
  CHECK_FALSE(cell.ended()->stopped->hint.empty());
}

TEST_CASE("a large job is told to the members that ask what it is") {
  CollectingEventSink records;
  CellOptions options{cell_life, 1};
  options.small_plan_bytes_max = 0;
  const auto plan = chain_plan({0, 1, 2}, 3);
  Cell cell(options, plan, records);
  const auto told = [&] {
    std::vector<Life> whom;
    for (const CellEffect& effect : cell.take_effects()) {
      const auto* sent = std::get_if<SendMessage>(&effect);
      if (sent != nullptr && std::holds_alternative<message::JobCreate>(sent->message))
        whom.push_back(sent->to);
    }
    return whom;
  };
  cell.begin({cell_life, life(1)}, {}, now);
  cell.on_life_up(life(2), now);
  CHECK(told().empty());
  for (const Life who : {life(2), life(1), life(3)}) cell.on_message(who, message::AskPlan{plan->job}, now);
  CHECK(told() == std::vector{life(2), life(1)});  // The third is no member.
  cell.on_life_down(life(1), now);
  cell.on_message(life(1), message::AskPlan{plan->job}, now);
  CHECK(told().empty());
}

TEST_CASE("a cell that only records is a member, and nobody's home") {
  Job job(chain_plan({0, 1, 2}, 3), false);
  job.cell.begin({cell_life, life(1), life(2)}, {}, now);
  job.look();
  CHECK(job.cell.state().recorders == std::vector{cell_life});
  CHECK(job.of<message::JobState>().size() == 3);
  CHECK(message::lives_that_run(job.cell.state()) == std::vector<Life>{life(1), life(2)});
  for (std::uint32_t shard = 0; shard < 3; ++shard) CHECK(job.home(shard).home != cell_life);
  job.cell.on_life_down(life(1), now);
  for (std::uint32_t shard = 0; shard < 3; ++shard) CHECK(job.home(shard).home == life(2));
}

TEST_CASE("when the last life that runs dies, shards wait until one comes up") {
  Job job(chain_plan({0, 1, 1}, 2), false);
  job.cell.begin({cell_life, life(1)}, {}, now);
  job.say(job.cut(0, 1, 0, {finished(0, {{1, 1}, 1})}));
  job.cell.on_life_down(life(1), now);
  job.look();
  CHECK(job.of<message::Assign>().empty());
  CHECK(job.of<message::JobState>().size() == 1);
  CHECK(job.ended.empty());
  job.cell.keep({{0, 0}}, now);
  job.cell.cancel({{0, 2}}, now);
  job.look();
  CHECK(job.sent.empty());  // Nobody to tell; the next home is.

  job.cell.on_life_up(life(2), now);
  job.look();
  const auto assigned = job.of<message::Assign>();
  REQUIRE(assigned.size() == 2);
  for (const auto& [to, assign] : assigned) {
    CHECK(to == life(2));
    CHECK(assign.epoch == Epoch{1, 2});
    CHECK(assign.asked == std::vector<Life>{life(2), cell_life});
    REQUIRE(assign.settled.size() == 1);
    CHECK(assign.settled[0].task == TaskId{0, 0});
    CHECK(assign.kept.size() == (assign.shard == 0 ? 1 : 0));
    CHECK(assign.cancelled.size() == (assign.shard == 1 ? 1 : 0));
  }
  job.say(job.cut(0, 1, 0));
  CHECK(job.ended.empty());
  job.say(job.cut(1, 1, 0, {finished(1, {{1, 2}, 1}), finished(2, {{1, 2}, 2})}));
  CHECK(job.ended.size() == 1);
}

TEST_CASE("a job can begin before anything is there to run it") {
  Job job(chain_plan({0, 0, 0}, 1), false);
  job.cell.begin({cell_life}, {}, now);
  job.look();
  CHECK(job.of<message::JobState>().size() == 1);
  job.cell.on_life_up(life(1), now);
  job.look();
  REQUIRE(job.of<message::Assign>().size() == 1);
  CHECK(job.home(0).home == life(1));
  job.say(job.cut(0, 1, 0, {finished(0, {{1, 2}, 1}), finished(1, {{1, 2}, 2}), finished(2, {{1, 2}, 3})}));
  CHECK(job.ended.size() == 1);
}

TEST_CASE("an ended job is repaired until it is closed: its outputs may still be asked for") {
  Job job(chain_plan({0, 0, 0}, 1));
  job.cell.begin({cell_life, life(1)}, {life(1)}, now);
  job.say(job.cut(0, 1, 0, {finished(0, {{1, 1}, 1}), finished(1, {{1, 1}, 2}), finished(2, {{1, 1}, 3})}));
  REQUIRE(job.ended.size() == 1);
  job.cell.on_life_down(life(1), now);
  job.look();
  CHECK(job.of<message::JobState>().size() == 1);
  REQUIRE(job.of<message::Assign>().size() == 1);
  CHECK(job.of<message::Assign>()[0].second.settled.size() == 3);
  job.say(job.cut(0, 1, 0));
  CHECK(job.ended.empty());  // Only once.
  job.cell.close();
  job.look();
  REQUIRE(job.of<message::JobState>().size() == 1);
  CHECK(job.of<message::JobState>()[0].second.ended);
  job.cell.on_life_up(life(2), now);
  job.look();
  CHECK(job.sent.empty());
}

TEST_CASE("a failure that a home reports stops the job") {
  Job job(chain_plan({0, 0, 0}, 1));
  job.cell.begin({cell_life, life(1)}, {life(1)}, now);
  job.look();
  job.cell.on_message(life(1), message::JobFailed{JobId{7}, 0, {1, 1}, {ErrorCode::not_reproducible, "x"}},
                      now);
  job.look();
  REQUIRE(job.ended.size() == 1);
  REQUIRE(job.ended[0].stopped);
  CHECK(job.ended[0].stopped->code == ErrorCode::not_reproducible);
  CHECK(job.of<message::JobState>().size() == 2);
  CHECK(job.cell.state().ended);
}

TEST_CASE("cancelling is told to homes: of tasks once, of the job by its state") {
  Job job(chain_plan({0, 1, 1}, 2));
  job.cell.begin({cell_life, life(1)}, {}, now);
  job.look();
  job.cell.cancel({{0, 1}, {0, 2}}, now);
  job.cell.cancel({{0, 1}}, now);
  job.look();
  const auto cancels = job.of<message::Cancel>();
  REQUIRE(cancels.size() == 1);
  CHECK(cancels[0].first == life(1));
  CHECK(cancels[0].second.tasks.size() == 2);
  job.cell.cancel({}, now);
  job.cell.cancel({}, now);
  job.look();
  CHECK(job.of<message::JobState>().size() == 2);
  CHECK(job.cell.state().cancelled);
  CHECK(job.ended.empty());  // The homes end their rows first.
}

TEST_CASE("in one process finished tasks are remembered by their attempt alone") {
  Job job(chain_plan({0, 0, 0}, 1));
  job.cell.begin({cell_life}, {}, now);
  message::Outcomes outcomes = job.cut(0, 1, 1, {finished(1, {{1, 1}, 2}, 6)});
  outcomes.plain = {{{0, 0}, {{1, 1}, 1}}};
  job.say(outcomes);
  REQUIRE(job.cell.settled({0, 0}));
  CHECK(job.cell.settled({0, 0})->attempt == AttemptId{{1, 1}, 1});
  CHECK(job.cell.settled({0, 0})->has_output);
  REQUIRE(job.cell.settled({0, 1}));
  CHECK(detail::from_blob<std::uint64_t>(job.cell.settled({0, 1})->value) == 6);
  CHECK_FALSE(job.cell.settled({0, 2}));
  CHECK(job.cell.counts().open == 1);
}

TEST_CASE("a client that goes away is told nothing more") {
  Job job(chain_plan({0, 0, 0}, 1));
  job.cell.begin({cell_life}, {}, now);
  job.cell.follow({1}, {}, now);
  job.cell.follow({2}, {}, now);
  job.cell.forget({1});
  job.say(job.cut(0, 1, 2, {finished(0, {{1, 1}, 1})}));
  REQUIRE(job.told.size() == 1);
  CHECK(job.told[0].client == ClientId{2});
}

namespace {

RunningAttempt running(std::uint32_t task, std::uint32_t lane) { return {{0, task}, {{1, 1}, 1}, lane}; }
LifeEnd crash(std::vector<RunningAttempt> attempts, std::optional<std::uint32_t> guilty_lane) {
  return {ProcessEnd::faulted, "signal 11", std::move(attempts), guilty_lane};
}

}  // namespace

TEST_CASE("a task that took its process down is charged, those beside it are not") {
  Job job(chain_plan({0, 0, 0}, 1));
  job.cell.begin({cell_life, life(1), life(2)}, {life(1)}, now);
  job.cell.on_life_down(life(2), now, crash({running(0, 0), running(1, 1)}, 1));
  job.look();
  const std::vector<message::Crashed> once{{{0, 1}, 1, "signal 11"}};
  CHECK(job.cell.state().crashed == once);
  const auto states = job.of<message::JobState>();
  REQUIRE_FALSE(states.empty());  // The state that tells of the death tells of the crash.
  CHECK(states.back().second.lives == std::vector<Life>{life(1), cell_life});
  CHECK(states.back().second.crashed == once);

  job.cell.on_life_down(life(2), now, crash({running(1, 1)}, 1));  // Known already.
  CHECK(job.cell.state().crashed == once);
  // Its home's process dies of it, too: the next home then knows.
  job.cell.on_life_down(life(1), now, crash({running(1, 0)}, 0));
  job.look();
  CHECK(job.of<message::JobState>().back().second.crashed ==
        std::vector<message::Crashed>{{{0, 1}, 2, "signal 11"}});
  CHECK(job.of<message::Assign>().size() == 1);
}

TEST_CASE("crashes of a task are forgotten when it is settled") {
  Job job(chain_plan({0, 0, 0}, 1));
  job.cell.begin({cell_life, life(1)}, {cell_life}, now);
  job.cell.on_life_down(life(1), now, crash({running(0, 0)}, 0));
  REQUIRE(job.cell.state().crashed.size() == 1);
  job.say(job.cut(0, 1, 2, {finished(0, {{1, 1}, 1})}));
  CHECK(job.cell.state().crashed.empty());
}

TEST_CASE("where the killer is not known, each is a suspect, twice for nothing") {
  Job job(chain_plan({0, 0, 0}, 1));
  job.cell.begin({cell_life, life(1), life(2), life(3), life(4)}, {cell_life}, now);
  LifeEnd out_of_memory{ProcessEnd::out_of_memory, "out of memory", {running(0, 0), running(1, 1)}, {}};
  job.cell.on_life_down(life(1), now, out_of_memory);
  job.cell.on_life_down(life(2), now, out_of_memory);
  CHECK(job.cell.state().crashed.empty());
  out_of_memory.running[0] = running(2, 0);
  job.cell.on_life_down(life(3), now, out_of_memory);
  CHECK(job.cell.state().crashed == std::vector<message::Crashed>{{{0, 1}, 1, "out of memory"}});
  out_of_memory.running = {running(2, 0)};
  job.cell.on_life_down(life(4), now, out_of_memory);  // Alone: no riddle.
  CHECK(job.cell.state().crashed.size() == 2);
}

TEST_CASE(
    "a process that somebody outside killed is not its only task's fault, unless it goes on like that") {
  Job job(chain_plan({0, 0, 0}, 1));
  job.cell.begin({cell_life, life(1), life(2), life(3)}, {cell_life}, now);
  for (std::uint32_t times = 1; times <= 3; ++times) {
    job.cell.on_life_down(life(times), now, {ProcessEnd::killed, "signal 9", {running(0, 0)}, {}});
    CHECK(job.cell.state().crashed.size() == (times < 3 ? 0 : 1));
    CHECK(job.cell.state().suspects == std::vector<message::Crashed>{{{0, 0}, times, "signal 9"}});
  }
}

TEST_CASE("homes hear of suspects with the death, and until they are settled") {
  Job job(chain_plan({0, 0, 0}, 1));
  job.cell.begin({cell_life, life(1), life(2)}, {cell_life}, now);
  job.cell.on_life_down(life(1), now, {ProcessEnd::killed, "signal 9", {running(1, 1), running(0, 0)}, {}});
  job.look();
  const message::JobState told = job.of<message::JobState>().back().second;
  CHECK(told.suspects == std::vector<message::Crashed>{{{0, 0}, 1, "signal 9"}, {{0, 1}, 1, "signal 9"}});
  CHECK(told.lives == std::vector<Life>{life(2), cell_life});
  job.say(job.cut(0, 1, 2, {finished(0, {{1, 1}, 1})}));
  CHECK(job.cell.state().suspects == std::vector<message::Crashed>{{{0, 1}, 1, "signal 9"}});
}

TEST_CASE("so many suspects are known, and no more") {
  constexpr std::uint32_t tasks = 600;
  detail::Builder builder;
  for (std::uint32_t task = 0; task < tasks; ++task) test::add(builder, "a");
  auto plan = std::make_shared<JobPlan>();
  plan->job = JobId{7};
  plan->graph = std::make_shared<const detail::Fragment>(builder.sealed());
  plan->shard_of.assign(tasks, 0);
  Job job(plan);
  job.cell.begin({cell_life, life(1)}, {cell_life}, now);
  LifeEnd killed{ProcessEnd::killed, std::string(10'000, 'x'), {}, {}};
  for (std::uint32_t task = 0; task < tasks; ++task) killed.running.push_back(running(task, task));
  job.cell.on_life_down(life(1), now, killed);
  CHECK(job.cell.state().suspects.size() == 512);
  CHECK(job.cell.state().suspects.front().what.size() == 256);
}

TEST_CASE("nobody is charged for a node that went away, or for what never was a task of the job") {
  Job job(chain_plan({0, 0, 0}, 1));
  job.cell.begin({cell_life, life(1), life(2), life(3)}, {cell_life}, now);
  job.cell.on_life_down(life(1), now, {ProcessEnd::went_with_node, "", {running(0, 0)}, {}});
  job.cell.on_life_down(life(2), now, {ProcessEnd::stopped_by_us, "", {running(0, 0)}, {}});
  job.cell.on_life_down(life(3), now, crash({running(77, 0), {{9, 1}, {{1, 1}, 1}, 1}}, 0));
  CHECK(job.cell.state().crashed.empty());
}

TEST_CASE("a settled task is settled with its name, also one whose parent is settled in the same cut") {
  Job job(chain_plan({0, 0, 0}, 1));
  job.cell.begin({cell_life}, {}, now);
  detail::Builder builder;
  test::add(builder, "part");
  OutcomeRecord parent = finished(0, {{1, 1}, 1});
  parent.spawned = std::make_shared<const detail::Fragment>(builder.sealed());
  parent.first_spawned = {1, 256};
  message::Outcomes outcomes = job.cut(0, 1, 1, {parent});
  outcomes.plain = {{{1, 256}, {{1, 1}, 1}}};  // Read before the records.
  job.say(outcomes);
  std::map<TaskId, std::string> names;
  for (const JournalEvent& record : job.records.records()) {
    if (const auto* settled = std::get_if<event::Settled>(&record.what)) names[record.task] = settled->name;
  }
  CHECK(names == std::map<TaskId, std::string>{{{0, 0}, "a"}, {{1, 256}, "part"}});
}

namespace {

/// A task that is to end within 10 s.
std::shared_ptr<const JobPlan> plan_with_deadline() {
  detail::Builder builder;
  test::add(builder, "a");
  builder.change_policy(0, [](Policy& policy) { policy.deadline = std::chrono::seconds(10); });
  auto plan = std::make_shared<JobPlan>();
  plan->job = JobId{7};
  plan->graph = std::make_shared<const detail::Fragment>(builder.sealed());
  plan->shard_of = {0};
  return plan;
}

}  // namespace

TEST_CASE("a deadline counts from the submission, which may be long before the cell begins") {
  const auto plan = plan_with_deadline();
  const auto at = [](int seconds) { return Instant{std::chrono::seconds(seconds)}; };
  struct Case {
    std::optional<Instant> submitted;
    int ends_at;
    Duration late;
  };
  const auto one =
      GENERATE_COPY(Case{at(3), 13, Duration{0}}, Case{at(3), 14, std::chrono::seconds(1)},
                    Case{std::nullopt, 15, Duration{0}}, Case{std::nullopt, 17, std::chrono::seconds(2)});
  Job job(plan, true, one.submitted);
  job.cell.begin({cell_life}, {}, at(5));
  job.cell.on_message(cell_life, job.cut(0, 1, 0, {finished(0, {{1, 1}, 1})}), at(one.ends_at));
  const auto& records = job.records.records();
  REQUIRE(std::holds_alternative<event::JobOver>(records.back().what));
  const auto* settled = std::get_if<event::Settled>(&records[records.size() - 2].what);
  REQUIRE(settled != nullptr);
  CHECK(settled->late == one.late);
}

TEST_CASE("who goes on from a snapshot does not know when the job was submitted, and calls nothing late") {
  const auto plan = plan_with_deadline();
  NullEventSink nothing;
  CellOptions options{cell_life, 1};
  options.replicas = 3;
  Cell before(options, plan, nothing);
  before.begin({cell_life}, {}, Instant{});
  CollectingEventSink records;
  Cell after(options, before.snapshot(), records);
  message::Outcomes outcomes;
  outcomes.job = JobId{7};
  outcomes.epoch = {1, 1};
  outcomes.number = 1;
  message::add_task(outcomes.first_try, {0, 0});
  after.on_message(cell_life, outcomes, Instant{std::chrono::hours(1)});
  const auto settled =
      std::find_if(records.records().begin(), records.records().end(),
                   [](const JournalEvent& one) { return std::holds_alternative<event::Settled>(one.what); });
  REQUIRE(settled != records.records().end());
  CHECK(std::get<event::Settled>(settled->what).late == Duration{0});
}

namespace {

/// Takes those that finished together as they are.
struct TogetherSink final : EventSink {
  std::vector<JournalEvent> one_by_one, together;
  void record(const JournalEvent& record) override { one_by_one.push_back(record); }
  void record_finished(const JournalEvent& many) override { together.push_back(many); }
};

}  // namespace

TEST_CASE("tasks that finished by their first try are settled together, and mean the same one by one") {
  detail::Builder builder;
  for (int i = 0; i < 150; ++i) test::add(builder, i % 3 == 0 ? "a" : "b");
  builder.change_policy(70, [](Policy& policy) { policy.deadline = std::chrono::seconds(1); });
  auto plan = std::make_shared<JobPlan>();
  plan->job = JobId{7};
  plan->graph = std::make_shared<const detail::Fragment>(builder.sealed());
  plan->shard_of.assign(150, 0);
  TogetherSink sink;
  Cell cell({cell_life, 1}, plan, sink);
  cell.begin({cell_life}, {}, Instant{});
  message::Outcomes outcomes;
  outcomes.job = JobId{7};
  outcomes.epoch = {1, 1};
  outcomes.number = 1;
  for (std::uint32_t task = 0; task < 150; ++task) message::add_task(outcomes.first_try, {0, task});
  cell.on_message(cell_life, outcomes, Instant{std::chrono::seconds(5)});
  CHECK(cell.counts().finished == 150);
  CHECK(sink.together.size() == 3);
  std::map<TaskId, std::string> names;
  const auto add = [&](const JournalEvent& record) {
    const auto& settled = std::get<event::Settled>(record.what);
    CHECK(settled.outcome == Outcome::finished);
    CHECK(record.attempt == AttemptId{{1, 1}, 1});
    CHECK(names.emplace(record.task, settled.name).second);
  };
  for (const JournalEvent& many : sink.together) each_finished(many, add);
  CHECK(names.size() == 149);
  for (const JournalEvent& record : sink.one_by_one) {
    if (!std::holds_alternative<event::Settled>(record.what)) continue;
    CHECK(record.task == TaskId{0, 70});  // Late, which is its own failure.
    CHECK(std::get<event::Settled>(record.what).late == std::chrono::seconds(4));
    add(record);
  }
  REQUIRE(names.size() == 150);
  for (const auto& [task, name] : names) CHECK(name == (task.index % 3 == 0 ? "a" : "b"));
}
