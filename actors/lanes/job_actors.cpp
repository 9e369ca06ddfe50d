#include "actors/lanes/job_actors.hpp"

#include <vector>

namespace dag {

void JobActors::put(JobId job, std::uint32_t actor, AttemptId generation, void* object,
                    detail::Code destroy) {
  std::shared_ptr<void> owned(object, [destroy](void* gone) {
    detail::Call call;
    call.self = gone;
    reinterpret_cast<detail::Thunk>(const_cast<void*>(destroy.thunk))(call);
  });
  // Declared before the lock: whichever object goes is destroyed outside it, because that runs user code.
  const std::lock_guard lock(mutex_);
  Object& here = objects_[{job, actor}];
  if (generation < here.generation) return;
  here.generation = generation;
  std::swap(here.object, owned);
}

std::shared_ptr<void> JobActors::find(JobId job, std::uint32_t actor, AttemptId generation) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find({job, actor});
  const bool right = found != objects_.end() && found->second.generation == generation;
  return right ? found->second.object : nullptr;
}

void JobActors::forget_job(JobId job) {
  std::vector<std::shared_ptr<void>> gone;  // Destroyed outside the lock: it runs user code.
  const std::lock_guard lock(mutex_);
  for (auto at = objects_.lower_bound({job, 0}); at != objects_.end() && at->first.first == job;) {
    gone.push_back(std::move(at->second.object));
    at = objects_.erase(at);
  }
}

}  // namespace dag
