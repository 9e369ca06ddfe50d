#pragma once
// Options of tasks, set behind Graph::task and its kin, in any order.

#include <chrono>
#include <cstdint>

#include "dag/detail/builder.hpp"
#include "dag/detail/predicate.hpp"
#include "dag/group.hpp"
#include "dag/options.hpp"

namespace dag {

namespace detail {

/// Throws Failure(usage) when the task is a member of another group.
void join_group(Policy& policy, std::uint32_t group);

/// Options of a task, or of all tasks of a family. `Self` has `change(void (Policy&))`, and
/// `change_effects(Effects)`, which is in most graphs said of every task.
template <class Self>
class Sayings {
 public:
  /// Resources that the task occupies while it runs.
  Self needs(Needs needs) const {
    return changed([&](Policy& p) { p.needs = needs; });
  }
  /// How often the task is tried.
  Self retry(Retry retry) const {
    return changed([&](Policy& p) { p.retry = retry; });
  }
  /// An attempt that takes longer counts as failed.
  Self timeout(std::chrono::nanoseconds limit) const {
    return changed([&](Policy& p) { p.timeout = limit; });
  }
  Self priority(Priority priority) const {
    return changed([&](Policy& p) { p.priority = priority; });
  }
  /// Limit for the task's end, counted from submission. A deadline that the durations stated by `takes`
  /// cannot meet is refused at submission; while the job runs, a missed deadline is reported.
  Self deadline(std::chrono::nanoseconds from_submission) const {
    return changed([&](Policy& p) { p.deadline = from_submission; });
  }
  /// Expected duration of an attempt.
  Self takes(std::chrono::nanoseconds expected) const {
    return changed([&](Policy& p) { p.takes = expected; });
  }
  /// The kernel saves its state while it runs (Context::checkpoint). If an attempt is lost, the next one
  /// resumes from there (Context::restore). `every`: time between two saves; 0: the best interval by the cost
  /// of a save and how often processes are lost.
  Self checkpoint(std::chrono::nanoseconds every = std::chrono::nanoseconds(0)) const {
    return changed([&](Policy& p) { p.checkpoint = every; });
  }
  /// For a kernel whose output differs from run to run: it reads a clock, draws numbers, asks a service. Its
  /// output must never need recomputing. An output of more than 4 KiB (smaller ones are in the job's record)
  /// is copied, to another node if there is one, before anybody sees that the task is settled. Every output
  /// is kept until the job has ended, since a dependent task may have to run again. If both copies are lost
  /// before a new one is made, and the output is needed, the job stops with not_reproducible, as it does when
  /// a kernel varies and does not say so. Not for calls of job actors.
  Self varying() const {
    return changed([&](Policy& p) { p.varying = true; });
  }
  /// Keeps the output until nobody can ask for it any more. Outputs that no task reads are kept anyway. Other
  /// outputs are released some time after all tasks that read them have ended; a later Job::get of a released
  /// output throws Failure with output_released.
  Self keep() const {
    return changed([&](Policy& p) { p.keep = true; });
  }
  Self effects(Effects effects) const {
    const Self& self = static_cast<const Self&>(*this);
    self.change_effects(effects);
    return self;
  }
  Self join(Join rule) const {
    return changed([&](Policy& p) { p.join = rule; });
  }
  /// Makes the task a member of the group (Graph::group). Throws Failure: usage when it is a member of
  /// another group, handle_foreign when the group is another graph's. Spawned tasks are in no group.
  Self in(const Group& group) const {
    if (&static_cast<const Self&>(*this).builder() != &group.builder()) throw_foreign_handle();
    return changed([&](Policy& p) { join_group(p, group.index()); });
  }

 private:
  template <class Change>
  Self changed(Change&& change) const {
    const Self& self = static_cast<const Self&>(*this);
    self.change(change);
    return self;
  }
};

/// Options of a single task.
template <class Self>
class TaskSayings : public Sayings<Self> {
 public:
  TaskSayings(Builder& builder, std::uint32_t task) : builder_(&builder), task_(task) {}

  /// Runs after `others` finished (strong edges without data): an Output, a Family, or a std::vector of
  /// outputs.
  template <class Others>
  Self after(const Others& others) const {
    return joined(others, EdgeKind::strong);
  }
  /// Runs after `others` ended in any way (weak edges).
  template <class Others>
  Self after_any_outcome(const Others& others) const {
    return joined(others, EdgeKind::weak);
  }
  /// Runs only if `other` finished and `predicate` of its output holds; otherwise it is skipped.
  template <class U, class P>
  Self only_if(const Output<U>& other, P predicate) const {
    builder_->add_edge(other.index_in(*builder_), task_, EdgeKind::conditional, predicate_code<U>(predicate));
    return static_cast<const Self&>(*this);
  }

  const Builder& builder() const { return *builder_; }

 protected:
  Builder* builder_;
  std::uint32_t task_;

 private:
  friend Sayings<Self>;
  template <class Change>
  void change(Change&& change) const {
    builder_->change_policy(task_, change);
  }
  void change_effects(Effects effects) const { builder_->set_effects(task_, effects); }
  template <class Others>
  Self joined(const Others& others, EdgeKind kind) const {
    static_assert(!std::same_as<Others, UndeclaredEffects>,
                  "dag: a task that returns nothing must declare its effects: .effects(dag::idempotent)");
    static_assert(is_handle<Others> || std::same_as<Others, UndeclaredEffects>,
                  "dag: a task runs after an Output, a Family, or a std::vector of outputs");
    if constexpr (is_handle<Others>) {
      each_task(others, *builder_, [&](std::uint32_t other) { builder_->add_edge(other, task_, kind); });
    }
    return static_cast<const Self&>(*this);
  }
};

}  // namespace detail
}  // namespace dag
