#pragma once
// How threads sleep until somebody, of this process or another, has something for them: one word of memory,
// on which they sleep by futex. Decides who is woken and that no wake is lost; leaves to others what there is
// to look at, and where the word lies (doorbell.hpp).
//
//   sleeper:  prepare_wait()      rings from now on are heard
//             look everywhere     found something: cancel_wait()
//             wait(timeout)       then look again, whatever it says
//   ringer:   store what there is to be found (seq_cst)
//             ring()
//
// Why no wake is lost: the sleeper announces itself in the word and then looks; the ringer stores and then
// looks at the word, all sequentially consistent. So one of them sees the other: the sleeper what was stored,
// or the ringer a sleeper, whom it calls.
//
// A call is a token: the ringer turns one announced sleeper into one call and wakes one; whoever waits and
// finds a call takes it and goes on. So every sleeper costs at most one system call, however many rings come
// before it is awake, and a ring with nobody asleep costs one load of a line that nobody writes. Calls and
// announced sleepers are together as many as there are threads between prepare_wait() and their end of
// waiting. Who cancels or has waited in vain takes back an announcement rather than a call, so that a call
// stays for one that sleeps; when there are only calls, everybody is awake, and it takes its own.
//
// Other processes can write the word. What they can do is to wake us for nothing or to swallow a wake; so
// nobody sleeps longer than the timeout, and each loop has an end.
//
// A process has two of them (Bells): one for the threads that do its work, and one for a thread that only
// listens and is called when none of those sleeps. All may be at work for long; so whoever is called and then
// does something else first passes the call on when there is more to look at, to the listener in the end.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "libdag/base/time.hpp"

namespace dag::ring {

/// Sleeps while the word is `expected`; false: it is not. True: slept until woken, or the timeout, or a
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

  /// Calls up to `count` sleepers; how many there were.
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
    wake(*word_, count);  // Somebody scribbles on the word. Sleepers who find no call look anyway.
    return count;
  }
  std::uint32_t ring_all() { return ring(sleepers_max); }
  /// Wakes all, whatever the word says, and calls nobody: when a ringer has died, perhaps between its call
  /// and the wake.
  void rouse() { wake(*word_, sleepers_max); }
  /// For who rings only where it pays. Not ordered with anything.
  std::uint32_t look() const { return word_->load(std::memory_order_relaxed); }

  // Low half: sleepers who announced themselves and were not called. High half: calls nobody has taken.
  static constexpr std::uint32_t sleepers_max = 0xffff;
  static constexpr std::uint32_t one_sleeper = 1;
  static constexpr std::uint32_t one_call = 0x1'0000;
  static std::uint32_t sleepers(std::uint32_t word) { return word & sleepers_max; }
  static std::uint32_t calls(std::uint32_t word) { return word / one_call; }

 private:
  /// Threads that mean well never make each other fail as often as this.
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

/// The words of both, apart from each other: each is read by many and changed rarely.
struct BellWords {
  alignas(64) std::atomic<std::uint32_t> workers{0};
  alignas(64) std::atomic<std::uint32_t> listener{0};
  Bells<std::atomic> bells() { return {Bell<std::atomic>(workers), Bell<std::atomic>(listener)}; }
};

}  // namespace dag::ring
