#pragma once
// Events of all decisions: a JournalEvent per transition of a task, placement, or change of membership.
// Decides the form, and the line that a person reads. The machines decide which transitions there are; the
// sink decides where events go (a list, `dag show`, a journal).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dag/error.hpp"
#include "dag/options.hpp"
#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"

namespace dag {

/// Where it happened: a process, and a lane of it where that matters.
struct EventPlace {
  ProcessId process;
  std::optional<std::uint32_t> lane = std::nullopt;
  bool operator==(const EventPlace&) const = default;
};

namespace event {

/// The last predecessor ended (or there was none), and the home let the row run. Lanes that ready bare rows
/// themselves do not record it.
struct Ready {
  bool operator==(const Ready&) const = default;
};

/// A process that was considered, and why it was or was not chosen.
struct Candidate {
  ProcessId process;
  Duration wait{0};      ///< Time in its queue.
  Duration transfer{0};  ///< Time to fetch missing inputs.
  Duration run{0};
  /// Why it was impossible; empty when it was possible.
  std::string misfit = {};
  bool operator==(const Candidate&) const = default;
};
struct Placed {
  ProcessId chosen;
  /// The rule that decided: "short", "inputs here", "earliest finish".
  std::string rule;
  /// Empty when the rule compares no processes.
  std::vector<Candidate> candidates = {};
  bool operator==(const Placed&) const = default;
};

/// The row was lent to another process; its home remembers that until the outcome.
struct Lent {
  ProcessId runner;
  bool operator==(const Lent&) const = default;
};
/// The runner returned it without running it.
struct Returned {
  std::string why;
  bool operator==(const Returned&) const = default;
};
/// An idle lane took it. Recorded where it is now; `victim` is where it was.
struct Stolen {
  EventPlace victim;
  bool operator==(const Stolen&) const = default;
};
struct Started {
  bool operator==(const Started&) const = default;
};

/// An attempt ended, by its home's word. Or the task ended without an attempt (`ran` is zero): it was
/// skipped, crashed processes too often, or ends as the task that it became.
struct Ended {
  Outcome outcome = Outcome::finished;
  Duration ran{0};  ///< zero also if a successor's report overtook the lane's
  /// Text of a failure, or the reason for an end without an attempt; else empty.
  std::string error = {};
  bool operator==(const Ended&) const = default;
};

/// The attempt was lost with its lane, process or node; no try is charged.
struct Lost {
  std::string why;
  bool operator==(const Lost&) const = default;
};
/// Another attempt follows after `pause`. The event's attempt is the failed one.
struct Retried {
  Duration pause{0};
  bool charged = false;
  bool operator==(const Retried&) const = default;
};
struct Cancelled {
  std::string why;
  bool operator==(const Cancelled&) const = default;
};
/// The outcome is settled. The event includes the task's name, which most events lack.
struct Settled {
  Outcome outcome = Outcome::finished;
  std::string name = {};
  std::uint32_t tries = 0;  ///< of its kernel, for a task that did not finish
  std::optional<Error> error = {};
  Duration late{0};  ///< how long after its deadline
  bool operator==(const Settled&) const = default;
};
/// An output that the task had left is gone with all its copies.
struct OutputLost {
  std::uint32_t slot = 0;
  bool operator==(const OutputLost&) const = default;
};
/// The event's task was added by an attempt of `parent`.
struct Spawned {
  TaskId parent;
  AttemptId by;
  bool operator==(const Spawned&) const = default;
};

/// `suspected`: silent for a while; `trusted`: heard again. `has`: `why` tells its resources, which have
/// changed.
enum class MemberChange : std::uint8_t { up, suspected, down, trusted, has };
/// A process's belief about another. The event's job, if any, is the job of the cell that recorded it; task
/// and attempt mean nothing.
struct Member {
  Life life;
  MemberChange change = MemberChange::up;
  std::string why = {};
  bool operator==(const Member&) const = default;
};

/// The kernel of an attempt returned where it ran. The home's Ended tells what that means. For attempts
/// without a runner, lanes record it, if they record anything.
struct Ran {
  Outcome outcome = Outcome::finished;
  Duration ran{0};
  std::string error = {};
  bool operator==(const Ran&) const = default;
};
/// The attempt returned; the task ends as `tail`, which it spawned, ends.
struct Became {
  TaskId tail;
  Duration ran{0};
  bool operator==(const Became&) const = default;
};
/// The row waits anew, whatever its state was: an end that it rests on does not count.
struct StartedOver {
  std::string why;
  bool operator==(const StartedOver&) const = default;
};
/// The object of the job actor that the event's task creates was dropped. When it is needed it is restored
/// from its save number `border`, counted from 1, or from its creation (0).
struct RolledBack {
  std::uint64_t border = 0;
  std::string why;
  bool operator==(const RolledBack&) const = default;
};
/// The job actor's object exists again.
struct Restored {
  bool operator==(const Restored&) const = default;
};
/// The task has crashed its process, `times` times by now; each counts as a try.
struct Crashed {
  std::uint32_t times = 0;
  std::string what = {};
  bool operator==(const Crashed&) const = default;
};
/// The cell gave a shard to a home. Task and attempt mean nothing.
struct HomeGiven {
  std::uint32_t shard = 0;
  Life home;
  Epoch epoch;
  bool operator==(const HomeGiven&) const = default;
};
/// A new home has recounted the rows of its shard: they run from here on. Task and attempt mean nothing.
struct Recounted {
  std::uint32_t shard = 0;
  Epoch epoch;
  bool operator==(const Recounted&) const = default;
};
/// Tasks of one name.
struct TaskClass {
  std::string name;
  std::uint64_t tasks = 0;
  bool operator==(const TaskClass&) const = default;
};
/// The cell knows these tasks: those of the submitted graph (the event's task means nothing), or those that
/// an attempt of the event's task spawned.
struct TasksKnown {
  bool submitted = false;
  std::vector<TaskClass> classes = {};
  bool operator==(const TasksKnown&) const = default;
};

/// A job was accepted and begins. Task and attempt mean nothing, as in JobOver.
struct JobBegan {
  std::string name;
  std::uint64_t tasks = 0;  ///< of the submitted graph
  JobId retries = {};       ///< the job whose unfinished tasks this one runs again; 0: none
  std::uint64_t done = 0;   ///< tasks done there, spawned ones included
  bool operator==(const JobBegan&) const = default;
};
/// All tasks of the job are settled, or it was stopped.
struct JobOver {
  std::uint64_t finished = 0, failed = 0, skipped = 0, cancelled = 0;
  std::optional<Error> stopped = {};
  bool operator==(const JobOver&) const = default;
};
/// Settled, for many tasks at once: each finished by the event's attempt, its first, and in time. The
/// event's task is the task of bit 0.
struct FinishedTasks {
  std::uint64_t bits = 0;
  std::vector<std::string> names = {};
  std::vector<std::uint8_t> name_of = {};  ///< index of the name, for each set bit in order
  bool operator==(const FinishedTasks&) const = default;
};

/// Tasks as they were added, beginning with the event's task: name and predecessors of each. A
/// large graph has many parts; a task with many predecessors may be in several, with some of them in
/// each.
struct GraphPart {
  std::vector<std::string> names = {};
  std::vector<std::uint8_t> packed = {};  ///< libdag/journal/graph_part.hpp
  /// The task that spawned them; none: they are of the submitted graph.
  std::optional<TaskId> parent = {};
  bool operator==(const GraphPart&) const = default;
};

/// A kernel logged a line.
struct Said {
  std::string name = {};  ///< the task's
  std::string line = {};
  std::uint32_t number =
      0;  ///< of the attempt, as Context::attempt says; 0: of an event that does not say it
  bool operator==(const Said&) const = default;
};
/// Output of a process of the job on stdout and stderr: whole lines, except for lines that are too long. Task
/// and attempt mean nothing.
struct Printed {
  std::string text = {};
  std::uint64_t left_out = 0;  ///< bytes that were written before it, and dropped
  bool operator==(const Printed&) const = default;
};
/// The remote inputs of an attempt have arrived in the process that is to run it.
struct InputsCame {
  std::uint64_t bytes = 0;
  Duration took{0};  ///< since that process took the attempt
  bool operator==(const InputsCame&) const = default;
};
/// The attempt's checkpoint has its copies: the next attempt goes on from there. Or, for the job actor that
/// the event's task creates: save number `border` of all actors of its group is kept, and they are restored
/// from no older one.
struct Saved {
  std::uint64_t bytes = 0;
  std::uint64_t border = 0;  ///< counted from 1; 0: a task's checkpoint
  bool operator==(const Saved&) const = default;
};
/// The event's place leads the job's record from now on. Task and attempt mean nothing.
struct Leads {
  std::uint64_t term = 0;
  bool operator==(const Leads&) const = default;
};
/// Recorded before JobOver if the job was cancelled, or has failures that its tasks tolerate.
struct JobVerdict {
  std::uint64_t tolerated = 0;  ///< failures
  bool cancelled = false;
  bool operator==(const JobVerdict&) const = default;
};

}  // namespace event

/// Append only: the journal numbers the alternatives in this order.
using EventWhat =
    std::variant<event::Ready, event::Placed, event::Lent, event::Returned, event::Stolen, event::Started,
                 event::Ended, event::Lost, event::Retried, event::Cancelled, event::Settled,
                 event::OutputLost, event::Spawned, event::Member, event::Ran, event::Became,
                 event::StartedOver, event::RolledBack, event::Restored, event::Crashed, event::HomeGiven,
                 event::Recounted, event::TasksKnown, event::JobBegan, event::JobOver, event::FinishedTasks,
                 event::GraphPart, event::Said, event::Printed, event::InputsCame, event::Saved, event::Leads,
                 event::JobVerdict>;

struct JournalEvent {
  /// By the clock of `place.process`; instants of two processes cannot be compared.
  Instant at;
  EventPlace place;
  JobId job;
  TaskId task;
  /// None (false) before the first attempt.
  AttemptId attempt;
  EventWhat what;
  bool operator==(const JournalEvent&) const = default;
};

/// A task's name; empty when it has none.
using NameOfTask = std::function<std::string(TaskId)>;

/// False for events of a whole job, a shard or a process: their task and attempt mean nothing.
bool is_about_task(const EventWhat& what);
/// True for lines of kernels and output of processes: they do not change a job's state.
bool is_log(const EventWhat& what);
/// Visits the events of type Settled that `many` stands for.
void each_finished(const JournalEvent& many, const std::function<void(const JournalEvent&)>& visit);

std::string to_string(const EventPlace& place);  // n1, n1/l0
std::string to_string(const EventWhat& what);    // started; ended finished 1.5ms
/// A line without its end: `0.012345678 job7/B#1.0.2 n1/l0 started`. Without a name the task's id stands
/// there: `job7/41#1.0.2`.
std::string to_string(const JournalEvent& record, const NameOfTask& name_of = {});

}  // namespace dag
