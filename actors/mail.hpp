#pragma once
// What the actors of a process say to each other: plain values, by CAF. Nothing here leaves the process (that
// is libdag/home/messages.hpp), so none of it needs a form as bytes.

#include <caf/all.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "actors/ports.hpp"
#include "libdag/cell/cell.hpp"
#include "libdag/home/home.hpp"
#include "libdag/home/lane_report.hpp"
#include "libdag/home/runner.hpp"
#include "libdag/membership/messages.hpp"

namespace dag::mail {

/// lane -> HomeActor: a batch of what it did.
struct LaneNews {
  LaneReport report;
};
/// lane, TaskActor -> HomeActor, RunnerActor: an attempt that was started here ended.
struct AttemptEnded {
  dag::Ended ended;
};
/// HomeActor, RunnerActor -> TaskActor: nobody waits for the attempt any more.
struct StopTask {};
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
/// gateway -> NodeActor: a new job, whose cell lives here.
struct Submit {
  std::shared_ptr<const JobPlan> plan;
  Follower follower;
};
/// gateway -> NodeActor -> CellActor: a client wants this output.
struct Want {
  JobId job;
  std::uint32_t task = 0;
};
struct CancelJob {
  JobId job;
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
/// node -> MembershipActor: say goodbye, and end.
struct Leave {};
/// MembershipActor -> NodeActor: who has rows that a thief could take. Those that are not named have none.
struct Backlogs {
  std::vector<std::pair<Life, std::uint32_t>> tasks_ready;
};
/// MembershipActor -> NodeActor -> CellActor: a process of the cluster came, or is gone.
struct LifeUp {
  Life life;
};
struct LifeDown {
  Life life;
};
/// NodeActor -> HomeActor: another process asks for rows.
struct Steal {
  Life thief;
  std::uint32_t slots = 0;
};

}  // namespace dag::mail

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::LaneNews)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::AttemptEnded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::StopTask)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::TimedOut)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Outgoing)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Incoming)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Tick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Publish)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Vouch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Bring)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Brought)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Want)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::CancelJob)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::LifeUp)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::LifeDown)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Submit)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::ForgetJob)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Arrived)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Steal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Heard)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::LinkBroken)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::LinkRefused)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Leave)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(dag::mail::Backlogs)
