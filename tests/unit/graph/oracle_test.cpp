// The oracle against tables written by hand, and against the rules and the thunks it must agree with.

#include "tests/support/oracle.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "libdag/graph/family.hpp"
#include "libdag/graph/outcome_rules.hpp"
#include "tests/support/edges.hpp"

using namespace dag;
using namespace dag::detail;
using namespace dag::test;

namespace {

/// A RandomGraph that is not random.
class Hand {
 public:
  std::uint32_t task(std::uint32_t failures = 0, std::uint32_t attempts = 1) {
    const Thunk thunk = value_thunk;
    const auto index =
        builder.add_task("t", {reinterpret_cast<const void*>(thunk), nullptr}, true, Effects::pure);
    builder.change_policy(index, [&](Policy& p) { p.retry.attempts = attempts; });
    Writer salt;
    encode(salt, std::uint64_t{index});
    builder.add_literal(salt);
    tasks.push_back({.salt = index, .failures = failures});
    return index;
  }
  std::uint32_t failing() { return task(1, 1); }
  void join(std::uint32_t task, Join rule) {
    builder.change_policy(task, [&](Policy& p) { p.join = rule; });
  }
  void strong(std::uint32_t from, std::uint32_t to) { builder.add_edge(from, to, EdgeKind::strong); }
  void weak(std::uint32_t from, std::uint32_t to) { builder.add_edge(from, to, EdgeKind::weak); }
  void only_if(std::uint32_t from, std::uint32_t to, bool is_so) {
    builder.add_edge(from, to, EdgeKind::conditional, test::predicate_code(is_so ? always : never));
  }
  RandomGraph graph() const {
    RandomGraph graph;
    graph.fragment = builder.sealed();
    graph.tasks = tasks;
    return graph;
  }
  std::string outcomes() const {
    std::string letters;
    for (const Expected& task : oracle(graph()).tasks) letters += name(task.outcome).substr(0, 1);
    return letters;
  }

  Builder builder;
  std::vector<RandomTask> tasks;
};

// 'f' is both finished and failed; where it matters the test says which.
Expected expected(const Hand& hand, std::uint32_t task) { return oracle(hand.graph()).tasks[task]; }

}  // namespace

TEST_CASE("oracle: retries", "[oracle]") {
  struct Row {
    std::uint32_t failures, attempts;
    Outcome outcome;
    std::uint32_t charged;
  };
  const Row row = GENERATE(values<Row>({
      {0, 1, Outcome::finished, 1},
      {1, 1, Outcome::failed, 1},
      {0, 3, Outcome::finished, 1},
      {2, 3, Outcome::finished, 3},
      {3, 3, Outcome::failed, 3},
      {9, 3, Outcome::failed, 3},
  }));
  Hand g;
  g.task(row.failures, row.attempts);
  CHECK(expected(g, 0).outcome == row.outcome);
  CHECK(expected(g, 0).attempts == row.charged);
}

TEST_CASE("oracle: failure cancels over strong edges, and only over them", "[oracle]") {
  Hand g;
  const auto bad = g.failing();
  const auto next = g.task();
  const auto last = g.task();
  const auto cleaner = g.task();
  const auto after_cleaner = g.task();
  g.strong(bad, next);
  g.strong(next, last);
  g.weak(next, cleaner);
  g.strong(cleaner, after_cleaner);
  CHECK(g.outcomes() == "fccff");
  CHECK(expected(g, bad).outcome == Outcome::failed);
  CHECK(expected(g, after_cleaner).outcome == Outcome::finished);
}

TEST_CASE("oracle: a branch not taken is skipped until a join that does not mind", "[oracle]") {
  Hand g;
  const auto score = g.task();
  const auto deploy = g.task();
  const auto go_on = g.task();
  const auto announce = g.task();
  const auto report = g.task();
  const auto none_failed_report = g.task();
  g.only_if(score, deploy, false);
  g.only_if(score, go_on, true);
  g.strong(deploy, announce);
  g.strong(announce, report);
  g.strong(go_on, report);
  g.strong(announce, none_failed_report);
  g.join(report, one_success);
  g.join(none_failed_report, none_failed);
  CHECK(g.outcomes() == "fsfsff");
  CHECK(expected(g, report).outcome == Outcome::finished);
  g.join(report, all);
  CHECK(expected(g, report).outcome == Outcome::skipped);
}

