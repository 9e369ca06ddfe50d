// Decides whether a fragment's indices lead somewhere. Builder makes no other fragments; this is for what
// came over the wire from a process that is not trusted, so nothing is followed before it was looked at.

#include <span>
#include <string>

#include "libdag/base/limits.hpp"
#include "libdag/graph/check.hpp"

namespace dag {
namespace {

using detail::Argument;
using detail::ArgumentKind;
using detail::CallKind;
using detail::EdgeEnd;
using detail::EdgeKind;
using detail::Fragment;
using detail::TaskKind;

Error broken(std::string what) {
  return {ErrorCode::value_invalid, "the graph is damaged: " + std::move(what),
          "it was not made by this version's dag::Graph, or changed on its way"};
}

Error broken(const char* what, std::size_t task) {
  return broken(what + (" of task " + std::to_string(task)));
}

Error too_many(const char* what, std::size_t there, std::uint32_t allowed) {
  return {ErrorCode::usage,
          "the graph has " + std::to_string(there) + " " + what + ", more than the " +
              std::to_string(allowed) + " that are allowed",
          "let tasks spawn their parts, or give each task more work"};
}

/// [first, first + count) lies in [0, size).
bool within(std::uint64_t first, std::uint64_t count, std::size_t size) {
  return first <= size && count <= size - first;
}

// The next functions look at each element, millions of times. They return the name of the fault, or null; the
// caller makes the sentence, once.

const char* wrong_with_kind(const Fragment& fragment, const TaskKind& kind, std::size_t actors) {
  if (kind.code >= fragment.codes.size()) return "the code";
  if (kind.name >= fragment.names.size()) return "the name";
  if (kind.policy >= fragment.policies.size()) return "the policy";
  if (!within(kind.first_argument, kind.argument_count, fragment.arguments.size())) return "the arguments";
  if (kind.call > CallKind::save) return "the kind of call";
  const bool is_call = kind.call != CallKind::ordinary;
  if (is_call ? kind.actor >= actors : kind.actor != detail::none) return "the actor";
  if (kind.call == CallKind::create && kind.actor >= fragment.actors.size()) return "the actor that is made";
  return nullptr;
}

/// Its kind and its places in the arrays of the others.
const char* wrong_with_task(const Fragment& fragment, std::uint32_t task) {
  if (fragment.task_kinds[task] >= fragment.kinds.size()) return "the kind";
  if (fragment.first_edge[task] > fragment.first_edge[task + 1]) return "the edges";
  if (!fragment.first_literal.empty() && fragment.first_literal[task] > fragment.first_literal[task + 1]) {
    return "the literals";
  }
  const TaskKind& kind = fragment.kind(task);
  const bool made_by_another =
      kind.call == CallKind::create && fragment.actors[kind.actor].create_task != task;
  return made_by_another ? "the actor that is made" : nullptr;
}

const char* wrong_with_edge(const Fragment& fragment, EdgeEnd end) {
  if (end.task() >= fragment.size()) return "an edge";
  return end.kind() > EdgeKind::conditional ? "the kind of an edge" : nullptr;
}

const char* wrong_with_argument(const Fragment& fragment, const Argument& argument, std::uint32_t task) {
  if (argument.kind > ArgumentKind::point) return "the kind of an argument";
  if (argument.kind == ArgumentKind::point) {
    return argument.count == 1 && fragment.family_of(task) != nullptr ? nullptr : "the point";
  }
  if (argument.kind == ArgumentKind::literal) {
    if (fragment.first_literal.empty()) return "a literal argument";
    const std::uint32_t first = fragment.first_literal[task];
    const bool there = argument.first < fragment.first_literal[task + 1] - first &&
                       fragment.task_literals[first + argument.first] < fragment.literals.size();
    return there ? nullptr : "a literal argument";
  }
  const std::span<const EdgeEnd> edges = fragment.in_edges(task);
  const bool several = argument.kind == ArgumentKind::gather || argument.kind == ArgumentKind::quorum;
  if (!within(argument.first, argument.count, edges.size()) || (!several && argument.count != 1)) {
    return "an argument";
  }
  const bool weak = argument.kind == ArgumentKind::maybe || argument.kind == ArgumentKind::quorum;
  const EdgeKind wanted = weak ? EdgeKind::weak : EdgeKind::strong;
  for (const EdgeEnd end : edges.subspan(argument.first, argument.count)) {
    if (end.kind() != wanted) return "the edge of an argument";
    if (!fragment.kind(end.task()).returns) return "an argument without an output to be made from";
  }
  return nullptr;
}

/// Each conditional edge has a predicate, in their order, and no other edge has one.
bool conditions_fit(const Fragment& fragment) {
  std::size_t next = 0;
  for (std::size_t edge = 0; edge < fragment.edges.size(); ++edge) {
    if (fragment.edges[edge].kind() != EdgeKind::conditional) continue;
    if (next == fragment.conditions.size()) return false;
    const detail::Condition& condition = fragment.conditions[next++];
    if (condition.edge != edge || condition.code >= fragment.codes.size()) return false;
  }
  return next == fragment.conditions.size();
}

/// Checks that families follow each other among the tasks.
bool families_fit(const Fragment& fragment) {
  std::uint64_t next = 0;
  for (const detail::FamilyDraft& family : fragment.families) {
    const std::uint64_t count = std::uint64_t{family.range.rows} * family.range.columns;
    if (family.first_task < next || count == 0) return false;
    next = family.first_task + count;
    if (next > fragment.size()) return false;
  }
  return true;
}

Status check_policy(const Policy& policy, std::size_t groups) {
  if ((policy.group && *policy.group >= groups) || policy.priority > Priority::urgent ||
      policy.effects > Effects::staged || policy.join > Join::none_failed) {
    return broken("a policy");
  }
  return Done{};
}

Status check_actors(const Fragment& fragment, std::size_t actors) {
  for (std::size_t i = 0; i < fragment.actors.size(); ++i) {
    const detail::ActorDraft& actor = fragment.actors[i];
    if (actor.name >= fragment.names.size() || actor.create_task >= fragment.size()) {
      return broken("actor " + std::to_string(i));
    }
    const TaskKind& create = fragment.kind(actor.create_task);
    if (create.call != CallKind::create || create.actor != i) return broken("actor " + std::to_string(i));
  }
  for (const auto& [task, actor] : fragment.mentions) {
    if (task >= fragment.size() || actor >= actors) return broken("the actors a task was handed");
  }
  for (const auto& group : fragment.save_groups) {
    for (const std::uint32_t actor : group) {
      if (actor >= fragment.actors.size()) return broken("a save group");
    }
  }
  return Done{};
}

/// All that does not grow with the tasks.
Status check_tables(const Fragment& fragment, std::uint32_t outer_actors) {
  if (fragment.task_kinds.size() > limits::tasks_max)
    return too_many("tasks", fragment.task_kinds.size(), limits::tasks_max);
  if (fragment.edges.size() > limits::edges_max)
    return too_many("edges", fragment.edges.size(), limits::edges_max);
  const std::size_t actors = std::size_t{outer_actors} + fragment.actors.size();
  for (const Policy& policy : fragment.policies) {
    if (Status status = check_policy(policy, fragment.groups.size()); !status) return status;
  }
  for (std::size_t kind = 0; kind < fragment.kinds.size(); ++kind) {
    if (const char* what = wrong_with_kind(fragment, fragment.kinds[kind], actors)) {
      return broken(what + (" of kind " + std::to_string(kind)));
    }
  }
  for (const detail::GroupDraft& group : fragment.groups) {
    if (group.name >= fragment.names.size() || group.strategy > Strategy::one_for_all) {
      return broken("a group");
    }
  }
  return Done{};
}

}  // namespace

Status check_built_indices(const Fragment& fragment) {
  if (Status sound = check_tables(fragment, 0); !sound) return sound;
  return check_actors(fragment, fragment.actors.size());
}

Status check_indices(const Fragment& fragment, std::uint32_t outer_actors) {
  if (Status sound = check_tables(fragment, outer_actors); !sound) return sound;
  const std::uint32_t tasks = fragment.size();
  if (fragment.first_edge.size() != tasks + std::size_t{1} || fragment.first_edge.front() != 0 ||
      fragment.first_edge.back() != fragment.edges.size()) {
    return broken("where edges begin");
  }
  const bool no_literals = fragment.first_literal.empty() && fragment.task_literals.empty();
  if (!no_literals &&
      (fragment.first_literal.size() != tasks + std::size_t{1} || fragment.first_literal.front() != 0 ||
       fragment.first_literal.back() != fragment.task_literals.size())) {
    return broken("where literals begin");
  }
  if (!families_fit(fragment)) return broken("where families lie");
  // In two rounds: checks of arguments follow indices to other tasks.
  for (std::uint32_t task = 0; task < tasks; ++task) {
    if (const char* what = wrong_with_task(fragment, task)) return broken(what, task);
  }
  for (std::uint32_t task = 0; task < tasks; ++task) {
    for (const EdgeEnd end : fragment.in_edges(task)) {
      if (const char* what = wrong_with_edge(fragment, end)) return broken(what, task);
    }
    for (const Argument& argument : fragment.arguments_of(task)) {
      if (const char* what = wrong_with_argument(fragment, argument, task)) return broken(what, task);
    }
  }
  if (!conditions_fit(fragment)) return broken("the predicates of edges");
  return check_actors(fragment, std::size_t{outer_actors} + fragment.actors.size());
}

}  // namespace dag
