// Sleeping and waking of lanes. A lane that is called searches. While one searches, or was called and is not
// awake yet, no other is called, and when it finds work it calls the next one: so a burst of work wakes lanes
// one after another, and a trickle one.
//
// The sleeper that is awake first takes a call (bell.hpp), so no lane can keep a call to itself: a lane that
// runs a kernel, or was abandoned, is not among the sleepers.

#include <algorithm>

#include "actors/lanes/lane.hpp"
#include "libdag/base/process_barrier.hpp"

namespace dag {
namespace {

/// How many rows behind the first a lane takes out of the inbox at once.
constexpr std::size_t batch_max = 16;
/// Between two looks at the others' queues, whose cache lines they need: some tenths of a microsecond.
constexpr int pauses_between_looks = 4;

/// A dead or broken peer can at worst swallow a call: then a lane looks again after this time. Long, because
/// an idle process must cost nothing.
constexpr Duration sleep_max = std::chrono::seconds(2);
/// No other process rings.
constexpr Duration sleep_max_alone = std::chrono::hours(1);

using Bell = ring::Bell<std::atomic>;

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
        if (options_.running != nullptr) options_.running->stole(lane.index);
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

/// Nothing was found: looks on for a while, then sleeps until called. Nothing only when all is to stop.
std::optional<Work> Lanes::search(Lane& lane) {
  searching_.fetch_add(1, std::memory_order_seq_cst);
  const Duration timeout = options_.doorbell ? sleep_max : sleep_max_alone;
  bool called = true;
  while (!stopping_.load(std::memory_order_relaxed)) {
    std::optional<Work> work = look_everywhere(lane);
    if (!work) say_dry();
    // Whom only the time has woken does not look on.
    const std::int64_t until = clock_.now() + (called ? clock_.ticks(options_.spin) : 0);
    while (!work && clock_.now() < until && !stopping_.load(std::memory_order_relaxed)) {
      for (int i = 0; i < pauses_between_looks; ++i) pause();
      if (edge_news(lane) || anything_queued()) work = look_everywhere(lane);
    }
    if (!work) {
      lane.enters(nullptr);  // A row that another lane got first may have made it enter.
      bells_.workers.prepare_wait();
      searching_.fetch_sub(1, std::memory_order_seq_cst);
      process_barrier();
      work = look_everywhere(lane);
      if (work || ring_news(*lane.known) || stopping_.load(std::memory_order_seq_cst)) {
        bells_.workers.cancel_wait();
      } else {
        let_go(lane);  // Releases what it read while it looked for work.
        lane.enters(nullptr);
        called = bells_.workers.wait(timeout);
      }
      searching_.fetch_add(1, std::memory_order_seq_cst);
    }
    if (work) {
      found_after_search(lane);
      return work;
    }
  }
  searching_.fetch_sub(1, std::memory_order_seq_cst);
  return std::nullopt;
}

/// Work added while this lane searched, or was called, has called no other lane. News of a peer may wait for
/// this lane alone.
void Lanes::found_after_search(const Lane& lane) {
  if (searching_.fetch_sub(1, std::memory_order_seq_cst) > 1) return;
  const bool news = ring_news(*lane.known);
  if (!news && !anything_queued()) return;
  if (!work_was_added() && news) bells_.listener.ring();
}

/// Calls a lane where that is needed. True: one looks, or will.
bool Lanes::work_was_added() {
  light_barrier();
  const std::uint32_t word = bells_.workers.look();
  if (Bell::sleepers(word) == 0) return Bell::calls(word) > 0;
  return Bell::calls(word) > 0 || searching_.load(std::memory_order_relaxed) > 0 || bells_.workers.ring() > 0;
}

/// Called before the next look: asking other processes for work takes time, which is gained so.
void Lanes::say_dry() {
  if (dry_wanted_.load(std::memory_order_relaxed) && dry_wanted_.exchange(false)) events_->dry();
}

std::uint32_t Lanes::dry() const {
  const std::uint32_t word = bells_.workers.look();
  const std::uint32_t looking = searching_.load(std::memory_order_relaxed) + Bell::calls(word);
  return std::min(Bell::sleepers(word) + looking, static_cast<std::uint32_t>(count()));
}

std::uint32_t Lanes::idle() const {
  return std::min(Bell::sleepers(bells_.workers.look()), static_cast<std::uint32_t>(count()));
}

}  // namespace dag
