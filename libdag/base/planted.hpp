#pragma once
// Bugs that are planted on purpose, for the simulator to find (tools/sim): each leaves out a rule of a
// machine. Only a build that was configured for it has them (DAG_PLANTED_BUGS); elsewhere the compiler
// removes them.

namespace dag {

#ifdef DAG_PLANTED_BUGS
inline constexpr bool has_planted_bugs = true;
#else
inline constexpr bool has_planted_bugs = false;
#endif

/// True: `bug` is the planted one.
template <class Planted>
constexpr bool is_planted(Planted planted, Planted bug) {
  return has_planted_bugs && planted == bug;
}

}  // namespace dag
