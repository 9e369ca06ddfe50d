// Invariants of a partition, and its cost on real graphs.

#include "libdag/graph/partition.hpp"

#include <catch2/catch.hpp>
#include <iomanip>
#include <sstream>

#include "libdag/base/random.hpp"
#include "libdag/graph/blocks.hpp"
#include "tests/support/dag_file.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/small_graph.hpp"

using namespace dag;
using namespace dag::test;
using namespace std::chrono_literals;
using detail::Builder;
using detail::Fragment;
using Indices = std::vector<std::uint32_t>;
using Shards = std::vector<ShardIndex>;

TEST_CASE("blocks: an actor, its calls, those who have its handle, and whom it is saved with",
          "[partition]") {
  Builder builder;
  const auto x = add_actor(builder, "x");  // 0
  const auto y = add_actor(builder, "y");  // 1
  const auto z = add_actor(builder, "z");  // 2
  add(builder, "alone");                   // 3
  add_call(builder, y, "y.call");          // 4
  add(builder, "has z");                   // 5
  Writer handle;
  handle.mention_actor(z);
  builder.add_literal(handle);
  CHECK(blocks(builder.sealed()) == Indices{0, 1, 2, 3, 1, 2});
  builder.add_save_group({z, x});
  CHECK(blocks(builder.sealed()) == Indices{0, 1, 0, 2, 1, 0});
  builder.add_save_group({});
  CHECK(blocks(builder.sealed()) == Indices{0, 1, 0, 2, 1, 0});
  add(builder, "has all");  // 6
  Writer handles;
  handles.mention_actor(x);
  handles.mention_actor(y);
  builder.add_literal(handles);
  CHECK(blocks(builder.sealed()) == Indices{0, 0, 0, 1, 0, 0, 0});
}

TEST_CASE("blocks: actors that are only named, as in spawned graphs", "[partition]") {
  Builder builder;
  add_call(builder, 7, "call");
  add(builder, "other");
  add_call(builder, 9, "call");
  add_call(builder, 7, "call");
  CHECK(blocks(builder.sealed()) == Indices{0, 1, 2, 0});
}

TEST_CASE("partition: shards are in range, blocks whole, and the same graph gives the same", "[partition]") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Fragment fragment = random_graph(random, {.actors_max = 5}).fragment;
    for (std::size_t i = 0; i < fragment.actors.size(); ++i) {
      const auto actor = static_cast<std::uint32_t>(i);
      const auto task = static_cast<std::uint32_t>(random.below(fragment.size()));
      if (random.chance(0.3)) fragment.mentions.emplace_back(task, actor);
      if (i > 0 && random.chance(0.3)) fragment.save_groups.push_back({actor - 1, actor});
    }
    const auto shards = 1 + static_cast<std::uint32_t>(random.below(9));
    const Shards shard_of = partition(fragment, shards);
    REQUIRE(shard_of.size() == fragment.size());
    for (const std::uint32_t shard : shard_of) REQUIRE(shard < shards);
    const auto same_home = [&](std::uint32_t task, std::uint32_t actor) {
      return shard_of[task] == shard_of[fragment.actors[actor].create_task];
    };
    for (std::uint32_t task = 0; task < shard_of.size(); ++task) {
      if (fragment.kind(task).actor != detail::none) REQUIRE(same_home(task, fragment.kind(task).actor));
    }
    for (const auto& [task, actor] : fragment.mentions) REQUIRE(same_home(task, actor));
    for (const auto& group : fragment.save_groups) {
      REQUIRE(same_home(fragment.actors[group[0]].create_task, group[1]));
    }
    REQUIRE(partition(fragment, shards) == shard_of);
  }
}

