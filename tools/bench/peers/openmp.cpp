// OpenMP tasks with `depend` clauses; one thread makes them, all run them. Building and running overlap, so
// there is only a total.

#include <omp.h>

#include <vector>

#include "tools/bench/peers/peer.hpp"

namespace dag::bench {
namespace {

/// Dependences are between addresses: one byte stands for what a task leaves.
template <class Kernel>
void run(const Shape& shape, std::vector<char>& stands_for, Kernel kernel) {
  char* const left = stands_for.data();
#pragma omp parallel
#pragma omp single
  for (std::uint32_t task = 0; task < shape.size(); ++task) {
    const Predecessors before = shape.predecessors(task);
    const std::uint32_t count = before.count;
    const std::uint32_t* const first = before.begin();
    // clang-format off
#pragma omp task firstprivate(task) depend(iterator(std::uint32_t i = 0 : count), in : left[first[i]]) depend(out : left[task])
    // clang-format on
    kernel(task);
  }
}

Figures overhead(const Request& request) {
  const Shape shape = request.shape();
  std::vector<char> stands_for(shape.size());
  Figures figures;
  for (int round = 0; round < 2; ++round) {  // The first one warms up.
    Stopwatch whole;
    run(shape, stands_for, [](std::uint32_t) {});
    figures.numbers["total"] = whole.seconds();
  }
  return figures;
}

Figures check(const Request& request) {
  const Shape shape = request.shape();
  std::vector<char> stands_for(shape.size());
  std::vector<std::uint64_t> values(shape.size());
  run(shape, stands_for, [&](std::uint32_t task) { values[task] = value_from(shape, task, values); });
  return Figures::of_digest(digest(shape, values));
}

}  // namespace

Figures measure(const Request& request) {
  omp_set_num_threads(request.threads());
  if (request.workload == "overhead") return overhead(request);
  if (request.workload == "check") return check(request);
  throw UnknownWorkload(request);
}

}  // namespace dag::bench
