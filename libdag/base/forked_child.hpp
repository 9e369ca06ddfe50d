#pragma once
// Detects a copy of the process, made by a kernel that forked. The copy has one thread and all shared memory,
// so it could speak in the name of its parent: it must not.

namespace dag {

/// Kernels are to run in this process: forks count from now on. A child that gets lanes of its own calls
/// this, too, and is a process like others.
void begin_running_kernels();

/// Costs two loads. Also true after clone() without CLONE_VM, and after a fork by a signal handler.
bool in_forked_child();

/// Ends the process at once, without destructors, handlers of exit() or output, if it is a forked child.
void end_forked_child();

}  // namespace dag
