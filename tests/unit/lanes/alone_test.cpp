// An attempt that has to be alone: nothing runs beside it, whatever else there is to run, and it does run.

#include <catch2/catch.hpp>

#include <condition_variable>
#include <mutex>

#include "actors/lanes/lanes.hpp"
#include "dag/context.hpp"
#include "dag/graph.hpp"

namespace {

/// Kernels: how many run, and how often a kernel that must be alone was not.
std::atomic<int> running{0};
std::atomic<int> disturbed{0};

int company() {
  ++running;
  for (int i = 0; i < 3; ++i) std::this_thread::yield();
  --running;
  return 1;
}
int alone() {
  const int before = running.fetch_add(1);
  for (int i = 0; i < 3; ++i) std::this_thread::yield();
  if (before != 0 || running.load() != 1) ++disturbed;
  --running;
  return 2;
}

/// Ends of attempts on lanes.
struct Ends {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<dag::TaskId> ended;

  std::function<void(dag::AttemptEnd&&)> note() {
    return [this](dag::AttemptEnd&& end) {
      const std::lock_guard lock(mutex);
      ended.push_back(end.task);
      changed.notify_all();
    };
  }
  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ended.size() >= count; });
  }
};

dag::Attempt attempt_of(const dag::detail::Fragment& fragment, std::uint32_t task, std::uint32_t number) {
  dag::Attempt made;
  made.task = {0, task};
  made.id = {{1, 1}, number};
  made.code = fragment.codes[fragment.kind(task).code];
  made.returns = true;
  return made;
}

void start_alone(dag::Lanes& lanes, const dag::detail::Fragment& fragment, std::uint32_t number, Ends& ends) {
  dag::Attempt suspect = attempt_of(fragment, 0, number);
  suspect.alone = true;
  lanes.start(std::move(suspect), dag::normal, ends.note());
}

}  // namespace

TEST_CASE("nothing runs beside an attempt that has to be alone: no other attempt, and no row") {
  running = disturbed = 0;
  dag::Graph graph("suspects");
  graph.task("alone", alone);
  for (int i = 0; i < 200; ++i) graph.task("company", company);
  auto shard = std::make_shared<dag::LaneShard>(dag::Representation::as_needed, 3);
  std::atomic<std::size_t> rows{0};
  Ends ends;
  dag::Lanes lanes({.cores = std::vector<int>(3, -1), .spin = dag::Duration{0}}, {});
  shard->report = [&](dag::LaneReport&& report) {
    const std::lock_guard lock(ends.mutex);
    rows += report.quick.size() + report.slow.size();
    ends.changed.notify_all();
  };
  const auto fragment = std::make_shared<const dag::detail::Fragment>(graph.builder().sealed());
  shard->table.add(fragment, dag::make_program(*fragment), {});
  constexpr std::uint32_t each = 20;
  for (std::uint32_t i = 0; i < each; ++i) {
    start_alone(lanes, *fragment, i + 1, ends);
    lanes.start(attempt_of(*fragment, 1, i + 1), dag::normal, ends.note());
    for (dag::RowIndex row = 2 + i; row < shard->table.size(); row += each) {
      if (shard->table.apply(row, dag::PredecessorEnded{}).what == dag::Do::make_ready)
        lanes.make_ready(*shard, row);
    }
  }
  ends.wait_for(2 * each);
  {
    std::unique_lock lock(ends.mutex);
    ends.changed.wait(lock, [&] { return rows == shard->table.size() - 2; });
  }
  CHECK(disturbed == 0);
  lanes.retire(shard);
}

TEST_CASE("what runs beside it may wait for what has not begun: each gets its turn") {
  static std::atomic<bool> second_runs{false};
  second_runs = false;
  running = disturbed = 0;
  static std::atomic<bool> first_runs{false};
  first_runs = false;
  dag::Graph graph("suspects");
  graph.task("alone", alone);
  graph.task("first", [] {
    ++running;
    first_runs = true;
    first_runs.notify_all();
    second_runs.wait(false);
    --running;
    return 1;
  });
  graph.task("second", [] {
    ++running;
    second_runs = true;
    second_runs.notify_all();
    --running;
    return 1;
  });
  const dag::detail::Fragment fragment = graph.builder().sealed();
  Ends ends;
  dag::Lanes lanes({.cores = {-1, -1}, .spin = dag::Duration{0}}, {});
  lanes.start(attempt_of(fragment, 1, 1), dag::normal, ends.note());
  first_runs.wait(false);
  start_alone(lanes, fragment, 1, ends);
  lanes.start(attempt_of(fragment, 2, 1), dag::normal, ends.note());
  ends.wait_for(3);
  CHECK(disturbed == 0);
}

TEST_CASE("one that waits to be alone is cancelled without having run") {
  static std::atomic<bool> first_runs{false}, go_on{false};
  first_runs = go_on = false;
  dag::Graph graph("suspects");
  graph.task("alone", alone);
  graph.task("first", [] {
    first_runs = true;
    first_runs.notify_all();
    go_on.wait(false);
    return 1;
  });
  const dag::detail::Fragment fragment = graph.builder().sealed();
  Ends ends;
  dag::Lanes lanes({.cores = {-1, -1}, .spin = dag::Duration{0}}, {});
  lanes.start(attempt_of(fragment, 1, 1), dag::normal, ends.note());
  first_runs.wait(false);
  start_alone(lanes, fragment, 1, ends);
  lanes.cancel({}, {0, 0}, {{1, 1}, 1});
  ends.wait_for(1);
  CHECK(ends.ended.front() == dag::TaskId{0, 0});
  go_on = true;
  go_on.notify_all();
  ends.wait_for(2);
}
