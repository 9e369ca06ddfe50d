#include "nodes/keeper/progress_watch.hpp"

#include <algorithm>
#include <chrono>

namespace dag {

bool ProgressWatch::look(Duration period) {
  const Instant now = ports_.now();
  const Duration turn = looked_at_ ? std::max(now - *looked_at_ - period, Duration{0}) : Duration{0};
  looked_at_ = now;
  const Duration disk = ports_.disk_lag(), actors = actors_lag(now);
  const bool was_sick = progress_.sick();
  progress_.look(std::max({turn, disk, actors}), now);
  if (progress_.sick() != was_sick) {
    const auto milliseconds = [](Duration time) {
      return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + " ms";
    };
    ports_.changed(!was_sick, "no disk progress for " + milliseconds(disk) +
                                  ", no answer of its actors for " + milliseconds(actors) + ", timer " +
                                  milliseconds(turn) + " late");
  }
  return progress_.sick();
}

Duration ProgressWatch::actors_lag(Instant now) {
  const Duration took(probe_took_ns_.exchange(0));
  if (const std::int64_t sent = probe_sent_ns_; sent != 0)
    return std::max(took, now - Instant{Duration(sent)});
  probe_sent_ns_ = now.since_start.count();
  ports_.probe([this] {
    const std::int64_t took_ns = ports_.now().since_start.count() - probe_sent_ns_;
    probe_took_ns_ = std::max(probe_took_ns_.load(), took_ns);
    probe_sent_ns_ = 0;
  });
  return took;
}

}  // namespace dag
