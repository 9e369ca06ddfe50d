#pragma once
// METG(50 %), minimum effective task granularity: how short tasks may get before a runtime delivers only half
// of what the machine can compute. As defined with Task Bench (SC'20, section 4): granularity is wall time
// times cores over tasks, efficiency is the rate of useful work over the best rate seen.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace dag::bench {

/// The result of running a graph once.
struct SweepPoint {
  double iterations = 0;  ///< of the kernel, per task
  double seconds = 0;     ///< of the whole run
};

struct SweepGraph {
  double tasks = 0;
  double cores = 0;
};

/// Iterations per second, all cores together.
double rate(const SweepPoint& point, const SweepGraph& graph);

struct Metg {
  double seconds = 0;
  /// False: not even the longest tasks reach the half, and `seconds` is their granularity: METG is more.
  bool reached = true;
};

/// Between the shortest tasks that reach the half and the next shorter ones, in proportion of the logarithms.
/// When all reach it: the granularity of the shortest.
Metg metg(std::vector<SweepPoint> points, const SweepGraph& graph, double best_rate);

}  // namespace dag::bench
