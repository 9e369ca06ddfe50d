#include "libdag/graph/family.hpp"

#include "dag/codec.hpp"
#include "libdag/base/limits.hpp"

namespace dag {

const char* wrong_with_formula(const detail::FamilyDraft& family, std::size_t tasks, std::size_t edges) {
  const std::uint64_t count = std::uint64_t{family.range.rows} * family.range.columns;
  if (count == 0) return "its range is empty";
  if (count > limits::tasks_max || tasks + count > limits::tasks_max) return "it has too many tasks";
  if (family.before.size() > family_offsets_max) return "it has too many offsets";
  if (family.inputs.size() + family.literals.size() > family_parameters_max)
    return "it has too many parameters";
  const std::uint64_t each = family.before.size() + family.inputs.size();
  if (each > limits::edges_max || edges + each * count > limits::edges_max) return "it has too many edges";
  for (const detail::FamilyDraft::Input& input : family.inputs) {
    if (input.task >= tasks || (input.each && count > tasks - input.task)) return "an input is not before it";
  }
  for (const Offset& offset : family.before) {
    if (offset.rows > 0 || (offset.rows == 0 && offset.columns >= 0)) {
      return "an offset leads to the task itself or to one behind it";
    }
  }
  return nullptr;
}

Blob argument_value(const detail::Fragment& graph, std::uint32_t task, const detail::Argument& argument) {
  if (argument.kind == detail::ArgumentKind::literal) return graph.literal(task, argument);
  const detail::FamilyDraft* family = graph.family_of(task);
  DAG_CHECK(family != nullptr);
  return detail::to_blob(family->point_of(task));
}

}  // namespace dag
