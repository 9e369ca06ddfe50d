#pragma once
// Limits how far the tasks of a job may spawn ahead of its record. Tasks that an attempt has spawned are in
// flight until the record has the attempt: until then they cost memory in the process of its home, and nobody
// can say how much there will be. A job has credit for so many tasks and bytes in flight in each process;
// without credit a lane waits before it hands over its kernel's spawned tasks
// (actors/lanes/spawn_credits.hpp), and a home starts and lends nothing.
//
// Credit comes back: a home tells the record of an attempt as soon as the ends that the attempt rests on are
// told (ledger.cpp), all of which have happened. So the record needs no task to run. If one of those ends
// turns out not to count, the attempt does not count either, and its spawned tasks vanish.

#include <cstdint>

#include "libdag/base/limits.hpp"
#include "libdag/graph/written_bytes.hpp"

namespace dag {

/// Tasks and bytes that were spawned.
struct SpawnLoad {
  std::uint64_t tasks = 0;
  std::uint64_t bytes = 0;  ///< about, as written

  SpawnLoad& operator+=(SpawnLoad other) {
    tasks += other.tasks;
    bytes += other.bytes;
    return *this;
  }
  SpawnLoad& operator-=(SpawnLoad other) {
    tasks -= other.tasks;
    bytes -= other.bytes;
    return *this;
  }
  bool operator==(const SpawnLoad&) const = default;
};

inline SpawnLoad load_of(const detail::Fragment& spawned) { return {spawned.size(), written_bytes(spawned)}; }

/// The limit of one job in each process. One attempt may spawn more: it needs only some credit to go ahead.
struct SpawnCredit {
  std::uint64_t tasks = 1u << 16;
  std::uint64_t bytes = limits::credit_bytes;

  bool left(SpawnLoad in_flight) const { return in_flight.tasks < tasks && in_flight.bytes < bytes; }
};

}  // namespace dag
