#include "plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gpt {
namespace {

// The frame, in pixels.
constexpr double left = 64.0;
constexpr double right = 696.0;
constexpr double top = 48.0;
constexpr double bottom = 376.0;

std::string number(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string pixel(double value) { return number(value, 1); }

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        // XML knows no control characters.
        if (static_cast<unsigned char>(letter) >= 0x20U) safe += letter;
    }
  }
  return safe;
}

std::vector<PlotPoint> finite(const std::vector<PlotPoint>& points) {
  std::vector<PlotPoint> kept;
  std::copy_if(points.begin(), points.end(), std::back_inserter(kept),
               [](const PlotPoint& point) { return std::isfinite(point.step) && std::isfinite(point.loss); });
  return kept;
}

/// Ticks, and from data to pixels. The first and last tick are the ends of the axis.
struct Axis {
  std::vector<double> at;
  double first_pixel = 0.0;
  double last_pixel = 1.0;

  double place(double value) const {
    return first_pixel + (last_pixel - first_pixel) * (value - at.front()) / (at.back() - at.front());
  }
  /// Decimals that tell two ticks apart.
  int decimals() const { return std::max(0, static_cast<int>(std::ceil(-std::log10(at[1] - at[0]) - 1e-9))); }
};

struct Axes {
  Axis steps;
  Axis losses;
};

Axes make_axes(const std::vector<PlotPoint>& all) {
  double last_step = 1.0;
  double lowest = all.empty() ? 0.0 : all.front().loss;
  double highest = all.empty() ? 1.0 : all.front().loss;
  for (const PlotPoint& point : all) {
    last_step = std::max(last_step, point.step);
    lowest = std::min(lowest, point.loss);
    highest = std::max(highest, point.loss);
  }
  return {{ticks({0.0, last_step, 8}), left, right}, {ticks({lowest, highest, 6}), bottom, top}};
}

std::string text_at(PlotPoint place, const std::string& anchor, const std::string& text) {
  return "<text x=\"" + pixel(place.step) + "\" y=\"" + pixel(place.loss) + "\" text-anchor=\"" + anchor +
         "\">" + escaped(text) + "</text>\n";
}

std::string line(PlotPoint from, PlotPoint to, const std::string& style) {
  return "<line x1=\"" + pixel(from.step) + "\" y1=\"" + pixel(from.loss) + "\" x2=\"" + pixel(to.step) +
         "\" y2=\"" + pixel(to.loss) + "\" " + style + "/>\n";
}

std::string frame(const Axes& axes) {
  const std::string grid = "stroke=\"#ddd\"";
  const std::string ink = "stroke=\"#333\"";
  std::string svg;
  for (const double tick : axes.steps.at) {
    const double x = axes.steps.place(tick);
    svg += line({x, top}, {x, bottom}, grid) + line({x, bottom}, {x, bottom + 5.0}, ink) +
           text_at({x, bottom + 20.0}, "middle", number(tick, axes.steps.decimals()));
  }
  for (const double tick : axes.losses.at) {
    const double y = axes.losses.place(tick);
    svg += line({left, y}, {right, y}, grid) + line({left - 5.0, y}, {left, y}, ink) +
           text_at({left - 9.0, y + 4.0}, "end", number(tick, axes.losses.decimals()));
  }
  svg += line({left, bottom}, {right, bottom}, ink) + line({left, top}, {left, bottom}, ink);
  svg += text_at({(left + right) / 2.0, bottom + 42.0}, "middle", "step");
  svg += "<g transform=\"translate(18 " + pixel((top + bottom) / 2.0) + ") rotate(-90)\">" +
         "<text text-anchor=\"middle\">loss (nats per byte)</text></g>\n";
  return svg;
}

std::string curve(const std::vector<PlotPoint>& points, const Axes& axes, const std::string& style) {
  if (points.empty()) return "";
  std::string svg = "<polyline fill=\"none\" stroke-width=\"2\" " + style + " points=\"";
  for (const PlotPoint& point : points)
    svg += pixel(axes.steps.place(point.step)) + "," + pixel(axes.losses.place(point.loss)) + " ";
  svg.back() = '"';
  return svg + "/>\n";
}

std::string mark(PlotPoint place) {
  return "<circle cx=\"" + pixel(place.step) + "\" cy=\"" + pixel(place.loss) +
         "\" r=\"3.5\" fill=\"#b3401c\"/>\n";
}

constexpr const char* training_style = "stroke=\"#1f5fa8\"";
constexpr const char* validation_style = "stroke=\"#b3401c\" stroke-dasharray=\"6 4\"";

std::string legend() {
  const double x = right - 120.0;
  return line({x, top + 14.0}, {x + 28.0, top + 14.0}, std::string("stroke-width=\"2\" ") + training_style) +
         text_at({x + 36.0, top + 18.0}, "start", "training") +
         line({x, top + 34.0}, {x + 28.0, top + 34.0},
              std::string("stroke-width=\"2\" ") + validation_style) +
         mark({x + 14.0, top + 34.0}) + text_at({x + 36.0, top + 38.0}, "start", "validation");
}

}  // namespace

std::vector<double> ticks(const TickRange& range) {
  const double span = range.to > range.from ? range.to - range.from : 1.0;
  const double rough = span / std::max(1, range.wanted);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough * 0.999) step = factor * power;
  const double first = std::floor(range.from / step + 1e-9);
  std::vector<double> at;
  for (double i = first; at.size() < 2 || at.back() < range.from + span - step * 1e-9; i += 1.0)
    at.push_back(i * step);
  return at;
}

std::string to_svg(const Plot& plot) {
  const std::vector<PlotPoint> training = finite(plot.training);
  const std::vector<PlotPoint> validation = finite(plot.validation);
  std::vector<PlotPoint> all = training;
  all.insert(all.end(), validation.begin(), validation.end());
  const Axes axes = make_axes(all);

  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"440\" viewBox=\"0 0 720 440\" "
      "role=\"img\" "
      "font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">\n";
  svg += "<title>" + escaped(plot.title) + "</title>\n";
  svg += "<rect width=\"720\" height=\"440\" fill=\"#fff\"/>\n";
  svg += "<g font-size=\"16\">" + text_at({(left + right) / 2.0, 28.0}, "middle", plot.title) + "</g>\n";
  svg += frame(axes);
  svg += curve(training, axes, training_style) + curve(validation, axes, validation_style);
  for (const PlotPoint& point : validation)
    svg += mark({axes.steps.place(point.step), axes.losses.place(point.loss)});
  svg += all.empty() ? text_at({(left + right) / 2.0, (top + bottom) / 2.0}, "middle", "no losses yet")
                     : legend();
  return svg + "</svg>\n";
}

}  // namespace gpt
