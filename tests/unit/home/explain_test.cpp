// A home explains its rows: each that has not ended has a reason, and the reason is true.

#include <catch2/catch.hpp>

#include "libdag/job/explained.hpp"
#include "tests/unit/home/one_home.hpp"
#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;

namespace {

ProcessExplained explained(LocalJob& job, const TaskSelector& what = {}, std::uint32_t shard = 0) {
  ProcessExplained process;
  job.home(shard).explain(what, job.now, process);
  return process;
}
const TaskExplained& of(const ProcessExplained& process, TaskId task) {
  const auto found = std::find_if(process.tasks.begin(), process.tasks.end(),
                                  [&](const TaskExplained& one) { return one.task == task; });
  REQUIRE(found != process.tasks.end());
  return *found;
}
std::uint64_t count(const ProcessExplained& process, RowState state) {
  return process.counts[static_cast<std::size_t>(state)];
}

}  // namespace

TEST_CASE("what failed says how often, with what, and when it is tried again; what waits names it") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a}), c = graph.task("c");
  graph.attempts(a, 3, std::chrono::milliseconds(100));
  Script script;
  script.failures["a"] = 2;
  LocalJob job(graph.builder.sealed(), script.kernel());
  job.settle_down();
  const ProcessExplained found = explained(job);
  CHECK(count(found, RowState::held) == 1);
  CHECK(count(found, RowState::waiting) == 1);
  CHECK(count(found, RowState::ended) == 1);
  REQUIRE(found.tasks.size() == 3);
  CHECK(found.tasks[0].task == a);  // Held rows come first, ended ones last.
  CHECK(found.tasks[2].task == c);
  CHECK_THAT(of(found, a).why, Catch::StartsWith("waits for its next attempt, in "));
  CHECK(of(found, a).failures == 1);
  REQUIRE(of(found, a).error);
  CHECK(of(found, b).waits_for == std::vector<TaskId>{a});
  CHECK(of(found, b).why == "waits for task 'a' (0)");
  CHECK(of(found, c).outcome == Outcome::finished);
  CHECK_THAT(of(found, c).why, Catch::StartsWith("finished"));
}

TEST_CASE("tasks are chosen by name or by number, and counted however many there are") {
  Names graph;
  const TaskId before = graph.task("before");
  graph.attempts(before, 2, std::chrono::hours(1));
  std::vector<TaskId> parts;
  for (int i = 0; i < 500; ++i) parts.push_back(graph.task("part", {before}));
  const TaskId sum = graph.task("sum", parts);
  Script script;
  script.failures["before"] = 1;
  LocalJob job(graph.builder.sealed(), script.kernel());
  job.settle_down();
  const ProcessExplained some = explained(job, {"part", {}});
  CHECK(count(some, RowState::waiting) == 500);
  CHECK(some.tasks.size() == explained_max);
  for (const TaskExplained& one : some.tasks) CHECK(one.name == "part");
  const ProcessExplained one = explained(job, {"", {sum, parts[3]}});
  REQUIRE(one.tasks.size() == 2);
  CHECK(of(one, sum).waits_for.size() == waits_for_max);
  CHECK(of(one, sum).waits_for_all == 500);
  CHECK_THAT(of(one, sum).why, Catch::EndsWith("and 497 more"));
  CHECK(explained(job, {"", {{0, 9999}}}).tasks.empty());
  TaskSelector numbers;
  numbers.range = TaskRange{"part", before, parts[4].index};  // The first one has another name.
  CHECK(count(explained(job, numbers), RowState::waiting) == 5);
  numbers.range->name.clear();
  CHECK(count(explained(job, numbers), RowState::waiting) == 5);
  CHECK(count(explained(job, numbers), RowState::held) == 1);
  numbers.failed = true;
  REQUIRE(explained(job, numbers).tasks.size() == 1);
  CHECK(explained(job, numbers).tasks[0].task == before);
  CHECK(count(explained(job, numbers), RowState::waiting) == 0);
  numbers.range->first = {1, 0};  // Spawned tasks have numbers of their own.
  CHECK(explained(job, numbers).tasks.empty());
  CHECK(explained(job, {"no such", {}}).tasks.empty());
}

