#pragma once
// How records lie in the segments of a node's log, and what can be told of damage. Bytes in, bytes
// out; which bytes are written when is log_machine.hpp's.
//
// A segment is a file of a fixed size that is written with zeros once and used again and again: a head in its
// first block, then records, one behind the other, each on a border of 8 bytes:
//
//   head     magic, node, disk, number, chain at its beginning, XXH3 of these
//   record   size, term, job, index, chain, batch, segment, type, XXH3 of these; payload; XXH3 of the
//            payload, seeded with the one before it
//
// `chain` is a hash over all that lies before, in all segments; so a record that was left from an earlier use
// of the file, or put into another place, is not taken for one. `batch` is where the batch begins that it was
// written with.
//
// Torn or damaged? A batch is written when the one before it is on the disk. So when something at X cannot be
// read, and behind it lies a record whose batch begins behind X, then X was on the disk once and is lost: the
// segment is damaged. Without such a record X belongs to the last batch, which may not have been on the disk
// when the machine stopped: it is torn, and the log ends before it. (A last batch that was on the disk and
// has rotted looks the same. Only other replicas know better.)

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/base/result.hpp"

namespace dag::log {

/// Where the first record lies.
inline constexpr std::size_t head_bytes = 4096;
/// What a record takes besides its payload.
inline constexpr std::size_t record_overhead_bytes = 64;
/// What a record with such a payload takes.
constexpr std::size_t record_bytes(std::size_t payload_bytes) {
  return record_overhead_bytes + (payload_bytes + 7) / 8 * 8;
}

struct SegmentHead {
  std::uint64_t node = 0;    ///< whose log it is; drawn when the log was made
  std::uint64_t disk = 0;    ///< drawn with each new data directory: a disk that came back empty is another
  std::uint64_t number = 0;  ///< from 1; a file that is used again gets a new one
  std::uint64_t chain = 0;   ///< where the last segment ended
  bool operator==(const SegmentHead&) const = default;
};

/// One entry of the log of one cell; all cells of a node share the file.
struct Record {
  JobId job;
  std::uint32_t term = 0;
  std::uint64_t index = 0;
  std::uint8_t type = 0;
  std::span<const std::byte> payload;
};

/// Where the next record goes.
struct Position {
  std::uint64_t segment = 0;
  std::size_t offset = head_bytes;
  std::uint64_t chain = 0;
  bool operator==(const Position&) const = default;
};

/// `head_bytes` long. It is there twice: a head that rotted would look like the end of the log.
std::vector<std::byte> encode_head(const SegmentHead& head);
/// log_damaged: it is no head.
Result<SegmentHead> read_head(std::span<const std::byte> segment);
/// Where a head should be there are zeros: it was not on the disk yet.
bool has_no_head(std::span<const std::byte> segment);
/// Where the first record of the segment goes.
Position begin_of(const SegmentHead& head);

/// Appends the record as it lies at `at`, which moves behind it. `batch` is where its batch begins.
void encode(const Record& record, std::size_t batch, Position& at, std::vector<std::byte>& bytes);

struct Scan {
  Position at;  ///< behind the last record that was visited
  /// Something behind it was on the disk once and is lost. Else nothing is, or the batch that was being
  /// written.
  bool damaged = false;
  /// Behind it lie whole records of a batch that was torn. To be wiped before anything is written there: when
  /// the lost records before them are written again as they were, they would follow them.
  bool remains = false;
};
/// Visits the records in their order, as far as they can be read. `segment` is the whole file; its head has
/// been read.
Scan scan(const SegmentHead& head, std::span<const std::byte> segment,
          const std::function<void(const Record&)>& visit);

}  // namespace dag::log
