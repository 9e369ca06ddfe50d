// Objects of job actors: their next steps, and how lost ones come back.
#include "libdag/home/actor_objects.hpp"

#include <algorithm>

#include "tests/unit/home/two_actors.hpp"

using namespace dag;
using namespace dag::test;

namespace {

using Two = TwoActors;
using What = ActorStep::What;

/// Both objects have run the first step, saves included, and A its second call.
struct Running : Two {
  Running() {
    for (RowIndex call = 0; call <= a(2); ++call) run(call);
  }
  /// Makes an object again and lets it have run a call again, as the home does.
  void carry_out(const ActorStep& step) {
    if (step.what == What::make_object) objects.name_object(step.actor, {{1, 1}, 200 + step.actor});
    objects.not_busy(step.call);
    objects.ran_again(step.call);
    objects.look_at(step.call);
  }
};

}  // namespace

TEST_CASE("a call starts where its object lives, when it is approved and its turn") {
  Two actors;
  actors.idle();
  actors.rows.open(Two::a(1));
  actors.objects.approve(Two::a(1));  // The object has not been created.
  actors.idle();
  actors.run(Two::create_a);
  const std::optional<Life> home_of_a = actors.objects.place_of(Two::a(1));
  REQUIRE(home_of_a);
  actors.objects.approve(Two::a(1));
  const ActorStep step = actors.next();
  CHECK(step.what == What::start);
  CHECK(step.call == Two::a(1));
  CHECK(step.at == home_of_a);
  CHECK(actors.objects.begin_call(Two::a(1), {}) == AttemptId{{1, 1}, 100 + Two::create_a});
  CHECK(actors.objects.is_busy(Two::a(1)));
  actors.objects.returned(Two::a(1));
  actors.finish(Two::a(1));
  CHECK_FALSE(actors.objects.is_busy(Two::a(1)));
  actors.run(Two::create_b);
  CHECK(actors.objects.place_of(Two::b(1)) != home_of_a);  // Where fewer actors are.
  CHECK(actors.objects.processes_of(0) == 2);
}

TEST_CASE("when the process of one object is lost, all of its group come back and see ended calls again") {
  Running actors;
  const Life lost = *actors.objects.place_of(Two::create_b);
  CHECK(actors.objects.lost_groups().empty());
  std::erase(actors.state.lives, lost);
  REQUIRE(actors.objects.lost_groups() == std::vector<std::uint32_t>{0});
  const auto rollback = actors.objects.roll_back(0);
  REQUIRE(rollback);
  CHECK(rollback->given_up == std::vector{Two::create_a, Two::create_b});
  CHECK(rollback->busy.empty());
  CHECK(rollback->next == std::vector{Two::save_a(2), Two::b(2)});
  CHECK(rollback->border == 0);  // No save has settled.
  CHECK(actors.objects.lost_groups().empty());
  CHECK(actors.objects.comes_back(0));
  CHECK(actors.objects.lacks_state(Two::b(2)));
  actors.idle();  // No call needs the objects yet.
  actors.rows.open(Two::b(2));
  actors.objects.approve(Two::b(2));
  std::vector<RowIndex> again;
  for (ActorStep step = actors.next(); step.what != What::start; step = actors.next()) {
    REQUIRE(step.what != What::nothing);
    CHECK(step.at != lost);
    CHECK(step.save == no_row);
    if (step.what == What::run_again) CHECK(step.object == AttemptId{{1, 1}, 200 + step.actor});
    again.push_back(step.call);
    actors.carry_out(step);
  }
  std::sort(again.begin(), again.end());
  CHECK(again.front() == Two::create_a);
  CHECK(std::find(again.begin(), again.end(), Two::b(1)) != again.end());
  CHECK(std::find(again.begin(), again.end(), Two::save_b(1)) == again.end());  // A save changes no state.
  CHECK_FALSE(actors.objects.lacks_state(Two::b(2)));
}

TEST_CASE("objects come back from a border that has settled") {
  Running actors;
  for (const RowIndex save : {Two::save_a(1), Two::save_b(1)}) actors.rows.settle(save);
  const auto rollback = actors.objects.roll_back(0);
  REQUIRE(rollback);
  CHECK(rollback->border == 1);
  actors.rows.open(Two::save_a(2));
  actors.objects.approve(Two::save_a(2));
  const ActorStep made = actors.next();
  CHECK(made.what == What::make_object);
  CHECK(made.save == Two::save_a(1));
  actors.carry_out(made);
  ActorStep step = actors.next();
  if (step.actor == 1) {  // B comes along.
    CHECK(step.save == Two::save_b(1));
    actors.carry_out(step);
    step = actors.next();
  }
  CHECK(step.what == What::run_again);
  CHECK(step.call == Two::a(2));
}

TEST_CASE("a lost output of a call that the object has passed takes the group back before that call") {
  Running actors;
  for (const RowIndex save : {Two::save_a(1), Two::save_b(1)}) actors.rows.settle(save);
  CHECK(actors.objects.want_again(Two::a(1)));
  CHECK_FALSE(actors.objects.want_again(Two::a(1)));  // Wanted already.
  const auto rollback = actors.objects.roll_back(0);
  REQUIRE(rollback);
  CHECK(rollback->border == 0);
  actors.objects.look_at_group(0);
  std::vector<RowIndex> again;
  for (ActorStep step = actors.next(); step.what != What::nothing; step = actors.next()) {
    again.push_back(step.call);
    actors.carry_out(step);
  }
  CHECK(std::count(again.begin(), again.end(), Two::a(1)) == 1);
  CHECK_FALSE(actors.objects.lacks_state(Two::b(2)));
  actors.idle();
}

TEST_CASE("a group that is rolled back without a call ended in between is given up at last") {
  Running actors;
  actors.options.rollbacks_max = 2;
  CHECK(actors.objects.roll_back(0));
  CHECK(actors.objects.roll_back(0));
  CHECK_FALSE(actors.objects.roll_back(0));
  actors.idle();
}

TEST_CASE("attempts of calls that are under way are given up with their objects") {
  Running actors;
  actors.rows.open(Two::b(2));
  actors.objects.approve(Two::b(2));
  REQUIRE(actors.next().call == Two::b(2));
  actors.objects.begin_call(Two::b(2), {});
  const auto rollback = actors.objects.roll_back(0);
  REQUIRE(rollback);
  CHECK(rollback->busy == std::vector<std::uint32_t>{1});
  CHECK_FALSE(actors.objects.is_busy(Two::b(2)));
  actors.idle();  // The call is to be approved anew.
}
