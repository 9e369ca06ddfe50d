// Why this node takes no jobs, or should not be sent to just now.

#include "libdag/gateway/gateway.hpp"

namespace dag {

std::optional<Error> GatewayMachine::no_quorum(JobId id, const KeptJob& job, Instant now) const {
  if (job.over() || job.leader || !job.without_majority || now - *job.without_majority < quorum_missed)
    return std::nullopt;
  const auto since = std::chrono::duration_cast<std::chrono::seconds>(now - *job.without_majority);
  return Error{ErrorCode::no_quorum,
               to_string(self_.process) + " has heard no majority of the nodes with the record of " +
                   to_string(id) + " for " + std::to_string(since.count()) +
                   " s, so nothing of this job is settled here",
               "the job continues when a majority is back; `dag node list` shows which nodes are up"};
}

/// The node is up, and accepts no jobs.
Error GatewayMachine::why_no_jobs() const {
  const std::string name = to_string(self_.process);
  const LoadSummary& load = nodes_.at(self_).load;
  if (load.witness) {
    return {ErrorCode::job_elsewhere, name + " is a witness: it accepts no jobs",
            "submit to another node; `dag node list` lists the nodes"};
  }
  if (load.draining) {
    return {ErrorCode::job_elsewhere, name + " is draining: it accepts no new jobs",
            "submit to another node; `dag node undrain` cancels the drain"};
  }
  if (load.disk_stuck) {
    return {ErrorCode::disk_full, "the disk of " + name + " is stuck: the node accepts no new jobs",
            "submit to another node, and check that disk"};
  }
  if (load.sick && !load.disk_full) {
    return {ErrorCode::job_elsewhere, name + " is sick, it reacts late: it accepts no new jobs",
            "submit to another node; the log of " + name + " says what is late"};
  }
  return {ErrorCode::disk_full, "the disk of " + name + " is full: the node accepts no new jobs",
          "submit to another node, or make room: the node then continues by itself"};
}

/// For load balancers that send clients here. A witness is as ready as it can be.
std::vector<std::string> GatewayMachine::not_ready(Instant now) const {
  std::vector<std::string> reasons;
  if (!takes_jobs(self_) && !nodes_.at(self_).load.witness) reasons.push_back(why_no_jobs().what);
  if (expects_peers_ && nodes_.size() == 1)
    reasons.push_back(to_string(self_.process) + " hears none of the nodes that it knows");
  for (const JobId id : jobs_.awake()) {
    if (reasons.size() == reasons_max) break;
    if (const auto alone = no_quorum(id, jobs_.at(id), now)) reasons.push_back(alone->what);
  }
  return reasons;
}

}  // namespace dag
