// Where outputs lie, which copies are needed, and who is told that bytes may go.
#include "libdag/home/outputs.hpp"

#include <algorithm>

#include "libdag/home/askers.hpp"
#include "libdag/home/copies.hpp"
#include "tests/unit/home/rows_of.hpp"

using namespace dag;
using namespace dag::test;

namespace {

constexpr Life self = life_of(0), second = life_of(1), third = life_of(2), gone = life_of(9);

/// Two rows of this home at process 0; processes 1 and 2 live, too.
struct TwoRows {
  TwoRows() {
    state.lives = {self, second, third};
    state.cell = self;
    for (const RowIndex row : {a, b}) rows.rows.fact_of(row).attempt = {{1, 1}, 1};
  }
  OutputName name(RowIndex row) const { return rows.rows.output_of(row); }

  static detail::Fragment graph() {
    Names names;
    names.policy(names.task("a"), [](Policy& policy) { policy.varying = true; });
    names.task("b");
    return names.builder.sealed();
  }
  static constexpr RowIndex a = 0, b = 1;
  RowsOf rows{graph()};
  message::JobState state;
  Outputs outputs{rows.rows, state, self};
};

}  // namespace

TEST_CASE("bytes lie in the slot, or with living holders; each is named once") {
  TwoRows some;
  CHECK_FALSE(some.outputs.available(some.a));
  CHECK(some.outputs.holders(some.a).empty());
  some.outputs.add_holder(some.a, gone);
  CHECK_FALSE(some.outputs.available(some.a));
  some.outputs.add_holder(some.a, second);
  some.outputs.add_holder(some.a, second);
  CHECK(some.outputs.available(some.a));
  CHECK(some.outputs.holders(some.a) == std::vector{second});
  CHECK(some.outputs.told_holders(some.a) == std::vector{gone, second});
  some.rows.leave_output(some.a);
  CHECK(some.outputs.holders(some.a) == std::vector{self, second});
  CHECK(some.outputs.drop_holder(some.a, second));
  CHECK_FALSE(some.outputs.drop_holder(some.a, second));
  CHECK_FALSE(some.outputs.drop_holder(some.b, second));
  some.outputs.check_invariants();
  some.outputs.set_holders(some.a, {third});
  CHECK(some.outputs.told_holders(some.a) == std::vector{third});
  some.outputs.set_holders(some.a, {});
  CHECK(some.outputs.told_holders(some.a).empty());
}

TEST_CASE("all that hold bytes or keep the record are told once that it may go; the dead are not") {
  TwoRows some;
  const bool keeper_holds = GENERATE(false, true);
  some.outputs.set_holders(some.a, {second, gone});
  some.outputs.set_keeper(some.a, keeper_holds ? second : third);
  some.outputs.release_all(some.a, some.name(some.a));
  const Outputs::Releases told = some.outputs.take_releases();
  CHECK(told.size() == (keeper_holds ? 1 : 2));
  CHECK(told.at(second) == std::vector{some.name(some.a)});
  CHECK(some.outputs.take_releases().empty());
  some.outputs.release_all(some.a, some.name(some.a));  // Nobody has it any more.
  CHECK(some.outputs.take_releases().empty());
}

TEST_CASE("a process that has only the record may let it go when the row has settled") {
  TwoRows some;
  some.outputs.set_keeper(some.a, third);
  some.outputs.set_keeper(some.b, second);
  some.outputs.add_holder(some.b, second);
  some.outputs.record_settled(some.a, some.name(some.a));
  some.outputs.record_settled(some.b, some.name(some.b));  // Its keeper has the bytes, too.
  const Outputs::Releases told = some.outputs.take_releases();
  CHECK(told.size() == 1);
  CHECK(told.contains(third));
  CHECK(some.outputs.take_keeper(some.b) == second);
  CHECK_FALSE(some.outputs.take_keeper(some.b));
}

TEST_CASE("a process that dies before it is told of a release is not told") {
  TwoRows some;
  some.outputs.release(second, some.name(some.a));
  some.state.lives = {self, third};
  CHECK(some.outputs.take_releases().empty());
}

TEST_CASE("lives that are gone hold, keep and copy nothing") {
  TwoRows some;
  some.outputs.set_holders(some.a, {second, third});
  some.outputs.set_keeper(some.b, second);
  CHECK(some.outputs.await_copy(some.a, second));
  some.state.lives = {self, third};
  some.outputs.lives_changed();
  CHECK(some.outputs.told_holders(some.a) == std::vector{third});
  CHECK_FALSE(some.outputs.take_keeper(some.b));
  CHECK_FALSE(some.outputs.awaits_copy(some.a));
  CHECK(some.outputs.rows_with_copies() == std::vector{some.a});
  some.outputs.check_invariants();
}

TEST_CASE("a process is asked once for a copy, and no other one makes it") {
  TwoRows some;
  CHECK(some.outputs.await_copy(some.a, second));
  CHECK_FALSE(some.outputs.await_copy(some.a, second));
  CHECK(some.outputs.awaits_copy(some.a));
  CHECK_FALSE(some.outputs.copy_made(some.a, third));
  CHECK(some.outputs.copy_made(some.a, second));
  CHECK_FALSE(some.outputs.copy_made(some.b, second));
  CHECK_FALSE(some.outputs.awaits_copy(some.a));
  CHECK_FALSE(some.outputs.await_copy(some.a, std::nullopt));  // Enough copies.
  CHECK(some.outputs.await_copy(some.a, third));
  some.outputs.forget_copy(some.a);
  CHECK(some.outputs.rows_with_copies().empty());
}

TEST_CASE("two copies lie on two nodes if there are two, and the record's process has a saved state") {
  const auto worker = [](std::uint32_t node, std::uint32_t number) {
    return Life{ProcessId{node | number << 16}, Incarnation{1}};
  };
  message::JobState state;
  state.lives = {self, second, worker(0, 1)};
  std::sort(state.lives.begin(), state.lives.end());
  state.cell = self;
  CHECK(lacks_second_node(state, self, {worker(0, 1)}) == std::vector{second});
  CHECK(lacks_second_node(state, self, {worker(0, 1), second}).empty());
  CHECK(lacks_copies(state, self, {second}) == std::vector{self});
  CHECK(lacks_copies(state, second, {self}).empty());  // The job ends with the only record anyway.
  state.replicas = 3;
  CHECK(lacks_copies(state, self, {self}) == std::vector{second});
  CHECK(lacks_copies(state, self, {self, second}).empty());
  state.lives = {self, worker(0, 1)};
  std::sort(state.lives.begin(), state.lives.end());
  CHECK(lacks_second_node(state, self, {self}) == std::vector{worker(0, 1)});  // There is only one node.
}

TEST_CASE("a question that is repeated gets one answer") {
  Askers askers;
  const OutputName name{{0, 1}, {{1, 1}, 1}};
  CHECK(askers.empty());
  askers.add(1, {second, name, false});
  askers.add(1, {second, name, false});
  askers.add(1, {third, name, true});
  CHECK(askers.contains(1));
  CHECK_FALSE(askers.contains(0));
  CHECK(askers.rows() == std::vector<RowIndex>{1});
  CHECK(askers.take(1).size() == 2);
  CHECK(askers.take(1).empty());
  CHECK(askers.empty());
  askers.check_invariants();
}
