// A long task with a state that it changes as a whole, again and again, and saves or not.

#include "tools/bench/peers/clock.hpp"
#include "tools/bench/peers/libdag.hpp"

namespace dag::bench {
namespace {

struct Ran {
  std::int64_t lasted_ns = 0;
  std::int64_t held_up_ns = 0;  ///< by its saves
  std::int64_t saves = 0;
  double sum = 0;
};

Ran change(Context& context, std::uint64_t values, std::uint64_t steps) {
  std::vector<double> state(values, 1.0);
  Ran ran;
  const std::int64_t began_ns = now_ns();
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (double& value : state) value = value * 0.999 + 0.001;
    const std::int64_t before_ns = now_ns();
    if (!context.checkpoint(state)) continue;
    ran.held_up_ns += now_ns() - before_ns;
    ++ran.saves;
  }
  ran.lasted_ns = now_ns() - began_ns;
  for (const double value : state) ran.sum += value;
  return ran;
}

}  // namespace

Figures libdag_checkpoints(const Request& request) {
  const auto session = open_session(request);
  const std::uint64_t values = request.number("bytes", 16u << 20) / sizeof(double);
  Graph graph("checkpoints");
  const auto state = graph.task("change", change, values, request.number("steps", 100));
  if (request.number("saves", 1) != 0) state.checkpoint();
  const Ran ran = session->submit(graph).get(state);
  if (const double mean = ran.sum / static_cast<double>(values); mean < 0.99 || mean > 1.01)
    throw std::runtime_error("the state is not what its steps make of it");
  Figures figures;
  figures.numbers["total"] = static_cast<double>(ran.lasted_ns) * 1e-9;
  figures.numbers["saves"] = static_cast<double>(ran.saves);
  figures.numbers["held_up"] = static_cast<double>(ran.held_up_ns) * 1e-9;
  return figures;
}

}  // namespace dag::bench
