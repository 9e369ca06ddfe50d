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
#include <span>

#include "dag/codec.hpp"
#include "libdag/record/record.hpp"

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

class RecordRingReader {
 public:
  /// Throws Failure(value_invalid): this is no ring.
  explicit RecordRingReader(std::span<std::byte> memory);

  /// Visits the bytes of all records that have come since the last call, each a Record in dag/codec.hpp's
  /// form if the writer kept to it; they are valid only during the call. How many were dropped meanwhile.
  std::uint64_t take(const std::function<void(std::span<const std::byte>)>& visit);
  /// What was taken lies somewhere else: its room is the writer's again. Until then another reader finds it,
  /// if this one is killed.
  void done();
  /// The writer wrote what cannot be. Nothing more is read.
  bool broken() const { return broken_; }

 private:
  RecordRingHead* head_;
  std::span<std::byte> records_;
  std::uint64_t read_ = 0, dropped_ = 0;
  bool broken_ = false;
};

}  // namespace dag
