#pragma once
// Graphs by name, and kernels as a test wants them: the value of a task is mixed from its name and
// inputs.

#include <catch2/catch.hpp>
#include <initializer_list>
#include <map>
#include <string>

#include "tests/unit/home/local_job.hpp"

namespace dag::test {

inline std::uint64_t name_value(std::string_view name) {
  std::uint64_t value = 17;
  for (const char c : name) value = mixed(value, static_cast<std::uint64_t>(c));
  return value;
}
inline std::uint64_t value_of(std::string_view name,
                              std::initializer_list<std::optional<std::uint64_t>> inputs = {}) {
  std::uint64_t value = name_value(name);
  for (const auto& input : inputs) value = mixed(value, input.value_or(absent_value));
  return value;
}

/// Kernels of one job. Copies share their counts.
struct Script {
  std::map<std::string, std::uint32_t> failures;  ///< number of tries of this name that fail
  std::map<std::string, Kernel> special;

  Kernel kernel() const {
    return [script = *this](const KernelCall& call) {
      const auto found = script.special.find(call.name);
      return found == script.special.end() ? script.ordinary(call) : found->second(call);
    };
  }
  AttemptEnd ordinary(const KernelCall& call) const {
    AttemptEnd ended;
    const auto failing = failures.find(call.name);
    if (failing != failures.end() && call.attempt_number <= failing->second && !call.again) {
      ended.outcome = Outcome::failed;
      ended.error = Error{ErrorCode::task_failed, "try " + std::to_string(call.attempt_number)};
      return ended;
    }
    std::uint64_t value = name_value(call.name);
    for (const detail::ArgumentView& view : call.views) {
      for (std::uint32_t i = 0; i < view.count; ++i) {
        value =
            mixed(value, view.values[i] ? detail::from_blob<std::uint64_t>(view.values[i]) : absent_value);
      }
    }
    auto* state = static_cast<ActorState*>(call.self);
    switch (call.call) {
      case detail::CallKind::create:
        *static_cast<void**>(call.self) = new ActorState{value};
        return ended;
      case detail::CallKind::call:
        value = state->value = mixed(state->value, value);
        break;
      case detail::CallKind::save:
        value = state->value;
        break;
      case detail::CallKind::ordinary:
        break;
    }
    if (call.returns) ended.output = detail::to_blob(value);
    for (const detail::Code& code : call.predicates) ended.conditions.push_back(holds(code, ended.output));
    return ended;
  }
};

/// Tasks by name, in the order of adding.
class Names {
 public:
  detail::Builder builder;

  /// With these tasks' outputs as inputs.
  TaskId task(const std::string& name, std::initializer_list<TaskId> inputs = {},
              Effects effects = Effects::pure) {
    return task(name, std::vector<TaskId>(inputs), effects);
  }
  TaskId task(const std::string& name, const std::vector<TaskId>& inputs, Effects effects = Effects::pure) {
    const std::uint32_t index = builder.add_task(name, {&place, nullptr}, true, effects);
    for (const TaskId input : inputs) builder.add_input(input.index);
    return {0, index};
  }
  void policy(TaskId task, const std::function<void(Policy&)>& change) {
    builder.change_policy(task.index, change);
  }
  void attempts(TaskId task, std::uint32_t attempts, Duration backoff = Duration{0}) {
    policy(task, [&](Policy& policy) { policy.retry = {.attempts = attempts, .backoff = backoff}; });
  }
  /// A group of these tasks.
  void group(const std::string& name, Strategy strategy, Intensity intensity,
             std::initializer_list<TaskId> members) {
    const std::uint32_t group = builder.add_group(name, strategy, intensity);
    for (const TaskId member : members) policy(member, [&](Policy& policy) { policy.group = group; });
  }
  void edge(TaskId from, TaskId to, detail::EdgeKind kind, detail::Predicate predicate = nullptr) {
    builder.add_edge(from.index, to.index, kind,
                     predicate == nullptr ? detail::Code{} : predicate_code(predicate));
  }
  TaskId actor(const std::string& name) {
    const auto code = [](detail::Thunk thunk) {
      return detail::Code{reinterpret_cast<const void*>(thunk), nullptr};
    };
    const std::uint32_t actor =
        builder.add_actor(name, code(save_state_thunk), code(restore_state_thunk), code(destroy_state_thunk));
    const std::uint32_t create = builder.add_task(name, {&place, nullptr}, false, Effects::pure);
    builder.set_call(actor, detail::CallKind::create);
    return {0, create};
  }
  TaskId call(std::uint32_t actor, const std::string& name, std::initializer_list<TaskId> inputs = {},
              detail::CallKind kind = detail::CallKind::call) {
    const TaskId added = task(name, inputs);
    builder.set_call(actor, kind);
    return added;
  }

 private:
  static inline const char place = 0;
};

/// A test that calls it is run with either.
inline Representation both() { return GENERATE(Representation::as_needed, Representation::supervised); }

/// Processes 0 (the cell), 1 and 2; shard 0 at process 1.
inline LocalJobOptions home_at_1(Representation representation) {
  LocalJobOptions options;
  options.processes = 3;
  options.homes = {1};
  options.representation = representation;
  return options;
}

/// For LocalJob::hold.
template <class Message>
bool is_a(const LocalJob::Mail& mail) {
  return std::holds_alternative<Message>(mail.message);
}

/// The end of a kernel that spawns.
inline AttemptEnd spawning(const Names& names, std::uint32_t becomes = none) {
  AttemptEnd ended;
  ended.spawned = std::make_shared<const detail::Fragment>(names.builder.sealed());
  ended.becomes = becomes;
  return ended;
}

}  // namespace dag::test
