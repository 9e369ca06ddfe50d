#pragma once
// Actors whose machines state their invariants: the simulator checks them after each message, in every build.
// Builds with assertions check more often, inside the machines (libdag/base/checks_itself.hpp).

namespace dag {

class HasInvariants {
 public:
  /// Throws Bug if the machines contradict themselves. Call between two messages of the actor.
  virtual void check_invariants() const = 0;

 protected:
  ~HasInvariants() = default;
};

}  // namespace dag
