// The NodeActor as a thief: asks other processes for rows.

#include <algorithm>

#include "actors/node_actor.hpp"
#include "libdag/home/finish_placer.hpp"

namespace dag {

void NodeActor::steal() {
  const auto is_shared = [](const auto& job) {
    const message::JobState& state = job.second.state;
    return !state.ended && state.lives.size() > 1;
  };
  // In turn: what waits may be of any of them.
  auto shared = std::find_if(jobs_.upper_bound(asked_of_), jobs_.end(), is_shared);
  if (shared == jobs_.end()) shared = std::find_if(jobs_.begin(), jobs_.end(), is_shared);
  if (shared == jobs_.end()) return;
  const std::uint32_t dry = lanes_.dry();
  if (dry == 0) return lanes_.tell_when_dry();
  const Instant now = ports_.process.now();
  if (const auto victim = thief_.next(victims_of(shared->second), now)) {
    asked_of_ = shared->first;
    ports_.process.send(*victim, message::StealRequest{shared->first, dry});
  }
  const auto wake = thief_.wake_at();
  if (!wake || (wake_at_ && *wake_at_ <= *wake)) return;
  wake_at_ = wake;
  delayed_send(this, std::max(*wake - now, Duration{0}), mail::Tick{*wake});
}

/// Processes that the job runs in, from behind this process on, so that not all ask the same one first.
std::vector<VictimView> NodeActor::victims_of(const HostedJob& job) const {
  std::vector<VictimView> views;
  for (const Life life : lives_that_run(job.state)) {
    if (life == setup_.self) continue;
    VictimView& view = views.emplace_back(VictimView{.life = life, .round_trip = lending_round_trip});
    if (!loads_.of) continue;
    const auto load = std::find_if(loads_.of->begin(), loads_.of->end(),
                                   [&](const auto& known) { return known.first == life; });
    if (load == loads_.of->end()) continue;
    view.tasks_ready = load->second.tasks_ready;
    // A row that still waits when the news of it arrives waits at least as long as a question takes.
    view.wait = std::chrono::milliseconds(view.tasks_ready);
  }
  const auto behind = std::find_if(views.begin(), views.end(),
                                   [&](const VictimView& view) { return setup_.self < view.life; });
  std::rotate(views.begin(), behind, views.end());
  return views;
}

}  // namespace dag
