// Arrays of graphs that are gone, in those that come after them.

#include "libdag/graph/warm_arrays.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "dag/dag.hpp"

using namespace dag;
using namespace dag::detail;

namespace {

/// Each task takes a number and the two tasks before it.
void add_tasks(Builder& builder, std::uint32_t tasks, std::uint32_t salt) {
  static const char place = 0;
  for (std::uint32_t task = 0; task < tasks; ++task) {
    builder.add_task("t", {&place, nullptr}, true, Effects::pure);
    builder.add_word(to_blob(task ^ salt));
    for (std::uint32_t back = 1; back <= std::min(task, 2u); ++back) builder.add_input(task - back);
  }
}

/// Counts what is wrong; the threads of a test cannot use Catch's macros.
std::uint32_t wrong(const Fragment& graph, std::uint32_t tasks, std::uint32_t salt) {
  std::uint32_t wrong = graph.size() == tasks && graph.literals.size() == tasks ? 0 : 1;
  for (std::uint32_t task = 0; task < graph.size(); ++task) {
    const auto edges = graph.in_edges(task);
    if (edges.size() != std::min(task, 2u)) ++wrong;
    for (std::uint32_t back = 1; back <= edges.size(); ++back) {
      if (edges[back - 1] != EdgeEnd(task - back, EdgeKind::strong)) ++wrong;
    }
    if (from_blob<std::uint32_t>(graph.literal(task, graph.arguments_of(task)[0])) != (task ^ salt)) ++wrong;
  }
  return wrong;
}

/// Takes what the pool has, so that a test begins with an empty one.
void empty_pool() {
  for (std::size_t set = 0; set < warm_sets_max; ++set) {
    Fragment taken;
    warm_up(taken);
  }
  REQUIRE(warm_bytes() == 0);
}

constexpr std::uint32_t many = 20'000;

}  // namespace

TEST_CASE("the arrays of a graph that is gone are those of the next") {
  empty_pool();
  const EdgeEnd* before = nullptr;
  {
    Builder builder;
    add_tasks(builder, many, 1);
    before = builder.seal()->edges.data();
  }
  const std::size_t kept = warm_bytes();
  CHECK(kept > 0);
  Builder builder;
  add_tasks(builder, many, 2);
  CHECK(warm_bytes() == 0);
  CHECK(builder.seal()->edges.data() == before);
  CHECK(wrong(*builder.seal(), many, 2) == 0);
}

TEST_CASE("a graph that was not sealed leaves its arrays, too") {
  empty_pool();
  {
    Builder builder;
    add_tasks(builder, many, 1);
  }
  CHECK(warm_bytes() > 0);
}

TEST_CASE("a small graph takes nothing and leaves nothing") {
  empty_pool();
  {
    Builder builder;
    add_tasks(builder, many, 1);
  }
  const std::size_t kept = warm_bytes();
  {
    Builder builder;
    add_tasks(builder, warm_from - 1, 2);
    CHECK(wrong(*builder.seal(), warm_from - 1, 2) == 0);
    CHECK(warm_bytes() == kept);
  }
  CHECK(warm_bytes() == kept);
}

TEST_CASE("a graph outlives its builder, and is untouched by the graphs that come meanwhile") {
  std::shared_ptr<const Fragment> graph;
  {
    Builder builder;
    add_tasks(builder, many, 1);
    graph = builder.seal();
    add_tasks(builder, 10, 1);  // goes on with a copy
    CHECK(builder.seal() != graph);
  }
  for (std::uint32_t salt = 2; salt < 5; ++salt) {
    Builder builder;
    add_tasks(builder, many, salt);
    CHECK(wrong(*builder.seal(), many, salt) == 0);
  }
  CHECK(wrong(*graph, many, 1) == 0);
}

TEST_CASE("the pool has limits: sets of arrays, and their bytes") {
  empty_pool();
  SECTION("sets") {
    std::deque<Builder> builders(2 * warm_sets_max);
    for (Builder& builder : builders) add_tasks(builder, many, 1);
    builders.pop_back();
    const std::size_t one = warm_bytes();
    builders.clear();
    CHECK(warm_bytes() == warm_sets_max * one);
  }
  SECTION("bytes") {
    for (int round = 0; round < 3; ++round) {
      std::deque<Fragment> graphs(3);
      for (Fragment& graph : graphs) graph.edges.reserve(warm_bytes_max / 2 / sizeof(EdgeEnd) - 1);
      for (Fragment& graph : graphs) {
        keep_warm(graph);
        CHECK(warm_bytes() <= warm_bytes_max);
      }
      CHECK(warm_bytes() > warm_bytes_max / 2);
    }
    Fragment large;
    large.edges.reserve(warm_bytes_max / sizeof(EdgeEnd) + 1);
    empty_pool();
    keep_warm(large);
    CHECK(warm_bytes() == 0);
  }
  empty_pool();
}

TEST_CASE("many threads build graphs, and drop those of others") {
  constexpr std::size_t threads = 8, rounds = 20;
  std::vector<std::uint32_t> wrongs(threads);
  // Slot i is written by thread i and dropped by its neighbour in the next round.
  std::vector<std::shared_ptr<const Fragment>> graphs(threads);
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<std::shared_ptr<const Fragment>> made(threads);
    std::vector<std::thread> running;
    for (std::size_t thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        const auto salt = static_cast<std::uint32_t>(round * threads + thread);
        const auto tasks = static_cast<std::uint32_t>(2000 + 500 * thread);
        graphs[(thread + 1) % threads].reset();
        Builder builder;
        add_tasks(builder, tasks, salt);
        made[thread] = builder.seal();
        wrongs[thread] += wrong(*made[thread], tasks, salt);
      });
    }
    for (std::thread& one : running) one.join();
    graphs = made;
  }
  CHECK(wrongs == std::vector<std::uint32_t>(threads));
  graphs.clear();
  CHECK(warm_bytes() <= warm_bytes_max);
}

TEST_CASE("large literals of a graph that is gone are let go, not kept") {
  empty_pool();
  struct Owned : Blob::Owner {
    explicit Owned(bool& flag) : gone(flag) {}
    ~Owned() override { gone = true; }
    bool& gone;
  };
  bool gone = false;
  alignas(64) static std::byte bytes[128] = {};
  {
    Builder builder;
    add_tasks(builder, many, 1);
    builder.add_literal(Blob::adopt(bytes, sizeof bytes, std::make_unique<Owned>(gone)));
    builder.seal();
    CHECK_FALSE(gone);
  }
  CHECK(gone);
}
