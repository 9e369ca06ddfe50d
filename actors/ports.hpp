#pragma once
// The ports of the actors that jobs have in a process: of the NodeActor and those that it starts. Each is a
// class of one part of the process: its time and mail, its disk, the clients that wait. nodes/ has the real
// ones, tests their own.
//
// Lifetime: a port belongs to the process (Node, WorkerNode, Keeper, a test), as its lanes do. The process
// waits for the end of its actors before it destroys a port, and actors have references. (A port that one
// actor uses alone is owned by that actor: KeeperPorts, MembershipPorts.)
//
// Threads: all functions are called from any thread of the actors, for several jobs at a time. None may
// block.

#include <functional>
#include <string_view>

#include "libdag/base/time.hpp"
#include "libdag/cell/cell.hpp"
#include "libdag/consensus/replica.hpp"
#include "libdag/job/messages.hpp"
#include "libdag/keeper/messages.hpp"
#include "libdag/runner/runner.hpp"

namespace dag {

struct RecordLed;
namespace wire {
class CodeMap;
}

/// The process around the actors: its clock, its mail, its log and its end.
class ProcessPort {
 public:
  virtual ~ProcessPort() = default;

  /// The monotonic clock of this process.
  virtual Instant now() = 0;
  /// Brings a message to another life; at least once while both live.
  virtual void send(Life to, JobMessage message) = 0;
  /// A line for the log of this process.
  virtual void log(std::string_view line) = 0;
  /// Tells the job's client of an event of an attempt. Default: nobody follows the job.
  virtual void troubled(JobId /*job*/, Troubled /*what*/) {}

  /// Part of a job whose client is elsewhere has failed here: the process has to end. Default: there is only
  /// one process.
  virtual void escalate(Error /*why*/) {}
  /// Ends this process at once, without an orderly shutdown: others may restart the tasks that run here.
  /// Default: there are no others.
  virtual void end_now(std::string_view /*why*/) {}

  /// True: an actor with work that is not urgent may have a thread of its own, on which it calls give_way()
  /// first. Default: it works on the common threads.
  virtual bool has_background_threads() const { return false; }
  /// Other threads go before the calling one from now on.
  virtual void give_way() {}
};

/// Counts what scheduling did in this process.
class SchedulingMeter {
 public:
  virtual ~SchedulingMeter() = default;

  /// The time that choosing the process of an attempt took.
  virtual void placed(Duration took) = 0;
  /// So many tasks of this process went to that one, which was idle.
  virtual void stolen(Life thief, std::size_t tasks) = 0;
};

/// The saves of jobs on this node's disk.
class SaveStore {
 public:
  virtual ~SaveStore() = default;

  virtual void keep(keeper::SaveCopy copy) = 0;
  /// Reads the saves of a job: `found` gets them, on any thread. False: there are none, and `found` is not
  /// called.
  virtual bool read(JobId job, const std::string& job_name,
                    std::function<void(std::vector<KeepSave>)> found) = 0;
  /// Nobody needs the saves of this job any more.
  virtual void forget(JobId job) = 0;
};

/// Hears of the jobs that were submitted in this process, or have a copy of their record here, for the
/// clients that wait for them.
class JobListener {
 public:
  virtual ~JobListener() = default;

  /// A task of the submitted graph that was asked for is settled. `output` is there when it finished and has
  /// one.
  virtual void settled(JobId job, std::uint32_t task, Outcome outcome, Blob output,
                       std::optional<Error> error) = 0;
  /// The job's progress, a few times a second while it changes.
  virtual void progress(JobId /*job*/, const CellCounts& /*counts*/) {}
  /// Called before `ended`, for Cell::unread.
  virtual void ends(JobId /*job*/, const Cell& /*cell*/) {}
  /// Every row is final and settled, or the job was stopped.
  virtual void ended(JobId job, std::optional<Error> stopped, const CellCounts& counts) = 0;
  /// Nothing more will come: libdag itself failed.
  virtual void lost(JobId job, Error why) = 0;

  /// For a job whose record has several copies, one of them here: the leader has changed. From then on only
  /// the copy that leads calls any of the above.
  virtual void led(RecordLed&& /*news*/) {}
  /// The copy here is not needed any more.
  virtual void record_over(JobId /*job*/) {}
};

/// Brings messages to the copies of records at other nodes; may lose them.
class ReplicaTransport {
 public:
  virtual ~ReplicaTransport() = default;

  virtual void send(Life to, consensus::Addressed message) = 0;
  /// A save for the disk of that node.
  virtual void send(Life to, keeper::SaveCopy copy) = 0;
};

/// The log of the copies of records on this node's disk.
class RecordLog {
 public:
  virtual ~RecordLog() = default;

  /// `written` is called, by a thread that must not wait, when the change is on the disk.
  virtual void write(JobId job, consensus::StoredChange change, std::function<void()> written) = 0;
  /// True: the log is so far behind that no more should be proposed.
  virtual bool is_behind() const = 0;
  /// Drops the log of this job, for good.
  virtual void forget(JobId job) = 0;
};

/// The ports that a process has.
struct Ports {
  ProcessPort& process;
  JobListener* listener = nullptr;        ///< null: no job is submitted here, and no record has a copy here
  SchedulingMeter* scheduling = nullptr;  ///< null: nothing is counted
  SaveStore* saves = nullptr;             ///< null: there is no disk
  ReplicaTransport* replicas = nullptr;   ///< null: no record has a copy here
  RecordLog* log = nullptr;               ///< null: copies of records are in memory alone
};

/// How a node holds copies of records.
struct RecordOptions {
  consensus::Seat seat;
  /// How code of the jobs' programs is named.
  const wire::CodeMap* codes = nullptr;
  std::size_t copies_wanted = 3;
  bool witness = false;
  /// How long a leader of a record may be silent.
  Duration election_timeout = consensus::ReplicaOptions{}.election_timeout;
  std::size_t save_bytes_max = ~std::size_t{0};  ///< larger saves are on the disk here alone
};

}  // namespace dag
