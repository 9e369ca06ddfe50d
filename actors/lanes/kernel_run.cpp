#include "actors/lanes/kernel_run.hpp"

#include <exception>

#include "libdag/base/forked_child.hpp"
#include "libdag/base/in_kernel.hpp"

namespace dag {
namespace {

/// The exception that is being handled, as the user should read it.
Error current_error() {
  try {
    throw;
  } catch (const Failure& failure) {
    return failure.error();
  } catch (const std::exception& error) {
    return {ErrorCode::task_failed, error.what()};
  } catch (...) {
    return {ErrorCode::task_failed, "the kernel threw something that is not a std::exception",
            "throw a std::runtime_error with a message"};
  }
}

}  // namespace

std::optional<Error> call_kernel(const detail::Code& code, detail::Call& call) {
  call.function = code.function;
  const InKernel in_kernel;
  try {
    reinterpret_cast<detail::Thunk>(const_cast<void*>(code.thunk))(call);
    end_forked_child();
    return std::nullopt;
  } catch (...) {
    end_forked_child();
    return current_error();
  }
}

KernelResult collect(detail::Call& call, std::optional<Error> error) {
  KernelResult result;
  result.error = std::move(error);
  if (result.error) return result;
  result.output = std::move(call.result);
  result.becomes = call.becomes;
  if (call.context->spawned() != nullptr) {
    result.spawned = call.context->spawned()->seal();
  }
  return result;
}

KernelResult run_kernel(const detail::Code& code, std::span<const detail::ArgumentView> arguments, void* self,
                        Context& context) {
  detail::Call call;
  call.arguments = arguments.data();
  call.argument_count = static_cast<std::uint32_t>(arguments.size());
  call.context = &context;
  call.self = self;
  std::optional<Error> error = call_kernel(code, call);
  return collect(call, std::move(error));
}

std::vector<bool> run_predicates(std::span<const detail::Code> predicates, KernelResult& result) {
  std::vector<bool> conditions;
  // A task that becomes another has no output yet. The other task's attempt evaluates these predicates.
  if (result.error || result.becomes != detail::none) return conditions;
  const InKernel in_kernel;
  try {
    for (const detail::Code& code : predicates) {
      const auto predicate = reinterpret_cast<detail::Predicate>(const_cast<void*>(code.thunk));
      conditions.push_back(predicate(code.function, result.output));
      end_forked_child();
    }
  } catch (...) {
    end_forked_child();
    result.error = current_error();
    result.error->what = "a condition on this task's output threw: " + result.error->what;
  }
  return conditions;
}

AttemptEnd run_attempt(const Attempt& attempt, JobActors& actors, detail::KernelHost& host,
                       const std::atomic<bool>* cancelled, detail::KernelCheckpoints* checkpoints) {
  const std::vector<detail::ArgumentView> views = argument_views(attempt);
  AttemptEnd ended;
  ended.task = attempt.task;
  ended.id = attempt.id;
  Context context(host, attempt.attempt_number, cancelled, checkpoints);
  KernelResult result;
  switch (attempt.call) {
    case detail::CallKind::ordinary:
      result = run_kernel(attempt.code, views, nullptr, context);
      break;
    case detail::CallKind::create: {
      void* object = nullptr;
      if (attempt.restore_from) {
        const detail::ArgumentView saved{&attempt.restore_from, 1};
        result = run_kernel(attempt.actor_code.restore, {&saved, 1}, &object, context);
      } else {
        result = run_kernel(attempt.code, views, &object, context);
      }
      if (object != nullptr) {
        actors.put(attempt.job, attempt.actor, attempt.generation, object, attempt.actor_code.destroy);
      }
      break;
    }
    case detail::CallKind::call:
    case detail::CallKind::save: {
      const std::shared_ptr<void> object = actors.find(attempt.job, attempt.actor, attempt.generation);
      if (object == nullptr) {
        result.error =
            Error{ErrorCode::output_lost, "the job actor of this call does not live in this process"};
      } else {
        result = run_kernel(attempt.code, views, object.get(), context);
      }
      break;
    }
  }
  ended.conditions = run_predicates(attempt.predicates, result);
  ended.outcome = result.error ? Outcome::failed : Outcome::finished;
  ended.error = std::move(result.error);
  if (!ended.error) {
    ended.output = std::move(result.output);
    ended.spawned = std::move(result.spawned);
    ended.becomes = result.becomes;
  }
  return ended;
}

}  // namespace dag
