// Thief and victim: whom to ask, and that lost, repeated and late messages neither double nor lose a task.
#include <catch2/catch.hpp>
#include <deque>
#include <set>

#include "libdag/base/random.hpp"
#include "libdag/stealing/grant_book.hpp"
#include "libdag/stealing/victim.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

constexpr Instant start{10s};

Life life(std::uint32_t process) { return {ProcessId{process}, {1}}; }
VictimView view(std::uint32_t process, std::uint32_t rung, std::uint32_t ready, Duration wait) {
  return {.life = life(process), .rung = rung, .tasks_ready = ready, .wait = wait, .round_trip = 100us};
}
ReadyTask task(std::uint32_t index) {
  return {.task = TaskId{0, index}, .attempt = AttemptId{{1, 0}, index + 1}};
}

}  // namespace

TEST_CASE("whom to ask: who gains time, the nearest, the longest queue, the lower id") {
  struct Row {
    std::vector<VictimView> views;
    std::optional<std::uint32_t> victim;
  };
  const auto row = GENERATE(Row{{}, {}}, Row{{view(1, 0, 0, 1s)}, {}}, Row{{view(1, 0, 5, 100us)}, {}},
                            Row{{view(1, 0, 5, 101us)}, 1}, Row{{view(1, 1, 50, 1s), view(2, 0, 1, 1ms)}, 2},
                            Row{{view(1, 1, 5, 1ms), view(2, 1, 5, 2ms)}, 2},
                            Row{{view(3, 1, 5, 1ms), view(2, 1, 5, 1ms)}, 2});
  ThiefMachine thief;
  const auto asked = thief.next(row.views, start);
  REQUIRE(asked.has_value() == row.victim.has_value());
  if (asked) CHECK(asked->victim == life(*row.victim));
}

TEST_CASE("one question at a time; without an answer it is given up") {
  ThiefMachine thief;
  const std::vector<VictimView> views = {view(1, 0, 5, 1s), view(2, 0, 5, 1ms)};
  const auto first = thief.next(views, start);
  REQUIRE(first == ThiefMachine::Ask{life(1), 1});
  CHECK_FALSE(thief.next(views, start + 4ms));
  CHECK(thief.wake_at(start) == start + 5ms);
  const auto second = thief.next(views, start + 5ms);
  CHECK(second == ThiefMachine::Ask{life(2), 2});
  // The late answer to the first is no answer to the second.
  CHECK_FALSE(thief.on_answer(life(1), 1, 3, start + 6ms));
  CHECK(thief.open() == second);
  CHECK(thief.on_answer(life(2), 2, 1, start + 7ms));
  CHECK_FALSE(thief.open());
}

TEST_CASE("who had nothing is left alone, longer each time, until it grants something") {
  ThiefMachine thief;
  const std::vector<VictimView> views = {view(1, 0, 5, 1s)};
  Instant now = start;
  Duration last{0};
  for (int refusal = 0; refusal < 12; ++refusal) {
    const auto asked = thief.next(views, now);
    REQUIRE(asked);
    thief.on_answer(life(1), asked->request, 0, now);
    CHECK_FALSE(thief.next(views, now));
    const Instant wake = thief.wake_at(now).value();
    CHECK(wake - now >= last);
    last = wake - now;
    now = wake;
  }
  CHECK(last == 100ms);
  const auto asked = thief.next(views, now);
  thief.on_answer(life(1), asked->request, 1, now);
  CHECK(thief.next(views, now));
}

TEST_CASE("a thief gets for each lane what runs for a while, and never more than half") {
  using std::chrono::microseconds;
  CHECK(rows_to_give(1, 1000, microseconds(100)) == 100);
  CHECK(rows_to_give(2, 1000, microseconds(100)) == 200);
  CHECK(rows_to_give(1, 1000, microseconds(10)) == 128);
  CHECK(rows_to_give(1, 1000, Duration{0}) == 128);
  CHECK(rows_to_give(1, 1000, microseconds(5000)) == 2);
  CHECK(rows_to_give(4, 1000, std::chrono::hours(1)) == 4);
  CHECK(rows_to_give(1, 1000, std::nullopt) == 1);
  CHECK(rows_to_give(2, 21, microseconds(100)) == 11);
  CHECK(rows_to_give(2, 1, microseconds(100)) == 1);
  CHECK(rows_to_give(2, 0, microseconds(100)) == 0);
}

