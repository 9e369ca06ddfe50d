#pragma once
// How a job is written down: tasks with typed outputs, joined by passing a task's handle to another task.
// Nothing runs here; Session::submit (session.hpp) checks the graph and starts it.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dag/detail/builder.hpp"
#include "dag/group.hpp"
#include "dag/options.hpp"
#include "dag/sayings.hpp"

namespace dag {

namespace detail {
template <class F, class... Args>
auto add_task(Builder& builder, std::string_view name, F kernel, Args&&... args);
template <class F, class... Args>
auto add_family(Builder& builder, std::string_view name, Range range, F kernel, std::vector<Offset> before,
                Args&&... args);
template <class T, auto method, class... Args>
auto add_call(Builder& builder, std::uint32_t actor, Args&&... args);
template <class T, class... Args>
Actor<T> add_actor(Builder& builder, std::string_view name, Args&&... args);
template <class T>
Output<std::vector<std::byte>> add_save(Builder& builder, std::uint32_t actor,
                                        std::optional<std::chrono::nanoseconds> when_due = std::nullopt);
}  // namespace detail

/// A handle of a task and of the value it will leave: pass it to another task as an argument, or to
/// Job::get after submission. Copies name the same task. It must not outlive its Graph (or, for spawned
/// tasks, the kernel that spawned it).
template <class T>
class Output : public detail::TaskSayings<Output<T>> {
 public:
  using value_type = T;
  using detail::TaskSayings<Output<T>>::TaskSayings;

  /// For the library: its number in `builder`; throws Failure(handle_foreign) when it belongs to another.
  std::uint32_t index_in(const detail::Builder& builder) const {
    if (&builder != this->builder_) detail::throw_foreign_handle();
    return this->task_;
  }
  std::uint32_t index() const { return this->task_; }
};

/// A handle of a family of tasks (Graph::family), one for each point of its range. A policy that is set here
/// applies to every task of the family whose own policy was not changed before. Lifetime as Output's.
template <class T>
class Family : public detail::Sayings<Family<T>> {
 public:
  using value_type = T;
  Family(detail::Builder& builder, std::uint32_t first_task, Range range)
      : builder_(&builder), first_task_(first_task), range_(range) {}

  Range range() const { return range_; }
  /// The task at a point; throws Failure(usage) when there is none.
  Output<T> at(std::uint32_t row, std::uint32_t column = 0) const {
    if (row >= range_.rows || column >= range_.columns) detail::throw_outside_of(range_, row, column);
    return Output<T>(*builder_, first_task_ + row * range_.columns + column);
  }
  /// The tasks of one row, in the order of their columns.
  std::vector<Output<T>> row(std::uint32_t row) const {
    std::vector<Output<T>> outputs;
    outputs.reserve(range_.columns);
    for (std::uint32_t column = 0; column < range_.columns; ++column) outputs.push_back(at(row, column));
    return outputs;
  }

  const detail::Builder& builder() const { return *builder_; }

  /// For the library: as Output::index_in, of the first one.
  std::uint32_t first_in(const detail::Builder& builder) const {
    if (&builder != builder_) detail::throw_foreign_handle();
    return first_task_;
  }

 private:
  friend detail::Sayings<Family>;
  template <class Change>
  void change(Change&& change) const {
    builder_->change_family_policy(first_task_, change);
  }
  void change_effects(Effects effects) const {
    change([&](Policy& policy) { policy.effects = effects; });
  }

