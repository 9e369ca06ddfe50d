#pragma once
// Layout of records in the segments of a node's log, and detection of damage. Bytes in, bytes out;
// log_machine.hpp decides which bytes are written when.
//
// A segment is a file of a fixed size that is written with zeros once and reused: a head in its first block,
// then records, each aligned to 8 bytes:
//
//   head     magic, node, disk, number, chain at its beginning, XXH3 of these
//   record   size, term, job, index, chain, batch, segment, type, XXH3 of these; payload; XXH3 of the
//            payload, seeded with the one before it
//
// `chain` is a hash over everything before, in all segments, so a record left from an earlier use of the
// file, or moved to another place, is not accepted. `batch` is the beginning of the batch that the record was
// written with.
//
// Torn or damaged? A batch is written when the one before it is on the disk. So if bytes at X cannot be read,
// and behind X lies a record whose batch begins behind X, then X was on the disk once and is lost: the
// segment is damaged. Without such a record X belongs to the last batch, which may not have been on the disk
// when the machine stopped: it is torn, and the log ends before it. (A last batch that was on the disk and
// has rotted looks the same. Only other replicas can tell.)

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/base/result.hpp"

namespace dag::log {

/// Offset of the first record.
inline constexpr std::size_t head_bytes = 4096;
/// Size of a record besides its payload.
inline constexpr std::size_t record_overhead_bytes = 64;
/// Size of a record with such a payload.
constexpr std::size_t record_bytes(std::size_t payload_bytes) {
  return record_overhead_bytes + (payload_bytes + 7) / 8 * 8;
}

struct SegmentHead {
  std::uint64_t node = 0;    ///< owner of the log; drawn when the log was made
  std::uint64_t disk = 0;    ///< drawn with each data directory: an emptied disk is another disk
  std::uint64_t number = 0;  ///< from 1; a reused file gets a new one
  std::uint64_t chain = 0;   ///< at the end of the last segment
  bool operator==(const SegmentHead&) const = default;
};

/// An entry of a cell's log; all cells of a node share the file.
struct Record {
  JobId job;
  std::uint32_t term = 0;
  std::uint64_t index = 0;
  std::uint8_t type = 0;
  std::span<const std::byte> payload;
};

/// Place of the next record.
struct Position {
  std::uint64_t segment = 0;
  std::size_t offset = head_bytes;
  std::uint64_t chain = 0;
  bool operator==(const Position&) const = default;
};

/// `head_bytes` long, with two copies of the head: a head that rotted would look like the end of the log.
std::vector<std::byte> encode_head(const SegmentHead& head);
/// log_damaged: there is no head.
Result<SegmentHead> read_head(std::span<const std::byte> segment);
/// True: zeros in place of a head, which was not on the disk yet.
bool has_no_head(std::span<const std::byte> segment);
/// Place of the segment's first record.
Position begin_of(const SegmentHead& head);

/// Appends the record at `at`, which moves behind it. `batch` is the beginning of its batch.
void encode(const Record& record, std::size_t batch, Position& at, std::vector<std::byte>& bytes);

struct Scan {
  Position at;  ///< behind the last record that was visited
  /// True: bytes behind it were on the disk once and are lost. Else nothing is lost but the last batch, which
  /// was being written.
  bool damaged = false;
  /// Whole records of a torn batch lie behind it. Wipe them before anything is written there: if the lost
  /// records before them were written again unchanged, these records would follow them.
  bool remains = false;
};
/// Visits the records in order, as far as they can be read. `segment` is the whole file; its head has been
/// read.
Scan scan(const SegmentHead& head, std::span<const std::byte> segment,
          const std::function<void(const Record&)>& visit);

}  // namespace dag::log
