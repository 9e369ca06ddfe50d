// OpenMP tasks with `depend` clauses; one thread makes them, all run them. Building and running overlap, so
// there is only a total.

#include <omp.h>

#include <vector>

#include "tools/bench/peers/patterned_task.hpp"
#include "tools/bench/peers/rounds.hpp"

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
  return over_rounds(request, [](const Shape& shape) {
    Figures figures;
    std::vector<char> stands_for(shape.size());
    Stopwatch whole;
    run(shape, stands_for, [](std::uint32_t) {});
    figures.numbers["total"] = whole.seconds();
    return figures;
  });
}

Figures check(const Request& request) {
  const Shape shape = request.shape();
  std::vector<char> stands_for(shape.size());
  std::vector<std::uint64_t> values(shape.size());
  run(shape, stands_for, [&](std::uint32_t task) { values[task] = value_from(shape, task, values); });
  return Figures::of_digest(digest(shape, values));
}

/// A task of a pattern may wait for many, so they are an array here, not the few of a Shape.
void run_patterned(const PatternTable& table, std::vector<Left>& left, std::uint64_t iterations) {
  Left* const stands_for = left.data();
#pragma omp parallel
#pragma omp single
  for (std::uint32_t task = 0; task < table.size(); ++task) {
    const auto before = table.predecessors(task);
    const std::uint32_t* const first = before.data();
    const std::size_t count = before.size();
    // clang-format off
#pragma omp task firstprivate(task, iterations) shared(table) depend(iterator(std::size_t i = 0 : count), in : stands_for[first[i]]) depend(out : stands_for[task])
    // clang-format on
    stands_for[task] = patterned_task(table, task, iterations,
                                      [&](std::size_t k) { return stands_for[table.predecessors(task)[k]]; });
  }
}

Figures patterns(const Request& request) {
  const PatternTable table = table_of(request);
  std::vector<Left> left(table.size());
  return sweep(request, [&](std::uint64_t iterations) {
    std::fill(left.begin(), left.end(), Left{});
    Figures figures;
    Stopwatch whole;
    run_patterned(table, left, iterations);
    figures.numbers["total"] = whole.seconds();
    return figures;
  });
}

}  // namespace

Figures measure(const Request& request) {
  omp_set_num_threads(request.threads());
  if (request.workload == "overhead") return overhead(request);
  if (request.workload == "check") return check(request);
  if (request.workload == "patterns") return patterns(request);
  throw UnknownWorkload(request);
}

}  // namespace dag::bench
