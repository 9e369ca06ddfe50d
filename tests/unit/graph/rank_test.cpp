// Ranks against a naive model, and against figures that others have published.

#include "libdag/graph/rank.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "libdag/base/random.hpp"
#include "libdag/graph/order.hpp"
#include "tests/support/dag_file.hpp"
#include "tests/support/edges.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/small_graph.hpp"

using namespace dag;
using namespace dag::test;
using namespace std::chrono_literals;
using detail::Builder;
using detail::Edge;
using detail::Fragment;
using Indices = std::vector<std::uint32_t>;

namespace {

nlohmann::json seed_formulas() {
  const auto folder = test_data();
  if (!folder) return nullptr;
  std::ifstream file(*folder / "vectors" / "seed_formulas.json");
  return file ? nlohmann::json::parse(file) : nlohmann::json(nullptr);
}

}  // namespace

TEST_CASE("ranks are longest paths", "[rank]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Fragment fragment = random_graph(random).fragment;
    std::vector<Duration> takes;
    std::vector<Duration> transfers;
    for (std::size_t i = 0; i < fragment.size(); ++i) takes.push_back(Duration(random.below(10)));
    for (std::size_t i = 0; i < fragment.edges.size(); ++i) transfers.push_back(Duration(random.below(5)));

    // The naive model: improve until nothing improves (Bellman and Ford).
    const std::vector<Edge> edges = edges_of(fragment);
    std::vector<Duration> starts(takes.size(), 0ns);
    std::vector<Duration> upward = takes;
    for (bool improved = true; improved;) {
      improved = false;
      for (std::size_t i = 0; i < edges.size(); ++i) {
        const Edge& edge = edges[i];
        const Duration start = starts[edge.predecessor] + takes[edge.predecessor] + transfers[i];
        const Duration rank = takes[edge.predecessor] + transfers[i] + upward[edge.successor];
        if (start > starts[edge.successor]) starts[edge.successor] = start, improved = true;
        if (rank > upward[edge.predecessor]) upward[edge.predecessor] = rank, improved = true;
      }
    }
    const Ranking ranking = rank(fragment, takes, transfers);
    REQUIRE(ranking.starts_at == starts);
    REQUIRE(ranking.upward == upward);
    REQUIRE(ranking.length == *std::max_element(upward.begin(), upward.end()));
    for (std::uint32_t task = 0; task < takes.size(); ++task) REQUIRE(ranking.slack(task) >= 0ns);

    // The critical path is a path, from a source to a sink, of tasks without slack.
    REQUIRE(!ranking.critical_path.empty());
    CHECK(fragment.edge_count(ranking.critical_path.front()) == 0);
    CHECK(OutEdges(fragment).of(ranking.critical_path.back()).empty());
    for (std::size_t i = 0; i < ranking.critical_path.size(); ++i) {
      CHECK(ranking.slack(ranking.critical_path[i]) == 0ns);
      if (i == 0) continue;
      const auto in_edges = fragment.in_edges(ranking.critical_path[i]);
      CHECK(std::any_of(in_edges.begin(), in_edges.end(),
                        [&](detail::EdgeEnd end) { return end.task() == ranking.critical_path[i - 1]; }));
    }
  }
}

TEST_CASE("tasks that state nothing count as the mean of the others, or as one unit", "[rank]") {
  Builder builder;
  const auto a = add(builder, "a");
  const auto b = add(builder, "b");
  strong(builder, a, b);
  CHECK(durations(builder.sealed()) == std::vector<Duration>{1ns, 1ns});
  CHECK(rank(builder.sealed()).length == 2ns);
  add(builder, "c", 4s);
  add(builder, "d", 2s);
  CHECK(durations(builder.sealed()) == std::vector<Duration>{3s, 3s, 4s, 2s});
  CHECK(durations(builder.sealed(), 0ns) == std::vector<Duration>{0ns, 0ns, 4s, 2s});
  CHECK(rank(builder.sealed()).critical_path == Indices{a, b});
}

TEST_CASE("an empty graph has no length", "[rank]") {
  const Ranking ranking = rank(Builder().sealed());
  CHECK(ranking.length == 0ns);
  CHECK(ranking.critical_path.empty());
}

TEST_CASE("durations that are too long to add stay too long", "[rank]") {
  Builder builder;
  const auto a = add(builder, "a", Duration::max());
  const auto b = add(builder, "b", Duration::max());
  strong(builder, a, b);
  CHECK(rank(builder.sealed()).length == Duration::max());
}

