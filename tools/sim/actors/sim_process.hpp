#pragma once
// A life of a simulated process: its actors, its transport, and its planned events. These are forgotten with
// the process, and wait while it is paused (as a process stopped by SIGSTOP).

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/sim/actors/actor_host.hpp"
#include "tools/sim/actors/ledger.hpp"
#include "tools/sim/actors/sim_transport.hpp"

namespace dag::sim {

/// Shared by all processes.
struct SimWorld {
  Events& events;
  Network& network;
  Ledger& ledger;
  Random& random;
};

class SimProcess {
 public:
  SimProcess(SimWorld world, Life self) : world_(world), self_(self), host_(world.events.now()) {}
  virtual ~SimProcess() = default;
  SimProcess(const SimProcess&) = delete;
  SimProcess& operator=(const SimProcess&) = delete;

  Life life() const { return self_; }
  /// The process ends, in the middle of its work: its messages and plans from here on do not count.
  void die();
  bool over() const { return plans_ == nullptr; }
  void pause();
  void resume();
  bool paused() const { return !over() && plans_->paused; }
  ActorHost& host() { return host_; }
  /// Delivers a message to an actor.
  void run_one(Random& random);
  void after(Duration pause, std::function<void()> what);

 protected:
  void open(std::string address, std::unique_ptr<TransportEvents> events) {
    transport_ = std::make_unique<SimTransport>(world_.network, self_, std::move(address), std::move(events),
                                                world_.ledger.print);
  }
  Duration millis(std::uint64_t least, std::uint64_t most) {
    return std::chrono::microseconds(1000 * least + world_.random.below(1000 * (most - least) + 1));
  }
  Instant now() const { return world_.events.now(); }
  /// For readers of a history; no part of its hash.
  void remark(std::string_view line) const {
    std::printf("%.6f %.*s\n", std::chrono::duration<double>(now().since_start).count(),
                static_cast<int>(line.size()), line.data());
  }
  /// Lines for people; lines of actors are violations.
  void log_of_actors(std::string_view line) {
    world_.ledger.violate(to_string(self_) + " says: " + std::string(line));
  }
  /// As if their process had died.
  virtual void end_actors() = 0;

  SimWorld world_;
  const Life self_;
  ActorHost host_;
  std::unique_ptr<SimTransport> transport_;

 private:
  struct Plans {
    bool paused = false;
    std::vector<std::function<void()>> due;
  };
  std::shared_ptr<Plans> plans_ = std::make_shared<Plans>();
};

}  // namespace dag::sim
