// Which worker process stands still, and which one only gets no turn.
#include "nodes/workers/frozen.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

using namespace dag;

namespace {

struct Watched {
  FrozenWatch watch;
  Instant now{std::chrono::seconds(100)};
  std::uint64_t beats = 1;
  ThreadState state = 'S';

  /// Whether it is frozen, seen as often as a node looks.
  bool frozen_within(Duration limit) {
    for (const Instant until = now + limit; now < until; now = now + FrozenWatch::look_every) {
      if (!watch
               .look(
                   beats, [this] { return state; }, now)
               .empty())
        return true;
    }
    return false;
  }
};

}  // namespace

TEST_CASE("a process that beats no more and is stopped, or sleeps for ever, is frozen soon") {
  Watched one;
  one.state = GENERATE('T', 't', 'S');
  CHECK(one.frozen_within(FrozenWatch::frozen_after + 3 * FrozenWatch::look_every));
}

TEST_CASE("who waits for a processor or the disk, or is gone, is not frozen, however long") {
  Watched one;
  one.state = GENERATE('R', 'D', 'Z', '\0');
  CHECK_FALSE(one.frozen_within(std::chrono::minutes(10)));
}

TEST_CASE("who beats, however seldom, is not frozen; nor is who has not begun, or is about to end") {
  Watched one;
  for (int i = 0; i < 20; ++i) {
    CHECK_FALSE(one.frozen_within(FrozenWatch::frozen_after - FrozenWatch::look_every));
    ++one.beats;
  }
  one.beats = 0;
  CHECK_FALSE(one.frozen_within(std::chrono::minutes(1)));
}

TEST_CASE("what the node slept through itself is not held against others") {
  Watched one;
  for (int i = 0; i < 20; ++i) {
    CHECK(one.watch
              .look(
                  one.beats, [&] { return one.state; }, one.now)
              .empty());
    one.now = one.now + std::chrono::seconds(30);
  }
}

TEST_CASE("the state of a thread is what the system says of it") {
  CHECK(state_of_thread(static_cast<std::uint32_t>(getpid()), static_cast<std::uint32_t>(gettid())) == 'R');
  CHECK(state_of_thread(0xFFFFFFF0, 1) == '\0');
}
