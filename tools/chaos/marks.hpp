#pragma once
// The values of a chaos job's tasks, by which the results show whether one rests on a value that is not the
// settled one. Shared by the job and its checker.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace dag::chaos {

enum class Kind : std::uint8_t {
  pure,
  varying,       ///< returns another value each time it runs
  staged,        ///< likewise, and stages a file with the value
  idempotent,    ///< writes into the ledger
  exclusive,     ///< likewise, and reports another run of it that has not ended; no task needs its result
  at_most_once,  ///< likewise; no task needs its result
};

struct TaskPlan {
  Kind kind = Kind::pure;
  std::vector<std::uint32_t> inputs;  ///< earlier tasks
};

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  // SplitMix64 (Steele, Lea, Flood 2014).
  std::uint64_t z = hash + value + 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// The graph of a seed.
inline std::vector<TaskPlan> plan_of(std::uint64_t seed, std::uint32_t tasks) {
  std::vector<TaskPlan> plan(tasks);
  std::vector<std::uint32_t> usable;
  std::uint64_t state = mix(seed, 1);
  const auto below = [&](std::uint64_t bound) { return (state = mix(state, 1)) % bound; };
  for (std::uint32_t i = 0; i < tasks; ++i) {
    const std::uint64_t draw = below(100);
    plan[i].kind = draw < 70   ? Kind::pure
                   : draw < 82 ? Kind::varying
                   : draw < 85 ? Kind::staged
                   : draw < 93 ? Kind::idempotent
                   : draw < 96 ? Kind::exclusive
                               : Kind::at_most_once;
    for (std::uint64_t inputs = usable.empty() ? 0 : below(4); inputs > 0; --inputs) {
      // Mostly of what came just before: a graph with some depth.
      const std::size_t window = below(4) == 0 ? usable.size() : std::min<std::size_t>(usable.size(), 12);
      plan[i].inputs.push_back(usable[usable.size() - 1 - below(window)]);
    }
    if (plan[i].kind < Kind::exclusive) usable.push_back(i);
  }
  return plan;
}

/// A task's output: its number, its value, and the values that it was computed from.
struct Mark {
  std::uint64_t task = 0, value = 0, from = 0;
  bool operator==(const Mark&) const = default;
};

inline std::uint64_t from_values(const std::vector<std::uint64_t>& inputs) {
  std::uint64_t hash = inputs.size();
  for (const std::uint64_t input : inputs) hash = mix(hash, input);
  return hash;
}
/// The value of all but varying tasks.
inline std::uint64_t value_of(std::uint64_t seed, std::uint64_t task, std::uint64_t from) {
  return mix(mix(seed, task), from);
}

}  // namespace dag::chaos
