#include "tools/sim/actors/sim_process.hpp"

#include "libdag/base/check.hpp"

namespace dag::sim {

void SimProcess::after(Duration pause, std::function<void()> what) {
  world_.events.after(pause, [plans = std::weak_ptr(plans_), what = std::move(what)] {
    const auto there = plans.lock();
    if (!there) return;
    if (there->paused) {
      there->due.push_back(what);
    } else {
      what();
    }
  });
}

void SimProcess::run_one(Random& random) {
  try {
    host_.run_one(random);
  } catch (const Bug& bug) {
    world_.ledger.violate(to_string(self_) + ": " + bug.what());
  }
}

void SimProcess::die() {
  if (over()) return;
  plans_.reset();
  transport_->close();
  end_actors();
  host_.drain();
}

void SimProcess::pause() {
  plans_->paused = true;
  world_.network.pause(self_);
}

void SimProcess::resume() {
  plans_->paused = false;
  world_.network.resume(self_);
  for (auto& what : std::exchange(plans_->due, {})) after(Duration{0}, std::move(what));
}

}  // namespace dag::sim
