// The deque of a lane: in every order of the steps of an owner and thieves, each row is taken once, by one of
// them, and its shard is noticed before it is gone. Then with real threads, for TSan.

#include "actors/lanes/deque.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <thread>

#include "tests/support/interleavings.hpp"

using namespace dag;

namespace {

using ModelDeque = BasicDeque<model::Atomic>;

constexpr auto ignore = [](LaneShard*) {};

/// Rows taken, by any thread.
struct Taken {
  std::map<RowIndex, int> times;
  void operator()(const std::optional<ReadyRow>& ready) {
    if (ready) ++times[ready->row];
  }
};

/// Rows 0 to `rows`: each was taken once, or is still there.
void require_once(Taken& taken, ModelDeque& deque, RowIndex rows) {
  while (const auto left = deque.pop(ignore)) taken(left);
  for (RowIndex row = 0; row < rows; ++row) {
    model::require(taken.times[row] == 1, "row " + std::to_string(row) + " was taken " +
                                              std::to_string(taken.times[row]) + " times");
  }
}

struct Shared {
  ModelDeque deque{2};
  Taken taken;
};

void check_holds(const std::function<model::Program()>& make, model::Options options = {}) {
  for (const bool buffers : {false, true}) {
    options.store_buffers = buffers;
    const model::Verdict verdict = model::Explorer(options).explore(make);
    INFO(verdict.violation.value_or("") << " in the order " << verdict.order);
    CHECK_FALSE(verdict.violation);
    CHECK(verdict.orders > 1);
  }
}

}  // namespace

TEST_CASE("alone, the owner gets the newest and a thief the oldest, however many there are") {
  Deque deque(2);
  for (RowIndex row = 0; row < 1000; ++row) deque.push({nullptr, row});
  CHECK(deque.size() == 1000);
  CHECK(deque.pop(ignore)->row == 999);
  CHECK(deque.steal(ignore)->row == 0);
  CHECK(deque.steal(ignore)->row == 1);
  for (RowIndex row = 998; row >= 2; --row) CHECK(deque.pop(ignore)->row == row);
  CHECK_FALSE(deque.pop(ignore));
  CHECK_FALSE(deque.steal(ignore));
  CHECK(deque.size() == 0);
}

TEST_CASE("an owner and a thief want the last row: every order") {
  check_holds([] {
    auto s = std::make_shared<Shared>();
    s->deque.push({nullptr, 0});
    return model::Program{
        {[s] { s->taken(s->deque.pop(ignore)); }, [s] { s->taken(s->deque.steal(ignore)); }},
        [s] { require_once(s->taken, s->deque, 1); }};
  });
}

TEST_CASE("an owner and a thief share the last two rows") {
  check_holds(
      [] {
        auto s = std::make_shared<Shared>();
        for (RowIndex row = 0; row < 2; ++row) s->deque.push({nullptr, row});
        return model::Program{{[s] { s->taken(s->deque.pop(ignore)), s->taken(s->deque.pop(ignore)); },
                               [s] { s->taken(s->deque.steal(ignore)), s->taken(s->deque.steal(ignore)); }},
                              [s] { require_once(s->taken, s->deque, 2); }};
      },
      {.interruptions_max = 2});
}

TEST_CASE("a row that is pushed while a thief looks is the thief's or the owner's") {
  check_holds(
      [] {
        auto s = std::make_shared<Shared>();
        return model::Program{{[s] {
                                 s->deque.push({nullptr, 0});
                                 s->taken(s->deque.pop(ignore));
                               },
                               [s] { s->taken(s->deque.steal(ignore)); }},
                              [s] { require_once(s->taken, s->deque, 1); }};
      },
      {.interruptions_max = 2});
}

TEST_CASE("a thief that read a slot before the deque grew, or was used again, takes no wrong row") {
  check_holds(
      [] {
        auto s = std::make_shared<Shared>();
        for (RowIndex row = 0; row < 2; ++row) s->deque.push({nullptr, row});
        return model::Program{{[s] {
                                 s->taken(s->deque.pop(ignore));
                                 s->deque.push({nullptr, 2});
                                 s->deque.push({nullptr, 3});  // Perhaps there is no room.
                               },
                               [s] { s->taken(s->deque.steal(ignore)); }},
                              [s] { require_once(s->taken, s->deque, 4); }};
      },
      {.interruptions_max = 1});
}

TEST_CASE("with real threads each row is taken once") {
  constexpr RowIndex rows = 20'000;
  Deque deque(4);
  std::vector<std::atomic<int>> times(rows);
  std::atomic<bool> done{false};
  const auto take = [&](const std::optional<ReadyRow>& ready) {
    if (ready) times[ready->row].fetch_add(1);
  };
  std::vector<std::thread> thieves;
  for (int i = 0; i < 2; ++i) {
    thieves.emplace_back([&] {
      while (!done.load()) take(deque.steal(ignore));
    });
  }
  for (RowIndex row = 0; row < rows; ++row) {
    deque.push({nullptr, row});
    if (row % 3 == 0) take(deque.pop(ignore));
  }
  while (const auto left = deque.pop(ignore)) take(left);
  while (deque.size() > 0) std::this_thread::yield();
  done = true;
  for (std::thread& thief : thieves) thief.join();
  CHECK(std::all_of(times.begin(), times.end(), [](const auto& n) { return n.load() == 1; }));
}
