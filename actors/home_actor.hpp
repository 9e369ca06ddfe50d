#pragma once
// Hosts the home of one shard: gives it what lanes, other homes, runners and the cell say, and carries out
// what it decides. Decides nothing itself.
//
// Messages: in LaneNews, ReachChanged, AttemptEnded, Incoming, Vouch, Steal, Loads, Tick; out Outgoing and
// Vouch (to the node), Publish (to the runner). It ends when the node forgets the job.

#include <memory>

#include "actors/attempts.hpp"
#include "actors/ports.hpp"
#include "libdag/home/finish_placer.hpp"
#include "libdag/stealing/questions.hpp"

namespace dag {

/// Parameters of a HomeActor.
struct HomeSetup {
  HomeOptions options;
  std::shared_ptr<const JobPlan> plan;
  message::JobState state;
  /// Set for a shard that had a home before.
  std::optional<message::Assign> assign;
  /// The newest known loads; `of` is null where there are none.
  mail::Loads loads;
};

class HomeActor : public caf::event_based_actor {
 public:
  HomeActor(caf::actor_config& config, HomeSetup setup, LanesPort& lanes, Ports ports, RecordSink& records,
            caf::actor node, caf::actor runner);
  ~HomeActor() override;
  caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "dag.home"; }

 private:
  void on_loads(const mail::Loads& loads);
  /// Tells the home which lives lanes can tell of ends.
  void look_at_reach();
  /// Tells the placer the state of the lanes.
  void look_at_lanes();
  /// Carries out what the home decided, gives the remaining rows to thieves, and schedules the next wake-up.
  void act();
  void carry_out();
  void answer_thieves();
  void say_ahead(SpawnLoad ahead);

  HomeSetup setup_;
  LanesPort& lanes_;
  Ports ports_;
  caf::actor node_;
  caf::actor runner_;
  Attempts attempts_;
  std::shared_ptr<LaneShard> shard_;
  FinishPlacer* placer_ = nullptr;  ///< home_ owns it
  std::unique_ptr<Home> home_;
  OpenQuestions questions_;
  bool kept_all_ = false;  ///< of the last question that was answered
  SpawnLoad ahead_;        ///< as the lanes know it
  std::optional<Instant> wake_at_;
};

}  // namespace dag