TEST_CASE("oracle: cancelled wins over skipped", "[oracle]") {
  Hand g;
  const auto bad = g.failing();
  const auto fine = g.task();
  const auto both = g.task();
  g.only_if(fine, both, false);
  g.strong(bad, both);
  CHECK(expected(g, both).outcome == Outcome::cancelled);
  g.join(both, none_failed);
  CHECK(expected(g, both).outcome == Outcome::cancelled);
  g.join(both, one_success);
  CHECK(expected(g, both).outcome == Outcome::cancelled);
}

TEST_CASE("oracle: an evaluation with three of ten shards failing still ends", "[oracle]") {
  const std::uint32_t quorum = GENERATE(0u, 6u, 7u, 8u);
  Hand g;
  std::vector<std::uint32_t> shards;
  for (int i = 0; i < 10; ++i) shards.push_back(i < 3 ? g.failing() : g.task());
  const auto mean = g.task();
  g.builder.add_quorum(shards, quorum);
  const auto publish = g.task();
  g.builder.add_input(mean);
  CHECK(expected(g, mean).outcome == (quorum <= 7 ? Outcome::finished : Outcome::skipped));
  CHECK(expected(g, publish).outcome == (quorum <= 7 ? Outcome::finished : Outcome::skipped));
}

TEST_CASE("oracle: who passed the join but lacks an input is skipped", "[oracle]") {
  Hand g;
  const auto bad = g.failing();
  const auto fine = g.task();
  const auto needs_bad = g.task();
  g.builder.add_input(bad);
  g.builder.add_input(fine);
  g.join(needs_bad, one_success);
  CHECK(expected(g, needs_bad).outcome == Outcome::skipped);
}

TEST_CASE("oracle: values say what was given, absent inputs included", "[oracle]") {
  Hand g;
  const auto a = g.task();
  const auto bad = g.failing();
  const auto t = g.task();
  g.builder.add_maybe(bad);
  g.builder.add_gather({a, a});
  const std::uint64_t salt = t;
  const std::uint64_t expected_value =
      mixed(mixed(mixed(mixed(mixed(salt, 1), absent_value), 2), std::uint64_t{a}), std::uint64_t{a});
  CHECK(expected(g, t).value == expected_value);
  CHECK(expected(g, bad).value == std::nullopt);
}

TEST_CASE("oracle: a task becomes what it spawned", "[oracle]") {
  const bool becomes = GENERATE(false, true);
  const bool child_fails = GENERATE(false, true);
  Hand child;
  const auto first = child.task();
  const auto second = child.task(child_fails ? 1 : 0, 1);
  child.strong(first, second);
  Hand g;
  const auto parent = g.task();
  const auto next = g.task();
  g.strong(parent, next);
  RandomGraph graph = g.graph();
  graph.spawned.push_back(child.graph());
  graph.tasks[parent].spawns = 0;
  if (becomes) graph.spawned[0].becomes = second;

  const Expectation e = oracle(graph);
  const bool fails = becomes && child_fails;
  CHECK(e.tasks[parent].outcome == (fails ? Outcome::failed : Outcome::finished));
  CHECK(e.tasks[next].outcome == (fails ? Outcome::cancelled : Outcome::finished));
  REQUIRE(e.spawned.count(parent) == 1);
  const Expectation& below = e.spawned.at(parent);
  CHECK(below.tasks[first].outcome == Outcome::finished);
  CHECK(below.tasks[second].outcome == (child_fails ? Outcome::failed : Outcome::finished));
  const std::uint64_t own = parent;
  if (!becomes) CHECK(e.tasks[parent].value == own);
  if (becomes && !child_fails) CHECK(e.tasks[parent].value == mixed(std::uint64_t{second}, own));
}

TEST_CASE("oracle: a cycle is refused", "[oracle]") {
  Hand g;
  const auto a = g.task();
  const auto b = g.task();
  g.strong(a, b);
  g.weak(b, a);
  CHECK_THROWS(oracle(g.graph()));
}

