#pragma once
// Coordinates of the tasks of a family (Graph::family): points of a range, row by row.

#include <cstdint>

namespace dag {

/// Rows and columns, counted from 0. A sequence is a range of one column: `dag::Range{1000}`.
struct Range {
  std::uint32_t rows = 0;
  std::uint32_t columns = 1;
  bool operator==(const Range&) const = default;
};

/// A place in a range. The first parameter of a family's kernel.
struct Point {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  bool operator==(const Point&) const = default;
};

/// From a task of a family to an earlier one: in an earlier row, or in the same row and an earlier column.
struct Offset {
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  bool operator==(const Offset&) const = default;
};

}  // namespace dag
