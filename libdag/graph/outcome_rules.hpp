#pragma once
// THE definition of a task's outcome once all its predecessors have ended. Homes apply it; the oracle
// of the tests (tests/support/oracle.hpp) defines it independently. Edges and tries are decided
// elsewhere.
//
// 1. An in-edge is good, off or bad, by how its predecessor ended:
//
//                  finished                         skipped   failed   cancelled
//    strong        good                             off       bad      bad
//    conditional   condition holds: good, else off  off       bad      bad
//    weak          neither: it only orders
//
// 2. The join looks at the strong and conditional in-edges, all of them together:
//
//    all           any bad: cancel;             else any off: skip;  else pass
//    one_success   any good: pass;              else any bad: cancel;  else skip
//    none_failed   any bad: cancel;             else pass
//
//    A task without strong or conditional in-edges passes every join.
//
// 3. A task that passed the join needs its arguments, else it is skipped (never cancelled: only the join
// cancels):
//
//    literal, maybe   always there
//    input, gather    every predecessor named must have finished
//    quorum           at least `quorum` of its predecessors must have finished
//
// 4. A task that is to run is tried until one attempt returns (finished) or the last allowed one fails
// (failed).
//    An attempt that returned a spawned task's handle ends as that task ends, with its output; it is not
//    tried again. Tasks spawned by a failed attempt do not exist.

#include <cstdint>
#include <span>

#include "dag/detail/fragment.hpp"
#include "dag/options.hpp"

namespace dag {

/// An in-edge whose predecessor has ended.
struct EdgeResult {
  detail::EdgeKind kind = detail::EdgeKind::strong;
  Outcome outcome = Outcome::none;  ///< of the predecessor
  bool condition = true;            ///< the predicate's result, for conditional edges
  bool operator==(const EdgeResult&) const = default;
};

enum class Decision : std::uint8_t { run, skip, cancel };

/// `in_edges` are in the order of the Fragment, which `arguments` refer to.
Decision decide(Join join, std::span<const EdgeResult> in_edges, std::span<const detail::Argument> arguments);

}  // namespace dag
