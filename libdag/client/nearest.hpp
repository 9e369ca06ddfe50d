#pragma once
// The word that was meant by a mistyped one.

#include <optional>
#include <string_view>
#include <vector>

namespace dag::detail {

/// The word with the smallest edit distance (Levenshtein); the first of several. Empty when no word is near:
/// at most two edits, and fewer edits than the word has letters.
std::optional<std::string_view> nearest(std::string_view typed, const std::vector<std::string_view>& words);

}  // namespace dag::detail
