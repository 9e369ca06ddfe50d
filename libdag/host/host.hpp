#pragma once
// The host's half of a keeper: the worker processes of this node, whoever holds the record of their job.
// Decides when one is started, who is told of it and when it must end. Starting and watching processes is
// nodes/workers', which job needs one is the gateway's (gateway.hpp).
//
//   starting --greeted, right build--> up --ended--> gone          WorkerUp, then WorkerDown
//      |  not started, wrong build, ended before its Session, too slow
//      +----------------------------------------------> gone       WorkerRefused
//
// A host that has as many processes as the limits of its node leave room for refuses more with limit_reached:
// who leads the job asks again.
//
// A host that is draining starts none, and refuses those that are not up when it is told to stop them; who
// leads the job says when, since others have to go on.
//
// The record of a job may come to be led by another node. That one is told what this one was told: which
// processes are there, and how those before them ended.
//
// Why it ends: a process ends by itself, when its job has ended (StopWorkers), or when the keeper with the
// job's record is gone or leads it no more (AnotherLeads), and no other one has asked for the process within
// `orphaned_for`; one that must end is killed if it does not, so its end is always seen.

#include <map>
#include <set>
#include <variant>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/keeper/messages.hpp"
#include "libdag/keeper/node_room.hpp"

namespace dag {

struct SendToKeeper {
  Life to;
  KeeperMessage message;
};
/// The bytes are in the store of programs; who carries this out adds them.
struct SendProgram {
  Life to;
  ProgramId program;
};
struct StartProcess {
  Life life;
  JobId job;
  Life cell;  ///< the keeper with the job's record
  Launch launch;
};
/// It is asked to end, and killed if it does not.
struct StopProcess {
  Life life;
};
/// Whatever is said by, or waits for, that life is of no use any more.
struct ForgetLife {
  Life life;
};
using HostEffect = std::variant<SendToKeeper, SendProgram, StartProcess, StopProcess, ForgetLife>;

class HostMachine {
 public:
  explicit HostMachine(Life self, NodeLimits limits = {}) : self_(self), limits_(std::move(limits)) {}

  /// StartWorker, StopWorkers, StopWorker, AnotherLeads, KeepProgram, WantProgram and ProgramBytes; the bytes
  /// of the latter are in the store already, or were refused (on_program).
  void on_message(Life from, const KeeperMessage& message, Instant now);
  /// A program has come to be here, or cannot be had.
  void on_program(ProgramId program, const std::optional<Error>& refused, Instant now);
  /// That node does not have it: the others are asked, one after the other. When none has it, the processes
  /// that wait for it are refused.
  void on_program_missing(Life at, ProgramId program, Instant now);
  /// This node is to go, or stays after all.
  void drain(bool draining) { draining_ = draining; }
  /// That are up, this one included.
  void on_nodes(const std::vector<Claim>& nodes);
  bool has(ProgramId program) const { return programs_.contains(program); }
  /// Those of processes that are here, or are about to be.
  std::set<ProgramId> needed_programs() const;
  /// It is not here any more; nobody needed it.
  void on_program_gone(ProgramId program) { programs_.erase(program); }

  void on_started(Life life, std::uint32_t pid);
  void on_not_started(Life life, const Error& why);
  /// The process has said Hello.
  void on_greeted(Life life, const Endpoint& endpoint, const std::string& build);
  void on_ended(Life life, ProcessEnd end, const std::string& text, std::vector<RunningAttempt> running,
                std::optional<std::uint32_t> guilty_lane);
  /// The keeper is gone, and with it the record of its jobs, if there are no more copies.
  void on_keeper_down(Life keeper, Instant now);
  void on_time(Instant now);
  std::optional<Instant> wake_at() const;
  /// This node ends.
  void stop_all();
  bool empty() const { return workers_.empty(); }

  std::vector<HostEffect> take_effects() { return std::exchange(effects_, {}); }

  /// How long a worker process may take to reach its Session.
  static constexpr Duration start_within = std::chrono::seconds(30);
  /// How long processes wait for another node to lead the record of their job.
  static constexpr Duration orphaned_for = std::chrono::seconds(60);
  /// Of one incarnation of a worker process's number, and how many incarnations one start of a node may use.
  static constexpr std::uint64_t counts_max = 65'535, rounds_max = 1024;
  /// Worker processes of one start of a node.
  static constexpr std::uint64_t processes_max = counts_max * rounds_max;
  /// As if so many had been started, for tests of the end.
  void given(std::uint64_t processes) { given_ = processes; }

 private:
  enum class Phase : std::uint8_t { waiting, starting, up, stopping };
  struct Worker {
    JobId job;
    std::uint32_t number = 0;
    Life cell;  ///< who is told of it
    Launch launch;
    Phase phase = Phase::waiting;
    std::uint32_t pid = 0;
    Instant start_until;
    Endpoint endpoint = {};     ///< since it is up
    bool told_up = false;       ///< owes a WorkerDown
    bool told_refused = false;  ///< owes nothing any more
  };

  struct JobHere {
    Life cell;  ///< the keeper that leads its record
    std::uint32_t term = 0;
    std::uint32_t newest = 0;  ///< number of a worker process: starts nothing twice
    /// WorkerDown and WorkerRefused that were said, for another leader. Bounded by what a gateway restarts.
    std::vector<KeeperMessage> ends;
    std::optional<Instant> orphan_until;
  };

  void led_by(Life keeper, std::uint32_t term, JobId id, JobHere& job);
  void tell_end(const Worker& worker, KeeperMessage end);
  void start(Life life, Worker& worker, Instant now);
  void refuse(Life life, Worker& worker, Error why);
  void stop(Life life, Worker& worker);
  void stop_job(JobId job);
  void retire(JobId job);
  Error is_draining() const;
  Error used_up() const;
  /// Why no process can be started now.
  std::optional<Error> why_none_now() const;
  Life next_life();

  const Life self_;
  const NodeLimits limits_;
  NodeRoom room_ = room_of(limits_, 1);
  bool draining_ = false;
  std::uint64_t given_ = 0;  ///< lives of processes
  std::map<Life, Worker> workers_;
  std::set<ProgramId> programs_;
  std::map<ProgramId, std::set<Life>> missing_at_;
  std::map<ProgramId, std::set<Life>> kept_for_;  ///< who is to be told when it is here
  std::vector<Life> nodes_;
  std::map<JobId, JobHere> jobs_;
  std::vector<HostEffect> effects_;
};

/// Worker process `count` (from 1) of a node.
ProcessId worker_process(ProcessId node, std::uint16_t count);
bool is_node(ProcessId process);
/// A client names itself with a number that it draws.
ProcessId client_process(std::uint16_t number);
bool is_client(ProcessId process);

}  // namespace dag
