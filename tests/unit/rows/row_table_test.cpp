// Programs, and the tables made of them, against a model that looks at every edge for each row.
#include "libdag/rows/row_table.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "tests/support/random_graph.hpp"
#include "tests/support/sanitized.hpp"

using namespace dag;
using detail::CallKind;
using detail::EdgeKind;

namespace {

constexpr std::uint64_t graphs = test::sanitized ? 3'000 : 100'000;

/// The graph from one shard. By the definitions alone, however long that takes.
class Model {
 public:
  Model(const detail::Fragment& graph, const Sharding* sharding) : graph_(graph), sharding_(sharding) {
    graph.each_edge([&](const detail::Edge& edge, std::uint32_t) { edges_.push_back(edge); });
  }

  bool is_own(std::uint32_t task) const {
    return sharding_ == nullptr || sharding_->shard_of[task] == sharding_->shard;
  }
  bool is_ghost(std::uint32_t task) const {
    return !is_own(task) &&
           any([&](const auto& edge) { return edge.predecessor == task && is_own(edge.successor); });
  }
  bool is_plain(std::uint32_t task) const {
    const Policy& policy = graph_.policy(task);
    Policy usual;
    usual.retry = policy.retry, usual.effects = policy.effects;
    usual.deadline = policy.deadline, usual.takes = policy.takes;
    usual.varying = policy.varying, usual.keep = policy.keep, usual.publishes = policy.publishes;
    return graph_.kind(task).call == CallKind::ordinary && policy == usual &&
           policy.effects == Effects::pure &&
           !any([&](const auto& edge) { return edge.successor == task && edge.kind != EdgeKind::strong; });
  }
  bool ends_by_itself(std::uint32_t task) const {
    return is_plain(task) && !any([&](const auto& edge) {
             return edge.predecessor == task && edge.kind == EdgeKind::conditional;
           });
  }
  bool home_waits(std::uint32_t task) const {
    return !any([&](const auto& edge) {
      return edge.predecessor == task && edge.kind == EdgeKind::strong;
    }) || any([&](const auto& edge) { return edge.predecessor == task && edge.kind != EdgeKind::strong; });
  }
  std::set<ShardIndex> others(std::uint32_t task) const {
    if (sharding_ == nullptr) return {};
    if (!is_own(task)) return {sharding_->shard_of[task]};
    std::set<ShardIndex> others;
    for (const detail::Edge& edge : edges_) {
      if (edge.predecessor == task && !is_own(edge.successor))
        others.insert(sharding_->shard_of[edge.successor]);
    }
    return others;
  }
  bool awaited(std::uint32_t task) const { return is_own(task) && !others(task).empty(); }
  bool elsewhere(std::uint32_t task) const {
    return any([&](const auto& edge) { return edge.successor == task && !is_own(edge.predecessor); });
  }
  bool kept(std::uint32_t task) const {
    return graph_.policy(task).keep || !any([&](const auto& edge) { return edge.predecessor == task; });
  }
  bool lean(std::uint32_t task) const {
    return ends_by_itself(task) && !graph_.policy(task).varying && !any([&](const auto& edge) {
             return edge.predecessor == task &&
                    (edge.kind != EdgeKind::strong || from_recorded(edge.successor));
           });
  }
  bool presses(std::uint32_t task) const {
    return graph_.kind(task).call == CallKind::save || any([&](const auto& edge) {
             return edge.predecessor == task && !is_own(edge.successor) && from_recorded(edge.successor);
           });
  }
  /// Tasks of this shard with the kinds of the edges to them, in the order in which lanes look at them.
  std::vector<std::pair<std::uint32_t, EdgeKind>> successors(std::uint32_t task) const {
    std::vector<std::pair<std::uint32_t, EdgeKind>> found;
    for (const bool first : {true, false}) {
      for (const detail::Edge& edge : edges_) {
        if (edge.predecessor == task && is_own(edge.successor) && awaited(edge.successor) == first)
          found.emplace_back(edge.successor, edge.kind);
      }
    }
    return found;
  }
  std::size_t edges_out(std::uint32_t task) const {
    return static_cast<std::size_t>(std::count_if(
        edges_.begin(), edges_.end(), [&](const auto& edge) { return edge.predecessor == task; }));
  }
  std::vector<detail::Code> predicates(std::uint32_t task) const {
    std::vector<detail::Code> found;
    for (std::uint32_t edge = 0; edge < edges_.size(); ++edge) {
      if (edges_[edge].predecessor == task && edges_[edge].kind == EdgeKind::conditional)
        found.push_back(graph_.predicate(edge));
    }
    return found;
  }

