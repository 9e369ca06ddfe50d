#pragma once
// A queue of records in memory that two processes share: one writer, one reader. Decides how records are laid
// out, published and taken. Others decide which thread writes and reads when (ring_carrier.hpp), which sleeps
// (bell.hpp) and where the memory comes from (shared_memory.hpp).
//
// **The other end is not trusted**: it may write anything, anywhere in the memory, at any time. Hence
//   * each side keeps its own position to itself and only announces it: an announcement is never read back;
//   * each value of the other side (its position, the head of a record) is read once, into a register, and
//     checked before it is used. Both positions count bytes since the beginning and only grow, so the valid
//     range of the writer's is [its last seen value, head + capacity], and of the reader's [its last seen
//     value, tail];
//   * a record is copied out before it is looked at, word by word with atomic loads: changes by the other
//     side meanwhile alter the bytes that are read, but neither their number
//     nor their place;
//   * the first contradiction breaks the ring for good. The side that finds it closes the link.
//
// Why a reader sees whole records only: a record's words are written before the tail that covers them is
// stored (release), and read after that tail was loaded (acquire). A writer that is killed midway has not
// published. Why nothing is overwritten while it is read: the reader's head is stored after the last copy,
// and the writer writes only where a head that it loaded allows.
//
// Positions are published with sequential consistency, not only release and acquire, since both sides
// announce something and then look whether the other sleeps or waits (bell.hpp). It costs one `xchg` per
// batch.

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "libdag/base/check.hpp"

namespace dag::ring {

/// The positions that the sides announce. Two cache lines apart, because the prefetcher takes lines in
/// pairs.
template <template <class> class Atomic>
struct Positions {
  /// Bytes ever published, by the writer.
  alignas(128) Atomic<std::uint64_t> tail{0};
  /// Bytes ever released, by the reader.
  alignas(128) Atomic<std::uint64_t> head{0};
  /// Not 0: the writer found no space and wants to be rung when there is. The reader clears it.
  alignas(128) Atomic<std::uint32_t> writer_waits{0};
};

/// A ring as one process sees it.
template <template <class> class Atomic>
struct View {
  Positions<Atomic>* positions = nullptr;
  Atomic<std::uint64_t>* words = nullptr;
  std::uint64_t capacity_bytes = 0;
};

inline constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

/// With its head half of the ring, so that one can be written while another is read.
constexpr std::uint64_t record_bytes_max(std::uint64_t capacity_bytes) {
  return capacity_bytes / 2 - word_bytes;
}
constexpr bool is_capacity(std::uint64_t bytes) {
  return std::has_single_bit(bytes) && bytes >= 32 && bytes <= (std::uint64_t{1} << 30);
}

/// The first word of a record. Its size counts this word and what follows, without the padding to whole
/// words, so memory that was never written is no record.
struct RecordHead {
  std::uint32_t size_bytes = 0;
  std::uint16_t kind = 0;
  std::uint16_t zero = 0;
};
static_assert(sizeof(RecordHead) == word_bytes);

/// A record that was taken out.
struct Record {
  std::uint16_t kind = 0;
  /// Aligned to words. Valid until the next one is taken.
  std::span<const std::byte> bytes;
};

enum class Wrote { written, full, broken };
enum class Took { record, empty, broken };

template <template <class> class Atomic>
class RingWriter {
 public:
  explicit RingWriter(const View<Atomic>& ring) : ring_(ring), mask_(ring.capacity_bytes / word_bytes - 1) {
    DAG_CHECK(is_capacity(ring.capacity_bytes));
  }

  /// Writes one record, `head` and `value` as one; not seen before publish(). `full`: nothing was written,
  /// what was written before stands.
  Wrote write(std::uint16_t kind, std::span<const std::byte> head, std::span<const std::byte> value = {}) {
    DAG_CHECK(value.empty() || head.size() % word_bytes == 0);
    const std::uint64_t size_bytes = word_bytes + head.size() + value.size();
    DAG_CHECK(size_bytes - word_bytes <= record_bytes_max(ring_.capacity_bytes));
    const std::uint64_t after = tail_ + (size_bytes + word_bytes - 1) / word_bytes * word_bytes;
    if (after - head_seen_ > ring_.capacity_bytes) {
      look_at_head();
      if (broken_) return Wrote::broken;
      if (after - head_seen_ > ring_.capacity_bytes) return Wrote::full;
    }
    put(tail_, std::bit_cast<std::uint64_t>(RecordHead{static_cast<std::uint32_t>(size_bytes), kind, 0}));
    put(tail_ + word_bytes, head);
    put(tail_ + word_bytes + head.size(), value);
    tail_ = after;
    return Wrote::written;
  }

  /// The reader may take what was written. False when there was nothing new.
  bool publish() {
    if (tail_ == published_) return false;
    published_ = tail_;
    ring_.positions->tail.store(tail_, std::memory_order_seq_cst);
    return true;
  }

