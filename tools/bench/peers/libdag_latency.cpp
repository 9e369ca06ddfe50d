// From the end of a task to the start of one that waited for it: on the same lane, on another lane that is
// awake or asleep, and in another process. The kernels read the clock themselves.

#include <unistd.h>

#include <thread>

#include "tools/bench/peers/clock.hpp"
#include "tools/bench/peers/libdag.hpp"

namespace dag::bench {
namespace {

/// The end of a task: time and process.
struct End {
  std::int64_t at_ns = 0;
  std::int64_t process = 0;
};

// Samples of this process. Kernels of the graphs below that write it never run at once.
std::vector<std::int64_t> samples;

End after_one(End before) {
  samples.push_back(now_ns() - before.at_ns);
  return {now_ns(), 0};
}

/// A chain of tasks: the lane that ended a task starts the next.
std::vector<std::int64_t> on_the_same_lane(Session& session, std::uint32_t tasks) {
  samples.clear();
  Graph graph("same lane");
  Output<End> last = graph.task("first", [] { return End{now_ns(), 0}; });
  for (std::uint32_t i = 0; i < tasks; ++i) last = graph.task("next", after_one, last);
  expect_all_finished(session.submit(graph), tasks + 1);
  return samples;
}

struct Branch {
  std::int64_t latency_ns = 0;
};

/// Two tasks become ready at once and last until `busy_ns` later: one stays, and how soon the other starts is
/// up to another lane. Both end at the same instant, so that lane has been dry for no longer than it takes to
/// start the task that joins them, and is awake; unless that one lasts `quiet_ns`, in which the lane has
/// nothing to do.
struct Fork {
  std::int64_t quiet_ns = 0;
  std::int64_t busy_ns = 0;
};

std::vector<std::int64_t> on_another_lane(Session& session, Fork fork, std::uint32_t rounds) {
  samples.clear();
  Graph graph("other lane");
  const auto begin = [](std::int64_t quiet_ns) {
    busy_until(now_ns() + quiet_ns);
    return End{now_ns(), 0};
  };
  const auto branch = [](std::int64_t busy_ns, End before) {
    const std::int64_t start = now_ns();
    busy_until(before.at_ns + busy_ns);
    return Branch{start - before.at_ns};
  };
  const auto join = [](std::int64_t quiet_ns, Branch one, Branch other) {
    samples.push_back(std::max(one.latency_ns, other.latency_ns));
    busy_until(now_ns() + quiet_ns);
    return End{now_ns(), 0};
  };
  Output<End> last = graph.task("begin", begin, fork.quiet_ns);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const auto one = graph.task("branch", branch, fork.busy_ns, last);
    const auto other = graph.task("branch", branch, fork.busy_ns, last);
    last = graph.task("join", join, fork.quiet_ns, one, other);
  }
  expect_all_finished(session.submit(graph), std::uint64_t{rounds} * 3 + 1);
  return samples;
}

/// A stencil of two columns. What counts are tasks here whose last input came from another process.
std::vector<std::int64_t> in_another_process(Session& session, std::uint32_t steps) {
  samples.clear();
  Graph graph("other process");
  const auto first = [] { return End{now_ns(), getpid()}; };
  const auto next = [](End one, End other) {
    const std::int64_t start = now_ns();
    const End& last = one.at_ns > other.at_ns ? one : other;
    if (last.process != getpid()) samples.push_back(start - last.at_ns);
    return End{now_ns(), getpid()};
  };
  Output<End> left = graph.task("first", first), right = graph.task("first", first);
  for (std::uint32_t step = 0; step < steps; ++step) {
    const Output<End> next_left = graph.task("next", next, left, right);
    right = graph.task("next", next, left, right);
    left = next_left;
  }
  expect_all_finished(session.submit(graph), std::uint64_t{steps} * 2 + 2);
  return samples;
}

}  // namespace

Figures libdag_latency(const Request& request) {
  const auto session = open_session(request);
  const auto rounds = static_cast<std::uint32_t>(request.number("rounds", 1000));
  const std::string kind = request.text("kind");
  Figures figures;
  on_the_same_lane(*session, 1000);  // Warms up.
  if (kind == "same") {
    add_percentiles(figures, kind, on_the_same_lane(*session, rounds));
  } else if (kind == "awake") {
    add_percentiles(figures, kind, on_another_lane(*session, {0, 100'000}, rounds));
  } else if (kind == "asleep") {  // The lane has 3 ms to fall asleep.
    add_percentiles(figures, kind,
                    on_another_lane(*session, {3'000'000, 500'000}, std::max(rounds / 20, 5u)));
  } else if (kind == "process") {
    add_percentiles(figures, kind, in_another_process(*session, rounds));
  } else {
    throw std::invalid_argument("no latency is called '" + kind + "'");
  }
  return figures;
}

}  // namespace dag::bench
