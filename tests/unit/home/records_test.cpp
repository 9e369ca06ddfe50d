// Journal records of a job's machines: each transition once, where it happens, and the lines that people
// read.
#include <catch2/catch.hpp>

#include "libdag/keeper/job_story.hpp"
#include "tests/support/histories.hpp"
#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;
using detail::EdgeKind;
using namespace std::chrono_literals;

namespace {

struct Journaled {
  LocalJobOptions options(Representation representation = Representation::as_needed) {
    LocalJobOptions options;
    options.representation = representation;
    options.records = &sink;
    return options;
  }
  template <class What>
  std::vector<What> of(std::optional<TaskId> task = std::nullopt) const {
    std::vector<What> found;
    for (const JournalEvent& record : sink.records()) {
      const auto* what = std::get_if<What>(&record.what);
      if (what != nullptr && (!task || record.task == *task)) found.push_back(*what);
    }
    return found;
  }
  JobDetails details() const {
    JobStory story;
    for (const JournalEvent& record : sink.records()) story.add(record);
    return story.details();
  }
  CollectingEventSink sink;
};

}  // namespace

TEST_CASE("each try of a failing task is recorded, and what became of those that need it") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a});
  graph.task("c");
  graph.attempts(a, 2);
  Script script;
  script.failures["a"] = 5;
  Journaled journaled;
  LocalJob job(graph.builder.sealed(), script.kernel(), journaled.options(both()));
  job.run();
  auto lines = histories(journaled.sink.records());
  CHECK(lines["0"] == std::vector<std::string>{"ended: failed in 0 s: try 1", "retried after 0 s",
                                               "ended: failed in 0 s: try 2",
                                               "settled: failed, 2 tries: task_failed"});
  CHECK(lines["1"] == std::vector<std::string>{"cancelled: 'b' was cancelled: 'a', which it needs, failed",
                                               "settled: cancelled: task_cancelled"});
  CHECK(lines["2"] == std::vector<std::string>{"ended: finished in 0 s", "settled: finished"});

  const JobDetails details = journaled.details();
  REQUIRE(details.tasks.size() == 2);
  CHECK(details.tasks[0].task == a);
  CHECK(details.tasks[0].name == "a");
  CHECK(details.tasks[0].tries == 2);
  CHECK(details.tasks[0].error->what == "task 'a' (0) failed 2 times: try 2");
  CHECK(details.tasks[1].task == b);
  CHECK(details.tasks[1].tries == 0);
  CHECK(details.tasks[1].error->cause == "task 'a' (0) failed 2 times: try 2");
  CHECK(details.classes ==
        std::vector<ClassInfo>{{"a", {0, 0, 1, 0, 0}}, {"b", {0, 0, 0, 0, 1}}, {"c", {0, 1, 0, 0, 0}}});
}

TEST_CASE("who is skipped because something failed names it; who is skipped by a condition does not") {
  Names graph;
  const TaskId bad = graph.task("bad"), good = graph.task("good");
  const TaskId few = graph.task("few");
  graph.builder.add_quorum({bad.index, good.index}, 2);
  const TaskId after = graph.task("after", {few});
  const TaskId branch = graph.task("branch"), leaf = graph.task("leaf", {branch});
  graph.edge(good, branch, EdgeKind::conditional, never);
  // The condition is what counts, though something that it could have done without failed.
  graph.edge(bad, branch, EdgeKind::weak);
  Script script;
  script.failures["bad"] = 1;
  Journaled journaled;
  LocalJob job(graph.builder.sealed(), script.kernel(), journaled.options(both()));
  job.run();
  for (const TaskId task : {few, after, branch, leaf}) CHECK(job.outcome(task) == Outcome::skipped);
  const auto cause = [&](TaskId task) { return journaled.of<event::Settled>(task).at(0).error->cause; };
  CHECK(cause(few) == "task 'bad' (0) failed: try 1");
  CHECK(cause(after) == "task 'bad' (0) failed: try 1");
  CHECK(cause(branch).empty());
  CHECK(cause(leaf).empty());
  std::vector<TaskId> told;
  for (const TaskInfo& task : journaled.details().tasks) told.push_back(task.task);
  std::sort(told.begin(), told.end());
  CHECK(told == std::vector<TaskId>{bad, few, after});
}

