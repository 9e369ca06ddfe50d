#pragma once
// Messages between the processes of one job about rows, outputs and outcomes: plain values, sized, complete
// in themselves. libdag/wire gives them bytes; homes (home.hpp), runners (runner.hpp) and the cell (cell.hpp)
// decide what they mean.
//
// Every message may arrive twice, in any order, and as long as both lives last it arrives at least once (the
// link sees to it). So nothing here relies on order: a message names the epoch, the attempt or the position
// it belongs to, and states are sent whole rather than as changes.
//
//   cell     -> all      JobCreate, JobState          the plan; the members and the home of each shard
//   any      -> cell     AskPlan                      "what is this job?", answered by JobCreate
//   cell     -> home     Assign, Settled, Keep, Cancel
//   home     -> cell     Outcomes, JobFailed
//   runner   -> cell     RenewLease, and the answer LeaseRenewed
//   home     -> runner   Lend, Stop, Release, Replicate
//   runner   -> home     Ended, Digested, Checkpointed, Return, Holding, Report
//   home     -> home     PredecessorEnded, NotEnded, Consumed
//   any      -> home     Need                         "where is this output? the holders I knew are gone"
//   home     -> runner   Located                      the answer
//   runner  <-> runner   Fetch, Data, Missing
//   any      -> any      StealRequest                 an idle process asks for rows

#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libdag/job/attempt.hpp"
#include "libdag/outputs/digest.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

/// The result of an attempt, and the attempts it rests on. A record travels with every copy of the attempt's
/// output, so that any holder of a copy can vouch for the output.
struct OutcomeRecord {
  TaskId task;
  AttemptId attempt;
  /// `none`: the attempt returned, but the task becomes one that it spawned and ends as that one ends.
  Outcome outcome = Outcome::none;
  /// Outputs that the task's arguments were made of, absent ones (that ended without finishing) included.
  /// Sorted. Not filled in jobs of one process, where the home alone could ever vouch for the attempt.
  std::vector<OutputName> inputs;
  /// Digest of the output's bytes; 0: not taken. Equal digests of two attempts of a task mean equal values.
  std::uint64_t digest = 0;
  std::uint64_t size_bytes = 0;
  bool has_output = false;
  /// The runner that has the bytes is taking the digest, and will say Digested to the task's home.
  bool digest_follows = false;
  /// The output itself, when it is small; else it lies with holders.
  Blob value;
  /// Results of the conditional out-edges, in their order.
  std::vector<bool> conditions;
  /// The attempt spawned something, whether or not `spawned` came along. Without it, only the home that has
  /// the spawned rows can vouch for the record.
  bool grew = false;
  /// Tasks that the attempt spawned; null when there are none. The home gives the first id; a runner's
  /// records have index 0.
  std::shared_ptr<const detail::Fragment> spawned;
  TaskId first_spawned;
  std::uint32_t becomes = detail::none;
  /// For the cell, which then stores literals once: literals of `spawned` without their bytes, because the
  /// task's own fragment has the same ones. A training hands its data on from step to step.
  struct LiteralAbove {
    std::uint32_t here = 0, above = 0;  ///< index in `literals` of either fragment
    bool operator==(const LiteralAbove&) const = default;
  };
  std::vector<LiteralAbove> literals_above;
  std::optional<Error> error;
  /// For the cell: number of tries of a task that did not finish.
  std::uint32_t tries = 0;
  /// For the cell: a failed task has at least one successor, and only weak edges to its successors.
  bool tolerated = false;

  OutputName name() const { return {task, attempt}; }
};

/// The part of a job that all of its processes know from the beginning.
struct JobPlan {
  JobId job;
  std::string name;
  std::shared_ptr<const detail::Fragment> graph;
  std::vector<ShardIndex> shard_of;  ///< per task of the graph
  std::uint32_t shards = 1;
  Representation representation = Representation::as_needed;
  /// Outputs up to this size travel inside records.
  std::uint64_t inline_bytes_max = 4096;
  std::uint64_t seed = 0;
  /// No process is started when one dies, and the client is in one of them: a task that takes processes down
  /// is given up before it has taken them all (quarantined_after).
  bool quarantine = false;
};

/// The shard of a task: by the plan for tasks of the graph, by the id for spawned ones.
std::uint32_t shard_of(const JobPlan& plan, TaskId task);

