// The layout that Builder makes: positions of arguments, sealed order, sharing, chains of calls.

#include "dag/detail/builder.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

#include "libdag/base/check.hpp"
#include "libdag/base/random.hpp"
#include "tests/support/edges.hpp"

using namespace dag;
using namespace dag::detail;

namespace {

// Codes are told apart by address only, so any addresses do.
const char code_places[8] = {};
Code code(std::size_t i) { return {&code_places[i], nullptr}; }

std::uint32_t plain(Builder& builder, std::string_view name) {
  return builder.add_task(name, code(0), true, Effects::pure);
}

}  // namespace

TEST_CASE("an input argument names the position of its in-edge", "[builder]") {
  Builder builder;
  const auto a = plain(builder, "a");
  const auto b = plain(builder, "b");
  const auto c = plain(builder, "c");
  const auto t = builder.add_task("t", code(1), true, Effects::pure);
  builder.add_input(c);
  Writer literal;
  encode(literal, 7);
  builder.add_literal(literal);
  builder.add_gather({a, b, a});
  builder.add_maybe(b);
  builder.add_quorum({a, c}, 1);
  builder.add_edge(b, t, EdgeKind::weak);
  builder.add_edge(t, a, EdgeKind::conditional, code(2));  // goes back: only check() minds

  const Fragment f = builder.sealed();
  const auto arguments = f.arguments_of(t);
  REQUIRE(arguments.size() == 5);
  CHECK(arguments[0] == Argument{ArgumentKind::input, 0, 1, 0});
  CHECK(arguments[1] == Argument{ArgumentKind::literal, 0, 1, 0});
  CHECK(arguments[2] == Argument{ArgumentKind::gather, 1, 3, 0});
  CHECK(arguments[3] == Argument{ArgumentKind::maybe, 4, 1, 0});
  CHECK(arguments[4] == Argument{ArgumentKind::quorum, 5, 2, 1});
  CHECK(from_blob<int>(f.literals[0]) == 7);

  const auto edges = f.in_edges(t);
  REQUIRE(edges.size() == 8);
  const std::uint32_t expected[] = {c, a, b, a, b, a, c, b};
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(edges[i].task() == expected[i]);
    CHECK(edges[i].kind() == (i < 4 ? EdgeKind::strong : EdgeKind::weak));
  }
  REQUIRE(f.edge_count(a) == 1);
  CHECK(f.predicate(f.first_edge[a]) == code(2));
}

TEST_CASE("sealing sorts edges by successor and keeps the order of adding", "[builder]") {
  Random random(GENERATE(range(0u, 20u)));
  Builder builder;
  const std::uint32_t n = 1 + static_cast<std::uint32_t>(random.below(40));
  for (std::uint32_t i = 0; i < n; ++i) plain(builder, "t");
  std::vector<std::vector<std::uint32_t>> expected(n);
  for (std::uint64_t left = random.below(200); left > 0; --left) {
    const auto from = static_cast<std::uint32_t>(random.below(n));
    const auto to = static_cast<std::uint32_t>(random.below(n));
    builder.add_edge(from, to, EdgeKind::strong);
    expected[to].push_back(from);
  }
  const Fragment f = builder.sealed();
  std::uint32_t next = 0;
  for (std::uint32_t task = 0; task < n; ++task) {
    CHECK(f.first_edge[task] == next);
    std::vector<std::uint32_t> predecessors;
    for (const EdgeEnd end : f.in_edges(task)) predecessors.push_back(end.task());
    CHECK(predecessors == expected[task]);
    next += f.edge_count(task);
  }
  CHECK(f.edges.size() == next);
}

