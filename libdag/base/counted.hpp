#pragma once
// A number of things, for people.

#include <cstdint>
#include <string>

namespace dag {

/// "1 process", "2 processes".
inline std::string counted(std::uint64_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}
/// "1 task", "2 tasks".
inline std::string counted(std::uint64_t count, const std::string& one) {
  return counted(count, one, one + "s");
}

}  // namespace dag
