#pragma once
// When a task that waits for a lane will begin, estimated from durations so far. The queues come from the
// processes.

#include <cstdint>
#include <optional>

#include "libdag/keeper/messages.hpp"

namespace dag::detail {

struct StartEstimate {
  Duration about{0};
  Duration least{0}, most{0};
  std::uint64_t runs = 0;  ///< sample size of the estimate; the smallest, if several were needed
  bool operator==(const StartEstimate&) const = default;
};

/// Estimates the start of the task with that place in the queue for the lanes of `at`. A busy lane is free
/// when its task has run as long as its like; tasks before it in the queue take as long as tasks of all
/// names. `its_own` stands in where no other duration is known. None: not queued, or nothing is known.
std::optional<StartEstimate> starts_in(const ProcessExplained& at, std::uint64_t place,
                                       const std::optional<RunEstimate>& its_own);

}  // namespace dag::detail
