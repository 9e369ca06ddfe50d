// `metg`: Task Bench's ten graphs in one process.

#include "tools/bench/task_bench.hpp"

namespace dag::bench {

Section metg_in_one(Settings& settings) {
  std::vector<Participant> runners;
  for (const std::string_view runner : settings.runners({libdag, "tbb", "openmp", "starpu"}))
    runners.push_back({runner});
  const auto width = static_cast<std::uint32_t>(settings.quick ? 4 : 16 * settings.threads);
  const std::uint32_t steps = settings.quick ? 10 : 1000;
  std::vector<Sweep> sweeps;
  for (const std::string_view name : Pattern::names) {
    sweeps.push_back({std::string(name), std::string(name), {width, steps, 5}, settings.quick ? 64u : 4096u});
  }
  Section section{"metg", ""};
  section.rows =
      measure_metg(settings, sweeps, runners, {settings.threads, static_cast<double>(settings.threads)});
  section.explained = "METG(50 %): " + std::to_string(steps) + " steps of " + std::to_string(width) +
                      " points, radix 5; one process. Wall time is from the first line that makes the graph "
                      "to the end of its last task; "
                      "`without building` leaves out what comes before the first task can start. In every "
                      "run each task checks that its "
                      "inputs were left by the tasks it waits for. A figure with > is the granularity of the "
                      "longest tasks, which do not reach the half.";
  return section;
}

}  // namespace dag::bench
