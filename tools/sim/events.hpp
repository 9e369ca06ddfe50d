#pragma once
// Virtual time: events in one order for one seed.

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "libdag/base/time.hpp"

namespace dag::sim {

class Events {
 public:
  Instant now() const { return now_; }
  void at(Instant when, std::function<void()> what) {
    queue_.push({when < now_ ? now_ : when, next_++, std::move(what)});
  }
  void after(Duration pause, std::function<void()> what) { at(now_ + pause, std::move(what)); }
  bool empty() const { return queue_.empty(); }
  Instant next_at() const { return queue_.top().when; }
  void run_one() {
    Event event = std::move(const_cast<Event&>(queue_.top()));
    queue_.pop();
    now_ = event.when;
    event.what();
  }

 private:
  struct Event {
    Instant when;
    std::uint64_t number;
    std::function<void()> what;
    bool operator<(const Event& other) const {
      return when != other.when ? when > other.when : number > other.number;
    }
  };
  Instant now_;
  std::uint64_t next_ = 0;
  std::priority_queue<Event> queue_;
};

}  // namespace dag::sim
