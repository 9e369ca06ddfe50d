// Which saved states are kept, who is told to let them go, and which one an attempt starts from.
#include "libdag/home/checkpoints.hpp"

#include "tests/unit/home/rows_of.hpp"

using namespace dag;
using namespace dag::test;

namespace {

constexpr Life self = life_of(0), second = life_of(1), third = life_of(2);

/// A row that saves, and one that does not. The cell is at process 0 and has the record alone, so a state has
/// its copies when process 0 holds it.
struct Saving {
  Saving() {
    state.lives = {self, second, third};
    state.cell = self;
    options.several_processes = true;
  }
  OutcomeRecord state_of(RowIndex row, std::uint32_t number) const {
    OutcomeRecord record;
    record.task = rows.table.id(row);
    record.attempt = {{1, 1}, checkpoint_numbers + number};
    return record;
  }
  Checkpoints::Added save(std::uint32_t number, Life holder = second) {
    const Checkpoints::Added added = checkpoints.add(state_of(saves, number), holder);
    checkpoints.check_invariants();
    return added;
  }
  std::size_t kept() const { return checkpoints.all().empty() ? 0 : checkpoints.all().at(saves).size(); }

  static detail::Fragment graph() {
    Names names;
    names.policy(names.task("saves"),
                 [](Policy& policy) { policy.checkpoint = std::chrono::nanoseconds(0); });
    names.task("plain");
    return names.builder.sealed();
  }
  static constexpr RowIndex saves = 0, plain = 1;
  RowsOf rows{graph()};
  message::JobState state;
  HomeOptions options;
  Outputs outputs{rows.rows, state, self};
  Checkpoints checkpoints{rows.rows, outputs, state, options};
};

}  // namespace

TEST_CASE("two states of a row are kept, and the older ones until one of the two has its copies") {
  Saving some;
  CHECK(some.save(1).is_new);
  CHECK_FALSE(some.save(1, third).is_new);
  some.save(2);
  some.save(3);
  CHECK(some.kept() == 3);
  CHECK(some.outputs.take_releases().empty());
  some.checkpoints.copy_made(some.state_of(some.saves, 3).name(), self);
  some.checkpoints.check_invariants();
  CHECK(some.kept() == 2);
  const Outputs::Releases releases = some.outputs.take_releases();
  CHECK(releases.size() == 2);
  CHECK(releases.at(second) == std::vector{some.state_of(some.saves, 1).name()});
}

TEST_CASE("not more than four states wait for copies, and an older one that comes late is not kept") {
  Saving some;
  for (const std::uint32_t number : {2u, 3u, 4u, 5u, 6u}) some.save(number);
  CHECK(some.kept() == 4);
  const Checkpoints::Added late = some.save(1);
  CHECK(late.is_new);
  CHECK_FALSE(late.is_kept);
}

TEST_CASE("a state is kept of a row that saves and has not settled") {
  Saving some;
  CHECK_FALSE(some.checkpoints.add(some.state_of(some.plain, 1), second).is_kept);
  some.save(1);
  some.checkpoints.release_all(some.saves);
  CHECK(some.outputs.take_releases().size() == 1);
  some.rows.settle(some.saves);
  CHECK_FALSE(some.save(2).is_kept);
  some.checkpoints.copy_made(some.state_of(some.saves, 1).name(), third);
  CHECK(some.outputs.take_releases().contains(third));
}

TEST_CASE("an attempt starts from the newest state of its inputs that somebody holds") {
  Saving some;
  some.save(1);
  some.save(2, third);
  CHECK(some.checkpoints.newest_for(some.plain, {}) == nullptr);
  CHECK(some.checkpoints.newest_for(some.saves, {{some.rows.table.id(some.plain), {{1, 1}, 1}}}) == nullptr);
  CHECK(some.checkpoints.newest_for(some.saves, {})->record.attempt.number == checkpoint_numbers + 2);
  some.checkpoints.found_gone(some.state_of(some.saves, 2).name(), {third});
  CHECK(some.checkpoints.newest_for(some.saves, {})->record.attempt.number == checkpoint_numbers + 1);
  some.state.lives = {self, third};
  some.checkpoints.lives_changed();
  some.checkpoints.check_invariants();
  CHECK(some.checkpoints.all().empty());
}
