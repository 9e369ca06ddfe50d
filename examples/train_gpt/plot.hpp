// A loss curve as one SVG file that needs nothing else: no script, no font, no network.
#pragma once

#include <string>
#include <vector>

namespace gpt {

struct PlotPoint {
  double step = 0.0;
  double loss = 0.0;
};

struct Plot {
  std::string title;
  std::vector<PlotPoint> training;  ///< a line
  std::vector<PlotPoint>
      validation;  ///< a dashed line with marks, so that colour is not all that tells them apart
};

/// The SVG's text. Points that are not finite are left out; without any point there are axes and a note.
std::string to_svg(const Plot& plot);

/// Round tick positions that cover [from, to] in steps of 1, 2 or 5 times a power of ten, about `wanted` of
/// them.
struct TickRange {
  double from = 0.0;
  double to = 1.0;
  int wanted = 6;
};
std::vector<double> ticks(const TickRange& range);

}  // namespace gpt
