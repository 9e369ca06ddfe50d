#pragma once
// The gateway's half of a keeper: clients, and the jobs whose record (cell) is at this node. Decides which
// job is accepted, which nodes get a worker process for it and another after a loss, and what clients are
// told. Worker processes belong to their hosts (host.hpp), rows and outcomes to the cell.
//
//   starting --each node has answered, one process is up--> running --the cell says so--> ended --> closed
//
// Each node gets one worker process per job. A lost one is replaced on its node as long as the node is there
// and the budget allows; a node that joins gets one too. A job without any process waits for the next one;
// when none is to come, it is stopped.
//
// If a record has copies on several nodes, only the gateway of its leader does all that follows; the gateways
// of the other nodes name the leader. A new leader asks all hosts for their processes of the job
// (keeper::StartWorker), and the job's clients come by themselves (client::AskFollow).
//
// If processes of a job do not hear each other although all are alive (supervision/apart.hpp), some of them
// end so that the others go on. Their nodes get new processes after a while, when the network may be well
// again.
//
// A job whose client is gone goes on. When a job has ended, its results, and the outputs that the client has
// asked for, are gathered here. Until then its processes stay, and lost ones are replaced. Then the job is at
// rest: its processes end, and clients are answered from here and from the record. Other outputs are released
// with the processes. The leader answers requests for outputs of an ended job. The job is closed when nobody
// may ask for outputs any more: its client forgot it or is gone, nobody is attached, and a job without a
// client has been kept for its time.
//
// Cancelling a job whose record has copies is acknowledged when a majority of them has it: then every later
// leader knows. Until then the gateway does nothing, and the question is answered in one of four ways: the
// record has it; the job has ended; another node leads the job and must be asked; or `cancel_within` is over.
// A repeated question changes nothing.
//
// A node without room for a process of a job refuses it with limit_reached. The job runs on the other nodes;
// without any process it stays `starting`. It asks again every `room_pause`, older jobs first. The wait ends,
// since processes end with their jobs and a running job waits for no other.
//
// A node that is draining gets no new processes. Its processes end as soon as another node has one of the
// job; their outputs are made again, as after a loss. A node that is draining, or whose disk is full, gives
// out no handles, and names a node that does.

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <variant>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/gateway/explaining.hpp"
#include "libdag/gateway/gateway_effects.hpp"
#include "libdag/gateway/kept_jobs.hpp"
#include "libdag/supervision/apart.hpp"

namespace dag {

/// Limits of results of ended jobs that have no client.
struct ResultLimits {
  /// Results of a job that was submitted without a client are kept for this time.
  Duration kept_for = std::chrono::hours(1);
  /// Bytes of all results in memory here.
  std::size_t bytes_max = std::size_t{512} << 20;
  /// Results beyond that go to the disk. Without a disk, or when it is full, they stay with the processes of
  /// the job; for a job without a client they are released.
  bool spills = false;
};

/// The state of a record's copy at this node.
struct RecordLed {
  std::shared_ptr<const JobPlan> plan;
  Submission submission;
  bool leads = false;               ///< this node leads
  std::optional<ProcessId> leader;  ///< the leader, as far as known here
  std::uint32_t term = 0;
  bool settled = false;  ///< a majority of the copies has the job
  /// Set while this node hears less than a majority of the copies; it does not lead then.
  std::optional<Instant> without_majority;
  bool begun = false;             ///< a process has had a shard
  bool cancelled = false;         ///< the whole job, and a majority of the copies has that
  std::vector<Life> lives;        ///< processes of the job when the record was last written
  std::vector<ProcessId> copies;  ///< nodes whose copies count
  Duration age{0};                ///< since the job was accepted
};

class GatewayMachine {
 public:
  /// `recorded`: records of jobs have copies, `replicas` if there are as many nodes, or lie on a disk.
  /// `handles_seen`: the highest handle of each node that earlier lives of this node saw. `expects_peers`:
  /// the node was told of other nodes, or knew some in an earlier life.
  GatewayMachine(Life self, std::uint32_t pid, bool recorded,
                 std::map<ProcessId, std::uint32_t> handles_seen = {}, std::uint32_t replicas = 1,
                 bool expects_peers = false, ResultLimits results = {})
      : self_(self),
        pid_(pid),
        recorded_(recorded),
        replicas_(replicas),
        results_limits_(results),
        handles_seen_(std::move(handles_seen)),
        expects_peers_(expects_peers ||
                       std::any_of(handles_seen_.begin(), handles_seen_.end(),
                                   [&](const auto& seen) { return seen.first != self.process; })) {
    if (const auto own = handles_seen_.find(self.process); own != handles_seen_.end())
      jobs_given_ = own->second;
  }

