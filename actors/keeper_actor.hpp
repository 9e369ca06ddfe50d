#pragma once
// Hosts the two machines of a keeper: the gateway (clients, the jobs whose record is here) and the host (the
// worker processes of this node). Decides nothing itself.
//
// Messages: in ClientSaid, KeeperSaid, Greeted, Gone (from the transport), Nodes (from membership),
// ProcessStarted, ProcessNotStarted, ProcessEnded (from nodes/workers), JobSaid (from cells), Spilled, Noted,
// Probe, Tick; out Submit, JobLives, Want, CancelJob, StopJob, ForgetJob (to the node).

#include <functional>
#include <memory>
#include <optional>

#include "actors/invariants.hpp"
#include "actors/mail.hpp"
#include "libdag/base/result.hpp"
#include "libdag/gateway/gateway.hpp"
#include "libdag/host/host.hpp"
#include "libdag/host/program_shelf.hpp"

namespace dag {

/// The actor's ports to the outside. Nothing here blocks.
class KeeperPorts {
 public:
  virtual ~KeeperPorts() = default;

  virtual Instant now() = 0;
  /// Wall clock: tells another node how old something is.
  virtual Duration since_1970() = 0;
  virtual void send(Life to, ClientMessage message) = 0;
  virtual void send(Life to, KeeperMessage message) = 0;
  virtual void life_at(const LifeAt& at) = 0;
  virtual void forget(Life life) = 0;
  virtual void start_process(StartProcess order) = 0;
  virtual void stop_process(Life life) = 0;
  /// Checks and keeps a program.
  virtual Status keep_program(ProgramId program, const Blob& bytes) = 0;
  /// Null: it is not here.
  virtual Blob program(ProgramId program) = 0;
  /// No job and no process needs the program any more.
  virtual void drop_program(ProgramId program) = 0;
  /// The journal's view of a job whose cell is here; nothing before the job began.
  virtual std::optional<JobDetails> details(JobId job) = 0;
  virtual void forget_details(JobId job) = 0;
  virtual void job_begins(const JobPlan& plan) = 0;
  virtual void job_closed(JobId job) = 0;
  /// A job whose cell is here is over; well: every task finished or was skipped.
  virtual void job_ended(JobId job, bool well) = 0;
  /// Puts a result on the disk, and sends Spilled. Called where ResultLimits::spills is true.
  virtual void spill(client::TaskSettled settled) = 0;
  /// For the disk, where there is one.
  virtual void keep_save(keeper::SaveCopy copy) = 0;
  /// The node with the journal sends this client an Answer. False: there is no journal.
  virtual bool read_journal(Life client, const client::AskJournal& what) = 0;
  /// Tells the other nodes that this node is to leave, or stays after all.
  virtual void drain(bool draining) = 0;
  virtual void shut_down() = 0;
};

struct KeeperSetup {
  Life self;
  std::uint32_t pid = 0;
  /// The records of jobs have copies, or lie on a disk.
  bool recorded = false;
  std::uint32_t replicas = 1;  ///< so many copies, where there are as many nodes
  bool expects_peers = false;  ///< other nodes are configured
  /// How far the numbers of each node's jobs have come, as this node's disk knows.
  std::map<ProcessId, std::uint32_t> handles_seen = {};
  /// Programs kept from earlier lives.
  std::set<ProgramId> programs = {};
  std::uint64_t programs_bytes_max = ~std::uint64_t{0};  ///< in all
  /// Jobs whose records are on this disk and not yet read: until then it is unknown which programs they need.
  std::set<JobId> unread = {};
  NodeLimits limits = {};
  ResultLimits results = {};
};

/// Tells a keeper's actor the news of jobs.
class TellsKeeper final : public JobListener {
 public:
  /// `keeper` outlives this. It may be null before the first job, and after the last.
  explicit TellsKeeper(const caf::actor& keeper) : keeper_(keeper) {}

  void settled(JobId job, std::uint32_t task, Outcome outcome, Blob output,
               std::optional<Error> error) override;
  void progress(JobId job, const CellCounts& counts) override;
  void ends(JobId job, const Cell& cell) override;
  void ended(JobId job, std::optional<Error> stopped, const CellCounts& counts) override;
  void lost(JobId job, Error why) override;
  void led(RecordLed&& news) override;
  void record_over(JobId job) override;

 private:
  void tell(mail::JobSaid said) const;

  const caf::actor& keeper_;
};

class KeeperActor : public caf::event_based_actor, public HasInvariants {
 public:
  KeeperActor(caf::actor_config& config, KeeperSetup setup, std::unique_ptr<KeeperPorts> ports,
              caf::actor node);
  caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "dag.keeper"; }
  void check_invariants() const override { gateway_.check_invariants(); }

 private:
  void act();
  void carry_out(GatewayEffect effect);
  void carry_out(HostEffect effect);
  void send_keeper(SendToKeeper effect);
  void read_journal(ReadJournal& effect);
  void heard(Life from, KeeperMessage message);
  void look_up(JobId job);
  void on_led(RecordLed news);
  /// Drops programs that no job needs, and enough of them to make room for `bytes`.
  void let_programs_go(std::uint64_t bytes);

  const KeeperSetup setup_;
  const std::unique_ptr<KeeperPorts> ports_;
  caf::actor node_;
  GatewayMachine gateway_;
  HostMachine host_;
  std::set<JobId> led_;  ///< of those with several copies
  ProgramShelf shelf_;
  std::optional<Instant> looked_at_shelf_;
  std::optional<Instant> wake_at_;
};

}  // namespace dag
