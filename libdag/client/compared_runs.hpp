#pragma once
// `--dag-check`: whether kernels give in a process of their own what they give in the program's. Those that
// do not use something of the program that does not travel, a global as a rule.

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
  /// Give another value each time they run, so nothing can be said of them.
  std::vector<std::uint32_t> varying;
  /// Give another value elsewhere, or end in another way, although what they were made from is the same.
  std::vector<std::uint32_t> differing;
};

/// Each has the endings of all tasks of `graph`, in their order: of two runs in the program's own process,
/// and of one in another. A task behind one that differs or varies is in none of the three, unless it is the
/// same.
ComparedRuns compare_runs(const Fragment& graph, std::span<const Settlement> here,
                          std::span<const Settlement> again, std::span<const Settlement> elsewhere);

/// Why the program's job is not the same elsewhere; none where it is.
std::optional<Error> told_of(const ComparedRuns& compared, const Fragment& graph,
                             std::span<const Settlement> here, std::span<const Settlement> elsewhere);

/// "12 tasks give the same in a process of their own".
std::string summary(const ComparedRuns& compared);

}  // namespace dag::detail
