// The order of ready tasks against a sort, and what may be given away.
#include "libdag/stealing/ready_queue.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "libdag/base/check.hpp"
#include "libdag/base/random.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

ReadyTask task(std::uint32_t index, Priority priority = Priority::normal, Duration rank = 0s) {
  return {.task = TaskId{0, index},
          .attempt = AttemptId{{1, 0}, index + 1},
          .priority = priority,
          .upward_rank = rank};
}

std::vector<std::uint32_t> indices(const std::vector<ReadyTask>& tasks) {
  std::vector<std::uint32_t> result;
  for (const auto& one : tasks) result.push_back(one.task.index);
  return result;
}

}  // namespace

TEST_CASE("bands first, then the longer way to the end, then first come, first served") {
  ReadyQueue queue;
  const std::vector<ReadyTask> order = {
      task(5, Priority::urgent), task(2, Priority::high, 3s), task(1, Priority::high, 1s), task(6), task(0),
      task(3, Priority::low, 9s)};
  for (const std::size_t index : {5u, 3u, 2u, 4u, 0u, 1u}) REQUIRE(queue.push(order[index]));
  for (const auto& expected : order) CHECK(queue.pop() == expected);
  CHECK_FALSE(queue.pop());
}

TEST_CASE("a random history equals that of a sorted list") {
  Random random(GENERATE(range(1u, 30u)));
  ReadyQueue queue(60);
  std::vector<ReadyTask> naive;  // In the order of arrival.
  const auto first = [&] {
    return std::max_element(naive.begin(), naive.end(), [](const ReadyTask& a, const ReadyTask& b) {
      return std::tie(a.priority, a.upward_rank) < std::tie(b.priority, b.upward_rank);
    });  // The first of equals.
  };
  for (std::uint32_t step = 0; step < 500; ++step) {
    switch (random.below(5)) {
      case 0:
      case 1:
      case 2: {
        ReadyTask one = task(step, static_cast<Priority>(random.below(4)), Duration(random.below(3)));
        one.is_actor_call = random.chance(0.2);
        one.has_remote_inputs = random.chance(0.3);
        const bool fits = naive.size() < 60;
        REQUIRE(queue.push(one) == fits);
        if (fits) naive.push_back(one);
        break;
      }
      case 3: {
        const auto popped = queue.pop();
        REQUIRE(popped.has_value() == !naive.empty());
        if (popped) {
          REQUIRE(*popped == *first());
          naive.erase(first());
        }
        break;
      }
      default:
        if (random.chance(0.5)) {
          const auto slots = static_cast<std::uint32_t>(random.below(6));
          const auto expected = what_to_give(naive, slots);
          const auto given = queue.give_away(slots);
          REQUIRE(given.size() == expected.size());
          for (std::size_t index = 0; index < given.size(); ++index)
            REQUIRE(given[index] == naive[expected[index]]);
          for (const auto& one : given) std::erase(naive, one);
        } else {
          const TaskId id{0, static_cast<std::uint32_t>(random.below(step + 1))};
          const auto erased = std::erase_if(naive, [&](const ReadyTask& one) { return one.task == id; });
          REQUIRE(queue.remove(id) == (erased > 0));
        }
    }
    REQUIRE(queue.size() == naive.size());
    REQUIRE(queue.stealable() ==
            static_cast<std::size_t>(std::count_if(naive.begin(), naive.end(),
                                                   [](const auto& one) { return !one.is_actor_call; })));
  }
}

TEST_CASE("a task cannot be ready twice, and a full queue says so") {
  ReadyQueue queue(1);
  REQUIRE(queue.push(task(1)));
  CHECK_FALSE(queue.push(task(2)));
  ReadyQueue other;
  REQUIRE(other.push(task(1)));
  CHECK_THROWS_AS((void)other.push(task(1)), Bug);
}

TEST_CASE("the oldest half goes, within the slots, remote inputs last, actor calls never") {
  struct Row {
    std::vector<std::uint32_t> actor_calls, remote;
    std::uint32_t count, slots;
    std::vector<std::size_t> given;
  };
  const auto row =
      GENERATE(Row{{}, {}, 0, 4, {}}, Row{{}, {}, 1, 4, {0}}, Row{{}, {}, 5, 9, {0, 1, 2}},
               Row{{}, {}, 6, 9, {0, 1, 2}}, Row{{}, {}, 6, 2, {0, 1}}, Row{{}, {}, 6, 0, {}},
               Row{{0, 1}, {}, 4, 9, {2}}, Row{{0, 1, 2}, {}, 3, 9, {}}, Row{{}, {0, 1}, 5, 9, {2, 3, 4}},
               Row{{}, {0, 1, 2}, 5, 9, {3, 4, 0}}, Row{{1}, {0}, 3, 9, {2}});
  std::vector<ReadyTask> ready;
  for (std::uint32_t index = 0; index < row.count; ++index) ready.push_back(task(index));
  for (const auto index : row.actor_calls) ready[index].is_actor_call = true;
  for (const auto index : row.remote) ready[index].has_remote_inputs = true;
  CHECK(what_to_give(ready, row.slots) == row.given);
}

TEST_CASE("what is given is oldest by arrival, whatever its rank") {
  ReadyQueue queue;
  REQUIRE(queue.push(task(1, Priority::low)));
  REQUIRE(queue.push(task(2, Priority::urgent)));
  REQUIRE(queue.push(task(3, Priority::urgent)));
  CHECK(indices(queue.give_away(8)) == std::vector<std::uint32_t>{1, 2});
  CHECK(queue.size() == 1);
}
