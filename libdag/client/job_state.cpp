#include "libdag/client/job_state.hpp"

#include <algorithm>

#include "libdag/base/saturating.hpp"
#include "libdag/client/client.hpp"

namespace dag::detail {

JobState::~JobState() {
  if (client != nullptr && id != JobId{}) client->forget(id);
}

std::string JobState::label_of(std::uint32_t task) const {
  return "task " + (graph ? "'" + graph->name(task) + "'" : std::to_string(task));
}

void JobState::settle(std::uint32_t task, Settlement settlement) {
  const std::lock_guard lock(mutex_);
  if (!settled_.try_emplace(task, std::move(settlement)).second) return;
  order_.push_back(task);
  changed_.notify_all();
}

void JobState::count(std::map<Outcome, std::uint64_t> counts) {
  const std::lock_guard lock(mutex_);
  if (!ended_) counts_ = std::move(counts);
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

void JobState::want(const std::vector<std::uint32_t>& tasks) {
  std::vector<std::uint32_t> untold;
  {
    const std::lock_guard lock(mutex_);
    for (const std::uint32_t task : tasks) {
      if (wanted_.insert(task).second) untold.push_back(task);
    }
  }
  for (const std::uint32_t task : untold) client->want(id, task);
}

template <class Done>
void JobState::wait(std::unique_lock<std::mutex>& lock, Duration limit, const Done& done) {
  if (is_for_ever(limit)) {
    changed_.wait(lock, done);
  } else {
    changed_.wait_for(lock, limit, done);
  }
}

std::optional<Settlement> JobState::wait_for(std::uint32_t task, Duration limit) {
  want({task});
  std::unique_lock lock(mutex_);
  wait(lock, limit, [&] { return settled_.contains(task) || lost_; });
  const auto found = settled_.find(task);
  if (found != settled_.end()) return found->second;
  if (lost_) throw Failure(*lost_);
  return std::nullopt;
}

std::uint32_t JobState::wait_for_next(std::size_t before) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return order_.size() > before || lost_; });
  if (order_.size() <= before) throw Failure(*lost_);
  return order_[before];
}

std::optional<bool> JobState::wait_for_end(std::optional<Duration> limit) {
  std::unique_lock lock(mutex_);
  wait(lock, limit.value_or(for_ever), [&] { return ended_ || lost_; });
  if (lost_ && !ended_) throw Failure(*lost_);
  return ended_;
}

std::map<Outcome, std::uint64_t> JobState::counts() {
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || lost_ || client == nullptr) return counts_;
  }
  if (auto newest = client->counts(id)) count(std::move(*newest));
  const std::lock_guard lock(mutex_);
  return counts_;
}

InOrderOfEnds::InOrderOfEnds(std::shared_ptr<JobState> state, const std::vector<std::uint32_t>& tasks)
    : state_(std::move(state)), left_(tasks.size()) {
  for (std::size_t place = 0; place < tasks.size(); ++place) places_.emplace_back(tasks[place], place);
  std::sort(places_.begin(), places_.end());
  state_->want(tasks);
}

std::optional<std::size_t> InOrderOfEnds::next() {
  if (left_ == 0) return std::nullopt;
  while (ended_.empty()) {
    const std::uint32_t task = state_->wait_for_next(heard_++);
    // A task that was named twice is given twice.
    auto at = std::lower_bound(places_.begin(), places_.end(), std::pair(task, std::size_t{0}));
    for (; at != places_.end() && at->first == task; ++at) ended_.push_back(at->second);
  }
  --left_;
  const std::size_t place = ended_.back();
  ended_.pop_back();
  return place;
}

}  // namespace dag::detail
