// What Builder puts where: positions of arguments, sealed order, sharing, chains of calls.

#include "dag/detail/builder.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "libdag/base/check.hpp"
#include "libdag/base/random.hpp"

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
  const TaskDraft& task = f.tasks[t];
  REQUIRE(task.argument_count == 5);
  const auto* arguments = &f.arguments[task.first_argument];
  CHECK(arguments[0] == Argument{ArgumentKind::input, 0, 1, 0});
  CHECK(arguments[1] == Argument{ArgumentKind::literal, 0, 1, 0});
  CHECK(arguments[2] == Argument{ArgumentKind::gather, 1, 3, 0});
  CHECK(arguments[3] == Argument{ArgumentKind::maybe, 4, 1, 0});
  CHECK(arguments[4] == Argument{ArgumentKind::quorum, 5, 2, 1});
  CHECK(from_blob<int>(f.literals[0]) == 7);

  REQUIRE(task.edge_count == 8);
  const auto* edges = &f.edges[task.first_edge];
  const std::uint32_t expected[] = {c, a, b, a, b, a, c, b};
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(edges[i].predecessor == expected[i]);
    CHECK(edges[i].kind == (i < 4 ? EdgeKind::strong : EdgeKind::weak));
  }
  REQUIRE(f.tasks[a].edge_count == 1);
  CHECK(f.codes[f.edges[f.tasks[a].first_edge].predicate] == code(2));
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
  CHECK(f.edges.size() == builder.draft().edges.size());
  std::uint32_t next = 0;
  for (std::uint32_t task = 0; task < n; ++task) {
    CHECK(f.tasks[task].first_edge == next);
    std::vector<std::uint32_t> predecessors;
    for (std::uint32_t i = 0; i < f.tasks[task].edge_count; ++i) {
      CHECK(f.edges[next + i].successor == task);
      predecessors.push_back(f.edges[next + i].predecessor);
    }
    CHECK(predecessors == expected[task]);
    next += f.tasks[task].edge_count;
  }
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
  REQUIRE(f.policies.size() == 2);  // without the ones that were only passed through
  for (std::size_t i = 0; i < f.tasks.size(); ++i) {
    CHECK(f.names[f.tasks[i].name] == (i % 2 == 0 ? "even" : "odd"));
    CHECK(f.policies[f.tasks[i].policy].retry.attempts == (i < 50 ? 1u : 3u));
    CHECK(f.policies[f.tasks[i].policy].needs.cpus == 2);
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
  REQUIRE(fragment.arguments.size() == 4);
  CHECK(fragment.arguments[1].first == fragment.arguments[0].first);
  CHECK(fragment.arguments[2].first != fragment.arguments[0].first);
  CHECK(fragment.arguments[3].first == fragment.arguments[0].first);
}

TEST_CASE("the builder can go on after it was sealed", "[builder]") {
  Builder builder;
  const auto a = plain(builder, "a");
  const Fragment first = builder.sealed();
  const auto b = plain(builder, "b");
  builder.add_input(a);
  builder.change_policy(a, [](Policy& p) { p.priority = high; });
  const Fragment second = builder.sealed();
  CHECK(first.tasks.size() == 1);
  REQUIRE(second.tasks.size() == 2);
  CHECK(second.tasks[b].edge_count == 1);
  CHECK(second.policies[second.tasks[a].policy].priority == high);
  CHECK(second.policies[second.tasks[b].policy].priority == Priority::normal);
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
    for (std::uint32_t i = 0; i < f.tasks[task].edge_count; ++i) {
      found.push_back(f.edges[f.tasks[task].first_edge + i].predecessor);
    }
    return found;
  };
  using Indices = std::vector<std::uint32_t>;
  CHECK(predecessors(make_x) == Indices{});
  CHECK(predecessors(x1) == Indices{make_x});
  CHECK(predecessors(y1) == Indices{x1, make_y});  // the argument first: its position is what it says
  CHECK(predecessors(x2) == Indices{x1});
  CHECK(f.tasks[x2].call == CallKind::save);
  CHECK(f.tasks[y1].actor == y);
}

TEST_CASE("the first spawned call of an actor from outside waits for nothing here", "[builder]") {
  Builder builder;
  const auto first = builder.add_task("call", code(2), true, Effects::pure);
  builder.set_call(41, CallKind::call);
  const auto second = builder.add_task("call", code(2), true, Effects::pure);
  builder.set_call(41, CallKind::call);
  const Fragment f = builder.sealed();
  CHECK(f.tasks[first].edge_count == 0);
  REQUIRE(f.tasks[second].edge_count == 1);
  CHECK(f.edges[f.tasks[second].first_edge].predecessor == first);
  CHECK(f.tasks[second].actor == 41);
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
  CHECK(builder.draft().tasks.size() == 2);

  const auto c = plain(builder, "b");
  builder.add_input(b);
  builder.add_edge(c, a, EdgeKind::weak);  // in front of all other edges once sealed
  builder.change_policy(b, [](Policy& p) { p.needs.cpus = 2; });
  const std::shared_ptr<const Fragment> second = builder.seal();

  CHECK(first->tasks.size() == 2);
  CHECK(first->edges == std::vector<Edge>{{a, b, none, EdgeKind::strong}});
  CHECK(first->policies.size() == 2);
  CHECK(second->edges == std::vector<Edge>{{c, a, none, EdgeKind::weak},
                                           {a, b, none, EdgeKind::strong},
                                           {b, c, none, EdgeKind::strong}});
  CHECK(second->names == std::vector<std::string>{"a", "b"});
  REQUIRE(second->policies.size() == 2);
  CHECK(second->policies[second->tasks[a].policy].needs.cpus == 2);
  CHECK(second->policies[second->tasks[b].policy].needs.cpus == 2);
  CHECK(second->policies[second->tasks[c].policy] == Policy{});
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
  CHECK(once.tasks.size() == often.tasks.size());
  CHECK(once.edges == often.edges);
  CHECK(once.arguments == often.arguments);
  CHECK(once.codes == often.codes);
  CHECK(once.names == often.names);
  for (std::size_t i = 0; i < once.tasks.size(); ++i) {
    // How policies are numbered is nobody's business.
    CHECK(once.policies[once.tasks[i].policy] == often.policies[often.tasks[i].policy]);
    TaskDraft same = often.tasks[i];
    same.policy = once.tasks[i].policy;
    CHECK(once.tasks[i] == same);
  }
}
