#pragma once
// A training-like job: stages are job actors in save groups, steps are spawned one by one by a task that
// becomes the next step, the stages are saved every few steps, or when it is time. The expected ends are
// found by running it in order, in one go: the calls of an actor run in the order of adding, in spite of all
// faults.

#include <map>

#include "tools/sim/program.hpp"

namespace dag::sim {

struct StagesOptions {
  std::uint32_t actors_max = 4;
  std::uint32_t steps_max = 8;
  std::uint32_t tasks_min = 0;  ///< of all steps together, independent of the draw
  bool saves = true;
  bool failures = true;
  bool saves_left_out = false;  ///< when it is not time: Actor::save_when_due
};

class Stages {
 public:
  Stages(Random& random, StagesOptions options) : random_(random), options_(options) {
    actors_ = 1 + below(options.actors_max);
    steps_ = 1 + below(options.steps_max);
    micro_batches_ = 1 + below(3);
    const std::uint32_t calls_per_step = 2 * micro_batches_ * actors_;
    steps_ = std::max(steps_, (options.tasks_min + calls_per_step - 1) / calls_per_step);
    save_every_ = options.saves ? 1 + below(3) : 1000;
    if (options.saves_left_out) when_due_ = std::chrono::milliseconds(below(3) * below(20));
    top();
  }
  std::unique_ptr<Program> program() {
    // Run in order. Values go by task of one level; states by actor.
    expect(graph_, std::nullopt);
    return std::make_unique<Program>(std::move(graph_), std::move(expected_), std::move(relink_));
  }

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_.below(limit)); }
  static detail::Code code(detail::Thunk thunk) { return {reinterpret_cast<const void*>(thunk), nullptr}; }

  struct Draft {
    detail::Builder builder;
    test::RandomGraph graph;
  };

  std::uint32_t add(Draft& draft, const std::string& name, detail::Thunk thunk, bool returns,
                    std::uint32_t handles = 0) {
    test::RandomTask task;
    task.salt = random_.next();
    std::uint32_t attempts = 1;
    if (options_.failures && random_.chance(0.1)) {
      attempts = 3;
      task.failures = 1 + below(2);
    }
    const std::uint32_t index =
        draft.builder.add_task(name, code(thunk), returns, returns ? Effects::pure : Effects::idempotent);
    draft.builder.change_policy(index, [&](Policy& policy) {
      policy.retry = {.attempts = attempts, .backoff = std::chrono::milliseconds(1)};
    });
    Writer salt;
    dag::encode(salt, task.salt);
    for (std::uint32_t actor = 0; actor < handles; ++actor) salt.mention_actor(actor);
    draft.builder.add_literal(salt);
    draft.graph.tasks.push_back(task);
    return index;
  }

  /// Step `step` of the training, as spawned by the task before it.
  test::RandomGraph level(std::uint32_t step) {
    Draft draft;
    std::vector<std::uint32_t> losses;
    std::vector<std::uint32_t> data;
    for (std::uint32_t batch = 0; batch < micro_batches_; ++batch) {
      std::uint32_t carried = add(draft, "data", test::value_thunk, true);
      for (std::uint32_t actor = 0; actor < actors_; ++actor) {
        const std::uint32_t call = add(draft, "forward", test::call_thunk, true);
        draft.builder.add_input(carried);
        draft.builder.set_call(actor, detail::CallKind::call);
        carried = call;
      }
      for (std::uint32_t actor = actors_; actor-- > 0;) {
        const std::uint32_t call = add(draft, "backward", test::call_thunk, true);
        draft.builder.add_input(carried);
        draft.builder.set_call(actor, detail::CallKind::call);
        carried = call;
      }
      losses.push_back(carried);
    }
    const std::uint32_t loss = add(draft, "loss", test::value_thunk, true);
    draft.builder.add_gather(losses);
    if (step % save_every_ == 0) {
      for (std::uint32_t actor = 0; actor < actors_; ++actor) {
        const std::uint32_t save = add(draft, "save", test::save_state_thunk, true);
        draft.builder.set_call(actor, detail::CallKind::save);
        draft.builder.change_policy(save, [&](Policy& policy) { policy.checkpoint = when_due_; });
      }
    }
    if (step + 1 < steps_) {
      const std::uint32_t next = add(draft, "step", test::value_thunk, true);
      draft.builder.add_input(loss);
      draft.graph.tasks[next].spawns = 0;
      draft.graph.spawned.push_back(level(step + 1));
      draft.graph.becomes = next;
    } else {
      draft.graph.becomes = loss;
    }
    draft.graph.fragment = draft.builder.sealed();
    return std::move(draft.graph);
  }

  void top() {
    Draft draft;
    std::vector<std::uint32_t> group;
    for (std::uint32_t actor = 0; actor < actors_; ++actor) {
      draft.builder.add_actor("stage" + std::to_string(actor), code(test::save_state_thunk),
                              code(test::restore_state_thunk), code(test::destroy_state_thunk));
      add(draft, "stage" + std::to_string(actor), test::create_thunk, false);
      draft.builder.change_policy(actor, [](Policy& policy) { policy.effects = Effects::pure; });
      draft.builder.set_call(actor, detail::CallKind::create);
      group.push_back(actor);
    }
    if (random_.chance(0.8)) draft.builder.add_save_group(group);
    const std::uint32_t train = add(draft, "train", test::value_thunk, true, actors_);
    draft.graph.tasks[train].spawns = 0;
    draft.graph.spawned.push_back(level(0));
    const std::uint32_t report = add(draft, "report", test::value_thunk, true);
    draft.builder.add_input(train);
    // A call that was added before the calls of the training, and waits for it.
    const std::uint32_t last = add(draft, "last", test::call_thunk, true);
    draft.builder.add_input(train);
    draft.builder.set_call(below(actors_), detail::CallKind::call);
    add(draft, "end", test::void_thunk, false);
    draft.builder.add_edge(report, last + 1, detail::EdgeKind::strong);
    draft.builder.add_edge(last, last + 1, detail::EdgeKind::weak);
    draft.graph.fragment = draft.builder.sealed();
    graph_ = std::move(draft.graph);
  }

  /// The value that the level ends with.
  std::optional<std::uint64_t> expect(const test::RandomGraph& graph,
                                      std::optional<std::uint64_t> parent_value) {
    const detail::Fragment& fragment = graph.fragment;
    std::vector<std::optional<std::uint64_t>> values(fragment.size());
    for (std::uint32_t task = 0; task < fragment.size(); ++task) {
      const detail::TaskKind& kind = fragment.kind(task);
      const auto in_edges = fragment.in_edges(task);
      std::uint64_t salt = graph.tasks[task].salt;
      if (parent_value) salt = test::mixed(salt, *parent_value);
      std::uint64_t value = salt;
      for (const detail::Argument& argument : fragment.arguments_of(task).subspan(1)) {
        value = test::mixed(value, argument.count);
        for (std::uint32_t k = 0; k < argument.count; ++k) {
          value = test::mixed(value, *values[in_edges[argument.first + k].task()]);
        }
      }
      switch (kind.call) {
        case detail::CallKind::create:
          states_[kind.actor] = value;
          break;
        case detail::CallKind::call:
          value = test::mixed(states_.at(kind.actor), value);
          states_[kind.actor] = value;
          break;
        case detail::CallKind::save:
          value = states_.at(kind.actor);
          break;
        default:
          break;
      }
      if (kind.returns) values[task] = value;
      if (graph.tasks[task].spawns != test::none) {
        values[task] = expect(graph.spawned[graph.tasks[task].spawns], value);
      }
      Known known;
      known.task = task;
      known.parent_value = parent_value;
      known.expected = {Outcome::finished, values[task], 1};
      expected_[salt] = known;
      relink_[salt] = &graph;
    }
    return graph.becomes == test::none ? std::nullopt : values[graph.becomes];
  }

  Random& random_;
  StagesOptions options_;
  std::uint32_t actors_ = 0, steps_ = 0, micro_batches_ = 0, save_every_ = 0;
  std::optional<Duration> when_due_;
  test::RandomGraph graph_;
  std::map<std::uint32_t, std::uint64_t> states_;
  std::map<std::uint64_t, Known> expected_;
  std::map<std::uint64_t, const test::RandomGraph*> relink_;
};

}  // namespace dag::sim
