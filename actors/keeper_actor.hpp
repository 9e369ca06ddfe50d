#pragma once
// Hosts the two machines of a keeper: the gateway (clients, the jobs whose record is here) and the host (the
// worker processes of this node). Decides nothing itself.
//
// Messages: in ClientSaid, KeeperSaid, Greeted, Gone (from the transport), Nodes (from membership),
// ProcessStarted, ProcessNotStarted, ProcessEnded (from nodes/workers), JobSaid (from cells), Spilled, Noted,
// Probe, Tick; out Submit, JobLives, Want, CancelJob, StopJob, ForgetJob (to the node).

#include <functional>
#include <optional>

#include "actors/mail.hpp"
#include "libdag/base/result.hpp"
#include "libdag/gateway/gateway.hpp"
#include "libdag/host/host.hpp"
#include "libdag/host/program_shelf.hpp"

namespace dag {

/// The actor's ports to the outside. Nothing here blocks.
struct KeeperPorts {
  std::function<Instant()> now;
  /// Wall clock: tells another node how old something is.
  std::function<Duration()> since_1970;
  std::function<void(Life to, ClientMessage message)> send_client;
  std::function<void(Life to, KeeperMessage message)> send_keeper;
  std::function<void(const LifeAt& at)> life_at;
  std::function<void(Life life)> forget;
  std::function<void(StartProcess order)> start_process;
  std::function<void(Life life)> stop_process;
  /// Checks and keeps a program; gives back its bytes, or null.
  std::function<Status(ProgramId program, const Blob& bytes)> keep_program;
  std::function<Blob(ProgramId program)> program;
  /// No job and no process needs the program any more.
  std::function<void(ProgramId program)> drop_program;
  /// The journal's view of a job whose cell is here; nothing before the job began.
  std::function<std::optional<JobDetails>(JobId job)> details;
  std::function<void(JobId job)> forget_details;
  std::function<void(const JobPlan& plan)> job_begins;
  std::function<void(JobId job)> job_closed;
  /// A job whose cell is here is over; well: every task finished or was skipped.
  std::function<void(JobId job, bool well)> job_ended;
  /// Puts a result on the disk, and sends Spilled. Empty: ResultLimits::spills is false.
  std::function<void(client::TaskSettled settled)> spill = {};
  /// For the disk, where there is one.
  std::function<void(keeper::SaveCopy copy)> keep_save;
  /// The node with the journal sends this client an Answer. Empty: there is no journal.
  std::function<void(Life client, client::AskJournal what)> read_journal = {};
  /// Tells the other nodes that this node is to leave, or stays after all.
  std::function<void(bool draining)> drain;
  std::function<void()> shut_down;
  /// As in Ports.
  std::function<void(const std::function<void()>& checks)> inspect = {};
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

/// The Follower that sends a cell's news of a job to the keeper with this address.
Follower follower_of(const caf::actor_addr& keeper, JobId job);

class KeeperActor : public caf::event_based_actor {
 public:
  KeeperActor(caf::actor_config& config, KeeperSetup setup, KeeperPorts ports, caf::actor node);
  caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "dag.keeper"; }

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
  KeeperPorts ports_;
  caf::actor node_;
  GatewayMachine gateway_;
  HostMachine host_;
  std::set<JobId> led_;  ///< of those with several copies
  ProgramShelf shelf_;
  std::optional<Instant> looked_at_shelf_;
  std::optional<Instant> wake_at_;
};

}  // namespace dag
