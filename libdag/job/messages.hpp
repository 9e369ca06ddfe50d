#pragma once
// What the processes of one job say to each other about rows, outputs and outcomes: plain values, sized,
// complete in themselves. libdag/wire gives them bytes; homes (home.hpp), runners (runner.hpp) and the cell
// (cell.hpp) decide what they mean.
//
// Every message may arrive twice, in any order, and as long as both lives last it arrives at least once (the
// link sees to it). So nothing here relies on order: a message names the epoch, the attempt or the position
// it belongs to, and states are sent whole rather than as changes.
//
//   cell     -> all      JobCreate, JobState          what the job is; who is alive and who is whose home
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
#include <variant>
#include <vector>

#include "libdag/job/attempt.hpp"
#include "libdag/outputs/digest.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

/// What an attempt came to, and what it rests on. It travels with every copy of the attempt's output, so that
/// whoever holds the copy can vouch for it.
struct OutcomeRecord {
  TaskId task;
  AttemptId attempt;
  /// `none`: the attempt returned, but the task becomes one that it spawned and ends as that one ends.
  Outcome outcome = Outcome::none;
  /// What the task's arguments were made of, absent ones (that ended without finishing) included. Sorted. Not
  /// filled in jobs of one process, where nobody but the home could ever vouch for it.
  std::vector<OutputName> inputs;
  /// Of the output's bytes; 0: not taken. Equal digests of two attempts of one task make them the same value.
  std::uint64_t digest = 0;
  std::uint64_t size_bytes = 0;
  bool has_output = false;
  /// The runner that has the bytes is taking the digest, and will say Digested to the task's home.
  bool digest_follows = false;
  /// The output itself, when it is small; else it lies with holders.
  Blob value;
  /// Of the conditional out-edges, in their order.
  std::vector<bool> conditions;
  /// The attempt spawned something, whether or not `spawned` came along. Without it, only the home that has
  /// the spawned rows can vouch for the record.
  bool grew = false;
  /// What the attempt spawned: null when nothing. The first id is given by the home; index 0 in what a runner
  /// says.
  std::shared_ptr<const detail::Fragment> spawned;
  TaskId first_spawned;
  std::uint32_t becomes = detail::none;
  /// For the cell, which then has them once: literals of `spawned` without their bytes, because the fragment
  /// in which the task lies has the same ones. A training hands its data on from step to step.
  struct LiteralAbove {
    std::uint32_t here = 0, above = 0;  ///< where in `literals` of either
    bool operator==(const LiteralAbove&) const = default;
  };
  std::vector<LiteralAbove> literals_above;
  std::optional<Error> error;
  /// How often the kernel was tried, for the cell: of a task that did not finish.
  std::uint32_t tries = 0;
  /// For the cell, of a task that failed: every edge to its successors is weak, and it has at least one.
  bool tolerated = false;

  OutputName name() const { return {task, attempt}; }
};

/// Everything that every process of a job knows from the beginning.
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
  /// Nobody starts another process when one dies, and the client is in one of them: what takes processes down
  /// is given up before it has taken them all (quarantined_after).
  bool quarantine = false;
};

/// The shard of a task: by the plan for those of the graph, by the id for spawned ones.
std::uint32_t shard_of(const JobPlan& plan, TaskId task);

namespace message {

/// A task that is to be tried again: how often its kernel has failed. (Those that took their process down are
/// the cell's to count: Crashed.)
struct Tried {
  TaskId task;
  std::uint32_t failed = 0;
  bool operator==(const Tried&) const = default;
};

// ---- From the cell

struct JobCreate {
  std::shared_ptr<const JobPlan> plan;
};

struct ShardHome {
  Life home;
  Epoch epoch;
  bool operator==(const ShardHome&) const = default;
};
/// A task that has taken processes down with it: each time counts as a try that failed. Until it is settled.
struct Crashed {
  TaskId task;
  std::uint32_t times = 0;
  std::string what;  ///< for people, of the last time: "signal 11 (Segmentation fault)"
  bool operator==(const Crashed&) const = default;
};
/// Who takes part. The newest version counts; older ones change nothing. A life that is missing here and was
/// there is dead for this job, whatever it may say later.
struct JobState {
  JobId job;
  std::uint64_t version = 0;
  std::vector<Life> lives;       ///< sorted
  std::vector<ShardHome> homes;  ///< per shard
  /// Who leads the cell, and may be a member or not; and in which term. What was said to the leader of
  /// another term may be lost, and is said again.
  Life cell;
  std::uint32_t term = 0;
  /// So many hold the record; the job outlives the loss of less than half of them.
  std::uint32_t replicas = 1;
  bool cancelled = false;
  bool ended = false;            ///< it was stopped, or nobody will ask for anything of it any more
  std::optional<Error> stopped;  ///< why the job was stopped before its end
  /// Lives that lead the cell or did, and are members like the others, but run nothing and are nobody's home.
  /// Sorted.
  std::vector<Life> recorders;
  /// Sorted by task. Here and not in a message to the home, because the home may have died in the same
  /// process, and whoever learns of the death must not start the task again before he learns of the crash.
  std::vector<Crashed> crashed;
  /// Those of which nobody knows whether they did: they ran where a process was killed, so many times. They
  /// run again with nothing beside them in their process, so that another death is no riddle. Sorted by task,
  /// and here for the same reason.
  std::vector<Crashed> suspects;
};
/// Those of its lives that attempts, job actors and shards may be given to. Sorted; none while every process
/// that runs anything is gone.
std::vector<Life> lives_that_run(const JobState& state);
/// Null when the task has taken nothing down.
const Crashed* crashes_of(const JobState& state, TaskId task);
/// Null when it is under no suspicion.
const Crashed* suspicions_of(const JobState& state, TaskId task);

/// Tasks `first` to `first` + 63, of which those count whose bit is set, the lowest bit for the first.
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
/// One task.
inline TaskBits bit_of(TaskId task) {
  return {{task.origin, task.index & ~63u}, std::uint64_t{1} << task.index % 64};
}
/// Adds a task to `all` from place `begin` on. Those of one word come one after the other, mostly, so only
/// the last is looked at.
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
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  /// Who is asked for a Report: the home starts no row before each has answered or died.
  std::vector<Life> asked;
  /// In the order of settling: of the shard's own rows, and of predecessors in other shards.
  std::vector<OutcomeRecord> settled;
  std::vector<OutputName> kept;  ///< wanted by clients (attempt means nothing)
  std::vector<TaskId> cancelled;
  std::vector<Tried> tried;  ///< rows of the shard that are not settled
  /// Settled ones of which nobody needs more than the name.
  std::vector<FirstTry> first_try;
  /// Rows of the shard that may run only once, or not twice at a time, were started, and are not settled.
  std::vector<TaskId> started;
};

