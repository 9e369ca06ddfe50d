// The part of Builder that is about families: their tasks are made here, as those of any graph, and their
// formula is kept for the wire.

#include <string>
#include <utility>

#include "dag/error.hpp"
#include "libdag/graph/builder_index.hpp"
#include "libdag/graph/family.hpp"

namespace dag::detail {

std::uint32_t Builder::add_family(FamilySpec spec) {
  open();
  close_last();
  FamilyDraft family;
  family.first_task = draft_.size();
  family.range = spec.range;
  family.before = spec.before;
  for (FamilySpec::Parameter& parameter : spec.parameters) {
    if (parameter.task != none) {
      DAG_CHECK(parameter.task < draft_.size());
      family.inputs.push_back({parameter.task, parameter.each});
    } else {
      family.literals.push_back(literal_of(std::move(parameter.value)));
    }
  }
  if (const char* wrong = wrong_with_formula(family, draft_.size(), draft_.edges.size())) {
    throw Failure(
        {ErrorCode::usage, "the family '" + std::string(spec.name) + "': " + wrong,
         "offsets lead to an earlier row, or to an earlier column of the same one: {-1, 0}, {0, -1}"});
  }
  TaskKind kind;
  kind.code = index_->codes.index_of(draft_.codes, spec.code);
  kind.name = index_->names.index_of(draft_.names, spec.name);
  kind.policy = plain_policy(spec.effects);
  kind.returns = spec.returns;
  family.kinds.assign(spec.before.size() + 1, none);
  expand(draft_, family, [&](std::uint32_t before) {
    if (family.kinds[before] == none) family.kinds[before] = kind_of_family(kind, spec, before);
    return family.kinds[before];
  });
  draft_.families.push_back(std::move(family));
  return draft_.families.back().first_task;
}

/// The kind of a task with `before` predecessors in the family.
std::uint32_t Builder::kind_of_family(TaskKind kind, const FamilySpec& spec, std::uint32_t before) {
  const std::uint32_t first = size32(draft_.arguments.size());
  draft_.arguments.push_back({ArgumentKind::point, 0, 1, 0});
  if (spec.reads_before) draft_.arguments.push_back({ArgumentKind::gather, 0, before, 0});
  std::uint32_t literal = 0, input = before;
  for (const FamilySpec::Parameter& parameter : spec.parameters) {
    const bool is_value = parameter.task == none;
    draft_.arguments.push_back(
        {is_value ? ArgumentKind::literal : ArgumentKind::input, is_value ? literal++ : input++, 1, 0});
  }
  kind.argument_count = static_cast<std::uint16_t>(draft_.arguments.size() - first);
  kind.first_argument = index_->alike(draft_.arguments, first);
  if (kind.first_argument != first) draft_.arguments.resize(first);
  return index_->kinds.index_of(draft_.kinds, kind);
}

FamilyDraft& Builder::family_at(std::uint32_t first_task) {
  const FamilyDraft* family = draft_.family_of(first_task);
  DAG_CHECK(family != nullptr && family->first_task == first_task);
  return draft_.families[static_cast<std::size_t>(family - draft_.families.data())];
}

void Builder::each_family_kind(std::uint32_t first_task,
                               const std::function<std::uint32_t(std::uint32_t)>& change) {
  FamilyDraft& family = family_at(first_task);
  // Several counts of predecessors may be of one kind, and a new kind may be an old one of others.
  std::map<std::uint32_t, std::uint32_t> changed;
  for (const std::uint32_t kind : family.kinds) {
    if (kind != none && !changed.contains(kind)) changed.emplace(kind, change(kind));
  }
  for (std::uint32_t& kind : family.kinds) {
    if (kind != none) kind = changed.at(kind);
  }
  const std::map<std::uint32_t, std::uint32_t>::value_type* last = nullptr;
  for (std::uint32_t task = first_task; task < first_task + family.size(); ++task) {
    std::uint32_t& kind = draft_.task_kinds[task];
    if (last == nullptr || last->first != kind) {
      const auto found = changed.find(kind);
      if (found == changed.end()) continue;
      last = &*found;
    }
    kind = last->second;
  }
}

void Builder::write_out_family_of(std::uint32_t task) {
  if (const FamilyDraft* family = draft_.family_of(task)) family_at(family->first_task).written_out = true;
}

}  // namespace dag::detail
