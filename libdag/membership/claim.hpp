#pragma once
// What one process says of another, and which of two claims holds. Decides only that; what follows from a
// claim is the MembershipMachine's.

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"

namespace dag {

/// Dead and left are for ever: that life of the process is over, whatever it says itself.
enum class MemberState : std::uint8_t { alive, suspect, dead, left };
std::string_view name(MemberState state);

/// Where a process listens; its own words, the same for a whole life. `HOST:PORT` each.
struct Endpoint {
  std::string control;
  std::string bulk;
  std::string web = {};  ///< HTTP; empty: it has none
  auto operator<=>(const Endpoint&) const = default;
};

/// One device of a node, as others need to know it to place tasks there.
struct DeviceLoad {
  std::string kind;  ///< "cpu", "cuda", ...
  std::uint32_t lanes = 0;
  std::uint32_t lanes_free = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_free_bytes = 0;
  /// Predicted run time of all that waits for it or runs on it, summed over its lanes.
  Duration backlog{0};
  /// What its lanes were inside of kernels since the node began, summed over them. Only nodes say it.
  Duration busy{0};
  auto operator<=>(const DeviceLoad&) const = default;
};

/// What a process gossips of what it has. A few beats old when it is read: a hint.
struct LoadSummary {
  std::vector<DeviceLoad> devices;
  /// Ready tasks that a thief could take.
  std::uint32_t tasks_ready = 0;
  /// Of the node's log of cells (consensus::Seat); 0: it holds no copies.
  std::uint64_t disk = 0;
  bool disk_full = false;   ///< so what it would promise waits until there is room
  bool disk_stuck = false;  ///< it has not taken for seconds what was handed to it: the same follows
  bool sick = false;        ///< it is there, and late in all that it does: it should lead nothing
  bool draining = false;    ///< the node is to go: nothing new is for it
  bool witness = false;     ///< it holds copies, so that there is a majority, and runs and leads nothing
  auto operator<=>(const LoadSummary&) const = default;
};

struct Claim {
  Life life;
  MemberState state = MemberState::alive;
  /// Grows with each heartbeat of the process itself, so a suspicion is refuted by any later sign of life,
  /// and the newest load wins. Others only repeat it.
  std::uint64_t beat = 0;
  Endpoint endpoint = {};
  LoadSummary load = {};
  bool operator==(const Claim&) const = default;
};

/// How one process hears another.
struct Hearing {
  Instant last;  ///< sign of life: a message from it, or news of one
  Duration round_trip{
      0};  ///< of a heartbeat and its answer, smoothed; zero: it is not ours to ask, or not measured yet
};
using Hearings = std::map<ProcessId, Hearing>;

/// A total order of the claims about one process: first the incarnation, which only the process itself can
/// raise; then whether that life is over; then the beat; on a tie the worse news. What follows makes it
/// total.
bool operator<(const Claim& a, const Claim& b);

/// Two processes may disagree about a third: this is the claim both hold once they have talked. It commutes
/// and associates, so neither the order nor the number of messages matters.
const Claim& stronger(const Claim& a, const Claim& b);

/// Neither dead nor left.
inline bool is_up(MemberState state) { return state == MemberState::alive || state == MemberState::suspect; }

}  // namespace dag
