#include "actors/task_actor.hpp"

#include "actors/exceptions.hpp"
#include "libdag/base/saturating.hpp"

namespace dag {

std::function<void(Saved&&)> keeper_of(const Attempt& attempt, const caf::actor& owner) {
  if (!attempt.checkpoints) return {};
  return [owner, task = attempt.task, id = attempt.id](Saved&& saved) {
    caf::anon_send(owner, mail::Checkpointed{task, id, std::move(saved)});
  };
}

TaskActor::TaskActor(caf::actor_config& config, TaskSupervision task, LanesPort& lanes, caf::actor owner)
    : event_based_actor(config),
      task_(std::move(task)),
      job_(task_.attempt.job),
      id_(task_.attempt.task),
      attempt_(task_.attempt.id),
      timeout_(task_.attempt.timeout),
      exclusive_(task_.attempt.exclusive),
      last_try_(task_.attempt.last_try),
      waits_for_deaf_(exclusive_ || !(task_.attempt.may_overlap || last_try_)),
      lanes_(lanes),
      owner_(std::move(owner)) {}

caf::behavior TaskActor::make_behavior() {
  set_exception_handler(keep_text);
  std::function<void(Saved &&)> saved = keeper_of(task_.attempt, owner_);
  const auto self = caf::actor_cast<caf::actor>(this);
  std::function<void()> began;
  if (timeout_ && !is_for_ever(*timeout_)) began = [self] { caf::anon_send(self, mail::AttemptBegan{}); };
  lanes_.start(std::move(task_.attempt), task_.priority, done(), std::move(saved), std::move(began));
  return {
      [this](const mail::AttemptBegan&) { delayed_send(this, *timeout_, mail::TimedOut{}); },
      [this](mail::AttemptEnded& end) { on_returned(end); },
      [this](const mail::StopTask&) {
        if (!stopped_) stop_kernel(end_of({id_, attempt_}, Outcome::cancelled));
      },
      [this](const mail::TimedOut&) {
        if (!stopped_) on_late();
      },
      [this](const mail::Tick&) { on_deaf(); },
  };
}

/// Called by the lane, on its thread: only there the parent of a process can be told.
std::function<void(AttemptEnd&&)> TaskActor::done() {
  auto look = [&lanes = lanes_, left = left_processes_](const AttemptEnd& ended) {
    const bool has_run = ended.ran > Duration{0};
    if (has_run && lanes.left_processes()) left->store(true);
  };
  return [self = caf::actor_cast<caf::actor>(this), job = job_, credits = lanes_.spawn_credits(),
          look = exclusive_ ? std::function<void(const AttemptEnd&)>(look) : nullptr](AttemptEnd&& ended) {
    if (look) look(ended);
    auto credit = credits->hold(job, ended);
    caf::anon_send(self, mail::AttemptEnded{std::move(ended), std::move(credit)});
  };
}

void TaskActor::on_late() {
  AttemptEnd late = end_of({id_, attempt_}, Outcome::failed);
  late.ran = *timeout_;
  const auto limit = std::chrono::duration<double>(*timeout_).count();
  late.error = Error{ErrorCode::timed_out,
                     "the attempt ran longer than its timeout of " + std::to_string(limit) + " s",
                     "give it a longer .timeout(), or let the kernel look at Context::cancelled()"};
  stop_kernel(std::move(late));
}

void TaskActor::stop_kernel(AttemptEnd end) {
  stopped_ = std::move(end);
  lanes_.cancel(job_, id_, attempt_);
  delayed_send(this, task_.grace, mail::Tick{});
}

void TaskActor::on_returned(mail::AttemptEnded& end) {
  if (stopped_) {
    stopped_->ran = end.ended.ran;
    end.ended = std::move(*stopped_);
  }
  const bool failed = end.ended.outcome == Outcome::failed;
  const bool did_well = end.ended.outcome == Outcome::finished;
  if (left_processes_->load() && !did_well && !(failed && last_try_)) {
    lanes_.stuck(
        {id_, attempt_}, failed,
        to_string(id_) + " of " + to_string(job_) + " is exclusive, " +
            (failed ? "has failed (" + end.ended.error.value_or(Error{}).what + ")" : "was told to stop") +
            ", and left processes behind");
  }
  say_end(std::move(end.ended), std::move(end.credit));
}

void TaskActor::on_deaf() {
  if (std::exchange(given_up_, true)) return on_stuck();
  lanes_.abandon(job_, id_, attempt_);
  if (!waits_for_deaf_) return say_end(std::move(*stopped_));
  delayed_send(this, task_.stuck_after, mail::Tick{});
}

void TaskActor::on_stuck() {
  const bool late = stopped_->outcome == Outcome::failed;
  if (!exclusive_ && !late) return;  // No attempt waits for it.
  lanes_.stuck({id_, attempt_}, late,
               "the kernel of " + to_string(id_) + " of " + to_string(job_) +
                   " does not return: " + (late ? stopped_->error->what : "it was told to stop"));
}

void TaskActor::say_end(AttemptEnd end, std::shared_ptr<const void> credit) {
  send(owner_, mail::AttemptEnded{std::move(end), std::move(credit)});
  unlink_from(owner_);
  quit();
}

void TaskActor::on_exit() {
  lanes_.cancel(job_, id_, attempt_);
  owner_ = nullptr;
}

}  // namespace dag