TEST_CASE("a dead victim owes no answer") {
  ThiefMachine thief;
  REQUIRE(thief.next({view(1, 0, 5, 1s)}, start));
  thief.on_member_down(life(1));
  CHECK_FALSE(thief.open());
  CHECK(thief.next({view(2, 0, 5, 1s)}, start));
}

TEST_CASE("the same request gets the same answer, an older one none") {
  ReadyQueue queue;
  for (std::uint32_t index = 0; index < 8; ++index) REQUIRE(queue.push(task(index)));
  GrantBook book;
  const auto first = book.on_request(life(1), 5, 2, queue);
  REQUIRE(first);
  CHECK(first->tasks == std::vector{task(0), task(1)});
  const auto again = book.on_request(life(1), 5, 2, queue);
  REQUIRE(again);
  CHECK(again->tasks == first->tasks);
  CHECK(again->is_repeat);
  CHECK(queue.size() == 6);
  CHECK(book.on_request(life(1), 6, 1, queue)->tasks == std::vector{task(2)});
  CHECK_FALSE(book.on_request(life(1), 5, 2, queue));
  CHECK_FALSE(book.on_request(life(1), 7, 0, queue));
  // Another thief, and the same one in its next life, begin anew.
  CHECK(book.on_request(life(2), 1, 1, queue)->tasks == std::vector{task(3)});
  CHECK(book.on_request({ProcessId{1}, {2}}, 1, 1, queue)->tasks == std::vector{task(4)});
}

TEST_CASE("a grant is one message") {
  ReadyQueue queue;
  for (std::uint32_t index = 0; index < 1000; ++index) REQUIRE(queue.push(task(index)));
  GrantBook book;
  CHECK(book.on_request(life(1), 1, 100'000, queue)->tasks.size() == GrantBook::tasks_per_grant_max);
}

TEST_CASE("thieves that never end are answered up to a limit") {
  ReadyQueue queue;
  GrantBook book;
  for (std::uint32_t thief = 0; thief < GrantBook::thieves_max; ++thief) {
    REQUIRE(book.on_request(life(thief), 1, 1, queue));
  }
  CHECK_FALSE(book.on_request(life(99'999), 1, 1, queue));
  book.on_member_down(life(0));
  CHECK(book.on_request(life(99'999), 1, 1, queue));
}

TEST_CASE("over a link that loses, repeats and delays, each task is at one end exactly once") {
  Random random(GENERATE(range(1u, 40u)));
  ReadyQueue queue;
  const std::uint32_t tasks = 40;
  for (std::uint32_t index = 0; index < tasks; ++index) REQUIRE(queue.push(task(index)));
  GrantBook book;
  ThiefMachine thief(
      {.answer_within = 1h});  // The question stays open; the link repeats it until it is answered.
  std::deque<ThiefMachine::Ask> requests;
  std::deque<GrantBook::Answer> answers;
  std::multiset<TaskId> stolen;
  std::uint64_t accepted = 0;  // As a runner accepts an attempt once.
  Instant now = start;
  const auto somewhere = [&](auto& line) { return static_cast<std::ptrdiff_t>(random.below(line.size())); };
  for (int step = 0; step < 4000 && stolen.size() < tasks; ++step) {
    now = now + 1ms;
    const auto ready = static_cast<std::uint32_t>(queue.stealable());
    if (const auto asked = thief.next({view(1, 0, ready, 1s)}, now)) requests.push_back(*asked);
    if (thief.open() && random.chance(0.2)) requests.push_back(*thief.open());
    if (!requests.empty()) {
      const auto at = requests.begin() + somewhere(requests);
      if (random.chance(0.7)) {
        if (const auto answer = book.on_request(life(9), at->request,
                                                static_cast<std::uint32_t>(1 + at->request % 3), queue)) {
          answers.push_back(*answer);
        }
      }
      if (random.chance(0.8)) requests.erase(at);
    }
    if (!answers.empty()) {
      const auto at = answers.begin() + somewhere(answers);
      if (random.chance(0.7) && thief.on_answer(life(1), at->request, at->tasks.size(), now)) {
        for (const auto& one : at->tasks) stolen.insert(one.task);
        ++accepted;
      }
      if (random.chance(0.8)) answers.erase(at);
    }
  }
  CHECK(stolen.size() == tasks);
  CHECK(std::set<TaskId>(stolen.begin(), stolen.end()).size() == tasks);
  CHECK(queue.empty());
  CHECK(accepted > 0);
}
