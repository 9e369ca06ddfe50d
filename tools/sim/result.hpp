#pragma once
// The result of a seed.

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

namespace dag::sim {

/// A condition that must always hold was violated.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct ChaosResult {
  std::uint64_t seed = 0;
  std::string violation;  ///< empty: none
  std::uint64_t events = 0;
  std::uint64_t trace_hash = 0;
  std::map<std::string, std::uint64_t> seen;
};

}  // namespace dag::sim
