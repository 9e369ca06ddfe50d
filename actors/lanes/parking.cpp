// Who sleeps and who is woken. A woken lane searches; while one searches nobody is woken, and when it finds
// something it wakes the next one, so that a burst of work wakes lanes one after another, and a trickle one.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "actors/lanes/lane.hpp"
#include "libdag/base/process_barrier.hpp"

namespace dag {
namespace {

/// How many rows behind the first a lane takes out of the inbox at once.
constexpr std::size_t batch_max = 16;
/// Between two looks at the others' queues, whose cache lines they need: some tenths of a microsecond.
constexpr int pauses_between_looks = 4;

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t while_it_is) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, while_it_is, nullptr, nullptr, 0);
}
void futex_wake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

std::optional<Work> Lanes::steal(Lane& lane) {
  const bool known = lane.index < options_.victims.size();
  for (std::size_t i = 1; i < lanes_.size(); ++i) {
    Lane& victim = this->lane(known ? options_.victims[lane.index][i - 1] : (lane.index + i) % lanes_.size());
    while (victim.rows.size() > 0) {
      if (auto ready = victim.rows.steal([&](LaneShard* shard) { lane.enters(shard); })) {
        return Work{*ready, nullptr, Priority::normal};
      }
    }
  }
  return std::nullopt;
}

std::optional<Work> Lanes::look_everywhere(Lane& lane) {
  if (read_edges(lane)) {
    if (auto ready = lane.rows.pop([&](LaneShard* shard) { lane.enters(shard); })) {
      if (lane.rows.size() > 0) work_was_added();
      return Work{*ready, nullptr, Priority::normal};
    }
  }
  if (inbox_.has_any()) {
    const std::size_t share = inbox_.size() / (2 * lanes_.size());
    if (auto work =
            inbox_.pop(Priority::normal, lane.inside, lane.rows, share < batch_max ? share : batch_max)) {
      return work;
    }
  }
  if (auto work = steal(lane)) return work;
  if (inbox_.has_any()) return inbox_.pop(Priority::low, lane.inside, lane.rows, 0);
  return std::nullopt;
}

bool Lanes::anything_queued() const {
  if (inbox_.has_any()) return true;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lane(i).rows.size() > 0) return true;
  }
  return false;
}

/// Nothing was found: looks on for a while, then sleeps until woken. Nothing only when all is to stop.
std::optional<Work> Lanes::search(Lane& lane) {
  searching_.fetch_add(1, std::memory_order_seq_cst);
  while (!stopping_.load(std::memory_order_relaxed)) {
    std::optional<Work> work = look_everywhere(lane);
    const std::int64_t until = clock_.now() + clock_.ticks(options_.spin);
    while (!work && clock_.now() < until && !stopping_.load(std::memory_order_relaxed)) {
      for (int i = 0; i < pauses_between_looks; ++i) pause();
      if (edge_news(lane) || anything_queued()) work = look_everywhere(lane);
    }
    if (!work) {
      lane.enters(nullptr);  // A row that somebody else got first may have made it enter.
      lane.sleep.store(Lane::asleep, std::memory_order_seq_cst);
      asleep_.fetch_add(1, std::memory_order_seq_cst);
      searching_.fetch_sub(1, std::memory_order_seq_cst);
      process_barrier();
      work = look_everywhere(lane);
      if (work || stopping_.load(std::memory_order_seq_cst)) {
        wake(lane);  // Unless somebody else did: awake and searching it is in any case.
      } else {
        let_go(lane);  // Of what it read while it looked for work.
        lane.enters(nullptr);
        while (lane.sleep.load(std::memory_order_acquire) == Lane::asleep) {
          futex_wait(lane.sleep, Lane::asleep);
        }
      }
    }
    if (work) {
      found_after_search();
      return work;
    }
  }
  searching_.fetch_sub(1, std::memory_order_seq_cst);
  return std::nullopt;
}

/// Whoever added work while this lane searched has woken nobody.
void Lanes::found_after_search() {
  if (searching_.fetch_sub(1, std::memory_order_seq_cst) == 1 && anything_queued()) work_was_added();
}

void Lanes::work_was_added() {
  light_barrier();
  if (asleep_.load(std::memory_order_relaxed) == 0 || searching_.load(std::memory_order_relaxed) > 0) return;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (wake(lane(i))) return;
  }
}

/// Counts the lane as searching before it can know of it, so that nobody else is woken for the same work.
bool Lanes::wake(Lane& lane) {
  std::uint32_t seen = Lane::asleep;
  if (lane.sleep.load(std::memory_order_relaxed) != Lane::asleep ||
      !lane.sleep.compare_exchange_strong(seen, Lane::awake, std::memory_order_seq_cst)) {
    return false;
  }
  asleep_.fetch_sub(1, std::memory_order_seq_cst);
  searching_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(lane.sleep);
  return true;
}

}  // namespace dag
