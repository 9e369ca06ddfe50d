#pragma once
// When a task that waits for a lane will begin, from how long tasks took so far. Decides the estimate; who
// waits where, the process says.

#include <cstdint>
#include <optional>

#include "libdag/keeper/messages.hpp"

namespace dag::detail {

struct StartEstimate {
  Duration about{0};
  Duration least{0}, most{0};
  std::uint64_t runs = 0;  ///< that it rests on: of the fewest, where several estimates were needed
  bool operator==(const StartEstimate&) const = default;
};

/// Estimates it for the task with that place in the queue for the lanes of `at`. A lane that runs something
/// is free when that has run as long as its like; tasks before it in the queue take as long as tasks of all
/// names. `its_own` stands in where nothing is known of others. None: it is not queued, or nothing is known.
std::optional<StartEstimate> starts_in(const ProcessExplained& at, std::uint64_t place,
                                       const std::optional<RunEstimate>& its_own);

}  // namespace dag::detail
