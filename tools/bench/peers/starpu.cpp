// StarPU: tasks with explicit dependencies on CPU workers only.

#include <starpu.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "tools/bench/peers/peer.hpp"

namespace dag::bench {
namespace {

void nothing(void**, void*) {}

const Shape* checked_shape = nullptr;
std::vector<std::uint64_t> checked_values;

void check_one(void**, void* argument) {
  const auto task = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(argument));
  checked_values[task] = value_from(*checked_shape, task, checked_values);
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
void run(const Shape& shape, starpu_codelet& codelet) {
  std::vector<starpu_task*> tasks(shape.size());
  for (std::uint32_t index = 0; index < shape.size(); ++index) {
    starpu_task* task = tasks[index] = starpu_task_create();
    task->cl = &codelet;
    task->cl_arg = reinterpret_cast<void*>(static_cast<std::uintptr_t>(index));
    task->cl_arg_size = 0;
    task->destroy = 0;
    std::array<starpu_task*, 3> waited_for{};
    unsigned count = 0;
    for (const std::uint32_t before : shape.predecessors(index)) waited_for[count++] = tasks[before];
    if (count > 0) starpu_task_declare_deps_array(task, count, waited_for.data());
    if (starpu_task_submit(task) != 0) throw std::runtime_error("StarPU refuses a task");
  }
  starpu_task_wait_for_all();
  for (starpu_task* task : tasks) starpu_task_destroy(task);
}

Figures overhead(const Request& request) {
  const Shape shape = request.shape();
  starpu_codelet codelet = codelet_of(&nothing);
  Figures figures;
  for (int round = 0; round < 2; ++round) {  // The first one warms up.
    Stopwatch whole;
    run(shape, codelet);
    figures.numbers["total"] = whole.seconds();
  }
  return figures;
}

Figures check(const Request& request) {
  const Shape shape = request.shape();
  checked_shape = &shape;
  checked_values.assign(shape.size(), 0);
  starpu_codelet codelet = codelet_of(&check_one);
  run(shape, codelet);
  return Figures::of_digest(digest(shape, checked_values));
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
  throw UnknownWorkload(request);
}

}  // namespace dag::bench
