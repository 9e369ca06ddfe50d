// StarPU: tasks with explicit dependencies on CPU workers only.

#include <starpu.h>

#include <cstdlib>
#include <vector>

#include "tools/bench/peers/patterned_task.hpp"
#include "tools/bench/peers/rounds.hpp"

namespace dag::bench {
namespace {

void nothing(void**, void*) {}

const Shape* checked_shape = nullptr;
std::vector<std::uint64_t> checked_values;

void check_one(void**, void* argument) {
  const auto task = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(argument));
  checked_values[task] = value_from(*checked_shape, task, checked_values);
}

const PatternTable* patterned_table = nullptr;
std::vector<Left> patterned_left;
std::uint64_t patterned_iterations = 0;

void patterned_one(void**, void* argument) {
  const auto task = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(argument));
  patterned_left[task] = patterned_task(*patterned_table, task, patterned_iterations, [&](std::size_t k) {
    return patterned_left[patterned_table->predecessors(task)[k]];
  });
}

starpu_codelet codelet_of(void (*kernel)(void**, void*)) {
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = kernel;
  codelet.nbuffers = 0;
  return codelet;
}

/// StarPU takes tasks as they are submitted, so running begins while the graph is made. A task is kept until
/// all is done: later ones name it.
template <class Graph>
void run(const Graph& graph, starpu_codelet& codelet) {
  std::vector<starpu_task*> tasks(graph.size()), waited_for;
  for (std::uint32_t index = 0; index < graph.size(); ++index) {
    starpu_task* task = tasks[index] = starpu_task_create();
    task->cl = &codelet;
    task->cl_arg = reinterpret_cast<void*>(static_cast<std::uintptr_t>(index));
    task->cl_arg_size = 0;
    task->destroy = 0;
    waited_for.clear();
    for (const std::uint32_t before : graph.predecessors(index)) waited_for.push_back(tasks[before]);
    if (!waited_for.empty()) {
      starpu_task_declare_deps_array(task, static_cast<unsigned>(waited_for.size()), waited_for.data());
    }
    if (starpu_task_submit(task) != 0) throw std::runtime_error("StarPU refuses a task");
  }
  starpu_task_wait_for_all();
  for (starpu_task* task : tasks) starpu_task_destroy(task);
}

Figures overhead(const Request& request) {
  starpu_codelet codelet = codelet_of(&nothing);
  return over_rounds(request, [&](const Shape& shape) {
    Figures figures;
    Stopwatch whole;
    run(shape, codelet);
    figures.numbers["total"] = whole.seconds();
    return figures;
  });
}

Figures check(const Request& request) {
  const Shape shape = request.shape();
  checked_shape = &shape;
  checked_values.assign(shape.size(), 0);
  starpu_codelet codelet = codelet_of(&check_one);
  run(shape, codelet);
  return Figures::of_digest(digest(shape, checked_values));
}

Figures patterns(const Request& request) {
  const PatternTable table = table_of(request);
  patterned_table = &table;
  starpu_codelet codelet = codelet_of(&patterned_one);
  return sweep(request, [&](std::uint64_t iterations) {
    patterned_left.assign(table.size(), Left{});
    patterned_iterations = iterations;
    Figures figures;
    Stopwatch whole;
    run(table, codelet);
    figures.numbers["total"] = whole.seconds();
    return figures;
  });
}

struct Runtime {
  explicit Runtime(int workers) {
    // No measured bandwidths, no devices, no traces: start-up is not what is measured.
    for (const char* name : {"STARPU_SILENT", "STARPU_DISABLE_ASYNCHRONOUS_COPY"}) setenv(name, "1", 0);
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = workers;
    conf.ncuda = 0;
    conf.nopencl = 0;
    if (starpu_init(&conf) != 0) throw std::runtime_error("StarPU does not start");
  }
  ~Runtime() { starpu_shutdown(); }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
};

}  // namespace

Figures measure(const Request& request) {
  const Runtime runtime(request.threads());
  if (request.workload == "overhead") return overhead(request);
  if (request.workload == "check") return check(request);
  if (request.workload == "patterns") return patterns(request);
  throw UnknownWorkload(request);
}

}  // namespace dag::bench
