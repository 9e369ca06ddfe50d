#pragma once
// Hosts the runner of a job in this process. Decides nothing itself.
//
// Messages: in AttemptEnded, Checkpointed, Incoming, Publish, Bring, Steal, Digested, SavesFound (from the
// disk), Tick; out Outgoing (to the node), Vouch (reports, to the node), SaveHere (to the cell, through the
// node), Brought (to the cell), TakeDigest (to a DigestActor that it makes when it needs one).

#include <memory>

#include "actors/attempts.hpp"
#include "actors/ports.hpp"
#include "libdag/stealing/questions.hpp"

namespace dag {

class RunnerActor : public caf::event_based_actor {
 public:
  RunnerActor(caf::actor_config& config, RunnerOptions options, std::shared_ptr<const JobPlan> plan,
              LanesPort& lanes, Ports ports, RecordSink& records, caf::actor node);
  caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "dag.runner"; }

 private:
  caf::behavior working();
  bool asks_disk();
  void wait_for_disk(mail::Incoming state);
  void keep(KeepSave save);
  void answer_thieves();
  void act();
  caf::actor spawn_digests();

  LanesPort& lanes_;
  Ports ports_;
  caf::actor node_;
  caf::actor digests_;
  std::shared_ptr<const JobPlan> plan_;
  Attempts attempts_;
  Runner runner_;
  OpenQuestions questions_;
  bool disk_asked_ = false;
  std::optional<Instant> wake_at_;
  std::map<std::uint64_t, caf::actor> asked_;  // receivers of the bytes, by ticket
};

}  // namespace dag