TEST_CASE("whatever has not ended has a reason, and when the reason goes, so does the waiting") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(take(40, random(1, 1'000'000))));
  INFO("seed " << seed);
  Names graph;
  Random random(seed);
  std::vector<TaskId> tasks;
  Script script;
  for (int i = 0; i < 30; ++i) {
    std::vector<TaskId> before;
    for (const TaskId task : tasks) {
      if (random.below(8) == 0) before.push_back(task);
    }
    const std::string name = "t" + std::to_string(i);
    tasks.push_back(graph.task(name, before));
    if (random.below(3) == 0) {
      graph.attempts(tasks.back(), 4, std::chrono::milliseconds(50));
      script.failures[name] = static_cast<std::uint32_t>(1 + random.below(3));
    }
  }
  LocalJob job(graph.builder.sealed(), script.kernel());
  while (!job.job_ended) {
    job.settle_down();
    if (job.job_ended) break;
    const ProcessExplained now = explained(job);
    std::set<TaskId> open;
    for (const TaskExplained& one : now.tasks) {
      if (one.state != RowState::ended) open.insert(one.task);
      CHECK(!one.why.empty());
    }
    bool any_root = false;
    for (const TaskExplained& one : now.tasks) {
      if (one.state == RowState::waiting) {
        // Each that it names is there and has not ended, and it names them all.
        CHECK(one.waits_for_all > 0);
        for (const TaskId before : one.waits_for) CHECK(open.contains(before));
      } else if (one.state == RowState::held) {
        any_root = true;
        CHECK_THAT(one.why, Catch::StartsWith("waits for its next attempt, in "));
      }
    }
    CHECK((open.empty() || any_root));
    if (!job.wait()) break;
    // The named reason has passed: something has moved.
  }
  job.run();
  for (const TaskId task : tasks) CHECK(job.outcome(task) == Outcome::finished);
}

TEST_CASE("a task runs where it was said that it could, and a call of a job actor where that is") {
  std::size_t calls_said = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    Names graph;
    graph.actor("A");
    graph.actor("B");
    std::vector<TaskId> tasks, calls;
    for (std::uint32_t i = 0; i < 10; ++i) {
      const std::string number = std::to_string(i);
      tasks.push_back(graph.task(i == 0 ? "first" : "t" + number,
                                 i == 0 ? std::vector<TaskId>{} : std::vector{tasks[0]}));
      calls.push_back(graph.call(i % 2, "c" + number, {tasks.back()}));
      tasks.push_back(calls.back());
    }
    LocalJobOptions options;
    options.processes = 4;
    options.homes = {1};
    options.cell_runs = seed % 2 == 0;
    options.representation = Representation::supervised;  // All that runs is placed.
    options.changing_loads = true;
    options.shuffled = true;
    options.seed = seed;
    LocalJob job(graph.builder.sealed(), Script().kernel(), options);
    job.paused = {"first"};
    job.settle_down();  // There is a home then, and all else waits.
    job.paused.clear();
    std::map<TaskId, std::vector<event::Candidate>> said;
    std::size_t seen = job.ran.size();
    while (!job.job_ended) {
      for (const TaskId task : tasks) {
        const TaskExplained now = of(explained(job, {"", {task}}), task);
        if (!now.candidates.empty()) said[task] = now.candidates;
      }
      REQUIRE((job.step() || job.wait()));
      for (; seen < job.ran.size(); ++seen) {
        const LocalJob::Ran& ran = job.ran[seen];
        const auto found = said.find(ran.task);
        if (found == said.end()) continue;
        const std::vector<event::Candidate>& candidates = found->second;
        CHECK(candidates.size() == (options.cell_runs ? 4u : 3u));  // Each process is described.
        const auto is_there = [&](const auto& one) { return one.process == ran.at.process; };
        const auto there = std::find_if(candidates.begin(), candidates.end(), is_there);
        REQUIRE(there != candidates.end());
        const bool is_call = std::find(calls.begin(), calls.end(), ran.task) != calls.end();
        const auto could = static_cast<std::size_t>(std::count_if(
            candidates.begin(), candidates.end(), [](const auto& one) { return one.misfit.empty(); }));
        if (!is_call || could != 1) continue;
        CHECK(there->misfit.empty());
        ++calls_said;
        for (const event::Candidate& other : candidates) {
          if (!is_there(other)) CHECK(other.misfit == "its job actor is at " + to_string(ran.at.process));
        }
      }
    }
  }
  CHECK(calls_said > 100);
}

