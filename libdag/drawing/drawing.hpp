#pragma once
// What is shown of a graph: which tasks stand alone, which are drawn as one, what is marked. How that is
// written as Graphviz, Mermaid or SVG text is the writers' part. A graph with a cycle can be drawn, too: the
// picture shows it.

#include <cstdint>
#include <string>
#include <vector>

#include "dag/detail/fragment.hpp"
#include "libdag/base/time.hpp"

namespace dag {

struct DrawOptions {
  std::string title = "dag";
  /// Above so many tasks they are drawn in groups: of one class at one depth; if that is still too many, of
  /// one class; and then of similar depth. No picture has more nodes.
  std::uint32_t nodes_max = 400;
  /// How long each task took, for the critical path; empty: as long as is stated.
  std::vector<Duration> ran = {};
  /// What each task is called beside its name; empty: its place in the fragment.
  std::vector<std::string> ids = {};
};

struct DrawnNode {
  std::string label = {};
  std::uint32_t tasks = 1;               ///< more than one: a group
  std::uint32_t cluster = detail::none;  ///< index into Drawing::clusters
  std::uint32_t depth = 0;  ///< longest way from a task without predecessors, of the first of a group
  bool marked = false;      ///< on the critical path, or on the cycle
};

struct DrawnEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  detail::EdgeKind kind = detail::EdgeKind::strong;
  bool data = false;         ///< an argument goes along
  bool actor_order = false;  ///< only keeps an actor's calls in order
  std::uint32_t edges = 1;
  bool marked = false;
};

struct Drawing {
  std::string title;
  std::vector<std::string> clusters;  ///< names of job actors
  std::vector<DrawnNode> nodes;
  std::vector<DrawnEdge> edges;        ///< ordered by from, to; none within one group
  std::vector<std::uint32_t> node_of;  ///< of each task: where it is in `nodes`
  bool has_cycle = false;              ///< then the marked ones are one cycle, else the critical path
};

Drawing draw(const detail::Fragment& fragment, const DrawOptions& options = {});

/// Graphviz. Solid: strong (grey when no data goes along); dashed: weak; dotted: conditional; red: marked.
std::string dot(const Drawing& drawing);
/// Mermaid flow chart, in the same terms.
std::string mermaid(const Drawing& drawing);
/// A picture of its own layout, for whoever has no Graphviz: depth from left to right. Tasks of a job actor
/// share a colour and say whose they are.
std::string svg(const Drawing& drawing);
/// What became of the tasks of a graph that was submitted: of each.
struct Became {
  std::vector<std::string> ids;       ///< as all else that tells of the job calls it: 3, s0/3
  std::vector<std::string> outcomes;  ///< empty: it has not ended
  std::vector<Duration> ran;
};
/// Every task and edge, never in groups: what a program wants to know. Edges name tasks by their places. With
/// `became` how long each task ran stands in the place of what the graph says.
std::string json(const detail::Fragment& fragment, const std::string& title, const Became* became = nullptr);

}  // namespace dag
