// A job that has ended is submitted once more: all of it, or what did not finish.

#include <limits>

#include "libdag/gateway/gateway.hpp"

namespace dag {

/// The graph and the launch of the job lie here, or in its record, as long as its results do.
void GatewayMachine::ask(Life from, const client::AskRetry& ask, Instant now) {
  const KeptJob* job = known(from, ask.number, ask.job, now);
  if (job == nullptr) return;
  if (!job->leads() && !job->is_closed()) return send_elsewhere(from, ask.number, ask.job, *job, now);
  const std::string name = to_string(ask.job);
  if (!job->detached) {
    return refuse(
        from, ask.number,
        {ErrorCode::usage, name + " cannot be retried: its program submitted it and waited for its outputs",
         "start the program again; `dag retry` is for jobs of dag submit, dag exec and dag flow"});
  }
  if (!job->over()) {
    return refuse(
        from, ask.number,
        {ErrorCode::usage, name + " has not ended", "wait for its end, or cancel it: dag cancel " + name});
  }
  if (job->is_closed() || !programs_.contains(job->launch.program)) {
    return refuse(from, ask.number,
                  {ErrorCode::output_released, name + " is not kept any more, so it cannot be retried",
                   "submit the job again; results_kept_for of dagd says how long jobs are kept"});
  }
  const bool all_done = job->phase() == JobPhase::finished && job->counts.failed == 0;
  if (ask.only_unfinished && all_done) {
    return refuse(from, ask.number,
                  {ErrorCode::usage, name + " finished: it has no task that failed, was cancelled or skipped",
                   "`dag retry " + name + "` runs all its tasks again"});
  }
  if (!ask.only_unfinished || is_gathered(*job)) return submit_again(from, ask, *job, now);
  retries_waiting_.push_back({from, ask, now + gathered_within});
  look_at_retries_at_ = now + gathered_pause;
}

/// Lets retries go on whose job's outputs are here, or have taken too long.
void GatewayMachine::look_at_retries(Instant now) {
  if (retries_waiting_.empty() || now < look_at_retries_at_) return;
  look_at_retries_at_ = now + gathered_pause;
  for (const WaitingRetry& one : std::exchange(retries_waiting_, {})) {
    const KeptJob* job = jobs_.peek(one.ask.job);
    const bool is_here = job != nullptr && job->leads() && !job->is_closed();
    if (is_here && now < one.until && !is_gathered(*job)) {
      retries_waiting_.push_back(one);
    } else if (is_here) {
      submit_again(one.client, one.ask, *job, now);
    } else {
      ask(one.client, one.ask, now);
    }
  }
}

void GatewayMachine::submit_again(Life from, const client::AskRetry& ask, const KeptJob& job, Instant now) {
  client::AskSubmit again;
  again.number = ask.number;
  again.name = job.name;
  again.graph = job.graph;
  again.launch = job.launch;
  again.supervise_all = job.representation == Representation::supervised;
  again.detached = true;
  again.retries = ask.job;
  again.only_unfinished = ask.only_unfinished && job.begun();
  if (!takes_jobs(self_)) return refuse(from, ask.number, why_no_jobs());
  if (jobs_given_ == std::numeric_limits<std::uint32_t>::max())
    return refuse(from, ask.number, out_of_handles());
  again.job = job_of_node(self_.process, ++jobs_given_);
  this->ask(from, again, now);
}

/// Nothing: the job runs all its tasks.
std::optional<RetryOf> GatewayMachine::retry_of(const KeptJob& job) const {
  if (!job.only_unfinished) return std::nullopt;
  RetryOf retry{job.retries, {}};
  if (const KeptJob* before = jobs_.peek(job.retries)) {
    for (const auto& [task, settled] : before->results) retry.outputs.push_back(settled);
  }
  return retry;
}

}  // namespace dag
