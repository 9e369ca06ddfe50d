#pragma once
// The host's half of a keeper: the worker processes of this node, whichever node leads their jobs. Decides
// when a process is started, which keeper is told of it and when it must end. nodes/workers starts and
// watches processes; the gateway (gateway.hpp) decides which job needs one.
//
//   starting --greeted, right build--> up --ended--> gone          WorkerUp, then WorkerDown
//      |  not started, wrong build, ended before its Session, too slow
//      +----------------------------------------------> gone       WorkerRefused
//
// A host whose node has no room for more processes refuses them with limit_reached: the job's leader asks
// again.
//
// A host that is draining starts no processes. When it is told to stop processes, it refuses those that are
// not up. The job's leader chooses the time, since other nodes have to go on.
//
// Another node may come to lead a job's record. It is told the same as the former leader: the processes that
// are there, and how earlier ones ended.
//
// Why it ends: a process ends by itself when its job has ended (StopWorkers), or when the keeper that leads
// the job is gone or leads no more (AnotherLeads) and no other keeper asks for the process within
// `orphaned_for`. A process that must end is killed if it does not, so its end is always seen.

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
/// The bytes are in the store of programs; the actor adds them.
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
/// Asks the process to end, and kills it if it does not.
struct StopProcess {
  Life life;
};
/// Drops messages from this life and for it.
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
  /// A program has arrived here, or cannot be had.
  void on_program(ProgramId program, const std::optional<Error>& refused, Instant now);
  /// The node does not have the program: the other nodes are asked, one after the other. If none has it, the
  /// processes that wait for it are refused.
  void on_program_missing(Life at, ProgramId program, Instant now);
  /// Drains this node, or cancels that.
  void drain(bool draining) { draining_ = draining; }
  /// All nodes that are up, this one included.
  void on_nodes(const std::vector<Claim>& nodes);
  bool has(ProgramId program) const { return programs_.contains(program); }
  /// Programs of processes that are here, or are about to be.
  std::set<ProgramId> needed_programs() const;
  /// The program was removed from the store; no process needed it.
  void on_program_gone(ProgramId program) { programs_.erase(program); }

  void on_started(Life life, std::uint32_t pid);
  void on_not_started(Life life, const Error& why);
  /// The process has said Hello.
  void on_greeted(Life life, const Endpoint& endpoint, const std::string& build);
  void on_ended(Life life, ProcessEnd end, const std::string& text, std::vector<RunningAttempt> running,
                std::optional<std::uint32_t> guilty_lane);
  /// The keeper is gone, and the record of its jobs with it unless there are other copies.
  void on_keeper_down(Life keeper, Instant now);
  void on_time(Instant now);
  std::optional<Instant> wake_at() const;
  /// Stops all processes, since the node ends.
  void stop_all();
  bool empty() const { return workers_.empty(); }

  std::vector<HostEffect> take_effects() { return std::exchange(effects_, {}); }

  /// How long a worker process may take to reach its Session.
  static constexpr Duration start_within = std::chrono::seconds(30);
  /// How long processes wait for another node to lead the record of their job.
  static constexpr Duration orphaned_for = std::chrono::seconds(60);
  /// Numbers of worker processes per incarnation, and incarnations that a start of a node may use.
  static constexpr std::uint64_t counts_max = 65'535, rounds_max = 1024;
  /// Limit of worker processes in a start of a node.
  static constexpr std::uint64_t processes_max = counts_max * rounds_max;
  /// Sets the number of processes started so far, for tests of the limit.
  void given(std::uint64_t processes) { given_ = processes; }

 private:
  enum class Phase : std::uint8_t { waiting, starting, up, stopping };
  struct Worker {
    JobId job;
    std::uint32_t number = 0;
    Life cell;  ///< the keeper that is told of it
    Launch launch;
    Phase phase = Phase::waiting;
    std::uint32_t pid = 0;
    Instant start_until;
    Endpoint endpoint = {};     ///< set once it is up
    bool told_up = false;       ///< a WorkerDown must follow
    bool told_refused = false;  ///< no further message follows
  };

  struct JobHere {
    Life cell;  ///< the keeper that leads its record
    std::uint32_t term = 0;
    std::uint32_t newest = 0;  ///< newest number of a worker process, so that none is started twice
    /// WorkerDown and WorkerRefused that were sent, for another leader. Bounded by a gateway's restarts.
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
  /// The error if no process can be started now.
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
  std::map<ProgramId, std::set<Life>> kept_for_;  ///< keepers that are told when it is here
  std::vector<Life> nodes_;
  std::map<JobId, JobHere> jobs_;
  std::vector<HostEffect> effects_;
};

/// The id of worker process `count` (from 1) of a node.
ProcessId worker_process(ProcessId node, std::uint16_t count);
bool is_node(ProcessId process);
/// The id of a client, by a number that the client draws.
ProcessId client_process(std::uint16_t number);
bool is_client(ProcessId process);

}  // namespace dag
