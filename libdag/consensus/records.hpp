#pragma once
// A replica's changes as records of the node's log (libdag/log), and back: all logs of a node share one file.
//
// The beginning of that file goes when nobody needs it (nodes/disk). A snapshot is what lets it go: its
// records hold all that is stored of the job then, also its vote and the entries behind the snapshot. Not
// written again one by one: whoever dies in between would have cut off entries that it had acknowledged.
//
// That a job is not needed any more stays known for ever (a node that forgot it might vote in it as if it had
// never had it): by tombstones, and, so that old ones can go, by records of all that there were.
//
// So what is read may begin in the middle of a job, with entries, or pieces of a snapshot, whose beginning is
// gone. They count for nothing; a log in which no snapshot follows is damaged.

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "libdag/base/id_set.hpp"
#include "libdag/base/result.hpp"
#include "libdag/consensus/stored.hpp"
#include "libdag/log/format.hpp"

namespace dag::consensus {

/// A snapshot that is larger lies in several records: a segment of the log holds a record whole.
inline constexpr std::size_t snapshot_piece_bytes = std::size_t{1} << 20;

/// A command lies in one record, and so in one segment: a larger one no log takes, and no replica may
/// propose.
inline constexpr std::size_t command_bytes_max = (std::size_t{64} << 20) - 8192;

/// One record for a vote, one for each entry, one for each piece of a snapshot. `after` is what is stored
/// with this change. The payload is valid only during the call.
void each_record(JobId job, const StoredChange& change, const Stored& after,
                 const std::function<void(const log::Record&)>& append);
/// Says that nobody needs what was written for this job before.
log::Record tombstone(JobId job);
/// Says all that tombstones said: those before it may go. The payload is valid only during the call.
void forgotten_record(const IdSet& jobs, const std::function<void(const log::Record&)>& append);

/// What a node's log says of all its jobs, record by record, in their order.
class StoredLogs {
 public:
  /// log_damaged: what the record says cannot be, after those before it; it was not written by this code.
  /// `segment` is where it lies.
  Status take(const log::Record& record, std::uint64_t segment = 0);
  /// Of each job, the oldest segment in which something lies that it needs.
  std::map<JobId, std::uint64_t> segments_needed() const;
  /// Jobs that nobody needs any more.
  const IdSet& forgotten() const { return forgotten_; }
  /// The oldest segment that is needed to know them; nothing when there are none.
  std::optional<std::uint64_t> forgotten_segment() const { return forgotten_segment_; }
  /// What was begun here, or voted. log_damaged: the beginning of a job's log is lost.
  Result<std::map<JobId, Stored>> release();

 private:
  /// A snapshot of which not all pieces were read. When the next record of its job is not the next piece, the
  /// process died while it was written: it counts for nothing.
  struct Coming {
    Index index = 0;
    Term term = 0;
    std::uint64_t size_bytes = 0, segment = 0;
    std::vector<std::byte> bytes;
  };
  struct Log {
    Stored stored;
    std::optional<Coming> coming;
    /// Something was read but for the end of a snapshot whose beginning is gone.
    bool begun = false;
    /// There were entries before any snapshot.
    bool headless = false;
    /// Where the newest snapshot begins; the newest vote, if there is none.
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