TEST_CASE("a task that ends after its deadline is said to be late, by how much, and counted") {
  Names graph;
  const TaskId slow = graph.task("slow"), after = graph.task("after", {slow}), quick = graph.task("quick");
  graph.attempts(slow, 3, 100ms);  // 75 ms at least, then 150 ms: later than 200 ms.
  for (const TaskId task : {slow, quick}) {
    graph.policy(task, [](Policy& policy) { policy.deadline = 200ms; });
  }
  graph.policy(after, [](Policy& policy) { policy.deadline = Duration::max(); });
  Script script;
  script.failures["slow"] = 2;
  Journaled journaled;
  LocalJob job(graph.builder.sealed(), script.kernel(), journaled.options(both()));
  job.run();
  CHECK(journaled.of<event::Settled>(slow).at(0).late == job.now.since_start - 200ms);
  CHECK(journaled.of<event::Settled>(slow).at(0).late >= 25ms);
  CHECK(journaled.of<event::Settled>(quick).at(0).late == 0ns);
  CHECK(journaled.of<event::Settled>(after).at(0).late == 0ns);  // No deadline.
  const JobDetails details = journaled.details();
  CHECK(details.late == 1);
  REQUIRE(details.tasks.size() == 1);
  CHECK(details.tasks[0].task == slow);
  CHECK(details.tasks[0].outcome == Outcome::finished);
  CHECK_FALSE(details.tasks[0].error);
  CHECK(details.tasks[0].late == job.now.since_start - 200ms);
}

TEST_CASE("spawned tasks are recorded with their parents, and counted by their names") {
  Names graph;
  const TaskId fan = graph.task("fan");
  Script script;
  script.special["fan"] = [](const KernelCall&) {
    Names more;
    const TaskId one = more.task("part"), two = more.task("part");
    more.task("sum", {one, two});
    return spawning(more, 2);
  };
  script.failures["sum"] = 1;
  Journaled journaled;
  LocalJob job(graph.builder.sealed(), script.kernel(), journaled.options(both()));
  job.run();
  CHECK(journaled.of<event::Spawned>().size() == 3);
  CHECK(journaled.of<event::Became>(fan).size() == 1);
  auto lines = histories(journaled.sink.records());
  CHECK(lines["0"] == std::vector<std::string>{"ended: failed in 0 s", "settled: failed: task_failed"});
  CHECK(lines["0.2"] ==
        std::vector<std::string>{"ended: failed in 0 s: try 1", "settled: failed: task_failed"});
  const JobDetails details = journaled.details();
  CHECK(details.classes == std::vector<ClassInfo>{{"fan", {0, 0, 1, 0, 0}},
                                                  {"part", {0, 2, 0, 0, 0}},
                                                  {"sum", {0, 0, 1, 0, 0}}});
  REQUIRE(details.tasks.size() == 2);
}

TEST_CASE("lending, a death, a new home and its count are recorded") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a});
  Journaled journaled;
  LocalJobOptions options = journaled.options(Representation::supervised);  // Bare rows stay at home.
  options.processes = 3;
  options.homes = {1};
  options.place = 2;
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"b"};
  job.run_until([&] { return job.waits_at("b").has_value(); });
  CHECK(journaled.of<event::HomeGiven>() == std::vector<event::HomeGiven>{{0, job.life(1), Epoch{1, 1}}});
  CHECK(journaled.of<event::Lent>(b) == std::vector<event::Lent>{{ProcessId{2}}});
  CHECK(journaled.of<event::Ran>(a).size() == 1);
  job.die(1);
  job.paused.clear();
  job.run();
  CHECK(journaled.of<event::Member>().size() == 1);
  REQUIRE(journaled.of<event::HomeGiven>().size() == 2);
  const Epoch second = journaled.of<event::HomeGiven>()[1].epoch;
  CHECK(second > Epoch{1, 1});
  CHECK(journaled.of<event::Recounted>() == std::vector<event::Recounted>{{0, second}});
  CHECK(journaled.of<event::Settled>(b).size() == 1);
  job.settle_down();
}

TEST_CASE("a job actor that is given up and comes back is recorded, and what it runs again is no end") {
  Names graph;
  const TaskId create = graph.actor("actor");
  const TaskId first = graph.call(0, "first"), second = graph.call(0, "second");
  graph.attempts(second, 2);
  Script script;
  script.failures["second"] = 1;
  Journaled journaled;
  LocalJob job(graph.builder.sealed(), script.kernel(), journaled.options(both()));
  job.run();
  CHECK(job.outcome(second) == Outcome::finished);
  const auto back = journaled.of<event::RolledBack>(create);
  REQUIRE(back.size() == 1);
  CHECK(back[0].border == 0);
  CHECK(journaled.of<event::Restored>(create).size() == 1);
  CHECK(journaled.of<event::Ended>(first).size() == 1);
  CHECK(journaled.of<event::Retried>(second).size() == 1);
}
