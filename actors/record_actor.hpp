#pragma once
// Hosts one copy of a job's record (libdag/replica): its part in the log that the copies share, and, while it
// leads, the cell made of this log. Decides nothing itself.
//
// Messages: in CopySaid (from other copies), Incoming, Want, CancelJob, StopJob,
// ForgetJob, LivesUp (from the gateway), LifeUp, LifeDown, Seats, JobOpened, SaveHere (from the
// JobHereActor), Brought, Written (from the store), ProgressDue, Tick, Record (of a job that retries this
// one; back to the node); out Outgoing, RecordHere, RecordOver (to the node), Bring and Publish (to the
// JobHereActor).

#include "actors/client_voice.hpp"
#include "actors/invariants.hpp"
#include "libdag/replica/cell_replica.hpp"

namespace dag {

struct RecordSetup {
  JobId job;
  Life self;
  RecordOptions options;
  /// Begins the record, and leads it at first; none: another copy began it.
  std::optional<mail::Record> begins;
  /// The record's log on the node's disk.
  consensus::Stored stored;
  std::set<Life> nodes;
  mail::Seats seats;
};

class RecordActor : public caf::event_based_actor, public HasInvariants {
 public:
  RecordActor(caf::actor_config& config, RecordSetup setup, const Ports& ports, EventSink& records,
              caf::actor node);
  caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "dag.record"; }
  void check_invariants() const override { replica_.check_invariants(); }

 private:
  /// The last state reported to the gateway.
  struct Told {
    bool leads = false;
    std::optional<ProcessId> leader;
    bool settled = false;
    std::optional<Instant> without_majority;
    bool cancelled = false;
    std::vector<ProcessId> copies;
    bool operator==(const Told&) const = default;
  };

  void begin();
  void send_save(const keeper::SaveCopy& copy);
  void on_seats(mail::Seats seats);
  void act();
  void carry_out(CellReplicaEffect& any, mail::Outgoing& outgoing);
  void write(WriteToLog order);
  void send_to(ProcessId node, consensus::Message message);
  void look_who_leads();
  void tell_copies_over();
  void bring(mail::Bring order);
  void wake();

  RecordSetup setup_;
  const Ports ports_;
  caf::actor node_;
  caf::actor job_;
  ClientVoice voice_;
  CellReplica replica_;
  std::map<ProcessId, Life> nodes_;  ///< that are up
  std::vector<mail::Bring> unbrought_;
  std::optional<mail::Retry> unoffered_;  ///< outputs that the job begins with, until there is a JobHereActor
  std::optional<Told> told_;
  bool told_here_ = false, told_over_ = false, told_too_large_ = false;
  std::optional<Instant> wake_at_;
};

}  // namespace dag
