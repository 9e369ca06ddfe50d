// Tasks that a Builder compares with the one before from the same place in the program: whatever differs, the
// graph is the one that was said.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "dag/dag.hpp"
#include "libdag/base/random.hpp"
#include "tests/support/edges.hpp"

using namespace dag;
using namespace dag::detail;

namespace {

const char code_places[8] = {};
Code code(std::size_t i) { return {&code_places[i], nullptr}; }

int twice(int x) { return 2 * x; }
int thrice(int x) { return 3 * x; }

template <class T>
Output<T> constant(Graph& graph, T value) {
  return graph.task(
      "constant", [](T x) { return x; }, value);
}

/// Adds a task per level, from one line.
Output<int> descend(Graph& graph, int levels) {
  if (levels == 0) return constant(graph, 0);
  const Output<int> below = descend(graph, levels - 1);
  return graph.task(
      "up", [](int x) { return x + 1; }, below);
}

/// A task as it was said, for the naive model.
struct Said {
  std::string name;
  Code code;
  bool returns = true;
  Effects effects = Effects::pure;
  std::uint32_t attempts = 1;
  std::vector<Argument> arguments;
  std::vector<EdgeEnd> edges;
  std::vector<std::int32_t> literals;
};

/// Adds a task with what its call site says, and with exceptions from that.
Said add_random(Builder& builder, Random& random) {
  static constexpr const char* names[] = {"a", "bb", "cccc", "eight888", "seventeen letters", "b"};
  Said said;
  const std::size_t site = random.below(3);
  said.name = names[random.chance(0.8) ? site : random.below(6)];
  said.code = code(random.chance(0.9) ? site : random.below(8));
  said.returns = random.chance(0.95);
  said.effects = random.chance(0.9) ? Effects::undeclared : Effects::idempotent;
  std::string text = said.name;  // Whose address is another each time.
  const std::uint32_t task = builder.add_task(text, said.code, said.returns, said.effects);
  text.assign(text.size(), '?');
  std::uint64_t arguments = random.chance(0.8) ? site : random.below(4);
  for (; arguments > 0; --arguments) {
    if (task > 0 && random.chance(0.7)) {
      const auto predecessor = static_cast<std::uint32_t>(random.below(task));
      said.arguments.push_back({ArgumentKind::input, static_cast<std::uint32_t>(said.edges.size()), 1, 0});
      said.edges.emplace_back(predecessor, EdgeKind::strong);
      builder.add_input(predecessor);
    } else {
      const auto value = static_cast<std::int32_t>(random.below(1000));
      said.arguments.push_back(
          {ArgumentKind::literal, static_cast<std::uint32_t>(said.literals.size()), 1, 0});
      said.literals.push_back(value);
      if (random.chance(0.8)) {
        builder.add_word(to_blob(value));
      } else {
        Writer writer;
        encode(writer, value);
        builder.add_literal(writer);
      }
    }
  }
  if (random.chance(0.9)) {
    said.effects = Effects::pure;
    builder.set_effects(task, Effects::pure);
  }
  if (random.chance(0.1)) {
    said.attempts = static_cast<std::uint32_t>(2 + random.below(2));
    builder.change_policy(task, [&](Policy& policy) { policy.retry.attempts = said.attempts; });
  }
  for (std::uint64_t edges = task == 0 ? 0 : random.below(3); edges > 0; --edges) {
    const auto predecessor = static_cast<std::uint32_t>(random.below(task));
    said.edges.emplace_back(predecessor, EdgeKind::weak);
    builder.add_edge(predecessor, task, EdgeKind::weak);
  }
  return said;
}

void check_said(const Fragment& graph, const std::vector<Said>& all) {
  REQUIRE(graph.size() == all.size());
  for (std::uint32_t task = 0; task < graph.size(); ++task) {
    const Said& said = all[task];
    CHECK(graph.name(task) == said.name);
    CHECK(graph.codes[graph.kind(task).code] == said.code);
    CHECK(graph.kind(task).returns == said.returns);
    CHECK(graph.policy(task).effects == said.effects);
    CHECK(graph.policy(task).retry.attempts == said.attempts);
    const auto arguments = graph.arguments_of(task);
    CHECK(std::vector<Argument>(arguments.begin(), arguments.end()) == said.arguments);
    const auto edges = graph.in_edges(task);
    CHECK(std::vector<EdgeEnd>(edges.begin(), edges.end()) == said.edges);
    for (const Argument& argument : arguments) {
      if (argument.kind == ArgumentKind::literal)
        CHECK(from_blob<std::int32_t>(graph.literal(task, argument)) == said.literals[argument.first]);
    }
  }
}

}  // namespace

