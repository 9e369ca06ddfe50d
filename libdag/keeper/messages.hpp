#pragma once
// Messages between clients, keepers of nodes and worker processes about jobs and their processes.
// Plain values; libdag/wire gives them bytes. Messages about rows and outputs are in
// libdag/job/messages.hpp.
//
//   client -> keeper    Ask* with a number; answered once each, by Answer with that number
//                       Want, ForgetJob: owe nothing
//   keeper -> client    Answer; of jobs that this client submitted TaskSettled, JobEnded, JobLost, JobMoved
//                       (then AskFollow follows); likewise of those that it attaches to
//   keeper -> keeper    StartWorker, StopWorkers, StopWorker, WorkerUp, WorkerDown, WorkerRefused
//   keeper -> keeper    AnotherLeads, from the former leader of the job's record; owes nothing
//   keeper <-> keeper   KeepProgram, HaveProgram; WantProgram, ProgramBytes (a client sends the bytes, too,
//                       when it is asked to)
//   keeper -> keeper    SaveCopy, from the leader of a job's record to nodes with a copy of it; owes nothing
//   keeper -> worker    Begin
//   worker -> keeper    Unheard, to the leader of the job's record
//
// Links deliver each message once and in order while both lives last; small messages may overtake large ones.
// Repeating a submission with the same job id and key does no harm. Every question is answered, or its link
// breaks.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dag/blob.hpp"
#include "libdag/job/explained.hpp"
#include "libdag/job/messages.hpp"
#include "libdag/membership/claim.hpp"
#include "libdag/supervision/blame.hpp"

