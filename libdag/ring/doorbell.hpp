#pragma once
// The bell of a process, in memory that its peers map: where its threads sleep, and what everybody rings who
// has something for them, its own threads included. One per process, however many peers it has: a thread that
// reads many rings and a queue sleeps in one place.

#include <new>

#include "libdag/ring/bell.hpp"
#include "libdag/ring/shared_memory.hpp"

namespace dag::ring {

class Doorbell {
 public:
  /// A process makes its own ...
  static Result<Doorbell> create(std::uint64_t nonce);
  /// ... and opens those of its peers, only to ring them.
  static Result<Doorbell> open(std::int32_t process, std::int32_t file, std::uint64_t nonce);

  /// What the calls mean, and in which order: bell.hpp.
  void prepare_wait() { bell().prepare_wait(); }
  void cancel_wait() { bell().cancel_wait(); }
  bool wait(Duration timeout) { return bell().wait(timeout); }
  /// What is to be found must have been stored with sequential consistency.
  void ring() { bell().ring(); }
  void ring_all() { bell().ring_all(); }

  std::uint64_t nonce() const { return nonce_; }
  int file() const { return memory_.file(); }

 private:
  Doorbell(SharedMemory memory, std::uint64_t nonce) : memory_(std::move(memory)), nonce_(nonce) {}
  Bell<std::atomic> bell() const {
    return Bell<std::atomic>(*std::launder(reinterpret_cast<std::atomic<std::uint32_t>*>(memory_.content())));
  }

  SharedMemory memory_;
  std::uint64_t nonce_;
};

}  // namespace dag::ring