TEST_CASE("a task that differs from the one before from its place is the task that was said") {
  Random random(GENERATE(range(0u, 200u)));
  Builder builder;
  std::vector<Said> all;
  for (std::uint64_t left = 1 + random.below(150); left > 0; --left) {
    all.push_back(add_random(builder, random));
    if (random.chance(0.02)) builder.seal();
    // Another task than the last gets another option.
    if (random.chance(0.05)) {
      const auto task = static_cast<std::uint32_t>(random.below(all.size()));
      all[task].effects = Effects::idempotent;
      builder.set_effects(task, Effects::idempotent);
    }
  }
  check_said(*builder.seal(), all);
}

TEST_CASE("kinds and policies lie in the order of their first use, and each is in use") {
  Random random(GENERATE(range(0u, 50u)));
  Builder builder;
  for (std::uint64_t left = 1 + random.below(100); left > 0; --left) add_random(builder, random);
  const Fragment graph = builder.sealed();
  std::uint32_t kinds = 0, policies = 0;
  for (const std::uint32_t kind : graph.task_kinds) {
    CHECK(kind <= kinds);
    if (kind != kinds) continue;
    ++kinds;
    CHECK(graph.kinds[kind].policy <= policies);
    if (graph.kinds[kind].policy == policies) ++policies;
  }
  CHECK(kinds == graph.kinds.size());
  CHECK(policies == graph.policies.size());
  for (std::size_t kind = 0; kind < graph.kinds.size(); ++kind)
    CHECK(std::count(graph.kinds.begin(), graph.kinds.end(), graph.kinds[kind]) == 1);
}

TEST_CASE("one line that adds tasks by different functions makes tasks of each") {
  Graph graph("functions");
  const Output<int> one = constant(graph, 1);
  for (int i = 0; i < 12; ++i) {
    int (*const function)(int) = i % 3 == 0 ? twice : thrice;
    graph.task("times", function, one);
  }
  const Fragment fragment = graph.builder().sealed();
  for (std::uint32_t i = 0; i < 12; ++i) {
    const auto wanted = reinterpret_cast<const void*>(i % 3 == 0 ? &twice : &thrice);
    CHECK(fragment.codes[fragment.kind(1 + i).code].function == wanted);
  }
}

TEST_CASE("a template's line is another place for each of its types") {
  Graph graph("types");
  for (int i = 0; i < 4; ++i) {
    constant(graph, i);
    constant(graph, 0.5 * i);
    constant(graph, std::string(static_cast<std::size_t>(i) * 10, 'x'));
  }
  const Fragment fragment = graph.builder().sealed();
  CHECK(fragment.kinds.size() == 3);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto literal = [&](std::uint32_t task) {
      return fragment.literal(task, fragment.arguments_of(task)[0]);
    };
    CHECK(from_blob<int>(literal(3 * i)) == static_cast<int>(i));
    CHECK(from_blob<double>(literal(3 * i + 1)) == 0.5 * i);
    CHECK(from_blob<std::string>(literal(3 * i + 2)).size() == i * 10);
  }
}

