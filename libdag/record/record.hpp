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

/// The last predecessor ended (or there was none).
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

struct Ended {
  Outcome outcome = Outcome::finished;
  Duration ran{0};
  /// What a failure said; empty otherwise.
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
/// The cell has the outcome durably.
struct Settled {
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

enum class MemberChange : std::uint8_t { up, suspected, down };
/// What a process believes of another. Belongs to no job: the record's job, task and attempt mean nothing.
struct Member {
  Life life;
  MemberChange change = MemberChange::up;
  std::string why = {};
  bool operator==(const Member&) const = default;
};

}  // namespace recorded

/// Append only: the journal numbers the alternatives in this order.
using RecordWhat =
    std::variant<recorded::Ready, recorded::Placed, recorded::Lent, recorded::Returned, recorded::Stolen,
                 recorded::Started, recorded::Ended, recorded::Lost, recorded::Retried, recorded::Cancelled,
                 recorded::Settled, recorded::OutputLost, recorded::Spawned, recorded::Member>;

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

std::string to_string(const RecordPlace& place);  // n1, n1/l0
std::string to_string(const RecordWhat& what);    // started; ended finished 1.5ms
/// One line without its end: `0.012345678 job7/B#1.0.2 n1/l0 started`. Without names, or for a task that has
/// none, its id stands there: `job7/41#1.0.2`.
std::string to_string(const Record& record, const NameOfTask& name_of = {});

}  // namespace dag
