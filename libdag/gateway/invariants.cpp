// The rules of a gateway, and of its data of a job, that hold between two events.

#include <algorithm>

#include "libdag/base/check.hpp"
#include "libdag/gateway/gateway.hpp"

namespace dag {

// ---- All jobs

void GatewayMachine::check_invariants() const {
  DAG_CHECK(jobs_.is_sound());
  check_results_bytes();
  std::size_t to_be_forgotten = 0;
  for (const auto& [id, job] : jobs_.all()) {
    job.check_invariants();
    check_clients(id, job);
    to_be_forgotten += job.to_be_forgotten ? 1 : 0;
  }
  DAG_CHECK(to_be_forgotten <= ended_.size());
}

void GatewayMachine::check_results_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [id, job] : jobs_.all()) {
    for (const auto& [task, settled] : job.results)
      bytes += job.spilled.contains(task) ? 0 : settled.output.size_bytes();
  }
  DAG_CHECK(bytes == results_bytes_);
}

/// When a client goes, the gateway looks at the jobs that the client asked about, and at no others.
void GatewayMachine::check_clients(JobId id, const KeptJob& job) const {
  const auto asked_about = [&](Life client) {
    const auto jobs = asked_about_.find(client);
    return jobs != asked_about_.end() && jobs->second.contains(id);
  };
  DAG_CHECK(!job.client || asked_about(*job.client));
  for (const Life client : job.attached) DAG_CHECK(asked_about(client));
  for (const auto& [client, number] : job.waiting) DAG_CHECK(asked_about(client));
  for (const Cancelling& one : job.cancelling) DAG_CHECK(asked_about(one.client));
}

// ---- A job

void KeptJob::check_invariants() const {
  DAG_CHECK(graph || is_closed());
  DAG_CHECK(recorded || leads());
  DAG_CHECK(!submitter || std::holds_alternative<Following>(state));
  DAG_CHECK(waiting.empty() || std::holds_alternative<Leading>(state));
  DAG_CHECK(cancelling.empty() || std::holds_alternative<Leading>(state));
  if (!leads()) check_followed();
  if (over()) check_ended(*ended());
  check_workers();
  check_results();
}

/// The leader has the processes.
void KeptJob::check_followed() const {
  if (is_closed()) return;
  DAG_CHECK(workers.empty());
  DAG_CHECK(earlier.empty());
  DAG_CHECK(numbers.empty());
}

void KeptJob::check_ended(const Over& over) const {
  using Stage = Over::Stage;
  DAG_CHECK(over.how > JobPhase::running);
  DAG_CHECK(over.leads || over.stage == Stage::stays || over.stage == Stage::closed);
  const bool needs_no_process = over.stage >= Stage::rests;
  DAG_CHECK(over.to_gather.empty() || !needs_no_process);
  DAG_CHECK(!over.rest_at || !needs_no_process);
  DAG_CHECK(again_at.empty() || !needs_no_process);
  DAG_CHECK(progress.empty());
}

void KeptJob::check_workers() const {
  std::set<Life> nodes;
  for (const Worker& worker : workers) {
    const auto newest = numbers.find(worker.node.process);
    DAG_CHECK(newest != numbers.end() && worker.number <= newest->second);
    if (worker.phase <= Worker::Phase::up) DAG_CHECK(nodes.insert(worker.node).second);
  }
}

void KeptJob::check_results() const {
  for (const std::uint32_t task : spilled) DAG_CHECK(results.contains(task));
  for (const std::uint32_t task : spilling) DAG_CHECK(!results.contains(task));
  if (!is_closed()) return;
  DAG_CHECK(results.empty());
  DAG_CHECK(asked.empty());
  DAG_CHECK(spilling.empty());
}

}  // namespace dag
