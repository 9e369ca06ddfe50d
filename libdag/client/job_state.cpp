#include "libdag/client/job_state.hpp"

#include "libdag/client/client.hpp"

namespace dag::detail {

JobState::~JobState() {
  if (client != nullptr && id != JobId{}) client->forget(id);
}

void JobState::settle(std::uint32_t task, Settlement settlement) {
  const std::lock_guard lock(mutex_);
  settled_.try_emplace(task, std::move(settlement));
  changed_.notify_all();
}

void JobState::end(bool ok, std::map<Outcome, std::uint64_t> counts) {
  const std::lock_guard lock(mutex_);
  ended_ = ok;
  counts_ = std::move(counts);
  changed_.notify_all();
}

void JobState::lose(Error why) {
  const std::lock_guard lock(mutex_);
  lost_ = std::move(why);
  changed_.notify_all();
}

Settlement JobState::wait_for(std::uint32_t task) {
  client->want(id, task);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return settled_.contains(task) || lost_; });
  const auto found = settled_.find(task);
  if (found == settled_.end()) throw Failure(*lost_);
  return found->second;
}

std::size_t JobState::wait_for_any(const std::vector<std::uint32_t>& tasks) {
  for (const std::uint32_t task : tasks) client->want(id, task);
  std::unique_lock lock(mutex_);
  std::size_t which = tasks.size();
  changed_.wait(lock, [&] {
    for (which = 0; which < tasks.size() && !settled_.contains(tasks[which]);) ++which;
    return which < tasks.size() || lost_;
  });
  if (which == tasks.size()) throw Failure(*lost_);
  return which;
}

std::optional<bool> JobState::wait_for_end(std::optional<Duration> limit) {
  std::unique_lock lock(mutex_);
  const auto done = [&] { return ended_.has_value() || lost_.has_value(); };
  if (limit) {
    changed_.wait_for(lock, *limit, done);
  } else {
    changed_.wait(lock, done);
  }
  if (lost_ && !ended_) throw Failure(*lost_);
  return ended_;
}

std::map<Outcome, std::uint64_t> JobState::counts() {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace dag::detail
