#pragma once
// Whether a worker process is frozen: stopped by a signal or a debugger, or at a standstill because code of
// its job waits for ever for what the process itself has locked. Decides that from the beats in the page that
// it shares with its node, and from what the system says of its threads; what follows is for others.
//
// Nobody is taken for frozen who only gets no turn: a thread that waits for a processor, or for the disk, is
// in another state. And what the node itself slept through is not counted as the silence of others.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "libdag/base/time.hpp"

namespace dag {

/// As the system calls the states of a thread: R, S, D, T, t, Z; 0: there is none.
using ThreadState = char;

class FrozenWatch {
 public:
  /// A node looks so often.
  static constexpr Duration look_every = std::chrono::milliseconds(500);
  /// Who beats no more for so long, and is stopped or sleeps, is frozen. Membership and the leader of the job
  /// doubt others for longer than that, so nobody healthy has to go for one that is frozen.
  static constexpr Duration frozen_after = std::chrono::milliseconds(2000);

  /// `beats` 0: there is nothing to watch. `state` is asked for when it matters: of the thread that beats.
  /// Why it is frozen; empty: it is not.
  std::string_view look(std::uint64_t beats, const std::function<ThreadState()>& state, Instant now);

 private:
  std::uint64_t beats_ = 0;
  std::optional<Instant> looked_;
  Instant since_;
};

/// Of this host.
ThreadState state_of_thread(std::uint32_t process, std::uint32_t thread);

}  // namespace dag
