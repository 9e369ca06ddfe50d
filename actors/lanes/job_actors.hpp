#pragma once
// The objects behind the job actors that live in this process. The home decides when an object is called;
// here are its location and its lifetime, which outlasts an abandoned call.

#include <map>
#include <memory>
#include <mutex>

#include "dag/detail/fragment.hpp"
#include "libdag/base/ids.hpp"

namespace dag {

class JobActors {
 public:
  /// Takes ownership; an earlier object of that actor ends when its last running call returns. An object of
  /// an older making than the one that is there comes too late and is destroyed.
  void put(JobId job, std::uint32_t actor, AttemptId generation, void* object, detail::Code destroy);
  /// Null when no object of this making lives here.
  std::shared_ptr<void> find(JobId job, std::uint32_t actor, AttemptId generation) const;
  void forget_job(JobId job);

 private:
  struct Object {
    AttemptId generation;
    std::shared_ptr<void> object;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<JobId, std::uint32_t>, Object> objects_;
};

}  // namespace dag
