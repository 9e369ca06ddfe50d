#pragma once
// Corrects the inherited state of a process: ignored or blocked signals, missing descriptors, a limit of open
// files that is lower than necessary. A starter may have set any of them without knowing, and the program
// inherits them.

namespace dag {

/// For `dag` and `dagd`, before anything else: all signals get their usual effect, except an ignored SIGHUP
/// or SIGXFSZ: nohup, or a user who wants writes beyond a limit to fail, set these on purpose.
void put_right_what_we_were_started_with();

/// For programs with a Session, which may set signals on purpose: corrects only what kernels and their
/// processes need. An ignored SIGCHLD would hide how children ended; blocked faults would kill without a
/// message.
void put_right_for_kernels();

/// Closes all descriptors but 0 to 2, before the process opens any: a program that runs on must not hold a
/// lock or a pipe of its starter.
void close_files_of_starter();

}  // namespace dag
