// What a cell says of a job that runs, and how the job ends.

#include <algorithm>

#include "libdag/keeper/gateway.hpp"
#include "libdag/keeper/job_story.hpp"

namespace dag {

void GatewayMachine::on_counts(JobId job, const JobCounts& counts) {
  const auto found = jobs_.find(job);
  if (found != jobs_.end() && !found->second.over()) found->second.counts = counts;
}

void GatewayMachine::on_details(JobId job, JobDetails details) {
  const auto found = jobs_.find(job);
  if (found != jobs_.end()) found->second.details = std::move(details);
}

void GatewayMachine::on_progress(JobId job, Life process, const std::string& device,
                                 std::optional<TaskProgress> progress) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.over()) return;
  auto& known = found->second.progress;
  const std::pair lane(process, device);
  if (!progress) {
    known.erase(lane);
  } else if (known.contains(lane) || known.size() < progress_lanes_max) {
    if (progress->note.size() > JobStory::text_bytes_max) progress->note.resize(JobStory::text_bytes_max);
    known[lane] = *std::move(progress);
  }
}

bool GatewayMachine::is_new_crash(JobId job, TaskId task, std::uint32_t number) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return false;
  auto& known = found->second.crashes_told;
  const auto told = known.find(task);
  if (told != known.end() && number <= told->second) return false;
  if (told != known.end() || known.size() < crashes_told_max) known[task] = number;
  return true;
}

void GatewayMachine::on_ended(JobId id, const std::optional<Error>& stopped, const JobCounts& counts,
                              Instant now) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.over() || !found->second.leads) return;
  KeptJob& job = found->second;
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
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.over() || !found->second.leads) return;
  // Where there can be no other copy, nothing will come of it.
  if (found->second.recorded && nodes_.size() > 2) return step_down(id, found->second, now);
  found->second.error = why;
  end(id, found->second, JobPhase::failed, now);
}

void GatewayMachine::end_before_it_began(JobId id, KeptJob& job, Instant now) {
  job.error = Error{ErrorCode::task_cancelled, "it was cancelled before it began"};
  job.counts = {0, 0, 0, 0, job.graph->size()};
  end(id, job, JobPhase::cancelled, now);
}

void GatewayMachine::end(JobId id, KeptJob& job, JobPhase phase, Instant now) {
  job.phase = phase;
  job.ended = now;
  job.progress.clear();
  job.crashes_told.clear();
  if (job.begun) {
    send_to_followers(job, client::JobEnded{id, job.error, job.counts});
  } else {
    send_to_followers(
        job, client::JobLost{id, job.error.value_or(Error{ErrorCode::task_cancelled, "it was cancelled"})});
  }
  client::Answer reply;
  reply.jobs.push_back(info(id, job, now, true));
  for (const auto& [client, number] : std::exchange(job.waiting, {})) {
    reply.number = number;
    answer(client, reply);
  }
  answer_cancelling(id, job);
  if (job.detached) job.kept_until = now + results_limits_.kept_for;
  if (job.begun && may_be_asked(job)) {
    gather_results(id, job);
  } else if (!job.begun && job.kept_until) {
    job.at_rest = true;  // There are no results, but others ask how it ended, and it can be retried.
    stop_workers(id, job);
  } else {
    close(id, job);
  }
  ended_.push_back(id);
  forget_old();
}

void GatewayMachine::close(JobId id, KeptJob& job) {
  if (std::exchange(job.closed, true)) return;
  if (job.begun || job.recorded) effects_.emplace_back(CloseJob{id});
  if (!job.at_rest) stop_workers(id, job);
  forget_results(job);
  job.graph.reset();
}

void GatewayMachine::forget_old() {
  // One that still has a client is not forgotten; it comes to the end of the line.
  for (std::size_t tries = ended_.size(); ended_.size() > ended_jobs_max && tries > 0; --tries) {
    const JobId oldest = ended_.front();
    ended_.pop_front();
    KeptJob& job = jobs_.at(oldest);
    job.kept_until.reset();  // Newer ones need the room.
    close_if_unwanted(oldest, job);
    if (job.closed) {
      jobs_.erase(oldest);
    } else {
      ended_.push_back(oldest);
    }
  }
}

}  // namespace dag