TEST_CASE("conditions stay with their edges, whenever those are added", "[builder]") {
  Random random(GENERATE(range(0u, 50u)));
  Builder builder;
  std::multimap<std::pair<std::uint32_t, std::uint32_t>, Code> expected;
  const std::uint32_t n = 2 + static_cast<std::uint32_t>(random.below(10));
  for (std::uint32_t task = 0; task < n; ++task) {
    plain(builder, "t");
    for (std::uint64_t left = random.below(4); left > 0 && task > 0; --left) {
      const auto from = static_cast<std::uint32_t>(random.below(task));
      const auto to = random.chance(0.5) ? task : static_cast<std::uint32_t>(random.below(task + 1));
      const Code predicate = code(random.below(8));
      if (random.chance(0.5)) {
        builder.add_edge(from, to, EdgeKind::conditional, predicate);
        expected.emplace(std::pair{from, to}, predicate);
      } else {
        builder.add_edge(from, to, EdgeKind::weak);
      }
    }
    if (random.chance(0.2)) builder.seal();
  }
  const Fragment f = builder.sealed();
  std::multimap<std::pair<std::uint32_t, std::uint32_t>, Code> found;
  f.each_edge([&](const Edge& edge, std::uint32_t place) {
    if (edge.kind != EdgeKind::conditional) return;
    found.emplace(std::pair{edge.predecessor, edge.successor}, f.predicate(place));
  });
  CHECK(found == expected);
  CHECK(f.conditions.size() == expected.size());
}

TEST_CASE("what several tasks say is stored once", "[builder]") {
  Builder builder;
  for (int i = 0; i < 100; ++i) {
    const auto task =
        builder.add_task(i % 2 == 0 ? "even" : "odd", code(i % 3 == 0 ? 0 : 1), true, Effects::pure);
    builder.change_policy(task, [&](Policy& p) { p.needs.cpus = 2; });
    builder.change_policy(task, [&](Policy& p) { p.retry.attempts = i < 50 ? 1 : 3; });
  }
  const Fragment f = builder.sealed();
  CHECK(f.names == std::vector<std::string>{"even", "odd"});
  CHECK(f.codes.size() == 2);
  CHECK(f.kinds.size() == 8);
  REQUIRE(f.policies.size() == 2);  // without the ones that were only passed through
  for (std::uint32_t i = 0; i < f.size(); ++i) {
    CHECK(f.name(i) == (i % 2 == 0 ? "even" : "odd"));
    CHECK(f.policy(i).retry.attempts == (i < 50 ? 1u : 3u));
    CHECK(f.policy(i).needs.cpus == 2);
  }
}

TEST_CASE("a literal that several tasks share is kept once", "[builder]") {
  Builder builder;
  const Blob text(std::as_bytes(std::span("a long text"))),
      same_bytes(std::as_bytes(std::span("a long text")));
  for (const Blob& literal : {text, text, same_bytes, text}) {
    plain(builder, "reads");
    builder.add_literal(literal);
  }
  const Fragment fragment = builder.sealed();
  CHECK(fragment.literals.size() == 2);
  CHECK(fragment.task_literals == std::vector<std::uint32_t>{0, 0, 1, 0});
}

TEST_CASE("tasks whose parameters are made alike share their arguments", "[builder]") {
  Builder builder;
  const auto with = [&](int number, std::vector<std::uint32_t> inputs) {
    const std::uint32_t task = plain(builder, "t");
    Writer writer;
    encode(writer, number);
    builder.add_literal(writer);
    for (const std::uint32_t input : inputs) builder.add_input(input);
    builder.add_literal(writer);
    return task;
  };
  const auto a = with(1, {}), b = with(2, {a}), c = with(3, {}), d = with(4, {b}), e = with(5, {a, b});
  const auto f = with(6, {c});
  for (int again = 0; again < 2; ++again) {  // Also after the builder has gone on.
    const Fragment fragment = builder.sealed();
    CHECK(fragment.arguments.size() == 2 + 3 + 4);
    const auto first = [&](std::uint32_t task) { return fragment.kind(task).first_argument; };
    CHECK(std::set{first(a), first(b), first(e)}.size() == 3);
    CHECK(first(c) == first(a));
    CHECK(first(d) == first(b));
    CHECK(first(f) == first(b));
    for (std::uint32_t task = 0; task < 6; ++task) {
      for (const Argument& argument :
           {fragment.arguments_of(task).front(), fragment.arguments_of(task).back()}) {
        CHECK(from_blob<int>(fragment.literal(task, argument)) == static_cast<int>(task) + 1);
      }
    }
    builder.change_policy(a, [](Policy& policy) { policy.retry.attempts = 2; });
  }
}

