#pragma once
// The root supervisor of a process: starts the actors of each job here, brings messages to them and between
// processes, and tells them which lives are up. A failing actor of a job takes its job with it, nothing else.
//
// Messages: in Submit, Want, CancelJob, ForgetJob (from clients of this process), Outgoing, SaveHere,
// WorkCame, EndsBy and JobOver (from its children), Probe (from the keeper), Arrived (from the transport),
// LifeUp, LifeDown, Loads (from membership), Tick; out Delivery, CellHere, Loads and Explain (to
// JobHereActors).

#include <map>
#include <set>

#include "actors/lanes/lanes_port.hpp"
#include "actors/mail.hpp"
#include "libdag/base/id_set.hpp"
#include "libdag/job/early.hpp"
#include "libdag/stealing/thief.hpp"

namespace dag {

struct NodeSetup {
  Life self;
  /// Everybody, this process included.
  std::set<Life> lives;
  /// For a node that holds copies of records (Ports::replicas).
  RecordOptions records = {};
  /// The records of jobs on this node's disk (mail::Recover opens them), and the jobs that it knows to be
  /// over.
  std::map<JobId, consensus::Stored> logs = {};
  IdSet forgotten = {};
  /// HomeOptions::released_bytes_max of homes here.
  std::optional<std::uint64_t> released_bytes_max = {};
};

class NodeActor : public caf::event_based_actor {
 public:
  NodeActor(caf::actor_config& config, NodeSetup setup, LanesPort& lanes, const Ports& ports,
            EventSink& records);
  caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "dag.node"; }

 private:
  /// The actors of a job in this process.
  struct HostedJob {
    caf::actor job;   // its JobHereActor, when the plan is known
    caf::actor cell;  // where it was submitted, or where a copy of its record is
    /// Messages that the JobHereActor has not got yet.
    EarlyMessages::Messages waiting;
    /// The newest that the JobHereActor has got.
    message::JobState state;
    /// When its lease is over, if something runs under it here.
    std::optional<Instant> ends_by;
    /// True: the job has a state.
    bool begun = false;
    /// In processes of its own: those of the cluster that come and go are nothing to it.
    bool runs_elsewhere = false;
    /// `cell` is a copy of a record, and hears of nodes.
    bool recorded = false;
  };
  /// Whether news about a life that names no job are for this one.
  static bool hears_of_all(const HostedJob& job) { return job.cell && (!job.runs_elsewhere || job.recorded); }

  /// Sends the order to begin a job to the cell of the job that it retries; then true. The order comes back.
  template <class Order>
  bool ask_what_is_done(Order& order);
  void submit(mail::Submit& submit);
  void open_record(JobId job, std::optional<mail::Record> begins, consensus::Stored stored = {});
  void on_copy_said(mail::CopySaid& copy);
  HostedJob& job_here(JobId id);
  /// Nothing, when it is known to be over. Hand over what waits for it then.
  void open_job(const std::shared_ptr<const JobPlan>& plan);
  void route(SendMessage message);
  /// To be handed over by the caller.
  void deliver(Life from, JobMessage message);
  void hold_early(Life from, JobMessage message);
  void hand_over();
  /// Gives the JobHereActor all that waits for it.
  void hand_over(JobId id);
  void explain(mail::Explain& question);
  /// Ends its actors here. A failed copy of a record, and one whose node ends, may be needed again.
  void close_job(JobId job, bool for_good = true);
  void on_ends_by(const mail::EndsBy& news);
  void on_lease_over(const mail::LeaseOver& due);
  bool is_forgotten(JobId job) const { return forgotten_.contains(job.value); }
  /// Asks another process for rows, when a lane here is idle.
  void steal();
  std::vector<VictimView> victims_of(const HostedJob& job) const;
  void on_child_down(const caf::down_msg& down);
  void fail_job(JobId id, Error why);

  NodeSetup setup_;
  LanesPort& lanes_;
  const Ports ports_;
  EventSink& records_;
  std::map<JobId, HostedJob> jobs_;
  EarlyMessages early_;              ///< of jobs that are not in `jobs_`
  std::vector<JobId> to_hand_over_;  ///< jobs whose JobHereActor has not got all yet
  IdSet forgotten_;
  /// Records whose copy here failed: its seat is silent, since it may not speak without its memory.
  std::set<JobId> failed_;
  mail::Seats seats_;
  ThiefMachine thief_;
  mail::Loads loads_;  ///< the newest
  std::optional<Instant> wake_at_;
  JobId asked_of_;  ///< the job that others were asked for work of last
};

}  // namespace dag
