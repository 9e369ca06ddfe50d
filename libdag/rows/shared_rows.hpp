#pragma once
// The rows of a home, which lanes share with it: they last until the home is gone and no lane is at them.

#include <cstddef>

#include "libdag/rows/gate.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

struct SharedRows {
  /// `lanes` may pass the gate.
  SharedRows(Representation representation, std::size_t lanes) : table(representation), gate(lanes) {}

  RowTable table;
  Gate gate;
};

}  // namespace dag
