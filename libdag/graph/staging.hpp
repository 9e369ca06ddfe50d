#pragma once
// Tasks that stage files (Effects::staged) are two rows: one runs the kernel, as often as it must be, and its
// output holds the files; behind it one publishes them, when it is recorded which run of the kernel counts.

#include "dag/detail/fragment.hpp"

namespace dag {

/// Whether there is a task that is one and has to become two. Calls of job actors and members of families
/// cannot be: check() refuses them.
bool has_staged(const detail::Fragment& fragment);

/// The same graph with a kernel row behind the last task for each of those. Who publishes keeps the index:
/// whoever reads the output, follows the task or asks for it means that one.
detail::Fragment with_publishers(const detail::Fragment& fragment);

}  // namespace dag
