#pragma once
// What a mistyped word was meant to be.

#include <optional>
#include <string_view>
#include <vector>

namespace dag::detail {

/// The word that takes the fewest edits (Levenshtein) to become; the first of several. Empty when none is so
/// near that it can be meant: at most two edits, and fewer than the word has letters.
std::optional<std::string_view> nearest(std::string_view typed, const std::vector<std::string_view>& words);

}  // namespace dag::detail
