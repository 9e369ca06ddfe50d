// Union-find over tasks and actors, with path halving and union by index: no recursion, nearly linear.

#include "libdag/graph/blocks.hpp"

#include <algorithm>
#include <numeric>

namespace dag {
namespace {

class Sets {
 public:
  explicit Sets(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0u); }

  std::uint32_t find(std::uint32_t member) {
    while (parent_[member] != member) {
      parent_[member] = parent_[parent_[member]];
      member = parent_[member];
    }
    return member;
  }
  void unite(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

/// Spawned fragments name actors of the submitted graph, so their own list does not say how many there are.
std::uint32_t actors_named(const detail::Fragment& fragment) {
  auto count = static_cast<std::uint32_t>(fragment.actors.size());
  for (const detail::TaskKind& kind : fragment.kinds) {
    if (kind.actor != detail::none) count = std::max(count, kind.actor + 1);
  }
  for (const auto& [task, actor] : fragment.mentions) count = std::max(count, actor + 1);
  return count;
}

}  // namespace

std::vector<std::uint32_t> blocks(const detail::Fragment& fragment) {
  const std::uint32_t tasks = fragment.size();
  const std::uint32_t actors = actors_named(fragment);
  // The actors lie behind the tasks, the groups behind the actors.
  Sets sets(std::size_t{tasks} + actors + fragment.groups.size());
  for (std::uint32_t task = 0; task < tasks; ++task) {
    const std::uint32_t actor = fragment.kind(task).actor;
    if (actor != detail::none) sets.unite(task, tasks + actor);
  }
  for (std::uint32_t task = 0; task < tasks && !fragment.groups.empty(); ++task) {
    const std::optional<std::uint32_t> group = fragment.policy(task).group;
    if (group) sets.unite(task, tasks + actors + *group);
  }
  for (const auto& [task, actor] : fragment.mentions) sets.unite(task, tasks + actor);
  for (const auto& group : fragment.save_groups) {
    for (const std::uint32_t actor : group) sets.unite(tasks + group.front(), tasks + actor);
  }

  std::vector<std::uint32_t> number_of(tasks, detail::none);
  std::vector<std::uint32_t> block_of(tasks);
  std::uint32_t count = 0;
  for (std::uint32_t task = 0; task < tasks; ++task) {
    std::uint32_t& number = number_of[sets.find(task)];  // the lowest member: a task, if any is one
    if (number == detail::none) number = count++;
    block_of[task] = number;
  }
  return block_of;
}

}  // namespace dag
