#pragma once
// The growing end of a node's log: collects records while a batch is being written, forms the next batch,
// begins a new segment when one is full. Bytes out; nodes/disk writes and syncs them.
//
// A single batch is under way at a time (group commit): the driver writes it, syncs the file, and calls
// on_written. So when a record is on the disk, all earlier ones are; format.hpp's argument about damage rests
// on that. It ends: each batch takes at least one record from the queue, and no record is appended that a
// segment cannot hold.
//
// A full disk loses nothing and ends nothing: after on_full the next call forms the same batch again. Memory:
// the queue; producers watch `waiting_bytes` and stop.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "libdag/log/format.hpp"

namespace dag::log {

struct LogOptions {
  std::size_t segment_bytes = std::size_t{64} << 20;
  std::size_t batch_bytes_max = std::size_t{1} << 20;
  /// How much longer than necessary the log may become before jobs are written again
  /// (retention_machine.hpp).
  std::size_t slack_bytes = std::size_t{64} << 20;
};

/// To be written at this place and synced.
struct Batch {
  std::uint64_t segment = 0;
  std::size_t offset = 0;  ///< 0: a new segment, and the bytes begin with its head
  std::vector<std::byte> bytes;
};

class LogMachine {
 public:
  /// `at` is the end of the log (recovery.hpp); Position{} for a new log. `identity` is the head of all
  /// segments, except for number and chain.
  LogMachine(const SegmentHead& identity, const LogOptions& options, const Position& at);

  /// Limit of payloads; a larger payload is a bug of the caller.
  std::size_t payload_bytes_max() const;
  /// The record's number, from 1 in each life of the log: see on_written. Copies the payload.
  std::uint64_t append(const Record& record);

  /// None while a batch is under way, or when the queue is empty.
  std::optional<Batch> next_batch();
  /// The batch is on the disk. Returns the number of the last record there.
  std::uint64_t on_written();
  /// The disk has no room for the batch; no part of it counts.
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
  /// The batch under way: its end, and the number of its records in `waiting_`.
  std::optional<Position> end_;
  std::size_t taken_ = 0;
};

}  // namespace dag::log
