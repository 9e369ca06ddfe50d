// A Drawing as a Mermaid flow chart.

#include <algorithm>

#include "libdag/drawing/drawing.hpp"
#include "libdag/graph/text.hpp"

namespace dag {
namespace {

/// Inside "...", Mermaid reads its own entities, HTML, and Markdown after a back quote.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '\n':
        result += "<br/>";
        break;
      case '"':
        result += "#quot;";
        break;
      case '#':
        result += "#35;";
        break;
      case '<':
        result += "#lt;";
        break;
      case '>':
        result += "#gt;";
        break;
      case '&':
        result += "#amp;";
        break;
      case '`':
        result += "#96;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string mermaid_node(const Drawing& drawing, std::size_t i) {
  const DrawnNode& node = drawing.nodes[i];
  const char* open = node.tasks > 1 ? "[[\"" : "(\"";
  const char* close = node.tasks > 1 ? "\"]]" : "\")";
  return "n" + std::to_string(i) + open + escaped(node.label) + close + (node.marked ? ":::marked" : "") +
         "\n";
}

std::string mermaid_edge(const DrawnEdge& edge) {
  const char* arrow = " --> ";
  if (edge.actor_order) arrow = " --- ";
  if (edge.kind == detail::EdgeKind::weak) arrow = " -.-> ";
  if (edge.kind == detail::EdgeKind::conditional) arrow = " -.-o ";
  if (edge.marked && edge.kind == detail::EdgeKind::strong) arrow = edge.actor_order ? " === " : " ==> ";
  const std::string label = edge.edges > 1 ? "|" + std::to_string(edge.edges) + "| " : "";
  return "  n" + std::to_string(edge.from) + arrow + label + "n" + std::to_string(edge.to) + "\n";
}

}  // namespace

std::string mermaid(const Drawing& drawing) {
  std::string title = printable(drawing.title);
  std::replace(title.begin(), title.end(), '\n', ' ');
  std::string text = "flowchart LR\n  %% " + title + "\n";
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
    if (drawing.nodes[i].cluster == detail::none) text += "  " + mermaid_node(drawing, i);
  }
  for (std::size_t cluster = 0; cluster < drawing.clusters.size(); ++cluster) {
    std::string inside;
    for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
      if (drawing.nodes[i].cluster == cluster) inside += "    " + mermaid_node(drawing, i);
    }
    if (inside.empty()) continue;
    text += "  subgraph a" + std::to_string(cluster) + " [\"" + escaped(drawing.clusters[cluster]) + "\"]\n" +
            inside + "  end\n";
  }
  for (const DrawnEdge& edge : drawing.edges) text += mermaid_edge(edge);
  return text + "  classDef marked stroke:#d00,stroke-width:3px\n";
}

}  // namespace dag
