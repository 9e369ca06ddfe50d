#include "libdag/cell/done_tasks.hpp"

#include <set>

#include "libdag/graph/data_edges.hpp"

namespace dag {
namespace {

bool ended_well(Outcome outcome) { return outcome == Outcome::finished || outcome == Outcome::skipped; }

}  // namespace

DoneTasks::DoneTasks(const CellSnapshot& ended, const OutputsHeld& outputs)
    : ended_(ended), outputs_(outputs), graph_(*ended.plan->graph) {
  for (auto* flags : {&done_, &needed_, &finished_, &spawned_}) flags->resize(graph_.size());
  read_record();
  judge_spawned();
  find_successors();
  find_together();
  for (std::uint32_t task = 0; task < graph_.size(); ++task) {
    if (!done_[task]) again_.push_back(task);
  }
  look_again();
}

void DoneTasks::read_record() {
  for (const ShardSnapshot& shard : ended_.shards) {
    for (const SettledOutcome& one : shard.settled) {
      const OutcomeRecord& record = one.record;
      if (record.spawned) {
        parts_[record.first_spawned] = {record.task, record.spawned->size(), record.becomes};
        first_of_[record.task] = record.first_spawned;
      }
      if (record.outcome == Outcome::none) continue;
      records_[record.task] = &record;
      if (record.task.origin != 0) continue;
      done_[record.task.index] = ended_well(record.outcome);
      finished_[record.task.index] = record.outcome == Outcome::finished;
    }
  }
  for (const message::FirstTry& tried : ended_.first_try) {
    for (const message::TaskBits& some : tried.tasks)
      some.each([&](TaskId task) { done_[task.index] = finished_[task.index] = true; });
  }
}

/// All that a task spawned, and those spawned in turn, ended well, or the task runs again.
void DoneTasks::judge_spawned() {
  std::vector<std::uint64_t> open(graph_.size());
  for (const auto& [first, part] : parts_) {
    const auto root = root_of(first);
    if (!root) continue;
    spawned_[*root] = true;
    open[*root] += part.size;
  }
  for (const auto& [task, record] : records_) {
    const auto root = task.origin == 0 ? std::nullopt : root_of(task);
    if (!root) continue;
    --open[*root];
    if (!ended_well(record->outcome)) done_[*root] = false;
  }
  for (std::uint32_t task = 0; task < graph_.size(); ++task) {
    if (open[task] > 0) done_[task] = false;
  }
}

std::optional<std::uint32_t> DoneTasks::root_of(TaskId task) const {
  while (task.origin != 0) {
    auto part = parts_.upper_bound(task);
    if (part == parts_.begin()) return std::nullopt;
    --part;
    const bool inside =
        part->first.origin == task.origin && task.index - part->first.index < part->second.size;
    if (!inside) return std::nullopt;
    task = part->second.parent;
  }
  return task.index;
}

TaskId DoneTasks::owner_of(std::uint32_t index) const {
  TaskId task{0, index};
  for (auto first = first_of_.find(task); first != first_of_.end(); first = first_of_.find(task)) {
    const Part& part = parts_.at(first->second);
    if (part.becomes == detail::none) break;
    task = {first->second.origin, first->second.index + part.becomes};
  }
  return task;
}

void DoneTasks::find_successors() {
  first_successor_.resize(graph_.size() + 1);
  graph_.each_edge(
      [&](const detail::Edge& edge, std::uint32_t) { ++first_successor_[edge.predecessor + 1]; });
  for (std::uint32_t task = 0; task < graph_.size(); ++task)
    first_successor_[task + 1] += first_successor_[task];
  successors_.resize(graph_.edges.size());
  std::vector<std::uint32_t> next = first_successor_;
  graph_.each_edge([&](const detail::Edge& edge, std::uint32_t) {
    successors_[next[edge.predecessor]++] = edge.successor;
  });
}

void DoneTasks::find_together() {
  std::vector<std::vector<std::uint32_t>> of_actor(graph_.actors.size()), of_group(graph_.groups.size());
  const bool none = of_actor.empty() && of_group.empty();
  for (std::uint32_t task = 0; !none && task < graph_.size(); ++task) {
    if (graph_.kind(task).actor < of_actor.size()) of_actor[graph_.kind(task).actor].push_back(task);
    if (const auto group = graph_.policy(task).group) of_group[*group].push_back(task);
  }
  for (std::uint32_t actor = 0; actor < of_actor.size(); ++actor)
    of_actor[actor].push_back(graph_.actors[actor].create_task);
  for (const auto& [task, actor] : graph_.mentions) of_actor[actor].push_back(task);
  for (const std::vector<std::uint32_t>& saved : graph_.save_groups) {
    for (const std::uint32_t actor : saved) {
      if (actor == saved.front()) continue;
      auto& all = of_actor[saved.front()];
      all.insert(all.end(), of_actor[actor].begin(), of_actor[actor].end());
      of_actor[actor].clear();
    }
  }
  for (const auto& tasks : of_actor) put_together(tasks);
  for (std::size_t group = 0; group < of_group.size(); ++group) {
    if (graph_.groups[group].strategy != Strategy::one_for_one) put_together(of_group[group]);
  }
}

void DoneTasks::put_together(const std::vector<std::uint32_t>& tasks) {
  for (const std::uint32_t task : tasks) together_of_.emplace(task, together_.size());
  together_.push_back(tasks);
}

/// Ends: each task comes to run again once, and is found to be read once.
void DoneTasks::look_again() {
  while (!again_.empty() || !read_.empty()) {
    if (!again_.empty()) {
      const std::uint32_t task = again_.back();
      again_.pop_back();
      follow(task);
    } else {
      const std::uint32_t task = read_.back();
      read_.pop_back();
      if (!done_[task] || is_held(task)) continue;
      is_made_again(task) ? need_inputs(task) : run_again(task);
    }
  }
}

void DoneTasks::run_again(std::uint32_t task) {
  if (!done_[task]) return;
  done_[task] = false;
  again_.push_back(task);
}

/// Others run again because this task does.
void DoneTasks::follow(std::uint32_t task) {
  for (std::uint32_t at = first_successor_[task]; at < first_successor_[task + 1]; ++at)
    run_again(successors_[at]);
  const auto [begin, end] = together_of_.equal_range(task);
  for (auto set = begin; set != end; ++set) {
    for (const std::uint32_t other : std::exchange(together_[set->second], {})) run_again(other);
  }
  // The staged output is not there any more.
  if (graph_.policy(task).publishes) {
    for (const detail::EdgeEnd& edge : graph_.in_edges(task)) run_again(edge.task());
  }
  need_inputs(task);
}

void DoneTasks::need_inputs(std::uint32_t task) {
  std::vector<bool> data;
  mark_data_edges(graph_, task, data);
  const auto edges = graph_.in_edges(task);
  for (std::size_t edge = 0; edge < edges.size(); ++edge) {
    if (data[edge]) need(edges[edge].task());
  }
}

void DoneTasks::need(std::uint32_t task) {
  if (needed_[task] || !done_[task] || !finished_[task] || !graph_.kind(task).returns) return;
  needed_[task] = true;
  read_.push_back(task);
}

bool DoneTasks::is_held(std::uint32_t task) const {
  if (outputs_.contains(task)) return true;
  const auto record = records_.find(owner_of(task));
  return record != records_.end() && (record->second->value || !record->second->has_output);
}

bool DoneTasks::is_made_again(std::uint32_t task) const {
  const Policy& policy = graph_.policy(task);
  return policy.effects != Effects::at_most_once && !policy.varying && !policy.publishes && !policy.group &&
         graph_.kind(task).call == detail::CallKind::ordinary && !spawned_[task];
}

}  // namespace dag
