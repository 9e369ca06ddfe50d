// Groups tasks until they fit, and marks what matters.

#include "libdag/drawing/drawing.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "libdag/base/time.hpp"
#include "libdag/graph/data_edges.hpp"
#include "libdag/graph/order.hpp"
#include "libdag/graph/rank.hpp"

namespace dag {
namespace {

using detail::Edge;
using detail::Fragment;

/// Tasks with equal keys are drawn as one: cluster, class, depth, task; unused parts are 0.
using GroupKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

class Draughtsman {
 public:
  Draughtsman(const Fragment& fragment, const DrawOptions& options) : fragment_(fragment), options_(options) {
    drawing_.title = options.title;
    for (const detail::ActorDraft& actor : fragment.actors)
      drawing_.clusters.push_back(fragment.names[actor.name]);
    measure_depths();
    mark();
  }

  Drawing run() {
    group();
    label_nodes();
    add_edges();
    drawing_.node_of = std::move(node_of_);
    return std::move(drawing_);
  }

 private:
  std::uint32_t cluster_of(std::uint32_t task) const {
    // A spawned fragment names actors that it does not hold; they have no cluster.
    const std::uint32_t actor = fragment_.kind(task).actor;
    return actor < drawing_.clusters.size() ? actor : detail::none;
  }

  void measure_depths() {
    depth_.assign(fragment_.size(), 0);
    const OutEdges out_edges(fragment_);
    const auto order = topological_order(fragment_, out_edges);
    drawing_.has_cycle = order.size() < depth_.size();
    for (const std::uint32_t task : order) {
      for (const OutEdge out : out_edges.of(task)) {
        std::uint32_t& depth = depth_[out.successor];
        depth = std::max(depth, depth_[task] + 1);
      }
    }
  }

  void mark() {
    next_marked_.assign(fragment_.size(), detail::none);
    is_marked_.assign(fragment_.size(), false);
    const auto ranked = [&] {
      return options_.ran.empty() ? rank(fragment_) : rank(fragment_, options_.ran);
    };
    const auto path = drawing_.has_cycle ? find_cycle(fragment_) : ranked().critical_path;
    for (std::size_t i = 0; i < path.size(); ++i) {
      is_marked_[path[i]] = true;
      if (i + 1 < path.size()) next_marked_[path[i]] = path[i + 1];
    }
    if (drawing_.has_cycle) next_marked_[path.back()] = path.front();
  }

  /// The finest grouping with few enough nodes.
  void group() {
    const std::uint32_t tasks = fragment_.size();
    const std::uint32_t deepest = tasks == 0 ? 0 : *std::max_element(depth_.begin(), depth_.end());
    const std::uint32_t nodes_max = std::max(options_.nodes_max, 1u);
    const std::uint32_t depths_per_node = deepest / nodes_max + 1;
    const bool fits = number_groups([&](std::uint32_t task) {
                        return GroupKey{0, 0, 0, task};
                      }) ||
                      number_groups([&](std::uint32_t task) {
                        return GroupKey{cluster_of(task), fragment_.kind(task).name, depth_[task], 0};
                      }) ||
                      number_groups([&](std::uint32_t task) {
                        return GroupKey{cluster_of(task), fragment_.kind(task).name, 0, 0};
                      });
    if (!fits)
      number_groups([&](std::uint32_t task) { return GroupKey{0, 0, depth_[task] / depths_per_node, 0}; });
  }

  template <class KeyOf>
  bool number_groups(KeyOf&& key_of) {
    std::map<GroupKey, std::uint32_t> numbers;
    node_of_.resize(fragment_.size());
    for (std::uint32_t task = 0; task < node_of_.size(); ++task) {
      const auto number = static_cast<std::uint32_t>(numbers.size());
      node_of_[task] = numbers.emplace(key_of(task), number).first->second;
      if (numbers.size() > std::max(options_.nodes_max, 1u)) return false;
    }
    drawing_.nodes.assign(numbers.size(), DrawnNode{.tasks = 0});
    return true;
  }

  void label_nodes() {
    std::vector<bool> mixed(drawing_.nodes.size(), false);
    std::vector<std::uint32_t> first(drawing_.nodes.size(), detail::none);
    for (std::uint32_t task = 0; task < node_of_.size(); ++task) {
      DrawnNode& node = drawing_.nodes[node_of_[task]];
      std::uint32_t& first_task = first[node_of_[task]];
      if (first_task == detail::none) {
        first_task = task;
        node.cluster = cluster_of(task);
        node.depth = depth_[task];
      }
      ++node.tasks;
      node.depth = std::min(node.depth, depth_[task]);
      node.marked = node.marked || is_marked_[task];
      if (fragment_.kind(task).name != fragment_.kind(first_task).name) mixed[node_of_[task]] = true;
      if (cluster_of(task) != node.cluster) node.cluster = detail::none;
    }
    for (std::size_t i = 0; i < drawing_.nodes.size(); ++i) {
      DrawnNode& node = drawing_.nodes[i];
      const std::string& name = fragment_.name(first[i]);
      if (node.tasks == 1) {
        node.label = options_.ids.empty() ? label(fragment_, first[i]) : name + "#" + options_.ids[first[i]];
        if (const auto takes = fragment_.policy(first[i]).takes) node.label += "\n" + text_of(*takes);
      } else {
        // "×" in UTF-8.
        node.label = (mixed[i] ? name + ", ..." : name) + " \xC3\x97 " + std::to_string(node.tasks);
      }
    }
  }

  void add_edges() {
    using Key = std::tuple<std::uint32_t, std::uint32_t, detail::EdgeKind, bool, bool>;
    std::map<Key, DrawnEdge> merged;
    std::vector<bool> data;
    for (std::uint32_t task = 0; task < fragment_.size(); ++task) {
      mark_data_edges(fragment_, task, data);
      const std::uint32_t actor = fragment_.kind(task).actor;
      const auto in_edges = fragment_.in_edges(task);
      for (std::size_t i = 0; i < in_edges.size(); ++i) {
        const std::uint32_t predecessor = in_edges[i].task();
        const detail::EdgeKind kind = in_edges[i].kind();
        const std::uint32_t from = node_of_[predecessor];
        const std::uint32_t to = node_of_[task];
        if (from == to && predecessor != task) continue;
        const bool actor_order = !data[i] && kind == detail::EdgeKind::strong && actor != detail::none &&
                                 fragment_.kind(predecessor).actor == actor;
        const auto [at, added] =
            merged.try_emplace(Key{from, to, kind, data[i], actor_order},
                               DrawnEdge{from, to, kind, data[i], actor_order, 0, false});
        ++at->second.edges;
        if (next_marked_[predecessor] == task) at->second.marked = true;
      }
    }
    for (const auto& [key, edge] : merged) drawing_.edges.push_back(edge);
  }

  const Fragment& fragment_;
  const DrawOptions& options_;
  std::vector<std::uint32_t> depth_;
  std::vector<bool> is_marked_;
  std::vector<std::uint32_t> next_marked_;
  std::vector<std::uint32_t> node_of_;
  Drawing drawing_;
};

}  // namespace

Drawing draw(const Fragment& fragment, const DrawOptions& options) {
  return Draughtsman(fragment, options).run();
}

}  // namespace dag
