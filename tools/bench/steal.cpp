// G14: work that is born in one place.

#include <sstream>

#include "tools/bench/calibration.hpp"
#include "tools/bench/task_bench.hpp"

namespace dag::bench {

Section steal(Settings& settings) {
  const Calibration calibration = calibrate(settings);
  Section section{
      "steal",
      "A tree of tasks that spawn their children, cut unevenly by chance; its root runs in one process. "
      "One process with one lane against two: how many times as fast the two are. Checked: exactly "
      "that many tasks have finished."};
  struct Grain {
    int microseconds;
    std::uint32_t tasks;
    double wanted;
  };
  for (const Grain grain : {Grain{100, 5000, 1.9}, Grain{10, 30'000, 1.6}}) {
    const Ask what{
        "steal",
        {{"tasks", std::to_string(settings.quick ? 100 : grain.tasks)},
         {"iterations",
          std::to_string(calibration.iterations_for(std::chrono::microseconds(grain.microseconds)))},
         {"threads", "1"}}};
    const std::string workload = std::to_string(grain.microseconds) + " µs tasks";
    Row row = settings.measure(workload, "s", {{libdag, {}, {}, "libdag, one process"}, libdag_in_two()},
                               what, {"total", 1});
    const double times = row.series[0].median() / row.series[1].median();
    std::ostringstream wanted;
    wanted << "≥ " << grain.wanted << " × one process";
    section.verdicts.push_back({"G14", workload, wanted.str(), grain.wanted, times, false});
    section.rows.push_back(std::move(row));
  }
  return section;
}

}  // namespace dag::bench
