#pragma once
// Families of tasks: from formula to tasks and edges.

#include "dag/detail/fragment.hpp"
#include "libdag/base/check.hpp"
#include "libdag/base/large_pages.hpp"

namespace dag {

/// Limits of a family's offsets, and of its kernel's further parameters.
inline constexpr std::size_t family_offsets_max = 256, family_parameters_max = 256;

/// The fault of the formula, for a family that would begin behind `tasks` tasks and `edges` edges: it leads
/// forward, it is empty, or it exceeds a graph's limits. Null when it is sound. check_indices checks kinds,
/// inputs and literals, once there are tasks.
const char* wrong_with_formula(const detail::FamilyDraft& family, std::size_t tasks, std::size_t edges);

/// The value of an argument that is no input: a literal, or the task's point in its family.
Blob argument_value(const detail::Fragment& graph, std::uint32_t task, const detail::Argument& argument);

/// Calls `visit(first, end)` for each run of tasks outside families, or of a family that is written out.
template <class Visit>
void each_written(const detail::Fragment& graph, Visit&& visit) {
  std::uint32_t next = 0;
  for (const detail::FamilyDraft& family : graph.families) {
    if (family.written_out) continue;
    if (next < family.first_task) visit(next, family.first_task);
    next = family.first_task + family.size();
  }
  if (next < graph.size()) visit(next, graph.size());
}

/// Appends a family's tasks behind the graph's last task, and the beginnings of their edges and literals (but
/// not the end of the last ones). `kind_of(count)` is the kind of a task with `count` predecessors in the
/// family; it is called for every task.
template <class KindOf>
void expand(detail::Fragment& graph, const detail::FamilyDraft& family, KindOf&& kind_of) {
  using detail::EdgeEnd;
  using detail::EdgeKind;
  DAG_CHECK(family.first_task == graph.size());
  const std::int64_t rows = family.range.rows, columns = family.range.columns;
  const bool literals = !family.literals.empty() || !graph.first_literal.empty();
  if (literals && graph.first_literal.empty()) graph.first_literal.assign(graph.size(), 0);
  make_room_for(graph.task_kinds, family.size());
  make_room_for(graph.first_edge, family.size());
  make_room_for(graph.edges, family.size() * (family.before.size() + family.inputs.size()));
  if (literals) {
    make_room_for(graph.first_literal, family.size());
    make_room_for(graph.task_literals, family.size() * family.literals.size());
  }
  std::uint32_t task = family.first_task;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column, ++task) {
      const auto first_edge = static_cast<std::uint32_t>(graph.edges.size());
      graph.first_edge.push_back(first_edge);
      for (const Offset& offset : family.before) {
        const std::int64_t there_row = row + offset.rows, there_column = column + offset.columns;
        if (there_row < 0 || there_column < 0 || there_column >= columns) continue;
        graph.edges.emplace_back(
            family.first_task + static_cast<std::uint32_t>(there_row * columns + there_column),
            EdgeKind::strong);
      }
      graph.task_kinds.push_back(kind_of(static_cast<std::uint32_t>(graph.edges.size()) - first_edge));
      for (const detail::FamilyDraft::Input& input : family.inputs) {
        graph.edges.emplace_back(input.task + (input.each ? task - family.first_task : 0), EdgeKind::strong);
      }
      if (!literals) continue;
      graph.first_literal.push_back(static_cast<std::uint32_t>(graph.task_literals.size()));
      graph.task_literals.insert(graph.task_literals.end(), family.literals.begin(), family.literals.end());
    }
  }
}

}  // namespace dag
