#pragma once
// Random graphs, the same from the same seed, with everything a graph can say: strong, weak and conditional
// edges, joins, quorums, kernels that fail some times, job actors, spawning. The oracle finds the expected
// ends (oracle.hpp); each user runs the graph in its own way.
//
// Values are 64-bit numbers: mixed from a task's salt, its arguments in order, and for calls its actor's
// state. So a value is right only if the task was given the right inputs, and an actor's only if its calls
// ran in order. The kernels are real thunks: a fragment may be run by lanes as well as by a simulation, which
// can also call `mixed` itself. The salt is the first literal of each task.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "dag/detail/builder.hpp"
#include "libdag/base/random.hpp"

namespace dag::test {

inline constexpr std::uint32_t none = detail::none;
inline constexpr std::uint64_t absent_value = 0xAB5E27ULL;  // value of an absent input

inline std::uint64_t mixed(std::uint64_t seed, std::uint64_t value) {
  return Random(seed * 0x9E3779B97F4A7C15ULL + value).next();
}

struct RandomGraphOptions {
  std::uint32_t tasks_max = 40;
  std::uint32_t tasks_min = 1;  ///< of the graph itself, independent of the draw
  double inputs_mean = 1.6;     ///< in-edges of a task, about
  bool weak = true;             ///< order only, and as maybe
  bool conditional = true;
  bool joins = true;
  bool quorums = true;
  bool failures = true;
  bool retries = true;  ///< some tasks have several attempts
  /// For tasks that finish: tries that are used up when their process dies.
  std::uint32_t spare_attempts = 0;
  bool added_in_any_order = true;  ///< some edges without data lead to tasks that were added before
  std::uint32_t actors_max = 0;
  std::uint32_t spawn_depth_max = 0;
  bool once = false;  ///< tasks that may run only once, instead of idempotent ones and some pure ones
  bool exclusive =
      false;  ///< tasks that must not run twice at a time, instead of idempotent and some pure ones
  bool checkpoints = false;  ///< some tasks save their state
  /// Varying tasks: in the graph itself those with a salt that 3 divides, all of the spawned ones.
  bool varying = false;
  bool groups = false;       ///< some tasks that do not fail for good are in groups that do not give up
  bool thunks_fail = false;  ///< the thunks throw the injected failures, counted in this process
};

/// How often a task may be tried: one in a group that says nothing of it, as often as the group bears.
inline std::uint32_t attempts_of(const Policy& policy) {
  return policy.group && policy.retry.attempts == 1 ? 1000 : policy.retry.attempts;
}

/// Facts of a task that are not in the fragment.
struct RandomTask {
  std::uint64_t salt = 0;
  std::uint32_t failures = 0;   ///< number of attempts that fail before the next returns
  std::uint32_t spawns = none;  ///< index into RandomGraph::spawned: an attempt that returns has spawned it
};

struct RandomGraph {
  detail::Fragment fragment;
  std::vector<RandomTask> tasks;
  std::vector<RandomGraph> spawned;
  /// For a spawned graph: the task whose output becomes that of the spawning task; none: it keeps its own.
  std::uint32_t becomes = none;
  /// Failures that thunks still have to throw; their codes point in here.
  std::shared_ptr<std::deque<std::atomic<std::uint32_t>>> left = {};
};

// ---- The kernels
struct InjectedFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct ActorState {
  std::uint64_t value;
};

/// Makes an object in the storage that `self` names, from a saved state.
inline void restore_actor(const detail::Code& restore, const Blob& state, void* self) {
  const detail::ArgumentView saved{&state, 1};
  detail::Call call;
  call.arguments = &saved;
  call.argument_count = 1;
  call.self = self;
  reinterpret_cast<detail::Thunk>(const_cast<void*>(restore.thunk))(call);
}

/// salt, then the arguments: for each how many values it is made of, then the values.
inline std::uint64_t value_of_arguments(const detail::Call& call) {
  std::uint64_t value = detail::from_blob<std::uint64_t>(call.arguments[0].values[0]);
  for (std::uint32_t i = 1; i < call.argument_count; ++i) {
    const detail::ArgumentView& argument = call.arguments[i];
    value = mixed(value, argument.count);
    for (std::uint32_t k = 0; k < argument.count; ++k) {
      const Blob& blob = argument.values[k];
      value = mixed(value, blob ? detail::from_blob<std::uint64_t>(blob) : absent_value);
    }
  }
  return value;
}

inline void throw_if_planned(const detail::Call& call) {
  if (call.function == nullptr) return;
  auto& left =
      *const_cast<std::atomic<std::uint32_t>*>(static_cast<const std::atomic<std::uint32_t>*>(call.function));
  std::uint32_t now = left.load();
  while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {
  }
  if (now > 0) throw InjectedFailure("injected, " + std::to_string(now - 1) + " to come");
}

inline void value_thunk(detail::Call& call) {
  throw_if_planned(call);
  call.result = detail::to_blob(value_of_arguments(call));
}
inline void void_thunk(detail::Call& call) { throw_if_planned(call); }
inline void create_thunk(detail::Call& call) {
  throw_if_planned(call);
  *static_cast<void**>(call.self) = new ActorState{value_of_arguments(call)};
}
inline void call_thunk(detail::Call& call) {
  throw_if_planned(call);
  auto& state = *static_cast<ActorState*>(call.self);
  state.value = mixed(state.value, value_of_arguments(call));
  call.result = detail::to_blob(state.value);
}
inline void save_state_thunk(detail::Call& call) {
  call.result = detail::to_blob(static_cast<const ActorState*>(call.self)->value);
}
inline void restore_state_thunk(detail::Call& call) {
  *static_cast<void**>(call.self) =
      new ActorState{detail::from_blob<std::uint64_t>(call.arguments[0].values[0])};
}
inline void destroy_state_thunk(detail::Call& call) { delete static_cast<ActorState*>(call.self); }

// Predicates. The predicate of a task that returns nothing looks at nothing.
inline bool value_is_odd(const void*, const Blob& output) {
  return detail::from_blob<std::uint64_t>(output) % 2 == 1;
}
inline bool value_is_no_multiple_of_4(const void*, const Blob& output) {
  return detail::from_blob<std::uint64_t>(output) % 4 != 0;
}
inline bool always(const void*, const Blob&) { return true; }
inline bool never(const void*, const Blob&) { return false; }

/// How a predicate lies in a fragment, and back.
inline detail::Code predicate_code(detail::Predicate predicate) {
  return {reinterpret_cast<const void*>(predicate), nullptr};
}
inline bool holds(const detail::Code& code, const Blob& output) {
  return reinterpret_cast<detail::Predicate>(const_cast<void*>(code.thunk))(code.function, output);
}

// ---- Making one
class RandomGraphMaker {
 public:
  RandomGraphMaker(Random& random, const RandomGraphOptions& options) : random_(random), options_(options) {}

