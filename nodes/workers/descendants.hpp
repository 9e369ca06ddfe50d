#pragma once
// The processes that a kernel has started, as Linux lists them.

#include <sys/types.h>

#include <string_view>

namespace dag {

/// True: kernels of `process` have started processes that are still there. These are children of the process,
/// or of its warden when they lost their parent.
bool has_descendants(pid_t warden, pid_t process);

/// True: the kernel of the calling thread may have started a process that is still there. Children of the
/// threads whose name begins with `lanes` belong to other kernels. A process that has lost its parent may be
/// anybody's. For a process that has a warden.
bool may_have_left_processes(std::string_view lanes);

}  // namespace dag
