#pragma once
// The gateway's half of a keeper: clients, and the jobs whose record (cell) is at this node. Decides which
// job is accepted, which nodes get a worker process for it and get another one after a loss, and what each
// client is told. The worker processes themselves are their hosts' (host.hpp), rows and outcomes the cell's.
//
//   starting --each node has answered, one process is up--> running --the cell says so--> ended --> closed
//
// Each node gets one worker process per job. A lost one is replaced on its node as long as the node is there
// and the budget allows; a node that joins gets one too. A job without any process waits for the next one;
// when none is to come, it is stopped.
//
// The record of a job has several copies, if the nodes are told so: then this half of whichever node leads it
// is all that follows, and the halves of the others know where to ask. Who comes to lead asks all hosts what
// runs there (keeper::StartWorker), and its clients come by themselves (client::AskFollow).
//
// Processes of a job that do not hear each other although nobody is dead (supervision/apart.hpp): some of
// them end, so that the others go on; their nodes get new ones after a while, when the network may be well
// again.
//
// A job whose client is gone goes on. When a job has ended, the outputs that no task reads come here, and
// with them all that the client has asked for. Until they are here the processes stay, and lost ones are
// replaced; then the job is at rest: its processes end, and clients are answered from here and from the
// record. Other outputs were released with the processes. Who asks for outputs of a job that has ended asks
// whoever leads it. When nobody may ask for outputs any more (the client forgot the job or is gone, nobody is
// attached, and a job that was submitted for no client has been kept for its time), the job is closed.
//
// Who cancels a job whose record has copies is told so when a majority of them has it: then every later
// leader knows. Until then nothing comes of it here, and the question is answered in one of four ways: the
// record has it; the job has ended; this node does not lead it any more, so another one is to be asked; or
// `cancel_within` is over. Asked again, it changes nothing.
//
// A node without room for a process of a job refuses it, with limit_reached. The job runs on the other nodes;
// without any it waits, `starting`. It asks again every `room_pause`, older jobs first, and one that is new
// waits behind those. It ends: processes end with their jobs, and a job that runs waits for no other job.
//
// A node that is draining gets no new processes. Those that it has go, as soon as another node has one of the
// job; what lay there is made again, as when they are lost. It gives out no handles either, nor does one
// whose disk is full, and says where a client gets one.

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

/// What is kept of jobs that have ended and have no client.
struct ResultLimits {
  /// What a job leaves that was submitted for no client stays so long.
  Duration kept_for = std::chrono::hours(1);
  /// Bytes of all results in memory here.
  std::size_t bytes_max = std::size_t{512} << 20;
  /// What is more goes to the disk. Without one, or when that is full, it stays with the processes of its
  /// job; of a job that has no client it is released.
  bool spills = false;
};

/// What a copy of a record says of itself.
struct RecordLed {
  std::shared_ptr<const JobPlan> plan;
  Submission submission;
  bool leads = false;               ///< this node does
  std::optional<ProcessId> leader;  ///< who does, as far as is known here
  std::uint32_t term = 0;
  bool settled = false;  ///< a majority of the copies has the job
  /// Since when this node hears less than a majority of the copies; it does not lead then.
  std::optional<Instant> without_majority;
  bool begun = false;             ///< some process has had a shard
  bool cancelled = false;         ///< as a whole: a majority of the copies has that
  std::vector<Life> lives;        ///< processes that the job ran in when the record was last written
  std::vector<ProcessId> copies;  ///< nodes whose copies count
  Duration age{0};                ///< since it was accepted
};

class GatewayMachine {
 public:
  /// `recorded`: the records of jobs have copies, `replicas` where there are as many nodes, or lie on a disk.
  /// `handles_seen`: how far each node's handles came in earlier lives of this one, as far as it remembers.
  /// `expects_peers`: it was told of other nodes. It expects some, too, that it knew in an earlier life.
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