  RandomGraph make() { return make(0); }

 private:
  using Indices = std::vector<std::uint32_t>;

  /// A fragment under construction. `rank` is a hidden topological order: edges go from lower to higher. It
  /// mostly follows the order of adding.
  struct Draft {
    detail::Builder builder;
    RandomGraph graph;
    std::vector<double> rank;
    Indices last_call;  // of each actor
    std::vector<bool> returns;
    double returning = 0.85;  ///< of the tasks
  };

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_.below(limit)); }

  RandomGraph make(std::uint32_t depth) {
    Draft draft;
    draft.graph.left = std::make_shared<std::deque<std::atomic<std::uint32_t>>>();
    const std::uint32_t actors = depth == 0 && options_.actors_max > 0 ? below(options_.actors_max + 1) : 0;
    for (std::uint32_t actor = 0; actor < actors; ++actor) add_actor(draft, actor);
    if (depth == 0 && random_.chance(0.25)) draft.returning = 0.25;  // Homes handle most rows by words.
    const std::uint32_t drawn = 1 + below(depth == 0 ? options_.tasks_max : std::min(6u, options_.tasks_max));
    const std::uint32_t tasks = depth == 0 ? std::max(drawn, options_.tasks_min) : drawn;
    for (std::uint32_t i = 0; i < tasks; ++i) add_task(draft, depth);
    if (options_.added_in_any_order) add_edges_back(draft);
    if (options_.groups && depth == 0) add_groups(draft);
    draft.graph.fragment = draft.builder.sealed();
    return std::move(draft.graph);
  }

  void add_groups(Draft& draft) {
    const std::uint32_t groups = 1 + below(2);
    for (std::uint32_t group = 0; group < groups; ++group) {
      draft.builder.add_group("group" + std::to_string(group), static_cast<Strategy>(below(3)),
                              {.restarts = 1000, .period = std::chrono::seconds(1)});
    }
    const detail::Fragment so_far = draft.builder.sealed();
    for (std::uint32_t task = 0; task < so_far.size(); ++task) {
      const Policy& policy = so_far.policy(task);
      const bool for_good =
          policy.retry.attempts > 1 && draft.graph.tasks[task].failures >= policy.retry.attempts;
      if (for_good || so_far.kind(task).call != detail::CallKind::ordinary ||
          policy.effects == Effects::at_most_once || policy.effects == Effects::exclusive ||
          random_.chance(0.4)) {
        continue;
      }
      draft.builder.change_policy(task, [&](Policy& changed) { changed.group = below(groups); });
    }
  }

  void add_actor(Draft& draft, std::uint32_t actor) {
    const auto code = [](detail::Thunk thunk) {
      return detail::Code{reinterpret_cast<const void*>(thunk), nullptr};
    };
    const std::string name = "actor" + std::to_string(actor);
    draft.builder.add_actor(name, code(save_state_thunk), code(restore_state_thunk),
                            code(destroy_state_thunk));
    const std::uint32_t task = begin_task(draft, name, create_thunk, false, Effects::pure);
    draft.builder.set_call(actor, detail::CallKind::create);
    draft.rank.push_back(static_cast<double>(task));
    draft.last_call.push_back(task);
  }

  /// The task with its failures and its salt; its rank is the caller's to add.
  std::uint32_t begin_task(Draft& draft, const std::string& name, detail::Thunk thunk, bool returns,
                           Effects effects) {
    RandomTask task;
    task.salt = random_.next();
    std::uint32_t attempts = 1;
    if (options_.retries && random_.chance(0.4)) attempts = 2 + below(3);
    if (options_.failures && random_.chance(0.35)) task.failures = 1 + below(attempts + 1);
    if (task.failures < attempts) attempts += options_.spare_attempts;
    detail::Code code{reinterpret_cast<const void*>(thunk), nullptr};
    if (options_.thunks_fail && task.failures > 0) {
      draft.graph.left->emplace_back(task.failures);
      code.function = &draft.graph.left->back();
    }
    const std::uint32_t index = draft.builder.add_task(name, code, returns, effects);
    draft.builder.change_policy(index, [&](Policy& policy) {
      policy.retry = {.attempts = attempts, .backoff = std::chrono::milliseconds(1 + below(20))};
    });
    Writer salt;
    dag::encode(salt, task.salt);
    draft.builder.add_literal(salt);
    draft.graph.tasks.push_back(task);
    draft.returns.push_back(returns);
    return index;
  }

  void add_task(Draft& draft, std::uint32_t depth) {
    const bool is_call = !draft.last_call.empty() && random_.chance(0.3);
    const std::uint32_t actor = is_call ? below(static_cast<std::uint32_t>(draft.last_call.size())) : none;
    const bool returns = is_call || random_.chance(draft.returning);
    const auto thunk = is_call ? call_thunk : returns ? value_thunk : void_thunk;
    const std::uint32_t task = begin_task(draft, "t" + std::to_string(below(4)), thunk, returns,
                                          returns ? Effects::pure : Effects::idempotent);
    // Not all that return nothing have effects: a home handles the others by words
    // (libdag/home/by_words.cpp).
    if (!returns && draft.graph.tasks[task].salt % 4 != 0) {
      draft.builder.change_policy(task, [](Policy& policy) { policy.effects = Effects::pure; });
    }
    if (options_.once && !is_call && (!returns || random_.chance(0.3))) {
      draft.builder.change_policy(task, [](Policy& policy) {
        policy.effects = Effects::at_most_once;
        policy.retry.attempts = 1;
      });
    }
    if (options_.exclusive && !is_call && (!returns || random_.chance(0.3))) {
      draft.builder.change_policy(task, [](Policy& policy) { policy.effects = Effects::exclusive; });
    }
    if (options_.checkpoints && !is_call && random_.chance(0.4)) {
      draft.builder.change_policy(task, [](Policy& policy) {
        if (policy.effects != Effects::at_most_once) policy.checkpoint = std::chrono::nanoseconds(0);
      });
    }
    if (options_.varying && !is_call && (depth > 0 || draft.graph.tasks[task].salt % 3 == 0)) {
      draft.builder.change_policy(task, [](Policy& policy) { policy.varying = true; });
    }
    double rank = static_cast<double>(task) + 5 * random_.unit();
    if (is_call) rank = std::max(rank, draft.rank[draft.last_call[actor]] + 0.001);
    draft.rank.push_back(rank);

    double inputs = options_.inputs_mean * 2 * random_.unit();
    for (; inputs > random_.unit(); inputs -= 1) add_argument(draft, task);
    if (is_call) {
      draft.builder.set_call(actor, detail::CallKind::call);
      draft.last_call[actor] = task;
    }
    for (int more = 0; more < 2; ++more) {
      if (random_.chance(0.25)) add_order(draft, earlier(draft, task, false), task);
    }
    // Joins are for ordinary tasks: a call after one that failed would run on a state nobody can name.
    if (options_.joins && !is_call && random_.chance(0.4)) {
      const Join join = random_.chance(0.5) ? Join::one_success : Join::none_failed;
      draft.builder.change_policy(task, [&](Policy& policy) { policy.join = join; });
    }
    if (depth < options_.spawn_depth_max && !is_call && random_.chance(0.15))
      add_spawn(draft, task, depth, returns);
  }

  void add_spawn(Draft& draft, std::uint32_t task, std::uint32_t depth, bool returns) {
    RandomGraph spawned = make(depth + 1);
    if (returns && random_.chance(0.6)) {
      Indices returning;
      for (std::uint32_t i = 0; i < spawned.fragment.size(); ++i) {
        if (spawned.fragment.kind(i).returns) returning.push_back(i);
      }
      if (!returning.empty())
        spawned.becomes = returning[below(static_cast<std::uint32_t>(returning.size()))];
    }
    draft.graph.tasks[task].spawns = static_cast<std::uint32_t>(draft.graph.spawned.size());
    draft.graph.spawned.push_back(std::move(spawned));
  }

  /// A task before `task` in both orders, or none.
  std::uint32_t earlier(Draft& draft, std::uint32_t task, bool must_return) {
    for (int attempt = 0; attempt < 8 && task > 0; ++attempt) {
      // Mostly close by, so graphs get deep.
      const std::uint32_t reach = random_.chance(0.7) ? std::min(task, 8u) : task;
      const std::uint32_t other = task - 1 - below(reach);
      if (draft.rank[other] < draft.rank[task] && (!must_return || draft.returns[other])) return other;
    }
    return none;
  }

  Indices several(Draft& draft, std::uint32_t task) {
    Indices found;
    for (std::uint32_t wanted = 1 + below(4); wanted > 0; --wanted) {
      const std::uint32_t other = earlier(draft, task, true);
      if (other != none) found.push_back(other);
    }
    return found;
  }

  void add_argument(Draft& draft, std::uint32_t task) {
    const double dice = random_.unit();
    if (dice < 0.15) return draft.builder.add_gather(several(draft, task));
    if (dice < 0.3 && options_.quorums) {
      const Indices from = several(draft, task);
      return draft.builder.add_quorum(from, below(static_cast<std::uint32_t>(from.size()) + 1));
    }
    const std::uint32_t other = earlier(draft, task, true);
    if (other == none) return;
    if (dice < 0.45 && options_.weak) return draft.builder.add_maybe(other);
    draft.builder.add_input(other);
  }

  void add_order(Draft& draft, std::uint32_t from, std::uint32_t to) {
    if (from == none) return;
    const double dice = random_.unit();
    if (dice < 0.35 && options_.conditional) {
      const bool likely = random_.chance(0.5);
      const detail::Predicate predicate = draft.returns[from]
                                              ? (likely ? value_is_no_multiple_of_4 : value_is_odd)
                                              : (likely ? always : never);
      return draft.builder.add_edge(from, to, detail::EdgeKind::conditional, predicate_code(predicate));
    }
    draft.builder.add_edge(from, to,
                           dice < 0.65 && options_.weak ? detail::EdgeKind::weak : detail::EdgeKind::strong);
  }

  /// Edges from tasks that were added later, where the hidden order allows them.
  void add_edges_back(Draft& draft) {
    const auto tasks = static_cast<std::uint32_t>(draft.rank.size());
    for (std::uint32_t i = 0; i < tasks; ++i) {
      if (!random_.chance(0.1)) continue;
      const std::uint32_t from = below(tasks);
      const std::uint32_t to = from - std::min(from, below(6));
      if (from != to && draft.rank[from] < draft.rank[to]) add_order(draft, from, to);
    }
  }

  Random& random_;
  RandomGraphOptions options_;
};

inline RandomGraph random_graph(Random& random, const RandomGraphOptions& options = {}) {
  return RandomGraphMaker(random, options).make();
}

/// The fragment of a kernel that spawns `spawned`: its salts depend on the spawning attempt's value.
inline detail::Fragment instantiated(const RandomGraph& spawned, std::uint64_t parent_value) {
  detail::Fragment fragment = spawned.fragment;
  for (std::size_t i = 0; i < spawned.tasks.size(); ++i) {
    const std::uint32_t salt = fragment.task_literals[fragment.first_literal[i]];
    fragment.literals[salt] = detail::to_blob(mixed(spawned.tasks[i].salt, parent_value));
  }
  return fragment;
}

}  // namespace dag::test
