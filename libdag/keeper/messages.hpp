#pragma once
// What clients say to a cluster, and what the keepers of its nodes and the worker processes of a job say to
// each other about a job's processes. Plain values; libdag/wire gives them bytes. What is said about rows and
// outputs is libdag/job/messages.hpp.
//
//   client -> keeper    Ask* with a number; answered once each, by Answer with that number
//                       Want, ForgetJob: owe nothing
//   keeper -> client    Answer; of jobs that this client submitted TaskSettled, JobEnded, JobLost, JobMoved
//                       (then AskFollow follows); likewise of those that it attaches to
//   keeper -> keeper    StartWorker, StopWorkers, StopWorker, WorkerUp, WorkerDown, WorkerRefused
//   keeper -> keeper    AnotherLeads, from who led the job's record; owes nothing
//   keeper <-> keeper   KeepProgram, HaveProgram; WantProgram, ProgramBytes (a client sends the bytes, too,
//                       when it is asked to)
//   keeper -> keeper    SaveCopy, from who leads a job's record to those with a copy of it; owes nothing
//   keeper -> worker    Begin
//   worker -> keeper    Unheard, to who leads the job's record
//
// Links deliver each once and in order while both lives last; large messages may be overtaken by small ones.
// A submission is repeated under the same job id and key without harm. Every question is answered, or its
// link breaks.

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

/// A program by its content: what its bytes hash to (XXH3, 128 bit), and how many there are.
struct ProgramId {
  std::uint64_t hash_high = 0;
  std::uint64_t hash_low = 0;
  std::uint64_t size_bytes = 0;
  auto operator<=>(const ProgramId&) const = default;
};

/// How a job's binary is started as a worker process: as the client was, so that the code before its Session
/// does the same.
struct Launch {
  ProgramId program;
  /// build_of_this_process() of the client: what the worker process must have too.
  std::string build;
  /// argv of the client, its own name first.
  std::vector<std::string> arguments;
  /// Of the client. Where it does not exist, the worker process starts in `/`.
  std::string directory;
  /// NAME=VALUE of the client's environment: what travels (nodes/workers/client_world.hpp).
  std::vector<std::string> environment = {};
  /// The client's soft limits, by Linux's numbers of them (RLIMIT_CPU is 0); all bits set: no limit.
  std::vector<std::uint64_t> limits = {};
  /// Where the client's libraries were looked for, as in LD_LIBRARY_PATH: what is said there, and what the
  /// program says of its own directory (`$ORIGIN`), which a copy in memory cannot know.
  std::string library_path = {};
  /// Drawn by the client's Session: a process may serve one job of it after the other, and none of another
  /// Session, since a job finds what the one before has left in the process. 0: it serves one job.
  std::uint64_t session = 0;
  bool operator==(const Launch&) const = default;
};

/// What a job's record says beside its plan, for whoever leads it.
struct Submission {
  Launch launch;
  bool detached = false;  ///< nobody will fetch outputs
  /// When it was accepted, by the clock of the node that did: since 1970.
  std::int64_t accepted_unix_ns = 0;
  std::uint64_t key = 0;  ///< client::AskSubmit::key
  JobId retries = {};     ///< the job that it retries; 0: none
  bool operator==(const Submission&) const = default;
};

/// How far a job is.
struct JobCounts {
  std::uint64_t open = 0;
  std::uint64_t finished = 0, failed = 0, skipped = 0, cancelled = 0;
  std::uint64_t tolerated = 0;  ///< of `failed`: the job finishes with these
  bool well() const { return failed == tolerated && cancelled == 0; }
  bool operator==(const JobCounts&) const = default;
};

enum class JobPhase : std::uint8_t {
  starting,
  running,
  finished,
  failed,
  cancelled,
  /// As a node says that has a copy of the record, and cannot hear a majority of the nodes with one: nothing
  /// is settled there.
  no_quorum,
  /// As a node says that has just started, and has not read the job's record yet.
  recovering,
};
std::string_view name(JobPhase phase);
/// "finished, 3 tolerated failures"
std::string phase_text(JobPhase phase, const JobCounts& counts);
/// Nothing of it changes any more.
bool has_ended(JobPhase phase);

