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

// The next three look at everything there is, millions of times. They name what is wrong, or return null; the
// sentence is made once, by whoever asked.

const char* wrong_with_edge(const Fragment& fragment, const Edge& edge, std::size_t task) {
  if (edge.predecessor >= fragment.tasks.size() || edge.successor != task) return "an edge";
  if (edge.kind > EdgeKind::conditional) return "the kind of an edge";
  const bool has_predicate = edge.predicate < fragment.codes.size();
  if (edge.kind == EdgeKind::conditional ? !has_predicate : edge.predicate != detail::none) {
    return "the predicate of an edge";
  }
  return nullptr;
}

const char* wrong_with_argument(const Fragment& fragment, const Argument& argument, const TaskDraft& task) {
  if (argument.kind > ArgumentKind::quorum) return "the kind of an argument";
  if (argument.kind == ArgumentKind::literal) {
    return argument.first < fragment.literals.size() ? nullptr : "a literal argument";
  }
  const bool several = argument.kind == ArgumentKind::gather || argument.kind == ArgumentKind::quorum;
  if (!within(argument.first, argument.count, task.edge_count) || (!several && argument.count != 1)) {
    return "an argument";
  }
  const bool weak = argument.kind == ArgumentKind::maybe || argument.kind == ArgumentKind::quorum;
  const EdgeKind wanted = weak ? EdgeKind::weak : EdgeKind::strong;
  for (std::uint32_t k = 0; k < argument.count; ++k) {
    const Edge& edge = fragment.edges[task.first_edge + argument.first + k];
    if (edge.kind != wanted) return "the edge of an argument";
    if (!fragment.tasks[edge.predecessor].returns) return "an argument without an output to be made from";
  }
  return nullptr;
}

const char* wrong_with_task(const Fragment& fragment, std::size_t index, std::size_t actors) {
  const TaskDraft& task = fragment.tasks[index];
  if (task.code >= fragment.codes.size()) return "the code";
  if (task.name >= fragment.names.size()) return "the name";
  if (task.policy >= fragment.policies.size()) return "the policy";
  if (!within(task.first_argument, task.argument_count, fragment.arguments.size())) return "the arguments";
  if (task.call > CallKind::save) return "the kind of call";
  const bool is_call = task.call != CallKind::ordinary;
  if (is_call ? task.actor >= actors : task.actor != detail::none) return "the actor";
  if (task.call == CallKind::create &&
      (task.actor >= fragment.actors.size() || fragment.actors[task.actor].create_task != index)) {
    return "the actor that is made";
  }
  return nullptr;
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
    if (const char* what = wrong_with_task(fragment, task, actors)) return broken(what, task);
    if (draft.first_edge != next || !within(next, draft.edge_count, fragment.edges.size())) {
      return broken("the edges", task);
    }
    next += draft.edge_count;
    for (std::size_t i = draft.first_edge; i < next; ++i) {
      if (const char* what = wrong_with_edge(fragment, fragment.edges[i], task)) return broken(what, task);
    }
    // Whether the tasks in front of its edges return something can be asked already: the edges lead
    // somewhere.
    for (std::size_t i = 0; i < draft.argument_count; ++i) {
      const Argument& argument = fragment.arguments[draft.first_argument + i];
      if (const char* what = wrong_with_argument(fragment, argument, draft)) return broken(what, task);
    }
  }
  if (next != fragment.edges.size()) return broken("edges that belong to no task");
  return check_actors(fragment, actors);
}

}  // namespace dag
