// The questions of check.hpp in their order; each function asks one.

#include "libdag/graph/check.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>

#include "libdag/base/limits.hpp"
#include "libdag/base/saturating.hpp"
#include "libdag/base/time.hpp"
#include "libdag/graph/order.hpp"
#include "libdag/graph/rank.hpp"

namespace dag {
namespace {

using detail::Argument;
using detail::ArgumentKind;
using detail::Edge;
using detail::Fragment;

Error usage(const Fragment& fragment, std::uint32_t task, const std::string& what, std::string hint) {
  return {ErrorCode::usage, "task " + label(fragment, task) + " " + what, std::move(hint)};
}

/// `task` is one that has the policy.
Status check_policy(const Fragment& fragment, const Policy& policy, std::uint32_t task) {
  if (policy.effects == Effects::undeclared) {
    return usage(
        fragment, task, "returns nothing and does not declare its effects",
        "add .effects(dag::idempotent), or .effects(dag::pure) if running it any number of times changes "
        "nothing");
  }
  if (policy.effects == Effects::at_most_once && policy.retry.attempts > 1) {
    return usage(fragment, task, "may run only once, and has several attempts",
                 "leave .retry() out, or declare .effects(dag::idempotent)");
  }
  if (policy.retry.attempts == 0) {
    return usage(fragment, task, "has 0 attempts, so it could never run",
                 ".retry({.attempts = n}) counts the first one too: use 1 for no retries");
  }
  if (policy.retry.attempts > limits::attempts_max) {
    return usage(fragment, task, "has " + std::to_string(policy.retry.attempts) + " attempts",
                 "at most " + std::to_string(limits::attempts_max) + " are allowed");
  }
  if (policy.retry.backoff < Duration(0)) {
    return usage(fragment, task, "has a backoff of " + text_of(policy.retry.backoff),
                 "use 0 to retry at once");
  }
  if (policy.timeout && *policy.timeout <= Duration(0)) {
    return usage(fragment, task, "has a timeout of " + text_of(*policy.timeout),
                 "a timeout must be longer than 0");
  }
  if (policy.deadline && *policy.deadline <= Duration(0)) {
    return usage(fragment, task, "has a deadline of " + text_of(*policy.deadline),
                 "a deadline counts from submission and must be longer than 0");
  }
  if (policy.takes && *policy.takes < Duration(0)) {
    return usage(fragment, task, "is said to take " + text_of(*policy.takes),
                 "a duration cannot be negative");
  }
  if (policy.checkpoint && *policy.checkpoint < Duration(0)) {
    return usage(fragment, task, "saves its state every " + text_of(*policy.checkpoint),
                 "a duration cannot be negative; 0 leaves it to libdag");
  }
  if (policy.checkpoint && policy.effects == Effects::at_most_once) {
    return usage(fragment, task, "may run only once, and has checkpoints",
                 "leave .checkpoint() out, or declare .effects(dag::idempotent)");
  }
  if (const auto call = fragment.kind(task).call;
      policy.checkpoint && (call == detail::CallKind::create || call == detail::CallKind::call)) {
    return usage(fragment, task, "is a call of a job actor, and saves its state while it runs",
                 "leave .checkpoint() out: the actor is saved between its calls, by save_when_due()");
  }
  if (policy.effects == Effects::exclusive && fragment.kind(task).call != detail::CallKind::ordinary) {
    return usage(fragment, task, "is a call of a job actor, and is declared exclusive",
                 "calls of one actor never run at the same time: leave .effects() out");
  }
  if (policy.effects == Effects::staged && fragment.kind(task).call != detail::CallKind::ordinary) {
    return usage(fragment, task, "is a call of a job actor, and stages files",
                 "let the call return what is to be written, and a task behind it stage that");
  }
  if (policy.effects == Effects::staged && fragment.family_of(task) != nullptr) {
    return usage(fragment, task, "is of a family, and stages files", "add such tasks one by one");
  }
  if (policy.varying && fragment.kind(task).call != detail::CallKind::ordinary) {
    return usage(
        fragment, task, "is a call of a job actor, and its kernel varies",
        "a call is run again after a loss, from the actor's last save: let a task vary, and pass its "
        "output to the call");
  }
  if (!(policy.needs.cpus >= 0) || std::isinf(policy.needs.cpus)) {
    return usage(fragment, task, "needs " + std::to_string(policy.needs.cpus) + " cpus",
                 "needs.cpus is the number of lanes that the task occupies");
  }
  return Done{};
}

Status check_quorums(const Fragment& fragment, std::uint32_t task) {
  for (const Argument& argument : fragment.arguments_of(task)) {
    if (argument.kind != ArgumentKind::quorum || argument.quorum <= argument.count) continue;
    return usage(fragment, task,
                 "waits for a quorum of " + std::to_string(argument.quorum) + " of only " +
                     std::to_string(argument.count) + " tasks",
                 "it would always be skipped: dag::quorum(k, outputs) needs k <= outputs.size()");
  }
  return Done{};
}

Status check_member(const Fragment& fragment, std::uint32_t task) {
  const Policy& policy = fragment.policy(task);
  if (!policy.group) return Done{};
  const std::string group = "'" + fragment.names[fragment.groups[*policy.group].name] + "'";
  if (fragment.kind(task).call != detail::CallKind::ordinary) {
    return usage(
        fragment, task, "belongs to a job actor, and is a member of the group " + group,
        "job actors go back to their last save together with those of save_together(); leave .in() out");
  }
  if (policy.effects == Effects::at_most_once) {
    return usage(fragment, task,
                 "may run only once, and is a member of the group " + group + ", which starts members again",
                 "leave .in() out, or declare .effects(dag::idempotent)");
  }
  if (policy.effects == Effects::exclusive) {
    return usage(fragment, task,
                 "is declared exclusive, and is a member of the group " + group +
                     ", which starts members again while their last attempt may still run",
                 "leave .in() out, or declare .effects(dag::idempotent)");
  }
  return Done{};
}

Status check_groups(const Fragment& fragment) {
  for (const detail::GroupDraft& group : fragment.groups) {
    const std::string what = "the group '" + fragment.names[group.name] + "' ";
    const Intensity& intensity = group.intensity;
    if (intensity.restarts == 0) {
      return Error{ErrorCode::usage, what + "allows no restarts, so it could only give up",
                   "{.restarts = n} counts those within a period: use at least 1"};
    }
    if (intensity.restarts > limits::attempts_max) {
      return Error{ErrorCode::usage, what + "allows " + std::to_string(intensity.restarts) + " restarts",
                   "at most " + std::to_string(limits::attempts_max) + " are allowed in one period"};
    }
    if (intensity.period <= Duration(0)) {
      return Error{ErrorCode::usage, what + "counts restarts over " + text_of(intensity.period),
                   "a period must be longer than 0"};
    }
  }
  return Done{};
}

/// True: no question of check_tasks could find a fault in a task of this kind.
bool is_plain(const Fragment& fragment, const detail::TaskKind& kind) {
  const Policy& policy = fragment.policies[kind.policy];
  if (policy.effects != Effects::pure && policy.effects != Effects::idempotent) return false;
  Policy plain;
  plain.effects = policy.effects;
  const std::span<const Argument> arguments(fragment.arguments.data() + kind.first_argument,
                                            kind.argument_count);
  return policy == plain && std::none_of(arguments.begin(), arguments.end(), [](const Argument& argument) {
           return argument.kind == ArgumentKind::quorum;
         });
}

/// Checks the options of tasks. Each kind is checked once, where it is met first.
Status check_tasks(const Fragment& fragment) {
  if (std::all_of(fragment.kinds.begin(), fragment.kinds.end(),
                  [&](const auto& kind) { return is_plain(fragment, kind); })) {
    return Done{};
  }
  std::vector<bool> met(fragment.kinds.size(), false);
  for (std::uint32_t task = 0; task < fragment.size(); ++task) {
    const std::uint32_t kind = fragment.task_kinds[task];
    if (met[kind]) continue;
    met[kind] = true;
    if (Status status = check_policy(fragment, fragment.policy(task), task); !status) return status;
    if (Status status = check_quorums(fragment, task); !status) return status;
    if (Status status = check_member(fragment, task); !status) return status;
  }
  return Done{};
}

Status check_actor_names(const Fragment& fragment) {
  std::map<std::uint32_t, std::uint32_t> create_task_of;
  for (const detail::ActorDraft& actor : fragment.actors) {
    const auto [first, added] = create_task_of.emplace(actor.name, actor.create_task);
    if (added) continue;
    return Error{ErrorCode::actor_name_taken,
                 "two job actors are named '" + fragment.names[actor.name] + "': tasks " +
                     label(fragment, first->second) + " and " + label(fragment, actor.create_task) +
                     " make them",
                 "names of job actors are unique in a graph; number them, e.g. stage0, stage1"};
  }
  return Done{};
}

Status check_cycle(const Fragment& fragment) {
  // A handle exists only behind its task, so most graphs are in order as they were written: only `.after` on
  // an earlier task, or calls, can lead back.
  bool in_order = true;
  fragment.each_edge(
      [&](const Edge& edge, std::uint32_t) { in_order = in_order && edge.predecessor < edge.successor; });
  if (in_order) return Done{};
  const std::vector<std::uint32_t> cycle = find_cycle(fragment);
  if (cycle.empty()) return Done{};
  std::string path = path_label(fragment, cycle) + " -> " + label(fragment, cycle.front());
  return Error{
      ErrorCode::job_has_cycle,
      (cycle.size() == 1 ? "a task waits for itself: "
                         : std::to_string(cycle.size()) + " tasks wait for each other: ") +
          std::move(path),
      "remove one of these edges; a loop is written as one task per iteration, or as a task that spawns "
      "the next one"};
}

/// The tasks on the longest stated way to `task`, from its beginning.
std::vector<std::uint32_t> longest_way_to(const Fragment& fragment, const Ranking& ranking,
                                          std::span<const Duration> durations, std::uint32_t task) {
  std::vector<std::uint32_t> way{task};
  for (;;) {
    std::uint32_t last = detail::none;
    for (const detail::EdgeEnd end : fragment.in_edges(way.back())) {
      const Duration ends_at = sum(ranking.starts_at[end.task()], durations[end.task()]);
      if (ends_at == ranking.starts_at[way.back()]) last = std::min(last, end.task());
    }
    if (last == detail::none) break;
    way.push_back(last);
  }
  return {way.rbegin(), way.rend()};
}

Status check_deadlines(const Fragment& fragment) {
  bool any = false;
  for (const Policy& policy : fragment.policies) any |= policy.deadline.has_value();
  if (!any) return Done{};
  // Silent tasks count as zero: a deadline is compared with stated durations only.
  const std::vector<Duration> stated = durations(fragment, Duration(0));
  const Ranking ranking = rank(fragment, stated);
  for (std::uint32_t task = 0; task < fragment.size(); ++task) {
    const auto deadline = fragment.policy(task).deadline;
    if (!deadline || is_for_ever(*deadline)) continue;
    if (stated[task] <= *deadline - ranking.starts_at[task]) continue;
    const Duration ends_at = sum(ranking.starts_at[task], stated[task]);
    return Error{ErrorCode::deadline_impossible,
                 "task " + label(fragment, task) + " must end within " + text_of(*deadline) + ", but takes " +
                     text_of(ends_at) + " on the way " +
                     path_label(fragment, longest_way_to(fragment, ranking, stated, task)),
                 "allow more time, or shorten or split the tasks on this way"};
  }
  return Done{};
}

/// All that can be wrong with a graph whose indices can be followed.
Status check_meaning(const Fragment& fragment, bool is_in_order) {
  if (Status status = check_groups(fragment); !status) return status;
  if (Status status = check_tasks(fragment); !status) return status;
  if (Status status = check_actor_names(fragment); !status) return status;
  if (!is_in_order) {
    if (Status status = check_cycle(fragment); !status) return status;
  }
  return check_deadlines(fragment);
}

}  // namespace

Status check(const Fragment& fragment, std::uint32_t outer_actors) {
  if (Status status = check_indices(fragment, outer_actors); !status) return status;
  return check_meaning(fragment, false);
}

Status check(const detail::Builder& builder) {
  const Fragment& fragment = *builder.seal();
  if (!builder.is_sealed_as_added()) return check(fragment);
  if (Status status = check_built_indices(fragment); !status) return status;
  return check_meaning(fragment, builder.is_in_order());
}

}  // namespace dag