 private:
  template <class Is>
  bool any(Is&& is) const {
    return std::any_of(edges_.begin(), edges_.end(), is);
  }
  bool from_recorded(std::uint32_t task) const {
    const Policy& policy = graph_.policy(task);
    return policy.group.has_value() || (policy.effects != Effects::pure && policy.effects != Effects::staged);
  }

  const detail::Fragment& graph_;
  const Sharding* const sharding_;
  std::vector<detail::Edge> edges_;
};

struct Made {
  Made(std::shared_ptr<const detail::Fragment> graph, const Sharding* sharding, Representation representation,
       bool closed)
      : program(make_program(*graph, sharding)), table(representation) {
    table.add(std::move(graph), program, {}, closed);
  }
  std::shared_ptr<const Program> program;
  RowTable table;
};

/// The property of the task's row that differs from the model; empty: none.
std::string difference(const Model& model, const Made& made, const detail::Fragment& graph,
                       std::uint32_t task, bool supervised, bool closed) {
  const RowIndex row = made.table.find({0, task});
  const bool own = model.is_own(task);
  if (!own && !model.is_ghost(task)) return row == no_row ? "" : "no row";
  if (row >= made.program->size() || (row < made.program->rows) != own) return "row";
  const Row& about = made.table[row];
  if (about.task != task || about.ghost == own) return "task";
  if (about.ends_by_itself != (!supervised && model.ends_by_itself(task))) return "ends by itself";
  if (about.home_waits != model.home_waits(task)) return "home waits";
  if (about.awaited != model.awaited(task)) return "awaited";
  const auto others = made.table.other_shards(row);
  const std::set<ShardIndex> wanted = model.others(task);
  if (!std::equal(others.begin(), others.end(), wanted.begin(), wanted.end())) return "other shards";
  if (made.table.predicates_of(about) != model.predicates(task)) return "predicates";

  const Part& part = made.table.part(0);
  std::vector<std::pair<std::uint32_t, EdgeKind>> successors;
  for (const Successor successor : part.out_edges(row)) {
    if (successor.row() != no_row)
      successors.emplace_back(made.table[successor.row()].task, successor.kind());
  }
  if (successors != model.successors(task)) return "successors";
  if (made.program->readers(row) != successors.size() + (own ? wanted.size() : 0)) return "readers";
  const Word word = made.table.word(row);
  const std::uint8_t flags = made.program->flags[row];
  if (!own) {
    if (part.out_edges(row).size() != successors.size() || !part.in_edges(row).empty())
      return "ghost's edges";
    return word == Word{} && flags < row_flag::kept ? "" : "ghost's word";
  }
  if (part.out_edges(row).size() != model.edges_out(task)) return "edges to other shards";
  const auto same_edge = [&](detail::EdgeEnd here, detail::EdgeEnd there) {
    return made.table[here.task()].task == there.task() && here.kind() == there.kind();
  };
  const auto in = part.in_edges(row), in_graph = graph.in_edges(task);
  if (!std::equal(in.begin(), in.end(), in_graph.begin(), in_graph.end(), same_edge)) return "predecessors";
  const auto& roots = made.program->roots;
  if (std::binary_search(roots.begin(), roots.end(), row) != in.empty()) return "roots";
  Word wanted_word;
  wanted_word.open = static_cast<std::uint32_t>(in.size()) + (closed || in.empty() ? 1 : 0);
  wanted_word.plain = !supervised && model.is_plain(task);
  if (word != wanted_word) return "word";
  const auto has = [&](int flag) { return (flags & flag) != 0; };
  if (has(row_flag::plain) != model.is_plain(task)) return "plain";
  if (has(row_flag::lean) != model.lean(task)) return "lean";
  if (has(row_flag::kept) != model.kept(task)) return "kept";
  if (has(row_flag::presses) != model.presses(task)) return "presses";
  return has(row_flag::elsewhere) == model.elsewhere(task) ? "" : "elsewhere";
}

std::shared_ptr<const detail::Fragment> drawn(Random& random) {
  test::RandomGraphOptions options;
  options.tasks_max = 12;
  options.failures = options.retries = false;
  // Half of the graphs have strong edges and usual tasks only.
  const bool odd = random.chance(0.5);
  options.weak = options.conditional = options.joins = options.quorums = odd;
  options.actors_max = random.chance(0.3) ? 2 : 0;
  options.groups = odd && random.chance(0.3);
  options.once = random.chance(0.2);
  options.exclusive = !options.once && random.chance(0.2);
  options.checkpoints = odd && random.chance(0.2);
  options.varying = random.chance(0.2);
  auto graph = test::random_graph(random, options).fragment;
  for (Policy& policy : graph.policies) {
    policy.keep = random.chance(0.2);
    if (odd && random.chance(0.1)) policy.timeout = std::chrono::seconds(1);
    if (odd && random.chance(0.1)) policy.priority = Priority::high;
    if (odd && random.chance(0.1)) policy.needs.cpus = 2;
  }
  return std::make_shared<const detail::Fragment>(std::move(graph));
}

}  // namespace

