#include "libdag/keeper/job_story.hpp"

#include <algorithm>

namespace dag {
namespace {

std::string cut(const std::string& text) { return text.substr(0, JobStory::text_bytes_max); }

/// Smaller is worth more: a task that failed by itself tells more than tasks that were cancelled with it.
int rank(const TaskInfo& task) {
  if (task.outcome == Outcome::failed) return 0;
  return task.outcome == Outcome::finished ? 1 : 2;  // Finished, but late.
}

}  // namespace

void JobStory::add(const JournalEvent& record) {
  if (const auto* known = std::get_if<event::TasksKnown>(&record.what)) {
    for (const event::TaskClass& one : known->classes) counts_of(one.name).open += one.tasks;
  } else if (const auto* settled = std::get_if<event::Settled>(&record.what)) {
    add(record, *settled);
  }
}

void JobStory::add_finished(const std::string& name, std::uint64_t tasks) {
  JobCounts& counts = counts_of(name);
  counts.open -= std::min(counts.open, tasks);
  counts.finished += tasks;
}

JobCounts& JobStory::counts_of(const std::string& name) {
  const std::string kept = cut(name);
  const auto found = classes_.find(kept);
  if (found != classes_.end()) return found->second;
  return classes_.size() < classes_max ? classes_[kept] : details_.others;
}

void JobStory::add(const JournalEvent& record, const event::Settled& settled) {
  JobCounts& counts = counts_of(settled.name);
  if (counts.open > 0) --counts.open;
  switch (settled.outcome) {
    case Outcome::finished:
      ++counts.finished;
      break;
    case Outcome::failed:
      ++counts.failed;
      break;
    case Outcome::skipped:
      ++counts.skipped;
      break;
    default:
      ++counts.cancelled;
      break;
  }
  const bool late = settled.late > Duration{0};
  if (late) ++details_.late;
  // A task skipped by its condition is as intended: only a failure has a cause.
  const bool by_condition =
      settled.outcome == Outcome::skipped && (!settled.error || settled.error->cause.empty());
  if (!late && (settled.outcome == Outcome::finished || by_condition)) return;
  TaskInfo task{record.task, cut(settled.name), settled.outcome, settled.tries, settled.error, settled.late};
  if (task.error) {
    task.error->what = cut(task.error->what);
    task.error->hint = cut(task.error->hint);
    task.error->cause = cut(task.error->cause);
  }
  keep(std::move(task));
}

void JobStory::keep(TaskInfo task) {
  std::vector<TaskInfo>& kept = details_.tasks;
  if (kept.size() == tasks_max) {
    ++details_.tasks_beyond;
    // The last of the tasks with the lowest rank is replaced.
    const auto least = std::max_element(kept.rbegin(), kept.rend(), [](const auto& one, const auto& other) {
      return rank(one) < rank(other);
    });
    if (rank(*least) <= rank(task)) return;
    kept.erase(std::next(least).base());
  }
  kept.push_back(std::move(task));
}

JobDetails JobStory::details() const {
  JobDetails details = details_;
  details.classes = counts().classes;
  return details;
}

TaskCounts JobStory::counts() const {
  TaskCounts tasks{{}, details_.others};
  for (const auto& [name, of_name] : classes_) tasks.classes.push_back({name, of_name});
  return tasks;
}

}  // namespace dag
