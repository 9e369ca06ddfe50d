#pragma once
// A node's disk under virtual time, as nodes/disk writes its log: the records of all jobs one after the
// other. Waiting records are written in batches; a crash leaves a random number of records of the batch under
// way. (Sectors and bytes after a crash: sim_disk.hpp.)

#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "libdag/base/random.hpp"
#include "libdag/consensus/records.hpp"

namespace dag::sim {

class NodeDisk {
 public:
  explicit NodeDisk(std::uint64_t id = 0) : id_(id) {}

  /// For consensus::Seat.
  std::uint64_t id() const { return id_; }
  struct Found {
    std::map<JobId, consensus::Stored> logs;
    IdSet forgotten;
  };
  /// The content that a start finds. Throws Violation when it cannot be read.
  Found start();
  /// `written` is called when this and all before it are on the disk.
  void write(JobId job, const consensus::StoredChange& change, std::function<void()> written);
  void forget(JobId job);
  /// False: nothing waits, or a batch is under way.
  bool begin_batch();
  void end_batch();
  /// The process has stopped.
  void crash(Random& random);
  bool holds(JobId job) const { return logs_.contains(job); }

 private:
  struct Kept {
    log::Record record;  ///< its payload lies in `bytes`
    std::vector<std::byte> bytes;
  };
  void add(const log::Record& record);

  std::uint64_t id_;
  std::deque<Kept> records_;
  std::size_t written_ = 0;      ///< so many of them are on the disk
  std::size_t batch_until_ = 0;  ///< and so many when the batch under way is
  struct Waiting {
    std::size_t until = 0;
    std::function<void()> written;
  };
  std::deque<Waiting> waiting_;
  std::map<JobId, consensus::Stored> logs_;  ///< with all that waits
};

}  // namespace dag::sim
