#pragma once
// The actors' ports: time, other processes, and observers. nodes/ has the real ones, tests their
// own.

#include <functional>
#include <string_view>

#include "libdag/base/time.hpp"
#include "libdag/cell/cell.hpp"
#include "libdag/consensus/replica.hpp"
#include "libdag/job/messages.hpp"
#include "libdag/keeper/messages.hpp"
#include "libdag/runner/runner.hpp"

namespace dag {

struct Ports {
  /// The monotonic clock of this process.
  std::function<Instant()> now;
  /// Brings a message to another life; at least once while both live. Never blocks.
  std::function<void(Life to, JobMessage message)> send;
  /// A line for the log of this process.
  std::function<void(std::string_view line)> log;
  /// Keeps a saved state on this process's disk; never blocks. Empty: there is no disk.
  std::function<void(keeper::SaveCopy copy)> keep_save = {};
  /// Reads the saves of this job from the disk: `found` gets them, on any thread. False: there are none.
  std::function<bool(const JobPlan& plan, std::function<void(std::vector<KeepSave>)> found)> saves_of = {};
  /// Called by a thread of its own without urgent work: other threads go first from now on. Empty: there are
  /// no such threads, and the work is done on the common ones.
  std::function<void()> give_way = {};
  /// Ends this process at once, without an orderly shutdown: others may restart the tasks that run here.
  /// Empty where there are no others.
  std::function<void(std::string_view why)> end_now = {};
  /// The time that choosing the process of an attempt took. Empty: it is not counted.
  std::function<void(Duration took)> placed = {};
  /// The tasks that went to this process, which was idle. Empty: they are not counted.
  std::function<void(Life thief, std::size_t tasks)> stolen = {};
  /// Tells the job's client of an event of an attempt. Empty: nobody follows the job.
  std::function<void(JobId job, Troubled what)> troubled = {};
};

struct RecordLed;
namespace wire {
class CodeMap;
}

/// The client that submitted a job and waits for it. Called by the job's cell; must not block.
struct Follower {
  /// A task of the submitted graph that was asked for is settled. `output` is there when it finished and has
  /// one.
  std::function<void(std::uint32_t task, Outcome outcome, Blob output, std::optional<Error> error)> settled;
  /// Every row is final and settled, or the job was stopped.
  std::function<void(std::optional<Error> stopped, CellCounts counts)> ended;
  /// Said before `ended`: Cell::unread. May be empty.
  std::function<void(std::vector<std::uint32_t> tasks)> unread = {};
  /// The job's progress, a few times a second while it changes. May be empty.
  std::function<void(CellCounts counts)> progress;
  /// Nothing more will come: libdag itself failed.
  std::function<void(Error why)> lost;
  /// For a job whose record has several copies, one of them here: the leader has changed. From then on only
  /// the copy that leads calls any of the above.
  std::function<void(RecordLed)> led = {};
  /// The copy here is not needed any more.
  std::function<void()> record_over = {};
};

/// Set in a node that holds copies of records.
struct RecordPorts {
  /// Sends to the copy at that node; may be lost.
  std::function<void(Life to, consensus::Addressed message)> send;
  std::function<Follower(JobId job)> follower;
  /// Sends a save to the disk of another node with a copy; may be lost. Empty: no saves are kept on disks.
  std::function<void(Life to, keeper::SaveCopy copy)> send_save = {};
  std::size_t save_bytes_max = ~std::size_t{0};  ///< larger saves are on the disk here alone
  /// Writes to the node's log; `written` is called, by a thread that must not wait, when the change is on the
  /// disk. Empty: the copies here are in memory alone.
  std::function<void(JobId job, consensus::StoredChange change, std::function<void()> written)> write = {};
  /// True: the log is so far behind that no more should be proposed. Empty: never.
  std::function<bool()> is_log_behind = {};
  /// Drops the log of this job, for good.
  std::function<void(JobId job)> forget = {};
  /// How code of the jobs' programs is named.
  const wire::CodeMap* codes = nullptr;
  consensus::Seat seat;
  std::size_t copies_wanted = 3;
  bool witness = false;
  /// How long a leader of a record may be silent.
  Duration election_timeout = consensus::ReplicaOptions{}.election_timeout;
};

}  // namespace dag
