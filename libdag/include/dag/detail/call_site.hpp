#pragma once
// A place in a program that adds tasks. Most graphs come from a few such places, in loops, and each makes
// tasks that differ in their inputs only: the Builder compares a task with the one before from the same
// place, and looks up nothing.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "dag/detail/fragment.hpp"

namespace dag::detail {

/// As `a == b`, without a call for the short names that tasks have.
inline bool equal_text(const std::string& a, std::string_view b) {
  const std::size_t size = b.size();
  if (a.size() != size) return false;
  const auto equal_words = [&]<class Word>(Word) {
    Word first_a, first_b, last_a, last_b;
    std::memcpy(&first_a, a.data(), sizeof(Word));
    std::memcpy(&first_b, b.data(), sizeof(Word));
    std::memcpy(&last_a, a.data() + size - sizeof(Word), sizeof(Word));
    std::memcpy(&last_b, b.data() + size - sizeof(Word), sizeof(Word));
    return ((first_a ^ first_b) | (last_a ^ last_b)) == 0;
  };
  if (size > 16) return std::memcmp(a.data(), b.data(), size) == 0;
  if (size >= 8) return equal_words(std::uint64_t{});
  if (size >= 4) return equal_words(std::uint32_t{});
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

/// Code and name of its tasks, and how the last of them came out.
struct CallSite {
  static constexpr std::size_t places = 16;

  Code code;
  std::uint32_t code_index = none, name_index = none;
  bool returns = false;
  Effects effects = Effects::undeclared;
  std::uint32_t first_policy = none;  ///< before options are set
  std::uint32_t kind = none;          ///< of the last task with this code and name

  /// The next task is likely to be of this kind, whose fields follow. None: nothing is expected.
  std::uint32_t expected = none;
  std::uint32_t policy = none;
  std::uint32_t first_argument = 0, end_argument = 0;

  /// Where a builder keeps it. Names are mostly literals: different addresses mostly mean different names,
  /// but only the text proves equality.
  static std::size_t place_of(std::string_view name, const Code& code) {
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(code.thunk) ^
                                  reinterpret_cast<std::uintptr_t>(code.function) * 3 ^
                                  reinterpret_cast<std::uintptr_t>(name.data()) * 5;
    return (address * 0x9E3779B97F4A7C15ULL) >> 60;
  }
  bool expects(const Code& other_code, bool other_returns, Effects other_effects) const {
    return expected != none && code == other_code && returns == other_returns && effects == other_effects;
  }
  /// The next task is compared with nothing.
  void forget_kinds() { kind = expected = first_policy = none; }
};

}  // namespace dag::detail
