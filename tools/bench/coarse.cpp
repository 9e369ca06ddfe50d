// G5: tasks that are long enough to hide a runtime's work, if it is done in time.

#include "tools/bench/calibration.hpp"
#include "tools/bench/task_bench.hpp"

namespace dag::bench {

Section coarse(Settings& settings) {
  std::vector<Participant> runners;
  for (const std::string_view runner : settings.runners({libdag, floor_runner, "mpi"})) {
    if (runner == floor_runner) {
      runners.push_back({runner, {}, {{"loops", "2"}}});
      continue;
    }
    runners.push_back(runner == libdag ? libdag_in_two() : mpi_in_two());
    if (runner == libdag) runners.push_back(libdag_without_rings());
  }
  const Calibration calibration = calibrate(settings);
  const std::uint64_t iterations = calibration.iterations_for(std::chrono::microseconds(300));
  const Sweep sweep{"random_nearest", "random_nearest", {32, settings.quick ? 5u : 100u, 5}, 0};
  const double ideal_seconds =
      tasks_of(sweep) * static_cast<double>(iterations) * calibration.seconds_per_iteration / 2;
  Section section{
      "coarse",
      "Tasks of 300 µs, two processes with one lane each, 16 columns each, radix 5. Ideal is what the "
      "same iterations take two undisturbed cores; the floor is two threads that run them in a loop, on the "
      "cores as they are."};
  Row seconds = settings.measure(sweep.workload, "% of ideal", runners,
                                 ask_pattern(sweep, std::to_string(iterations), 1),
                                 {"total@" + std::to_string(iterations), 1});
  for (Series& series : seconds.series) {
    for (double& value : series.values) value = ideal_seconds / value * 100;
  }
  section.verdicts.push_back(
      {"G5", sweep.workload, "≥ 95 % of ideal", 95, seconds.find(libdag)->median(), false});
  section.verdicts.push_back({"G5", sweep.workload + ", no rings", "≥ 95 % of ideal", 95,
                              seconds.find(without_rings)->median(), false});
  section.rows.push_back(std::move(seconds));
  return section;
}

}  // namespace dag::bench
