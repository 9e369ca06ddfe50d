// A Drawing as Graphviz text.

#include "dag/graph.hpp"
#include "libdag/graph/drawing.hpp"
#include "libdag/graph/text.hpp"

namespace dag {
namespace {

std::string quoted(const std::string& text) {
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

std::string node_line(const Drawing& drawing, std::size_t i) {
  const DrawnNode& node = drawing.nodes[i];
  std::string line = "n" + std::to_string(i) + " [label=" + quoted(node.label);
  if (node.tasks > 1) line += ", shape=box3d";
  if (node.marked) line += ", color=red, penwidth=2";
  return line + "];\n";
}

std::string edge_line(const DrawnEdge& edge) {
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
  if (edge.edges > 1) add("label=" + quoted(std::to_string(edge.edges)));
  std::string line = "  n" + std::to_string(edge.from) + " -> n" + std::to_string(edge.to);
  if (!attributes.empty()) line += " [" + attributes + "]";
  return line + ";\n";
}

}  // namespace

std::string dot(const Drawing& drawing) {
  std::string text = "digraph " + quoted(drawing.title) + " {\n";
  text +=
      "  // solid: strong, grey without data; dashed: weak; dotted: conditional; plain lines: order of an "
      "actor's "
      "calls; red: the ";
  text += drawing.has_cycle ? "cycle\n" : "critical path\n";
  text += "  rankdir=LR;\n  node [shape=box, style=rounded];\n";
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
    if (drawing.nodes[i].cluster == detail::none) text += "  " + node_line(drawing, i);
  }
  for (std::size_t cluster = 0; cluster < drawing.clusters.size(); ++cluster) {
    std::string inside;
    for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
      if (drawing.nodes[i].cluster == cluster) inside += "    " + node_line(drawing, i);
    }
    if (inside.empty()) continue;
    text += "  subgraph cluster_" + std::to_string(cluster) +
            " {\n    label=" + quoted(drawing.clusters[cluster]) + ";\n" + inside + "  }\n";
  }
  for (const DrawnEdge& edge : drawing.edges) text += edge_line(edge);
  return text + "}\n";
}

std::string dot(const Graph& graph) { return dot(draw(*graph.builder().seal(), {.title = graph.name()})); }

}  // namespace dag
