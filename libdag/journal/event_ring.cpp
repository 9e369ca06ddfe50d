#include "libdag/journal/event_ring.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "libdag/base/check.hpp"
#include "libdag/journal/event_bytes.hpp"

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

Error no_ring() { return {ErrorCode::value_invalid, "there is no ring of records"}; }

EventRingHead* head_in(std::span<std::byte> memory) {
  auto* head = reinterpret_cast<EventRingHead*>(memory.data());
  const bool is_ring = memory.size() > sizeof(EventRingHead) && head->magic == ring_magic &&
                       head->capacity_bytes == memory.size() - sizeof(EventRingHead);
  if (!is_ring) throw Failure(no_ring());
  return head;
}

/// The counters are those of the head, at the beginning of a ring of memory that stays there.
class MappedBytes final : public EventRingBytes {
 public:
  explicit MappedBytes(std::span<std::byte> memory) : memory_(memory) { head_in(memory); }
  std::size_t size() const override { return memory_.size(); }
  bool copy(std::size_t at, std::span<std::byte> into) const override {
    if (at + into.size() > memory_.size()) return false;
    std::memcpy(into.data(), memory_.data() + at, into.size());
    return true;
  }
  std::optional<std::uint64_t> count(std::size_t at) const override {
    return at_of(at).load(std::memory_order_acquire);
  }
  bool set_count(std::size_t at, std::uint64_t count) override {
    at_of(at).store(count, std::memory_order_release);
    return true;
  }

 private:
  std::atomic_ref<std::uint64_t> at_of(std::size_t at) const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory_.data() + at));
  }
  std::span<std::byte> memory_;
};

}  // namespace

void make_event_ring(std::span<std::byte> memory) {
  DAG_CHECK(memory.size() >= sizeof(EventRingHead) + 64 && memory.size() % 8 == 0);
  auto* head = new (memory.data()) EventRingHead;
  head->capacity_bytes = memory.size() - sizeof(EventRingHead);
  head->magic = ring_magic;
}

EventRingWriter::EventRingWriter(std::span<std::byte> memory)
    : head_(head_in(memory)),
      records_(memory.subspan(sizeof(EventRingHead))),
      written_(head_->written.load()),
      read_(head_->read.load()) {}

void EventRingWriter::put(const JournalEvent& record) {
  if (const auto finished = finished_bytes(record)) return put(*finished);
  bytes_.clear();
  write_record(bytes_, record);
  put(bytes_.bytes());
}

void EventRingWriter::put(std::span<const std::byte> bytes) {
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

EventRingReader::EventRingReader(std::unique_ptr<EventRingBytes> bytes) : bytes_(std::move(bytes)) {
  const auto magic = bytes_->count(offsetof(EventRingHead, magic));
  const auto capacity = bytes_->count(offsetof(EventRingHead, capacity_bytes));
  const auto read = bytes_->count(offsetof(EventRingHead, read));
  if (magic != ring_magic || !capacity || !read || bytes_->size() <= sizeof(EventRingHead) ||
      *capacity != bytes_->size() - sizeof(EventRingHead)) {
    throw Failure(no_ring());
  }
  capacity_ = *capacity;
  read_ = *read;
}

EventRingReader::EventRingReader(std::span<std::byte> memory)
    : EventRingReader(std::make_unique<MappedBytes>(memory)) {}

std::uint64_t EventRingReader::take(const std::function<void(std::span<const std::byte>)>& visit) {
  const auto written = bytes_->count(offsetof(EventRingHead, written));
  const auto dropped = bytes_->count(offsetof(EventRingHead, dropped));
  broken_ =
      broken_ || !written || !dropped || *written - read_ > capacity_ || read_ % 8 != 0 || *written % 8 != 0;
  if (!broken_) take(*written, visit);
  if (broken_) return 0;
  return *dropped - std::exchange(dropped_, *dropped);
}

void EventRingReader::take(std::uint64_t written,
                           const std::function<void(std::span<const std::byte>)>& visit) {
  std::vector<std::byte> copied;
  std::uint64_t needed = 0;  ///< by the event that comes next, where that is known
  while (read_ != written) {
    const std::uint64_t at = read_ % capacity_;
    const std::uint64_t there = std::min(capacity_ - at, written - read_);
    broken_ = needed > there;
    if (broken_) return;
    copied.resize(std::min<std::uint64_t>(there, std::max<std::uint64_t>(copied_bytes, needed)));
    broken_ = !bytes_->copy(sizeof(EventRingHead) + at, copied);
    needed = 0;
    std::size_t taken = 0;
    while (!broken_ && taken < copied.size()) {
      std::uint32_t size = 0;  // Each entry begins at a multiple of 8, so its size is there.
      std::memcpy(&size, copied.data() + taken, sizeof size);
      if (size == rest_is_empty) {
        const std::uint64_t rest = capacity_ - at - taken;
        broken_ = rest > written - read_ - taken;
        taken = broken_ ? taken : taken + rest;
        break;
      }
      if (entry_bytes(size) > copied.size() - taken) {
        needed = entry_bytes(size);
        break;
      }
      visit(std::span(copied).subspan(taken + sizeof size, size));
      taken += entry_bytes(size);
    }
    read_ += taken;
    if (broken_) return;
  }
}

void EventRingReader::done() {
  broken_ = broken_ || !bytes_->set_count(offsetof(EventRingHead, read), read_);
}

}  // namespace dag
