// Decides whether a fragment's indices lead somewhere. Builder makes no other fragments; this is for what
// came over the wire from a process that is not trusted, so nothing is followed before it was looked at.

#include <string>

#include "libdag/base/limits.hpp"
#include "libdag/graph/check.hpp"

namespace dag {
namespace {

using detail::Argument;
using detail::ArgumentKind;
using detail::CallKind;
using detail::Edge;
using detail::EdgeKind;
using detail::Fragment;
using detail::TaskDraft;

Error broken(std::string what) {
  return {ErrorCode::value_invalid, "the graph is damaged: " + std::move(what),
          "it was not made by this version's dag::Graph, or changed on its way"};
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

std::string of_task(std::size_t task) { return " of task " + std::to_string(task); }

Status check_edge(const Fragment& fragment, std::size_t index, std::size_t task) {
  const Edge& edge = fragment.edges[index];
  if (edge.predecessor >= fragment.tasks.size() || edge.successor != task)
    return broken("an edge" + of_task(task));
  if (edge.kind > EdgeKind::conditional) return broken("the kind of an edge" + of_task(task));
  const bool has_predicate = edge.predicate < fragment.codes.size();
  if (edge.kind == EdgeKind::conditional ? !has_predicate : edge.predicate != detail::none) {
    return broken("the predicate of an edge" + of_task(task));
  }
  return Done{};
}

Status check_argument(const Fragment& fragment, const Argument& argument, std::size_t task) {
  if (argument.kind > ArgumentKind::quorum) return broken("the kind of an argument" + of_task(task));
  if (argument.kind == ArgumentKind::literal) {
    if (argument.first < fragment.literals.size()) return Done{};
    return broken("a literal argument" + of_task(task));
  }
  const TaskDraft& draft = fragment.tasks[task];
  const bool several = argument.kind == ArgumentKind::gather || argument.kind == ArgumentKind::quorum;
  if (!within(argument.first, argument.count, draft.edge_count) || (!several && argument.count != 1)) {
    return broken("an argument" + of_task(task));
  }
  const bool weak = argument.kind == ArgumentKind::maybe || argument.kind == ArgumentKind::quorum;
  for (std::uint32_t k = 0; k < argument.count; ++k) {
    const Edge& edge = fragment.edges[draft.first_edge + argument.first + k];
    if (edge.kind != (weak ? EdgeKind::weak : EdgeKind::strong))
      return broken("the edge of an argument" + of_task(task));
    if (!fragment.tasks[edge.predecessor].returns) {
      return broken("an argument" + of_task(task) + " from a task that returns nothing");
    }
  }
  return Done{};
}

Status check_task(const Fragment& fragment, std::size_t task, std::size_t actors) {
  const TaskDraft& draft = fragment.tasks[task];
  if (draft.code >= fragment.codes.size()) return broken("the code" + of_task(task));
  if (draft.name >= fragment.names.size()) return broken("the name" + of_task(task));
  if (draft.policy >= fragment.policies.size()) return broken("the policy" + of_task(task));
  if (!within(draft.first_argument, draft.argument_count, fragment.arguments.size())) {
    return broken("the arguments" + of_task(task));
  }
  if (draft.call > CallKind::save) return broken("the kind of call" + of_task(task));
  const bool is_call = draft.call != CallKind::ordinary;
  if (is_call ? draft.actor >= actors : draft.actor != detail::none)
    return broken("the actor" + of_task(task));
  if (draft.call == CallKind::create &&
      (draft.actor >= fragment.actors.size() || fragment.actors[draft.actor].create_task != task)) {
    return broken("the actor that is made by task " + std::to_string(task));
  }
  return Done{};
}

Status check_policy(const Policy& policy) {
  if (policy.priority > Priority::urgent || policy.effects > Effects::idempotent ||
      policy.join > Join::none_failed) {
    return broken("a policy");
  }
  return Done{};
}

Status check_actors(const Fragment& fragment, std::size_t actors) {
  for (std::size_t i = 0; i < fragment.actors.size(); ++i) {
    const detail::ActorDraft& actor = fragment.actors[i];
    if (actor.name >= fragment.names.size() || actor.create_task >= fragment.tasks.size()) {
      return broken("actor " + std::to_string(i));
    }
    const TaskDraft& create = fragment.tasks[actor.create_task];
    if (create.call != CallKind::create || create.actor != i) return broken("actor " + std::to_string(i));
  }
  for (const auto& [task, actor] : fragment.mentions) {
    if (task >= fragment.tasks.size() || actor >= actors) return broken("the actors a task was handed");
  }
  for (const auto& group : fragment.save_groups) {
    for (const std::uint32_t actor : group) {
      if (actor >= fragment.actors.size()) return broken("a save group");
    }
  }
  return Done{};
}

}  // namespace

Status check_indices(const Fragment& fragment, std::uint32_t outer_actors) {
  if (fragment.tasks.size() > limits::tasks_max)
    return too_many("tasks", fragment.tasks.size(), limits::tasks_max);
  if (fragment.edges.size() > limits::edges_max)
    return too_many("edges", fragment.edges.size(), limits::edges_max);
  const std::size_t actors = std::size_t{outer_actors} + fragment.actors.size();
  for (const Policy& policy : fragment.policies) {
    if (Status status = check_policy(policy); !status) return status;
  }
  std::size_t next = 0;
  for (std::size_t task = 0; task < fragment.tasks.size(); ++task) {
    const TaskDraft& draft = fragment.tasks[task];
    if (Status status = check_task(fragment, task, actors); !status) return status;
    if (draft.first_edge != next || !within(next, draft.edge_count, fragment.edges.size())) {
      return broken("the edges" + of_task(task));
    }
    next += draft.edge_count;
    for (std::size_t i = draft.first_edge; i < next; ++i) {
      if (Status status = check_edge(fragment, i, task); !status) return status;
    }
  }
  if (next != fragment.edges.size()) return broken("edges that belong to no task");
  for (std::size_t task = 0; task < fragment.tasks.size(); ++task) {
    const TaskDraft& draft = fragment.tasks[task];
    for (std::size_t i = 0; i < draft.argument_count; ++i) {
      const Argument& argument = fragment.arguments[draft.first_argument + i];
      if (Status status = check_argument(fragment, argument, task); !status) return status;
    }
  }
  return check_actors(fragment, actors);
}

}  // namespace dag
