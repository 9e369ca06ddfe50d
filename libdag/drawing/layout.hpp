#pragma once
// Places of a drawing's boxes: a column per depth, and inside a column by the mean place of the
// neighbours, swept to and fro (Sugiyama, Tagawa, Toda 1981, without their dummy nodes: a long edge may
// cross a box).

#include <vector>

#include "libdag/drawing/drawing.hpp"

namespace dag {

/// In pixels; y grows downwards.
struct Box {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

struct LayoutSpacing {
  int column_gap = 70;
  int row_gap = 16;
};

/// Keeps the sizes of `boxes` (one per node) and sets their places; no two overlap, none is at a negative
/// place.
void place(const Drawing& drawing, std::vector<Box>& boxes, const LayoutSpacing& spacing = {});

}  // namespace dag
