#include "nodes/checkpoint_writer.hpp"

#include <algorithm>

namespace dag {

namespace fs = std::filesystem;

CheckpointWriter::CheckpointWriter(fs::path directory, Life self, Log log, Files& files)
    : directory_(std::move(directory)), self_(self), log_(std::move(log)), files_(files), thread_([this] {
        run();
      }) {}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

fs::path CheckpointWriter::place_of(JobId job) const {
  return directory_ / (to_string(self_) + "-" + to_string(job));
}

void CheckpointWriter::keep(const JobPlan& plan, KeepSave save) {
  const message::SavedAs& as = save.as;
  const detail::Fragment& graph = *plan.graph;
  if (as.actor >= graph.actors.size()) return;
  const std::lock_guard lock(mutex_);
  if (over_.contains(plan.job)) return;
  Group& group = jobs_[plan.job].groups[as.group];
  auto& members = group.unfinished[as.number];
  Checkpoint::Chunk chunk{graph.names[graph.actors[as.actor].name], to_string(save.name.task),
                          to_string(save.name.attempt), std::move(save.bytes)};
  members.insert_or_assign(as.actor, std::pair(save.name, std::move(chunk)));
  if (members.size() < as.members) {
    if (group.unfinished.size() > unfinished_max) group.unfinished.erase(group.unfinished.begin());
    return;
  }
  Whole whole;
  whole.checkpoint.job = to_string(plan.job) + " " + plan.name;
  whole.checkpoint.group = as.group;
  whole.checkpoint.number = as.number;
  for (auto& [actor, member] : members) {
    whole.names.push_back(member.first);
    whole.checkpoint.chunks.push_back(std::move(member.second));
  }
  group.unfinished.erase(as.number);
  // Homes say again what they saved when they are counted again: what is on the disk stays there.
  const auto there = group.written.find(as.number);
  const bool same = there != group.written.end() && there->second == whole.names;
  const bool old = group.written.size() == 2 && as.number < group.written.begin()->first;
  if (same || old) return;
  group.waiting = std::move(whole);
  changed_.notify_all();
}

void CheckpointWriter::job_ended(JobId job, bool well) {
  const std::lock_guard lock(mutex_);
  over_.insert(job);
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  found->second.ended = well;
  changed_.notify_all();
}

void CheckpointWriter::run() {
  say_what_is_there();
  std::unique_lock lock(mutex_);
  for (;;) {
    if (work_once(lock)) continue;
    if (stopping_) return;
    changed_.wait(lock);
  }
}

/// One save, or the end of one job. False: nothing is to be done.
bool CheckpointWriter::work_once(std::unique_lock<std::mutex>& lock) {
  for (auto& [id, job] : jobs_) {
    if (job.ended == true) {
      const fs::path place = place_of(id);
      jobs_.erase(JobId(id));
      lock.unlock();
      std::error_code failed;
      fs::remove_all(place, failed);
      if (failed) log_(LogLevel::warn, "cannot delete " + place.string() + ": " + failed.message());
      lock.lock();
      return true;
    }
    for (auto& [number, group] : job.groups) {
      if (!group.waiting) continue;
      Whole whole = std::move(*group.waiting);
      group.waiting.reset();
      write(lock, id, number, std::move(whole));
      return true;
    }
    if (job.ended) {
      const std::string line =
          to_string(id) + " did not end well: its saves stay in " + place_of(id).string();
      jobs_.erase(JobId(id));
      lock.unlock();
      log_(LogLevel::info, line);
      lock.lock();
      return true;
    }
  }
  return false;
}

void CheckpointWriter::write(std::unique_lock<std::mutex>& lock, JobId id, std::uint32_t number,
                             Whole whole) {
  Checkpoint& checkpoint = whole.checkpoint;
  const fs::path place = place_of(id) / ("group-" + std::to_string(number));
  lock.unlock();
  // Only this thread writes there, and deletes.
  for (const std::uint32_t there : saves_in(place)) {
    if (there < checkpoint.number) checkpoint.previous = there;
  }
  const Status written = write_checkpoint(place, checkpoint, files_);
  const std::string what = "save " + std::to_string(checkpoint.number) + " of " + checkpoint.job +
                           ", group " + std::to_string(number);
  if (written) {
    log_(LogLevel::info, what + ", is on the disk: " + save_path(place, checkpoint.number).string());
  } else {
    log_(LogLevel::warn,
         what + ", is not kept on the disk: " + written.error().what +
             (checkpoint.previous != 0 ? "; save " + std::to_string(checkpoint.previous) + " still is"
                                       : std::string()));
  }
  lock.lock();
  const auto job = jobs_.find(id);
  if (!written || job == jobs_.end()) return;
  auto& saves = job->second.groups[number].written;
  saves[checkpoint.number] = std::move(whole.names);
  while (saves.size() > 2) saves.erase(saves.begin());
}

/// Of earlier starts: jobs that failed, or that died with the node.
void CheckpointWriter::say_what_is_there() const {
  std::error_code none;
  for (const auto& job : fs::directory_iterator(directory_, none)) {
    for (const auto& group : fs::directory_iterator(job.path(), none)) {
      const std::vector<std::uint32_t> saves = saves_in(group.path());
      if (saves.empty()) continue;
      const fs::path newest = save_path(group.path(), saves.back());
      const Result<Checkpoint> read = read_checkpoint(newest);
      if (read) {
        log_(LogLevel::info, "an earlier start left " + newest.string() + ", of " + read->job + ": intact");
      } else {
        log_(LogLevel::warn, "an earlier start left a checkpoint that cannot be used: " + read.error().what);
      }
    }
  }
}

}  // namespace dag
