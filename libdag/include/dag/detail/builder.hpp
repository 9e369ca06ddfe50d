#pragma once
// Collects tasks and edges into a Fragment: behind dag::Graph in the client, behind dag::Context in a kernel
// that spawns. Not a public interface; the templates of graph.hpp and context.hpp call it. It is one thread's
// at a time, also for sealing.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "dag/codec.hpp"
#include "dag/detail/fragment.hpp"

namespace dag::detail {

/// The properties that all tasks of a family share.
struct FamilySpec {
  std::string_view name;
  Code code;
  bool returns = false;
  Effects effects = Effects::undeclared;
  Range range;
  std::vector<Offset> before;
  /// The kernel's second parameter is a vector of outputs at `before`. Else they are only waited for.
  bool reads_before = false;
  /// A further parameter: a value, the output of a task, or the outputs of another family one by one.
  struct Parameter {
    Blob value;
    std::uint32_t task = none;
    bool each = false;
  };
  std::vector<Parameter> parameters;
};

class Builder {
 public:
  Builder();
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// Begins a task; the argument functions that follow describe its parameters in order. Returns its index.
  std::uint32_t add_task(std::string_view name, Code code, bool returns, Effects effects);
  void add_literal(const Writer& value);
  /// The encoded bytes of a value that names no actors, shared.
  void add_literal(Blob value);
  void add_input(std::uint32_t predecessor);
  void add_maybe(std::uint32_t predecessor);
  /// `predecessors` in order; `quorum` as in Argument, with weak edges when `weak`.
  void add_gather(const std::vector<std::uint32_t>& predecessors);
  void add_quorum(const std::vector<std::uint32_t>& predecessors, std::uint32_t quorum);

  /// Adds tasks for all points of a range. Returns the first one's index, which names the family. Throws
  /// Failure(usage) when the offsets lead forward, or when the range is empty or too large.
  std::uint32_t add_family(FamilySpec spec);

  void add_edge(std::uint32_t predecessor, std::uint32_t successor, EdgeKind kind, Code predicate = {});

  /// Declares a job actor; its create task must be added next, by add_task and the argument functions.
  std::uint32_t add_actor(std::string_view name, Code save, Code restore, Code destroy);
  /// Makes the last added task a call of an actor, in order behind the calls added before it.
  void set_call(std::uint32_t actor, CallKind kind);
  void add_save_group(std::vector<std::uint32_t> actors) {
    open();
    draft_.save_groups.push_back(std::move(actors));
  }

  void set_total(std::uint64_t tasks) {
    open();
    draft_.total = tasks;
  }

  /// Returns its index.
  std::uint32_t add_group(std::string_view name, Strategy strategy, Intensity intensity);

  /// Changes the policy of a task. Sealing joins tasks with equal policies again.
  template <class Change>
  void change_policy(std::uint32_t task, Change&& change) {
    open();
    Policy policy = policy_of(task);
    change(policy);
    set_policy(task, policy);
  }
  /// Changes the policy of all tasks of a family.
  template <class Change>
  void change_family_policy(std::uint32_t first_task, Change&& change) {
    open();
    each_family_kind(first_task, [&](std::uint32_t kind) {
      Policy policy = draft_.policies[draft_.kinds[kind].policy];
      change(policy);
      return with_policy(kind, policy);
    });
  }

  /// The fragment in its final order: in-edges of each task contiguous. The fragment is shared until the
  /// builder goes on, so a graph that is submitted again is not made again.
  const std::shared_ptr<const Fragment>& seal() const;
  /// A copy of the sealed fragment.
  Fragment sealed() const { return *seal(); }
  /// The number of tasks.
  std::uint32_t size() const { return (as_added_ ? *as_added_ : sealed_ ? *sealed_ : draft_).size(); }
  bool empty() const { return size() == 0; }
  /// Distinguishes builders, also after one is gone, so a handle of another graph is noticed.
  std::uint64_t serial() const { return serial_; }

 private:
  struct Index;  // what was added before, for finding it again

  /// To be called before every change: holders of the sealed fragment keep it unchanged.
  void open() {
    if (sealed_) [[unlikely]]
      go_on();
  }
  void go_on();
  void add_argument(ArgumentKind kind, std::uint32_t first, std::uint32_t count, std::uint32_t quorum);
  void add_literal_argument(std::uint32_t literal);
  std::uint32_t literal_of(Blob value);
  bool last_is_open() const;
  void close_last() const;
  std::uint32_t next_in_edge();
  void add_in_edge(std::uint32_t predecessor, EdgeKind kind);
  const Policy& policy_of(std::uint32_t task) const;
  void set_policy(std::uint32_t task, const Policy& policy);
  std::uint32_t with_policy(std::uint32_t kind, const Policy& policy);
  FamilyDraft& family_at(std::uint32_t first_task);
  std::uint32_t kind_of_family(TaskKind kind, const FamilySpec& spec, std::uint32_t before);
  /// Replaces each kind of the family's tasks, but for tasks that were changed alone, by `change(kind)`.
  void each_family_kind(std::uint32_t first_task, const std::function<std::uint32_t(std::uint32_t)>& change);
  void write_out_family_of(std::uint32_t task);

  // The graph is in `sealed_` while that is set, else in `draft_`. Sealing changes nothing that can be seen.
  mutable Fragment draft_;
  mutable std::shared_ptr<const Fragment> sealed_;
  /// The graph as it was added. In `sealed_` a task that stages files is two tasks (graph/staging.hpp).
  mutable std::shared_ptr<const Fragment> as_added_;
  std::unique_ptr<Index> index_;
  std::uint64_t serial_;
};

}  // namespace dag::detail