TEST_CASE("a place that is reached by recursion, and by two graphs in turn, is each graph's own") {
  Graph first("first"), second("second");
  std::vector<Output<int>> tops;
  for (int levels = 0; levels < 5; ++levels) {
    descend(first, levels);
    descend(second, 4 - levels);
  }
  CHECK(first.size() == second.size());
  const Fragment a = first.builder().sealed(), b = second.builder().sealed();
  CHECK(a.kinds.size() == 2);
  CHECK(b.kinds.size() == 2);
  CHECK(a.name(2) == "up");
  CHECK(b.name(4) == "up");
  CHECK(test::edges_of(a).size() == 10);
  CHECK(test::edges_of(b).size() == 10);
}

TEST_CASE("options of a place's tasks may change from task to task") {
  Graph graph("options");
  for (int i = 0; i < 20; ++i) {
    const auto task = graph.task("t", [] {});
    const Output<void> declared = i % 4 == 3 ? task.priority(high).effects(idempotent) : task.effects(pure);
    if (i % 5 == 0) declared.takes(std::chrono::seconds(i));
  }
  const Fragment fragment = graph.builder().sealed();
  for (std::uint32_t i = 0; i < 20; ++i) {
    CHECK(fragment.policy(i).effects == (i % 4 == 3 ? idempotent : pure));
    CHECK(fragment.policy(i).priority == (i % 4 == 3 ? high : Priority::normal));
    CHECK(fragment.policy(i).takes.has_value() == (i % 5 == 0));
  }
}

TEST_CASE("calls of one method by several actors keep their actors") {
  Builder builder;
  for (std::uint32_t actor = 0; actor < 3; ++actor) {
    builder.add_actor(std::to_string(actor), {}, {}, code(7));
    builder.add_task("make", code(1), false, Effects::pure);
    builder.set_call(actor, CallKind::create);
  }
  for (std::uint32_t i = 0; i < 12; ++i) {
    builder.add_task("call", code(2), true, Effects::pure);
    builder.add_word(to_blob(i));
    // A plain task of the same code and name between calls.
    if (i % 4 != 3) builder.set_call(i % 3, CallKind::call);
  }
  const Fragment fragment = builder.sealed();
  for (std::uint32_t i = 0; i < 12; ++i) {
    CHECK(fragment.kind(3 + i).actor == (i % 4 != 3 ? i % 3 : none));
    CHECK(fragment.kind(3 + i).call == (i % 4 != 3 ? CallKind::call : CallKind::ordinary));
  }
}

namespace {
enum class Colour : std::uint8_t { red, green = 7 };

template <class T>
void check_encoded(const T& value) {
  Graph graph("literal");
  for (int i = 0; i < 3; ++i) constant(graph, value);
  Writer writer;
  encode(writer, value);
  const Fragment fragment = graph.builder().sealed();
  for (std::uint32_t task = 0; task < 3; ++task) {
    const Blob& literal = fragment.literal(task, fragment.arguments_of(task)[0]);
    CHECK(literal.same_bytes(Blob(writer.bytes())));
    CHECK(from_blob<T>(literal) == value);
  }
}
}  // namespace

TEST_CASE("a literal that is a word has the bytes that its codec writes") {
  check_encoded(true);
  check_encoded('x');
  check_encoded(std::byte{200});
  check_encoded(std::int16_t{-3});
  check_encoded(7);
  check_encoded(2.5f);
  check_encoded(2.5);
  check_encoded(std::uint64_t{1} << 63);
  check_encoded(Colour::green);
  check_encoded(std::string("text"));
  check_encoded(std::vector<int>{1, 2, 3});
  check_encoded(std::optional<int>(4));
}

TEST_CASE("a literal is converted to the parameter's type before it becomes bytes") {
  Graph graph("converted");
  for (int i = 0; i < 3; ++i)
    graph.task(
        "half", [](double x) { return x / 2; }, i);
  const Fragment fragment = graph.builder().sealed();
  for (std::uint32_t task = 0; task < 3; ++task)
    CHECK(from_blob<double>(fragment.literal(task, fragment.arguments_of(task)[0])) == task);
}
