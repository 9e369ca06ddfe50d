#pragma once
// The one thread that owns a node's log files. The replicas of all jobs of the node hand over writes
// (consensus::Write) and hear when they are on the disk; they never wait for the disk. Writes that come while
// one batch is being written are collected for the next batch, so one sync serves them all.
//
// Order: the first write handed over is on the disk first, and said first. A write that was said to be on the
// disk is there after any crash; others may be there as well. The end of this object leaves the same files as
// a crash would: there is no other kind of start.
//
// A full disk: nothing is lost, nothing is said to be written, and the thread tries again by itself. A disk
// that cannot be written for any other reason ends the process, as one that cannot be synced does.
//
// Which segments may go: a job needs nothing that lies before its newest snapshot, because the snapshot's
// records hold the vote and the entries behind it, too (libdag/consensus/records.hpp). A job without a
// snapshot needs its newest vote. A job that has written neither for long would keep its segment, and all
// behind it, so what is stored of it is written again, as a snapshot's records are, when the log has become
// too long for that (libdag/log/retention_machine.hpp). That is this object's own doing: it needs no replica
// that could make a newer one, none that leads, and none that hears a majority. It comes only with what is
// handed over, and behind it: a node that has nothing to write does not, and nobody waits for more than one
// batch, or one large job.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "actors/ports.hpp"
#include "libdag/base/id_set.hpp"
#include "libdag/base/result.hpp"
#include "libdag/base/time.hpp"
#include "libdag/consensus/stored.hpp"
#include "libdag/log/log_machine.hpp"
#include "libdag/log/retention_machine.hpp"
#include "nodes/disk/segment_files.hpp"

namespace dag {

class Store final : public RecordLog {
 public:
  /// Reads the log. `on_full` is called on the store's thread when the disk has become full, and when it no
  /// longer is. log_damaged: records on the disk are lost or unreadable, and the node needs another seat;
  /// configuration_invalid: the directory cannot be used; disk_full: not even for the start.
  static Result<std::unique_ptr<Store>> open(const std::filesystem::path& directory,
                                             const log::LogOptions& options = {},
                                             std::function<void(bool full)> on_full = {},
                                             Files& files = files_of_host());
  /// Writes the waiting orders, unless the disk is full.
  ~Store() override;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// The stored log of each job when this was opened; once.
  std::map<JobId, consensus::Stored> take_logs() { return std::move(found_); }
  /// The jobs that had been forgotten before this start, in this life or an earlier one.
  const IdSet& forgotten() const { return forgotten_at_start_; }
  /// The disk's number for consensus::Seat. Changes at each start until something has been written.
  std::uint64_t disk() const { return files_->identity().disk; }

  // ---- From any thread; none of these waits for the disk
  /// `written` is called on the store's thread when this and all before it are on the disk; it must not wait.
  /// Entries that a segment cannot hold, and a change that says nothing, are bugs of the caller.
  void write(JobId job, consensus::StoredChange change, std::function<void()> written) override;
  /// Nobody needs this job's log: after a start it is not there, unless the job is begun again. The store
  /// remembers that the job was forgotten.
  void forget(JobId job) override;
  /// The approximate size of orders that are not on the disk.
  std::size_t waiting_bytes() const { return waiting_bytes_; }
  static constexpr std::size_t waiting_bytes_max = std::size_t{64} << 20;
  /// More than that waits: a node that leads a job's record proposes nothing. Nothing else asks: a vote
  /// cannot wait, and messages of other nodes' leaders have their own limit
  /// (consensus::ReplicaOptions::bytes_in_flight_max).
  bool is_behind() const override { return waiting_bytes_ > waiting_bytes_max; }
  bool full() const { return full_; }
  /// A disk that completes no waiting order for longer than this is useless.
  static constexpr Duration stuck_after = std::chrono::seconds(2);
  bool stuck() const { return lag() > stuck_after; }
  /// Time since the disk last completed a waiting order; zero when nothing waits, or the disk is full.
  Duration lag() const;
  /// The longest lag since the last call, the present one included.
  Duration take_longest_lag();

 private:
  struct Order {
    JobId job;
    std::optional<consensus::StoredChange> change;  ///< nothing: forget the job
    std::function<void()> written;
    std::size_t size_bytes = 0;
  };
  /// An order whose records the LogMachine has.
  struct UnderWay {
    JobId job;
    std::uint64_t first = 0, last = 0;  ///< numbers of its records
    std::uint64_t segment = 0;          ///< where the first lies; 0: it is not on the disk
    /// With it on the disk the job needs nothing that lies before its first record.
    bool all_needed = false;
    bool forgotten = false;
    /// Repeats the list of all forgotten jobs.
    bool all_forgotten = false;
    std::function<void()> written;
    std::size_t size_bytes = 0;
  };

  /// The content of the files at the start.
  struct Found {
    std::map<JobId, consensus::Stored> logs;
    std::map<JobId, std::uint64_t> needed;
    IdSet forgotten;
    std::optional<std::uint64_t> forgotten_segment;
  };

  Store(std::unique_ptr<SegmentFiles> files, const log::LogOptions& options,
        std::function<void(bool full)> on_full, Found found);
  void hand_over(Order order);
  void run();
  bool take_orders();
  void append(Order order);
  void keep(JobId job, const consensus::StoredChange& change);
  void write_again();
  bool is_late(const Order& order) const;
  bool write_batch(const log::Batch& batch);
  void on_written(std::uint64_t segment);
  void say_forgotten_again();
  void release();
  void set_full(bool full);
  void prepare();

  const std::unique_ptr<SegmentFiles> files_;
  const log::LogOptions options_;
  const std::function<void(bool full)> on_full_;
  std::map<JobId, consensus::Stored> found_;
  const IdSet forgotten_at_start_;
  std::atomic<std::size_t> waiting_bytes_ = 0;
  std::atomic<bool> full_ = false;
  std::atomic<std::int64_t> longest_lag_ns_ = 0;
  std::atomic<std::int64_t> moved_at_ = 0;  ///< when the last batch was done, or the first order came to none
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Order> orders_;
  bool stopping_ = false;

  // ---- The thread's own
  log::LogMachine machine_;
  /// The stored log of each job: a snapshot's records need it. States and commands are shared with the
  /// replicas, not copied.
  std::map<JobId, consensus::Stored> logs_;
  std::deque<UnderWay> under_way_;
  log::RetentionMachine retention_;
  IdSet forgotten_;
  std::optional<std::uint64_t> forgotten_segment_;  ///< the oldest that is needed to know them
  std::uint64_t prepared_behind_ = 0;  ///< when this was the last segment, the next file was made
  std::thread thread_;                 ///< last: it uses all of the above
};

}  // namespace dag
