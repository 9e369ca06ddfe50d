#pragma once
// How long tests wait for expected events. DAG_PATIENCE, a factor, scales every such wait: with 0.2 a test
// that waits in vain fails five times sooner, with 5 a slow machine has time.

#include <poll.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace dag::test {

/// Throws when `text` is no positive number.
inline double patience_factor(const char* text) {
  if (text == nullptr || *text == '\0') return 1;
  char* end = nullptr;
  const double factor = std::strtod(text, &end);
  if (*end != '\0' || !std::isfinite(factor) || factor <= 0) {
    throw std::runtime_error("DAG_PATIENCE is '" + std::string(text) +
                             "', but must be a number above 0, such as 0.2");
  }
  return factor;
}

/// A limit of a wait, scaled by DAG_PATIENCE.
inline std::chrono::milliseconds patient(std::chrono::milliseconds limit) {
  static const double factor = patience_factor(std::getenv("DAG_PATIENCE"));
  return std::chrono::duration_cast<std::chrono::milliseconds>(limit * factor);
}

/// As poll() takes it.
inline int patient_ms(std::chrono::milliseconds limit) { return static_cast<int>(patient(limit).count()); }

/// Limit for processes: two cores may be shared with a compiler.
constexpr std::chrono::milliseconds for_processes = std::chrono::seconds(300);

/// Looks until the condition holds; false when it does not within the limit, which DAG_PATIENCE scales.
template <class Holds>
bool comes_true(Holds holds, std::chrono::milliseconds limit = for_processes) {
  using Clock = std::chrono::steady_clock;
  constexpr int between_looks_ms = 5;  // Leaves the core to the process that is waited for.
  for (const auto end = Clock::now() + patient(limit); !holds();) {
    if (Clock::now() > end) return false;
    poll(nullptr, 0, between_looks_ms);
  }
  return true;
}

}  // namespace dag::test