/// The rest of the reason for a call.
static std::string lives_at(Life life) {
  return "; its job actor lives at " + to_string(life.process) +
         ", which had the fewest job actors of this home";
}

TEST_CASE("a call waits for the one before it, or for its job actor") {
  Names graph;
  graph.actor("A");
  const TaskId earlier = graph.call(0, "first"), second = graph.call(0, "second"),
               third = graph.call(0, "third");
  graph.task("grows");
  Names
      below;  // Nothing that was submitted is an edge before it, and so its turn comes by the actor's order.
  below.call(0, "spawned");
  Script script;
  script.special["grows"] = [&](const KernelCall&) { return spawning(below); };
  LocalJobOptions options = home_at_1(Representation::supervised);
  options.place = 2;
  LocalJob job(graph.builder.sealed(), script.kernel(), options);
  job.paused = {"second"};
  job.settle_down();
  CHECK(job.outcome(earlier) == Outcome::finished);
  REQUIRE(job.runs("grows") == 1);
  const ProcessExplained now = explained(job);
  CHECK(of(now, second).why == "dispatched to " + to_string(job.life(2).process) + lives_at(job.life(2)));
  CHECK(of(now, third).why == "waits for task 'second' (" + to_string(second) + ")" + lives_at(job.life(2)));
  const auto spawned = std::find_if(now.tasks.begin(), now.tasks.end(),
                                    [](const TaskExplained& one) { return one.name == "spawned"; });
  REQUIRE(spawned != now.tasks.end());
  CHECK(spawned->why == "waits for its turn: task 'second' (" + to_string(second) +
                            ") is before it at its job actor" + lives_at(job.life(2)));
  CHECK(spawned->state == RowState::waiting);
  CHECK(spawned->waits_for == std::vector<TaskId>{second});
  CHECK(count(now, RowState::held) == 0);
  // The call that is next waits for what those before it left, and so for the object, which is made again.
  job.paused = {"A", "second"};
  job.die(2);
  job.settle_down();
  CHECK(of(explained(job), second).why == "waits until its job actor is restored" + lives_at(job.life(0)));
}

TEST_CASE("a task that became one that it spawned waits for that one, and runs no more") {
  Names below;
  const TaskId last = below.task("last");
  Names graph;
  const TaskId grows = graph.task("grows");
  Script script;
  script.special["grows"] = [&](const KernelCall&) { return spawning(below, last.index); };
  LocalJobOptions options = home_at_1(both());
  LocalJob job(graph.builder.sealed(), script.kernel(), options);
  job.paused = {"last"};
  job.settle_down();
  REQUIRE(job.runs("grows") == 1);
  const ProcessExplained now = explained(job);
  CHECK(count(now, RowState::waiting) == 1);
  CHECK(count(now, RowState::running) + count(now, RowState::lent) + count(now, RowState::ready) == 1);
  const TaskExplained& one = of(now, grows);
  CHECK(one.state == RowState::waiting);
  CHECK_THAT(one.why, Catch::StartsWith("becomes task 'last'"));
  REQUIRE(one.waits_for.size() == 1);
  CHECK(of(now, one.waits_for[0]).name == "last");
}

TEST_CASE(
    "a held row names the reason that holds it now, and forgets it when an end before it does not count") {
  OneHome one(both(), Effects::at_most_once);
  const AttemptId second{{1, 1}, 2};
  const auto why = [&] {
    one.home->check_invariants();
    return one.home->explain(one.c);
  };
  one.tell(one.ended(one.a, first, 1, 5));
  one.tell(one.ended(one.b, first, 2, 6));
  CHECK(why() == "has effects: waits until its inputs are settled");
  one.tell(one.not_ended(one.a, {1, 1}, 3));
  CHECK(why() == "waits for task 'a' (0)");
  one.tell(one.ended(one.a, second, 4, 5));
  CHECK(why() == "has effects: waits until its inputs are settled");
  one.tell(one.settled(one.a, second, 5));
  CHECK(why() == "has effects: waits until its inputs are settled");
  one.tell(one.settled(one.b, first, 6));
  CHECK(why() == "waits until its start is settled");
  CHECK(one.starts() == 0);
  one.tell(one.heard(2));
  CHECK(one.starts() == 1);
  // As a row it waits for a lane; under a TaskActor it is a lane's already.
  CHECK_THAT(why(), Catch::Equals("is ready: waits for a lane") || Catch::Equals("dispatched to n1"));
}
