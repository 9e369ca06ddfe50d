#include "actors/lanes/deque.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "tests/support/interleavings.hpp"

using namespace dag;

namespace {

/// A mistake in the deque's own code: as if its sequentially consistent stores were releases.
template <class T>
struct Released : model::Atomic<T> {
  using model::Atomic<T>::Atomic;
  void store(T value, std::memory_order) { model::Atomic<T>::store(value, std::memory_order_release); }
};

/// The owner pushes 1, 2, ... `items`, and pops after each push (`eager`) or when all are there; thieves try
/// `steals` times. Then the owner takes what is left.
template <template <class> class Atomic = model::Atomic>
model::Verdict explore_deque(std::uint64_t items, bool eager, std::size_t thieves, std::size_t steals,
                             model::Options options) {
  return model::Explorer(options).explore([=] {
    struct State {
      Deque<Atomic> deque{2};
      std::vector<std::uint32_t> taken;
      std::optional<std::uint64_t> pop() {
        const auto item = deque.pop();
        if (item) take(*item);
        return item;
      }
      void take(std::uint64_t item) {
        model::require(item >= 1 && item < taken.size(), "an item that nobody pushed");
        model::require(++taken[item] == 1, "an item was taken twice");
      }
    };
    auto state = std::make_shared<State>();
    state->taken.resize(items + 1);
    model::Program program;
    program.threads.push_back([=] {
      for (std::uint64_t i = 1; i <= items; ++i) {
        state->deque.push(i);
        if (eager) state->pop();
      }
      while (state->pop()) {
      }
    });
    for (std::size_t thief = 0; thief < thieves; ++thief) {
      program.threads.push_back([=] {
        for (std::size_t i = 0; i < steals; ++i) {
          std::uint64_t item = 0;
          if (state->deque.steal(item) == Stolen::item) state->take(item);
        }
      });
    }
    program.at_end = [=] {
      for (std::uint64_t i = 1; i <= items; ++i) model::require(state->taken[i] == 1, "an item was lost");
    };
    return program;
  });
}

}  // namespace

TEST_CASE("in every order of its steps each item of a deque is taken once") {
  const bool buffers = GENERATE(false, true);
  const auto check = [](const model::Verdict& verdict) {
    INFO(verdict.violation.value_or("") << " in the order " << verdict.order);
    CHECK_FALSE(verdict.violation);
    CHECK(verdict.orders > 1);
  };
  CAPTURE(buffers);
  check(explore_deque(2, true, 1, 2, {.store_buffers = buffers}));
  check(explore_deque(3, false, 1, 2, {.store_buffers = buffers}));  // Three do not fit: it grows.
  check(explore_deque(1, false, 2, 1, {.store_buffers = buffers}));
  check(explore_deque(3, false, 2, 2, {.store_buffers = buffers, .interruptions_max = 2}));
}

TEST_CASE("a deque whose owner announces a pop too late gives an item twice on x86") {
  CHECK(explore_deque<Released>(2, false, 1, 2, {.store_buffers = true}).violation.value_or("nothing") ==
        "an item was taken twice");
  CHECK_FALSE(explore_deque<Released>(2, false, 1, 2, {.store_buffers = false}).violation);
}

TEST_CASE("an owner takes the newest of its deque, thieves the oldest") {
  Deque<> deque(2);
  for (std::uint64_t i = 0; i < 100; ++i) deque.push(i);
  CHECK(deque.size() == 100);
  std::uint64_t item = 7;
  CHECK(deque.steal(item) == Stolen::item);
  CHECK(item == 0);
  for (std::uint64_t i = 100; i-- > 1;) REQUIRE(deque.pop() == i);
  CHECK_FALSE(deque.pop());
  CHECK(deque.steal(item) == Stolen::empty);
  CHECK(deque.size() == 0);
}

TEST_CASE("an owner and three thieves take each of a million items once") {
  constexpr std::uint64_t count = 1'000'000;
  Deque<> deque(4);
  std::vector<std::atomic<std::uint8_t>> taken(count);
  std::atomic<std::uint64_t> left{count};
  const auto take = [&](std::uint64_t item) {
    ++taken[item];
    --left;
  };
  std::vector<std::thread> thieves;
  for (int i = 0; i < 3; ++i) {
    thieves.emplace_back([&] {
      while (left > 0) {
        std::uint64_t item = 0;
        switch (deque.steal(item)) {
          case Stolen::item:
            take(item);
            break;
          case Stolen::lost:
            break;
          case Stolen::empty:
            std::this_thread::yield();
        }
      }
    });
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    deque.push(i);
    if (i % 3 == 0) {
      if (const auto item = deque.pop()) take(*item);
    }
  }
  while (const auto item = deque.pop()) take(*item);
  for (auto& thief : thieves) thief.join();
  CHECK(std::all_of(taken.begin(), taken.end(), [](const auto& times) { return times == 1; }));
}
