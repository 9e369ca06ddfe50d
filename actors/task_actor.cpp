#include "actors/task_actor.hpp"

#include "actors/exceptions.hpp"

namespace dag {

TaskActor::TaskActor(caf::actor_config& config, TaskSupervision task, Lanes& lanes, caf::actor owner)
    : event_based_actor(config),
      task_(std::move(task)),
      job_(task_.attempt.job),
      id_(task_.attempt.task),
      attempt_(task_.attempt.id),
      lanes_(lanes),
      owner_(std::move(owner)) {}

caf::behavior TaskActor::make_behavior() {
  set_exception_handler(keep_text);
  lanes_.start(std::move(task_.attempt), task_.priority,
               [self = caf::actor_cast<caf::actor>(this)](Ended&& ended) {
                 caf::anon_send(self, mail::AttemptEnded{std::move(ended)});
               });
  return {
      [this](mail::AttemptEnded& end) {
        if (!stopped_) send(owner_, std::move(end));
        unlink_from(owner_);
        quit();
      },
      [this](const mail::StopTask&) {
        if (stopped_) return;
        stopped_ = true;
        lanes_.cancel(job_, id_, attempt_);
        delayed_send(this, task_.grace, mail::Tick{});
      },
      [this](const mail::Tick&) {
        lanes_.abandon(job_, id_, attempt_);
        unlink_from(owner_);
        quit();
      },
  };
}

void TaskActor::on_exit() {
  lanes_.cancel(job_, id_, attempt_);
  owner_ = nullptr;
}

}  // namespace dag
