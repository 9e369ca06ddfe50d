// From a task that waits to those that keep it waiting.
#include "libdag/client/explain.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "libdag/client/json.hpp"

using namespace dag;
using namespace dag::detail;
using namespace std::chrono_literals;

namespace {

constexpr Life here{{0x10000}, {1}}, there{{0x10001}, {1}};

/// A job of which each task waits for those before it, or does not.
struct Job {
  std::map<TaskId, TaskExplained> tasks;
  std::vector<RunningNow> running;   ///< at `there`
  std::vector<TaskExplained> taken;  ///< likewise, as it says of what it was handed
  int asked = 0;

  TaskExplained& add(std::uint32_t number, RowState state, std::vector<std::uint32_t> before = {}) {
    TaskExplained& one = tasks[{0, number}];
    one.task = {0, number};
    one.name = "t" + std::to_string(number);
    one.state = state;
    for (const std::uint32_t each : before) one.waits_for.push_back({0, each});
    one.waits_for_all = one.waits_for.size();
    return one;
  }
  client::Answer answer(const TaskSelector& what) {
    ++asked;
    client::Answer answer;
    answer.explained.resize(2);
    answer.explained[0].life = here;
    answer.explained[1].life = there;
    answer.explained[1].running = running;
    answer.explained[1].taken = taken;
    for (const auto& [id, task] : tasks) {
      if (!what.takes(id, task.name)) continue;
      ProcessExplained& home = answer.explained[id.index % 2];
      ++home.counts[static_cast<std::size_t>(task.state)];
      if (home.tasks.size() < explained_max) home.tasks.push_back(task);
    }
    return answer;
  }
  Explanation explain(const TaskSelector& what) {
    return detail::explain([this](const TaskSelector& which) { return answer(which); }, what);
  }
};

std::vector<std::uint32_t> numbers(const std::vector<TaskReason>& reasons) {
  std::vector<std::uint32_t> numbers;
  for (const TaskReason& reason : reasons) numbers.push_back(reason.task.task.index);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace

TEST_CASE("tasks are written as a name, a number, or numbers, of one name too; all that it may mean counts") {
  const auto takes = [](const std::string& text, TaskId task, const std::string& name) {
    return selector_of(text).takes(task, name);
  };
  CHECK(takes("", {0, 5}, "train"));
  CHECK(takes("train", {0, 5}, "train"));
  CHECK_FALSE(takes("train", {0, 5}, "trainer"));
  CHECK(takes("5", {0, 5}, "train"));
  CHECK(takes("5", {0, 9}, "5"));
  CHECK(takes("3-9", {0, 3}, "train"));
  CHECK(takes("3-9", {0, 9}, "other"));
  CHECK_FALSE(takes("3-9", {0, 10}, "train"));
  CHECK_FALSE(takes("3-9", {2, 5}, "train"));
  CHECK(takes("s1/3-9", {2, 5}, "train"));
  CHECK(takes("train/3-9", {0, 9}, "train"));
  CHECK_FALSE(takes("train/3-9", {0, 9}, "load"));
  CHECK(takes("a/b/3-9", {0, 9}, "a/b"));
  CHECK(takes("a-1", {0, 9}, "a-1"));
  for (const char* no_range : {"a-1", "-3", "3-", "/3-9", "a/b", "train/x-9", "3-s1/9"})
    CHECK_FALSE(selector_of(no_range).range);
  CHECK_FALSE(takes("9-3", {0, 5}, "train"));
}

TEST_CASE("what a task waits for in the end is found over many others, in all processes") {
  Job job;
  job.add(0, RowState::held).why = "waits for its next attempt";
  job.add(1, RowState::lent).why = "runs at n1/w1";
  job.add(2, RowState::ended);
  for (std::uint32_t i = 10; i < 60; ++i) job.add(i, RowState::waiting, {i == 10 ? 0 : i - 1});
  job.add(60, RowState::waiting, {59, 1});
  job.running = {{{0, 1}, {{1, 1}, 1}, 3, 38s}};
  const Explanation found = job.explain({"t60", {}});
  REQUIRE(found.tasks.size() == 1);
  CHECK(found.count() == 1);
  CHECK(numbers(found.roots) == std::vector<std::uint32_t>{0, 1});
  CHECK(!found.roots_beyond);
  for (const TaskReason& root : found.roots) {
    if (root.task.task.index != 1) continue;
    REQUIRE(root.running);
    CHECK(root.running->ran == 38s);
    CHECK(root.at == there);
  }
}

TEST_CASE("what was handed out and no lane runs is where it is, with what is said of it there") {
  Job job;
  job.add(0, RowState::lent);
  TaskExplained& taken = job.taken.emplace_back(job.add(2, RowState::lent));
  taken.why = "waits for its inputs: 1";
  job.running = {{{0, 0}, {{1, 1}, 1}, 3, 38s}};
  const nlohmann::json said = to_json(job.explain({}));
  REQUIRE(said.at("tasks").size() == 2);
  const nlohmann::json &runs = said.at("tasks")[0], &waits = said.at("tasks")[1];
  CHECK(runs.at("state") == "lent");
  CHECK(runs.at("lane") == 3);
  CHECK_FALSE(runs.contains("taken"));
  CHECK(waits.at("state") == "lent");
  CHECK(waits.at("at") == to_string(there.process));
  CHECK(waits.at("taken") == "waits for its inputs: 1");
  CHECK_FALSE(waits.contains("lane"));
}

TEST_CASE("how soon a task begins is said where all that keep it waiting run, and their like have ended") {
  Job job;
  job.add(0, RowState::lent).usual = RunEstimate{60s};
  job.add(1, RowState::running).usual = RunEstimate{20s};
  job.add(2, RowState::waiting, {0, 1});
  job.running = {{{0, 0}, {{1, 1}, 1}, 0, 38s}, {{0, 1}, {{1, 1}, 1}, 1, 5s}};
  const TaskSelector one{"t2", {}};
  CHECK(not_before(job.explain(one)) == 22s);
  CHECK(left_of(job.explain({"t1", {}}).tasks.front()) == 15s);
  job.running[0].ran = 80s;  // Longer than usual: its end is unknown.
  CHECK(not_before(job.explain(one)) == 15s);
  job.add(3, RowState::held);  // For its next try, in an hour.
  job.add(2, RowState::waiting, {0, 1, 3});
  CHECK_FALSE(not_before(job.explain(one)));
  CHECK_FALSE(not_before(job.explain({})));
}

TEST_CASE("a task that is ready begins first where it need not wait, and nowhere it does not fit") {
  Job job;
  TaskExplained& task = job.add(0, RowState::ready);
  task.candidates = {{{1}, 9s, 1s, 4s, {}}, {{2}, 0s, 0s, 1s, "has 8.0 GiB of memory, 16 are needed"}};
  const auto reason = [&] { return job.explain({"t0", {}}).tasks.front(); };
  REQUIRE(would_begin(reason()));
  CHECK(would_begin(reason())->process == ProcessId{1});
  CHECK(would_begin(reason())->in == 10s);
  task.candidates.push_back({{3}, 2s, 5s, 9s, {}});
  CHECK(would_begin(reason())->process == ProcessId{3});
  task.candidates = {{{2}, 0s, 0s, 1s, "is being drained"}};
  CHECK_FALSE(would_begin(reason()));
  task.candidates = {{{1}, 9s, 1s, 4s, {}}};
  task.state = RowState::waiting;
  CHECK_FALSE(would_begin(reason()));
}

TEST_CASE("of a long answer it is said that placement was not asked about each") {
  Job job;
  TaskExplained& task = job.add(0, RowState::ready);
  const auto reason = [&] { return job.explain({"t0", {}}).tasks.front(); };
  CHECK(places_left_out(reason()));
  task.state = RowState::running;
  CHECK_FALSE(places_left_out(reason()));
  task.state = RowState::held;
  task.candidates = {{{1}, 9s, 1s, 4s, {}}};
  CHECK_FALSE(places_left_out(reason()));
}

TEST_CASE("a task that becomes another one waits for that one") {
  Job job;
  job.add(0, RowState::waiting, {1}).why = "becomes task 't1'";
  job.add(1, RowState::ready).why = "is ready: waits for a lane";
  const Explanation found = job.explain({"t0", {}});
  CHECK(numbers(found.roots) == std::vector<std::uint32_t>{1});
}

TEST_CASE("it ends where there is no end of reasons, and says that there may be more") {
  Job job;
  std::vector<std::uint32_t> wide;
  for (std::uint32_t i = 0; i < 500; ++i) {
    job.add(i, RowState::held);
    wide.push_back(i);
  }
  job.add(500, RowState::waiting, wide);
  const Explanation found = job.explain({"t500", {}});
  CHECK(found.roots.size() >= 10);
  CHECK(found.roots.size() <= 2 * explained_max);
  CHECK(found.roots_beyond);
  CHECK(job.asked < 20);
}

TEST_CASE("what runs or is held waits for no task, so nothing more is asked") {
  Job job;
  job.add(0, RowState::held);
  job.add(1, RowState::running);
  const Explanation found = job.explain({});
  CHECK(found.tasks.size() == 2);
  CHECK(found.roots.empty());
  CHECK(job.asked == 1);
}

TEST_CASE("of nodes that run nothing of a job it is said why") {
  JobInfo job;
  job.phase = JobPhase::running;
  const auto worker = [](std::uint32_t node, bool up, const std::string& end, std::uint32_t incarnation) {
    WorkerInfo one;
    one.node = ProcessId{node};
    one.life.incarnation.value = incarnation;
    one.up = up;
    one.end = end;
    return one;
  };
  job.workers = {worker(0, true, "", 1),           worker(1, false, "signal 9", 1),
                 worker(1, false, "signal 11", 2), worker(2, false, "signal 11", 1),
                 worker(2, true, "", 2),           worker(3, false, "", 0)};
  std::vector<NodeInfo> nodes(8);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) nodes[i].life.process = ProcessId{7 - i};
  nodes[3].load.witness = true;   // n4
  nodes[2].load.draining = true;  // n5
  nodes[1].state = MemberState::suspect;
  const std::vector<detail::NodeWithout> without = detail::nodes_without(job, nodes);
  CHECK(without ==
        std::vector<detail::NodeWithout>{{ProcessId{1}, "its process ended: signal 11"},
                                         {ProcessId{3}, "is starting a process of the job"},
                                         {ProcessId{4}, "is a witness: it runs no jobs"},
                                         {ProcessId{5}, "is draining: it runs no jobs"},
                                         {ProcessId{6}, "is suspected: it has not been heard for a while"},
                                         {ProcessId{7}, "has not started a process of the job"}});
  job.workers.clear();
  CHECK(detail::nodes_without(job, nodes).empty());
}

TEST_CASE("a lane that was given up is told with its task, and takes no place of a lane that runs") {
  Job job;
  job.add(1, RowState::lent).attempt = {{1, 1}, 2};
  RunningNow deaf{{0, 1}, {{1, 1}, 1}, 0, 12s};
  deaf.given_up = true;
  deaf.number = 1;
  job.running = {{{0, 1}, {{1, 1}, 2}, 0, 3s}, deaf};
  const Explanation found = job.explain({});
  const TaskReason& reason = found.tasks.front();
  REQUIRE(reason.running);
  CHECK(reason.running->ran == 3s);
  REQUIRE(reason.given_up.size() == 1);
  CHECK(reason.given_up[0].first == there);
  CHECK(reason.given_up[0].second.ran == 12s);
  const nlohmann::json said = to_json(found);
  CHECK(said["tasks"][0]["given_up"][0]["attempt"] == 1);
  CHECK(said["processes"][1]["running"] == 1);
  CHECK(said["processes"][1]["given_up"] == 1);
}

TEST_CASE("a task that is queued has its place, at its home or where it dispatched to") {
  Job job;
  job.add(1, RowState::ready).place = 2;
  job.add(3, RowState::lent);
  TaskExplained& taken = job.taken.emplace_back();
  taken.task = {0, 3};
  taken.place = 5;
  const nlohmann::json said = to_json(job.explain({}));
  CHECK(said["tasks"][0]["place_in_queue"] == 2);
  CHECK(said["tasks"][1]["place_in_queue"] == 5);
  CHECK_FALSE(said["tasks"][1].contains("starts"));
}
