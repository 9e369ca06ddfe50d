#include "libdag/job/door.hpp"

#include <catch2/catch.hpp>
#include <optional>

namespace dag {
namespace {

constexpr Life leader{ProcessId{0}, Incarnation{1}}, here{ProcessId{1}, Incarnation{1}};

template <class M>
M of_home(Epoch epoch) {
  M message;
  message.epoch = epoch;
  return message;
}

/// Shard 0 is here, and its home is yet to be begun.
message::JobState state_with(Epoch epoch) {
  message::JobState state;
  state.version = 1;
  state.cell = leader;
  state.homes = {{here, epoch}};
  state.lives = {leader, here};
  return state;
}

TEST_CASE("what is for a home waits until the home is there") {
  const Epoch epoch{1, 2};
  const Door door(here);
  const auto assign = of_home<message::Assign>(epoch);
  const auto settled = of_home<message::Settled>(epoch);
  const auto judge = [&](const JobMessage& message, const message::JobState& state,
                         std::optional<Epoch> home) {
    return door.judge(leader, message, state, [&](std::uint32_t) { return home; });
  };
  CHECK(judge(assign, {}, {}) == Admission::wait);
  CHECK(judge(assign, state_with({1, 1}), {}) == Admission::wait);
  CHECK(judge(assign, state_with(epoch), {}) == Admission::deliver);
  CHECK(judge(settled, state_with(epoch), {}) == Admission::wait);
  CHECK(judge(settled, state_with(epoch), epoch) == Admission::deliver);
  CHECK(judge(settled, state_with({1, 3}), epoch) == Admission::drop);
}

// dag-sim chaos --world cells --seed 913005: a process that was stopped heard that the job had ended, then
// that it was to begin a home, whose tasks it ran.
TEST_CASE("no home is begun for a job that has ended, and nothing waits for one") {
  const Epoch epoch{1, 2};
  const Door door(here);
  message::JobState ended = state_with(epoch);
  ended.ended = true;
  const auto no_home = [](std::uint32_t) { return std::optional<Epoch>(); };
  CHECK(door.judge(leader, of_home<message::Assign>(epoch), ended, no_home) == Admission::drop);
  CHECK(door.judge(leader, of_home<message::Settled>(epoch), ended, no_home) == Admission::drop);
  CHECK(door.judge(leader, message::Fetch{}, ended, no_home) == Admission::deliver);
}

}  // namespace
}  // namespace dag
