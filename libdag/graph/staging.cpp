#include "libdag/graph/staging.hpp"

#include "dag/detail/publish.hpp"

namespace dag {
namespace {

using detail::Argument;
using detail::ArgumentKind;
using detail::EdgeKind;
using detail::Fragment;
using detail::TaskKind;

template <class Value>
std::uint32_t index_behind(std::vector<Value>& all, Value value) {
  all.push_back(std::move(value));
  return static_cast<std::uint32_t>(all.size() - 1);
}

bool is_staged(const Fragment& fragment, std::uint32_t task) {
  const TaskKind& kind = fragment.kind(task);
  return fragment.policies[kind.policy].effects == Effects::staged &&
         kind.call == detail::CallKind::ordinary && fragment.family_of(task) == nullptr;
}

/// The part of a task's policy that applies to the row that publishes.
Policy to_publish(const Policy& said) {
  Policy policy;
  policy.priority = said.priority;
  policy.deadline = said.deadline;
  policy.effects = Effects::exclusive;
  policy.publishes = true;
  policy.retry = {.attempts = 3, .backoff = std::chrono::seconds(1)};
  return policy;
}

/// Builds the arrays of a fragment task by task.
class Rows {
 public:
  Rows(const Fragment& from, Fragment& to) : from_(from), to_(to) {}
  /// The in-edges and literals that `task` has in the old one, for the next row of the new one.
  void copy(std::uint32_t task, std::uint32_t kind) {
    begin(kind);
    std::uint32_t place = from_.first_edge[task];
    for (const detail::EdgeEnd end : from_.in_edges(task)) {
      if (end.kind() == EdgeKind::conditional) {
        const auto at = std::lower_bound(
            from_.conditions.begin(), from_.conditions.end(), place,
            [](const detail::Condition& one, std::uint32_t wanted) { return one.edge < wanted; });
        to_.conditions.push_back({static_cast<std::uint32_t>(to_.edges.size()), at->code});
      }
      to_.edges.push_back(end);
      ++place;
    }
    if (from_.first_literal.empty()) return;
    for (std::uint32_t i = from_.first_literal[task]; i < from_.first_literal[task + 1]; ++i)
      to_.task_literals.push_back(from_.task_literals[i]);
  }
  void reads(std::uint32_t predecessor, std::uint32_t kind) {
    begin(kind);
    to_.edges.emplace_back(predecessor, EdgeKind::strong);
  }
  void end() {
    to_.first_edge.push_back(static_cast<std::uint32_t>(to_.edges.size()));
    if (!from_.first_literal.empty())
      to_.first_literal.push_back(static_cast<std::uint32_t>(to_.task_literals.size()));
  }

 private:
  void begin(std::uint32_t kind) {
    to_.task_kinds.push_back(kind);
    end();
  }
  const Fragment& from_;
  Fragment& to_;
};

}  // namespace

bool has_staged(const Fragment& fragment) {
  const bool said = std::any_of(fragment.policies.begin(), fragment.policies.end(),
                                [](const Policy& policy) { return policy.effects == Effects::staged; });
  if (!said) return false;
  for (std::uint32_t task = 0; task < fragment.size(); ++task) {
    if (is_staged(fragment, task)) return true;
  }
  return false;
}

Fragment with_publishers(const Fragment& from) {
  Fragment to = from;
  to.task_kinds.clear();
  to.first_edge.clear();
  to.edges.clear();
  to.conditions.clear();
  to.first_literal.clear();
  to.task_literals.clear();
  const std::uint32_t code = index_behind(to.codes, detail::publisher());
  const std::uint32_t argument = index_behind(to.arguments, Argument{ArgumentKind::input, 0, 1, 0});
  std::vector<std::uint32_t> split;
  std::vector<std::uint32_t> publisher_of(from.kinds.size(), detail::none), kernel_of = publisher_of;
  Rows rows(from, to);
  for (std::uint32_t task = 0; task < from.size(); ++task) {
    const std::uint32_t number = from.task_kinds[task];
    if (!is_staged(from, task)) {
      rows.copy(task, number);
      continue;
    }
    if (publisher_of[number] == detail::none) {
      TaskKind kernel = from.kinds[number], publisher = kernel;
      const Policy said = from.policies[kernel.policy];
      publisher.code = code;
      publisher.name = index_behind(to.names, from.names[kernel.name] + ":publish");
      publisher.policy = index_behind(to.policies, to_publish(said));
      publisher.first_argument = argument;
      publisher.argument_count = 1;
      Policy of_kernel = said;
      of_kernel.deadline.reset();
      kernel.policy = index_behind(to.policies, of_kernel);
      kernel.returns = true;
      publisher_of[number] = index_behind(to.kinds, publisher);
      kernel_of[number] = index_behind(to.kinds, kernel);
    }
    rows.reads(from.size() + static_cast<std::uint32_t>(split.size()), publisher_of[number]);
    split.push_back(task);
  }
  for (const std::uint32_t task : split) rows.copy(task, kernel_of[from.task_kinds[task]]);
  rows.end();
  for (auto& [task, actor] : to.mentions) {
    const auto at = std::lower_bound(split.begin(), split.end(), task);
    if (at != split.end() && *at == task) task = from.size() + static_cast<std::uint32_t>(at - split.begin());
  }
  std::sort(to.mentions.begin(), to.mentions.end());
  return to;
}

}  // namespace dag
