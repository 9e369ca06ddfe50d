#pragma once
// Which processes there are that a kernel has started, as the kernel (Linux) lists them.

#include <sys/types.h>

#include <string_view>

namespace dag {

/// Whether a kernel of `process` has started processes that are still there: those of the process, and those
/// of them that lost their parent, which are its warden's.
bool has_descendants(pid_t warden, pid_t process);

/// Whether there is a process that the kernel of the calling thread has started, or may have. Children of the
/// threads whose name begins with `lanes` are those of other kernels. What has lost its parent may be
/// anybody's. For a process that has a warden.
bool may_have_left_processes(std::string_view lanes);

}  // namespace dag
