#pragma once
// Collects tasks and edges into a Fragment: behind dag::Graph in the client, behind dag::Context in a kernel
// that spawns. Not a public interface; the templates of graph.hpp and context.hpp call it. It is one thread's
// at a time, also for sealing.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "dag/codec.hpp"
#include "dag/detail/call_site.hpp"
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
  std::uint32_t add_task(std::string_view name, const Code& code, bool returns, Effects effects) {
    const std::uint32_t task = draft_.size();
    CallSite& site = sites_[CallSite::place_of(name, code)];
    if (!last_is_as_expected() || !room_for_task() || !site.expects(code, returns, effects) ||
        !equal_text(draft_.names[site.name_index], name)) [[unlikely]] {
      return add_task_slowly(name, code, returns, effects);
    }
    draft_.task_kinds.push_back(site.expected);
    draft_.first_edge.push_back(static_cast<std::uint32_t>(draft_.edges.size()));
    if (!draft_.first_literal.empty()) {
      draft_.first_literal.push_back(static_cast<std::uint32_t>(draft_.task_literals.size()));
    }
    begin_as_expected(site);
    return task;
  }
  void add_literal(const Writer& value);
  /// The encoded bytes of a value that names no actors, shared.
  void add_literal(Blob value);
  /// The same for a value of at most Blob::inline_bytes_max bytes.
  void add_word(Blob value) {
    if (draft_.first_literal.empty() || !has_room(draft_.literals) || !has_room(draft_.task_literals) ||
        !expects(ArgumentKind::literal, static_cast<std::uint32_t>(draft_.task_literals.size()) -
                                            draft_.first_literal.back())) [[unlikely]] {
      return add_literal(std::move(value));
    }
    ++last_.next_argument;
    draft_.task_literals.push_back(static_cast<std::uint32_t>(draft_.literals.size()));
    draft_.literals.push_back(std::move(value));
  }
  void add_input(std::uint32_t predecessor) {
    if (!has_room(draft_.edges) || predecessor + 1 >= draft_.size() ||
        !expects(ArgumentKind::input,
                 static_cast<std::uint32_t>(draft_.edges.size()) - draft_.first_edge.back())) [[unlikely]] {
      return add_input_slowly(predecessor);
    }
    ++last_.next_argument;
    draft_.edges.emplace_back(predecessor, EdgeKind::strong);
  }
  void add_maybe(std::uint32_t predecessor);
  /// `predecessors` in order; `quorum` as in Argument, with weak edges when `weak`.
  void add_gather(const std::vector<std::uint32_t>& predecessors);
  void add_quorum(const std::vector<std::uint32_t>& predecessors, std::uint32_t quorum);

  /// Adds tasks for all points of a range. Returns the first one's index, which names the family. Throws
  /// Failure(usage) when the offsets lead forward, or when the range is empty or too large.
  std::uint32_t add_family(FamilySpec spec);

  /// Only a conditional edge has a predicate.
  void add_edge(std::uint32_t predecessor, std::uint32_t successor, EdgeKind kind, Code predicate);
  void add_edge(std::uint32_t predecessor, std::uint32_t successor, EdgeKind kind) {
    if (last_.site == nullptr || successor + 1 != draft_.size() || predecessor >= successor ||
        kind == EdgeKind::conditional || !has_room(draft_.edges)) [[unlikely]] {
      return add_edge(predecessor, successor, kind, {});
    }
    draft_.edges.emplace_back(predecessor, kind);
  }

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
  /// The commonest change: of the task that was added last, and that has no other option.
  void set_effects(std::uint32_t task, Effects effects) {
    const std::uint32_t plain = plain_policies_[static_cast<std::size_t>(effects)];
    if (last_.site == nullptr || task + 1 != draft_.size() || last_.policy != last_.site->first_policy ||
        plain == none) [[unlikely]] {
      return change_policy(task, [&](Policy& policy) { policy.effects = effects; });
    }
    last_.policy = plain;
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

  /// True: seal() gives the arrays that were made here, whose indices all lead somewhere.
  bool is_sealed_as_added() const { return sealed_ && !as_added_; }
  /// True: each task waits for tasks with lower numbers only, so none waits for itself.
  bool is_in_order() const { return in_order_; }

 private:
  struct Index;  // what was added before, for finding it again

  /// To be called before every change: holders of the sealed fragment keep it unchanged.
  void open() {
    if (sealed_) [[unlikely]]
      go_on();
  }
  void go_on();
  std::uint32_t add_task_slowly(std::string_view name, const Code& code, bool returns, Effects effects);
  void add_input_slowly(std::uint32_t predecessor);
  std::uint32_t plain_policy(Effects effects);

  template <class T>
  static bool has_room(const std::vector<T>& values) {
    return values.size() < values.capacity();
  }
  /// False for a sealed graph: the draft is empty then.
  bool room_for_task() const {
    return has_room(draft_.task_kinds) && has_room(draft_.first_edge) &&
           (draft_.first_literal.empty() || has_room(draft_.first_literal));
  }
  void begin_as_expected(CallSite& site) { last_ = {&site, site.first_policy, site.first_argument}; }
  /// The last task came out as its call site expected: there is nothing left to do for it.
  bool last_is_as_expected() const {
    return last_.site != nullptr && last_.next_argument == last_.site->end_argument &&
           last_.policy == last_.site->policy;
  }
  /// The last task's next argument was such a one in the task before from the same place.
  bool expects(ArgumentKind kind, std::uint32_t first) const {
    if (last_.site == nullptr || last_.next_argument == last_.site->end_argument) return false;
    const Argument& next = draft_.arguments[last_.next_argument];
    return next.kind == kind && next.first == first;
  }
  void leave_site() const;
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

  /// The last task while it is like the one before from its call site, and may still get arguments. It is of
  /// the expected kind already.
  struct Last {
    CallSite* site = nullptr;  ///< null: there is no such task
    std::uint32_t policy = none;
    std::uint32_t next_argument = 0;  ///< place in `arguments`
  };
  mutable Last last_;
  std::array<CallSite, CallSite::places> sites_ = {};
  /// By effects: the policy that says nothing else. `none`: it was not met yet.
  static constexpr std::size_t effects_count = static_cast<std::size_t>(Effects::staged) + 1;
  std::array<std::uint32_t, effects_count> plain_policies_;
  bool in_order_ = true;
};

}  // namespace dag::detail
