#pragma once
// The file through which a process of a job records its events: a ring of events for each of its lanes, one
// for the log lines of kernels, and one for all else (libdag/journal/event_ring.hpp). Mapped by the process
// and by its node; its content outlives both. Decides how the rings lie in the file.

#include <algorithm>
#include <bit>
#include <mutex>
#include <optional>

#include "libdag/base/owned_file.hpp"
#include "libdag/journal/event_ring.hpp"
#include "libdag/journal/journal.hpp"
#include "libdag/journal/sink.hpp"
#include "nodes/disk/files.hpp"

namespace dag {

/// A mapping of the file.
class EventRings {
 public:
  /// Bytes of each of `count` rings. The node reads them every JournalLimits::write_every, or later when the
  /// lanes keep all cores busy: on two cores with three lanes it was half a second late now and then. A lane
  /// whose tasks take 10 us records some 3 MB in a second, and each ring of a process of up to six lanes has
  /// room for more than that. A process with very many lanes has as many cores.
  static constexpr std::size_t ring_bytes(std::size_t count) {
    constexpr std::size_t all_bytes = std::size_t{32} << 20, least = std::size_t{1} << 20;
    return std::clamp(std::bit_floor(all_bytes / std::max<std::size_t>(count, 1)), least, 8 * least);
  }
  /// Number of rings besides those of lanes: a kernel that logs much must not push decisions out of theirs.
  static constexpr std::size_t beside_lanes = 2;

  /// Makes a new file, with all its bytes: touching a page that the disk has no room for would kill the
  /// process. Error (disk_full): there is no room.
  static Result<EventRings> make(Files& files, const std::string& name, const JournalHead& head,
                                 std::size_t count);
  /// Opens a file that make() made. log_damaged: it is not one, or was cut.
  static Result<EventRings> open(OwnedFile file);

  EventRings(EventRings&& other) noexcept;
  EventRings& operator=(EventRings&&) = delete;
  ~EventRings();

  const JournalHead& head() const { return head_; }
  std::size_t count() const { return count_; }
  /// Below `count()`: the rings of lanes, then the one of kernels' log lines, then the one of other threads.
  std::span<std::byte> ring(std::size_t which) const {
    return memory_.subspan(which * ring_bytes(count_), ring_bytes(count_));
  }
  /// For the node: reads and writes the file, never through the mapping, since the process can cut the file
  /// at any moment. The reader must not outlive this.
  EventRingReader reader(std::size_t which) const;
  /// Open as long as this.
  int descriptor() const { return file_.number(); }

 private:
  EventRings(OwnedFile file, JournalHead head, std::size_t count, std::span<std::byte> memory)
      : file_(std::move(file)), head_(head), count_(count), memory_(memory) {}

  OwnedFile file_;
  JournalHead head_;
  std::size_t count_;
  std::span<std::byte> memory_;  ///< behind the first page
};

/// Writes into one ring, for all threads that are no lanes.
class RingEventSink final : public EventSink {
 public:
  explicit RingEventSink(std::span<std::byte> ring) : EventSink(Listens::beside_lanes), ring_(ring) {}
  void record(const JournalEvent& record) override {
    const std::lock_guard lock(mutex_);
    ring_.put(record);
  }
  void record_finished(const JournalEvent& many) override { record(many); }

 private:
  std::mutex mutex_;
  EventRingWriter ring_;
};

}  // namespace dag
