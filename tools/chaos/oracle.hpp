#pragma once
// Checks the lines of a chaos job's client and its ledger: nothing is lost, nothing settled twice, nothing
// rests on a value that was not settled.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/chaos/marks.hpp"

namespace dag::chaos {

/// The lines of the client, as far as they have come.
struct Said {
  std::string job;       ///< empty: it is not accepted yet
  bool refused = false;  ///< no majority was there to take it
  std::map<std::uint64_t, Mark> settled;
  std::vector<std::int64_t> settled_at;  ///< nanoseconds of the monotonic clock, in their order
  std::set<std::uint64_t> without;       ///< tasks that ended, and have no value
  std::map<std::uint64_t, std::string> unknown;
  std::vector<std::string> wrong;  ///< a result that changed, or came twice
  bool done = false;

  void take(const std::string& line);
  bool ended(std::uint64_t task) const { return settled.contains(task) || without.contains(task); }
};

/// Faults of the ended job's results; empty: there are none. `ledger`: the marks that its tasks wrote.
std::vector<std::string> check(std::uint64_t seed, const std::vector<TaskPlan>& plan, const Said& said,
                               const std::vector<Mark>& ledger);

}  // namespace dag::chaos
