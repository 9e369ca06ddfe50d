#include "actors/task_actor.hpp"

#include "actors/exceptions.hpp"

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
      lanes_(lanes),
      owner_(std::move(owner)) {}

caf::behavior TaskActor::make_behavior() {
  set_exception_handler(keep_text);
  const std::optional<Duration> timeout = task_.attempt.timeout;
  const bool may_not_overlap = task_.attempt.exclusive;
  std::function<void(Saved &&)> saved = keeper_of(task_.attempt, owner_);
  lanes_.start(
      std::move(task_.attempt), task_.priority,
      [self = caf::actor_cast<caf::actor>(this)](Ended&& ended) {
        caf::anon_send(self, mail::AttemptEnded{std::move(ended)});
      },
      std::move(saved));
  if (timeout) delayed_send(this, *timeout, mail::TimedOut{});
  return {
      [this](mail::AttemptEnded& end) {
        if (late_) late_->ran = end.ended.ran;
        if (late_) end.ended = std::move(*late_);
        if (!stopped_) send(owner_, std::move(end));
        unlink_from(owner_);
        quit();
      },
      [this](const mail::StopTask&) { let_go(); },
      [this, timeout, may_not_overlap](const mail::TimedOut&) {
        if (stopped_) return;
        Ended ended;
        ended.task = id_;
        ended.id = attempt_;
        ended.outcome = Outcome::failed;
        ended.ran = *timeout;
        const auto limit = std::chrono::duration<double>(*timeout).count();
        ended.error = Error{ErrorCode::timed_out,
                            "the attempt ran longer than its timeout of " + std::to_string(limit) + " s",
                            "give it a longer .timeout(), or let the kernel look at Context::cancelled()"};
        if (may_not_overlap) {
          // Another try while the kernel runs would be one too many.
          late_ = std::move(ended);
          return lanes_.cancel(job_, id_, attempt_);
        }
        send(owner_, mail::AttemptEnded{std::move(ended)});
        let_go();
      },
      [this](const mail::Tick&) {
        lanes_.abandon(job_, id_, attempt_);
        unlink_from(owner_);
        quit();
      },
  };
}

void TaskActor::let_go() {
  if (stopped_) return;
  stopped_ = true;
  lanes_.cancel(job_, id_, attempt_);
  delayed_send(this, task_.grace, mail::Tick{});
}

void TaskActor::on_exit() {
  lanes_.cancel(job_, id_, attempt_);
  owner_ = nullptr;
}

}  // namespace dag
