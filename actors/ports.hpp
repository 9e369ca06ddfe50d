#pragma once
// All that actors need from outside: time, other processes, and whoever watches. nodes/ has the real ones,
// tests their own.

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
  /// This process's monotonic clock.
  std::function<Instant()> now;
  /// Brings a message to another life; at least once while both live. Never blocks.
  std::function<void(Life to, JobMessage message)> send;
  /// A line for the log of this process.
  std::function<void(std::string_view line)> log;
  /// Of a process with a disk, empty elsewhere. For the disk: a saved state that is here; never blocks.
  std::function<void(keeper::SaveCopy copy)> keep_save = {};
  /// What the disk has kept of this job: `found` gets it, on any thread. False: nothing.
  std::function<bool(const JobPlan& plan, std::function<void(std::vector<KeepSave>)> found)> saves_of = {};
  /// Called by a thread of its own that has no hurry: others go first from now on. Empty: there are no such
  /// threads, and what has no hurry is done by the same as everything else.
  std::function<void()> give_way = {};
  /// This process may not go on, not even for an orderly end: others may start again what runs here. Empty
  /// where there are no others.
  std::function<void(std::string_view why)> end_now = {};
  /// It took so long to choose the process of an attempt. Empty: nobody counts.
  std::function<void(Duration took)> placed = {};
  /// So many tasks went to this process, which had nothing to do. Empty: nobody counts.
  std::function<void(Life thief, std::size_t tasks)> stolen = {};
  /// Tells whoever follows the job what happened to an attempt. Empty: nobody does.
  std::function<void(JobId job, Troubled what)> troubled = {};
};

struct RecordLed;
namespace wire {
class CodeMap;
}

/// Who submitted a job and waits for it. Called by its cell; must not block.
struct Follower {
  /// A task of the submitted graph that was asked for is settled. `output` is there when it finished and has
  /// one.
  std::function<void(std::uint32_t task, Outcome outcome, Blob output, std::optional<Error> error)> settled;
  /// Every row is final and settled, or the job was stopped.
  std::function<void(std::optional<Error> stopped, CellCounts counts)> ended;
  /// Said before `ended`: Cell::unread. May be empty.
  std::function<void(std::vector<std::uint32_t> tasks)> unread = {};
  /// How far the job is, a few times a second while that changes. May be empty.
  std::function<void(CellCounts counts)> progress;
  /// Nothing more will come: libdag itself failed.
  std::function<void(Error why)> lost;
  /// Of a job whose record has several copies, of which one is here: who leads it has changed. Then only the
  /// one that leads calls any of the above.
  std::function<void(RecordLed)> led = {};
  /// The copy here is not needed any more.
  std::function<void()> record_over = {};
};

/// Of a node that holds copies of records.
struct RecordPorts {
  /// To the copy at that node; may be lost.
  std::function<void(Life to, consensus::Addressed message)> send;
  std::function<Follower(JobId job)> follower;
  /// For the disk of a node that has a copy, too; may be lost. Empty: nothing is kept on disks.
  std::function<void(Life to, keeper::SaveCopy copy)> send_save = {};
  std::size_t save_bytes_max = ~std::size_t{0};  ///< larger ones are on the disk here alone
  /// To the node's log; `written` is called, by a thread that must not wait, when it is on the disk. Empty:
  /// the copies here are in memory alone.
  std::function<void(JobId job, consensus::StoredChange change, std::function<void()> written)> write = {};
  /// Whether so much waits there that no more should be proposed. Empty: never.
  std::function<bool()> is_log_behind = {};
  /// Nobody needs what was written for this job, now or later.
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
