#include "nodes/machine/memory_watch.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

namespace dag {
namespace {

/// How long a submission waits for others that run before it goes on with what there is; and for the handles
/// of those that have ended.
constexpr std::chrono::seconds patience{10}, patience_with_handles{1};
/// Looked at the less often the more is left: all cores of a host together do not touch new pages faster.
constexpr std::uint64_t bytes_per_ms = 4u << 20;
constexpr std::chrono::milliseconds glance_min{20}, glance_max{1000};
/// A stopped job's memory must be free after this time, or another job is stopped.
constexpr std::chrono::milliseconds after_stop{500};

/// A number alone in a file; nothing when there is none, as in `max`.
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

/// The value of a line `KEY value` or `KEY: value`.
std::optional<std::uint64_t> line_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string name;
  std::uint64_t value = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    if (words >> name >> value && (name == key || name == key + ":")) return value;
  }
  return std::nullopt;
}

/// Control groups of version 2: the nearest group at or above this process that has a limit.
std::optional<MemoryBound> bound_of_group() {
  static const std::string path = [] {
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("0::")) return line.substr(3);
    }
    return std::string();
  }();
  for (std::string group = path; !group.empty(); group.resize(group.rfind('/'))) {
    const std::string directory = "/sys/fs/cgroup" + group;
    if (const auto limit = number_in(directory + "/memory.max")) {
      const std::uint64_t used = number_in(directory + "/memory.current").value_or(0);
      const std::uint64_t files = line_in(directory + "/memory.stat", "inactive_file").value_or(0);
      return MemoryBound{"its control group's memory", *limit, used - std::min(used, files)};
    }
  }
  return std::nullopt;
}

std::optional<MemoryBound> bound_of_addresses() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return MemoryBound{"addresses (ulimit -v)", limit.rlim_cur,
                     number_in("/proc/self/statm").value_or(0) * page, true};
}

std::optional<MemoryBound> bound_of_machine() {
  constexpr std::uint64_t kibi = 1024;
  const auto all = line_in("/proc/meminfo", "MemTotal"), free = line_in("/proc/meminfo", "MemAvailable");
  if (!all || !free) return std::nullopt;
  return MemoryBound{"this machine's memory", *all * kibi, (*all - std::min(*all, *free)) * kibi};
}

}  // namespace

std::vector<MemoryBound> memory_bounds_here() {
  std::vector<MemoryBound> bounds;
  for (auto* bound : {bound_of_addresses, bound_of_group, bound_of_machine}) {
    if (auto found = bound()) bounds.push_back(std::move(*found));
  }
  return bounds;
}

MemoryWatch::MemoryWatch(std::function<void(JobId, Error)> stop) : stop_(std::move(stop)) {
  thread_ = std::thread([this] { watch(); });
}

MemoryWatch::~MemoryWatch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void MemoryWatch::look() {
  bounds_ = memory_bounds_here();
  looked_ = std::chrono::steady_clock::now();
}

/// Returns freed memory to the kernel first: pages that the allocator keeps are not in use.
void MemoryWatch::look_closely() {
  malloc_trim(0);
  look();
  const std::uint64_t free = mallinfo2().fordblks;
  for (MemoryBound& bound : bounds_) {
    if (bound.of_addresses) bound.used -= std::min<std::uint64_t>(bound.used, free);
  }
}

/// Counts memory that jobs have been promised and have not touched yet, too.
bool MemoryWatch::fits_beside_others(std::uint64_t bytes) const {
  std::uint64_t promised = 0;
  for (const auto& [id, job] : jobs_) promised += job.most;
  std::vector<MemoryBound> then = bounds_;
  for (std::size_t i = 0; i < then.size() && i < without_jobs_.size(); ++i) {
    then[i].used = std::max(then[i].used, without_jobs_[i].used + promised);
  }
  return fits(then, bytes);
}

Status MemoryWatch::enter(JobId job, const detail::Fragment& graph) {
  const JobMemory need = memory_of_job(graph);
  const auto begun = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (begun - looked_ > glance_max) look();
  if (jobs_.empty()) without_jobs_ = bounds_;
  while (!fits_beside_others(need.most)) {
    look_closely();
    if (jobs_.empty()) without_jobs_ = bounds_;
    if (fits_beside_others(need.most)) break;
    if (!worth_waiting(begun)) {
      if (auto why = refusal(bounds_, need.least)) return *why;
      break;
    }
    changed_.wait_for(lock, std::chrono::milliseconds(100));
  }
  add_locked(job, need);
  return Done{};
}

void MemoryWatch::add(JobId job, const detail::Fragment& graph) {
  const std::lock_guard lock(mutex_);
  add_locked(job, memory_of_job(graph));
}

void MemoryWatch::add_locked(JobId job, const JobMemory& need) {
  if (jobs_.empty()) changed_.notify_all();
  jobs_[job].most = need.most;
}

bool MemoryWatch::worth_waiting(std::chrono::steady_clock::time_point since) const {
  const auto now = std::chrono::steady_clock::now();
  if (jobs_.empty()) return now - changed_at_ < patience_with_handles;  // The last is being taken apart.
  if (now - since > patience) return false;
  const bool runs =
      std::any_of(jobs_.begin(), jobs_.end(), [](const auto& one) { return !one.second.ended; });
  return runs || now - std::max(since, changed_at_) < patience_with_handles;
}

void MemoryWatch::ended(JobId job) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  found->second.ended = true;
  changed_at_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

void MemoryWatch::leave(JobId job) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(job);
  changed_at_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

void MemoryWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    if (jobs_.empty()) {
      changed_.wait(lock);
      continue;
    }
    look();
    const auto why = shortage(bounds_);
    const auto youngest =
        std::find_if(jobs_.rbegin(), jobs_.rend(), [](const auto& one) { return !one.second.stopped; });
    if (!why || youngest == jobs_.rend()) {
      const std::chrono::milliseconds until_then(memory_left(bounds_) / bytes_per_ms);
      changed_.wait_for(lock, std::clamp(until_then, glance_min, glance_max), [this] { return over_; });
      continue;
    }
    youngest->second.stopped = true;
    const JobId job = youngest->first;
    lock.unlock();
    stop_(job, *why);
    lock.lock();
    changed_.wait_for(lock, after_stop, [this] { return over_; });
  }
}

}  // namespace dag
