#pragma once
// What the actors of a process say to each other: plain values, by CAF. Nothing here leaves the process (that
// is libdag/job/messages.hpp), so none of it needs a form as bytes.

#include <caf/all.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "actors/ports.hpp"
#include "libdag/cell/cell.hpp"
#include "libdag/cell/retried.hpp"
#include "libdag/consensus/reconfiguration.hpp"
#include "libdag/gateway/gateway.hpp"
#include "libdag/home/home.hpp"
#include "libdag/job/lane_report.hpp"
#include "libdag/keeper/messages.hpp"
#include "libdag/membership/messages.hpp"
#include "libdag/runner/runner.hpp"

namespace dag::mail {

/// lane -> HomeActor: a batch of what it did.
struct LaneNews {
  LaneReport report;
};
/// Lanes -> HomeActor: whom they can tell of ends has changed.
struct ReachChanged {};
/// lane, TaskActor -> HomeActor, RunnerActor: an attempt that was started here ended.
struct AttemptEnded {
  dag::Ended ended;
  /// Of what was spawned: given back when this is destroyed. May be null.
  std::shared_ptr<const void> credit = {};
};
/// Lane -> RunnerActor: the kernel of an attempt saved its state.
struct Checkpointed {
  TaskId task;
  AttemptId attempt;
  Saved saved;
};
/// HomeActor, RunnerActor -> TaskActor: nobody waits for the attempt any more.
struct StopTask {};
/// lane -> TaskActor: the kernel has begun.
struct AttemptBegan {};
/// TaskActor -> itself: the attempt has had its time.
struct TimedOut {};
/// any -> NodeActor: messages to be routed, in order.
struct Outgoing {
  std::vector<SendMessage> messages;
};
/// NodeActor -> CellActor, HomeActor, RunnerActor: a message for its machine.
struct Incoming {
  Life from;
  JobMessage message;
};
/// any -> itself: what was waited for may be due. `due` tells it from one that was overtaken by an earlier
/// one.
struct Tick {
  Instant due;
};
/// HomeActor -> RunnerActor: others may fetch these bytes here.
struct Publish {
  OutcomeRecord record;
  Blob bytes;
};
/// RunnerActor -> DigestActor -> RunnerActor: of a large output.
struct TakeDigest {
  dag::TakeDigest output;
};
struct Digested {
  OutputName name;
  std::uint64_t digest = 0;
};
/// DigestActor -> itself: there is more to read.
struct NextPiece {};
/// RunnerActor -> NodeActor -> HomeActors, one after another -> NodeActor: a report that each completes.
struct Vouch {
  SendMessage report;
  std::vector<caf::actor> homes;  ///< that have not seen it yet
};
/// CellActor -> RunnerActor -> CellActor: the bytes of an output, for a client.
struct Bring {
  std::uint64_t ticket = 0;
  OutcomeRecord record;
  std::vector<Life> holders;
};
struct Brought {
  dag::Brought brought;
};
/// transport -> NodeActor -> HomeActors, one after another -> RunnerActor: each adds what it knows; the last
/// one says that it is complete.
struct Explain {
  JobId job;
  TaskSelector what;
  ProcessExplained process;
  std::vector<caf::actor> homes;           ///< that have not seen it yet
  HeldSum held;                            ///< outputs, if those are asked for
  std::map<TaskId, std::uint64_t> places;  ///< in the queue for lanes
  caf::actor runner;
  std::function<void(ProcessExplained&&)> done;
};
/// Part of Submit and Record, when the job retries another: sent to the cell of that one, and back to the
/// NodeActor with what the job begins with.
struct Retry {
  RetryOf of;
  std::optional<Retried> begins = {};
};
/// gateway -> NodeActor: a new job, whose cell lives here.
struct Submit {
  std::shared_ptr<const JobPlan> plan;
  Follower follower;
  /// Who runs it; none: everybody, this process included.
  std::vector<Life> lives = {};
  /// When the client was told that it is accepted: deadlines count from there. Left out: from now.
  std::optional<Instant> submitted = std::nullopt;
  std::optional<Retry> retry = std::nullopt;
};
/// RunnerActor -> NodeActor -> RecordActor: for the disks of all nodes that have a copy of the job's record.
struct SaveHere {
  keeper::SaveCopy copy;
};
/// The node's disk -> RunnerActor: what it has kept of the job.
struct SavesFound {
  std::vector<KeepSave> saves;
};

/// gateway -> NodeActor: a new job, whose record has copies, the first one here.
struct Record {
  std::shared_ptr<const JobPlan> plan;
  Blob submission;
  std::optional<Retry> retry = std::nullopt;
};
/// node -> NodeActor: whoever the copies on its disk speak to is there now.
struct Recover {};
/// node -> KeeperActor -> NodeActor: how long does it take until `heard` is called?
struct Probe {
  std::function<void()> heard;
};
/// gateway -> NodeActor -> RecordActor: who can hold copies; who is to go; whether this node's disk is full,
/// or it should not lead for another reason.
struct Seats {
  std::vector<consensus::Candidate> alive;
  std::vector<consensus::Seat> leaving = {};
  bool disk_full = false, sick = false;
  bool operator==(const Seats&) const = default;
};
/// transport -> NodeActor -> RecordActor.
struct CopySaid {
  Life from;
  consensus::Addressed said;
};
/// RecordActor -> NodeActor: the record is here, so it is known what the job is.
struct RecordHere {
  std::shared_ptr<const JobPlan> plan;
};
/// NodeActor -> RecordActor: who brings outputs.
struct RunnerHere {
  caf::actor runner;
};
/// store -> RecordActor: all writes up to this number are on the disk.
struct Written {
  std::uint64_t number = 0;
};
/// RecordActor -> NodeActor: nobody needs the copy here any more.
struct RecordOver {
  JobId job;
};
/// gateway -> NodeActor -> CellActor, RecordActor: processes of its job came.
struct LivesUp {
  JobId job;
  std::vector<Life> lives;
};
/// gateway -> NodeActor -> CellActor: a client wants this output.
struct Want {
  JobId job;
  std::uint32_t task = 0;
  /// Its job rests (WantOutput::at_rest).
  bool at_rest = false;
};
struct CancelJob {
  JobId job;
};
/// It cannot go on.
struct StopJob {
  JobId job;
  Error why;
};
/// gateway -> NodeActor: nobody asks for anything of this job any more.
struct ForgetJob {
  JobId job;
};
/// transport -> NodeActor: messages from another life, in order. `handled` says that they were looked at:
/// until then the sender may not send much more.
struct Arrived {
  Life from;
  std::vector<JobMessage> messages;
  std::function<void()> handled;
};
/// transport -> MembershipActor.
struct Heard {
  Life from;
  MembershipMessage message;
};
struct LinkBroken {
  Life life;
};
struct LinkRefused {
  Life life;
};
/// node -> MembershipActor: these are to be asked for the others.
struct Others {
  std::vector<std::string> addresses;
};
/// node -> MembershipActor: say goodbye, and end.
struct Leave {};
/// MembershipActor -> NodeActor -> HomeActor: what each life that is up said last of its load, our own
/// included.
struct Loads {
  std::shared_ptr<const std::vector<std::pair<Life, LoadSummary>>> of;
};
/// MembershipActor, KeeperActor -> NodeActor -> CellActor, RecordActor: a process came, or is gone; one of
/// all jobs, or of the one that is named.
struct LifeUp {
  Life life;
};
struct LifeDown {
  Life life;
  std::optional<JobId> job = std::nullopt;
  LifeEnd how = {};
};
/// CellActor, RecordActor -> itself: the client may be told how far the job is.
struct ProgressDue {};
/// NodeActor -> HomeActors, one after another -> RunnerActor: another process asks for work. Who has nothing
/// to give sends it on; the first home and the runner remember it for a while.
struct Steal {
  Life thief;
  std::uint32_t slots = 0;
  std::vector<caf::actor> others;  ///< that have not seen it yet; the last of them is next, the runner first
  bool passed_on = false;          ///< by a home
};
/// A lane, of which NodeActor wanted to know that, -> NodeActor: it has nothing to do.
struct Dry {};

// ---- Of a keeper

/// transport -> KeeperActor.
struct ClientSaid {
  Life from;
  ClientMessage message;
};
struct KeeperSaid {
  Life from;
  KeeperMessage message;
};
/// transport -> KeeperActor: a process has said Hello.
struct Greeted {
  Life life;
  Endpoint endpoint;
  std::string build;
};
/// transport -> KeeperActor: nobody listens any more where a client did.
struct Gone {
  Life life;
};
/// MembershipActor -> KeeperActor: all nodes that are up.
struct Nodes {
  std::vector<Claim> nodes;
  Hearings heard = {};
};
/// nodes/workers -> KeeperActor.
struct ProcessStarted {
  Life life;
  std::uint32_t pid = 0;
};
struct ProcessNotStarted {
  Life life;
  Error why;
};
struct ProcessEnded {
  Life life;
  ProcessEnd end = ProcessEnd::stopped_by_us;
  std::string text;
  std::vector<RunningAttempt> running;
  std::optional<std::uint32_t> guilty_lane;
};
/// transport -> KeeperActor: a kernel said something, or something happened to an attempt; to be passed on to
/// the client of its job, if it has one.
struct Noted {
  /// Says how far it is; none: it said so before, and does not run any more.
  struct Progress {
    std::string device;
    std::optional<TaskProgress> now;
  };
  /// An attempt at the task took its process down.
  struct Crash {
    TaskId task;
    std::uint32_t number = 0;
  };
  JobId job;
  Life from;
  std::variant<std::monostate, Progress, Crash> what;
  std::function<void(Life client)> pass_on;
};
/// CellActor, RecordActor -> KeeperActor. Gone: the record here is not needed any more.
struct RecordGone {};
/// To the KeeperActor: a result of a job that has ended lies on the disk, or could not be written.
struct Spilled {
  client::TaskSettled settled;
  bool written = false;
};
/// Follower::unread.
struct Unread {
  std::vector<std::uint32_t> tasks;
};
struct JobSaid {
  JobId job;
  std::variant<client::TaskSettled, JobCounts, client::JobEnded, client::JobLost, RecordLed, RecordGone,
               Unread>
      what;
};

}  // namespace dag::mail

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::LaneNews)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::ReachChanged)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::AttemptEnded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Checkpointed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::SaveHere)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::SavesFound)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::StopTask)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::TimedOut)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Outgoing)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Incoming)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Tick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::ProgressDue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Dry)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Publish)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::TakeDigest)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Digested)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::NextPiece)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Vouch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Explain)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Bring)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Brought)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Want)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::CancelJob)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::StopJob)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::ClientSaid)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::KeeperSaid)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Greeted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Gone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Nodes)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::ProcessStarted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::ProcessNotStarted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::ProcessEnded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Noted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::JobSaid)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Spilled)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::LifeUp)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::LifeDown)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Submit)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::ForgetJob)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Arrived)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Steal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Heard)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::LinkBroken)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::LinkRefused)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Others)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Leave)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Loads)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Record)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Seats)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::CopySaid)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::RecordHere)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Written)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Probe)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Recover)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::RunnerHere)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::RecordOver)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::LivesUp)
