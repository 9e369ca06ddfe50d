#pragma once
// The messages between the actors of a process: plain values, by CAF. Nothing here leaves the process (those
// messages are in libdag/job/messages.hpp), so none of it needs a form as bytes.

#include <caf/all.hpp>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "actors/ports.hpp"
#include "libdag/cell/cell.hpp"
#include "libdag/cell/retried.hpp"
#include "libdag/consensus/reconfiguration.hpp"
#include "libdag/gateway/gateway.hpp"
#include "libdag/job/lane_report.hpp"
#include "libdag/keeper/messages.hpp"
#include "libdag/membership/messages.hpp"
#include "libdag/runner/runner.hpp"

namespace dag::mail {

/// lane -> JobHereActor: a batch of ends of rows of this home.
struct LaneNews {
  std::uint32_t shard = 0;
  Epoch epoch;
  LaneReport report;
};
/// Lanes -> JobHereActor: the lives that lanes can tell of ends have changed.
struct ReachChanged {};
/// lane, TaskActor -> JobHereActor: an attempt that was started here ended.
struct AttemptEnded {
  AttemptEnd ended;
  /// The credit of spawned tasks: given back when this is destroyed. May be null.
  std::shared_ptr<const void> credit = {};
};
/// Lane -> JobHereActor: the kernel of an attempt saved its state.
struct Checkpointed {
  TaskId task;
  AttemptId attempt;
  Saved saved;
};
/// JobHereActor -> TaskActor: nobody waits for the attempt any more.
struct StopTask {};
/// lane -> TaskActor: the kernel has begun.
struct AttemptBegan {};
/// TaskActor -> itself: the attempt has had its time.
struct TimedOut {};
/// any -> NodeActor: messages to be routed, in order.
struct Outgoing {
  std::vector<SendMessage> messages;
};
/// NodeActor -> JobHereActor: messages of its job, in order.
struct Delivery {
  std::vector<std::pair<Life, JobMessage>> messages;
};
/// JobHereActor -> CellActor, RecordActor: a message for its machine.
struct Incoming {
  Life from;
  JobMessage message;
};
/// any -> itself: a deadline may have come. `due` tells it from a deadline that was overtaken by an earlier
/// one.
struct Tick {
  Instant due;
};
/// CellActor, RecordActor -> JobHereActor: an output that the job begins with, which others may fetch here.
struct Publish {
  OutcomeRecord record;
  Blob bytes;
};
/// JobHereActor -> DigestActor -> JobHereActor: the digest of a large output.
struct TakeDigest {
  dag::TakeDigest output;
};
struct Digested {
  OutputName name;
  std::uint64_t digest = 0;
};
/// DigestActor -> itself: read the next piece.
struct NextPiece {};
/// CellActor, RecordActor -> JobHereActor, and back: the bytes of an output, for a client.
struct Bring {
  std::uint64_t ticket = 0;
  OutcomeRecord record;
  std::vector<Life> holders;
};
struct Brought {
  dag::Brought brought;
};
/// transport -> NodeActor -> JobHereActor: each adds its knowledge.
struct Explain {
  JobId job;
  TaskSelector what;
  std::function<void(ProcessExplained&&)> done;
  ProcessExplained process = {};
};
/// Part of Submit and Record, when the job retries another: sent to that job's cell, and back to the
/// NodeActor with the results that the job begins with.
struct Retry {
  RetryOf of;
  std::optional<Retried> begins = {};
};
/// gateway -> NodeActor: a new job, whose cell lives here.
struct Submit {
  std::shared_ptr<const JobPlan> plan;
  /// The processes that run it; none: all, this process included.
  std::vector<Life> lives = {};
  /// When the client was told that the job is accepted: deadlines count from there. Left out: from now.
  std::optional<Instant> submitted = std::nullopt;
  std::optional<Retry> retry = std::nullopt;
};
/// JobHereActor -> NodeActor -> RecordActor: a save for the disks of all nodes with a copy of the record.
struct SaveHere {
  keeper::SaveCopy copy;
};
/// The node's disk -> JobHereActor: the saves that it has kept of the job.
struct SavesFound {
  std::vector<KeepSave> saves;
};

/// gateway -> NodeActor: a new job, whose record has copies, the first one here.
struct Record {
  std::shared_ptr<const JobPlan> plan;
  Blob submission;
  std::optional<Retry> retry = std::nullopt;
};
/// node -> NodeActor: the peers of the record copies on its disk can be reached now.
struct Recover {};
/// node -> KeeperActor -> NodeActor: measures the time until `heard` is called.
struct Probe {
  std::function<void()> heard;
};
/// gateway -> NodeActor -> RecordActor: the nodes that can hold copies; those that leave; and whether this
/// node's disk is full, or it should not lead for another reason.
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
/// RecordActor -> NodeActor: the record is here, so the plan of the job is known.
struct RecordHere {
  std::shared_ptr<const JobPlan> plan;
};
/// NodeActor -> RecordActor: the JobHereActor, which brings outputs.
struct JobOpened {
  caf::actor job;
};
/// NodeActor -> JobHereActor: the actor that has the record.
struct CellHere {
  caf::actor cell;
};
/// JobHereActor -> NodeActor: another process has lent something to this one.
struct WorkCame {
  Life from;
};
/// JobHereActor -> NodeActor: Runner::ends_by.
struct EndsBy {
  JobId job;
  std::optional<Instant> at;
};
/// NodeActor -> itself: the time has come, if no other was said since.
struct LeaseOver {
  JobId job;
  Instant at;
};
/// JobHereActor -> NodeActor: nobody will ask for anything of the job here.
struct JobOver {
  JobId job;
};
/// store -> RecordActor: all writes up to this number are on the disk.
struct Written {
  std::uint64_t number = 0;
};
/// RecordActor -> NodeActor: the copy here is not needed any more.
struct RecordOver {
  JobId job;
};
/// gateway -> NodeActor -> CellActor, RecordActor: new processes of the job.
struct LivesUp {
  JobId job;
  std::vector<Life> lives;
};
/// gateway -> NodeActor -> CellActor: a client wants this output.
struct Want {
  JobId job;
  std::uint32_t task = 0;
  /// The job's worker processes are gone (WantOutput::at_rest).
  bool at_rest = false;
};
struct CancelJob {
  JobId job;
};
/// The job cannot go on.
struct StopJob {
  JobId job;
  Error why;
};
/// gateway -> NodeActor: nobody needs anything of this job any more.
struct ForgetJob {
  JobId job;
};
/// transport -> NodeActor: messages from another life, in order. `handled` says that they were dealt with:
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
/// node -> MembershipActor: ask these addresses for the other members.
struct Others {
  std::vector<std::string> addresses;
};
/// node -> MembershipActor: say goodbye, and end.
struct Leave {};
/// MembershipActor -> NodeActor -> JobHereActor: the last reported load of each life that is up, our own
/// included.
struct Loads {
  std::shared_ptr<const std::vector<std::pair<Life, LoadSummary>>> of;
};
/// MembershipActor, KeeperActor -> NodeActor -> CellActor, RecordActor: a process came, or is gone; for all
/// jobs, or for the named one.
struct LifeUp {
  Life life;
};
struct LifeDown {
  Life life;
  std::optional<JobId> job = std::nullopt;
  LifeEnd how = {};
};
/// CellActor, RecordActor -> itself: time to tell the client the job's progress.
struct ProgressDue {};
/// Lanes -> NodeActor, after tell_when_dry(): a lane is idle.
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
/// transport -> KeeperActor: the client's address accepts no connection any more.
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
/// transport -> KeeperActor: a kernel's log line or progress, or an event of an attempt; passed on to the
/// client of its job, if it has one.
struct Noted {
  /// The progress of a task; none: the kernel that reported progress does not run any more.
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
/// CellActor, RecordActor -> KeeperActor: the record here is not needed any more.
struct RecordGone {};
/// To the KeeperActor: a result of an ended job lies on the disk, or could not be written.
struct Spilled {
  client::TaskSettled settled;
  bool written = false;
};
/// Cell::unread.
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
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Delivery)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Incoming)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Tick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::ProgressDue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Dry)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Publish)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::TakeDigest)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Digested)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::NextPiece)
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
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::JobOpened)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::CellHere)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::WorkCame)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::EndsBy)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::LeaseOver)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::JobOver)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::RecordOver)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::LivesUp)