  /// After `full`, with all published: asks to be rung when the reader has moved. True: it has already, try
  /// again.
  bool want_space() {
    DAG_CHECK(tail_ == published_);
    const std::uint64_t seen = head_seen_;
    ring_.positions->writer_waits.store(1, std::memory_order_seq_cst);
    look_at_head();
    return broken_ || head_seen_ != seen;
  }

  bool broken() const { return broken_; }

 private:
  void look_at_head() {
    const std::uint64_t head = ring_.positions->head.load(std::memory_order_seq_cst);
    // As a distance, a head that went back is huge.
    if (head - head_seen_ > published_ - head_seen_ || head % word_bytes != 0) {
      broken_ = true;
    } else {
      head_seen_ = head;
    }
  }

  void put(std::uint64_t at, std::uint64_t word) {
    ring_.words[at / word_bytes & mask_].store(word, std::memory_order_relaxed);
  }
  void put(std::uint64_t at, std::span<const std::byte> bytes) {
    std::size_t done = 0;
    for (; bytes.size() - done >= word_bytes; done += word_bytes) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data() + done, word_bytes);
      put(at + done, word);
    }
    if (done == bytes.size()) return;
    std::uint64_t last = 0;
    std::memcpy(&last, bytes.data() + done, bytes.size() - done);
    put(at + done, last);
  }

  View<Atomic> ring_;
  std::uint64_t mask_;
  std::uint64_t tail_ = 0;
  /// The part of tail_ that the reader may see.
  std::uint64_t published_ = 0;
  /// The reader's head when it was last looked at: only when the ring seems full.
  std::uint64_t head_seen_ = 0;
  bool broken_ = false;
};

template <template <class> class Atomic>
class RingReader {
 public:
  explicit RingReader(const View<Atomic>& ring)
      : ring_(ring),
        mask_(ring.capacity_bytes / word_bytes - 1),
        copy_words_(ring.capacity_bytes / 2 / word_bytes),
        copy_(std::make_unique_for_overwrite<std::uint64_t[]>(copy_words_)) {
    DAG_CHECK(is_capacity(ring.capacity_bytes));
  }

  /// Takes one record out.
  Took take(Record& record) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_seen_) {
      if (broken_) return Took::broken;
      const std::uint64_t tail = ring_.positions->tail.load(std::memory_order_seq_cst);
      if (tail == head) return Took::empty;
      if (tail - head > ring_.capacity_bytes || tail % word_bytes != 0) return broken();
      tail_seen_ = tail;
    }
    const auto header = std::bit_cast<RecordHead>(word(head));
    const std::uint64_t size_bytes = header.size_bytes;
    const std::uint64_t words = (size_bytes + word_bytes - 1) / word_bytes;
    if (size_bytes < word_bytes || words > copy_words_ || header.zero != 0 ||
        words * word_bytes > tail_seen_ - head) {
      return broken();
    }
    for (std::uint64_t i = 1; i < words; ++i) copy_[i] = word(head + i * word_bytes);
    head_.store(head + words * word_bytes, std::memory_order_relaxed);
    record.kind = header.kind;
    record.bytes =
        std::as_bytes(std::span(copy_.get(), copy_words_)).subspan(word_bytes, size_bytes - word_bytes);
    return Took::record;
  }

  /// The writer may reuse the space of taken records. True: it waits for that and must be rung.
  bool release() {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == released_) return false;
    released_ = head;
    ring_.positions->head.store(head, std::memory_order_seq_cst);
    auto& waits = ring_.positions->writer_waits;
    return waits.load(std::memory_order_seq_cst) != 0 && waits.exchange(0, std::memory_order_seq_cst) != 0;
  }

  /// True: there is a record to take. From any thread of this process.
  bool has_news() const {
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    // The next record is loaded together with the tail, not only after the tail has been read.
    __builtin_prefetch(&ring_.words[head / word_bytes & mask_]);
    return ring_.positions->tail.load(std::memory_order_seq_cst) != head;
  }

  /// Number of bytes ever taken. From any thread of this process.
  std::uint64_t taken_bytes() const { return head_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t word(std::uint64_t at) const {
    return ring_.words[at / word_bytes & mask_].load(std::memory_order_relaxed);
  }
  Took broken() {
    broken_ = true;
    tail_seen_ = head_.load(std::memory_order_relaxed);  // So that the next take comes to the same.
    return Took::broken;
  }

  View<Atomic> ring_;
  std::uint64_t mask_;
  /// Only has_news() and taken_bytes() read it from elsewhere; the announced one cannot be believed.
  std::atomic<std::uint64_t> head_{0};
  std::uint64_t released_ = 0;
  /// The writer's tail when it was last looked at: only when all before it was taken.
  std::uint64_t tail_seen_ = 0;
  bool broken_ = false;
  std::size_t copy_words_;
  /// Not initialised, so it takes memory only for the longest record so far.
  std::unique_ptr<std::uint64_t[]> copy_;
};

}  // namespace dag::ring
