// How jobs that nodes have no room for wait, and in which order they start (node_room.hpp).

#include <algorithm>

#include "libdag/gateway/gateway.hpp"

namespace dag {

bool GatewayMachine::others_wait_for_room(JobId id, Life node) const {
  return std::any_of(jobs_.awake().begin(), jobs_.awake().end(), [&](JobId other) {
    const KeptJob& job = jobs_.at(other);
    return other != id && job.leads() && !job.begun() && !job.over() && job.again_at.contains(node) &&
           !job.has_process();
  });
}

/// All ask at the same times, so that the oldest asks first. A job that runs elsewhere is in no hurry.
void GatewayMachine::wait_for_room(KeptJob& job, Life node, Instant now) {
  const bool runs = std::any_of(job.workers.begin(), job.workers.end(),
                                [](const Worker& worker) { return worker.phase == Worker::Phase::up; });
  const Duration past = now.since_start % room_pause;
  job.again_at[node] = now + (runs ? apart_pause : room_pause - past);
}

void GatewayMachine::look_for_room(JobId id, KeptJob& job, std::size_t& asked, Instant now) {
  for (auto at = job.again_at.begin(); at != job.again_at.end();) {
    if (at->second > now) {
      ++at;
    } else if (!job.begun() && !job.over() && asked++ >= room_asked_max) {
      wait_for_room(job, at++->first, now);
    } else {
      const Life node = at->first;
      at = job.again_at.erase(at);
      if (job.leads() && !job.is_closed() && !job.is_at_rest() && runs_jobs(node))
        start_worker(id, job, node);
    }
  }
}

}  // namespace dag
