#include "actors/lanes/job_actors.hpp"

#include <vector>

namespace dag {

void JobActors::put(JobId job, std::uint32_t actor, void* object, detail::Code destroy) {
  std::shared_ptr<void> owned(object, [destroy](void* gone) {
    detail::Call call;
    call.self = gone;
    reinterpret_cast<detail::Thunk>(const_cast<void*>(destroy.thunk))(call);
  });
  std::shared_ptr<void> before;  // Destroyed outside the lock: it runs user code.
  const std::lock_guard lock(mutex_);
  std::swap(before, objects_[{job, actor}]);
  objects_[{job, actor}] = std::move(owned);
}

std::shared_ptr<void> JobActors::find(JobId job, std::uint32_t actor) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find({job, actor});
  return found == objects_.end() ? nullptr : found->second;
}

void JobActors::forget_job(JobId job) {
  std::vector<std::shared_ptr<void>> gone;  // Destroyed outside the lock: it runs user code.
  const std::lock_guard lock(mutex_);
  for (auto at = objects_.lower_bound({job, 0}); at != objects_.end() && at->first.first == job;) {
    gone.push_back(std::move(at->second));
    at = objects_.erase(at);
  }
}

}  // namespace dag
