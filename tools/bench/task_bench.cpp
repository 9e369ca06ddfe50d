#include "tools/bench/task_bench.hpp"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace dag::bench {
namespace {

std::string halves_from(std::uint64_t longest) {
  std::string list;
  for (std::uint64_t iterations = longest; iterations > 0; iterations /= 2) {
    list += (list.empty() ? "" : ",") + std::to_string(iterations);
  }
  return list;
}

/// The runs that the answer names `part@iterations`.
std::vector<SweepPoint> points_of(const Answer& answer, const std::string& part) {
  std::vector<SweepPoint> points;
  for (const auto& [name, seconds] : answer.numbers) {
    if (name.starts_with(part + "@")) points.push_back({std::stod(name.substr(part.size() + 1)), seconds});
  }
  return points;
}

}  // namespace

Participant libdag_in_two() { return {libdag, {"dag", "run", "-n", "2", "--"}}; }

Participant libdag_without_rings() {
  return {libdag, {"dag", "run", "-n", "2", "--no-rings", "--"}, {}, std::string(without_rings)};
}

Participant mpi_in_two() {
  Participant mpi{"mpi", {"mpirun", "--oversubscribe", "--bind-to", "core", "-n", "2"}};
  if (geteuid() == 0) mpi.launcher.insert(mpi.launcher.begin() + 1, "--allow-run-as-root");
  return mpi;
}

Ask ask_pattern(const Sweep& sweep, const std::string& iterations, int threads) {
  return {"patterns",
          {{"pattern", sweep.pattern},
           {"width", std::to_string(sweep.options.width)},
           {"steps", std::to_string(sweep.options.steps)},
           {"radix", std::to_string(sweep.options.radix)},
           {"iterations", iterations},
           {"threads", std::to_string(threads)}}};
}

double tasks_of(const Sweep& sweep) {
  const auto pattern = Pattern::by_name(sweep.pattern, sweep.options);
  if (!pattern) throw std::invalid_argument("no pattern is called '" + sweep.pattern + "'");
  double tasks = 0;
  for (std::uint32_t step = 0; step < pattern->steps(); ++step)
    tasks += pattern->end(step) - pattern->first(step);
  return tasks;
}

std::vector<Row> measure_metg(Settings& settings, const std::vector<Sweep>& sweeps,
                              const std::vector<Participant>& runners, const SweepSetting& setting) {
  std::vector<Row> rows;
  for (const Sweep& sweep : sweeps) {
    Row& row = rows.emplace_back(Row{sweep.workload, "µs", {}});
    for (const Participant& runner : runners) row.series.push_back({runner.shown, {}});
    const SweepGraph graph{tasks_of(sweep), setting.cores};
    for (int repetition = 1; repetition <= settings.repetitions; ++repetition) {
      settings.say(sweep.workload + ", repetition " + std::to_string(repetition) + " of " +
                   std::to_string(settings.repetitions));
      // Best of this repetition: on a machine whose speed wanders, the best of an hour is no measure.
      double best_rate = 0;
      std::vector<Answer> answers;
      for (const Participant& runner : runners) {
        const Ask what = ask_pattern(sweep, halves_from(sweep.longest_iterations), setting.threads_each);
        answers.push_back(ask(runner.runner, runner.asked(what)));
        for (const SweepPoint& point : points_of(answers.back(), "total")) {
          best_rate = std::max(best_rate, rate(point, graph));
        }
      }
      for (std::size_t r = 0; r < runners.size(); ++r) {
        Series& series = row.series[r];
        const Metg whole = metg(points_of(answers[r], "total"), graph, best_rate);
        series.values.push_back(whole.seconds * 1e6);
        series.lower_bound = series.lower_bound || !whole.reached;
        if (const auto points = points_of(answers[r], "run"); !points.empty()) {
          series.part("without building").values.push_back(metg(points, graph, best_rate).seconds * 1e6);
        }
      }
    }
  }
  return rows;
}

}  // namespace dag::bench
