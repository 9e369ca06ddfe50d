#include "libdag/log/format.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "libdag/base/check.hpp"

namespace dag::log {
namespace {

constexpr std::size_t head_copies = 2;
constexpr std::uint64_t magic = 0x314745534741444C;  // "LDAGSEG1"

/// As they lie on the disk: every field on its natural border, no padding, little endian.
struct HeadOnDisk {
  std::uint64_t magic, node, disk, number, chain, check;
};
struct RecordOnDisk {
  std::uint32_t size, term;
  std::uint64_t job, index, chain;
  std::uint32_t batch, segment;
  std::uint64_t type;
  std::uint64_t check;
};
static_assert(sizeof(HeadOnDisk) == 48 && sizeof(RecordOnDisk) == 56);
static_assert(record_overhead_bytes == sizeof(RecordOnDisk) + sizeof(std::uint64_t));
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the log is little endian"
#endif

template <class T>
std::uint64_t check_of(const T& head) {
  return XXH3_64bits(&head, sizeof head - sizeof head.check);
}

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

template <class T>
T read_at(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::uint64_t next_chain(const RecordOnDisk& head, std::uint64_t sum) {
  return XXH3_64bits_withSeed(&head, sizeof head, sum);
}

/// Checksum of a payload, bound to its head: if two batches were torn at one place, the head of the first
/// must not match the payload of the second.
std::uint64_t sum_of(const RecordOnDisk& head, std::span<const std::byte> payload) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), head.check);
}

/// A record at this place with its segment's right number, whatever its chain.
std::optional<RecordOnDisk> record_at(std::span<const std::byte> segment, std::size_t offset,
                                      std::uint32_t number) {
  if (segment.size() - offset < record_overhead_bytes) return std::nullopt;
  const auto head = read_at<RecordOnDisk>(segment, offset);
  if (head.segment != number || head.type > 255)
    return std::nullopt;  // Before a hash is taken of each place.
  if (record_bytes(head.size) > segment.size() - offset || head.check != check_of(head)) return std::nullopt;
  const std::size_t payload = offset + sizeof head;
  const auto sum = read_at<std::uint64_t>(segment, offset + record_bytes(head.size) - sizeof(std::uint64_t));
  if (sum != sum_of(head, segment.subspan(payload, record_bytes(head.size) - record_overhead_bytes))) {
    return std::nullopt;
  }
  return head;
}

/// Looks behind the end of the readable records, for a record that proves damage (it was written after these
/// bytes were on the disk), or remains of a torn batch.
void look_behind(std::span<const std::byte> segment, std::uint32_t number, Scan& result) {
  const std::size_t end = result.at.offset;
  for (std::size_t at = end; at + record_overhead_bytes <= segment.size(); at += 8) {
    const auto record = record_at(segment, at, number);
    if (!record) continue;
    result.remains = true;
    if (at > end && record->batch > end) result.damaged = true;
    if (result.damaged) return;
  }
}

}  // namespace

std::vector<std::byte> encode_head(const SegmentHead& head) {
  HeadOnDisk on_disk{magic, head.node, head.disk, head.number, head.chain, 0};
  on_disk.check = check_of(on_disk);
  std::vector<std::byte> bytes;
  for (std::size_t copy = 0; copy < head_copies; ++copy) {
    bytes.resize(copy * (head_bytes / head_copies));
    append(bytes, on_disk);
  }
  bytes.resize(head_bytes);
  return bytes;
}

Result<SegmentHead> read_head(std::span<const std::byte> segment) {
  if (segment.size() < head_bytes) return Error{ErrorCode::log_damaged, "it is shorter than its head"};
  for (std::size_t copy = 0; copy < head_copies; ++copy) {
    const auto on_disk = read_at<HeadOnDisk>(segment, copy * (head_bytes / head_copies));
    if (on_disk.magic != magic || on_disk.check != check_of(on_disk)) continue;
    return SegmentHead{on_disk.node, on_disk.disk, on_disk.number, on_disk.chain};
  }
  return Error{ErrorCode::log_damaged, "it does not begin as a segment does"};
}

bool has_no_head(std::span<const std::byte> segment) {
  for (std::size_t copy = 0; copy < head_copies; ++copy) {
    const std::size_t offset = copy * (head_bytes / head_copies);
    if (segment.size() < offset + sizeof(HeadOnDisk)) return true;
    const auto place = segment.subspan(offset, sizeof(HeadOnDisk));
    if (std::all_of(place.begin(), place.end(), [](std::byte one) { return one == std::byte{0}; }))
      return true;
  }
  return false;
}

Position begin_of(const SegmentHead& head) {
  // Seeded with all that the head says: the same records in another segment are others.
  const std::uint64_t said[] = {head.node, head.disk, head.number, head.chain};
  return {head.number, head_bytes, XXH3_64bits(said, sizeof said)};
}

void encode(const Record& record, std::size_t batch, Position& at, std::vector<std::byte>& bytes) {
  DAG_CHECK(at.offset % 8 == 0);
  RecordOnDisk head{static_cast<std::uint32_t>(record.payload.size()),
                    record.term,
                    record.job.value,
                    record.index,
                    at.chain,
                    static_cast<std::uint32_t>(batch),
                    static_cast<std::uint32_t>(at.segment),
                    record.type,
                    0};
  head.check = check_of(head);
  append(bytes, head);
  const std::size_t payload = bytes.size();
  bytes.insert(bytes.end(), record.payload.begin(), record.payload.end());
  bytes.resize(payload + record_bytes(record.payload.size()) - record_overhead_bytes);
  const std::uint64_t sum = sum_of(head, std::span(bytes).subspan(payload));
  append(bytes, sum);
  at.offset += record_bytes(record.payload.size());
  at.chain = next_chain(head, sum);
}

Scan scan(const SegmentHead& head, std::span<const std::byte> segment,
          const std::function<void(const Record&)>& visit) {
  const auto number = static_cast<std::uint32_t>(head.number);
  Scan result;
  result.at = begin_of(head);
  Position& at = result.at;
  for (;;) {
    if (at.offset >= segment.size()) return result;
    const auto record = record_at(segment, at.offset, number);
    if (!record || record->chain != at.chain) break;
    const std::size_t bytes = record_bytes(record->size);
    const auto payload = segment.subspan(at.offset + sizeof(RecordOnDisk), record->size);
    visit(
        {JobId{record->job}, record->term, record->index, static_cast<std::uint8_t>(record->type), payload});
    at.chain =
        next_chain(*record, read_at<std::uint64_t>(segment, at.offset + bytes - sizeof(std::uint64_t)));
    at.offset += bytes;
  }
  look_behind(segment, number, result);
  return result;
}

}  // namespace dag::log