  /// All nodes that are up, with their claims, this node included, and how the others are heard here. Called
  /// at every change.
  void on_nodes(std::vector<Claim> nodes, Instant now, Hearings heard = {});
  void on_client_message(Life from, ClientMessage message, Instant now);
  void on_client_gone(Life client, Instant now);
  /// WorkerUp, WorkerDown, WorkerRefused, HaveProgram, Unheard (also of this node, then about processes of
  /// any job), Explained and JobsGiven.
  void on_keeper_message(Life from, const KeeperMessage& message, Instant now);
  /// The program that a client sent is in the store, or was refused.
  void on_program(ProgramId program, const std::optional<Error>& refused, Instant now);
  /// Programs of submissions, and of jobs that are not over for everybody, whoever leads them.
  std::set<ProgramId> needed_programs() const;
  /// The program was removed from the store; no job needed it.
  void on_program_gone(ProgramId program);

  /// Jobs whose records are on this node's disk, and are being read. Their cells report their states.
  void on_found(std::set<JobId> records) { unread_ = std::move(records); }
  bool has_read_all() const { return unread_.empty(); }

  // News from cells.
  void on_led(RecordLed news, Instant now);
  /// The record does not need this node's copy any more.
  void on_record_over(JobId job, Instant now);
  void on_settled(JobId job, client::TaskSettled settled);
  /// `settled` has its output as a reference to the disk; or none, if it was not written.
  void on_spilled(client::TaskSettled settled, bool written);
  void on_counts(JobId job, const JobCounts& counts);
  void on_details(JobId job, JobDetails details);
  /// Progress of a kernel in that process of the job; none: the kernel has ended.
  void on_progress(JobId job, Life process, const std::string& device, std::optional<TaskProgress> progress);
  /// A process of the job reports that this attempt crashed its process; later homes repeat that. Returns
  /// true the first time.
  bool is_new_crash(JobId job, TaskId task, std::uint32_t number);
  /// Called before on_ended: outputs that are kept like results, since a retry of the job reads them.
  void on_unread(JobId job, std::vector<std::uint32_t> tasks);
  void on_ended(JobId job, const std::optional<Error>& stopped, const JobCounts& counts, Instant now);
  void on_lost(JobId job, const Error& why, Instant now);

  void on_time(Instant now);
  std::optional<Instant> wake_at() const;

  /// The client that gets notes of a job's kernels.
  std::optional<Life> client_of(JobId job) const;
  /// To be called after each event.
  std::vector<GatewayEffect> take_effects();
  /// Throws Bug when a rule is broken. The rules hold between two events.
  void check_invariants() const;
  /// For tests: all jobs, and which of them are awake.
  const KeptJobs& jobs() const { return jobs_; }

  /// Ended jobs without a client that are remembered; older ones are unknown.
  static constexpr std::size_t ended_jobs_max = 1000;
  static constexpr Intensity crashes = KeptJob::crashes;
  /// Outputs of a job are kept so long for a client that may be on its way from a node that died.
  static constexpr Duration client_grace = std::chrono::seconds(30);
  /// A submission is refused when its program, and then its record, has not got its copies within this time.
  static constexpr Duration accept_within = std::chrono::seconds(10);
  /// A client that cancels a job is told after this time that the record does not have that yet, and asks
  /// again. Commands wait 10 s for an answer.
  static constexpr Duration cancel_within = std::chrono::seconds(5);
  /// A node that reported a program longer ago is asked again: it may have removed it (program_shelf.hpp).
  static constexpr Duration believed_for = std::chrono::seconds(60);
  /// A node that was told of others takes no jobs for this time before it has met one: the record of a job
  /// would have one copy, and no other node would run or know the job.
  static constexpr Duration meets_peers_within = std::chrono::seconds(3);
  /// Processes that do not hear each other for this time, beyond the 2 s after which they report it, are
  /// apart. Their nodes then have no process of the job for the same time.
  static constexpr Duration apart_after = std::chrono::seconds(1);
  static constexpr Duration apart_pause = std::chrono::seconds(30);
  /// A job of one task begins in one process, and gets others when it has not ended after this time.
  static constexpr Duration others_after = std::chrono::milliseconds(200);
  /// Elections take less than this, so a shorter lack of a majority is not reported.
  static constexpr Duration quorum_missed = std::chrono::seconds(2);
  /// Limit of results of one job kept here, as ResultLimits::bytes_max is.
  static constexpr std::size_t results_max = 65'536;
  /// Number of results of an ended job that are fetched at a time.
  static constexpr std::size_t results_coming_max = 4;
  /// Time for a client that waited for the job's end to ask for outputs that tasks have read.
  static constexpr Duration asks_within = std::chrono::seconds(2);
  /// A retry of the unfinished tasks of a job that has just ended waits until its outputs are here: they are
  /// checked at this interval, for a limited time. Commands wait 10 s for an answer.
  static constexpr Duration gathered_pause = std::chrono::milliseconds(20);
  static constexpr Duration gathered_within = std::chrono::seconds(5);
  /// Time for kernels of a cancelled job to log last words; they are asked repeatedly meanwhile.
  static constexpr Duration last_words_within = std::chrono::milliseconds(500);
  static constexpr Duration last_words_pause = std::chrono::milliseconds(20);
  /// Jobs that wait for room on a node ask again at this interval; a limited number, the oldest first.
  static constexpr Duration room_pause = std::chrono::milliseconds(250);
  static constexpr std::size_t room_asked_max = 16;
  /// Lanes of a job whose progress is kept, and tasks whose reported crashes are kept.
  static constexpr std::size_t progress_lanes_max = 1024, crashes_told_max = 1024;
  /// Limit of reasons why a node is not ready.
  static constexpr std::size_t reasons_max = 20;

