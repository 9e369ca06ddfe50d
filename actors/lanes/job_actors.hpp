#pragma once
// The objects behind the job actors that live in this process. Who may call one when is the home's; here is
// only where it lies, and that it outlives a call that nobody waits for any more.

#include <map>
#include <memory>
#include <mutex>

#include "dag/detail/fragment.hpp"
#include "libdag/base/ids.hpp"

namespace dag {

class JobActors {
 public:
  /// Takes ownership; an earlier object of that actor ends when its last running call returns.
  void put(JobId job, std::uint32_t actor, void* object, detail::Code destroy);
  /// Null when it does not live here.
  std::shared_ptr<void> find(JobId job, std::uint32_t actor) const;
  void forget_job(JobId job);

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<JobId, std::uint32_t>, std::shared_ptr<void>> objects_;
};

}  // namespace dag