namespace {

const RandomGraphOptions everything{.actors_max = 3, .spawn_depth_max = 2, .thunks_fail = true};

/// The same by the rules and the thunks: what a runtime with one lane would do, without any of its machinery.
Expectation run_by_rules(const RandomGraph& graph, const Fragment& fragment) {
  Expectation result;
  result.tasks.resize(fragment.size());
  std::vector<Blob> outputs(fragment.size());
  std::vector<void*> objects(fragment.actors.size(), nullptr);
  std::set<std::uint32_t> waiting;
  for (std::uint32_t i = 0; i < fragment.size(); ++i) waiting.insert(i);

  const auto run = [&](std::uint32_t index) {
    const TaskKind& task = fragment.kind(index);
    const std::span<const EdgeEnd> edges = fragment.in_edges(index);
    const std::span<const Argument> arguments = fragment.arguments_of(index);
    std::vector<EdgeResult> ends;
    for (std::uint32_t i = 0; i < edges.size(); ++i) {
      const Outcome outcome = result.tasks[edges[i].task()].outcome;
      ends.push_back({edges[i].kind(), outcome, true});
      if (edges[i].kind() == EdgeKind::conditional && outcome == Outcome::finished) {
        ends.back().condition =
            holds(fragment.predicate(fragment.first_edge[index] + i), outputs[edges[i].task()]);
      }
    }
    Expected& ended = result.tasks[index];
    const Decision decision = decide(fragment.policies[task.policy].join, ends, arguments);
    if (decision == Decision::skip) ended.outcome = Outcome::skipped;
    if (decision == Decision::cancel) ended.outcome = Outcome::cancelled;
    if (decision != Decision::run) return;

    std::vector<std::vector<Blob>> values;
    std::vector<ArgumentView> views;
    for (const Argument& argument : arguments) {
      auto& blobs = values.emplace_back();
      for (std::uint32_t k = 0; k < argument.count; ++k) {
        blobs.push_back(is_input(argument.kind) ? outputs[edges[argument.first + k].task()]
                                                : argument_value(fragment, index, argument));
      }
    }
    for (const auto& blobs : values)
      views.push_back({blobs.data(), static_cast<std::uint32_t>(blobs.size())});
    const Code code = fragment.codes[task.code];
    Call call{.function = code.function,
              .arguments = views.data(),
              .argument_count = static_cast<std::uint32_t>(views.size())};
    if (task.call == CallKind::create) call.self = &objects[task.actor];
    if (task.call == CallKind::call) call.self = objects[task.actor];
    ended.outcome = Outcome::failed;
    while (ended.attempts < fragment.policies[task.policy].retry.attempts) {
      ++ended.attempts;
      try {
        reinterpret_cast<Thunk>(const_cast<void*>(code.thunk))(call);
        ended.outcome = Outcome::finished;
        break;
      } catch (const InjectedFailure&) {
      }
    }
    if (ended.outcome == Outcome::failed) return;
    outputs[index] = call.result;
    if (graph.tasks[index].spawns != test::none) {
      const RandomGraph& spawned = graph.spawned[graph.tasks[index].spawns];
      const Expectation below = run_by_rules(spawned, instantiated(spawned, value_of_arguments(call)));
      if (spawned.becomes != test::none) {
        ended.outcome = below.tasks[spawned.becomes].outcome;
        const auto& value = below.tasks[spawned.becomes].value;
        outputs[index] = value ? to_blob(*value) : Blob();
      }
      result.spawned.emplace(index, below);
    }
    if (outputs[index]) ended.value = from_blob<std::uint64_t>(outputs[index]);
  };

  while (!waiting.empty()) {
    for (auto it = waiting.begin(); it != waiting.end();) {
      bool ready = true;
      for (const EdgeEnd end : fragment.in_edges(*it)) ready &= waiting.count(end.task()) == 0;
      if (!ready) {
        ++it;
        continue;
      }
      run(*it);
      it = waiting.erase(it);
    }
  }
  for (std::size_t actor = 0; actor < objects.size(); ++actor) {
    if (objects[actor] == nullptr) continue;
    Call call{.self = objects[actor]};
    reinterpret_cast<Thunk>(const_cast<void*>(fragment.actors[actor].destroy.thunk))(call);
  }
  return result;
}

void compare(const Expectation& left, const Expectation& right) {
  REQUIRE(left.tasks.size() == right.tasks.size());
  for (std::size_t i = 0; i < left.tasks.size(); ++i) {
    CAPTURE(i);
    REQUIRE(left.tasks[i].outcome == right.tasks[i].outcome);
    REQUIRE(left.tasks[i].value == right.tasks[i].value);
    REQUIRE(left.tasks[i].attempts == right.tasks[i].attempts);
  }
  REQUIRE(left.spawned.size() == right.spawned.size());
  for (const auto& [task, below] : left.spawned) {
    REQUIRE(right.spawned.count(task) == 1);
    compare(below, right.spawned.at(task));
  }
}

}  // namespace

