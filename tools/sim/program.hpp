#pragma once
// The simulated job: a random graph, its kernels, and its expected ends. Tasks are recognised by their salt
// (the first literal of each), which spawning makes anew from the spawning attempt's value, so the same task
// is recognised by any number.

#include <map>
#include <memory>
#include <optional>

#include "libdag/job/attempt.hpp"
#include "libdag/job/messages.hpp"
#include "libdag/outputs/digest.hpp"
#include "tests/support/oracle.hpp"

namespace dag::sim {

struct Known {
  const test::RandomGraph* graph = nullptr;
  std::uint32_t task = 0;
  std::optional<std::uint64_t> parent_value;
  test::Expected expected;
};

class Program {
 public:
  explicit Program(test::RandomGraph graph) : graph_(std::move(graph)) {
    expectation_ = test::oracle(graph_);
    learn(graph_, std::nullopt, expectation_);
  }
  /// A program with its own expected ends (the oracle knows no spawned calls).
  Program(test::RandomGraph graph, std::map<std::uint64_t, Known> expected,
          const std::map<std::uint64_t, const test::RandomGraph*>& graphs)
      : graph_(std::move(graph)), known_(std::move(expected)) {
    // Graphs below the top have not moved: they lie in vectors.
    for (auto& [salt, known] : known_) known.graph = known.parent_value ? graphs.at(salt) : &graph_;
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const test::RandomGraph& graph() const { return graph_; }
  const Known* find(std::uint64_t salt) const {
    const auto found = known_.find(salt);
    return found == known_.end() ? nullptr : &found->second;
  }
  std::size_t size() const { return known_.size(); }

  /// Some kernels take their process down instead of throwing: kernels that always fail, and kernels that do
  /// so once and have so many tries that a try which is counted twice (a lost home had started another one)
  /// does not use them up.
  static bool crashes(const Known& known, std::uint64_t salt) {
    const test::RandomTask& task = known.graph->tasks[known.task];
    const detail::Fragment& fragment = known.graph->fragment;
    const std::uint32_t attempts = test::attempts_of(fragment.policy(known.task));
    return salt % 2 == 0 && (task.failures >= attempts || (task.failures == 1 && attempts >= 4));
  }
  /// As often as it is tried.
  static bool crashes_always(const Known& known) {
    return known.graph->tasks[known.task].failures >=
           test::attempts_of(known.graph->fragment.policy(known.task));
  }

 private:
  void learn(const test::RandomGraph& graph, std::optional<std::uint64_t> parent_value,
             const test::Expectation& expected) {
    for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
      std::uint64_t salt = graph.tasks[task].salt;
      if (parent_value) salt = test::mixed(salt, *parent_value);
      known_[salt] = {&graph, task, parent_value, expected.tasks[task]};
      const auto below = expected.spawned.find(task);
      if (below == expected.spawned.end()) continue;
      // The oracle knows the value at a task's end; the value of its own kernel is mixed again from there.
      // The salts below depend on it, so it is found by running.
      spawned_of_[salt] = &below->second;
    }
  }

 public:
  /// The fragment that the kernel of a task spawns when it returned `value`; null when there is none. Learns
  /// the expected ends below.
  std::shared_ptr<const detail::Fragment> spawn(std::uint64_t salt, std::uint64_t value,
                                                std::uint32_t& becomes) {
    const auto found = known_.find(salt);
    if (found == known_.end()) return nullptr;
    const Known known = found->second;
    const test::RandomTask& task = known.graph->tasks[known.task];
    if (task.spawns == test::none) return nullptr;
    const test::RandomGraph& spawned = known.graph->spawned[task.spawns];
    becomes = spawned.becomes;
    if (const auto below = spawned_of_.find(salt); below != spawned_of_.end()) {
      learn(spawned, value, *below->second);
    }
    return std::make_shared<const detail::Fragment>(test::instantiated(spawned, value));
  }

 private:
  test::RandomGraph graph_;
  test::Expectation expectation_;
  std::map<std::uint64_t, Known> known_;
  std::map<std::uint64_t, const test::Expectation*> spawned_of_;
};

/// In jobs with varying kernels: true if this task's kernel varies. Then: its value.
inline bool varies(std::uint64_t salt) { return salt % 3 == 0; }
inline std::uint64_t varied(std::uint64_t value, AttemptId id) {
  return test::mixed(test::mixed(value, id.epoch.count), id.number);
}

/// A task saves a digest of its inputs, so that an attempt can tell whether a state is from its own inputs.
inline std::uint64_t saved_by(const Attempt& attempt) {
  std::uint64_t value = 11;
  for (const Blob& blob : attempt.blobs) value = test::mixed(value, blob ? digest_of(blob) : 1);
  return value;
}

/// Runs the kernel of an attempt for real. `self` is the actor's object slot.
struct KernelRun {
  AttemptEnd ended;
  std::uint64_t salt = 0;
  bool known = false;
  bool crashes = false;  ///< if this process may
  bool crashes_always = false;
};
inline KernelRun run_kernel(Program& program, TaskId task, AttemptId id, const detail::Code& code,
                            bool returns, std::uint32_t attempt_number,
                            const std::vector<detail::ArgumentView>& views, void* self,
                            const std::vector<detail::Code>& predicates, bool varying = false) {
  KernelRun run;
  run.ended.task = task;
  run.ended.id = id;
  run.salt = detail::from_blob<std::uint64_t>(views.at(0).values[0]);
  const Known* known = program.find(run.salt);
  run.known = known != nullptr;
  if (known != nullptr && attempt_number <= known->graph->tasks[known->task].failures) {
    run.crashes = Program::crashes(*known, run.salt);
    run.crashes_always = run.crashes && Program::crashes_always(*known);
    run.ended.outcome = Outcome::failed;
    run.ended.error = Error{ErrorCode::task_failed, "injected"};
    return run;
  }
  detail::Call call;
  call.arguments = views.data();
  call.argument_count = static_cast<std::uint32_t>(views.size());
  call.self = self;
  reinterpret_cast<detail::Thunk>(const_cast<void*>(code.thunk))(call);
  run.ended.output = call.result;
  std::uint64_t value =
      call.result ? detail::from_blob<std::uint64_t>(call.result) : test::value_of_arguments(call);
  if (varying && self == nullptr && returns && varies(run.salt)) {
    value = varied(value, id);
    run.ended.output = detail::to_blob(value);
  }
  if (!returns) run.ended.output = {};
  run.ended.spawned = program.spawn(run.salt, value, run.ended.becomes);
  if (!run.ended.spawned) run.ended.becomes = detail::none;
  if (run.ended.becomes != detail::none)
    run.ended.output = {};  // A kernel that returns a handle returns no value.
  for (const detail::Code& predicate : predicates) {
    const auto holds = reinterpret_cast<detail::Predicate>(const_cast<void*>(predicate.thunk));
    // If the task becomes another, the other one decides the conditions.
    run.ended.conditions.push_back(run.ended.becomes == detail::none &&
                                   holds(predicate.function, run.ended.output));
  }
  return run;
}

}  // namespace dag::sim