 private:
  using Worker = KeptJob::Worker;
  using Cancelling = KeptJob::Cancelling;

  bool is_early(const ClientMessage& message, Instant now) const;
  void answer_early(Instant now);
  void ask(Life from, const client::AskHandle& ask, Instant now);
  void ask(Life from, client::AskSubmit& ask, Instant now);
  void ask(Life from, const client::AskNodes& ask, Instant now);
  void ask(Life from, const client::AskJobs& ask, Instant now);
  void ask(Life from, const client::AskEnd& ask, Instant now);
  void ask(Life from, const client::AskCancel& ask, Instant now);
  void ask(Life from, const client::AskFollow& ask, Instant now);
  void ask(Life from, const client::AskOutputs& ask, Instant now);
  void ask(Life from, const client::AskRetry& ask, Instant now);
  void ask(Life from, const client::AskDrain& ask, Instant now);
  void ask(Life from, const client::AskShutdown& ask, Instant now);
  void ask(Life from, const client::AskExplain& ask, Instant now);
  void ask(Life from, const client::AskJournal& ask, Instant now);
  void answer_explained(Instant now);
  void tell_end(JobId id, KeptJob& job, Instant now);
  void ask_speaking(JobId id, KeptJob& job, Instant now);
  void on_silent(JobId id, KeptJob& job, Life process);
  void spread(Life from, client::AskSubmit ask, Instant until, Instant now);
  void look_at_spreading(Instant now);
  bool has_program(Life node, ProgramId program, Instant now) const;
  bool outlives_losses(ProgramId program, Instant now) const;
  void want(Life from, const client::Want& want);
  void answer(Life to, client::Answer answer);
  void refuse(Life to, std::uint64_t number, Error why);
  Status admissible(const detail::Fragment& graph) const;
  /// True: the client with this key means another job, which was never accepted.
  static bool is_another(const KeptJob& job, std::uint64_t key);
  Error why_no_jobs() const;
  Error out_of_handles() const;
  std::vector<std::string> not_ready(Instant now) const;
  void refuse_handle(Life to, std::uint64_t number, JobId job);
  KeptJob* known(Life from, std::uint64_t number, JobId job, Instant now);
  void send_elsewhere(Life to, std::uint64_t number, JobId id, const KeptJob& job, Instant now);
  void close_again(JobId id);
  void stop_workers_everywhere(JobId id);
  void accept(JobId id, KeptJob& job);
  void answer_cancelling(JobId id, KeptJob& job);
  void refuse_cancelling(JobId id, KeptJob& job, Instant now);
  /// The record has the cancelling, or has no copies.
  void end_before_it_began(JobId id, KeptJob& job, Instant now);
  bool is_gone(Life node) const;
  void bury_earlier(JobId id, KeptJob& job);
  /// The error when nothing can be settled at this node.
  std::optional<Error> no_quorum(JobId id, const KeptJob& job, Instant now) const;
  void step_down(JobId id, KeptJob& job, Instant now);
  void hand_over(JobId id, KeptJob& job);
  void let_hosts_go(JobId id, KeptJob& job);
  std::shared_ptr<const JobPlan> plan_of(JobId id, const KeptJob& job, std::size_t shards) const;