TEST_CASE("the oracle agrees with the rules and the thunks on random graphs", "[oracle]") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const RandomGraph graph = random_graph(random, everything);
    compare(oracle(graph), run_by_rules(graph, graph.fragment));
  }
}

TEST_CASE("random graphs say everything a graph can say", "[oracle]") {
  std::map<Outcome, int> outcomes;
  std::map<EdgeKind, int> edges;
  std::map<ArgumentKind, int> arguments;
  std::map<std::pair<Join, Outcome>, int> joins;
  std::map<CallKind, int> calls;
  int spawned = 0;
  int became = 0;
  int retried = 0;
  int added_later = 0;
  int tasks = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    const RandomGraph graph = random_graph(random, everything);
    const Expectation expectation = oracle(graph);
    for (const Edge& edge : edges_of(graph.fragment)) {
      ++edges[edge.kind];
      added_later += edge.predecessor > edge.successor ? 1 : 0;
    }
    for (std::uint32_t i = 0; i < graph.tasks.size(); ++i) {
      for (const Argument& argument : graph.fragment.arguments_of(i)) ++arguments[argument.kind];
      const Expected& task = expectation.tasks[i];
      ++tasks;
      ++outcomes[task.outcome];
      ++joins[{graph.fragment.policy(i).join, task.outcome}];
      ++calls[graph.fragment.kind(i).call];
      retried += task.outcome == Outcome::finished && task.attempts > 1 ? 1 : 0;
    }
    spawned += static_cast<int>(expectation.spawned.size());
    for (const auto& [task, below] : expectation.spawned) {
      became += graph.spawned[graph.tasks[task].spawns].becomes != test::none ? 1 : 0;
    }
  }
  for (const Outcome outcome : {Outcome::finished, Outcome::failed, Outcome::skipped, Outcome::cancelled}) {
    CAPTURE(name(outcome));
    CHECK(outcomes[outcome] > tasks / 20);
    for (const Join join : {all, one_success, none_failed}) CHECK(joins[{join, outcome}] > 10);
  }
  for (const EdgeKind kind : {EdgeKind::strong, EdgeKind::weak, EdgeKind::conditional})
    CHECK(edges[kind] > 100);
  for (const ArgumentKind kind : {ArgumentKind::literal, ArgumentKind::input, ArgumentKind::maybe,
                                  ArgumentKind::gather, ArgumentKind::quorum}) {
    CHECK(arguments[kind] > 100);
  }
  CHECK(calls[CallKind::create] > 100);
  CHECK(calls[CallKind::call] > 100);
  CHECK(spawned > 100);
  CHECK(became > 30);
  CHECK(retried > 100);
  CHECK(added_later > 30);
  CHECK(tasks > 5000);
}

TEST_CASE("the same seed gives the same graph", "[oracle]") {
  Random one(7);
  Random two(7);
  const RandomGraph a = random_graph(one);
  const RandomGraph b = random_graph(two);
  CHECK(a.fragment.task_kinds == b.fragment.task_kinds);
  CHECK(a.fragment.kinds == b.fragment.kinds);
  CHECK(a.fragment.first_edge == b.fragment.first_edge);
  CHECK(a.fragment.edges == b.fragment.edges);
  CHECK(a.fragment.arguments == b.fragment.arguments);
}