  detail::Builder* builder_;
  std::uint32_t first_task_;
  Range range_;
};

/// A task that returns nothing exists for its effects, and must declare before its first use what a second
/// run does: `.effects(dag::idempotent)`, before or behind its other options.
class [[nodiscard(
    "dag: a task that returns nothing must declare its effects: "
    ".effects(dag::idempotent)")]] UndeclaredEffects : public detail::TaskSayings<UndeclaredEffects> {
 public:
  using detail::TaskSayings<UndeclaredEffects>::TaskSayings;
  Output<void> effects(Effects effects) const { return Output<void>(*builder_, task_).effects(effects); }
};

namespace detail {
/// Calls `visit` with the numbers of the tasks that a handle names, in order.
template <class T, class Visit>
void each_task(const Output<T>& output, const Builder& builder, Visit&& visit) {
  visit(output.index_in(builder));
}
template <class T, class Visit>
void each_task(const Family<T>& family, const Builder& builder, Visit&& visit) {
  const std::uint32_t first = family.first_in(builder);
  for (std::uint32_t i = 0; i < family.range().rows * family.range().columns; ++i) visit(first + i);
}
template <class T, class Visit>
void each_task(const std::vector<Output<T>>& outputs, const Builder& builder, Visit&& visit) {
  for (const Output<T>& output : outputs) visit(output.index_in(builder));
}
}  // namespace detail

/// As an argument: the value if the task finished, else absent; the parameter is a std::optional<T>. Orders
/// the tasks as `.after_any_outcome` does.
template <class T>
detail::Maybe<T> maybe(const Output<T>& output) {
  return {output};
}
/// As an argument: the task waits until all have ended, and is skipped when fewer than `at_least` finished.
/// The parameter is a std::vector<std::optional<T>> in the order given.
template <class T>
detail::Quorum<T> quorum(std::uint32_t at_least, std::vector<Output<T>> outputs) {
  return {at_least, std::move(outputs)};
}

/// A handle of a job actor: an object of your class that lives on one device. Its calls run one at a time, in
/// the order they were added. Pass it to a task as an argument, and the task may spawn calls of it.
template <class T>
class Actor {
 public:
  using actor_type = T;
  Actor() = default;
  Actor(detail::Builder* builder, std::uint32_t index) : builder_(builder), index_(index) {}

  /// Adds a call of a method, `actor.call<&Ledger::add>(score)`: arguments as for Graph::task. The output is
  /// what the method returns.
  template <auto method, class... Args>
  auto call(Args&&... args) const {
    if (builder_ == nullptr) detail::throw_foreign_handle();
    return detail::add_call<T, method>(*builder_, index_, std::forward<Args>(args)...);
  }
  /// Adds a call that writes the actor's state by its `save`; the output is those bytes. The save is
  /// complete when it is settled, and so are the saves at the same border of all actors of its save group.
  /// A loss then goes back no further. Later calls wait until the save is complete and has copies on
  /// another node. So a loss costs at most the work between two borders, and a save takes as long as
  /// settling it.
  Output<std::vector<std::byte>> save() const {
    if (builder_ == nullptr) detail::throw_foreign_handle();
    return detail::add_save<T>(*builder_, index_);
  }
  /// A place where the actor is saved when a save is due: all actors of its save group are saved there, or
  /// none. Put it wherever they could resume, the same number of times for each; a place that is left out
  /// costs a few messages. Later calls do not wait until the save is settled: a loss before that goes back to
  /// the save before. `every`: time between two saves; 0: the best interval by how long saves hold the actors
  /// up and how often processes are lost, with at most 2 % of the time spent on saves.
  void save_when_due(std::chrono::nanoseconds every = {}) const {
    if (builder_ == nullptr) detail::throw_foreign_handle();
    detail::add_save<T>(*builder_, index_, every);
  }
  std::uint32_t index() const { return index_; }

 private:
  detail::Builder* builder_ = nullptr;  // null inside kernels: there Context::call adds calls
  std::uint32_t index_ = detail::none;
};

template <class T>
struct Codec<Actor<T>> {
  static void encode(Writer& w, const Actor<T>& actor) {
    w.mention_actor(actor.index());
    dag::encode(w, actor.index());
  }
  static Actor<T> decode(Reader& r) { return Actor<T>(nullptr, dag::decode<std::uint32_t>(r)); }
};

/// A task graph with a name. Not copyable; handles point into it.
class Graph {
 public:
  explicit Graph(std::string name);
  Graph(Graph&&) noexcept = default;
  Graph& operator=(Graph&&) noexcept = default;
  ~Graph();

  /// Adds a task. `kernel` is a function or a lambda without captures; each of `args` is a value that is
  /// copied into the graph, a handle (the task runs after that one finished and takes its output), a
  /// std::vector of handles or a Family (outputs as a std::vector, row by row), `maybe(...)` or
  /// `quorum(...)`. A first parameter `dag::Context&` is supplied by the runtime. `name` is the task's class:
  /// tasks may share it, and durations measured for one task of a class predict those of the others.
  template <class F, class... Args>
  auto task(std::string_view name, F kernel, Args&&... args) {
    return detail::add_task(*builder_, name, kernel, std::forward<Args>(args)...);
  }

