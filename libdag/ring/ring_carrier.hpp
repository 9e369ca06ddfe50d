#pragma once
// Both directions between this process and a peer, for all lanes of this process. Decides which lane writes
// and which reads; knows neither what a record means nor what a link does with it.
//
// **One ring per ordered pair of processes**, and not one per lane: a process looks at as many rings as it
// has peers however many lanes they have, memory is 256 KiB per peer, the order of a link is the order of its
// ring, and the exchange at the beginning does not depend on lanes. The price is that lanes take turns: a
// writer waits for its turn (a batch of copies, microseconds at most; one uncontended exchange when no other
// lane writes), and a reader that finds another one reading goes on, as the other does the work. Turns are
// memory of this process alone: a peer that is killed or stopped holds none of ours.
//
// Nothing here blocks for the peer. A full ring is reported, the caller keeps its batch, and all threads of
// its process are rung when there is space: memory is bounded by the ring.

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

#include "libdag/ring/offer.hpp"

namespace dag::ring {

/// A lock for moments: spins a little, then sleeps.
class Turn {
 public:
  bool try_take() {
    return !taken_.test(std::memory_order_relaxed) && !taken_.test_and_set(std::memory_order_acquire);
  }
  void take();
  void give() {
    taken_.clear(std::memory_order_release);
    taken_.notify_one();
  }

 private:
  std::atomic_flag taken_;
};

enum class Polled {
  nothing,
  some,
  /// Another thread of this process has the turn.
  elsewhere,
  broken,
};

class RingCarrier {
 public:
  /// Our offer to the peer, and the peer's offer.
  RingCarrier(RingMemory inbox, Outbound outbound);
  RingCarrier(const RingCarrier&) = delete;
  RingCarrier& operator=(const RingCarrier&) = delete;

  /// A turn to write. publish() or the destructor publishes the records, and rings the peer if it sleeps: at
  /// most one system call each.
  class Batch {
   public:
    Batch(Batch&& other) noexcept : carrier_(std::exchange(other.carrier_, nullptr)) {}
    Batch& operator=(Batch&&) = delete;
    ~Batch() {
      if (carrier_ == nullptr) return;
      publish();
      carrier_->writing_.give();
    }

    /// `full`: earlier records are published; no part of this record was written.
    Wrote write(std::uint16_t kind, std::span<const std::byte> head, std::span<const std::byte> value = {});
    void publish();
    /// After `full`: our doorbell will be rung when there is space. True: there is already.
    bool want_space();

   private:
    friend class RingCarrier;
    explicit Batch(RingCarrier& carrier) : carrier_(&carrier) {}
    RingCarrier* carrier_;
  };
  Batch begin() {
    writing_.take();
    return Batch(*this);
  }

  /// Hands up to `records_max` records to `handle(const Record&)`, then lets the peer have their space.
  template <class Handle>
  Polled poll(std::size_t records_max, Handle&& handle) {
    if (!has_news()) return broken() ? Polled::broken : Polled::nothing;
    if (!reading_.try_take()) return Polled::elsewhere;
    const Reading reading{*this};
    Record record;
    std::size_t count = 0;
    Took took = Took::empty;
    while (count < records_max && (took = reader_.take(record)) == Took::record) {
      ++count;
      handle(record);
    }
    if (took == Took::broken) broken_.store(true, std::memory_order_relaxed);
    if (count > 0) return Polled::some;
    return took == Took::broken ? Polled::broken : Polled::nothing;
  }

  /// True: there are records to poll; for a thread that is about to sleep. From any thread.
  bool has_news() const { return !broken() && reader_.has_news(); }

  /// Number of bytes polled. If it stands still while there is news, no thread polls. From any thread.
  std::uint64_t polled_bytes() const { return reader_.taken_bytes(); }

  /// True: the peer broke the ring's rules. Final; the link is to be closed.
  bool broken() const { return broken_.load(std::memory_order_relaxed); }
  std::optional<Error> error() const;
  /// A complete record with impossible content: breaks the ring as well.
  void break_off() { broken_.store(true, std::memory_order_relaxed); }

  /// The longest record, without its head.
  std::size_t write_bytes_max() const { return write_bytes_max_; }

 private:
  struct Reading {
    RingCarrier& carrier;
    ~Reading() {
      if (carrier.reader_.release()) carrier.outbound_.doorbell.ring_all();
      carrier.reading_.give();
    }
  };

  RingMemory inbox_;
  Outbound outbound_;
  std::size_t write_bytes_max_;
  std::atomic<bool> broken_{false};
  alignas(128) Turn writing_;
  RingWriter<std::atomic> writer_;
  alignas(128) Turn reading_;
  RingReader<std::atomic> reader_;
};

}  // namespace dag::ring
