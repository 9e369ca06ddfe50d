#pragma once
// Sets of a home's rows as bits. 64 rows are one word, so that a home can handle rows of which there is
// little to say a word at a time.

#include <bit>
#include <cstdint>
#include <vector>

#include "libdag/graph/program.hpp"

namespace dag {

/// Rows of one word: bit b is row `64 * word + b`.
struct RowWord {
  std::uint32_t word = 0;
  std::uint64_t bits = 0;

  bool operator==(const RowWord&) const = default;
  RowIndex first() const { return word * 64; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(std::popcount(bits)); }
  /// Calls `visit` with each row, in their order.
  template <class Visit>
  void each(Visit&& visit) const {
    for (std::uint64_t left = bits; left != 0; left &= left - 1) {
      visit(first() + static_cast<RowIndex>(std::countr_zero(left)));
    }
  }
};

class RowSet {
 public:
  /// Makes room for rows below `rows`; those that are new are not in the set.
  void resize(RowIndex rows) { words_.resize((std::size_t{rows} + 63) / 64); }

  bool has(RowIndex row) const { return (words_[row / 64] >> row % 64 & 1) != 0; }
  void add(RowIndex row) { words_[row / 64] |= bit(row); }
  void remove(RowIndex row) { words_[row / 64] &= ~bit(row); }
  void add(RowWord some) { words_[some.word] |= some.bits; }
  /// The bits of one word.
  std::uint64_t operator[](std::uint32_t word) const { return words_[word]; }
  void set(RowWord all_of_word) { words_[all_of_word.word] = all_of_word.bits; }
  /// Takes a word's rows out.
  RowWord take(std::uint32_t word) {
    const RowWord taken{word, words_[word]};
    words_[word] = 0;
    return taken;
  }

 private:
  static std::uint64_t bit(RowIndex row) { return std::uint64_t{1} << row % 64; }

  std::vector<std::uint64_t> words_;
};

}  // namespace dag
