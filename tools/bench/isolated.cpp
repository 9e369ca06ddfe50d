// G16: worker processes, which a kernel that crashes takes down alone, instead of lanes in the process
// itself.

#include "tools/bench/calibration.hpp"
#include "tools/bench/task_bench.hpp"

namespace dag::bench {
namespace {

constexpr std::string_view in_workers = "libdag, isolated";

Participant libdag_isolated() { return {libdag, {}, {{"isolate", "1"}}, std::string(in_workers)}; }

}  // namespace

Section isolated(Settings& settings) {
  Section section{"isolated",
                  "One process with its own lanes against one with `--isolate`, whose kernels run in a "
                  "worker process. Ideal "
                  "is what the same iterations take undisturbed cores; empty tasks as in `overhead`."};
  const std::vector<Participant> both = {{libdag}, libdag_isolated()};
  const std::string threads = std::to_string(settings.threads);

  const Calibration calibration = calibrate(settings);
  const std::uint64_t iterations = calibration.iterations_for(std::chrono::microseconds(100));
  const Sweep sweep{"100 µs tasks", "stencil_1d", {32, settings.quick ? 5u : 300u, 5}, 0};
  const double ideal_seconds = tasks_of(sweep) * static_cast<double>(iterations) *
                               calibration.seconds_per_iteration / settings.threads;
  Row coarse = settings.measure(sweep.workload, "% of ideal", both,
                                ask_pattern(sweep, std::to_string(iterations), settings.threads),
                                {"total@" + std::to_string(iterations), 1});
  for (Series& series : coarse.series) {
    for (double& value : series.values) value = ideal_seconds / value * 100;
  }
  section.verdicts.push_back(
      {"G16", sweep.workload, "≥ 95 % of ideal", 95, coarse.find(in_workers)->median(), false});
  section.rows.push_back(std::move(coarse));

  const std::uint32_t tasks = settings.quick ? 2000 : 100'000;
  for (const char* shape : {"stencil", "chain"}) {
    const Ask what{"overhead", {{"threads", threads}, {"shape", shape}, {"tasks", std::to_string(tasks)}}};
    const Row& row = section.rows.emplace_back(
        settings.measure("empty " + std::string(shape), "ns per task", both, what,
                         {"total", 1e9 / tasks, {{"build", "build"}, {"submit", "submit"}, {"run", "run"}}}));
    section.verdicts.push_back({"G16", row.workload, "≤ 2 × in-process", 2,
                                row.find(in_workers)->median() / row.find(libdag)->median()});
  }
  return section;
}

}  // namespace dag::bench
