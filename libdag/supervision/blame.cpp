#include "libdag/supervision/blame.hpp"

#include <algorithm>

namespace dag {
namespace {

bool is_a_fault(ProcessEnd end) {
  return end == ProcessEnd::faulted || end == ProcessEnd::out_of_memory || end == ProcessEnd::killed;
}

}  // namespace

bool counts_for_no_task(ProcessEnd end, const std::vector<RunningAttempt>& running) {
  return is_a_fault(end) && running.empty();
}

std::vector<Charge> charges(ProcessEnd end, std::optional<std::uint32_t> guilty_lane,
                            const std::vector<RunningAttempt>& running) {
  const bool found =
      guilty_lane && std::any_of(running.begin(), running.end(),
                                 [&](const RunningAttempt& attempt) { return attempt.lane == *guilty_lane; });
  const bool somebodys_fault = is_a_fault(end);

  std::vector<Charge> result;
  for (const RunningAttempt& attempt : running) {
    Charge charge{attempt.task, attempt.attempt};
    if (end == ProcessEnd::went_with_node) {
      // Not a fault of any attempt.
    } else if (found) {
      if (attempt.lane == *guilty_lane) charge.exit = Exit::failed;
    } else if (somebodys_fault && running.size() == 1 && end != ProcessEnd::killed) {
      charge.exit = Exit::failed;  // The only attempt.
    } else if (somebodys_fault) {
      charge.suspect = true;
      if (attempt.suspected >= suspicions_free) charge.exit = Exit::failed;
    }
    result.push_back(charge);
  }
  return result;
}

}  // namespace dag
