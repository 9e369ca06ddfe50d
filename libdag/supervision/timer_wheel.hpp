#pragma once
// Timeouts and backoffs of many tasks: finds those that are due. Hashed hierarchical wheel (Varghese and
// Lauck, 1987): levels of 64 slots, each slot of a level as wide as the whole level below, so scheduling and
// cancelling cost O(1) and a timer moves down at most once per level. Owns no clock: the driver passes
// `now`.
//
// A timer is never early, and late by less than one tick (plus the driver's own lateness). Timers that expire
// in one call come in the order of their instants, then of their scheduling, so that a run can be repeated.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "libdag/base/check.hpp"
#include "libdag/base/limits.hpp"
#include "libdag/base/saturating.hpp"

namespace dag {

template <class Id, class Hash = std::hash<Id>>
class TimerWheel {
 public:
  struct Options {
    Duration tick = std::chrono::milliseconds(1);
    /// More timers than rows are a bug of the caller.
    std::size_t timers_max = 2 * limits::tasks_max;
  };

  explicit TimerWheel(Instant now, Options options = {}) : options_(options) {
    DAG_CHECK(options_.tick > Duration{0});
    elapsed_ = tick_before(now);
    for (auto& level : heads_) level.fill(none);
  }

  /// An id has one timer, which scheduling moves. An instant in the past is due at the next `advance`.
  void schedule(const Id& id, Instant at) {
    cancel(id);
    DAG_CHECK(index_of_.size() < options_.timers_max);
    const std::uint32_t index = take_timer();
    Timer& timer = timers_[index];
    timer.id = id;
    timer.at = at;
    timer.due = std::max(tick_after(at), elapsed_);
    timer.sequence = sequence_++;
    index_of_.emplace(id, index);
    insert(index);
  }

  /// False: the id has no timer, or it has expired.
  bool cancel(const Id& id) {
    const auto found = index_of_.find(id);
    if (found == index_of_.end()) return false;
    unlink(found->second);
    free_.push_back(found->second);
    index_of_.erase(found);
    return true;
  }

  /// Removes and returns all timers due at `now`. A `now` before that of an earlier call finds nothing new.
  std::vector<Id> advance(Instant now) {
    const std::uint64_t until = tick_before(now);
    due_.clear();
    while (const auto next = next_slot()) {
      if (next->begins > until) break;
      elapsed_ = std::max(elapsed_, next->begins);
      empty_slot(*next);
    }
    elapsed_ = std::max(elapsed_, until);
    std::sort(due_.begin(), due_.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Timer &x = timers_[a], &y = timers_[b];
      return x.at != y.at ? x.at < y.at : x.sequence < y.sequence;
    });
    std::vector<Id> expired;
    expired.reserve(due_.size());
    for (const std::uint32_t index : due_) {
      expired.push_back(timers_[index].id);
      index_of_.erase(timers_[index].id);
      free_.push_back(index);
    }
    return expired;
  }

  /// When to call `advance` again: not after the first expiry, perhaps some times before it (a slot that must
  /// be spread over the level below). Empty when no timer runs.
  std::optional<Instant> wake_at() const {
    const auto next = next_slot();
    if (!next) return std::nullopt;
    return Instant{times(options_.tick, std::max(next->begins, elapsed_))};
  }

  std::size_t size() const { return index_of_.size(); }
  bool contains(const Id& id) const { return index_of_.contains(id); }
  /// The time it is scheduled for; none when the id has no timer.
  std::optional<Instant> due_at(const Id& id) const {
    const auto found = index_of_.find(id);
    if (found == index_of_.end()) return std::nullopt;
    return timers_[found->second].at;
  }

 private:
  static constexpr std::uint32_t slot_bits = 6;
  static constexpr std::uint32_t slots = 1u << slot_bits;
  static constexpr std::uint32_t levels = 11;  // All 64 bits, so no instant is too far away for any tick.
  static constexpr std::uint32_t none = ~0u;

