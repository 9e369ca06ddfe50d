// Tasks that a kernel adds to its job.

#include "dag/context.hpp"

#include "libdag/base/limits.hpp"

namespace dag {

/// A kernel that spawns in a loop ends here: when it is told to stop, or has spawned too much.
detail::Builder& Context::builder() {
  if (cancelled()) throw Failure({ErrorCode::task_cancelled, "a cancelled kernel spawned a task"});
  if (!builder_) builder_ = std::make_unique<detail::Builder>();
  if (builder_->size() < limits::tasks_max) return *builder_;
  throw Failure(
      {ErrorCode::usage,
       "the kernel spawned more than " + std::to_string(limits::tasks_max) + " tasks, the limit of a job",
       "spawn fewer tasks at once: they start when the kernel returns, and can spawn the others"});
}

}  // namespace dag