/// One worker process of a job, past ones included.
struct WorkerInfo {
  Life life;
  ProcessId node;
  std::uint32_t pid = 0;  ///< on its host
  bool up = false;
  std::string end;  ///< how it ended, when it did not just finish: "signal 11 (Segmentation fault)"
  bool operator==(const WorkerInfo&) const = default;
};

/// A task that did not finish because of a failure or a cancelling, or that ended after its deadline.
struct TaskInfo {
  TaskId task;
  std::string name;
  Outcome outcome = Outcome::none;
  std::uint32_t tries = 0;  ///< of its kernel; not counted when it finished
  std::optional<Error> error;
  Duration late{0};  ///< how long after its deadline it ended
  bool operator==(const TaskInfo&) const = default;
};
/// Tasks of one name.
struct ClassInfo {
  std::string name;
  JobCounts counts;
  bool operator==(const ClassInfo&) const = default;
};
/// How far a kernel is that runs, as it said last by Context::progress.
struct TaskProgress {
  TaskId task;
  std::string name;
  std::uint32_t number = 0;  ///< of the attempt, as Context::attempt says
  std::string device;        ///< the lane: n1/w1/cpu0
  double fraction = 0;       ///< from 0 to 1
  std::string note;
  bool operator==(const TaskProgress&) const = default;
};
/// What became of a job's tasks. Bounded, whatever the job: see job_story.hpp.
struct JobDetails {
  std::vector<TaskInfo> tasks;              ///< in the order in which they were settled
  std::uint64_t tasks_beyond = 0;           ///< of the same kind as those in `tasks`, and not there
  std::uint64_t late = 0;                   ///< tasks that ended after their deadline
  std::vector<ClassInfo> classes;           ///< by name
  JobCounts others;                         ///< tasks of further names, all together
  std::vector<TaskProgress> progress = {};  ///< by task; of a job that runs
  bool operator==(const JobDetails&) const = default;
};

struct JobInfo {
  JobId job;
  std::string name;
  JobPhase phase = JobPhase::starting;
  JobCounts counts;
  /// Since the job was accepted; until its end when it has ended.
  Duration age{0};
  std::vector<WorkerInfo> workers;
  std::optional<Error> error;  ///< why it failed, where it is not a task that did
  /// Where one job was asked for, and it has begun.
  std::optional<JobDetails> details;
  /// Nodes that hold its record, as the one that leads it says.
  std::vector<ProcessId> copies;
  /// Tasks that it will have in all, as its graph states it (Graph::total). 0: it does not.
  std::uint64_t total = 0;
  JobId retries = {};  ///< the job that it retries; 0: none
  bool operator==(const JobInfo&) const = default;
};
/// With the tasks that the job states and does not have yet among those that are open.
JobCounts counts_of_whole(const JobInfo& job);
/// It runs, and has no more tasks than it states.
bool states_its_total(const JobInfo& job);

/// Those that go on before those that have ended; of each the newest first.
bool is_listed_before(const JobInfo& a, const JobInfo& b);
/// Which jobs somebody wants to see.
struct JobFilter {
  std::string name;  ///< they have it in theirs
  std::optional<JobPhase> phase = {};
  bool failed = false;      ///< they failed, or a task of theirs did
  std::uint32_t first = 0;  ///< so many of them, as is_listed_before has them; 0: all
  bool takes(const JobInfo& job) const;
  /// Leaves those, in any order. How many `first` has left out.
  std::uint64_t choose(std::vector<JobInfo>& jobs) const;
  bool operator==(const JobFilter&) const = default;
};

/// As one node hears another.
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
  std::uint32_t jobs = 0;  ///< whose record lies there; known of the node that answers only
  std::uint32_t pid = 0;   ///< likewise
  /// Why it should not be sent to just now, one sentence each; likewise.
  std::vector<std::string> not_ready = {};
  std::optional<HeardOf> heard = {};  ///< by the node that answers; of itself nothing
  bool operator==(const NodeInfo&) const = default;
};

/// How far a node's journal was read: so many bytes of this file, and all files before it. File 0: nothing.
struct JournalPlace {
  std::uint64_t file = 0, bytes = 0;
  std::uint32_t of = 0;  ///< which incarnation of the node wrote that file: another one's is another file
  bool operator==(const JournalPlace&) const = default;
};
/// A part of what a node's journal says.
struct JournalPage {
  JournalPlace read;  ///< up to there; file 0: there is no more, for now
  Blob bytes;         ///< a file as libdag/journal/journal.hpp says; null: nothing of it was asked for
  std::vector<std::string> notices = {};  ///< what could not be read, for people
};

