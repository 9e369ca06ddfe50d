#pragma once
// `--dag-check`: compares outputs of kernels in a process of their own with those in the program's process.
// Values differ if a kernel uses state of the program that does not travel, a global as a rule.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dag/detail/fragment.hpp"
#include "libdag/client/job_state.hpp"

namespace dag::detail {

struct ComparedRuns {
  std::uint32_t same = 0;
  /// Tasks whose output differs from run to run, so that nothing can be concluded.
  std::vector<std::uint32_t> varying;
  /// Tasks with another output or outcome in another process, although their inputs are the same.
  std::vector<std::uint32_t> differing;
};

/// Compares the ends of all tasks of `graph`, in order: two runs in the program's own process and
/// a run in another. A successor of a differing or varying task is in no list, unless it is the
/// same.
ComparedRuns compare_runs(const Fragment& graph, std::span<const Settlement> here,
                          std::span<const Settlement> again, std::span<const Settlement> elsewhere);

/// The error for a program whose job differs in another process; none when it does not.
std::optional<Error> told_of(const ComparedRuns& compared, const Fragment& graph,
                             std::span<const Settlement> here, std::span<const Settlement> elsewhere);

/// "12 tasks give the same in a process of their own".
std::string summary(const ComparedRuns& compared);

}  // namespace dag::detail