TEST_CASE("the builder can go on after it was sealed", "[builder]") {
  Builder builder;
  const auto a = plain(builder, "a");
  const Fragment first = builder.sealed();
  const auto b = plain(builder, "b");
  builder.add_input(a);
  builder.change_policy(a, [](Policy& p) { p.priority = high; });
  const Fragment second = builder.sealed();
  CHECK(first.size() == 1);
  REQUIRE(second.size() == 2);
  CHECK(second.edge_count(b) == 1);
  CHECK(second.policy(a).priority == high);
  CHECK(second.policy(b).priority == Priority::normal);
}

TEST_CASE("calls of an actor wait for the call before", "[builder]") {
  Builder builder;
  const auto x = builder.add_actor("x", {}, {}, code(7));
  const auto make_x = builder.add_task("x", code(1), false, Effects::pure);
  builder.set_call(x, CallKind::create);
  const auto y = builder.add_actor("y", {}, {}, code(7));
  const auto make_y = builder.add_task("y", code(1), false, Effects::pure);
  builder.set_call(y, CallKind::create);
  const auto x1 = builder.add_task("x.1", code(2), true, Effects::pure);
  builder.set_call(x, CallKind::call);
  const auto y1 = builder.add_task("y.1", code(2), true, Effects::pure);
  builder.add_input(x1);
  builder.set_call(y, CallKind::call);
  const auto x2 = builder.add_task("x.2", code(2), true, Effects::pure);
  builder.set_call(x, CallKind::save);

  const Fragment f = builder.sealed();
  CHECK(f.actors[x].create_task == make_x);
  CHECK(f.actors[y].create_task == make_y);
  const auto predecessors = [&](std::uint32_t task) {
    std::vector<std::uint32_t> found;
    for (const EdgeEnd end : f.in_edges(task)) found.push_back(end.task());
    return found;
  };
  using Indices = std::vector<std::uint32_t>;
  CHECK(predecessors(make_x) == Indices{});
  CHECK(predecessors(x1) == Indices{make_x});
  CHECK(predecessors(y1) == Indices{x1, make_y});  // the argument first: its position is what it says
  CHECK(predecessors(x2) == Indices{x1});
  CHECK(f.kind(x2).call == CallKind::save);
  CHECK(f.kind(y1).actor == y);
}

TEST_CASE("the first spawned call of an actor from outside waits for nothing here", "[builder]") {
  Builder builder;
  const auto first = builder.add_task("call", code(2), true, Effects::pure);
  builder.set_call(41, CallKind::call);
  const auto second = builder.add_task("call", code(2), true, Effects::pure);
  builder.set_call(41, CallKind::call);
  const Fragment f = builder.sealed();
  CHECK(f.edge_count(first) == 0);
  REQUIRE(f.edge_count(second) == 1);
  CHECK(f.in_edges(second)[0].task() == first);
  CHECK(f.kind(second).actor == 41);
}

TEST_CASE("tasks that were handed an actor are remembered", "[builder]") {
  Builder builder;
  plain(builder, "a");
  const auto task = plain(builder, "b");
  Writer w;
  w.mention_actor(3);
  encode(w, std::uint32_t{3});
  builder.add_literal(w);
  CHECK(builder.sealed().mentions == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{task, 3}});
}

