#include "libdag/log/retention_machine.hpp"

namespace dag::log {

void RetentionMachine::on_size(JobId job, std::size_t size_bytes) {
  std::size_t& now = size_bytes_[job];
  all_bytes_ += size_bytes - now;
  now = size_bytes;
}

void RetentionMachine::on_more(JobId job, std::size_t size_bytes) {
  size_bytes_[job] += size_bytes;
  all_bytes_ += size_bytes;
}

void RetentionMachine::on_forgotten(JobId job) {
  on_size(job, 0);
  size_bytes_.erase(job);
}

void RetentionMachine::on_needed(JobId job, std::uint64_t segment) {
  on_unneeded(job);
  needed_[job] = segment;
  by_segment_.emplace(segment, job);
}

void RetentionMachine::on_unneeded(JobId job) {
  again_.erase(job);
  const auto found = needed_.find(job);
  if (found == needed_.end()) return;
  by_segment_.erase({found->second, job});
  needed_.erase(found);
}

std::optional<std::uint64_t> RetentionMachine::oldest() const {
  return by_segment_.empty() ? std::nullopt : std::optional(by_segment_.begin()->first);
}

std::vector<JobId> RetentionMachine::take_to_write_again(std::uint64_t last) {
  std::vector<JobId> jobs;
  const auto first = oldest();
  if (!first || *first >= last || !again_.empty()) return jobs;
  if ((last - *first) * options_.segment_bytes <= 2 * all_bytes_ + options_.slack_bytes) return jobs;
  std::size_t taken_bytes = 0;
  for (const auto& [segment, job] : by_segment_) {
    if (segment != *first || taken_bytes >= options_.batch_bytes_max) break;
    const auto size = size_bytes_.find(job);
    if (size == size_bytes_.end()) continue;  // Forgotten: it goes by itself.
    taken_bytes += size->second;
    again_.insert(job);
    jobs.push_back(job);
  }
  return jobs;
}

}  // namespace dag::log
