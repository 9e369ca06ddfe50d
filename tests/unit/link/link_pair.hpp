#pragma once
// Two ends of a link and the worst carrier that still delivers something: it loses, repeats and
// reorders frames. The ends are modelled naively: a list of offered operations, and a list of delivered
// ones.

#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "libdag/base/random.hpp"
#include "libdag/link/link_machine.hpp"

namespace dag::link::test {

using Machine = LinkMachine<std::uint64_t>;

inline constexpr ClusterId cluster{7};
inline constexpr Life life_a{ProcessId{1}, Incarnation{3}};
inline constexpr Life life_b{ProcessId{2}, Incarnation{5}};
inline constexpr LinkEnds ends_a{cluster, life_a, life_b};
inline constexpr LinkEnds ends_b{cluster, life_b, life_a};

inline Instant at(std::int64_t microseconds) { return Instant{std::chrono::microseconds(microseconds)}; }

/// The effects of one kind, in order.
template <class Kind>
std::vector<Kind> only(const Machine::Effects& effects) {
  std::vector<Kind> found;
  for (const auto& effect : effects) {
    if (const Kind* kind = std::get_if<Kind>(&effect)) found.push_back(*kind);
  }
  return found;
}

using Sent = Send<std::uint64_t>;
using Delivered = Deliver<std::uint64_t>;

/// Hands a sent frame to the other end.
inline Machine::Effects pass(Machine& to, const Sent& frame, Instant now) {
  Machine::Effects effects;
  std::vector<std::uint64_t> operations;
  if (frame.batch) operations = frame.batch->operations;
  to.on_frame(frame.header, std::move(operations), now, effects);
  return effects;
}

struct Sins {
  double lose = 0;
  double repeat = 0;
  /// Up to this much later than the others.
  std::int64_t delay_us_max = 0;
};

/// Frames under way, by time of arrival.
class Carrier {
 public:
  void send(const Sent& frame, Instant now, const Sins& sins, Random& random) {
    for (int copy = 0; copy < (random.chance(sins.repeat) ? 2 : 1); ++copy) {
      if (random.chance(sins.lose)) continue;
      const auto delay =
          20 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(sins.delay_us_max) + 1));
      under_way_.emplace(now + std::chrono::microseconds(delay), frame);
    }
  }
  bool empty() const { return under_way_.empty(); }
  Instant next() const { return under_way_.begin()->first; }
  Sent take() {
    Sent frame = under_way_.begin()->second;
    under_way_.erase(under_way_.begin());
    return frame;
  }

 private:
  std::multimap<Instant, Sent> under_way_;
};

}  // namespace dag::link::test
