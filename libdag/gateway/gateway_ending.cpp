// News from the cells of running jobs, and the end of a job.

#include <algorithm>

#include "libdag/base/check.hpp"
#include "libdag/base/checks_itself.hpp"
#include "libdag/gateway/gateway.hpp"
#include "libdag/keeper/job_story.hpp"

namespace dag {

void GatewayMachine::on_counts(JobId job, const JobCounts& counts) {
  KeptJob* const found = jobs_.find(job);
  if (found != nullptr && !found->over()) found->counts = counts;
}

void GatewayMachine::on_details(JobId job, JobDetails details) {
  if (KeptJob* const found = jobs_.find(job)) found->details = std::move(details);
}

void GatewayMachine::on_progress(JobId job, Life process, const std::string& device,
                                 std::optional<TaskProgress> progress) {
  KeptJob* const found = jobs_.find(job);
  if (found == nullptr || found->over()) return;
  auto& known = found->progress;
  const std::pair lane(process, device);
  if (!progress) {
    known.erase(lane);
  } else if (known.contains(lane) || known.size() < progress_lanes_max) {
    if (progress->note.size() > JobStory::text_bytes_max) progress->note.resize(JobStory::text_bytes_max);
    known[lane] = *std::move(progress);
  }
}

bool GatewayMachine::is_new_crash(JobId job, TaskId task, std::uint32_t number) {
  KeptJob* const found = jobs_.find(job);
  if (found == nullptr) return false;
  auto& known = found->crashes_told;
  const auto told = known.find(task);
  if (told != known.end() && number <= told->second) return false;
  if (told != known.end() || known.size() < crashes_told_max) known[task] = number;
  return true;
}

void GatewayMachine::on_ended(JobId id, const std::optional<Error>& stopped, const JobCounts& counts,
                              Instant now) {
  KeptJob* const found = jobs_.find(id);
  if (found == nullptr || found->over() || !found->leads()) return;
  KeptJob& job = *found;
  job.counts = counts;
  if (stopped) job.error = stopped;
  const bool by_order = job.cancelled && counts.cancelled > 0;
  const JobPhase phase = stopped                            ? JobPhase::failed
                         : by_order                         ? JobPhase::cancelled
                         : counts.failed > counts.tolerated ? JobPhase::failed
                         : counts.cancelled > 0             ? JobPhase::cancelled
                                                            : JobPhase::finished;
  end(id, job, phase, now);
}

void GatewayMachine::on_lost(JobId id, const Error& why, Instant now) {
  unread_.erase(id);
  KeptJob* const found = jobs_.find(id);
  if (found == nullptr || found->over() || !found->leads()) return;
  // Where there can be no other copy, nothing will come of it.
  if (found->recorded && nodes_.size() > 2) return step_down(id, *found, now);
  found->error = why;
  end(id, *found, JobPhase::failed, now);
}

void GatewayMachine::end_before_it_began(JobId id, KeptJob& job, Instant now) {
  job.error = Error{ErrorCode::task_cancelled, "the job was cancelled before it began"};
  job.counts = {0, 0, 0, 0, job.graph->size()};
  end(id, job, JobPhase::cancelled, now);
}

void GatewayMachine::end(JobId id, KeptJob& job, JobPhase phase, Instant now) {
  job.end(phase, now);
  job.progress.clear();
  job.crashes_told.clear();
  if (job.begun()) {
    tell_end(id, job, now);
  } else {
    send_to_followers(
        job,
        client::JobLost{id, job.error.value_or(Error{ErrorCode::task_cancelled, "the job was cancelled"})});
  }
  client::Answer reply;
  reply.jobs.push_back(info(id, job, now, true));
  for (const auto& [client, number] : std::exchange(job.waiting, {})) {
    reply.number = number;
    answer(client, reply);
  }
  answer_cancelling(id, job);
  if (job.detached) job.kept_until = now + results_limits_.kept_for;
  if (!job.begun()) return rest_or_close(id, job);
  may_be_asked(job) ? gather_results(id, job) : close(id, job);
}

/// A job that never began has no results, but others ask how it ended, and it can be retried.
void GatewayMachine::rest_or_close(JobId id, KeptJob& job) {
  if (!job.kept_until) return close(id, job);
  job.again_at.clear();
  job.must_have_ended().stage = KeptJob::Over::Stage::rests;
  stop_workers(id, job);
}

void GatewayMachine::close(JobId id, KeptJob& job) {
  if (job.is_closed()) return;
  if (job.begun() || job.recorded) effects_.emplace_back(CloseJob{id});
  if (!job.is_at_rest()) stop_workers(id, job);
  job.must_have_ended().stage = KeptJob::Over::Stage::closed;
  forget_results(job);
  job.again_at.clear();
  job.graph.reset();
}

std::vector<GatewayEffect> GatewayMachine::take_effects() {
  for (const JobId id : jobs_.let_sleep()) {
    const KeptJob& job = *jobs_.peek(id);
    if (!job.over() || job.is_followed() || job.to_be_forgotten) continue;
    jobs_.find(id)->to_be_forgotten = true;
    ended_.push_back(id);
  }
  while (ended_.size() > ended_jobs_max) forget_oldest();
  jobs_.let_sleep();
  if (checks_itself) check_invariants();
  return std::exchange(effects_, {});
}

/// A job that has followers by now is kept. It is queued again when its last follower leaves.
void GatewayMachine::forget_oldest() {
  const JobId oldest = ended_.front();
  ended_.pop_front();
  KeptJob* const job = jobs_.find(oldest);
  if (job == nullptr) return;
  job->to_be_forgotten = false;
  if (job->is_followed()) return;
  job->kept_until.reset();  // Newer ones need the room.
  close_if_unwanted(oldest, *job);
  if (job->is_closed()) jobs_.erase(oldest);
}

}  // namespace dag
