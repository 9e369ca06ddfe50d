#pragma once
// Whether there is memory for a job: asked before it begins, and again while it runs. Pure; who reads the
// limits of this process and of its machine is nodes/machine/memory_watch.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dag/detail/fragment.hpp"
#include "dag/error.hpp"

namespace dag {

/// One limit that this process is under, and how much of it is taken, by whoever shares it. Bytes.
struct MemoryBound {
  std::string what;  ///< as in "2.0 GiB of this machine's memory"
  std::uint64_t limit = 0;
  std::uint64_t used = 0;
  bool of_addresses = false;  ///< memory that is freed and kept for use again counts as used
};

/// What a job of this graph takes beside the outputs of its kernels, in bytes. Measured by `dag-bench memory`
/// (least: all its tasks wait) and as the peak of jobs whose tasks all end at once (most). Of families the
/// frontier is not known, so they count as the rest does only in `most`.
struct JobMemory {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};
JobMemory memory_of_job(const detail::Fragment& graph);

/// What the tightest of them leaves, beside what is kept for what jobs do not foresee. Bytes.
std::uint64_t memory_left(const std::vector<MemoryBound>& bounds);
/// Whether `bytes` more fit in.
bool fits(const std::vector<MemoryBound>& bounds, std::uint64_t bytes);

/// memory_exhausted, naming the limit that a job meets; nothing when it could run.
std::optional<Error> refusal(const std::vector<MemoryBound>& bounds, std::uint64_t bytes);

/// memory_exhausted, when so little is left that a job must end before the kernel ends a process.
std::optional<Error> shortage(const std::vector<MemoryBound>& bounds);

}  // namespace dag