TEST_CASE("serials tell builders apart", "[builder]") {
  Builder a;
  Builder b;
  CHECK(a.serial() != b.serial());
}

TEST_CASE("wrong use of the builder is noticed at once", "[builder]") {
  Builder builder;
  Writer nothing;
  CHECK_THROWS_AS(builder.set_call(0, CallKind::call), Bug);
  const auto a = plain(builder, "a");
  CHECK_THROWS_AS(builder.add_edge(a, 7, EdgeKind::strong), Bug);
  CHECK_THROWS_AS(builder.add_edge(7, a, EdgeKind::strong), Bug);
  CHECK_THROWS_AS(builder.add_edge(a, a, EdgeKind::conditional), Bug);
}

TEST_CASE("a sealed graph is shared until the builder goes on, and stays as it was", "[builder]") {
  Builder builder;
  const auto a = plain(builder, "a");
  const auto b = plain(builder, "b");
  builder.add_input(a);
  builder.change_policy(a,
                        [](Policy& p) { p.needs.cpus = 2; });  // the plain one goes on as b's, and is second
  const std::shared_ptr<const Fragment> first = builder.seal();
  CHECK(builder.seal() == first);
  CHECK(builder.size() == 2);

  const auto c = plain(builder, "b");
  builder.add_input(b);
  builder.add_edge(c, a, EdgeKind::weak);  // in front of all other edges once sealed
  builder.change_policy(b, [](Policy& p) { p.needs.cpus = 2; });
  const std::shared_ptr<const Fragment> second = builder.seal();

  CHECK(first->size() == 2);
  CHECK(test::edges_of(*first) == std::vector<Edge>{{a, b, EdgeKind::strong}});
  CHECK(first->policies.size() == 2);
  CHECK(test::edges_of(*second) ==
        std::vector<Edge>{{c, a, EdgeKind::weak}, {a, b, EdgeKind::strong}, {b, c, EdgeKind::strong}});
  CHECK(second->names == std::vector<std::string>{"a", "b"});
  REQUIRE(second->policies.size() == 2);
  CHECK(second->policy(a).needs.cpus == 2);
  CHECK(second->policy(b).needs.cpus == 2);
  CHECK(second->policy(c) == Policy{});
}

TEST_CASE("sealing in between changes nothing", "[builder]") {
  const auto seed = GENERATE(range(0u, 50u));
  const auto build = [&](bool seal_often) {
    Random random(seed);
    Builder builder;
    for (std::uint64_t left = 1 + random.below(40); left > 0; --left) {
      const char* names[] = {"x", "y", "z"};
      const auto task = builder.add_task(names[random.below(3)], code(random.below(3)), true, Effects::pure);
      for (std::uint64_t inputs = task == 0 ? 0 : random.below(4); inputs > 0; --inputs) {
        builder.add_input(static_cast<std::uint32_t>(random.below(task)));
      }
      const auto some = static_cast<std::uint32_t>(random.below(task + 1));
      if (random.below(3) == 0) builder.add_edge(task, some, EdgeKind::weak);
      if (random.below(3) == 0) {
        const auto attempts = static_cast<std::uint32_t>(1 + random.below(3));
        builder.change_policy(some, [&](Policy& p) { p.retry.attempts = attempts; });
      }
      if (random.below(4) == 0 && seal_often) builder.seal();
    }
    return builder.sealed();
  };
  const Fragment once = build(false), often = build(true);
  CHECK(once.size() == often.size());
  CHECK(once.first_edge == often.first_edge);
  CHECK(once.edges == often.edges);
  CHECK(once.codes == often.codes);
  CHECK(once.names == often.names);
  for (std::uint32_t i = 0; i < once.size(); ++i) {
    // How kinds and policies are numbered is nobody's business.
    CHECK(once.policy(i) == often.policy(i));
    TaskKind same = often.kind(i);
    same.policy = once.kind(i).policy;
    CHECK(once.kind(i) == same);
  }
}