/// So many outputs are named at once.
inline constexpr std::size_t outputs_told_max = 4096;
/// A task of a submitted graph of which an output can be asked for.
struct OutputInfo {
  std::uint32_t task = 0;
  std::string name;
  bool operator==(const OutputInfo&) const = default;
};

namespace client {

/// A handle for a job: creates nothing. Answered with an Answer whose `job` is new, or that says `elsewhere`.
struct AskHandle {
  std::uint64_t number = 0;
};
/// Answered when the job is accepted. An answer with `wants_program` comes before that one where the node
/// does not have the program: send ProgramBytes.
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
  /// Drawn by the client. A node that comes again may give out a handle that was given before and of which
  /// nobody knows: what is submitted with another key is another job, for which there is no room under that
  /// number. 0: of a client that does not look.
  std::uint64_t key = 0;
  /// Only whether it would be accepted; nothing starts.
  bool dry_run = false;
  /// When the client has gone, the job's outputs are kept as those of a detached job, and AskRetry takes it.
  bool kept = false;
  /// Of a gateway that retries that job, to itself: these do not travel.
  JobId retries = {};
  bool only_unfinished = false;
};
/// Submits a job that has ended once more, as it was; the copy is detached. Or of the copy only those tasks
/// run that are not done in the job (cell/retried.hpp). Answered by who leads the job, as
/// soon as the copy is accepted; `job` of the answer is the copy.
struct AskRetry {
  std::uint64_t number = 0;
  JobId job;
  bool only_unfinished = false;
};
struct AskNodes {
  std::uint64_t number = 0;
};
/// No job: those of all whose record is at this node that the filter takes.
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
/// Answered when its tasks are told.
struct AskCancel {
  std::uint64_t number = 0;
  JobId job;
};
/// Goes on with a job that it submitted by another node, which does not lead its record any more: these
/// tasks it wants, and the end.
struct AskFollow {
  std::uint64_t number = 0;
  JobId job;
  std::vector<std::uint32_t> tasks;
  std::uint64_t key = 0;  ///< as it was submitted with
  /// It did not submit it, but attaches to it: whoever submitted it stays its client.
  bool attaches = false;
};
/// Tasks of the submitted graph with this name; without one, those of which no other task reads the output:
/// the results. Answered by who leads the job, as long as somebody may ask for outputs.
struct AskOutputs {
  std::uint64_t number = 0;
  JobId job;
  std::string task;
};
/// This node ends, with all its processes; answered before it begins to.
struct AskShutdown {
  std::uint64_t number = 0;
};

/// This node is to go, and gets rid of all that it has of jobs; or stays after all. Answered before it begins
/// to; what is left where, AskJobs of those who lead the jobs says.
struct AskDrain {
  std::uint64_t number = 0;
  bool draining = false;
};

/// Why tasks of a job are where they are. Answered by who leads it, when its processes have answered or had
/// their time.
struct AskExplain {
  std::uint64_t number = 0;
  JobId job;
  TaskSelector what;
};
/// What this node's journal has of a job, or of all jobs what is about each as a whole, a part at a time.
struct AskJournal {
  std::uint64_t number = 0;
  std::optional<JobId> job;
  JournalPlace read;  ///< JournalPage::read of the answer before
  bool logs = false;  ///< only what kernels said and processes printed
  /// Records about other tasks may be left out. (They may come, too, where it takes more than the record to
  /// know its task's name.)
  TaskSelector which = {};
};

/// Exactly one to each of the above. Without an error it says what was asked for.
struct Answer {
  std::uint64_t number = 0;
  std::optional<Error> error;
  std::optional<JobId> job;
  bool wants_program = false;
  /// With the error job_elsewhere: where the node listens that leads the job's record, if that is known; to
  /// AskHandle, where one does that takes jobs.
  std::string elsewhere;
  std::vector<NodeInfo> nodes;
  std::vector<JobInfo> jobs;
  std::vector<ProcessExplained> explained;
  std::vector<Life> silent;  ///< processes of the job that did not explain anything in time
  std::optional<JournalPage> journal;
  std::uint64_t jobs_beyond = 0;         ///< that JobFilter::first has left out
  std::vector<OutputInfo> outputs = {};  ///< not more than outputs_told_max
};