  /// All nodes that are up and what they say of themselves, this one included, and how the others are heard
  /// here; told again whenever it changes.
  void on_nodes(std::vector<Claim> nodes, Instant now, Hearings heard = {});
  void on_client_message(Life from, ClientMessage message, Instant now);
  void on_client_gone(Life client, Instant now);
  /// WorkerUp, WorkerDown, WorkerRefused, HaveProgram, Unheard (of this node, too: then of any job's
  /// processes), Explained and JobsGiven.
  void on_keeper_message(Life from, const KeeperMessage& message, Instant now);
  /// A program that a client sent is in the store, or was refused.
  void on_program(ProgramId program, const std::optional<Error>& refused, Instant now);
  /// Those of jobs that are not over for everybody, whoever leads them, and of submissions.
  std::set<ProgramId> needed_programs() const;
  /// It is not here any more; nobody needed it.
  void on_program_gone(ProgramId program);

  /// Jobs whose records are on this node's disk, and are read now. What becomes of each a cell says.
  void on_found(std::set<JobId> records) { unread_ = std::move(records); }
  bool has_read_all() const { return unread_.empty(); }

  // What a cell says.
  void on_led(RecordLed news, Instant now);
  /// This node's copy of the record is not needed any more.
  void on_record_over(JobId job, Instant now);
  void on_settled(JobId job, client::TaskSettled settled);
  /// With the output as it lies on the disk, or not written: then without one.
  void on_spilled(client::TaskSettled settled, bool written);
  void on_counts(JobId job, const JobCounts& counts);
  void on_details(JobId job, JobDetails details);
  /// A kernel in that process of the job says how far it is; none: it does not run any more.
  void on_progress(JobId job, Life process, const std::string& device, std::optional<TaskProgress> progress);
  /// A process of the job says that this attempt took its process down; homes that come after others say it
  /// again. Whether it is news.
  bool is_new_crash(JobId job, TaskId task, std::uint32_t number);
  /// Before on_ended: outputs that are kept like results, since who retries the job reads them.
  void on_unread(JobId job, std::vector<std::uint32_t> tasks);
  void on_ended(JobId job, const std::optional<Error>& stopped, const JobCounts& counts, Instant now);
  void on_lost(JobId job, const Error& why, Instant now);

  void on_time(Instant now);
  std::optional<Instant> wake_at() const;

  /// Whom notes of a job's kernels are for.
  std::optional<Life> client_of(JobId job) const;
  /// After each event.
  std::vector<GatewayEffect> take_effects();
  /// For tests: all that are kept, and which of them are walked over.
  const KeptJobs& jobs() const { return jobs_; }

