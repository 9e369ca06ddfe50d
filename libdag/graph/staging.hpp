#pragma once
// A task that stages files (Effects::staged) becomes two rows: the first runs the kernel, as often as needed,
// and its output holds the files; the second publishes them when the run that counts is settled.

#include "dag/detail/fragment.hpp"

namespace dag {

/// True: some task stages files and must become two rows. Calls of job actors and members of families cannot:
/// check() refuses them.
bool has_staged(const detail::Fragment& fragment);

/// The graph with a kernel row for each of those tasks, behind the last task. The publishing row keeps the
/// task's index, which readers of the output, successors and clients refer to.
detail::Fragment with_publishers(const detail::Fragment& fragment);

}  // namespace dag
