#include "nodes/keeper/job_stories.hpp"

namespace dag {

void JobStories::record(const JournalEvent& record) {
  const auto* known = std::get_if<event::TasksKnown>(&record.what);
  const auto* settled = std::get_if<event::Settled>(&record.what);
  if (known == nullptr && settled == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (settled != nullptr) ++settled_[static_cast<std::size_t>(settled->outcome)];
  if (known != nullptr && known->submitted) {
    JobStory& story = stories_[record.job] = {};
    story.add(record);
  } else if (const auto story = stories_.find(record.job); story != stories_.end()) {
    story->second.add(record);
  }
}

void JobStories::goes_on(const JobSoFar& job) {
  const std::lock_guard lock(mutex_);
  JobStory& story = stories_[job.job] = {};
  for (const JournalEvent& record : job.records) story.add(record);
  for (const auto& [name, tasks] : job.finished) story.add_finished(name, tasks);
}

std::optional<JobDetails> JobStories::details(JobId job) const {
  const std::lock_guard lock(mutex_);
  const auto story = stories_.find(job);
  return story == stories_.end() ? std::nullopt : std::optional(story->second.details());
}

void JobStories::forget(JobId job) {
  const std::lock_guard lock(mutex_);
  stories_.erase(job);
}

std::map<JobId, TaskCounts> JobStories::all_counts() const {
  const std::lock_guard lock(mutex_);
  std::map<JobId, TaskCounts> found;
  for (const auto& [job, story] : stories_) found.emplace(job, story.counts());
  return found;
}

std::array<std::uint64_t, JobStories::outcomes> JobStories::settled() const {
  const std::lock_guard lock(mutex_);
  return settled_;
}

}  // namespace dag
