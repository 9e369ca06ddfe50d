// The sweeps of layout.hpp.

#include "libdag/drawing/layout.hpp"

#include <algorithm>
#include <map>

#include "libdag/base/check.hpp"

namespace dag {
namespace {

constexpr int sweeps = 8;

using Nodes = std::vector<std::size_t>;

std::vector<Nodes> columns_of(const Drawing& drawing) {
  std::map<std::uint32_t, Nodes> by_depth;
  for (std::size_t node = 0; node < drawing.nodes.size(); ++node)
    by_depth[drawing.nodes[node].depth].push_back(node);
  std::vector<Nodes> columns;
  for (auto& [depth, nodes] : by_depth) columns.push_back(std::move(nodes));
  return columns;
}

/// Rows count from the middle, so that short columns lie beside the middle of long ones.
void number_rows(const Nodes& column, std::vector<double>& row) {
  for (std::size_t i = 0; i < column.size(); ++i) {
    row[column[i]] = static_cast<double>(i) - static_cast<double>(column.size()) / 2;
  }
}

void order_by_neighbours(Nodes& column, const std::vector<Nodes>& neighbours, std::vector<double>& row) {
  std::vector<std::pair<double, std::size_t>> wanted;
  for (const std::size_t node : column) {
    double sum = 0;
    for (const std::size_t other : neighbours[node]) sum += row[other];
    const auto count = static_cast<double>(neighbours[node].size());
    wanted.emplace_back(neighbours[node].empty() ? row[node] : sum / count, node);
  }
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < column.size(); ++i) column[i] = wanted[i].second;
  number_rows(column, row);
}

void order_columns(const Drawing& drawing, std::vector<Nodes>& columns) {
  std::vector<Nodes> predecessors(drawing.nodes.size());
  std::vector<Nodes> successors(drawing.nodes.size());
  for (const DrawnEdge& edge : drawing.edges) {
    successors[edge.from].push_back(edge.to);
    predecessors[edge.to].push_back(edge.from);
  }
  std::vector<double> row(drawing.nodes.size());
  for (const Nodes& column : columns) number_rows(column, row);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    if (sweep % 2 == 0) {
      for (Nodes& column : columns) order_by_neighbours(column, predecessors, row);
    } else {
      for (auto column = columns.rbegin(); column != columns.rend(); ++column) {
        order_by_neighbours(*column, successors, row);
      }
    }
  }
}

}  // namespace

void place(const Drawing& drawing, std::vector<Box>& boxes, const LayoutSpacing& spacing) {
  DAG_CHECK(boxes.size() == drawing.nodes.size());
  std::vector<Nodes> columns = columns_of(drawing);
  order_columns(drawing, columns);

  const auto height_of = [&](const Nodes& column) {
    int height = 0;
    for (const std::size_t node : column) height += boxes[node].height + spacing.row_gap;
    return height;
  };
  int highest = 0;
  for (const Nodes& column : columns) highest = std::max(highest, height_of(column));
  int x = spacing.row_gap;
  for (const Nodes& column : columns) {
    int y = (highest - height_of(column)) / 2 + spacing.row_gap;
    int widest = 0;
    for (const std::size_t node : column) {
      boxes[node].x = x;
      boxes[node].y = y;
      y += boxes[node].height + spacing.row_gap;
      widest = std::max(widest, boxes[node].width);
    }
    x += widest + spacing.column_gap;
  }
}

}  // namespace dag
