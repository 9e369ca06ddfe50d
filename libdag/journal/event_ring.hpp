#pragma once
// Events on their way from a process to the node that keeps its journal: a ring of bytes in memory that both
// have mapped. Decides the ring's layout. A thread of one process writes and a thread of another reads, and
// neither waits: events without room are counted as dropped. Written events survive the writer.
//
//   head      magic, number of bytes for events; bytes written and read since the beginning, number of
//             dropped events
//   events    size in bytes, the event (dag/codec.hpp), padding to the next multiple of 8; size ~0: the rest
//             up to the end of the ring is empty
//
// The reader trusts nothing: the writer is a process that runs kernels of users.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "dag/codec.hpp"
#include "libdag/journal/event.hpp"

namespace dag {

/// Lies in the shared memory; the other process changes it.
struct alignas(64) EventRingHead {
  std::uint64_t magic = 0, capacity_bytes = 0;
  alignas(64) std::atomic<std::uint64_t> written{0};
  std::atomic<std::uint64_t> dropped{0};
  alignas(64) std::atomic<std::uint64_t> read{0};
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
};

/// Makes an empty ring in this memory, which begins at a multiple of 64 and has room for the head and some
/// events.
void make_event_ring(std::span<std::byte> memory);

/// For one thread at a time. The memory must outlive it.
class EventRingWriter {
 public:
  /// `memory` was given to make_event_ring. Throws Failure(value_invalid) when it was not.
  explicit EventRingWriter(std::span<std::byte> memory);
  /// Takes some tens of nanoseconds, and allocates only for the first events.
  void put(const JournalEvent& record);

 private:
  void put(std::span<const std::byte> bytes);

  EventRingHead* head_;
  std::span<std::byte> records_;
  std::uint64_t written_ = 0, read_ = 0;  ///< as last read from the ring
  Writer bytes_;
};

/// A reader's access to the bytes of a ring. The writer may change them at any moment, or truncate their
/// file, so a reader works on copies.
class EventRingBytes {
 public:
  virtual ~EventRingBytes() = default;
  virtual std::size_t size() const = 0;
  /// False: the file has not so many bytes any more.
  virtual bool copy(std::size_t at, std::span<std::byte> into) const = 0;
  /// A counter of the head, read atomically.
  virtual std::optional<std::uint64_t> count(std::size_t at) const = 0;
  virtual bool set_count(std::size_t at, std::uint64_t count) = 0;
};

class EventRingReader {
 public:
  /// Throws Failure(value_invalid) when the bytes are no ring.
  explicit EventRingReader(std::unique_ptr<EventRingBytes> bytes);
  /// For memory that cannot be truncated meanwhile.
  explicit EventRingReader(std::span<std::byte> memory);

  /// Visits copies of all new events, in dag/codec.hpp's form if the writer kept to it; they are valid only
  /// during the call. Returns the number of events dropped since the last call.
  std::uint64_t take(const std::function<void(std::span<const std::byte>)>& visit);
  /// The events taken are stored elsewhere: the writer may reuse their room. Until then another reader finds
  /// them again, if this one is killed.
  void done();
  /// The writer wrote invalid bytes, or truncated the ring. Nothing more is read.
  bool broken() const { return broken_; }

  /// Copies this much at once; a longer event is copied alone.
  static constexpr std::size_t copied_bytes = std::size_t{64} << 10;

 private:
  void take(std::uint64_t written, const std::function<void(std::span<const std::byte>)>& visit);

  std::unique_ptr<EventRingBytes> bytes_;
  std::uint64_t capacity_ = 0;
  std::uint64_t read_ = 0, dropped_ = 0;
  bool broken_ = false;
};

}  // namespace dag