TEST_CASE("a table has the rows that a model finds edge by edge") {
  std::uint64_t rows = 0, ghosts = 0, lean = 0, remote = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    Random random(seed);
    const auto graph = drawn(random);
    std::vector<ShardIndex> shard_of;
    const std::size_t shards = 1 + random.below(3);
    for (std::uint32_t task = 0; task < graph->size(); ++task)
      shard_of.push_back(static_cast<ShardIndex>(random.below(shards)));
    const Sharding some{shard_of, static_cast<std::uint32_t>(random.below(shards))};
    const Sharding* sharding = random.chance(0.7) ? &some : nullptr;
    const bool closed = random.chance(0.3), supervised = random.chance(0.2);
    const Made made(graph, sharding, supervised ? Representation::supervised : Representation::as_needed,
                    closed);
    const Model model(*graph, sharding);
    for (std::uint32_t task = 0; task < graph->size(); ++task) {
      const std::string differs = difference(model, made, *graph, task, supervised, closed);
      if (!differs.empty()) FAIL("seed " << seed << ", task " << task << ": " << differs);
    }
    REQUIRE(made.table.size() == made.program->size());
    rows += made.program->rows, ghosts += made.program->ghosts, remote += made.program->other_shards.size();
    for (const std::uint8_t flags : made.program->flags) lean += (flags & row_flag::lean) != 0 ? 1 : 0;
  }
  CHECK(std::min({ghosts, lean, remote, rows}) > graphs / 10);
}

TEST_CASE("rows of a spawned part follow the table's rows") {
  RowTable table;
  const auto chain = [](std::uint32_t tasks) {
    detail::Builder of_chain;
    for (std::uint32_t task = 0; task < tasks; ++task) {
      of_chain.add_task("link", {}, false, Effects::pure);
      if (task > 0) of_chain.add_edge(task - 1, task, EdgeKind::strong);
    }
    return of_chain.seal();
  };
  const auto first = chain(3), second = chain(2);
  table.add(first, make_program(*first), {});
  table.add(second, make_program(*second), {1, 0});
  const RowIndex head = table.find({1, 0}), tail = table.find({1, 1});
  REQUIRE((head == 3 && tail == 4));
  REQUIRE(table.apply(head, PredecessorEnded{}).what == Do::make_ready);
  std::vector<RowIndex> ready;
  table.satisfy_local_strong(
      head, [&](RowIndex row) { ready.push_back(row); }, [](RowIndex) {});
  CHECK(ready == std::vector{tail});
  CHECK(table.word(1).open == 1);  // A row of the first part.
}

TEST_CASE("a row with a million predecessors waits for each of them") {
  constexpr std::uint32_t inputs = 1'000'000;
  detail::Builder builder;
  for (std::uint32_t task = 0; task < inputs; ++task) builder.add_task("input", {}, true, Effects::pure);
  const std::uint32_t sum = builder.add_task("sum", {}, true, Effects::pure);
  std::vector<std::uint32_t> all(inputs);
  for (std::uint32_t task = 0; task < inputs; ++task) all[task] = task;
  builder.add_gather(all);
  RowTable table;
  table.add(builder.seal(), make_program(*builder.seal()), {});
  REQUIRE(table.word(sum).open == inputs);
  REQUIRE(table.part(0).program->roots.size() == inputs);
  std::uint32_t ready = 0;
  for (std::uint32_t task = 0; task < inputs; ++task)
    table.satisfy_local_strong(
        task, [&](RowIndex) { ++ready; }, [](RowIndex) {});
  CHECK(ready == 1);
  CHECK(table.word(sum).state == RowState::ready);
}

TEST_CASE("a program stays with its graph, and not with a copy") {
  detail::Builder builder;
  builder.add_task("one", {}, true, Effects::pure);
  std::weak_ptr<const Program> made;
  {
    const std::shared_ptr<const detail::Fragment> graph = builder.seal();
    graph->program.keep(make_program(*graph));
    made = graph->program.kept();
    detail::Fragment copy = *graph;
    CHECK_FALSE(copy.program.kept());
  }
  CHECK(builder.seal()->program.kept() == made.lock());  // Submitted again.
  builder.add_task("two", {}, true, Effects::pure);
  CHECK(made.expired());
  CHECK_FALSE(builder.seal()->program.kept());
}
