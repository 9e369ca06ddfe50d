#pragma once
// A node's disk under virtual time: the segments of its log as nodes/disk would write them, in memory. A
// batch is whole only when it has ended; a crash leaves any of the sectors of the batch under way.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "libdag/base/random.hpp"
#include "libdag/consensus/stored.hpp"
#include "libdag/log/log_machine.hpp"

namespace dag::sim {

class SimDisk {
 public:
  SimDisk() : SimDisk(0) {}
  explicit SimDisk(std::uint64_t id);

  std::uint64_t id() const { return id_; }
  /// To be written, with the replica's number.
  void append(std::uint64_t number, const consensus::StoredChange& change);
  /// False: nothing waits, or a batch is under way.
  bool begin_batch();
  /// Reports writes that are on the disk, by the replica's number of the last one.
  std::uint64_t end_batch();
  /// A write and a sync at once.
  void put(const consensus::StoredChange& change);

  /// The process has stopped: waiting writes are gone, and some sectors of the batch under way are there.
  void crash(Random& random);
  /// A bit that was on the disk before the last batch turns over. False: there is none.
  bool rot(Random& random);
  /// The content that a start finds. Nothing: the log is damaged, and says so. Throws Violation when the
  /// content differs from what was written, unless a batch was under way.
  std::optional<consensus::Stored> start();

  /// The content of the disk now, as a start would find it.
  const consensus::Stored& stored() const { return stored_; }

 private:
  void write(Random* tears);

  std::uint64_t id_;
  log::SegmentHead identity_;
  std::unique_ptr<log::LogMachine> machine_;  ///< replaced by each start
  std::map<std::uint64_t, std::vector<std::byte>> segments_;
  std::optional<log::Batch> batch_;
  log::Position batch_begins_;
  /// Begin of the last synced batch. Rot in it cannot be told from a torn write (libdag/log/format.hpp); rot
  /// before it must be found.
  log::Position sealed_;
  struct Waiting {
    std::uint64_t number = 0;           ///< the replica's
    std::uint64_t first = 0, last = 0;  ///< its records
    consensus::StoredChange change;
  };
  std::deque<Waiting> waiting_;
  std::uint64_t number_ = 0;
  consensus::Stored stored_, appended_;  ///< on the disk; and with waiting changes
  bool torn_ = false;                    ///< the last change may be there in part
};

}  // namespace dag::sim
