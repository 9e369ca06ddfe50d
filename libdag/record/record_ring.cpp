#include "libdag/record/record_ring.hpp"

#include <cstring>

#include "libdag/base/check.hpp"
#include "libdag/record/record_bytes.hpp"

namespace dag {
namespace {

constexpr std::uint64_t ring_magic = 0x32474e4952474144;  // "DAGRING2"
constexpr std::uint32_t rest_is_empty = ~std::uint32_t{0};

constexpr std::uint64_t padded(std::uint64_t size_bytes) { return (size_bytes + 7) / 8 * 8; }
constexpr std::uint64_t entry_bytes(std::uint64_t record_bytes) {
  return padded(sizeof(std::uint32_t) + record_bytes);
}

void put_size(std::span<std::byte> records, std::uint64_t at, std::uint32_t size) {
  std::memcpy(records.data() + at, &size, sizeof size);
}

RecordRingHead* head_in(std::span<std::byte> memory) {
  auto* head = reinterpret_cast<RecordRingHead*>(memory.data());
  const bool is_ring = memory.size() > sizeof(RecordRingHead) && head->magic == ring_magic &&
                       head->capacity_bytes == memory.size() - sizeof(RecordRingHead);
  if (!is_ring) throw Failure({ErrorCode::value_invalid, "there is no ring of records"});
  return head;
}

}  // namespace

void make_record_ring(std::span<std::byte> memory) {
  DAG_CHECK(memory.size() >= sizeof(RecordRingHead) + 64 && memory.size() % 8 == 0);
  auto* head = new (memory.data()) RecordRingHead;
  head->capacity_bytes = memory.size() - sizeof(RecordRingHead);
  head->magic = ring_magic;
}

RecordRingWriter::RecordRingWriter(std::span<std::byte> memory)
    : head_(head_in(memory)),
      records_(memory.subspan(sizeof(RecordRingHead))),
      written_(head_->written.load()),
      read_(head_->read.load()) {}

void RecordRingWriter::put(const Record& record) {
  if (const auto finished = finished_bytes(record)) return put(*finished);
  bytes_.clear();
  write_record(bytes_, record);
  put(bytes_.bytes());
}

void RecordRingWriter::put(std::span<const std::byte> bytes) {
  const std::uint64_t size = entry_bytes(bytes.size());
  const std::uint64_t at = written_ % records_.size(), rest = records_.size() - at;
  // In one piece: the rest of the ring stays empty where it is too short.
  const std::uint64_t needed = size <= rest ? size : rest + size;
  if (written_ + needed - read_ > records_.size()) read_ = head_->read.load(std::memory_order_acquire);
  if (written_ + needed - read_ > records_.size()) {
    head_->dropped.store(head_->dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return;
  }
  if (size > rest) put_size(records_, at, rest_is_empty);
  const std::uint64_t begin = size <= rest ? at : 0;
  put_size(records_, begin, static_cast<std::uint32_t>(bytes.size()));
  std::memcpy(records_.data() + begin + sizeof(std::uint32_t), bytes.data(), bytes.size());
  written_ += needed;
  head_->written.store(written_, std::memory_order_release);
}

RecordRingReader::RecordRingReader(std::span<std::byte> memory)
    : head_(head_in(memory)), records_(memory.subspan(sizeof(RecordRingHead))), read_(head_->read.load()) {}

std::uint64_t RecordRingReader::take(const std::function<void(std::span<const std::byte>)>& visit) {
  const std::uint64_t written = head_->written.load(std::memory_order_acquire);
  broken_ = broken_ || written - read_ > records_.size() || read_ % 8 != 0;
  while (!broken_ && read_ != written) {
    const std::uint64_t at = read_ % records_.size(), rest = records_.size() - at;
    std::uint32_t size = 0;
    std::memcpy(&size, records_.data() + at, sizeof size);
    const std::uint64_t taken = size == rest_is_empty ? rest : entry_bytes(size);
    broken_ = taken > rest || taken > written - read_;
    if (broken_) break;
    if (size != rest_is_empty) visit(records_.subspan(at + sizeof size, size));
    read_ += taken;
  }
  if (broken_) read_ = written;
  const std::uint64_t dropped = head_->dropped.load(std::memory_order_relaxed);
  return dropped - std::exchange(dropped_, dropped);
}

void RecordRingReader::done() { head_->read.store(read_, std::memory_order_release); }

}  // namespace dag