/// What the cell has recorded, in its order: a stream per home, `from` exclusive, `to` inclusive. A gap
/// waits. The home remembers what it sent, so of its own rows a number says all.
struct Settled {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  /// The number of the newest Outcomes of this home that came.
  std::uint64_t outcomes = 0;
  /// How many of its steps are recorded.
  std::uint64_t steps = 0;
  /// Rows of other shards with successors here that start only from what is settled.
  std::vector<OutcomeRecord> predecessors;
};

/// A client wants the output of these tasks: they are not let go.
struct Keep {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  std::vector<TaskId> tasks;
};
struct Cancel {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  std::vector<TaskId> tasks;
};

// ---- To the cell

/// Rows of an Outcomes that are recorded together: the ends of its part of each list, and how many rows they
/// are.
struct OutcomeStep {
  std::uint32_t first_try = 0, plain = 0, records = 0;
  std::uint32_t needs_first = 0, needs = 0;
  std::uint32_t rows = 0;
  bool operator==(const OutcomeStep&) const = default;
};
/// Rows of other shards that a step rests on, by attempt 1 of that epoch.
struct NeededFirst {
  Epoch epoch;
  TaskBits tasks;
  bool operator==(const NeededFirst&) const = default;
};
/// What ended in a shard: a cut, in steps. What a step rests on is in it, in those before it, or named as a
/// need: it is recorded when all these are, or together with them. So homes that wait for each other in turn
/// do not wait for the record in turn. A home has one of these under way at a time, so they are counted and
/// never overtake each other.
struct Outcomes {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  std::uint64_t number = 0;  ///< from 1
  /// The number of its first step, from 0. Steps with this number and above that were said before are
  /// withdrawn: what they rest on did not come to count, and they are not recorded.
  std::uint64_t first_step = 0;
  /// None: all is one step that needs nothing.
  std::vector<OutcomeStep> steps;
  std::vector<NeededFirst> needs_first;
  std::vector<OutputName> needs;
  /// Finished, nothing spawned, nothing inline: the many. By the home's first attempt, {epoch, 1}.
  std::vector<TaskBits> first_try;
  std::vector<OutputName> plain;  ///< the same, by another attempt
  std::vector<OutcomeRecord> records;
  std::vector<TaskId> freed;  ///< nobody will ask for their bytes: the cell may drop what it has inline
  /// Rows of the shard that have not been said yet, after this cut. Zero everywhere, and all recorded: the
  /// job has ended.
  std::uint64_t rows_open = 0;
  /// A row is not tried again before this is recorded, so that no later home gives it a try too many.
  std::vector<Tried> tried;
  /// Rows that may run only once, or not twice at a time, and do when this is recorded.
  std::vector<TaskId> started;
};
/// The job cannot go on: a value that was used cannot be made again, or libdag is at fault.
struct JobFailed {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  Error error;
};

