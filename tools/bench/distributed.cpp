// `distributed`: two processes on one host, by rings in shared memory and by ZeroMQ alone (G2, G3, G4, G6).

#include "tools/bench/task_bench.hpp"

namespace dag::bench {

Section distributed(Settings& settings) {
  std::vector<Participant> runners;
  for (const std::string_view runner : settings.runners({libdag, "mpi"})) {
    runners.push_back(runner == libdag ? libdag_in_two() : mpi_in_two());
    if (runner == libdag) runners.push_back(libdag_without_rings());
  }
  const bool quick = settings.quick;
  const std::uint32_t steps = quick ? 10 : 1000;
  const std::uint64_t long_tasks = quick ? 64 : 65536, shorter = quick ? 64 : 8192;
  const std::vector<Sweep> sweeps = {
      {"stencil_1d, 1 column each", "stencil_1d", {2, steps, 5}, long_tasks},
      {"stencil_1d, 16 columns each", "stencil_1d", {32, steps, 5}, shorter},
      {"random_nearest, 16 columns each", "random_nearest", {32, steps, 5}, shorter},
      {"tree, 16 columns each", "tree", {32, steps, 5}, shorter},
  };
  Section section{"distributed", ""};
  section.rows = measure_metg(settings, sweeps, runners, {1, 2});
  for (std::size_t i = 0; i < section.rows.size(); ++i) {
    section.judge_ratio(i == 0 ? "G2" : "G3", section.rows[i], "mpi", i == 0 ? 2 : 3);
  }
  const auto judge_zeromq = [&](const Row& row, double limit) {
    const Series* carried = row.find(without_rings);
    if (carried->lower_bound && carried->median() <= limit) return;
    section.verdicts.push_back(
        {"G4", row.workload + ", no rings", Verdict::at_most_text(limit, "µs"), limit, carried->median()});
  };
  judge_zeromq(section.rows[1], 6);
  judge_zeromq(section.rows[2], 12);

  const auto tasks_per_second = [&](const Sweep& empty, const std::vector<Participant>& taking_part) {
    Row row = settings.measure(empty.workload, "million tasks/s", taking_part, ask_pattern(empty, "0", 1),
                               {"total@0", 1});
    for (Series& series : row.series) {
      for (double& value : series.values) value = tasks_of(empty) / value / 1e6;
    }
    return row;
  };
  const Sweep many{"empty stencil of width 64", "stencil_1d", {64, quick ? 10u : 1500u, 5}, 0};
  Row row_of_many = tasks_per_second(many, runners);
  section.verdicts.push_back(
      {"G6", many.workload, "≥ 5 million tasks/s", 5, row_of_many.find(libdag)->median(), false});
  section.verdicts.push_back({"G6", many.workload + ", no rings", "≥ 1.2 million tasks/s", 1.2,
                              row_of_many.find(without_rings)->median(), false});
  section.rows.push_back(std::move(row_of_many));
  // As many would take Dask a minute.
  const Sweep fewer{"the same, 50 steps", "stencil_1d", {64, quick ? 5u : 50u, 5}, 0};
  std::vector<Participant> with_dask = {libdag_in_two()};
  for (const std::string_view runner : settings.runners({"dask"})) with_dask.push_back({runner});
  section.rows.push_back(tasks_per_second(fewer, with_dask));

  section.explained =
      "Two processes with one lane each: libdag by `dag run -n 2`, and once more with `--no-rings`, where "
      "ZeroMQ over TCP carries everything as between two hosts; MPI by `mpirun -n 2` with non-blocking "
      "messages and no runtime on top. METG(50 %) as in `metg`, " +
      std::to_string(steps) +
      " steps. A figure with > is the granularity of the longest tasks, which do not reach the half.";
  return section;
}

}  // namespace dag::bench
