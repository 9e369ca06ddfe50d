#pragma once
// Attempts: a home hands one out when a bare row is not enough, and gets its end back. Plain values: an
// attempt may run on a lane of this process or of another one.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dag/detail/fragment.hpp"
#include "dag/error.hpp"
#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"

namespace dag {

/// The name of an output: it denotes one value for ever.
struct OutputName {
  TaskId task;
  AttemptId attempt;
  auto operator<=>(const OutputName&) const = default;
};

/// Set if the kernel of an attempt may save its state (Context::checkpoint). A state is held like an output,
/// under a name of its own: the task, and attempt ids of the same epoch with numbers from `first_number` on.
/// So states of later attempts have greater names than those of earlier attempts.
struct Checkpointing {
  std::uint32_t first_number = 0;
  Duration every{0};       ///< interval between two states; 0: chosen by their cost
  Duration lost_after{0};  ///< mean time to the loss of a process, as far as known
  bool operator==(const Checkpointing&) const = default;
};
/// Attempt numbers lie below: no task is tried so often that attempts and states share a number.
inline constexpr std::uint32_t checkpoint_numbers = 1u << 31;
inline constexpr std::uint32_t checkpoints_per_attempt = 1u << 20;
inline bool is_checkpoint(AttemptId id) { return id.number >= checkpoint_numbers; }

/// An attempt with everything it needs. The inputs lie in `blobs`, in the order of the arguments; argument i
/// takes `counts[i]` of them.
struct Attempt {
  JobId job;
  TaskId task;
  AttemptId id;
  std::uint32_t attempt_number = 1;  ///< the value of Context::attempt: charged tries so far, and this one
  std::string name;
  detail::Code code;
  bool returns = false;
  std::vector<std::uint32_t> counts;
  std::vector<Blob> blobs;
  /// The outputs of other tasks that the attempt was given, sorted by task: its record will name them.
  std::vector<OutputName> inputs;
  /// If set, the run repeats an attempt whose output is gone: the new output is held under the name of that
  /// attempt, and spawned tasks are ignored.
  AttemptId stands_for;
  /// Predicates of the conditional out-edges, in their order: evaluated where the attempt ran.
  std::vector<detail::Code> predicates;
  std::optional<Duration> timeout;  ///< from when its kernel begins
  /// Calls of a job actor run where the actor is, one after another.
  detail::CallKind call = detail::CallKind::ordinary;
  std::uint32_t actor = detail::none;
  /// The creation of the actor's object that this call belongs to; later ones are greater. A call runs on
  /// that object or not at all: an older object must not touch a restored state.
  AttemptId generation;
  /// For create: code that makes the object from saved state, when there is some.
  detail::ActorDraft actor_code;
  /// For create, and for Context::restore.
  Blob restore_from;
  std::optional<Checkpointing> checkpoints;
  /// The attempt may run only under the lease of its process (supervision/lease.hpp), and has ended when its
  /// kernel has.
  bool exclusive = false;
  /// Another attempt may run beside a kernel that was told to stop, and does not.
  bool may_overlap = false;
  /// If it fails the task has failed.
  bool last_try = false;
  /// The output is the kernel's result, with the files that it staged (dag/detail/publish.hpp).
  bool stages = false;
  /// The task may have taken a process down, so nothing runs beside it in its process: another crash is then
  /// known to be its own.
  bool alone = false;
};

/// Views of the arguments of `attempt`: each argument is made from a run of `attempt.blobs`.
inline std::vector<detail::ArgumentView> argument_views(const Attempt& attempt) {
  std::vector<detail::ArgumentView> views;
  views.reserve(attempt.counts.size());
  const Blob* next = attempt.blobs.data();
  for (const std::uint32_t count : attempt.counts) {
    views.push_back({next, count});
    next += count;
  }
  return views;
}

/// The end of an attempt, with all that it left.
struct AttemptEnd {
  TaskId task;
  AttemptId id;
  Outcome outcome = Outcome::finished;  ///< finished, failed or cancelled
  Blob output;
  std::vector<bool> conditions;                     ///< results of the conditional out-edges, in their order
  std::shared_ptr<const detail::Fragment> spawned;  ///< null when nothing was
  std::uint32_t becomes = detail::none;             ///< spawned task whose output is this task's
  std::optional<Error> error;
  Duration ran{0};
};

/// The end of an attempt that left nothing: it was stopped, was late, or never began.
inline AttemptEnd end_of(const OutputName& attempt, Outcome outcome) {
  AttemptEnd ended;
  ended.task = attempt.task;
  ended.id = attempt.attempt;
  ended.outcome = outcome;
  return ended;
}
inline AttemptEnd cancelled_end(const Attempt& attempt) {
  return end_of({attempt.task, attempt.id}, Outcome::cancelled);
}

/// The state of a task that runs, as its kernel gave it.
struct Saved {
  Blob bytes;
  std::uint64_t digest = 0;
};

}  // namespace dag
