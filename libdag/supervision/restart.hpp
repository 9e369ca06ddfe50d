#pragma once
// Decides which children restart when a child goes down, and when the fault is not local any more. Restart
// strategies are data (Erlang's supervisor is the model). The supervisor stops, starts and waits;
// group_machine.hpp is a group over its life; retry.hpp decides what a task's attempts cost; blame.hpp
// decides which attempt is charged for a dead process.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <variant>
#include <vector>

#include "dag/options.hpp"
#include "libdag/base/time.hpp"

namespace dag {

/// How a child ended.
enum class Exit : std::uint8_t {
  finished,   ///< Has done its work.
  failed,     ///< Its own fault, as far as is known: charged.
  lost,       ///< Its lane, process or node went down under it: never charged (promise P7).
  cancelled,  ///< We stopped it.
};
std::string_view name(Exit why);

/// Only faults of the child itself count against its limits.
inline bool is_charged(Exit why) { return why == Exit::failed; }

/// When a child that ended is started again.
enum class Restart : std::uint8_t { always, on_failure, never };

/// Names a child inside its group.
struct ChildId {
  std::uint32_t value = 0;
  auto operator<=>(const ChildId&) const = default;
};

struct ChildSpec {
  ChildId id;
  Restart restart = Restart::on_failure;
};

/// Children in the order in which they are started; they are stopped in the opposite order.
struct GroupSpec {
  Strategy strategy = Strategy::one_for_one;
  Intensity intensity = {};
  std::vector<ChildSpec> children;
};

/// The charged restarts of the last period. Holds at most `restarts` instants.
class RestartBudget {
 public:
  explicit RestartBudget(Intensity intensity) : intensity_(intensity) {}
  /// Takes a restart; false when the period's restarts are used up. `now` never goes back.
  bool spend(Instant now);
  std::uint32_t left(Instant now);
  const Intensity& intensity() const { return intensity_; }

 private:
  void forget_old(Instant now);
  Intensity intensity_;
  std::deque<Instant> spent_;  // Oldest first.
};

/// The child does not restart.
struct Forget {
  ChildId child;
  bool operator==(const Forget&) const = default;
};
/// Stop these (all of them still up, except the one that went down), in this order; then start those.
struct RestartChildren {
  std::vector<ChildId> stop;
  std::vector<ChildId> start;
  bool operator==(const RestartChildren&) const = default;
};
/// The fault is not local: the supervisor stops all its children and goes down itself.
struct Escalate {
  ChildId child;
  bool operator==(const Escalate&) const = default;
};
using Verdict = std::variant<Forget, RestartChildren, Escalate>;

/// Decides only; the caller (a group's home) stops and starts the children. A restart after a loss is free:
/// the place went away, not the child, and placement chooses the next place.
Verdict on_child_down(const GroupSpec& group, ChildId child, Exit why, RestartBudget& budget, Instant now);

}  // namespace dag
