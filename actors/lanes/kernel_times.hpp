#pragma once
// A lane's estimate of a kernel's duration before it runs it: short, or perhaps long. Before a kernel that
// may be long a lane sends its report and gives away the rows in its queue.

#include <array>
#include <cstdint>

#include "dag/detail/fragment.hpp"

namespace dag {

/// A small cache from kernels to their durations in ticks, used by one lane's thread. Of two kernels in one
/// slot the newer is known. A kernel that is sometimes long is long: the estimate rises at once and falls
/// slowly.
class KernelTimes {
 public:
  struct Entry {
    detail::Code code = {};
    std::int64_t ticks = 0;
    bool known = false;
  };

  /// `ticks` of a kernel never seen is `unknown`.
  Entry& of(const detail::Code& code, std::int64_t unknown) {
    const auto key =
        reinterpret_cast<std::uintptr_t>(code.thunk) ^ (reinterpret_cast<std::uintptr_t>(code.function) >> 3);
    Entry& entry = entries_[(key * 0x9E3779B97F4A7C15ULL) >> 58];
    if (!(entry.code == code)) entry = {code, unknown, false};
    return entry;
  }
  static void ran(Entry& entry, std::int64_t ticks) {
    if (!entry.known || ticks > entry.ticks) {
      entry.ticks = ticks;
    } else {
      entry.ticks -= (entry.ticks - ticks) / 8;
    }
    entry.known = true;
  }

 private:
  std::array<Entry, 64> entries_;
};

}  // namespace dag
