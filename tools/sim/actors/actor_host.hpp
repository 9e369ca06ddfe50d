#pragma once
// The actors of one simulated process: an actor system of their own under CAF's test_coordinator, which runs
// one message when it is told to, of whichever actor the seed draws. Their clock is the simulation's.

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <optional>

#include "libdag/base/random.hpp"
#include "libdag/base/time.hpp"

namespace dag::sim {

class ActorHost {
 public:
  explicit ActorHost(Instant now);
  /// All actors must have been told to end. Throws nothing; an actor that does not end is a bug that stops
  /// the program.
  ~ActorHost();
  ActorHost(const ActorHost&) = delete;
  ActorHost& operator=(const ActorHost&) = delete;

  caf::actor_system& system() { return system_; }
  bool has_job() const { return !coordinator_.jobs.empty(); }
  /// Delivers a message to an actor. Throws Bug if its machines contradict themselves afterwards.
  void run_one(Random& random);
  /// Delayed messages that are due by now are put into mailboxes.
  void advance(Instant now);
  std::optional<Instant> next_timeout() const;
  /// Until no actor has anything to do.
  void drain();
  /// As an actor that is told to end by nobody in particular: it goes as if its process had died.
  static void kill(caf::actor& actor);

 private:
  struct Config : caf::actor_system_config {
    Config();
  };

  Config config_;
  caf::actor_system system_;
  caf::scheduler::test_coordinator& coordinator_;
};

}  // namespace dag::sim
