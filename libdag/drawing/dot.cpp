// A Drawing as Graphviz text.

#include "dag/graph.hpp"
#include "libdag/drawing/drawing.hpp"
#include "libdag/graph/text.hpp"

namespace dag {
namespace {

std::string dot_quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string dot_node(const Drawing& drawing, std::size_t i) {
  const DrawnNode& node = drawing.nodes[i];
  std::string line = "n" + std::to_string(i) + " [label=" + dot_quoted(node.label);
  if (node.tasks > 1) line += ", shape=box3d";
  if (node.marked) line += ", color=red, penwidth=2";
  return line + "];\n";
}

std::string dot_edge(const DrawnEdge& edge) {
  std::string attributes;
  const auto add = [&](const std::string& attribute) {
    attributes += (attributes.empty() ? "" : ", ") + attribute;
  };
  if (edge.kind == detail::EdgeKind::weak) add("style=dashed");
  if (edge.kind == detail::EdgeKind::conditional) add("style=dotted, arrowhead=diamond");
  if (edge.actor_order) add("arrowhead=none");
  if (edge.marked) {
    add("color=red, penwidth=2");
  } else if (!edge.data && edge.kind == detail::EdgeKind::strong) {
    add("color=grey60");
  }
  if (edge.edges > 1) add("label=" + dot_quoted(std::to_string(edge.edges)));
  std::string line = "  n" + std::to_string(edge.from) + " -> n" + std::to_string(edge.to);
  if (!attributes.empty()) line += " [" + attributes + "]";
  return line + ";\n";
}

}  // namespace

std::string dot(const Drawing& drawing) {
  std::string text = "digraph " + dot_quoted(drawing.title) + " {\n";
  text +=
      "  // solid: strong, grey without data; dashed: weak; dotted: conditional; plain lines: order of an "
      "actor's "
      "calls; red: the ";
  text += drawing.has_cycle ? "cycle\n" : "critical path\n";
  text += "  rankdir=LR;\n  node [shape=box, style=rounded];\n";
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
    if (drawing.nodes[i].cluster == detail::none) text += "  " + dot_node(drawing, i);
  }
  for (std::size_t cluster = 0; cluster < drawing.clusters.size(); ++cluster) {
    std::string inside;
    for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
      if (drawing.nodes[i].cluster == cluster) inside += "    " + dot_node(drawing, i);
    }
    if (inside.empty()) continue;
    text += "  subgraph cluster_" + std::to_string(cluster) +
            " {\n    label=" + dot_quoted(drawing.clusters[cluster]) + ";\n" + inside + "  }\n";
  }
  for (const DrawnEdge& edge : drawing.edges) text += dot_edge(edge);
  return text + "}\n";
}

std::string dot(const Graph& graph) { return dot(draw(*graph.builder().seal(), {.title = graph.name()})); }

}  // namespace dag
