#pragma once
// A replica's changes as records of the node's log (libdag/log), and back: all logs of a node share one file.
//
// The beginning of that file is removed when no job needs it (nodes/disk). Snapshots make that possible: the
// records of a snapshot hold all stored data of the job, with its vote and the entries behind the snapshot.
// Written separately, acknowledged entries would be cut off by a crash in between.
//
// A removed job stays known for ever, by tombstones. (A node that forgot it might vote in it as if it had
// never had it.) Records that list all removed jobs let old tombstones go.
//
// So reading may begin in the middle of a job, with entries or pieces of a snapshot whose beginning is gone.
// Readers ignore such pieces; a log in which no snapshot follows is damaged.

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "libdag/base/id_set.hpp"
#include "libdag/base/result.hpp"
#include "libdag/consensus/stored.hpp"
#include "libdag/log/format.hpp"

namespace dag::consensus {

/// A larger snapshot is split into records, since a record lies whole in a segment of the log.
inline constexpr std::size_t snapshot_piece_bytes = std::size_t{1} << 20;

/// A command lies in a single record, and so in a single segment: a larger command cannot be logged, and no
/// replica may propose it.
inline constexpr std::size_t command_bytes_max = (std::size_t{64} << 20) - 8192;

/// Makes a record for a vote, for each entry, and for each piece of a snapshot. `after` is the stored state
/// with this change. The payload is valid only during the call.
void each_record(JobId job, const StoredChange& change, const Stored& after,
                 const std::function<void(const log::Record&)>& append);
/// Everything written for this job before is not needed any more.
log::Record tombstone(JobId job);
/// Replaces all earlier tombstones, which may then be removed. The payload is valid only during the call.
void forgotten_record(const IdSet& jobs, const std::function<void(const log::Record&)>& append);

/// Rebuilds the stored state of all jobs of a node from its log, record by record.
class StoredLogs {
 public:
  /// log_damaged: the record cannot follow those before it; this code did not write it. `segment` is where
  /// the record lies.
  Status take(const log::Record& record, std::uint64_t segment = 0);
  /// The oldest segment that each job needs.
  std::map<JobId, std::uint64_t> segments_needed() const;
  /// Jobs that were removed.
  const IdSet& forgotten() const { return forgotten_; }
  /// The oldest segment needed to know the removed jobs; none when there are none.
  std::optional<std::uint64_t> forgotten_segment() const { return forgotten_segment_; }
  /// The state of jobs that were begun or voted in here. log_damaged: the beginning of a job's log is lost.
  Result<std::map<JobId, Stored>> release();

 private:
  /// A snapshot with missing pieces. If the next record of its job is not the next piece, the process died
  /// while writing: the snapshot is ignored.
  struct Coming {
    Index index = 0;
    Term term = 0;
    std::uint64_t size_bytes = 0, segment = 0;
    std::vector<std::byte> bytes;
  };
  struct Log {
    Stored stored;
    std::optional<Coming> coming;
    /// A record was read, other than the rest of a snapshot whose beginning is gone.
    bool begun = false;
    /// Entries came before any snapshot.
    bool headless = false;
    /// Segment of the newest snapshot's first record, or of the newest vote if there is no snapshot.
    std::uint64_t segment = 0;
  };

  Status take_forgotten(const log::Record& record, std::uint64_t segment);
  static Status take_vote(Log& log, const log::Record& record, std::uint64_t segment);
  static Status take_piece(Log& log, const log::Record& record, std::uint64_t segment);
  static Status take_snapshot(Log& log, const log::Record& record, const Coming& whole);
  static Status take_entry(Log& log, const log::Record& record);

  std::map<JobId, Log> logs_;
  IdSet forgotten_;
  std::optional<std::uint64_t> forgotten_segment_;
};

}  // namespace dag::consensus
