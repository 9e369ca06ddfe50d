#include "nodes/disk/checkpoint_store.hpp"

#include <algorithm>
#include <charconv>

#include "libdag/base/in_turn.hpp"

namespace dag {
namespace {

namespace fs = std::filesystem;

std::string line_of(JobId job, const std::string& name) { return to_string(job) + " " + name; }

/// Parses "n0.17-job3": 17 and job3.
std::optional<std::pair<std::uint32_t, JobId>> start_and_job(const std::string& directory) {
  const auto dash = directory.find('-'), dot = directory.find('.');
  if (dash == std::string::npos || dot > dash) return std::nullopt;
  const auto job = parse_job_id(std::string_view(directory).substr(dash + 1));
  std::uint32_t start = 0;
  std::from_chars(directory.data() + dot + 1, directory.data() + dash, start);
  if (!job) return std::nullopt;
  return std::pair(start, *job);
}

std::string task_directory(TaskId task) {
  std::string name = "task-" + to_string(task);
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

std::vector<fs::path> in(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<OutputName> names_of(const Checkpoint& checkpoint) {
  std::vector<OutputName> names;
  for (const Checkpoint::Chunk& chunk : checkpoint.chunks) names.push_back(chunk.name);
  return names;
}

}  // namespace

CheckpointStore::CheckpointStore(fs::path directory, Life self, std::set<JobId> open, Log log, Files& files)
    : directory_(std::move(directory)),
      self_(self),
      open_(std::move(open)),
      log_(std::move(log)),
      files_(files) {
  std::map<JobId, std::uint32_t> newest;
  for (const fs::path& place : in(directory_)) {
    const auto named = start_and_job(place.filename().string());
    if (!named || !open_.contains(named->second) || named->first < newest[named->second]) continue;
    newest[named->second] = named->first;
    earlier_[named->second] = place;
  }
  thread_ = std::thread([this] { run(); });
}

CheckpointStore::~CheckpointStore() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

fs::path CheckpointStore::place_now(JobId job) const {
  return directory_ / (to_string(self_) + "-" + to_string(job));
}

/// Where an earlier start left saves of this very job, or a place of this start. `line`: as Checkpoint::job;
/// numbers are given again when a node has lost its log.
const fs::path& CheckpointStore::place_of(JobId job, const std::string& line) {
  const auto [at, is_new] = places_.try_emplace(job, place_now(job));
  const auto earlier = earlier_.find(job);
  if (!is_new || earlier == earlier_.end()) return at->second;
  for (const fs::path& group : in(earlier->second)) {
    for (const std::uint32_t number : saves_in(group)) {
      if (job_of_save(save_path(group, number)) != line) continue;
      at->second = earlier->second;
      return at->second;
    }
  }
  return at->second;
}

void CheckpointStore::keep(keeper::SaveCopy copy) {
  const message::SavedAs& as = copy.save.as;
  const bool of_task = as.members == 0;
  const std::lock_guard lock(mutex_);
  if (over_.contains(copy.job)) return;
  Group& group =
      jobs_[copy.job]
          .groups[of_task ? task_directory(copy.save.name.task) : "group-" + std::to_string(as.group)];
  // A task's have no numbers of their own: they come in their order.
  const std::uint32_t number = as.number;
  auto& members = group.unfinished[number];
  members.insert_or_assign(as.actor,
                           Checkpoint::Chunk{copy.actor_name, copy.save.name, std::move(copy.save.inputs),
                                             std::move(copy.save.bytes)});
  if (members.size() < as.members) {
    if (group.unfinished.size() > unfinished_max) group.unfinished.erase(group.unfinished.begin());
    return;
  }
  Checkpoint whole;
  whole.job = line_of(copy.job, copy.job_name);
  whole.group = as.group;
  whole.number = number;
  for (auto& [actor, chunk] : members) whole.chunks.push_back(std::move(chunk));
  group.unfinished.erase(number);
  // Recounted homes repeat their saves: those on the disk stay there.
  const Names names = names_of(whole);
  const bool same = std::any_of(group.written.begin(), group.written.end(), [&](const auto& one) {
    return one.second == names && (of_task || one.first == number);
  });
  const bool old = !of_task && group.written.size() == 2 && number < group.written.begin()->first;
  if (same || old) return;
  group.waiting = std::move(whole);
  changed_.notify_all();
}

void CheckpointStore::job_ended(JobId job, bool well) {
  const std::lock_guard lock(mutex_);
  if (!over_.insert(job).second) return;
  jobs_[job].ended = well;
  changed_.notify_all();
}

bool CheckpointStore::read(JobId job, const std::string& job_name,
                           std::function<void(std::vector<KeepSave>)> done) {
  const std::lock_guard lock(mutex_);
  if (!jobs_.contains(job) && !earlier_.contains(job)) return false;
  reads_.push_back({job, line_of(job, job_name), std::move(done)});
  changed_.notify_all();
  return true;
}

void CheckpointStore::run() {
  say_what_is_there();
  std::unique_lock lock(mutex_);
  for (;;) {
    if (work_once(lock)) continue;
    if (stopping_) return;
    changed_.wait(lock);
  }
}

/// Does one save, the saves of one job, or its end. False: nothing to do. Takes jobs in turn, and the groups
/// of each: a group that saves faster than the disk writes would keep the others waiting for ever.
bool CheckpointStore::work_once(std::unique_lock<std::mutex>& lock) {
  if (!reads_.empty()) {
    const Read read = std::move(reads_.front());
    reads_.erase(reads_.begin());
    bring_back(lock, read);
    return true;
  }
  const auto waits = [](const auto& group) { return group.second.waiting.has_value(); };
  const auto found = next_in_turn(jobs_, served_, [&](const auto& one) {
    const Job& job = one.second;
    return job.ended || std::any_of(job.groups.begin(), job.groups.end(), waits);
  });
  if (found == jobs_.end()) return false;
  const JobId id = served_ = found->first;
  Job& job = found->second;
  const auto group = next_in_turn(job.groups, job.served, waits);
  if (job.ended == true || group == job.groups.end()) {
    forget(lock, id, *job.ended);
    return true;
  }
  job.served = group->first;
  Checkpoint whole = std::move(*group->second.waiting);
  group->second.waiting.reset();
  write(lock, id, std::string(job.served), std::move(whole));
  return true;
}

void CheckpointStore::forget(std::unique_lock<std::mutex>& lock, JobId id, bool well) {
  jobs_.erase(id);
  lock.unlock();
  places_.erase(id);
  std::vector<fs::path> places{place_now(id)};
  if (earlier_.contains(id)) places.push_back(earlier_.at(id));
  for (const fs::path& place : places) {
    std::error_code failed;
    if (!fs::exists(place, failed)) continue;
    if (!well) {
      log_(LogLevel::info, to_string(id) + " did not end well: its saves stay in " + place.string());
      continue;
    }
    fs::remove_all(place, failed);
    if (failed) log_(LogLevel::warn, "cannot delete " + place.string() + ": " + failed.message());
  }
  lock.lock();
}

void CheckpointStore::write(std::unique_lock<std::mutex>& lock, JobId id, const std::string& name,
                            Checkpoint checkpoint) {
  lock.unlock();
  // Only this thread writes there, and deletes.
  const fs::path place = place_of(id, checkpoint.job) / name;
  const std::vector<std::uint32_t> there = saves_in(place);
  if (checkpoint.number == 0) checkpoint.number = there.empty() ? 1 : there.back() + 1;
  for (const std::uint32_t number : there) {
    if (number < checkpoint.number) checkpoint.previous = number;
  }
  const Status written = write_checkpoint(place, checkpoint, files_);
  std::string what = "save " + std::to_string(checkpoint.number) + " of " + checkpoint.job + ", " + name;
  std::replace(what.end() - static_cast<std::ptrdiff_t>(name.size()), what.end(), '-', ' ');
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
  auto& saves = job->second.groups[name].written;
  saves[checkpoint.number] = names_of(checkpoint);
  while (saves.size() > 2) saves.erase(saves.begin());
}

void CheckpointStore::bring_back(std::unique_lock<std::mutex>& lock, const Read& read) {
  lock.unlock();
  std::vector<KeepSave> found;
  std::map<std::string, std::map<std::uint32_t, Names>> there;
  for (const fs::path& group : in(place_of(read.job, read.line))) {
    for (const std::uint32_t number : saves_in(group)) {
      Result<Checkpoint> save = read_checkpoint(save_path(group, number));
      if (!save) {
        log_(LogLevel::warn, "a save of " + read.line + " cannot be used: " + save.error().what);
        continue;
      }
      if (save->job != read.line) continue;
      there[group.filename().string()][number] = names_of(*save);
      for (Checkpoint::Chunk& chunk : save->chunks)
        found.push_back({{}, chunk.name, std::move(chunk.inputs), std::move(chunk.state)});
    }
  }
  if (!found.empty())
    log_(LogLevel::info,
         read.line + " has " + std::to_string(found.size()) + " saved states on the disk here");
  lock.lock();
  if (!over_.contains(read.job)) {
    for (auto& [name, saves] : there) jobs_[read.job].groups[name].written = std::move(saves);
  }
  lock.unlock();
  read.done(std::move(found));
  lock.lock();
}

/// Reports saves of failed jobs of earlier starts.
void CheckpointStore::say_what_is_there() const {
  for (const fs::path& job : in(directory_)) {
    const auto named = start_and_job(job.filename().string());
    if (named && open_.contains(named->second)) continue;
    for (const fs::path& group : in(job)) {
      const std::vector<std::uint32_t> saves = saves_in(group);
      if (saves.empty()) continue;
      const fs::path newest = save_path(group, saves.back());
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