TEST_CASE("partition: shards are balanced", "[partition]") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Builder builder;
    const auto tasks = 500 + static_cast<std::uint32_t>(random.below(1000));
    for (std::uint32_t i = 0; i < tasks; ++i) {
      add(builder, "t", 1ms);
      for (std::uint64_t k = i == 0 ? 0 : random.below(4); k > 0; --k) {
        const auto reach = random.chance(0.8) ? std::min(i, 20u) : i;
        strong(builder, i - 1 - static_cast<std::uint32_t>(random.below(reach)), i);
      }
    }
    const Fragment fragment = builder.sealed();
    const auto shards = 2 + static_cast<std::uint32_t>(random.below(15));
    const PartitionQuality q = quality(fragment, partition(fragment, shards), shards);
    CHECK(q.tasks_largest <= 1.1 + 0.001 + static_cast<double>(shards) / tasks);
    // A hash would cut 1 - 1/k of the edges.
    CHECK(static_cast<double>(q.edges_cut) <
          0.9 * (1 - 1.0 / shards) * static_cast<double>(fragment.edges.size()));
  }
}

TEST_CASE("partition: a pipeline of actors keeps neighbours together", "[partition]") {
  Builder builder;
  Indices stages;
  for (int i = 0; i < 8; ++i) stages.push_back(add_actor(builder, "stage" + std::to_string(i)));
  for (int micro = 0; micro < 16; ++micro) {
    std::uint32_t last = detail::none;
    for (const std::uint32_t stage : stages) {
      const auto task = add(builder, "forward");
      if (last != detail::none) builder.add_input(last);
      builder.set_call(stage, detail::CallKind::call);
      last = task;
    }
  }
  const Fragment fragment = builder.sealed();
  const Shards shard_of = partition(fragment, 4);
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    CHECK(shard_of[fragment.actors[stage].create_task] == stage / 2);
  }
}

TEST_CASE("partition: parallel chains are not cut, one chain into few pieces", "[partition]") {
  const std::uint32_t shards = GENERATE(2u, 4u, 16u);
  const std::uint32_t chains = GENERATE(1u, 64u);
  Builder builder;
  Indices last;
  for (std::uint32_t i = 0; i < chains; ++i) last.push_back(add(builder, "t"));
  for (int step = 1; step < 100; ++step) {
    for (std::uint32_t& task : last) {
      const auto next = add(builder, "t");
      strong(builder, task, next);
      task = next;
    }
  }
  const Fragment fragment = builder.sealed();
  const PartitionQuality q = quality(fragment, partition(fragment, shards), shards);
  CHECK(q.edges_cut <= (chains == 1 ? 6 * shards : 0));
  CHECK(q.tasks_largest <= 1.2);
}

TEST_CASE("partition: nothing to cut", "[partition]") {
  Builder builder;
  CHECK(partition(builder.sealed(), 4).empty());
  CHECK(quality(builder.sealed(), {}, 4).tasks_largest == 0);
  add(builder, "t");
  CHECK(partition(builder.sealed(), 4).size() == 1);
}

TEST_CASE("partition: what is cut of real graphs", "[partition]") {
  const auto files = dag_files();
  if (files.empty()) {
    WARN("skipped: no test data (DAG_TEST_DATA)");
    return;
  }
  std::ostringstream report;
  report << "edges cut, and tasks of the largest shard over the mean, for 2, 4, 16 shards\n" << std::fixed;
  std::map<std::uint32_t, double> cut_mean;
  for (const auto& path : files) {
    const DagFile file = read_dag_file(path);
    report << std::left << std::setw(38) << file.name.substr(0, 37) << std::right;
    for (const std::uint32_t shards : {2u, 4u, 16u}) {
      const PartitionQuality q = quality(file.fragment, partition(file.fragment, shards), shards);
      const double cut = static_cast<double>(q.edges_cut) / static_cast<double>(file.fragment.edges.size());
      cut_mean[shards] += cut / static_cast<double>(files.size());
      report << std::setprecision(0) << std::setw(5) << 100 * cut << "% " << std::setprecision(2)
             << q.tasks_largest;
    }
    report << "\n";
  }
  for (const auto& [shards, cut] : cut_mean) {
    CAPTURE(shards);
    CHECK(cut < (shards == 2 ? 0.27 : shards == 4 ? 0.46 : 0.68));  // a hash: 0.5, 0.75, 0.94
    report << shards << " shards: " << std::setprecision(3) << cut << " cut on average\n";
  }
  WARN(report.str());
}