  /// Ended jobs without a client that are remembered; older ones are unknown.
  static constexpr std::size_t ended_jobs_max = 1000;
  static constexpr Intensity crashes = KeptJob::crashes;
  /// For so long outputs of a job are kept for a client that may be on its way from a node that died.
  static constexpr Duration client_grace = std::chrono::seconds(30);
  /// A submission whose program, or then whose record, has not got its copies by then is refused.
  static constexpr Duration accept_within = std::chrono::seconds(10);
  /// Who cancels a job and is told by then that its record does not have that yet, asks again. Commands wait
  /// 10 s for an answer.
  static constexpr Duration cancel_within = std::chrono::seconds(5);
  /// A node that had a program so long ago is asked again: it may have let it go (program_shelf.hpp).
  static constexpr Duration believed_for = std::chrono::seconds(60);
  /// A node that was told of others takes jobs before it has met one only after so long: the record of a job
  /// would have one copy, and no other node would run it or know it.
  static constexpr Duration meets_peers_within = std::chrono::seconds(3);
  /// Processes that do not hear each other for so long, beyond the 2 s after which they say so, are apart;
  /// and for so long a node has none of the job then.
  static constexpr Duration apart_after = std::chrono::seconds(1);
  static constexpr Duration apart_pause = std::chrono::seconds(30);
  /// A job of one task begins in one process, and has others when it has not ended after so long.
  static constexpr Duration others_after = std::chrono::milliseconds(200);
  /// An election takes less, so nothing is said of it.
  static constexpr Duration quorum_missed = std::chrono::seconds(2);
  /// Results of one job that are kept here; as ResultLimits::bytes_max.
  static constexpr std::size_t results_max = 65'536;
  /// Of a job that has ended, so many results are on their way here.
  static constexpr std::size_t results_coming_max = 4;
  /// A client that waited for the end of a job and then asks for what its tasks have read is not late yet.
  static constexpr Duration asks_within = std::chrono::seconds(2);
  /// Who retries what did not finish in a job that has just ended waits until its outputs are here: they are
  /// looked for so often, and not for longer. Commands wait 10 s for an answer.
  static constexpr Duration gathered_pause = std::chrono::milliseconds(20);
  static constexpr Duration gathered_within = std::chrono::seconds(5);
  /// Kernels of a cancelled job have so long for last words, and are looked at again and again meanwhile.
  static constexpr Duration last_words_within = std::chrono::milliseconds(500);
  static constexpr Duration last_words_pause = std::chrono::milliseconds(20);
  /// Jobs that wait for room on a node ask again at these times, so many of them: the oldest.
  static constexpr Duration room_pause = std::chrono::milliseconds(250);
  static constexpr std::size_t room_asked_max = 16;
  /// Lanes of a job whose progress is known, and tasks of which it is known that their crash was told.
  static constexpr std::size_t progress_lanes_max = 1024, crashes_told_max = 1024;
  /// Why a node is not ready: no more reasons are given.
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
  /// The client with this key means another job, that was never accepted.
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
  /// Its record has that it is cancelled, or it has no copies.
  void end_before_it_began(JobId id, KeptJob& job, Instant now);
  bool is_gone(Life node) const;
  void bury_earlier(JobId id, KeptJob& job);
  /// Why nothing is settled here, when that is so.
  std::optional<Error> no_quorum(JobId id, const KeptJob& job, Instant now) const;
  void step_down(JobId id, KeptJob& job, Instant now);
  void hand_over(JobId id, KeptJob& job);
  std::shared_ptr<const JobPlan> plan_of(JobId id, const KeptJob& job, std::size_t shards) const;

  /// It is here, and neither to go nor a witness.
  bool runs_jobs(Life node) const;
  /// It can begin the record of one.
  bool can_take_jobs(Life node) const;
  /// And should: it is not sick.
  bool takes_jobs(Life node) const;
  bool comes_back(KeptJob& job, Life node) const;
  void start_worker(JobId id, KeptJob& job, Life node);
  /// On all nodes that run jobs; behind the jobs that wait for room.
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
  /// No process is up or coming.
  void stop_if_deserted(JobId id, KeptJob& job, Instant now);
  void give_up(JobId id, KeptJob& job, Error why, Instant now);
  void end(JobId id, KeptJob& job, JobPhase phase, Instant now);
  void close(JobId id, KeptJob& job);
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

  const Life self_;
  const std::uint32_t pid_;
  const bool recorded_;
  const std::uint32_t replicas_;
  const ResultLimits results_limits_;
  std::map<Life, Claim> nodes_;
  Hearings heard_;
  std::map<ProcessId, Incarnation> gone_;  ///< of each node, the newest life that left
  std::set<ProgramId> programs_;
  std::optional<Instant> began_;  ///< to know itself
  std::vector<std::pair<Life, ClientMessage>> asked_early_;
  std::vector<std::pair<Life, client::AskSubmit>> waiting_for_program_;
  /// Submissions whose program is here, and not yet where it has to be besides.
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
  std::map<ProgramId, std::map<Life, Instant>> program_at_;  ///< other nodes, and when they said so
  Explaining explaining_;
  std::map<Life, Instant> unheard_;  ///< by this node
  std::uint32_t jobs_given_ = 0;
  /// The highest count of a handle of each node that was seen here.
  std::map<ProcessId, std::uint32_t> handles_seen_;
  const bool expects_peers_;
  KeptJobs jobs_;
  std::map<Life, std::set<JobId>> asked_about_;  ///< by each client that is here
  std::size_t results_bytes_ = 0;                ///< of all jobs
  std::set<JobId> unread_;
  std::deque<JobId> ended_;  ///< KeptJob::to_be_forgotten, the oldest first
  std::vector<GatewayEffect> effects_;
};

/// The number of a job says at which node its record lies.
JobId job_of_node(ProcessId node, std::uint32_t count);
ProcessId node_of(JobId job);

}  // namespace dag
