#pragma once
// The end of a node's log that grows: collects records while a batch is being written, forms the next batch,
// begins a new segment when one is full. Bytes out; who writes and syncs them is nodes/disk.
//
// One batch is under way at a time (group commit): whoever drives this writes it, syncs the file, and says
// on_written. So when a record is on the disk, all before it are; that is what format.hpp's argument about
// damage rests on. It ends: each batch takes at least one record from the queue, and no record is appended
// that a segment cannot hold.
//
// A full disk loses nothing and ends nothing: on_full, and the same batch is formed again by the next call.
// Memory: what waits; producers see `waiting_bytes` and stop.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "libdag/log/format.hpp"

namespace dag::log {

struct LogOptions {
  std::size_t segment_bytes = std::size_t{64} << 20;
  std::size_t batch_bytes_max = std::size_t{1} << 20;
  /// How much older than it has to be the log may become before jobs are written again
  /// (retention_machine.hpp).
  std::size_t slack_bytes = std::size_t{64} << 20;
};

/// To be written at that place and synced.
struct Batch {
  std::uint64_t segment = 0;
  std::size_t offset = 0;  ///< 0: the segment begins here, and the bytes with its head
  std::vector<std::byte> bytes;
};

class LogMachine {
 public:
  /// `at` is where the log ended (recovery.hpp); Position{} for a new one. `identity` is the head of all its
  /// segments, but for number and chain.
  LogMachine(const SegmentHead& identity, const LogOptions& options, const Position& at);

  /// Payloads up to this size; more is a bug of the caller.
  std::size_t payload_bytes_max() const;
  /// The record's number, from 1 in each life of the log: see on_written. Copies the payload.
  std::uint64_t append(const Record& record);

  /// Nothing when one is under way, or nothing waits.
  std::optional<Batch> next_batch();
  /// The batch is on the disk. All records up to this number are.
  std::uint64_t on_written();
  /// There is no room for it, and nothing of it counts.
  void on_full();

  std::size_t waiting_bytes() const { return waiting_bytes_; }
  std::uint64_t written() const { return written_; }
  const Position& position() const { return at_; }

 private:
  struct Waiting {
    Record record;  ///< its payload lies in `payload`
    std::vector<std::byte> payload;
  };

  const SegmentHead identity_;
  const LogOptions options_;
  Position at_;  ///< behind the last batch that is on the disk
  std::deque<Waiting> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::uint64_t appended_ = 0, written_ = 0;
  /// Of the batch under way: where it ends, and how many of `waiting_` it holds.
  std::optional<Position> end_;
  std::size_t taken_ = 0;
};

}  // namespace dag::log