/// Of a process that hears who takes part in a job, and does not know what the job is: a large plan is told
/// to those alone who ask for it. Said once in each term, since what was said to another leader may be lost.
struct AskPlan {
  JobId job;
};
/// The sender runs tasks that must not run twice at the same time, or is about to: supervision/lease.hpp.
struct RenewLease {
  JobId job;
  std::uint64_t number = 0;  ///< of the question
};
/// When that question came, its sender took part in the job, and nobody else led the record.
struct LeaseRenewed {
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
/// Run this attempt. Accepted once: a runner that has seen it before says again what came of it, or nothing.
struct Lend {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  Attempt attempt;
  std::vector<WantedInput> wanted;
  /// It is not given to those that ask for work: it was given this place for what it needs, or is bound to
  /// it.
  bool stays = false;
};
/// Do not run it, or let it see Context::cancelled; nothing of it is wanted.
struct Stop {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutputName name;
};
/// The attempt ended. The runner keeps record and output until a Release.
struct Ended {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutcomeRecord record;
  Duration ran{0};
};
/// The digest of an output that its record came without: a large one, whose readers need not wait for it.
struct Digested {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutputName name;
  std::uint64_t digest = 0;
};
/// A state that a task saved while it runs lies with the sender, who keeps it until a Release. The record is
/// named as Checkpointing says, and names the inputs that the state rests on.
struct Checkpointed {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutcomeRecord record;
};
/// The attempt was not run: an input cannot be had from any holder known, there is no room, or no lane had
/// begun it when another process asked for work.
struct Return {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutputName name;
  std::vector<OutputName> missing;
  std::string why;
  std::optional<Life> thief = std::nullopt;  ///< who asked, and is to get it
};
/// These outputs (and their records) are not needed any more, by whatever happens.
struct Release {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  std::vector<OutputName> names;
};
/// Which save of which job actor an output is: the saves of one number of one group belong together.
struct SavedAs {
  std::uint32_t group = 0;    ///< its first job actor, by its number in the graph
  std::uint32_t members = 0;  ///< how many job actors it has
  std::uint32_t number = 0;   ///< from 1
  std::uint32_t actor = 0;
  bool operator==(const SavedAs&) const = default;
};
/// Get a copy of this saved state and hold it. One that is in the record needs no holding: it is told so that
/// whoever brings saves to a disk has all of a group. Of a task's checkpoint, and of an output that cannot be
/// made again, `as` says nothing.
struct Replicate {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutcomeRecord record;
  std::vector<Life> holders;
  SavedAs as;
};
/// A copy lies with the sender now.
struct Holding {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutputName name;
};
/// Everything the sender has of a shard, to its new home: records of attempts that ended, attempts that are
/// queued or running, copies of outputs.
struct Report {
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
  /// Rows of the shard that homes at the sender take for ended, as far as they do not know them settled. If
  /// they have not ended for the new home either, it says so: NotEnded.
  std::vector<TaskBits> ended;
};
/// The sender has idle lanes. Not answered when there is nothing to give.
struct StealRequest {
  JobId job;
  std::uint32_t slots = 0;
};

// ---- Between homes

/// A row of shard `from` ended, and rows of shard `shard` wait for it. `change` grows with each such message
/// of the sending home, so an older one that arrives later is known.
struct PredecessorEnded {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;  ///< of `shard`, as the sender knows it
  std::uint32_t from = 0;
  Epoch from_epoch;
  std::uint64_t change = 0;
  OutcomeRecord record;  ///< without what it spawned
  std::vector<Life> holders;
};
/// These rows of shard `from` have not ended after all, whatever was told of them before: by the home before
/// this one, which had not got it recorded and is gone, or by this one, when what they rest on came to
/// something else. They will end by other attempts, never again by those. So whatever rests on those starts
/// anew. `change` is counted as in PredecessorEnded.
struct NotEnded {
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
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  std::uint32_t from = 0;
  std::vector<TaskBits> tasks;
};

// ---- Outputs

/// Where is it? `gone` are holders that the asker found to have nothing. Repeated until answered.
struct Need {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutputName name;
  std::vector<Life> gone;
  /// Nobody but a client asks: what was released is not made again for it.
  bool for_client = false;
};
/// It lies here; or (`lost`) it cannot be made any more.
struct Located {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  OutcomeRecord record;
  std::vector<Life> holders;
  std::optional<Error> lost;
  /// What was asked for, when that is another attempt's name for the same value, or was superseded.
  OutputName asked;
};
struct Fetch {
  JobId job;
  OutputName name;
};
struct Data {
  JobId job;
  OutcomeRecord record;
  Blob bytes;
  OutputName name;
  /// Between transports: the bytes were handed over under this number (libdag/ring/messages.hpp); 0: here
  /// they are.
  std::uint64_t handed = 0;
};
struct Missing {
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

/// Which machine of the receiving process a message is for.
enum class Recipient : std::uint8_t { process, cell, runner, home };
Recipient recipient_of(const JobMessage& message);
JobId job_of(const JobMessage& message);
/// The shard and epoch that a message names, of those that name any.
struct ShardEpoch {
  std::uint32_t shard = 0;
  Epoch epoch;
};
std::optional<ShardEpoch> shard_epoch_of(const JobMessage& message);
std::string_view name(const JobMessage& message);

/// The saved state of a job actor, or of a task, that the job may come back from: for disks, where there are
/// some.
struct KeepSave {
  message::SavedAs as;  ///< of a task: no members
  OutputName name;
  std::vector<OutputName> inputs;  ///< of a task: what it was computed from
  Blob bytes;
};

}  // namespace dag
