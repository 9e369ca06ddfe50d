#pragma once
// A process's claim about another, and which of two claims holds. Decides only that; the MembershipMachine
// decides what follows.

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"

namespace dag {

/// Dead and left are final: that life of the process is over, whatever it says itself.
enum class MemberState : std::uint8_t { alive, suspect, dead, left };
std::string_view name(MemberState state);

/// Addresses that a process listens at, by its own word; fixed for a life. `HOST:PORT` each.
struct Endpoint {
  std::string control;
  std::string bulk;
  std::string web = {};  ///< HTTP; empty: none
  auto operator<=>(const Endpoint&) const = default;
};

/// A device of a node, as others need to know it to place tasks there.
struct DeviceLoad {
  std::string kind;  ///< "cpu", "cuda", ...
  std::uint32_t lanes = 0;
  std::uint32_t lanes_free = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_free_bytes = 0;
  /// Predicted run time of all tasks queued or running on it, summed over its lanes.
  Duration backlog{0};
  /// Time that its lanes spent in kernels since the node began, summed over them. Nodes only.
  Duration busy{0};
  auto operator<=>(const DeviceLoad&) const = default;
};

/// Load that a process gossips. A few beats old when it is read: a hint.
struct LoadSummary {
  std::vector<DeviceLoad> devices;
  /// Ready tasks that may be stolen.
  std::uint32_t tasks_ready = 0;
  /// The disk of the node's log of cells (consensus::Seat); 0: it holds no copies.
  std::uint64_t disk = 0;
  bool disk_full = false;   ///< its promises wait until there is room
  bool disk_stuck = false;  ///< it has taken no writes for seconds: same effect
  bool sick = false;        ///< it is there, and late in all that it does: it should lead nothing
  bool draining = false;    ///< the node is leaving: nothing new is for it
  bool witness = false;     ///< it holds copies for a majority, and runs and leads nothing
  auto operator<=>(const LoadSummary&) const = default;
};

struct Claim {
  Life life;
  MemberState state = MemberState::alive;
  /// Grows with each heartbeat of the process itself, so any later sign of life refutes a suspicion, and the
  /// newest load wins. Others only repeat it.
  std::uint64_t beat = 0;
  Endpoint endpoint = {};
  LoadSummary load = {};
  bool operator==(const Claim&) const = default;
};

/// How a process hears another.
struct Hearing {
  Instant last;  ///< sign of life: a message from it, or news of one
  Duration round_trip{
      0};  ///< of a heartbeat and its answer, smoothed; zero: it is not ours to ask, or not measured yet
};
using Hearings = std::map<ProcessId, Hearing>;

/// A total order of the claims about a process: first the incarnation, which only the process itself can
/// raise; then whether that life is over; then the beat; on a tie the worse news. The remaining fields make
/// it total.
bool operator<(const Claim& a, const Claim& b);

/// Two processes may disagree about a third: both hold this claim once they have talked. It commutes and
/// associates, so neither the order nor the number of messages matters.
const Claim& stronger(const Claim& a, const Claim& b);

/// True: neither dead nor left.
inline bool is_up(MemberState state) { return state == MemberState::alive || state == MemberState::suspect; }

}  // namespace dag