  /// Adds a task for every point of `range`. Each task waits for the tasks of the family at the offsets
  /// `before` from its point, as far as the range has them:
  ///
  ///     g.family("cell", dag::Range{steps, width},
  ///              [](dag::Point at, std::vector<double> before, double left_edge) { ... },
  ///              {{-1, -1}, {-1, 0}, {-1, 1}}, 1.0)
  ///
  /// `kernel` takes its point; the outputs at `before`, in the order of the offsets, if it takes one
  /// parameter more than `args` has; and `args`. Values are the same for all tasks. Every task waits for an
  /// Output, and takes from another family of the same range the output at its own point. A family of any
  /// size travels as this line, and is a graph like any other where it runs. Throws Failure(usage) when an
  /// offset leads to the task itself or to a later one, and when the range is empty or too large.
  template <class F, class... Args>
  auto family(std::string_view name, Range range, F kernel, std::vector<Offset> before, Args&&... args) {
    return detail::add_family(*builder_, name, range, kernel, std::move(before), std::forward<Args>(args)...);
  }

  /// Declares a job actor of class T, made by T(args...) on the device where it will live. With
  /// `void save(dag::Writer&) const` and `static T restore(dag::Reader&)` it survives the loss of its
  /// process; without, it is made again and its calls run again from the first. Names are unique in a graph.
  template <class T, class... Args>
  Actor<T> actor(std::string_view name, Args&&... args) {
    return detail::add_actor<T>(*builder_, name, std::forward<Args>(args)...);
  }

  /// Actors that feed each other are saved, and rolled back, together.
  template <class... Ts>
  void save_together(const Actor<Ts>&... actors) {
    builder_->add_save_group({actors.index()...});
  }
  template <class T>
  void save_together(const std::vector<Actor<T>>& actors) {
    std::vector<std::uint32_t> indices;
    for (const auto& actor : actors) indices.push_back(actor.index());
    builder_->add_save_group(std::move(indices));
  }

  /// States the number of tasks that the job will have, spawned tasks included. Only displays depend on it:
  /// the job's progress and the estimate of its end.
  void total(std::uint64_t tasks) { builder_->set_total(tasks); }

  /// Makes a group of tasks that are supervised together; tasks and families join it by `.in(group)`:
  ///
  ///     auto gang = g.group("workers", dag::one_for_all, {.restarts = 3, .period = 60s});
  ///     for (int rank = 0; rank < 4; ++rank) workers.push_back(g.task("worker", work, rank).in(gang));
  ///
  /// If an attempt of a member fails, crashes its process, or is lost with its process or node, the member is
  /// tried again, and `strategy` says which members restart with it. Those of them that run are stopped
  /// (their kernels see Context::cancelled; no try is charged to them). None of them starts before the failed
  /// member may, which is after its backoff. Members that have ended stay ended, also when their output is
  /// made again; members that wait for their inputs go on waiting.
  ///
  /// Failures and crashes that lead to a restart count against `intensity`; losses do not. When there were
  /// `restarts` within `period` and another one is due, the group gives up: the failed member fails, with the
  /// group, its limit and the last failure as its causes, and all members that have not ended are cancelled
  /// with the same causes. The group also gives up when a member fails for good. A member without `.retry`
  /// (or with `attempts = 1`) may be tried as often as the group allows, at most 1,000 times; more attempts
  /// are a limit of the member beside the group's. A member that is cancelled or skipped for a cause outside
  /// it does not affect the group.
  ///
  /// A group decides what follows a failure, not when members run: some may wait for a lane while others
  /// run.
  ///
  /// Members start only from settled inputs, as tasks with effects do, and lie in one shard. Tasks that a
  /// member spawns are in no group; a member whose kernel has returned counts as ended. If the process that
  /// supervises the group dies, its successor counts from zero again, except for the crashes in the job's
  /// record. rest_for_one and one_for_all then also restart members whose predecessor in the group was lost
  /// after it may have run.
  ///
  /// Refused when the graph is submitted (usage): no restarts or no period, members that are calls of job
  /// actors or may run only once.
  Group group(std::string_view name, Strategy strategy, Intensity intensity = {}) {
    return Group(*builder_, builder_->add_group(name, strategy, intensity));
  }

  const std::string& name() const { return name_; }
  std::size_t size() const { return builder_->size(); }
  const detail::Builder& builder() const { return *builder_; }

 private:
  std::string name_;
  std::unique_ptr<detail::Builder> builder_;
};

/// The graph as Graphviz text; tasks on the critical path (by `takes`) are marked.
std::string dot(const Graph& graph);

}  // namespace dag

#include "dag/detail/add_actor.hpp"
#include "dag/detail/add_family.hpp"
#include "dag/detail/add_task.hpp"
