#pragma once
// About how long the rest of the job takes with any number of lanes: the longest way through the graph, by
// how long tasks of each name usually take. The ways are those of the submitted graph and do not change;
// durations are learned, so the ways are measured anew from time to time.

#include <compare>
#include <cstdint>
#include <vector>

#include "libdag/home/home.hpp"

namespace dag {

class CriticalPath {
 public:
  /// The longest path from the beginning of a task to the end of the graph.
  struct Way {
    Duration left{0};
    std::uint32_t tasks = 0;
    auto operator<=>(const Way&) const = default;
  };
  /// No answer for larger graphs, or where more was spawned: the home does nothing else meanwhile, and its
  /// process would be taken for dead. (A million tasks take 0.2 s; half a second on a machine with more to do
  /// than cores.)
  static constexpr std::size_t tasks_max = 2'000'000;

  explicit CriticalPath(const detail::Fragment& graph) : graph_(graph) {}

  /// Measures the ways unless they are still new. False: the graph is too large for that.
  bool measure(const HomePlacement& placement, Instant at);
  Way from(std::uint32_t task) const { return ways_[task]; }
  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  std::vector<Duration> usual_durations(const HomePlacement& placement) const;

  const detail::Fragment& graph_;
  std::vector<Way> ways_;  ///< of each task, once measured
  Instant measured_at_;
};

}  // namespace dag
