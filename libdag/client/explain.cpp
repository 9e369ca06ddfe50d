#include "libdag/client/explain.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace dag::detail {
namespace {

/// Graphs may be deeper and wider; the first reasons are enough.
constexpr int rounds_max = 200;
constexpr std::size_t roots_max = 10;
constexpr std::size_t asked_max = 4096;

bool waits_for_tasks(const TaskExplained& task) {
  return !task.waits_for.empty() && task.state == RowState::waiting;
}

/// In the order of homes, which sort their own tasks: held, running and ready ones come before waiting ones.
int rank_of(const TaskExplained& task) {
  if (task.state == RowState::ended) return task.outcome == Outcome::failed ? 3 : 4;
  return task.state == RowState::held ? 0 : task.state == RowState::waiting ? 2 : 1;
}

/// Notes that the task waits for a lane of the process.
void queue(TaskReason& reason, std::uint64_t place, const ProcessExplained& at, const TaskExplained& task) {
  reason.place = place;
  reason.starts = starts_in(at, place, task.usual);
}

/// Splits an answer of all processes into tasks.
std::vector<TaskReason> reasons_in(client::Answer& answer) {
  std::map<TaskId, std::pair<Life, RunningNow>> running;
  std::multimap<TaskId, std::pair<Life, RunningNow>> given_up;
  std::map<TaskId, std::pair<const ProcessExplained*, const TaskExplained*>> taken;
  for (const ProcessExplained& process : answer.explained) {
    for (const RunningNow& now : process.running) {
      if (now.given_up) {
        given_up.emplace(now.task, std::pair(process.life, now));
      } else {
        running[now.task] = {process.life, now};
      }
    }
    for (const TaskExplained& one : process.taken) taken[one.task] = {&process, &one};
  }
  std::vector<TaskReason> reasons;
  for (ProcessExplained& process : answer.explained) {
    for (TaskExplained& task : process.tasks) {
      TaskReason& reason = reasons.emplace_back();
      reason.home = process.life;
      if (task.state == RowState::running || task.state == RowState::lent) {
        if (const auto lane = running.find(task.task); lane != running.end()) {
          reason.at = lane->second.first;
          reason.running = lane->second.second;
        } else if (const auto there = taken.find(task.task); there != taken.end()) {
          const auto [its, attempt] = there->second;
          reason.at = its->life;
          reason.taken = attempt->why;
          queue(reason, attempt->place, *its, task);
        } else if (task.place > 0) {
          queue(reason, task.place, process, task);
        }
      } else if (task.state == RowState::ready) {
        queue(reason, task.place, process, task);
      }
      const auto [first, last] = given_up.equal_range(task.task);
      for (auto one = first; one != last; ++one) reason.given_up.push_back(one->second);
      reason.task = std::move(task);
    }
    process.tasks.clear();
  }
  for (ProcessExplained& process : answer.explained) process.taken.clear();
  std::stable_sort(reasons.begin(), reasons.end(), [](const TaskReason& a, const TaskReason& b) {
    return std::pair(rank_of(a.task), a.task.task) < std::pair(rank_of(b.task), b.task.task);
  });
  return reasons;
}

/// 3-9, s2/0-4; train/3-9 for those of that name alone. Names may have slashes, too.
std::optional<TaskRange> range_of(const std::string& text) {
  const std::size_t dash = text.rfind('-');
  if (dash == std::string::npos) return std::nullopt;
  const auto last = parse_task_id(text.substr(dash + 1));
  if (!last || last->origin != 0) return std::nullopt;
  const std::string before = text.substr(0, dash);
  TaskRange range;
  if (const auto first = parse_task_id(before)) {
    range.first = *first;
  } else {
    const std::size_t slash = before.rfind('/');
    if (slash == std::string::npos || slash == 0) return std::nullopt;
    const auto number = parse_task_id(before.substr(slash + 1));
    if (!number || number->origin != 0) return std::nullopt;
    range.name = before.substr(0, slash);
    range.first = *number;
  }
  range.last = last->index;
  return range;
}

}  // namespace

std::uint64_t Explanation::count() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::size_t given_up_in(const ProcessExplained& process) {
  return static_cast<std::size_t>(std::count_if(process.running.begin(), process.running.end(),
                                                [](const RunningNow& running) { return running.given_up; }));
}

std::optional<WouldBegin> would_begin(const TaskReason& reason) {
  if (reason.task.state != RowState::ready) return std::nullopt;
  std::optional<WouldBegin> first;
  for (const event::Candidate& candidate : reason.task.candidates) {
    const Duration in = candidate.wait + candidate.transfer;
    if (candidate.misfit.empty() && (!first || in < first->in)) first = {candidate.process, in};
  }
  return first;
}

