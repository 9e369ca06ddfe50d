#pragma once
// Records on their way from a process to the node that keeps its journal: a ring of bytes in memory that both
// have mapped. Decides how they lie in it. One thread writes, one thread reads, of whatever processes, and
// neither waits: what finds no room is counted. What was written stays there when the writer is killed.
//
//   head      magic, how many bytes there are for records; how many were written and read since the
//             beginning, how many records were dropped
//   records   size in bytes, the record (dag/codec.hpp), up to the next multiple of 8; size ~0: the rest up
//             to the end of the ring is empty
//
// The reader takes nothing on trust: the writer is a process that runs kernels of users.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "dag/codec.hpp"
#include "libdag/journal/record.hpp"

namespace dag {

/// In the memory. Others change it.
struct alignas(64) RecordRingHead {
  std::uint64_t magic = 0, capacity_bytes = 0;
  alignas(64) std::atomic<std::uint64_t> written{0};
  std::atomic<std::uint64_t> dropped{0};
  alignas(64) std::atomic<std::uint64_t> read{0};
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
};

/// Makes an empty ring of this memory, which begins at a multiple of 64 and has room for the head and some
/// records.
void make_record_ring(std::span<std::byte> memory);

/// For one thread at a time. The memory lasts longer.
class RecordRingWriter {
 public:
  /// Where make_record_ring was called. Throws Failure(value_invalid) when it was not.
  explicit RecordRingWriter(std::span<std::byte> memory);
  /// Some tens of nanoseconds; allocates nothing after the first ones.
  void put(const Record& record);

 private:
  void put(std::span<const std::byte> bytes);

  RecordRingHead* head_;
  std::span<std::byte> records_;
  std::uint64_t written_ = 0, read_ = 0;  ///< as far as we have seen
  Writer bytes_;
};

/// How a reader gets at the bytes of a ring. The writer may change them at any moment, or cut the file that
/// they lie in, so a reader works on copies.
class RecordRingBytes {
 public:
  virtual ~RecordRingBytes() = default;
  virtual std::size_t size() const = 0;
  /// False: there are not so many bytes any more.
  virtual bool copy(std::size_t at, std::span<std::byte> into) const = 0;
  /// A counter of the head, whole.
  virtual std::optional<std::uint64_t> count(std::size_t at) const = 0;
  virtual bool set_count(std::size_t at, std::uint64_t count) = 0;
};

class RecordRingReader {
 public:
  /// Throws Failure(value_invalid): this is no ring.
  explicit RecordRingReader(std::unique_ptr<RecordRingBytes> bytes);
  /// Of memory that nobody can take away meanwhile.
  explicit RecordRingReader(std::span<std::byte> memory);

  /// Visits copies of all records that have come since the last call, each a Record in dag/codec.hpp's
  /// form if the writer kept to it; they are valid only during the call. How many were dropped meanwhile.
  std::uint64_t take(const std::function<void(std::span<const std::byte>)>& visit);
  /// What was taken lies somewhere else: its room is the writer's again. Until then another reader finds it,
  /// if this one is killed.
  void done();
  /// The writer wrote what cannot be, or cut the ring. Nothing more is read.
  bool broken() const { return broken_; }

  /// So much is copied at once; a record that is longer is copied alone.
  static constexpr std::size_t copied_bytes = std::size_t{64} << 10;

 private:
  void take(std::uint64_t written, const std::function<void(std::span<const std::byte>)>& visit);

  std::unique_ptr<RecordRingBytes> bytes_;
  std::uint64_t capacity_ = 0;
  std::uint64_t read_ = 0, dropped_ = 0;
  bool broken_ = false;
};

}  // namespace dag
