#pragma once
// Sleep and wake-up of threads of this process or others: a word of memory, on which threads sleep by futex.
// Decides which thread is woken and that no wake is lost; others decide what to look at, and where the word
// lies (doorbell.hpp).
//
//   sleeper:  prepare_wait()      rings from now on are heard
//             look everywhere     found something: cancel_wait()
//             wait(timeout)       then look again, whatever it says
//   ringer:   store what there is to be found (seq_cst)
//             ring()
//
// Why no wake is lost: the sleeper announces itself in the word and then looks; the ringer stores and then
// looks at the word, all sequentially consistent. So one of them sees the other: the sleeper sees the stored
// data, or the ringer sees a sleeper and calls it.
//
// A call is a token: the ringer turns an announced sleeper into a call and wakes a thread; a waiting thread
// that finds a call takes it and goes on. So every sleeper costs at most one system call, however many rings
// come before it is awake, and a ring without sleepers costs a load of a line that no thread writes. Calls
// and announced sleepers together are the threads between prepare_wait() and their end of waiting. A thread
// that cancels or times out takes back an announcement rather than a call, so that a call stays for a
// sleeper; if there are only calls, all threads are awake, and it takes its own.
//
// Other processes can write the word. The worst they can do is a wake for nothing or a lost wake, so no
// thread sleeps longer than the timeout, and each loop has an end.
//
// A process has two bells (Bells): for its working threads, and for a thread that only listens and is called
// when no worker sleeps. Workers may be busy for long; so a called thread that does something else first
// passes the call on when there is more to look at, in the end to the listener.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "libdag/base/time.hpp"

namespace dag::ring {

/// Sleeps while the word is `expected`. False: it is not. True: slept until woken, the timeout, or a
/// signal.
bool sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t expected, Duration timeout);
void wake(std::atomic<std::uint32_t>& word, std::uint32_t count);

template <template <class> class Atomic>
class Bell {
 public:
  explicit Bell(Atomic<std::uint32_t>& word) : word_(&word) {}

  void prepare_wait() { word_->fetch_add(one_sleeper, std::memory_order_seq_cst); }

  void cancel_wait() {
    std::uint32_t word = word_->load(std::memory_order_seq_cst);
    for (int i = 0; i < attempts_max && word != 0; ++i) {
      if (change(word, sleepers(word) > 0 ? word - one_sleeper : word - one_call)) return;
    }
  }

  /// True when called. False: nothing is known.
  bool wait(Duration timeout) {
    for (int i = 0; i < attempts_max; ++i) {
      std::uint32_t word = word_->load(std::memory_order_seq_cst);
      if (calls(word) > 0) {
        if (change(word, word - one_call)) return true;
      } else if (sleep_on(*word_, word, timeout)) {
        break;
      }
    }
    std::uint32_t word = word_->load(std::memory_order_seq_cst);
    for (int i = 0; i < attempts_max && word != 0; ++i) {
      const bool called = calls(word) > 0;
      if (change(word, called ? word - one_call : word - one_sleeper)) return called;
    }
    return false;
  }

  /// Calls up to `count` sleepers; returns how many there were.
  std::uint32_t ring(std::uint32_t count = 1) {
    std::uint32_t word = word_->load(std::memory_order_seq_cst);
    for (int i = 0; i < attempts_max; ++i) {
      const std::uint32_t called = std::min(count, sleepers(word));
      if (called == 0) return 0;
      if (change(word, word - called * one_sleeper + called * one_call)) {
        wake(*word_, called);
        return called;
      }
    }
    wake(*word_, count);  // The word was overwritten. Sleepers who find no call look anyway.
    return count;
  }
  std::uint32_t ring_all() { return ring(sleepers_max); }
  /// Wakes all, whatever the word says, and calls none: when a ringer has died, perhaps between its call and
  /// the wake.
  void rouse() { wake(*word_, sleepers_max); }
  /// For a caller that rings only where it pays. Not ordered with anything.
  std::uint32_t look() const { return word_->load(std::memory_order_relaxed); }

  // Low half: announced sleepers that were not called. High half: calls that were not taken.
  static constexpr std::uint32_t sleepers_max = 0xffff;
  static constexpr std::uint32_t one_sleeper = 1;
  static constexpr std::uint32_t one_call = 0x1'0000;
  static std::uint32_t sleepers(std::uint32_t word) { return word & sleepers_max; }
  static std::uint32_t calls(std::uint32_t word) { return word / one_call; }

 private:
  /// Well-behaved threads never make each other fail as often as this.
  static constexpr int attempts_max = 1000;

  bool change(std::uint32_t& from, std::uint32_t to) {
    return word_->compare_exchange_strong(from, to, std::memory_order_seq_cst);
  }

  Atomic<std::uint32_t>* word_;
};

template <template <class> class Atomic>
struct Bells {
  Bell<Atomic> workers;
  Bell<Atomic> listener;

  void ring() {
    if (workers.ring() == 0) listener.ring();
  }
};

/// The words of both, apart from each other: each is read often and changed rarely.
struct BellWords {
  alignas(64) std::atomic<std::uint32_t> workers{0};
  alignas(64) std::atomic<std::uint32_t> listener{0};
  Bells<std::atomic> bells() { return {Bell<std::atomic>(workers), Bell<std::atomic>(listener)}; }
};

}  // namespace dag::ring
