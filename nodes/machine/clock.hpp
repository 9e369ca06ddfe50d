#pragma once
// The clock of all that runs in a process; machines get its time as an argument.

#include <chrono>

#include "libdag/base/time.hpp"

namespace dag {

inline Instant steady_now() { return {std::chrono::steady_clock::now().time_since_epoch()}; }

}  // namespace dag
