#pragma once
// The bells of a process, in memory that its peers map: its threads sleep there, and every process with news
// for it rings there, its own threads included. A pair per process, however many peers it has: a thread that
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

  /// bell.hpp defines the calls and their order.
  Bells<std::atomic> bells() const {
    return std::launder(reinterpret_cast<BellWords*>(memory_.content()))->bells();
  }
  void prepare_wait() { bells().workers.prepare_wait(); }
  void cancel_wait() { bells().workers.cancel_wait(); }
  bool wait(Duration timeout) { return bells().workers.wait(timeout); }
  /// The news must have been stored with sequential consistency.
  void ring() { bells().ring(); }
  void ring_all() {
    bells().workers.ring_all();
    bells().listener.ring();
  }

  std::uint64_t nonce() const { return nonce_; }
  int file() const { return memory_.file(); }

 private:
  Doorbell(SharedMemory memory, std::uint64_t nonce) : memory_(std::move(memory)), nonce_(nonce) {}

  SharedMemory memory_;
  std::uint64_t nonce_;
};

}  // namespace dag::ring
