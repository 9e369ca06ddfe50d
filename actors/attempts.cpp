#include "actors/attempts.hpp"

#include <vector>

namespace dag {

void Attempts::start(StartAttempt start) {
  job_ = start.attempt.job;
  if (start.attempt.timeout || start.attempt.exclusive || representation_ == Representation::supervised) {
    const OutputName name{start.attempt.task, start.attempt.id};
    supervised_[name] = owner_.spawn<TaskActor, caf::linked>(
        TaskSupervision{std::move(start.attempt), start.priority}, lanes_, caf::actor(&owner_));
    return;
  }
  std::function<void(Saved &&)> saved = keeper_of(start.attempt, caf::actor(&owner_));
  lanes_.start(
      std::move(start.attempt), start.priority,
      [owner = caf::actor(&owner_), job = job_, credits = lanes_.spawn_credits()](AttemptEnd&& ended) {
        auto credit = credits->hold(job, ended);
        caf::anon_send(owner, mail::AttemptEnded{std::move(ended), std::move(credit)});
      },
      std::move(saved));
}

void Attempts::stop(const StopAttempt& stop) {
  // At once, not by way of the TaskActor: what is started next must find the attempt stopped.
  lanes_.cancel(job_, stop.task, stop.id);
  const auto found = supervised_.find({stop.task, stop.id});
  if (found != supervised_.end()) {
    owner_.send(found->second, mail::StopTask{});
    supervised_.erase(found);
  }
}

void Attempts::stop_all(const std::function<bool(const OutputName&)>& is_one) {
  std::vector<StopAttempt> stops;
  for (const auto& [name, task] : supervised_) {
    if (is_one(name)) stops.push_back({name.task, name.attempt});
  }
  for (const StopAttempt& one : stops) stop(one);
}

void Attempts::give(const OutputName& attempt) {
  const auto found = supervised_.find(attempt);
  if (found == supervised_.end()) return;
  // The lanes have let go of the TaskActor, so it goes with its handle, and a link would take the owner
  // along.
  owner_.unlink_from(found->second);
  supervised_.erase(found);
}

}  // namespace dag
