// A Drawing as SVG text.

#include <algorithm>
#include <array>

#include "libdag/drawing/drawing.hpp"
#include "libdag/drawing/layout.hpp"
#include "libdag/graph/text.hpp"

namespace dag {
namespace {

// In pixels. The font is not known here; most letters of 12 px sans-serif are narrower than this.
constexpr int letter_width = 7;
constexpr int line_height = 15;
constexpr int padding = 8;
constexpr int margin = 16;

std::vector<std::string> lines_of(const Drawing& drawing, const DrawnNode& node) {
  std::vector<std::string> lines{""};
  for (const char c : printable(node.label)) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  if (node.cluster != detail::none) lines.push_back("of " + printable(drawing.clusters[node.cluster]));
  return lines;
}

int letters(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

Box box_for(const std::vector<std::string>& lines) {
  Box box;
  for (const std::string& line : lines)
    box.width = std::max(box.width, letters(line) * letter_width + 2 * padding);
  box.height = static_cast<int>(lines.size()) * line_height + padding;
  return box;
}

std::string number(int value) { return std::to_string(value); }

std::string node_text(const DrawnNode& node, const Box& box, const std::vector<std::string>& lines) {
  constexpr std::array tints{"#e8f0fe", "#e6f4ea", "#fef7e0", "#fce8e6", "#f3e8fd", "#e4f7fb"};
  const char* fill = node.cluster == detail::none ? "#fff" : tints[node.cluster % tints.size()];
  const std::string rectangle = " width=\"" + number(box.width) + "\" height=\"" + number(box.height) +
                                "\" rx=\"5\" fill=\"" + fill + "\"" +
                                (node.marked ? " class=\"marked\"" : "") + "/>\n";
  std::string text;
  if (node.tasks > 1)
    text += "<rect x=\"" + number(box.x + 4) + "\" y=\"" + number(box.y + 4) + "\"" + rectangle;
  text += "<rect x=\"" + number(box.x) + "\" y=\"" + number(box.y) + "\"" + rectangle;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += "<text x=\"" + number(box.x + box.width / 2) + "\" y=\"" +
            number(box.y + static_cast<int>(i + 1) * line_height) + "\">" + xml_text(lines[i]) + "</text>\n";
  }
  return text;
}

std::string edge_text(const DrawnEdge& edge, const Box& from, const Box& to) {
  const int x1 = from.x + from.width;
  const int y1 = from.y + from.height / 2;
  const int x2 = to.x;
  const int y2 = to.y + to.height / 2;
  const int bend = std::max(30, (x2 - x1) / 2);  // also for edges that lead back
  const bool pale = !edge.data && edge.kind == detail::EdgeKind::strong;
  std::string classes = edge.marked ? "marked" : pale ? "pale" : "";
  if (edge.kind == detail::EdgeKind::weak) classes += " weak";
  if (edge.kind == detail::EdgeKind::conditional) classes += " conditional";
  std::string text = "<path d=\"M" + number(x1) + "," + number(y1) + " C" + number(x1 + bend) + "," +
                     number(y1) + " " + number(x2 - bend) + "," + number(y2) + " " + number(x2) + "," +
                     number(y2) + "\"";
  if (!classes.empty()) text += " class=\"" + classes + "\"";
  if (!edge.actor_order)
    text += " marker-end=\"url(#" + std::string(edge.marked ? "marked" : "arrow") + ")\"";
  text += "/>\n";
  if (edge.edges > 1) {
    text += "<text x=\"" + number((x1 + x2) / 2) + "\" y=\"" + number((y1 + y2) / 2 - 3) + "\">" +
            std::to_string(edge.edges) + "</text>\n";
  }
  return text;
}

std::string marker(const char* id, const char* colour) {
  return std::string("<marker id=\"") + id +
         "\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
         "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" style=\"fill:" +
         colour + ";stroke:none\"/></marker>\n";
}

}  // namespace

std::string svg(const Drawing& drawing) {
  std::vector<std::vector<std::string>> lines;
  std::vector<Box> boxes;
  for (const DrawnNode& node : drawing.nodes) {
    lines.push_back(lines_of(drawing, node));
    boxes.push_back(box_for(lines.back()));
  }
  place(drawing, boxes);
  int width = 0;
  int height = 0;
  for (const Box& box : boxes) {
    width = std::max(width, box.x + box.width);
    height = std::max(height, box.y + box.height);
  }

  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width + margin) +
                     "\" height=\"" + number(height + margin) + "\">\n<title>" + xml_text(drawing.title) +
                     "</title>\n";
  text +=
      "<style>rect{stroke:#444} path{fill:none;stroke:#444} text{font:12px sans-serif;text-anchor:middle} "
      ".pale{stroke:#aaa} .weak{stroke-dasharray:6 4} .conditional{stroke-dasharray:2 3} "
      ".marked{stroke:#d00;stroke-width:2}</style>\n";
  text += "<defs>\n" + marker("arrow", "#444") + marker("marked", "#d00") + "</defs>\n";
  text += "<rect width=\"100%\" height=\"100%\" style=\"fill:#fff;stroke:none\"/>\n";
  // Edges first: boxes and their labels lie above them.
  for (const DrawnEdge& edge : drawing.edges) text += edge_text(edge, boxes[edge.from], boxes[edge.to]);
  for (std::size_t i = 0; i < boxes.size(); ++i) text += node_text(drawing.nodes[i], boxes[i], lines[i]);
  return text + "</svg>\n";
}

}  // namespace dag
