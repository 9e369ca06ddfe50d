// Every complaint of check(), by its code and its words.

#include "libdag/graph/check.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>

#include "libdag/base/limits.hpp"
#include "libdag/base/random.hpp"
#include "libdag/base/time.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/small_graph.hpp"

using namespace dag;
using namespace dag::test;
using namespace std::chrono_literals;
using detail::Builder;
using detail::EdgeKind;
using detail::Fragment;

namespace {

Error error_of(const Fragment& fragment) {
  const Status status = check(fragment);
  REQUIRE_FALSE(status);
  CHECK_FALSE(status.error().hint.empty());
  return status.error();
}
/// The shorter way finds the same.
Error error_of(const Builder& builder) {
  const Error error = error_of(builder.sealed());
  const Status status = check(builder);
  REQUIRE_FALSE(status);
  CHECK(status.error().message() == error.message());
  return error;
}

}  // namespace

TEST_CASE("what random_graph makes is in order", "[check]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Status status = check(random_graph(random, {.actors_max = 3, .spawn_depth_max = 2}).fragment);
    if (!status) FAIL(status.error().message());
  }
}

TEST_CASE("check: a cycle is printed", "[check]") {
  Builder builder;
  const auto read = add(builder, "read");
  const auto other = add(builder, "other");
  const auto load = add(builder, "load");
  const auto train = add(builder, "train");
  const auto report = add(builder, "report");
  strong(builder, read, load);
  strong(builder, other, train);
  strong(builder, load, train);
  strong(builder, train, report);
  builder.add_edge(train, load, EdgeKind::weak);  // a weak edge orders too
  const Error error = error_of(builder);
  CHECK(error.code == ErrorCode::job_has_cycle);
  CHECK(error.what == "2 tasks wait for each other: load#2 -> train#3 -> load#2");
}

TEST_CASE("check: a task that waits for itself", "[check]") {
  Builder builder;
  const auto task = add(builder, "ouroboros");
  strong(builder, task, task);
  CHECK(error_of(builder).what == "a task waits for itself: ouroboros#0 -> ouroboros#0");
}

TEST_CASE("check: two job actors with one name", "[check]") {
  Builder builder;
  add_actor(builder, "ledger");
  add_actor(builder, "stage");
  add_actor(builder, "ledger");
  const Error error = error_of(builder);
  CHECK(error.code == ErrorCode::actor_name_taken);
  CHECK(error.what == "two job actors are named 'ledger': tasks ledger#0 and ledger#2 make them");
}

TEST_CASE("check: what one task says of itself", "[check]") {
  struct Row {
    std::function<void(Policy&)> change;
    std::string what;
  };
  const Row row = GENERATE(values<Row>({
      {[](Policy& p) { p.effects = Effects::undeclared; },
       "returns nothing and does not declare its effects"},
      {[](Policy& p) { p.retry.attempts = 0; }, "has 0 attempts, so it could never run"},
      {[](Policy& p) { p.retry.attempts = 1001; }, "has 1001 attempts"},
      {[](Policy& p) { p.retry.backoff = -1ms; }, "has a backoff of -1 ms"},
      {[](Policy& p) { p.timeout = 0s; }, "has a timeout of 0 s"},
      {[](Policy& p) { p.timeout = -90s; }, "has a timeout of -1 min 30 s"},
      {[](Policy& p) { p.deadline = 0s; }, "has a deadline of 0 s"},
      {[](Policy& p) { p.takes = -1us; }, "is said to take -1 us"},
      {[](Policy& p) { p.needs.cpus = -1; }, "needs -1.000000 cpus"},
      {[](Policy& p) { p.needs.cpus = std::numeric_limits<double>::quiet_NaN(); }, "needs nan cpus"},
      {[](Policy& p) { p.needs.cpus = std::numeric_limits<double>::infinity(); }, "needs inf cpus"},
  }));
  Builder builder;
  add(builder, "fine");
  builder.change_policy(add(builder, "odd"), row.change);
  const Error error = error_of(builder);
  CHECK(error.code == ErrorCode::usage);
  CHECK(error.what == "task odd#1 " + row.what);
}