  /// The node is up, is not draining and is no witness.
  bool runs_jobs(Life node) const;
  /// The node can begin the record of a job.
  bool can_take_jobs(Life node) const;
  /// The node can take jobs and is not sick.
  bool takes_jobs(Life node) const;
  bool comes_back(KeptJob& job, Life node) const;
  void start_worker(JobId id, KeptJob& job, Life node);
  /// Starts processes on all nodes that run jobs; behind the jobs that wait for room.
  void start_workers(JobId id, KeptJob& job, Instant now);
  void wait_for_room(KeptJob& job, Life node, Instant now);
  bool others_wait_for_room(JobId id, Life node) const;
  void look_for_room(JobId id, KeptJob& job, std::size_t& asked, Instant now);
  void retire_workers(JobId id, KeptJob& job);
  void on_worker_up(Life from, const keeper::WorkerUp& up, Instant now);
  void worker_down(JobId id, KeptJob& job, Worker& worker, keeper::WorkerDown down, bool replace,
                   Instant now);
  void on_unheard(Life from, const keeper::Unheard& news, Instant now);
  std::vector<std::pair<Apart, Instant>> silences(const KeptJob& job) const;
  std::optional<Instant> apart_at(const KeptJob& job) const;
  void look_who_is_apart(JobId id, KeptJob& job, Instant now);
  void tell_of_workers(JobId id, const KeptJob& job, Life node);
  void tell_other_nodes(const KeptJob& job, const Worker& about, const KeeperMessage& news);
  void begin_if_ready(JobId id, KeptJob& job, Instant now);
  void introduce(JobId id, const KeptJob& job, const Worker& to);
  /// Stops a job that has no process and gets none.
  void stop_if_deserted(JobId id, KeptJob& job, Instant now);
  void give_up(JobId id, KeptJob& job, Error why, Instant now);
  void end(JobId id, KeptJob& job, JobPhase phase, Instant now);
  void close(JobId id, KeptJob& job);
  void rest_or_close(JobId id, KeptJob& job);
  void ask_for(JobId id, KeptJob& job, std::uint32_t task, std::optional<Life> who);
  std::optional<RetryOf> retry_of(const KeptJob& job) const;
  void gather_results(JobId id, KeptJob& job);
  void gather_more(JobId id, KeptJob& job);
  static bool is_gathered(const KeptJob& job);
  void submit_again(Life from, const client::AskRetry& ask, const KeptJob& job, Instant now);
  void look_at_retries(Instant now);
  void keep_result(KeptJob& job, client::TaskSettled settled);
  void release_result(KeptJob& job, client::TaskSettled settled);
  void forget_results(KeptJob& job);
  void rest_if_gathered(JobId id, KeptJob& job);
  void forget(Life client, JobId id);
  void let_go(Life client, JobId id, KeptJob& job);
  static bool may_be_asked(const KeptJob& job);
  void close_if_unwanted(JobId id, KeptJob& job);
  void send_to_followers(const KeptJob& job, const ClientMessage& message);
  void stop_workers(JobId id, KeptJob& job);
  void forget_oldest();
  static std::vector<TaskProgress> progress_of(const KeptJob& job);
  JobInfo info(JobId id, const KeptJob& job, Instant now, bool in_full) const;
  Worker* find(KeptJob& job, Life node, std::uint32_t number);
  void check_clients(JobId id, const KeptJob& job) const;
  void check_results_bytes() const;

  const Life self_;
  const std::uint32_t pid_;
  const bool recorded_;
  const std::uint32_t replicas_;
  const ResultLimits results_limits_;
  std::map<Life, Claim> nodes_;
  Hearings heard_;
  std::map<ProcessId, Incarnation> gone_;  ///< the newest life of each node that left
  std::set<ProgramId> programs_;
  std::optional<Instant> began_;  ///< when this node knew itself
  std::vector<std::pair<Life, ClientMessage>> asked_early_;
  std::vector<std::pair<Life, client::AskSubmit>> waiting_for_program_;
  /// Submissions whose program is here, but not yet on the other nodes that need it.
  struct Spreading {
    Life client;
    client::AskSubmit submission;
    Instant until;
  };
  std::vector<Spreading> spreading_;
  struct WaitingRetry {
    Life client;
    client::AskRetry ask;
    Instant until;
  };
  std::vector<WaitingRetry> retries_waiting_;
  Instant look_at_retries_at_;
  std::map<ProgramId, std::map<Life, Instant>> program_at_;  ///< other nodes, and when they reported it
  Explaining explaining_;
  std::map<Life, Instant> unheard_;  ///< by this node
  std::uint32_t jobs_given_ = 0;
  /// The highest handle of each node that was seen here.
  std::map<ProcessId, std::uint32_t> handles_seen_;
  const bool expects_peers_;
  KeptJobs jobs_;
  std::map<Life, std::set<JobId>> asked_about_;  ///< by each client that is here
  std::size_t results_bytes_ = 0;                ///< of all jobs
  std::set<JobId> unread_;
  std::deque<JobId> ended_;  ///< KeptJob::to_be_forgotten, the oldest first
  std::vector<GatewayEffect> effects_;
};

/// A job's number names the node at which it was submitted.
JobId job_of_node(ProcessId node, std::uint32_t count);
ProcessId node_of(JobId job);

}  // namespace dag
