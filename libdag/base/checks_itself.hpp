#pragma once
// When machines check their own invariants.

namespace dag {

/// True: the machines of this build check their invariants (check_invariants) before they give out effects,
/// so after every event. In other builds only the simulator asks for that.
#ifdef NDEBUG
inline constexpr bool checks_itself = false;
#else
inline constexpr bool checks_itself = true;
#endif

}  // namespace dag