TEST_CASE("check: limits of what a task may say are allowed themselves", "[check]") {
  Builder builder;
  builder.change_policy(add(builder, "t"), [](Policy& p) {
    p.retry = {.attempts = limits::attempts_max, .backoff = 0s};
    p.takes = 0s;
    p.needs.cpus = 0;
    p.timeout = 1ns;
    p.deadline = 1ns;
  });
  CHECK(check(builder.sealed()));
  CHECK(check(builder));
}

TEST_CASE("check: a quorum larger than its list", "[check]") {
  Builder builder;
  const auto a = add(builder, "a");
  const auto b = add(builder, "b");
  add(builder, "mean");
  builder.add_quorum({a, b}, 3);
  const Error error = error_of(builder);
  CHECK(error.code == ErrorCode::usage);
  CHECK(error.what == "task mean#2 waits for a quorum of 3 of only 2 tasks");
}

TEST_CASE("check: a deadline below the critical path names the path", "[check]") {
  Builder builder;
  const auto read = add(builder, "read", 2s);
  const auto silent = add(builder, "silent");
  const auto quick = add(builder, "quick", 1s);
  const auto train = add(builder, "train", 10s);
  const auto report = add(builder, "report", 500ms);
  strong(builder, read, silent);
  strong(builder, silent, train);
  strong(builder, quick, train);
  strong(builder, train, report);
  builder.change_policy(report, [](Policy& p) { p.deadline = 12500ms; });
  CHECK(check(builder.sealed()));
  CHECK(check(builder));
  builder.change_policy(report, [](Policy& p) { p.deadline = 12s; });
  const Error error = error_of(builder);
  CHECK(error.code == ErrorCode::deadline_impossible);
  CHECK(error.what ==
        "task report#4 must end within 12 s, but takes 12.5 s on the way read#0 -> silent#1 -> train#3 -> "
        "report#4");
  // A task's own deadline counts, also in the middle.
  builder.change_policy(report, [](Policy& p) { p.deadline.reset(); });
  builder.change_policy(train, [](Policy& p) { p.deadline = 9s; });
  CHECK(error_of(builder).what ==
        "task train#3 must end within 9 s, but takes 12 s on the way read#0 -> silent#1 -> train#3");
}

TEST_CASE("check: durations beyond all limits do not overflow", "[check]") {
  Builder builder;
  const auto a = add(builder, "a", Duration::max());
  const auto b = add(builder, "b", Duration::max());
  strong(builder, a, b);
  builder.change_policy(b, [](Policy& p) { p.deadline = 1s; });
  CHECK(error_of(builder).code == ErrorCode::deadline_impossible);
  builder.change_policy(b, [](Policy& p) { p.deadline = Duration::max(); });  // For ever.
  CHECK(check(builder.sealed()));
  CHECK(check(builder));
}

