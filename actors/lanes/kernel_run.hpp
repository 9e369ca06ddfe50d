#pragma once
// Runs one kernel and turns its result or exception into a value: the one place where exceptions of user code
// are caught.

#include <optional>

#include "actors/lanes/job_actors.hpp"
#include "dag/context.hpp"
#include "libdag/job/attempt.hpp"

namespace dag {

/// The results of a kernel, without the task and attempt they belong to.
struct KernelResult {
  Blob output;
  std::uint32_t becomes = detail::none;
  std::shared_ptr<const detail::Fragment> spawned;
  std::optional<Error> error;
};

/// Runs `code` and leaves its results in `call`. The error is what the kernel threw. Never throws.
std::optional<Error> call_kernel(const detail::Code& code, detail::Call& call);
/// Collects all results of a call into one value, for callers that are not in a hurry.
KernelResult collect(detail::Call& call, std::optional<Error> error);

/// Runs `code` with the given arguments. Never throws.
KernelResult run_kernel(const detail::Code& code, std::span<const detail::ArgumentView> arguments, void* self,
                        Context& context);

/// Evaluates the predicates of conditional out-edges on an output. A predicate that throws fails the attempt:
/// the error is left in `result`.
std::vector<bool> run_predicates(std::span<const detail::Code> predicates, KernelResult& result);

/// Runs a handed-out attempt: an ordinary task, or a part of a job actor's life. `checkpoints` when it saves
/// its state.
AttemptEnd run_attempt(const Attempt& attempt, JobActors& actors, detail::KernelHost& host,
                       const std::atomic<bool>* cancelled, detail::KernelCheckpoints* checkpoints = nullptr);

}  // namespace dag
