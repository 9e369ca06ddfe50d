#pragma once
// Two job actors that are saved together, as the classes of a home see them. The test plays the home: it ends
// calls, settles them, and carries out steps.

#include "libdag/home/actor_objects.hpp"
#include "tests/unit/home/rows_of.hpp"

namespace dag::test {

struct TwoActors {
  /// Each actor has its calls and a save in each step; `every`: saves may be left out.
  explicit TwoActors(std::optional<Duration> every = std::nullopt) : rows(graph(every)) {
    options.self = life_of(0);
    state.lives = {life_of(0), life_of(1), life_of(2)};
    state.cell = life_of(0);
    calls.add_actors();
    for (RowIndex row = 0; row < rows.table.size(); ++row) calls.add(row, {});
    borders.begin(Instant{});
    objects.begin();
  }
  static constexpr RowIndex create_a = 0, create_b = 1;
  static constexpr RowIndex a(std::uint32_t step) { return 4 * step - 2; }
  static constexpr RowIndex b(std::uint32_t step) { return 4 * step - 1; }
  static constexpr RowIndex save_a(std::uint32_t step) { return 4 * step; }
  static constexpr RowIndex save_b(std::uint32_t step) { return 4 * step + 1; }
  static constexpr std::uint32_t steps = 3;

  /// The next call of an actor ends and leaves an output.
  void finish(RowIndex call, bool with_output = true) {
    if (with_output) rows.leave_output(call);
    rows.open(call);
    rows.end(call);
    while (calls.take_ended(calls.number_of(call)) != no_row) {
      if (rows.rows.is_save(call)) borders.save_ended(call);
    }
  }
  /// All calls before a step, without it.
  void finish_before(std::uint32_t step) {
    for (RowIndex call = 0; call < a(step); ++call) finish(call);
  }
  /// The call runs for the first time and returns.
  void run(RowIndex call) {
    rows.open(call);
    objects.approve(call);
    const ActorStep step = next();
    REQUIRE(step.what == ActorStep::What::start);
    REQUIRE(step.call == call);
    const bool creates = call == create_a || call == create_b;
    objects.begin_call(call, creates ? AttemptId{{1, 1}, 100 + call} : AttemptId{});
    objects.returned(call);
    finish(call);
    objects.look_at(call);
    idle();
  }
  /// The next step that is not nothing.
  ActorStep next() {
    while (const auto actor = objects.take_next()) {
      if (const ActorStep step = objects.step(*actor, state.lives); step.what != ActorStep::What::nothing)
        return step;
    }
    return {};
  }
  void idle() {
    CHECK(next().what == ActorStep::What::nothing);
    calls.check_invariants();
    borders.check_invariants();
    objects.check_invariants();
  }

  static detail::Fragment graph(std::optional<Duration> every) {
    Names names;
    names.actor("A"), names.actor("B");
    names.builder.add_save_group({0, 1});
    for (std::uint32_t step = 0; step < steps; ++step) {
      names.call(0, "a"), names.call(1, "b");
      for (const std::uint32_t actor : {0u, 1u}) {
        const TaskId save = names.call(actor, "save", {}, detail::CallKind::save);
        names.policy(save, [&](Policy& policy) { policy.checkpoint = every; });
      }
    }
    return names.builder.sealed();
  }

  RowsOf rows;
  message::JobState state;
  HomeOptions options;
  std::unique_ptr<HomePlacement> placement = simple_placement();
  Outputs outputs{rows.rows, state, life_of(0)};
  ActorCalls calls{rows.rows, *rows.graph, false, PlantedInHome::nothing};
  Borders borders{rows.rows, calls, outputs, state, options, 0};
  ActorObjects objects{rows.rows, calls, borders, state, *placement, options};
};

}  // namespace dag::test