/// The machine of the receiving process that a message is for.
enum class Recipient : std::uint8_t { process, cell, runner, home };

namespace message {

/// The part of a message's meaning that is the same for all messages of its type.
struct MessageKind {
  std::string_view name;
  Recipient recipient;
};

/// A task that is to be tried again, and how often its kernel has failed. (The cell counts the processes that
/// a task took down: Crashed.)
struct Tried {
  TaskId task;
  std::uint32_t failed = 0;
  bool operator==(const Tried&) const = default;
};

// ---- From the cell

struct JobCreate {
  static constexpr MessageKind kind{"JobCreate", Recipient::process};
  std::shared_ptr<const JobPlan> plan;
};

struct ShardHome {
  Life home;
  Epoch epoch;
  bool operator==(const ShardHome&) const = default;
};
/// A task that has taken processes down: each time counts as a failed try. Kept until the task is settled.
struct Crashed {
  TaskId task;
  std::uint32_t times = 0;
  std::string what;  ///< for people, of the last time: "signal 11 (Segmentation fault)"
  bool operator==(const Crashed&) const = default;
};
/// The members of a job. The newest version counts; older ones change nothing. A life that has left this list
/// is dead for the job, whatever it may send later.
struct JobState {
  static constexpr MessageKind kind{"JobState", Recipient::process};
  JobId job;
  std::uint64_t version = 0;
  std::vector<Life> lives;       ///< sorted
  std::vector<ShardHome> homes;  ///< per shard
  /// The leader of the cell, member or not, and its term. Messages to the leader of another term may be lost,
  /// and are sent again.
  Life cell;
  std::uint32_t term = 0;
  /// Number of processes that hold the record; the job outlives the loss of less than half of them.
  std::uint32_t replicas = 1;
  bool cancelled = false;
  bool ended = false;            ///< the job was stopped, or no client will ask for anything of it
  std::optional<Error> stopped;  ///< why the job was stopped before its end
  /// Present and past leaders of the cell that are members but run nothing and are no homes.
  /// Sorted.
  std::vector<Life> recorders;
  /// Sorted by task. Here and not in a message to the home: the home may have died in the same process, and a
  /// process that learns of the death must know of the crash before it starts the task again.
  std::vector<Crashed> crashed;
  /// Tasks that may have killed a process: they ran in processes that were killed, so many times. Each runs
  /// again with nothing beside it in its process, so that another death tells. Sorted by task, and here for
  /// the same reason.
  std::vector<Crashed> suspects;
};
/// The life takes part in the job.
bool is_alive(const JobState& state, Life life);
/// The job has ended, and no client asks this life for anything of it any more.
bool is_over_for(const JobState& state, Life life);
/// Lives that may get attempts, job actors and shards. Sorted; empty while every process that runs anything
/// is gone.
std::vector<Life> lives_that_run(const JobState& state);
/// Null when the task has taken nothing down.
const Crashed* crashes_of(const JobState& state, TaskId task);
/// Null when it is under no suspicion.
const Crashed* suspicions_of(const JobState& state, TaskId task);

/// A subset of tasks `first` to `first` + 63: those whose bit is set. The lowest bit is for `first`.
struct TaskBits {
  TaskId first;
  std::uint64_t bits = 0;
  bool operator==(const TaskBits&) const = default;
  /// Calls `visit` with each task, in their order.
  template <class Visit>
  void each(Visit&& visit) const {
    for (std::uint64_t left = bits; left != 0; left &= left - 1) {
      visit(TaskId{first.origin, first.index + static_cast<std::uint32_t>(std::countr_zero(left))});
    }
  }
};
/// The set of one task.
inline TaskBits bit_of(TaskId task) {
  return {{task.origin, task.index & ~63u}, std::uint64_t{1} << task.index % 64};
}
/// Adds a task to `all[begin...]`. Tasks of one word mostly come one after the other, so only the last word
/// is looked at.
inline void add_task(std::vector<TaskBits>& all, TaskId task, std::size_t begin = 0) {
  const TaskBits bit = bit_of(task);
  if (all.size() == begin || all.back().first != bit.first) all.push_back({bit.first, 0});
  all.back().bits |= bit.bits;
}
/// Tasks that finished by the first attempt of that epoch.
struct FirstTry {
  Epoch epoch;
  std::vector<TaskBits> tasks;
};

/// To the process that becomes the home of a shard after a loss: all that is settled of it and around it.
struct Assign {
  static constexpr MessageKind kind{"Assign", Recipient::process};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  /// Lives that owe a Report: the home starts no row before each has answered or died.
  std::vector<Life> asked;
  /// In the order of settling: of the shard's own rows, and of predecessors in other shards.
  std::vector<OutcomeRecord> settled;
  std::vector<OutputName> kept;  ///< wanted by clients (attempt means nothing)
  std::vector<TaskId> cancelled;
  std::vector<Tried> tried;  ///< rows of the shard that are not settled
  /// Settled rows of which only the name is needed.
  std::vector<FirstTry> first_try;
  /// Rows of the shard that may run only once, or not twice at a time, were started, and are not settled.
  std::vector<TaskId> started;
};

/// Progress of the record, in its order: a stream per home, `from` exclusive, `to` inclusive. A gap waits.
/// The home remembers what it sent, so a number says all about its own rows.
struct Settled {
  static constexpr MessageKind kind{"Settled", Recipient::home};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  /// The number of the newest Outcomes that the cell has of this home.
  std::uint64_t outcomes = 0;
  /// Number of the home's steps that are settled.
  std::uint64_t steps = 0;
  /// Rows of other shards with successors here that start only from settled outcomes.
  std::vector<OutcomeRecord> predecessors;
};

/// A client wants the output of these tasks: they are not let go.
struct Keep {
  static constexpr MessageKind kind{"Keep", Recipient::home};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  std::vector<TaskId> tasks;
};
struct Cancel {
  static constexpr MessageKind kind{"Cancel", Recipient::home};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  std::vector<TaskId> tasks;
};

// ---- To the cell

/// Rows of an Outcomes that are settled together: the ends of the step's part of each list, and the number
/// of its rows.
struct OutcomeStep {
  std::uint32_t first_try = 0, plain = 0, records = 0;
  std::uint32_t needs_first = 0, needs = 0;
  std::uint32_t rows = 0;
  bool operator==(const OutcomeStep&) const = default;
};
/// Rows of other shards that a step rests on, each by attempt 1 of `epoch`.
struct NeededFirst {
  Epoch epoch;
  TaskBits tasks;
  bool operator==(const NeededFirst&) const = default;
};
/// Ended rows of a shard: a cut, in steps. Each predecessor of a step is in the step, in an earlier one, or
/// named as a need: the step is settled after all of these, or together with them. So homes that need each
/// other in turn do not wait for the record in turn. A home has one Outcomes under way at a time, so they are
/// counted and never overtake each other.
struct Outcomes {
  static constexpr MessageKind kind{"Outcomes", Recipient::cell};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  std::uint64_t number = 0;  ///< from 1
  /// The number of the first step here, from 0. Earlier steps with this number and above are withdrawn: their
  /// predecessors did not come to count, and they are not settled.
  std::uint64_t first_step = 0;
  /// Empty: all is one step without needs.
  std::vector<OutcomeStep> steps;
  std::vector<NeededFirst> needs_first;
  std::vector<OutputName> needs;
  /// The many: finished, nothing spawned, nothing inline, by the home's first attempt {epoch, 1}.
  std::vector<TaskBits> first_try;
  std::vector<OutputName> plain;  ///< the same, by another attempt
  std::vector<OutcomeRecord> records;
  std::vector<TaskId> freed;  ///< never asked for again: the cell may drop inline values
  /// Rows of the shard that are not sent yet, after this cut. Zero everywhere, and all settled: the job has
  /// ended.
  std::uint64_t rows_open = 0;
  /// A row is not tried again before this is settled, so that no later home gives it a try too many.
  std::vector<Tried> tried;
  /// Rows that may run only once, or not twice at a time. They start when this is settled.
  std::vector<TaskId> started;
};
/// The job cannot go on: a value that was used cannot be made again, or libdag is at fault.
struct JobFailed {
  static constexpr MessageKind kind{"JobFailed", Recipient::cell};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  Error error;
};

/// From a process that knows the members of a job but not its plan: a large plan goes only to processes that
/// ask. Sent once in each term, since a question to another leader may be lost.
struct AskPlan {
  static constexpr MessageKind kind{"AskPlan", Recipient::cell};
  JobId job;
};
/// The sender runs tasks that must not run twice at the same time, or is about to: supervision/lease.hpp.
struct RenewLease {
  static constexpr MessageKind kind{"RenewLease", Recipient::cell};
  JobId job;
  std::uint64_t number = 0;  ///< question number
};
/// When that question came, its sender was a member of the job, and no other cell led the record.
struct LeaseRenewed {
  static constexpr MessageKind kind{"LeaseRenewed", Recipient::runner};
  JobId job;
  std::uint64_t number = 0;
};

// ---- Lending

/// An input that is not in the message: blob `position` of the attempt (`detail::none`: the state that a job
/// actor is restored from) lies with one of the holders.
struct WantedInput {
  std::uint32_t position = 0;
  OutputName name;
  std::uint32_t shard = 0;  ///< whose home knows of other holders
  std::vector<Life> holders;
};
/// Run this attempt. Accepted once: a runner that has seen it before repeats its answer, or says nothing.
struct Lend {
  static constexpr MessageKind kind{"Lend", Recipient::runner};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  Attempt attempt;
  std::vector<WantedInput> wanted;
  /// The attempt is not given to idle processes: it was placed here for its needs, or is bound to this
  /// process.
  bool stays = false;
};
/// Do not run it, or let its kernel see Context::cancelled; its end is not wanted.
struct Stop {
  static constexpr MessageKind kind{"Stop", Recipient::runner};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutputName name;
};
/// The attempt ended. The runner keeps record and output until a Release.
struct Ended {
  static constexpr MessageKind kind{"Ended", Recipient::home};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutcomeRecord record;
  Duration ran{0};
};
/// The digest of an output that its record came without: a large one, whose readers need not wait for it.
struct Digested {
  static constexpr MessageKind kind{"Digested", Recipient::home};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutputName name;
  std::uint64_t digest = 0;
};
/// A state that a task saved while it runs lies with the sender, which keeps it until a Release. The record
/// is named as Checkpointing says, and names the inputs that the state rests on.
struct Checkpointed {
  static constexpr MessageKind kind{"Checkpointed", Recipient::home};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutcomeRecord record;
};
/// The attempt was not run: an input cannot be had from any holder known, there is no room, or no lane had
/// begun it when another process asked for work.
struct Return {
  static constexpr MessageKind kind{"Return", Recipient::home};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutputName name;
  std::vector<OutputName> missing;
  std::string why;
  std::optional<Life> thief = std::nullopt;  ///< the asker that gets it
};
/// Releases outputs (and their records) that will never be needed again.
struct Release {
  static constexpr MessageKind kind{"Release", Recipient::runner};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  std::vector<OutputName> names;
};
/// Identifies a save of a job actor. Saves of a group with equal numbers form a border.
struct SavedAs {
  std::uint32_t group = 0;    ///< its first job actor, by its number in the graph
  std::uint32_t members = 0;  ///< number of its job actors
  std::uint32_t number = 0;   ///< from 1
  std::uint32_t actor = 0;
  bool operator==(const SavedAs&) const = default;
};
/// Get a copy of this saved state and hold it. A state in the record needs no holding: the message only gives
/// the processes that write saves to disk all of a group. For a task's checkpoint, and for an output that
/// cannot be recomputed, `as` is empty.
struct Replicate {
  static constexpr MessageKind kind{"Replicate", Recipient::runner};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutcomeRecord record;
  std::vector<Life> holders;
  SavedAs as;
};
/// A copy lies with the sender now.
struct Holding {
  static constexpr MessageKind kind{"Holding", Recipient::home};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutputName name;
};
/// All that the sender has of a shard, to its new home: records of ended attempts, attempts that are queued
/// or running, copies of outputs.
struct Report {
  static constexpr MessageKind kind{"Report", Recipient::home};
  struct Had {
    OutcomeRecord record;
    bool bytes = false;  ///< the sender holds the output's bytes
  };
  struct Running {
    OutputName name;
    std::vector<OutputName> inputs;
  };
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  std::vector<Had> had;
  std::vector<Running> running;
  /// Rows of the shard that homes at the sender take for ended and do not know to be settled. If one of them
  /// has not ended for the new home, it answers NotEnded.
  std::vector<TaskBits> ended;
};
/// The sender has idle lanes. Not answered when no work can be given.
struct StealRequest {
  static constexpr MessageKind kind{"StealRequest", Recipient::process};
  JobId job;
  std::uint32_t slots = 0;
};

// ---- Between homes

/// A row of shard `from` ended, and rows of shard `shard` wait for it. `change` grows with each such message
/// of the sending home, so an older one that arrives later is known.
struct PredecessorEnded {
  static constexpr MessageKind kind{"PredecessorEnded", Recipient::home};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;  ///< of `shard`, as the sender knows it
  std::uint32_t from = 0;
  Epoch from_epoch;
  std::uint64_t change = 0;
  OutcomeRecord record;  ///< without spawned tasks
  std::vector<Life> holders;
};
/// Withdraws ends of rows of shard `from`. The rows have not ended, in spite of earlier news: by a former
/// home, which is gone and had not settled their ends, or by this one, when their predecessors came to
/// something else. They will end by other attempts, never again by the former ones. So all that rests on the
/// former ends starts anew. `change` is counted as in PredecessorEnded.
struct NotEnded {
  static constexpr MessageKind kind{"NotEnded", Recipient::home};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;  ///< of `shard`, as the sender knows it
  std::uint32_t from = 0;
  Epoch from_epoch;
  std::uint64_t change = 0;
  std::vector<TaskBits> tasks;
};
/// No row of shard `from` will need these outputs again.
struct Consumed {
  static constexpr MessageKind kind{"Consumed", Recipient::home};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  std::uint32_t from = 0;
  std::vector<TaskBits> tasks;
};

// ---- Outputs

/// Where is it? `gone` are holders that the asker found to have nothing. Repeated until answered.
struct Need {
  static constexpr MessageKind kind{"Need", Recipient::home};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutputName name;
  std::vector<Life> gone;
  /// Only a client asks: a released output is not recomputed for it.
  bool for_client = false;
};
/// The output lies here; or (`lost`) it cannot be made any more.
struct Located {
  static constexpr MessageKind kind{"Located", Recipient::runner};
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutcomeRecord record;
  std::vector<Life> holders;
  std::optional<Error> lost;
  /// The name that was asked for, if it is another attempt's name for the same value, or was superseded.
  OutputName asked;
};
struct Fetch {
  static constexpr MessageKind kind{"Fetch", Recipient::runner};
  JobId job;
  OutputName name;
};
struct Data {
  static constexpr MessageKind kind{"Data", Recipient::runner};
  JobId job;
  OutcomeRecord record;
  Blob bytes;
  OutputName name;
  /// Between transports: the number under which the bytes were handed over (libdag/ring/messages.hpp); 0: the
  /// bytes are in `bytes`.
  std::uint64_t handed = 0;
};
struct Missing {
  static constexpr MessageKind kind{"Missing", Recipient::runner};
  JobId job;
  OutputName name;
};

}  // namespace message

using JobMessage =
    std::variant<message::JobCreate, message::JobState, message::Assign, message::Settled, message::Keep,
                 message::Cancel, message::Outcomes, message::JobFailed, message::Lend, message::Stop,
                 message::Ended, message::Return, message::Release, message::Replicate, message::Holding,
                 message::Report, message::StealRequest, message::PredecessorEnded, message::Consumed,
                 message::Need, message::Located, message::Fetch, message::Data, message::Missing,
                 message::Digested, message::Checkpointed, message::NotEnded, message::RenewLease,
                 message::LeaseRenewed, message::AskPlan>;

Recipient recipient_of(const JobMessage& message);
JobId job_of(const JobMessage& message);
/// The shard and epoch that a message names, if it names any.
struct ShardEpoch {
  std::uint32_t shard = 0;
  Epoch epoch;
};
std::optional<ShardEpoch> shard_epoch_of(const JobMessage& message);
std::string_view name(const JobMessage& message);

/// The saved state of a job actor or a task, from which the job may be restored: for disks, where there are
/// some.
struct KeepSave {
  message::SavedAs as;  ///< a task's: no members
  OutputName name;
  std::vector<OutputName> inputs;  ///< a task's: the outputs it was computed from
  Blob bytes;
};

}  // namespace dag