bool places_left_out(const TaskReason& reason) {
  const RowState state = reason.task.state;
  const bool begun = state != RowState::waiting && state != RowState::held && state != RowState::ready;
  return !begun && reason.task.candidates.empty();
}

std::optional<Duration> left_of(const TaskReason& reason) {
  if (!reason.running || !reason.task.usual) return std::nullopt;
  return std::max(Duration{0}, reason.task.usual->mean - reason.running->ran);
}

std::optional<Duration> not_before(const Explanation& found) {
  if (found.count() != 1 || found.roots_beyond) return std::nullopt;
  std::optional<Duration> latest;
  for (const TaskReason& root : found.roots) {
    const auto left = left_of(root);
    if (!left) return std::nullopt;  // The root may take any time.
    latest = std::max(latest.value_or(Duration{0}), *left);
  }
  return latest;
}

TaskSelector selector_of(const std::string& task, bool failed) {
  TaskSelector selector;
  selector.failed = failed;
  selector.name = task;
  if (const auto id = parse_task_id(task)) selector.tasks = {*id};
  selector.range = range_of(task);
  return selector;
}

std::vector<NodeWithout> nodes_without(const JobInfo& job, const std::vector<NodeInfo>& nodes) {
  std::vector<NodeWithout> without;
  if (job.workers.empty() || has_ended(job.phase)) return without;
  for (const NodeInfo& node : nodes) {
    const WorkerInfo* newest = nullptr;
    bool runs = false;
    for (const WorkerInfo& worker : job.workers) {
      if (worker.node != node.life.process) continue;
      runs = runs || worker.up;
      if (newest == nullptr || newest->life < worker.life) newest = &worker;
    }
    if (runs) continue;
    const auto why = [&]() -> std::string {
      if (node.state == MemberState::suspect) return "is suspected: it has not been heard for a while";
      if (node.state != MemberState::alive) return "is down";
      if (node.load.witness) return "is a witness: it runs no jobs";
      if (node.load.draining) return "is draining: it runs no jobs";
      if (newest == nullptr) return "has not started a process of the job";
      return newest->end.empty() ? "is starting a process of the job" : "its process ended: " + newest->end;
    };
    without.push_back({node.life.process, why()});
  }
  std::sort(without.begin(), without.end(),
            [](const NodeWithout& a, const NodeWithout& b) { return a.node < b.node; });
  return without;
}

TaskSelector selector_of_none() {
  TaskSelector selector;
  selector.tasks = {TaskId{}};
  return selector;
}

std::optional<PathLeft> critical_path_in(const client::Answer& answer) {
  if (!answer.silent.empty()) return std::nullopt;
  std::optional<PathLeft> longest;
  for (const ProcessExplained& process : answer.explained) {
    const auto& path = process.critical_path;
    if (path && (!longest || std::pair(longest->left, longest->tasks) < std::pair(path->left, path->tasks)))
      longest = path;
  }
  return longest;
}

Explanation explain(const AskProcesses& ask, const TaskSelector& what) {
  Explanation found;
  client::Answer answer = ask(what);
  for (const ProcessExplained& process : answer.explained) {
    for (std::size_t state = 0; state < row_states; ++state) found.counts[state] += process.counts[state];
  }
  found.tasks = reasons_in(answer);
  found.processes = std::move(answer.explained);
  found.silent = std::move(answer.silent);

  std::set<TaskId> asked;
  std::vector<TaskId> next;
  const auto follow = [&](const TaskExplained& task) {
    for (const TaskId before : task.waits_for) {
      if (asked.insert(before).second) next.push_back(before);
    }
    if (task.waits_for_all > task.waits_for.size()) found.roots_beyond = true;
  };
  for (const TaskReason& reason : found.tasks) asked.insert(reason.task.task);
  for (const TaskReason& reason : found.tasks) {
    if (waits_for_tasks(reason.task)) follow(reason.task);
  }
  for (int round = 0; !next.empty(); ++round) {
    if (round == rounds_max || found.roots.size() >= roots_max || asked.size() > asked_max) {
      found.roots_beyond = true;
      break;
    }
    TaskSelector before;
    before.tasks.assign(next.begin(),
                        next.begin() + static_cast<std::ptrdiff_t>(std::min(next.size(), explained_max)));
    next.erase(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(before.tasks.size()));
    client::Answer said = ask(before);
    for (TaskReason& reason : reasons_in(said)) {
      if (waits_for_tasks(reason.task)) {
        follow(reason.task);
      } else if (reason.task.state != RowState::ended) {  // The root may have ended meanwhile.
        found.roots.push_back(std::move(reason));
      }
    }
  }
  return found;
}

}  // namespace dag::detail
