#pragma once
// How a JobHereActor has attempts run: on a lane at once, or under a TaskActor where they need supervision.

#include <functional>
#include <map>

#include "actors/task_actor.hpp"

namespace dag {

class Attempts {
 public:
  Attempts(caf::event_based_actor& owner, LanesPort& lanes, Representation representation)
      : owner_(owner), lanes_(lanes), representation_(representation) {}

  void start(StartAttempt start);
  void stop(const StopAttempt& stop);
  /// Stops the supervised attempts that `is_one` selects.
  void stop_all(const std::function<bool(const OutputName&)>& is_one);
  /// The lanes gave the attempt back for a thief: it never began here, and has no end here.
  void give(const OutputName& attempt);
  /// Call for every end, so that the supervised attempt is forgotten.
  void ended(const AttemptEnd& ended) { supervised_.erase({ended.task, ended.id}); }

 private:
  caf::event_based_actor& owner_;
  LanesPort& lanes_;
  Representation representation_;
  JobId job_;
  std::map<OutputName, caf::actor> supervised_;
};

}  // namespace dag
