// Rounds of empty tasks whose instructions a tool counts: tools/dev/instructions.sh runs this under
// callgrind, which writes what it has counted whenever counting_mark is called, and starts from zero.

#include <string>

#include "tools/bench/peers/libdag.hpp"

extern "C" {
/// The name that callgrind is told. It must stay a call.
[[gnu::noinline, gnu::used]] void dag_bench_counting_mark() { asm volatile("" : : : "memory"); }
}

namespace dag::bench {
namespace {

/// A job has ended before its actors are gone: jobs behind it end when they are.
void wait_for_actors(Session& session) {
  for (int job = 0; job < 4; ++job) overhead_round(session, Shape(Shape::Kind::chain, 1));
}

/// Counts what `work` needs: in the dumps of callgrind it is each second one.
template <class Work>
void counted(Session& session, Work&& work) {
  wait_for_actors(session);
  dag_bench_counting_mark();
  work();
  wait_for_actors(session);
  dag_bench_counting_mark();
}

/// Two sizes: what a round costs besides its tasks is in both, and not in their difference.
struct Sizes {
  std::uint32_t fewer, more;
};

void count_shape(Session& session, std::string_view name, Sizes sizes) {
  overhead_round(session, *Shape::by_name(name, sizes.more));  // what the first graph of a size touches first
  for (const std::uint32_t tasks : {sizes.fewer, sizes.more}) {
    const Shape shape = *Shape::by_name(name, tasks);
    counted(session, [&] { overhead_round(session, shape); });
  }
}

void count_again(Session& session, std::string_view name, Sizes sizes) {
  for (const std::uint32_t tasks : {sizes.fewer, sizes.more}) {
    Graph graph("overhead");
    add_empty_tasks(graph, *Shape::by_name(name, tasks));
    submit_and_run(session, graph);
    counted(session, [&] { submit_and_run(session, graph); });
  }
}

}  // namespace

Figures libdag_counted(const Request& request) {
  const Sizes sizes = {static_cast<std::uint32_t>(request.number("fewer", 6000)),
                       static_cast<std::uint32_t>(request.number("more", 26'000))};
  const auto session = open_session(request);
  std::string counted_in_turn;
  for (const std::string_view name : Shape::names) {
    count_shape(*session, name, sizes);
    counted_in_turn += std::string(name) + " ";
  }
  count_again(*session, "stencil", sizes);
  Figures figures;
  figures.words["counted"] = counted_in_turn + "stencil_again";
  figures.numbers = {{"fewer", sizes.fewer}, {"more", sizes.more}};
  return figures;
}

}  // namespace dag::bench