TEST_CASE("check: a damaged fragment is refused, whatever is damaged", "[check]") {
  using Damage = std::function<void(Fragment&)>;
  Builder builder;
  const auto a = add(builder, "a");
  add(builder, "b");
  Writer writer;
  dag::encode(writer, 1);
  builder.add_literal(writer);
  builder.add_input(a);
  builder.add_maybe(a);
  builder.add_quorum({a, a}, 1);
  add_actor(builder, "x");
  add_call(builder, 0, "call");
  builder.add_save_group({0});
  const auto group = builder.add_group("g", Strategy::one_for_all, {});
  builder.change_policy(a, [&](Policy& p) { p.group = group; });
  const Fragment good = builder.sealed();
  REQUIRE(check(good));

  const std::uint32_t bad = 1000;
  const auto kind = [](Fragment& f, std::uint32_t task) -> detail::TaskKind& {
    return f.kinds[f.task_kinds[task]];
  };
  const auto arguments = [&](Fragment& f) { return f.arguments.data() + kind(f, 1).first_argument; };
  const std::vector<Damage> damages{
      [&](Fragment& f) { f.task_kinds[1] = bad; },
      [&](Fragment& f) { f.task_kinds.pop_back(); },
      [&](Fragment& f) { kind(f, 1).code = bad; },
      [&](Fragment& f) { kind(f, 1).name = bad; },
      [&](Fragment& f) { kind(f, 1).policy = bad; },
      [&](Fragment& f) { kind(f, 1).first_argument = bad; },
      [&](Fragment& f) { kind(f, 1).argument_count = 1000; },
      [&](Fragment& f) { f.first_literal[1] = bad; },
      [&](Fragment& f) { f.first_literal.pop_back(); },
      [&](Fragment& f) { f.first_literal.clear(); },
      [&](Fragment& f) { f.task_literals[0] = bad; },
      [&](Fragment& f) { f.task_literals.clear(); },
      [&](Fragment& f) { f.first_edge[1] = 1; },
      [&](Fragment& f) { f.first_edge[2] = detail::none; },
      [&](Fragment& f) { f.first_edge.back() = bad; },
      [&](Fragment& f) { f.first_edge.pop_back(); },
      [&](Fragment& f) { f.first_edge.clear(); },
      [&](Fragment& f) { kind(f, 1).actor = 0; },
      [&](Fragment& f) { kind(f, 3).actor = bad; },
      [&](Fragment& f) { kind(f, 3).call = static_cast<detail::CallKind>(9); },
      [&](Fragment& f) { kind(f, 3).call = detail::CallKind::create; },
      [&](Fragment& f) { kind(f, 2).call = detail::CallKind::call; },
      [&](Fragment& f) {
        f.edges[0] = {bad, EdgeKind::strong};
      },
      [&](Fragment& f) {
        f.edges[0] = {a, static_cast<EdgeKind>(3)};
      },
      [&](Fragment& f) {
        f.edges[0] = {a, EdgeKind::weak};
      },
      [&](Fragment& f) {
        f.edges[0] = {a, EdgeKind::conditional};
      },
      [&](Fragment& f) {
        f.edges[1] = {a, EdgeKind::strong};
      },
      [&](Fragment& f) {
        f.conditions = {{0, 0}};
      },
      [&](Fragment& f) { arguments(f)[0].first = bad; },
      [&](Fragment& f) { arguments(f)[1].first = bad; },
      [&](Fragment& f) { arguments(f)[1].count = 2; },
      [&](Fragment& f) { arguments(f)[1].kind = static_cast<detail::ArgumentKind>(9); },
      [&](Fragment& f) { arguments(f)[3].count = detail::none; },
      [&](Fragment& f) { kind(f, 0).returns = false; },
      [&](Fragment& f) { f.actors[0].name = bad; },
      [&](Fragment& f) { f.actors[0].create_task = bad; },
      [&](Fragment& f) { f.actors[0].create_task = 0; },
      [&](Fragment& f) { f.save_groups[0] = {bad}; },
      [&](Fragment& f) {
        f.mentions = {{bad, 0}};
      },
      [&](Fragment& f) {
        f.mentions = {{0, bad}};
      },
      [&](Fragment& f) { f.policies[0].join = static_cast<Join>(9); },
      [&](Fragment& f) { f.policies[0].priority = static_cast<Priority>(9); },
      [&](Fragment& f) { f.policies[0].effects = static_cast<Effects>(9); },
      [&](Fragment& f) { f.groups.clear(); },
      [&](Fragment& f) { f.groups[0].name = bad; },
      [&](Fragment& f) { f.groups[0].strategy = static_cast<Strategy>(9); },
      [&](Fragment& f) { f.edges.pop_back(); },
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    CAPTURE(i);
    Fragment damaged = good;
    damages[i](damaged);
    const Status status = check(damaged);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::value_invalid);
  }
}

