// How long an attempt may take, against a real node in this process: from when its kernel begins; and what is
// done about a kernel that was told to stop. Every case runs in both representations of tasks.

#include <catch2/catch.hpp>

#include <poll.h>
#include <dag/dag.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/test_session.hpp"

using namespace std::chrono_literals;
using dag::test::error_of;
using dag::test::TestSession;

namespace {

constexpr auto for_ever = std::chrono::nanoseconds::max();

void wait_until_told(const dag::Context& context) {
  while (!context.cancelled()) std::this_thread::yield();
}
/// Long enough for any thread that is about to do the forbidden thing now, and much shorter than a grace.
void give_others_a_chance() { poll(nullptr, 0, 50); }

/// Shared by the kernels of a test case.
std::atomic<bool> one_was_told, released, graces_are_over, gone;

void forget() { one_was_told = released = graces_are_over = gone = false; }

}  // namespace

TEST_CASE("what waits for a lane is not late: a timeout counts from when the kernel begins") {
  TestSession session(GENERATE(false, true));
  forget();
  dag::Graph g("queue");
  auto late = g.task("late", [](dag::Context& context) {
    wait_until_told(context);
    one_was_told = true;
    one_was_told.notify_all();
    return 1;
  });
  late.timeout(400ms);
  g.task("blocker", [] {
    one_was_told.wait(false);
    return 1;
  });
  auto waiter = g.task("waiter", [](dag::Context& context) { return context.attempt(); });
  waiter.timeout(200ms);
  auto job = session->submit(g);
  CHECK(job.get(waiter) == 1);
  CHECK(error_of([&] { job.get(late); }).code == dag::ErrorCode::timed_out);
}

TEST_CASE("the next attempt begins when the kernel of the one that was late has returned") {
  const auto effects = GENERATE(dag::pure, dag::idempotent, dag::exclusive);
  TestSession session(GENERATE(false, true));
  forget();
  dag::Graph g("late");
  auto slow = g.task("slow", [](dag::Context& context) {
    if (context.attempt() > 1) return gone.load();
    wait_until_told(context);
    give_others_a_chance();
    gone = true;
    return false;
  });
  slow.timeout(20ms).retry({.attempts = 2, .backoff = 0ns}).effects(effects);
  CHECK(session->submit(g).get(slow));
}

TEST_CASE("a kernel that does not stop is waited for, unless its task is pure") {
  TestSession session(GENERATE(false, true), "4");
  forget();
  dag::Graph g("deaf");
  auto pure = g.task("pure", [](dag::Context& context) {
    if (context.attempt() == 1) {
      gone.wait(false);
    } else {
      graces_are_over = true;
      graces_are_over.notify_all();
    }
    return context.attempt();
  });
  // Its grace begins later, so it ends later.
  pure.timeout(60ms).retry({.attempts = 2, .backoff = 0ns});
  auto once = g.task("once", [](dag::Context& context) {
    if (context.attempt() > 1) return gone.load();
    graces_are_over.wait(false);
    give_others_a_chance();
    gone = true;
    gone.notify_all();
    return false;
  });
  once.timeout(20ms).retry({.attempts = 2, .backoff = 0ns}).effects(dag::idempotent);
  auto job = session->submit(g);
  CHECK(job.get(pure) == 2);
  CHECK(job.get(once));
}

TEST_CASE("a kernel that does not stop holds nobody up when no attempt comes after it") {
  TestSession session(GENERATE(false, true), "1");
  forget();
  dag::Graph g("deaf");
  auto slow = g.task("slow", [] {
    released.wait(false);
    return 1;
  });
  slow.timeout(20ms).effects(dag::idempotent);
  auto next = g.task("next", [] { return 2; }).after_any_outcome(slow);
  auto job = session->submit(g);
  CHECK(error_of([&] { job.get(slow); }).code == dag::ErrorCode::timed_out);
  CHECK(job.get(next) == 2);  // On the lane that came in the place of that one.
  released = true;
  released.notify_all();
}

TEST_CASE("the longest duration means for ever") {
  TestSession session(GENERATE(false, true));
  forget();
  const auto limit = GENERATE(values<std::chrono::nanoseconds>({for_ever, for_ever - 1s}));
  dag::Graph g("for ever");
  auto slow = g.task("slow", [](dag::Context& context) {
    give_others_a_chance();
    const bool told = context.cancelled();
    const bool save = context.checkpoint_due();
    return !told && !save;
  });
  slow.timeout(limit).deadline(limit).takes(limit).checkpoint(limit);
  auto job = session->submit(g);
  CHECK(job.wait(limit) == true);
  CHECK(job.get(slow));
}
