#pragma once
// What a process was started with, put right: signals that somebody ignored or blocked, descriptors that are
// missing, a limit of open files that is lower than it has to be. Whoever starts a program may do so with any
// of them, knows nothing of it, and the program inherits them.

namespace dag {

/// For `dag` and `dagd`, before anything else: all signals have their usual effect, but for a SIGHUP or
/// SIGXFSZ that is ignored: nohup, and whoever wants writes beyond a limit to fail, mean it.
void put_right_what_we_were_started_with();

/// For whoever makes a Session, which has its own wishes: only what kernels and their processes cannot do
/// without. SIGCHLD that is ignored would take away how children ended; faults that are blocked would kill
/// without a word.
void put_right_for_kernels();

/// Closes all descriptors but 0 to 2: a program that runs on must not hold a lock or a pipe of whoever
/// started it. Before it opens any.
void close_files_of_starter();

}  // namespace dag
