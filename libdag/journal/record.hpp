#pragma once
// What is recorded of every decision: one Record per transition of a task, placement, or change of
// membership. Decides the form and the line a person reads. Which transitions there are is decided where they
// happen; where records go (a list, `dag show`, a journal) is the sink's.

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
struct RecordPlace {
  ProcessId process;
  std::optional<std::uint32_t> lane = std::nullopt;
  bool operator==(const RecordPlace&) const = default;
};

namespace recorded {

/// The last predecessor ended (or there was none), and the home let the row run. A lane that readies a bare
/// row by itself says nothing.
struct Ready {
  bool operator==(const Ready&) const = default;
};

/// One process that was considered, and why it was or was not the one.
struct Candidate {
  ProcessId process;
  Duration wait{0};      ///< In its queue.
  Duration transfer{0};  ///< For the inputs it lacks.
  Duration run{0};
  /// Why it could not be taken; empty when it could.
  std::string misfit = {};
  bool operator==(const Candidate&) const = default;
};
struct Placed {
  ProcessId chosen;
  /// The rule that decided: "short", "inputs here", "earliest finish".
  std::string rule;
  /// Empty when the rule asked nobody.
  std::vector<Candidate> candidates = {};
  bool operator==(const Placed&) const = default;
};

/// The row was given to run elsewhere; its home remembers until the outcome.
struct Lent {
  ProcessId runner;
  bool operator==(const Lent&) const = default;
};
/// The runner gave it back unrun.
struct Returned {
  std::string why;
  bool operator==(const Returned&) const = default;
};
/// An idle lane took it. Recorded where it now lies; `victim` is where it lay.
struct Stolen {
  RecordPlace victim;
  bool operator==(const Stolen&) const = default;
};
struct Started {
  bool operator==(const Started&) const = default;
};

/// An attempt ended, as its home has it. Or the task ended without one (`ran` is zero): it was skipped, took
/// processes down too often, or ends as what it became.
struct Ended {
  Outcome outcome = Outcome::finished;
  Duration ran{0};  ///< zero too where a lane's report was overtaken by that of a successor
  /// What a failure said, or why it ended without an attempt; empty otherwise.
  std::string error = {};
  bool operator==(const Ended&) const = default;
};

/// The attempt was lost with its lane, process or node; nobody is charged.
struct Lost {
  std::string why;
  bool operator==(const Lost&) const = default;
};
/// Another attempt comes after `pause`. The record's attempt is the one that went before.
struct Retried {
  Duration pause{0};
  bool charged = false;
  bool operator==(const Retried&) const = default;
};
struct Cancelled {
  std::string why;
  bool operator==(const Cancelled&) const = default;
};
/// The cell has the outcome durably. It knows the task by its name alone, so it says it.
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
/// The record's task was added by an attempt of `parent`.
struct Spawned {
  TaskId parent;
  AttemptId by;
  bool operator==(const Spawned&) const = default;
};

/// `suspected`: nothing was heard of it for a while; `trusted`: something was, again. `has`: `why` says what
/// it has, and that is new.
enum class MemberChange : std::uint8_t { up, suspected, down, trusted, has };
/// What a process believes of another. The record's job, if any, is the one whose cell says it; task and
/// attempt mean nothing.
struct Member {
  Life life;
  MemberChange change = MemberChange::up;
  std::string why = {};
  bool operator==(const Member&) const = default;
};

/// The kernel of an attempt came back where it ran. What that means, its home says: Ended. Of attempts that
/// no runner has, lanes say it, if they say anything.
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
/// The row waits anew, whatever had become of it: what it rested on does not count.
struct StartedOver {
  std::string why;
  bool operator==(const StartedOver&) const = default;
};
/// The object of the job actor that the record's task creates was given up. When it is needed it comes back
/// from its save number `border`, counted from 1, or from its creation (0).
struct RolledBack {
  std::uint64_t border = 0;
  std::string why;
  bool operator==(const RolledBack&) const = default;
};
/// That object is there again.
struct Restored {
  bool operator==(const Restored&) const = default;
};
/// The task took its process down, `times` times by now; each counts as a try.
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
/// A new home has counted the rows of its shard again: they run from here on. Task and attempt mean nothing.
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
/// The cell knows of these tasks: those of the submitted graph (the record's task means nothing), or those
/// that an attempt of the record's task spawned.
struct TasksKnown {
  bool submitted = false;
  std::vector<TaskClass> classes = {};
  bool operator==(const TasksKnown&) const = default;
};

/// A job was accepted and begins. Task and attempt mean nothing, as in JobOver.
struct JobBegan {
  std::string name;
  std::uint64_t tasks = 0;  ///< of the submitted graph
  JobId retries = {};       ///< the job of which it runs again what did not finish; 0: none
  std::uint64_t done = 0;   ///< tasks that were done there, spawned ones included
  bool operator==(const JobBegan&) const = default;
};
/// All of its tasks are settled, or it was stopped.
struct JobOver {
  std::uint64_t finished = 0, failed = 0, skipped = 0, cancelled = 0;
  std::optional<Error> stopped = {};
  bool operator==(const JobOver&) const = default;
};
/// Settled, of tasks that are alike: each finished by the record's attempt, its first one, and in time. The
/// record's task is the first that bit 0 may stand for.
struct FinishedTasks {
  std::uint64_t bits = 0;
  std::vector<std::string> names = {};
  std::vector<std::uint8_t> name_of = {};  ///< of each bit that is set, in their order: which name
  bool operator==(const FinishedTasks&) const = default;
};

/// Tasks as they were added, the record's task and those behind it: what each is called, and what it waits
/// for. Of a large graph there are many; a task with many predecessors may be in several, each with some of
/// them.
struct GraphPart {
  std::vector<std::string> names = {};
  std::vector<std::uint8_t> packed = {};  ///< libdag/journal/graph_part.hpp
  /// What spawned them; none: they are of the submitted graph.
  std::optional<TaskId> parent = {};
  bool operator==(const GraphPart&) const = default;
};

/// A kernel said a line to the log of its job.
struct Said {
  std::string name = {};  ///< the task's
  std::string line = {};
  std::uint32_t number =
      0;  ///< of the attempt, as Context::attempt says; 0: of a record that does not say it
  bool operator==(const Said&) const = default;
};
/// What a process of the job wrote to stdout and stderr: whole lines, but where one was too long. Task and
/// attempt mean nothing.
struct Printed {
  std::string text = {};
  std::uint64_t left_out = 0;  ///< bytes that were written before it, and are not kept
  bool operator==(const Printed&) const = default;
};
/// What an attempt needs and was elsewhere has come to the process that is to run it.
struct InputsCame {
  std::uint64_t bytes = 0;
  Duration took{0};  ///< since that process took the attempt
  bool operator==(const InputsCame&) const = default;
};
/// What the attempt had saved is kept: one that comes after it goes on from there. Or, of the job actor that
/// the record's task creates: save number `border` of all in its group is kept, and they come back from no
/// older one.
struct Saved {
  std::uint64_t bytes = 0;
  std::uint64_t border = 0;  ///< counted from 1; 0: a task saved it
  bool operator==(const Saved&) const = default;
};
/// The record's place leads the job's record from now on. Task and attempt mean nothing.
struct Leads {
  std::uint64_t term = 0;
  bool operator==(const Leads&) const = default;
};
/// Said before JobOver of a job that was cancelled, or whose failures are tolerated by what waits for them.
struct JobVerdict {
  std::uint64_t tolerated = 0;  ///< failures
  bool cancelled = false;
  bool operator==(const JobVerdict&) const = default;
};

}  // namespace recorded

