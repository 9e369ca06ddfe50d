#pragma once
// The content of a graph's picture: tasks that stand alone, groups of tasks, marks. The writers turn
// it into Graphviz, Mermaid or SVG text. A graph with a cycle can be drawn, too: the picture shows
// it.

#include <cstdint>
#include <string>
#include <vector>

#include "dag/detail/fragment.hpp"
#include "libdag/base/time.hpp"

namespace dag {

struct DrawOptions {
  std::string title = "dag";
  /// Above this number, tasks are drawn in groups: by class and depth; if that is still too many, by class;
  /// then by similar depth. No picture has more nodes.
  std::uint32_t nodes_max = 400;
  /// Duration of each task, for the critical path; empty: as stated.
  std::vector<Duration> ran = {};
  /// Id of each task, shown beside its name; empty: its place in the fragment.
  std::vector<std::string> ids = {};
};

struct DrawnNode {
  std::string label = {};
  std::uint32_t tasks = 1;               ///< more than one: a group
  std::uint32_t cluster = detail::none;  ///< index into Drawing::clusters
  std::uint32_t depth = 0;  ///< longest way from a task without predecessors; of a group's first task
  bool marked = false;      ///< on the critical path, or on the cycle
};

struct DrawnEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  detail::EdgeKind kind = detail::EdgeKind::strong;
  bool data = false;         ///< carries an argument
  bool actor_order = false;  ///< only keeps an actor's calls in order
  std::uint32_t edges = 1;
  bool marked = false;
};

struct Drawing {
  std::string title;
  std::vector<std::string> clusters;  ///< names of job actors
  std::vector<DrawnNode> nodes;
  std::vector<DrawnEdge> edges;        ///< ordered by from, to; none within a group
  std::vector<std::uint32_t> node_of;  ///< index in `nodes` of each task
  bool has_cycle = false;              ///< then the marked nodes are a cycle, else the critical path
};

Drawing draw(const detail::Fragment& fragment, const DrawOptions& options = {});

/// Graphviz. Solid: strong (grey when no data goes along); dashed: weak; dotted: conditional; red: marked.
std::string dot(const Drawing& drawing);
/// Mermaid flow chart, in the same terms.
std::string mermaid(const Drawing& drawing);
/// A picture with its own layout, for users without Graphviz: depth from left to right. Tasks of a job actor
/// share a colour and show its name.
std::string svg(const Drawing& drawing);
/// Ids and outcomes of a submitted graph's tasks.
struct Became {
  std::vector<std::string> ids;       ///< as in all other texts about the job: 3, s0/3
  std::vector<std::string> outcomes;  ///< empty: it has not ended
  std::vector<Duration> ran;
};
/// Every task and edge, never in groups, for programs. Edges name tasks by their places. With `became`,
/// measured durations replace stated ones.
std::string json(const detail::Fragment& fragment, const std::string& title, const Became* became = nullptr);

}  // namespace dag