TEST_CASE("a chain of a million tasks is a graph like any other", "[rank]") {
  Builder builder;
  const std::uint32_t n = 1'000'000;
  for (std::uint32_t i = 0; i < n; ++i) {
    add(builder, "link");
    if (i > 0) strong(builder, i - 1, i);
  }
  CHECK(rank(builder.sealed()).length == Duration(n));
  strong(builder, n - 1, 0);
  CHECK(find_cycle(builder.sealed()).size() == n);
}

TEST_CASE("the example graph of the seed text", "[rank]") {
  const nlohmann::json formulas = seed_formulas();
  if (formulas.is_null()) {
    WARN("skipped: no test data (DAG_TEST_DATA)");
    return;
  }
  const nlohmann::json& example = formulas.at("dag_example_seed004");
  Builder builder;
  std::map<std::string, std::uint32_t> tasks;
  for (const auto& [name, weight] : example.at("weights").items()) {
    tasks[name] = add(builder, name, std::chrono::seconds(weight.get<int>()));
  }
  for (const auto& [name, successors] : example.at("graph").items()) {
    for (const auto& successor : successors)
      strong(builder, tasks[name], tasks[successor.get<std::string>()]);
  }
  const Fragment fragment = builder.sealed();

  const Ranking unit = rank(fragment, std::vector<Duration>(fragment.size(), 1s));
  const nlohmann::json& expected_unit = example.at("unit_weights");
  CHECK(unit.length == std::chrono::seconds(expected_unit.at("critical_path_length").get<int>()));
  for (const auto& [name, start] : expected_unit.at("earliest_start").items()) {
    CHECK(unit.starts_at[tasks[name]] == std::chrono::seconds(start.get<int>()));
  }

  const Ranking ranking = rank(fragment);
  CHECK(ranking.length == std::chrono::seconds(example.at("critical_path_length").get<int>()));
  Indices path;
  for (const auto& name : example.at("critical_path")) path.push_back(tasks[name.get<std::string>()]);
  CHECK(ranking.critical_path == path);
  for (const auto& [name, task] : tasks) {
    CAPTURE(name);
    CHECK(ranking.starts_at[task] == std::chrono::seconds(example.at("earliest_start").at(name).get<int>()));
    CHECK(ranking.latest_start(task) == std::chrono::seconds(example.at("latest_start").at(name).get<int>()));
    CHECK(ranking.slack(task) == std::chrono::seconds(example.at("slack").at(name).get<int>()));
  }
}

TEST_CASE("upward ranks of the graph in the HEFT paper", "[rank]") {
  const nlohmann::json formulas = seed_formulas();
  if (formulas.is_null()) {
    WARN("skipped: no test data (DAG_TEST_DATA)");
    return;
  }
  const nlohmann::json& paper = formulas.at("heft_paper");
  Builder builder;
  std::vector<Duration> mean;
  for (const auto& costs : paper.at("cost")) {
    double total = 0;
    for (const auto& cost : costs) total += cost.get<double>();
    add(builder, "n");
    mean.push_back(Duration(std::llround(1e9 * total / static_cast<double>(costs.size()))));
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, Duration> cost_of;
  for (const auto& edge : paper.at("edges")) {
    const auto from = edge.at(0).get<std::uint32_t>() - 1;
    const auto to = edge.at(1).get<std::uint32_t>() - 1;
    strong(builder, from, to);
    cost_of[{from, to}] = std::chrono::seconds(edge.at(2).get<int>());
  }
  const Fragment fragment = builder.sealed();
  std::vector<Duration> transfers;
  for (const Edge& edge : edges_of(fragment))
    transfers.push_back(cost_of.at({edge.predecessor, edge.successor}));
  const Ranking ranking = rank(fragment, mean, transfers);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    CAPTURE(i);
    const double seconds = static_cast<double>(ranking.upward[i].count()) / 1e9;
    CHECK(seconds == Approx(paper.at("rank_u").at(i).get<double>()).margin(0.001));
  }
}

TEST_CASE("critical paths that the Standard Task Graph set states", "[rank]") {
  const auto folder = test_data();
  if (!folder) {
    WARN("skipped: no test data (DAG_TEST_DATA)");
    return;
  }
  const auto [name, units] = GENERATE(table<std::string, int>({{"stg-fpppp", 1062}, {"stg-robot", 569}}));
  const DagFile file = read_dag_file(*folder / "dags" / "public" / (name + ".dag"));
  CHECK(rank(file.fragment).length == std::chrono::milliseconds(units));  // a unit is 1 ms in these files
}