namespace dag {

/// A program, named by its content: the hash (XXH3, 128 bit) and number of its bytes.
struct ProgramId {
  std::uint64_t hash_high = 0;
  std::uint64_t hash_low = 0;
  std::uint64_t size_bytes = 0;
  auto operator<=>(const ProgramId&) const = default;
};

/// How a job's binary is started as a worker process: like the client's process, so that the code before its
/// Session does the same.
struct Launch {
  ProgramId program;
  /// build_of_this_process() of the client; the worker process must have the same.
  std::string build;
  /// argv of the client, its own name first.
  std::vector<std::string> arguments;
  /// Working directory of the client. If it does not exist, the worker process starts in `/`.
  std::string directory;
  /// NAME=VALUE: the part of the client's environment that travels (nodes/workers/client_world.hpp).
  std::vector<std::string> environment = {};
  /// The client's soft limits, by Linux's numbers of them (RLIMIT_CPU is 0); all bits set: no limit.
  std::vector<std::uint64_t> limits = {};
  /// Search path of the client's libraries, as in LD_LIBRARY_PATH: its value in the client, and the program's
  /// entries for its own directory (`$ORIGIN`), which a copy in memory cannot know.
  std::string library_path = {};
  /// Drawn by the client's Session. A process may serve jobs of a Session one after the other, and none of
  /// another Session, since jobs leave state in the process. 0: it serves one job.
  std::uint64_t session = 0;
  bool operator==(const Launch&) const = default;
};

/// Data of a job's record beside its plan, for the leader.
struct Submission {
  Launch launch;
  bool detached = false;  ///< nobody will fetch outputs
  /// Time of acceptance, since 1970, by the clock of the accepting node.
  std::int64_t accepted_unix_ns = 0;
  std::uint64_t key = 0;  ///< client::AskSubmit::key
  JobId retries = {};     ///< the job that this one retries; 0: none
  bool operator==(const Submission&) const = default;
};

/// Progress of a job, in tasks.
struct JobCounts {
  std::uint64_t open = 0;
  std::uint64_t finished = 0, failed = 0, skipped = 0, cancelled = 0;
  std::uint64_t tolerated = 0;  ///< of `failed`: failures with which the job can finish
  bool well() const { return failed == tolerated && cancelled == 0; }
  bool operator==(const JobCounts&) const = default;
};

enum class JobPhase : std::uint8_t {
  starting,
  running,
  finished,
  failed,
  cancelled,
  /// Reported by a node that has a copy of the record and cannot hear a majority of the copies: nothing is
  /// settled there.
  no_quorum,
  /// Reported by a node that has just started, and has not read the job's record yet.
  recovering,
};
std::string_view name(JobPhase phase);
/// "finished, 3 tolerated failures"
std::string phase_text(JobPhase phase, const JobCounts& counts);
/// True: the job does not change any more.
bool has_ended(JobPhase phase);

/// A worker process of a job. Past ones are listed, too.
struct WorkerInfo {
  Life life;
  ProcessId node;
  std::uint32_t pid = 0;  ///< on its host
  bool up = false;
  std::string end;  ///< how it ended, when it did not just finish: "signal 11 (Segmentation fault)"
  bool operator==(const WorkerInfo&) const = default;
};

/// A task that ended by a failure or a cancelling, or after its deadline.
struct TaskInfo {
  TaskId task;
  std::string name;
  Outcome outcome = Outcome::none;
  std::uint32_t tries = 0;  ///< of its kernel; not counted if the task finished
  std::optional<Error> error;
  Duration late{0};  ///< how long after its deadline it ended
  bool operator==(const TaskInfo&) const = default;
};
/// Counts of the tasks of one name.
struct ClassInfo {
  std::string name;
  JobCounts counts;
  bool operator==(const ClassInfo&) const = default;
};
/// Progress of a running kernel, as it last reported by Context::progress.
struct TaskProgress {
  TaskId task;
  std::string name;
  std::uint32_t number = 0;  ///< of the attempt, as Context::attempt says
  std::string device;        ///< the lane: n1/w1/cpu0
  double fraction = 0;       ///< from 0 to 1
  std::string note;
  bool operator==(const TaskProgress&) const = default;
};
/// The outcomes of a job's tasks. Bounded for any job: see job_story.hpp.
struct JobDetails {
  std::vector<TaskInfo> tasks;              ///< in the order in which they were settled
  std::uint64_t tasks_beyond = 0;           ///< tasks as in `tasks` that are not listed
  std::uint64_t late = 0;                   ///< tasks that ended after their deadline
  std::vector<ClassInfo> classes;           ///< by name
  JobCounts others;                         ///< tasks of further names, all together
  std::vector<TaskProgress> progress = {};  ///< by task, while the job runs
  bool operator==(const JobDetails&) const = default;
};

struct JobInfo {
  JobId job;
  std::string name;
  JobPhase phase = JobPhase::starting;
  JobCounts counts;
  /// Since the job was accepted; for an ended job until its end.
  Duration age{0};
  std::vector<WorkerInfo> workers;
  std::optional<Error> error;  ///< why the job failed, if not by a task's failure
  /// Set when a single job was asked for, and it has begun.
  std::optional<JobDetails> details;
  /// Nodes that hold the record, by the leader's word.
  std::vector<ProcessId> copies;
  /// Total number of tasks as stated by the graph (Graph::total). 0: not stated.
  std::uint64_t total = 0;
  JobId retries = {};  ///< the job that this one retries; 0: none
  bool operator==(const JobInfo&) const = default;
};
/// Counts with the stated but not yet spawned tasks among the open ones.
JobCounts counts_of_whole(const JobInfo& job);
/// True: the job runs, states a total and has not exceeded it.
bool states_its_total(const JobInfo& job);

/// Order of lists: running jobs before ended ones, and the newest first.
bool is_listed_before(const JobInfo& a, const JobInfo& b);
/// Selects jobs for a list.
struct JobFilter {
  std::string name;  ///< part of the job's name
  std::optional<JobPhase> phase = {};
  bool failed = false;      ///< the job or a task of it failed
  std::uint32_t first = 0;  ///< limit, in the order of is_listed_before; 0: all
  bool takes(const JobInfo& job) const;
  /// Keeps the selected jobs, in any order. Returns the number of jobs beyond `first`.
  std::uint64_t choose(std::vector<JobInfo>& jobs) const;
  bool operator==(const JobFilter&) const = default;
};

/// How a node hears another.
struct HeardOf {
  Duration ago{0};         ///< since its last sign of life
  Duration round_trip{0};  ///< of a heartbeat and its answer; zero: not measured
  bool operator==(const HeardOf&) const = default;
};

struct NodeInfo {
  Life life;
  MemberState state = MemberState::alive;
  Endpoint endpoint;
  LoadSummary load;
  std::uint32_t jobs = 0;  ///< jobs whose record is there; only of the answering node
  std::uint32_t pid = 0;   ///< likewise
  /// Reasons not to send it requests now, one sentence each; likewise.
  std::vector<std::string> not_ready = {};
  std::optional<HeardOf> heard = {};  ///< by the answering node; none for itself
  bool operator==(const NodeInfo&) const = default;
};

/// Position in a node's journal: so many bytes of this file, and all files before it. File 0: the beginning.
struct JournalPlace {
  std::uint64_t file = 0, bytes = 0;
  std::uint32_t of = 0;  ///< incarnation of the node that wrote the file; file numbers of another one differ
  bool operator==(const JournalPlace&) const = default;
};
/// A part of a node's journal.
struct JournalPage {
  JournalPlace read;  ///< the page ends there; file 0: the page ends with the journal
  Blob bytes;         ///< a file as in libdag/journal/journal.hpp; null: no part of it was asked for
  std::vector<std::string> notices = {};  ///< gaps, for people
};

/// Limit of outputs named in an answer.
inline constexpr std::size_t outputs_told_max = 4096;
/// A task of a submitted graph whose output can be asked for.
struct OutputInfo {
  std::uint32_t task = 0;
  std::string name;
  bool operator==(const OutputInfo&) const = default;
};

namespace client {

/// A handle for a job: creates nothing. Answered with a new `job`, or with `elsewhere`.
struct AskHandle {
  std::uint64_t number = 0;
};
/// Answered when the job is accepted. If the node does not have the program, an answer with `wants_program`
/// comes first: send ProgramBytes.
struct AskSubmit {
  std::uint64_t number = 0;
  JobId job;
  std::string name;
  std::shared_ptr<const detail::Fragment> graph;
  Launch launch;
  /// Nobody will fetch outputs: the job's processes end with it.
  bool detached = false;
  /// Tests only: every task supervised, or as it needs.
  bool supervise_all = false;
  /// Drawn by the client. A node that was restarted may give out a handle again that nobody remembers: a
  /// submission with another key is another job, and is refused under that number. 0: the client does not
  /// check.
  std::uint64_t key = 0;
  /// Only checks that the job would be accepted; nothing starts.
  bool dry_run = false;
  /// When the client has gone, the outputs are kept as for a detached job, and AskRetry takes the job.
  bool kept = false;
  /// For a gateway's own retry of that job: these do not travel.
  JobId retries = {};
  bool only_unfinished = false;
};
/// Submits a job that has ended once more, unchanged; the copy is detached. With `only_unfinished` the copy
/// skips tasks that are done in the job (cell/retried.hpp). Answered by the job's leader when the copy is
/// accepted; `job` of the answer is the copy.
struct AskRetry {
  std::uint64_t number = 0;
  JobId job;
  bool only_unfinished = false;
};
struct AskNodes {
  std::uint64_t number = 0;
};
/// No job: all jobs that the filter takes and whose record is at this node.
struct AskJobs {
  std::uint64_t number = 0;
  std::optional<JobId> job;
  JobFilter which = {};
};
/// Answered when the job has ended.
struct AskEnd {
  std::uint64_t number = 0;
  JobId job;
};
/// Answered when the job's tasks have been told.
struct AskCancel {
  std::uint64_t number = 0;
  JobId job;
};
/// Goes on with a job that was submitted by way of another node, which does not lead the job's record any
/// more: asks for these tasks and the end.
struct AskFollow {
  std::uint64_t number = 0;
  JobId job;
  std::vector<std::uint32_t> tasks;
  std::uint64_t key = 0;  ///< as in its AskSubmit
  /// The client attaches to a job of another client, which stays its client.
  bool attaches = false;
};
/// Tasks of the submitted graph with this name; without a name the results: tasks whose output no other task
/// reads. Answered by the job's leader, as long as somebody may ask for outputs.
struct AskOutputs {
  std::uint64_t number = 0;
  JobId job;
  std::string task;
};
/// Ends this node with all its processes; answered before.
struct AskShutdown {
  std::uint64_t number = 0;
};

/// Drains this node, or cancels that. Answered before it begins; AskJobs to the leaders of the jobs tells
/// what is left where.
struct AskDrain {
  std::uint64_t number = 0;
  bool draining = false;
};

/// Why tasks of a job are where they are. Answered by the job's leader, when its processes have answered or
/// had their time.
struct AskExplain {
  std::uint64_t number = 0;
  JobId job;
  TaskSelector what;
};
/// A part of this node's journal of a job; without a job, of the events that concern jobs as a whole.
struct AskJournal {
  std::uint64_t number = 0;
  std::optional<JobId> job;
  JournalPlace read;  ///< JournalPage::read of the answer before
  bool logs = false;  ///< only lines of kernels and output of processes
  /// Records about other tasks may be left out. (They are included when the record alone does not tell its
  /// task's name.)
  TaskSelector which = {};
};

/// The answer to each of the above, exactly one. Without an error it has the requested data.
struct Answer {
  std::uint64_t number = 0;
  std::optional<Error> error;
  std::optional<JobId> job;
  bool wants_program = false;
  /// With the error job_elsewhere: address of the leader of the job's record, if known; for AskHandle, of a
  /// node that takes jobs.
  std::string elsewhere;
  std::vector<NodeInfo> nodes;
  std::vector<JobInfo> jobs;
  std::vector<ProcessExplained> explained;
  std::vector<Life> silent;  ///< processes of the job that did not answer in time
  std::optional<JournalPage> journal;
  std::uint64_t jobs_beyond = 0;         ///< jobs that JobFilter::first left out
  std::vector<OutputInfo> outputs = {};  ///< at most outputs_told_max
};

/// Keeps the output of this task of the graph; TaskSettled follows when it is settled.
struct Want {
  JobId job;
  std::uint32_t task = 0;
};
/// The client will ask for nothing of the job any more.
struct ForgetJob {
  JobId job;
};

struct TaskSettled {
  JobId job;
  std::uint32_t task = 0;
  Outcome outcome = Outcome::none;
  Blob output;  ///< absent differs from empty
  std::optional<Error> error;
};
struct JobEnded {
  JobId job;
  std::optional<Error> stopped;
  JobCounts counts;
};
/// No more news of the job from this node, since it does not lead its record any more: AskFollow.
struct JobMoved {
  JobId job;
};
/// The job is lost.
struct JobLost {
  JobId job;
  Error why;
};

}  // namespace client

using ClientMessage =
    std::variant<client::AskHandle, client::AskSubmit, client::AskNodes, client::AskJobs, client::AskEnd,
                 client::AskCancel, client::AskShutdown, client::Answer, client::Want, client::ForgetJob,
                 client::TaskSettled, client::JobEnded, client::JobLost, client::AskFollow, client::JobMoved,
                 client::AskDrain, client::AskExplain, client::AskJournal, client::AskOutputs,
                 client::AskRetry>;

namespace keeper {

/// To the keeper of a node: keep a worker process of this job. Ends in a WorkerRefused, or in a WorkerUp that
/// a WorkerDown follows. If several nodes may lead the job's record, it also says that the sender leads: the
/// sender is told of all worker processes of the job that are there, and how earlier ones ended.
struct StartWorker {
  JobId job;
  /// Counts the worker processes of a job on that node: only a new number starts one.
  std::uint32_t number = 0;
  /// The term in which the sender leads; older terms are ignored. 0: no other node ever leads.
  std::uint32_t term = 0;
  Launch launch;
};
/// Ends the job's worker processes there: the job has ended, or the node is draining and others go on.
struct StopWorkers {
  JobId job;
};
/// In place of a worker process's number: sent by the job's leader to the other nodes, not by the host.
inline constexpr std::uint32_t for_your_knowledge = 0;

struct WorkerUp {
  JobId job;
  std::uint32_t number = 0;  ///< from 1, or for_your_knowledge
  Life life;
  Endpoint endpoint;
  std::uint32_t pid = 0;
};
/// No more messages come from that life.
struct WorkerDown {
  JobId job;
  std::uint32_t number = 0;
  Life life;
  ProcessEnd end = ProcessEnd::stopped_by_us;
  std::string text;  ///< for people: "signal 11 (Segmentation fault)"
  /// Attempts that ran on its lanes, and the lane that faulted, where known.
  std::vector<RunningAttempt> running;
  std::optional<std::uint32_t> guilty_lane;
};
struct WorkerRefused {
  JobId job;
  std::uint32_t number = 0;
  Error why;
};
/// To the leader of the job, from a worker process of it: all processes of the job that owe it an answer and
/// are not heard. The newest message counts.
struct Unheard {
  JobId job;
  std::vector<Life> lives;
};
/// To the keeper of a node: end this worker process of the job.
struct StopWorker {
  JobId job;
  std::uint32_t number = 0;
};
/// To the keeper of a node, from the former leader of the job's record: another node leads, or the record is
/// gone. Worker processes that the sender started there go on when the new leader asks for them.
struct AnotherLeads {
  JobId job;
};
struct WantProgram {
  ProgramId program;
};
struct ProgramBytes {
  ProgramId program;
  Blob bytes;  ///< null: the sender does not have the program (any more)
};
/// To another node, before a job is accepted: get this program, from the sender if need be. Answered by
/// HaveProgram as soon as the program is stored there; not answered when that is impossible.
struct KeepProgram {
  ProgramId program;
};
struct HaveProgram {
  ProgramId program;
};
/// To a worker process: the other processes of its job, and its cell. The first Begin starts it; a new leader
/// sends another, with the processes that it knows.
struct Begin {
  JobId job;
  Life cell;
  std::uint32_t term = 0;  ///< as in StartWorker
  std::vector<Endpoint> others;
};

/// To a node with a copy of the job's record, from the leader: a saved state for its disk.
struct SaveCopy {
  JobId job;
  std::string job_name, actor_name;  ///< the actor's, or the task's
  KeepSave save;
};

/// To a node that has joined: an earlier life of it has given out handles of jobs up to this count.
struct JobsGiven {
  std::uint32_t count = 0;
};

/// To a worker process of the job, from the job's leader: why are these tasks where they are? Answered once
/// by Explained; the leader does not wait for answers that come late.
struct Explain {
  JobId job;
  std::uint64_t question = 0;
  TaskSelector what;
};
struct Explained {
  JobId job;
  std::uint64_t question = 0;
  ProcessExplained process;
};

}  // namespace keeper

using KeeperMessage =
    std::variant<keeper::StartWorker, keeper::StopWorkers, keeper::WorkerUp, keeper::WorkerDown,
                 keeper::WorkerRefused, keeper::WantProgram, keeper::ProgramBytes, keeper::Begin,
                 keeper::JobsGiven, keeper::SaveCopy, keeper::KeepProgram, keeper::HaveProgram,
                 keeper::Unheard, keeper::StopWorker, keeper::Explain, keeper::Explained,
                 keeper::AnotherLeads>;

}  // namespace dag
