#pragma once
// Numbers as people write them on a command line.

#include <charconv>
#include <string_view>

namespace dag::sim {

/// The whole text is one; else false, and `number` may be anything.
template <class Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace dag::sim