/// Append only: the journal numbers the alternatives in this order.
using RecordWhat =
    std::variant<recorded::Ready, recorded::Placed, recorded::Lent, recorded::Returned, recorded::Stolen,
                 recorded::Started, recorded::Ended, recorded::Lost, recorded::Retried, recorded::Cancelled,
                 recorded::Settled, recorded::OutputLost, recorded::Spawned, recorded::Member, recorded::Ran,
                 recorded::Became, recorded::StartedOver, recorded::RolledBack, recorded::Restored,
                 recorded::Crashed, recorded::HomeGiven, recorded::Recounted, recorded::TasksKnown,
                 recorded::JobBegan, recorded::JobOver, recorded::FinishedTasks, recorded::GraphPart,
                 recorded::Said, recorded::Printed, recorded::InputsCame, recorded::Saved, recorded::Leads,
                 recorded::JobVerdict>;

struct Record {
  /// By the clock of `place.process`; instants of two processes cannot be compared.
  Instant at;
  RecordPlace place;
  JobId job;
  TaskId task;
  /// None (false) before the first attempt is issued.
  AttemptId attempt;
  RecordWhat what;
  bool operator==(const Record&) const = default;
};

/// What a task is called; empty when it has no name.
using NameOfTask = std::function<std::string(TaskId)>;

/// Of the job as a whole, a shard of it or a process: its task and attempt mean nothing.
bool is_about_task(const RecordWhat& what);
/// What kernels said and processes printed: it tells nothing about how a job went on.
bool is_log(const RecordWhat& what);
/// The Settled that FinishedTasks stands for, each by itself.
void each_finished(const Record& many, const std::function<void(const Record&)>& visit);

std::string to_string(const RecordPlace& place);  // n1, n1/l0
std::string to_string(const RecordWhat& what);    // started; ended finished 1.5ms
/// One line without its end: `0.012345678 job7/B#1.0.2 n1/l0 started`. Without names, or for a task that has
/// none, its id stands there: `job7/41#1.0.2`.
std::string to_string(const Record& record, const NameOfTask& name_of = {});

}  // namespace dag
