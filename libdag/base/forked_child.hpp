#pragma once
// Whether this is a copy of the process, made by a kernel that forked. The copy has one thread and all of the
// memory that is shared with others, so it could speak in the name of its parent: it must not.

namespace dag {

/// Kernels are to run in this process: only forks from now on make what is meant here. A child that gets
/// lanes of its own calls it, too, and is a process like others.
void begin_running_kernels();

/// Costs two loads. Also true after clone() without CLONE_VM; by a signal handler, too.
bool in_forked_child();

/// Ends it at once, without destructors, handlers of exit() or output, if this is a forked child.
void end_forked_child();

}  // namespace dag
