#pragma once
// Limits of open files and of processes of this process, as they are now.

#include <cstdint>
#include <string>
#include <vector>

namespace dag {

struct ProcessLimit {
  std::string what;  ///< as in "512 processes (ulimit -u)"
  std::uint64_t limit = 0;
  std::uint64_t used = 0;  ///< processes and threads of all that share the limit
};

/// The soft limit of open files; 0: none.
std::uint64_t files_limit();

/// RLIMIT_NPROC, unless this user is above it, and pids.max of the control groups (version 2).
std::vector<ProcessLimit> process_limits();

}  // namespace dag