  struct Timer {
    Id id{};
    Instant at;
    std::uint64_t due = 0;  // The first tick not before `at`.
    std::uint64_t sequence = 0;
    std::uint32_t before = none, after = none;  // Neighbours in the slot's list.
    std::uint8_t level = 0, slot = 0;
  };
  struct Slot {
    std::uint32_t level, slot;
    std::uint64_t begins;
  };

  std::uint64_t tick_before(Instant at) const {
    const auto count = at.since_start.count();
    return count <= 0 ? 0 : static_cast<std::uint64_t>(count / options_.tick.count());
  }
  std::uint64_t tick_after(Instant at) const {
    const std::uint64_t tick = tick_before(at);
    // Duration{tick} is exact: it is at most `at`.
    return options_.tick * static_cast<Duration::rep>(tick) < at.since_start ? tick + 1 : tick;
  }

  std::uint32_t take_timer() {
    if (free_.empty()) {
      timers_.emplace_back();
      return static_cast<std::uint32_t>(timers_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }

  // The level is that of the highest digit (base 64) in which `due` differs from now: all lower levels hold
  // earlier timers, and within a level a timer's slot lies after now's. Both stay true as `elapsed_` grows,
  // because `advance` empties every slot whose beginning it passes.
  void insert(std::uint32_t index) {
    Timer& timer = timers_[index];
    const std::uint64_t differs = timer.due ^ elapsed_;
    const std::uint32_t level =
        differs == 0 ? 0 : (63u - static_cast<std::uint32_t>(std::countl_zero(differs))) / slot_bits;
    DAG_CHECK(level < levels);
    const std::uint32_t slot = static_cast<std::uint32_t>(timer.due >> (slot_bits * level)) & (slots - 1);
    timer.level = static_cast<std::uint8_t>(level);
    timer.slot = static_cast<std::uint8_t>(slot);
    std::uint32_t& head = heads_[level][slot];
    timer.before = none;
    timer.after = head;
    if (head != none) timers_[head].before = index;
    head = index;
    occupied_[level] |= std::uint64_t{1} << slot;
  }

  void unlink(std::uint32_t index) {
    const Timer& timer = timers_[index];
    std::uint32_t& head = heads_[timer.level][timer.slot];
    (timer.before == none ? head : timers_[timer.before].after) = timer.after;
    if (timer.after != none) timers_[timer.after].before = timer.before;
    if (head == none) occupied_[timer.level] &= ~(std::uint64_t{1} << timer.slot);
  }

  std::optional<Slot> next_slot() const {
    for (std::uint32_t level = 0; level < levels; ++level) {
      if (occupied_[level] == 0) continue;
      const auto slot = static_cast<std::uint32_t>(std::countr_zero(occupied_[level]));
      const std::uint32_t shift = slot_bits * level;
      const std::uint64_t above =
          level + 1 == levels ? 0 : elapsed_ >> (shift + slot_bits) << (shift + slot_bits);
      return Slot{level, slot, above | std::uint64_t{slot} << shift};
    }
    return std::nullopt;
  }

  void empty_slot(const Slot& from) {
    std::uint32_t index = heads_[from.level][from.slot];
    heads_[from.level][from.slot] = none;
    occupied_[from.level] &= ~(std::uint64_t{1} << from.slot);
    while (index != none) {
      const std::uint32_t after = timers_[index].after;
      if (timers_[index].due <= elapsed_) {
        due_.push_back(index);
      } else {
        insert(index);
      }
      index = after;
    }
  }

  Options options_;
  std::uint64_t elapsed_ =
      0;  // All timers due up to this tick, and not cancelled, have expired or lie in its slot.
  std::uint64_t sequence_ = 0;
  std::vector<Timer> timers_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> due_;  // Used by the running `advance`; kept for its memory.
  std::unordered_map<Id, std::uint32_t, Hash> index_of_;
  std::array<std::array<std::uint32_t, slots>, levels> heads_;
  std::array<std::uint64_t, levels> occupied_{};
};

}  // namespace dag
