#pragma once
// Sweeps of Task Bench's graphs over the length of their tasks, and METG of each: shared by `metg` and
// `distributed`.

#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/commands.hpp"
#include "tools/bench/metg.hpp"
#include "tools/bench/patterns.hpp"

namespace dag::bench {

/// A graph, and how it is swept.
struct Sweep {
  std::string workload;  ///< as the row calls it
  std::string pattern;
  Pattern::Options options;
  std::uint64_t longest_iterations = 0;  ///< halved down to one
};

struct SweepSetting {
  int threads_each = 1;  ///< per process
  double cores = 1;      ///< of all processes together
};

/// A row per sweep, in microseconds; METG is against the best rate that any runner reached with any length of
/// tasks in the same repetition.
std::vector<Row> measure_metg(Settings& settings, const std::vector<Sweep>& sweeps,
                              const std::vector<Participant>& runners, const SweepSetting& setting);

/// `dag run -n 2`, and what MPI calls that; one thread each.
Participant libdag_in_two();
/// The same without shared memory, as between two hosts: ZeroMQ over TCP carries everything.
inline constexpr std::string_view without_rings = "libdag, no rings";
Participant libdag_without_rings();
Participant mpi_in_two();

/// `patterns` with these iterations.
Ask ask_pattern(const Sweep& sweep, const std::string& iterations, int threads);
/// The number of tasks of that graph.
double tasks_of(const Sweep& sweep);

}  // namespace dag::bench