/// Keep the output of this task of the graph, and tell me when it is settled.
struct Want {
  JobId job;
  std::uint32_t task = 0;
};
/// Nobody will ask for anything of the job any more.
struct ForgetJob {
  JobId job;
};

struct TaskSettled {
  JobId job;
  std::uint32_t task = 0;
  Outcome outcome = Outcome::none;
  Blob output;  ///< absent is not empty
  std::optional<Error> error;
};
struct JobEnded {
  JobId job;
  std::optional<Error> stopped;
  JobCounts counts;
};
/// Nothing more will come of it from this node, because it does not lead its record any more: AskFollow.
struct JobMoved {
  JobId job;
};
/// Nothing more will come of it.
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

/// To the keeper of a node: have a worker process of this job. Ends in a WorkerRefused, or in a WorkerUp that
/// a WorkerDown follows. Of a job that has several nodes to lead its record it also says who does: that node
/// is told of all worker processes of the job that are there, and how those before them ended.
struct StartWorker {
  JobId job;
  /// Counts the worker processes of a job on that node: only one with a new number is started.
  std::uint32_t number = 0;
  /// In which the sender leads; an older one is not listened to. 0: no other node ever will.
  std::uint32_t term = 0;
  Launch launch;
};
/// The job's worker processes there are to end: it has ended, or the node is draining and others go on.
struct StopWorkers {
  JobId job;
};
/// In place of a worker process's number: not its host says this, but who leads the job, to the other nodes.
inline constexpr std::uint32_t for_your_knowledge = 0;

struct WorkerUp {
  JobId job;
  std::uint32_t number = 0;  ///< from 1, or for_your_knowledge
  Life life;
  Endpoint endpoint;
  std::uint32_t pid = 0;
};
/// Nothing of that life will be heard any more.
struct WorkerDown {
  JobId job;
  std::uint32_t number = 0;
  Life life;
  ProcessEnd end = ProcessEnd::stopped_by_us;
  std::string text;  ///< for people: "signal 11 (Segmentation fault)"
  /// What ran on its lanes, and which lane faulted, where known.
  std::vector<RunningAttempt> running;
  std::optional<std::uint32_t> guilty_lane;
};
struct WorkerRefused {
  JobId job;
  std::uint32_t number = 0;
  Error why;
};
/// To the keeper that leads the job, from a worker process of it: all those of the job that it does not hear,
/// though they owe it an answer. The newest counts.
struct Unheard {
  JobId job;
  std::vector<Life> lives;
};
/// To the keeper of a node: this worker process of the job is to end.
struct StopWorker {
  JobId job;
  std::uint32_t number = 0;
};
/// To the keeper of a node, from who has led the job's record: another node does, or its record is gone.
/// Worker processes that this one started there go on when the other one asks for them.
struct AnotherLeads {
  JobId job;
};
struct WantProgram {
  ProgramId program;
};
struct ProgramBytes {
  ProgramId program;
  Blob bytes;  ///< null: the sender does not have it (any more)
};
/// To another node, before a job is accepted: have this program, if need be from me. Answered by HaveProgram
/// as soon as it is kept there; by nothing when that cannot be.
struct KeepProgram {
  ProgramId program;
};
struct HaveProgram {
  ProgramId program;
};
/// To a worker process: who the others of its job are now, and where its cell is. The first one lets it
/// begin; who comes to lead the job says it again, of those that it knows.
struct Begin {
  JobId job;
  Life cell;
  std::uint32_t term = 0;  ///< as in StartWorker
  std::vector<Endpoint> others;
};

/// To a node with a copy of the job's record, from who leads it: a saved state for its disk.
struct SaveCopy {
  JobId job;
  std::string job_name, actor_name;  ///< the second: or of the task
  KeepSave save;
};

/// To a node that has come: an earlier life of it has given out handles of jobs up to this count.
struct JobsGiven {
  std::uint32_t count = 0;
};

/// To a worker process of the job, from who leads it: why are these tasks where they are? Answered once by
/// Explained; who does not hear it in time goes without.
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
