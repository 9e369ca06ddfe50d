#pragma once
// Hosts the cell of a job: its record, its map of homes, and its followers. Decides nothing itself.
//
// Messages: in Incoming, Want, CancelJob, StopJob, ForgetJob, LifeUp, LifeDown, LivesUp, Brought,
// ProgressDue, Submit (of a job that retries this one; back to the node); out Outgoing (to the node), Bring
// and Publish (to the JobHereActor).

#include <memory>

#include "actors/client_voice.hpp"
#include "actors/invariants.hpp"

namespace dag {

struct CellSetup {
  CellOptions options;
  std::shared_ptr<const JobPlan> plan;
  std::vector<Life> lives;
  std::optional<mail::Retry> retry = std::nullopt;
};

class CellActor : public caf::event_based_actor, public HasInvariants {
 public:
  CellActor(caf::actor_config& config, CellSetup setup, const Ports& ports, EventSink& records,
            caf::actor node, caf::actor job);
  caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "dag.cell"; }
  void check_invariants() const override { cell_.check_invariants(); }

 private:
  void act();

  CellSetup setup_;
  const Ports ports_;
  caf::actor node_;
  caf::actor job_;
  Cell cell_;
  ClientVoice voice_;
};

}  // namespace dag
