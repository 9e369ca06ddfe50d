#include "libdag/client/nearest.hpp"

#include <algorithm>

namespace dag::detail {
namespace {

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view typed, const std::vector<std::string_view>& words) {
  constexpr std::size_t length_max = 64;  // Longer words are no typing errors; the table is of typed x word.
  if (typed.size() > length_max) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t fewest = 3;
  for (const std::string_view word : words) {
    const std::size_t count = edits(typed, word);
    if (count < std::min(fewest, word.size())) {
      fewest = count;
      best = word;
    }
  }
  return best;
}

}  // namespace dag::detail