TEST_CASE("check: any one changed number is survived", "[check]") {
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    Fragment fragment = random_graph(random, {.tasks_max = 8, .actors_max = 1}).fragment;
    const auto number = static_cast<std::uint32_t>(random.chance(0.5) ? random.below(12) : random.next());
    const auto any_of = [&](auto& values) { return &values[random.below(values.size())]; };
    detail::TaskKind& kind = *any_of(fragment.kinds);
    std::vector<std::uint32_t*> fields{&kind.code,
                                       &kind.name,
                                       &kind.policy,
                                       &kind.first_argument,
                                       &kind.actor,
                                       any_of(fragment.task_kinds),
                                       any_of(fragment.first_edge)};
    if (!fragment.first_literal.empty()) fields.push_back(any_of(fragment.first_literal));
    if (!fragment.task_literals.empty()) fields.push_back(any_of(fragment.task_literals));
    if (!fragment.arguments.empty()) fields.push_back(&any_of(fragment.arguments)->first);
    if (!fragment.conditions.empty()) fields.push_back(&any_of(fragment.conditions)->edge);
    if (!fragment.edges.empty() && random.chance(0.2)) {
      *any_of(fragment.edges) = detail::EdgeEnd::of(number);
    } else {
      **any_of(fields) = number;
    }
    static_cast<void>(check(fragment));  // the sanitizers watch
  }
}

TEST_CASE("check: spawned tasks may call actors of the submitted graph", "[check]") {
  Builder builder;
  add_call(builder, 4, "call");
  CHECK(check(builder.sealed(), 5));
  CHECK_FALSE(check(builder.sealed(), 4));
}

TEST_CASE("check: of a builder's graph as much is asked as of its arrays", "[check]") {
  Random random(GENERATE(range(0u, 200u)));
  Builder builder;
  const std::uint32_t tasks = 1 + static_cast<std::uint32_t>(random.below(12));
  for (std::uint32_t task = 0; task < tasks; ++task) {
    add(builder, task % 2 == 0 ? "even" : "odd");
    if (task > 0 && random.chance(0.5)) builder.add_quorum({task - 1}, random.chance(0.05) ? 2 : 1);
    builder.change_policy(task, [&](Policy& policy) {
      if (random.chance(0.03)) policy.effects = Effects::undeclared;
      if (random.chance(0.03)) policy.effects = Effects::at_most_once;
      if (random.chance(0.03)) policy.retry.attempts = 0;
      if (random.chance(0.03)) policy.deadline = 1s;
      if (random.chance(0.2)) policy.takes = 1s;
    });
  }
  for (std::uint64_t edges = random.below(8); edges > 0; --edges) {
    const auto from = static_cast<std::uint32_t>(random.below(tasks));
    const auto to = static_cast<std::uint32_t>(random.chance(0.1) ? random.below(tasks) : tasks - 1);
    builder.add_edge(from, to, EdgeKind::strong);
  }
  const Status of_arrays = check(builder.sealed()), of_builder = check(builder);
  REQUIRE(static_cast<bool>(of_arrays) == static_cast<bool>(of_builder));
  if (!of_arrays) CHECK(of_arrays.error().message() == of_builder.error().message());
}

TEST_CASE("check: the handle of another graph's actor is noticed in a builder's graph", "[check]") {
  Builder builder;
  add(builder, "t");
  Writer writer;
  writer.mention_actor(3);
  encode(writer, std::uint32_t{3});
  builder.add_literal(writer);
  CHECK(error_of(builder).code == ErrorCode::value_invalid);
}

TEST_CASE("check: a graph that stages files is asked about the rows that publish them, too", "[check]") {
  Builder builder;
  const auto task = add(builder, "t");
  builder.set_effects(task, Effects::staged);
  CHECK(check(builder.sealed()));
  CHECK(check(builder));
  CHECK_FALSE(builder.is_sealed_as_added());
}
