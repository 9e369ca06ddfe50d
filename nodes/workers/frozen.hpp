#pragma once
// Tells whether a worker process is frozen: stopped by a signal or a debugger, or at a standstill because
// code of its job waits for ever for a lock of the process itself. Decides that from the beats in the page
// that it shares with its node, and from the state of its threads; others act on it.
//
// A process that only gets no turn is not taken for frozen: a thread that waits for a processor, or for the
// disk, is in another state. Time that the node itself slept through does not count as silence of others.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "libdag/base/time.hpp"

namespace dag {

/// The system's letter for the state of a thread: R, S, D, T, t, Z; 0: there is none.
using ThreadState = char;

class FrozenWatch {
 public:
  /// The interval of a node's looks.
  static constexpr Duration look_every = std::chrono::milliseconds(500);
  /// A process without a beat for this long that is stopped or sleeps is frozen. Membership and the leader of
  /// the job doubt others for longer than that, so no healthy process has to go for one that is frozen.
  static constexpr Duration frozen_after = std::chrono::milliseconds(2000);

  /// `beats` 0: there is nothing to watch. `state` is called when it matters: the state of the beating
  /// thread. Returns why the process is frozen; empty: it is not.
  std::string_view look(std::uint64_t beats, const std::function<ThreadState()>& state, Instant now);

 private:
  std::uint64_t beats_ = 0;
  std::optional<Instant> looked_;
  Instant since_;
};

/// A thread of this host.
ThreadState state_of_thread(std::uint32_t process, std::uint32_t thread);

}  // namespace dag
