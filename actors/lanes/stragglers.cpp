// A lane keeps some work back for a moment because its kernels are short: ends not yet reported, news not yet
// written, rows in its queue for which it called no lane. When a kernel is unexpectedly long, the lane cannot
// send them. A thread does that: it looks at lanes again and again while they begin kernels, and sleeps when
// all lanes are idle or inside of kernels for which this was done.

#include <pthread.h>

#include "actors/lanes/lane.hpp"

namespace dag {
namespace {

/// A kernel is a straggler when it is seen in two looks.
constexpr Duration between_looks = std::chrono::milliseconds(10);

}  // namespace

void Lanes::watch_stragglers() {
  pthread_setname_np(pthread_self(), "dag-stragglers");
  std::vector<std::uint64_t> seen(lanes_.size());
  const auto any_new_kernel = [&] {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (lane(i).turn.number() != seen[i]) return true;
    }
    return false;
  };
  std::unique_lock lock(watch_mutex_);
  while (!stopping_.load()) {
    watch_called_.wait_for(lock, between_looks);
    if (stopping_.load()) return;
    bool news = false;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const std::uint64_t number = lane(i).turn.number();
      if (number == seen[i]) {
        help_out(lane(i), number);
      } else {
        seen[i] = number;
        news = true;
      }
    }
    if (news) continue;
    // A lane that begins a kernel from here on sees this, or is seen.
    watch_sleeps_.store(true, std::memory_order_seq_cst);
    process_barrier();
    if (!any_new_kernel()) {
      watch_called_.wait(lock, [&] { return stopping_.load() || !watch_sleeps_.load(); });
    }
    watch_sleeps_.store(false);
  }
}

/// Does what `lane` would have done had it known how long its kernel takes.
void Lanes::help_out(Lane& lane, std::uint64_t kernel) {
  const bool inside = lane.turn.visit_if_inside(kernel, [&] {
    write_edges(lane);
    if (!lane.reports.empty()) send_reports(lane);
  });
  if (inside && lane.rows.size() > 0) work_was_added();
}

void Lanes::call_watch() {
  const std::lock_guard lock(watch_mutex_);
  watch_sleeps_.store(false);
  watch_called_.notify_one();
}

}  // namespace dag
