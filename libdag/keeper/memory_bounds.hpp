#pragma once
// Checks that there is memory for a job, before it begins and while it runs. Pure; nodes/machine/memory_watch
// reads the limits of this process and its machine.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dag/detail/fragment.hpp"
#include "dag/error.hpp"

namespace dag {

/// A memory limit of this process, and how much of it is used by all that share it. Bytes.
struct MemoryBound {
  std::string what;  ///< as in "2.0 GiB of this machine's memory"
  std::uint64_t limit = 0;
  std::uint64_t used = 0;
  bool of_addresses = false;  ///< memory that is freed and kept for use again counts as used
};

/// Memory of a job beside the outputs of its kernels, in bytes. Measured by `dag-bench memory` (least: all
/// tasks wait; the program of the graph is in it) and as the peak of jobs whose tasks all end at once (most).
struct JobMemory {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};
JobMemory memory_of_job(const detail::Fragment& graph);

/// Memory left by the tightest limit, beside a reserve for needs of jobs that are not foreseen. Bytes.
std::uint64_t memory_left(const std::vector<MemoryBound>& bounds);
/// True: `bytes` more fit in.
bool fits(const std::vector<MemoryBound>& bounds, std::uint64_t bytes);

/// memory_exhausted, naming the limit that a job meets; nothing when it could run.
std::optional<Error> refusal(const std::vector<MemoryBound>& bounds, std::uint64_t bytes);

/// memory_exhausted, when so little is left that a job must end before the kernel ends a process.
std::optional<Error> shortage(const std::vector<MemoryBound>& bounds);

}  // namespace dag
