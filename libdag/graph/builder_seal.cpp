// The part of Builder that seals a graph, and goes on with one that was sealed: late edges get to their
// tasks, and kinds and policies that are not in use are left out.

#include <algorithm>
#include <new>
#include <utility>

#include "libdag/base/large_pages.hpp"
#include "libdag/graph/builder_index.hpp"
#include "libdag/graph/staging.hpp"
#include "libdag/graph/warm_arrays.hpp"

namespace dag::detail {
namespace {

/// Puts each behind the other in-edges of its task, in the order of adding. Takes all memory first.
void add_late(Fragment& fragment, std::vector<LateEdge>& late) {
  std::stable_sort(late.begin(), late.end(),
                   [](const LateEdge& a, const LateEdge& b) { return a.edge.successor < b.edge.successor; });
  std::vector<EdgeEnd> edges;
  std::vector<Condition> conditions;
  edges.reserve(fragment.edges.size() + late.size());
  conditions.reserve(fragment.conditions.size() + late.size());
  auto next_late = late.begin();
  auto next_condition = fragment.conditions.begin();
  std::uint32_t next = 0;
  for (std::uint32_t task = 0; task < fragment.size(); ++task) {
    const bool is_last = task + 1 == fragment.size();
    const std::uint32_t end = is_last ? size32(fragment.edges.size()) : fragment.first_edge[task + 1];
    fragment.first_edge[task] = size32(edges.size());
    for (; next < end; ++next) {
      if (next_condition != fragment.conditions.end() && next_condition->edge == next) {
        conditions.push_back({size32(edges.size()), (next_condition++)->code});
      }
      edges.push_back(fragment.edges[next]);
    }
    for (; next_late != late.end() && next_late->edge.successor == task; ++next_late) {
      if (next_late->predicate != none) conditions.push_back({size32(edges.size()), next_late->predicate});
      edges.emplace_back(next_late->edge.predecessor, next_late->edge.kind);
    }
  }
  fragment.edges = std::move(edges);
  fragment.conditions = std::move(conditions);
  late.clear();
}

/// Keeps of `values` what `each(visit)` calls `visit(index)` for, in the order in which it comes first, and
/// changes the indices. Takes all memory first.
template <class Value, class Each>
void keep_used(std::vector<Value>& values, Each&& each) {
  std::vector<std::uint32_t> renumbered(values.size(), none);
  std::vector<Value> used;
  used.reserve(values.size());
  each([&](std::uint32_t& index) {
    std::uint32_t& number = renumbered[index];
    if (number == none) {
      number = size32(used.size());
      used.push_back(std::move(values[index]));
    }
    index = number;
  });
  values = std::move(used);
}

}  // namespace

void Builder::go_on() {
  draft_ = as_added_ ? *as_added_ : *sealed_;
  sealed_.reset();
  as_added_.reset();
  draft_.first_edge.pop_back();
  if (!draft_.first_literal.empty()) draft_.first_literal.pop_back();
  if (index_->kinds_sealed && index_->policies_sealed) return;
  index_->kinds_sealed = index_->policies_sealed = true;
  // Their numbers have changed.
  plain_policies_.fill(none);
  for (CallSite& site : sites_) site.forget_kinds();
  index_->policies.restart(draft_.policies);
  index_->kinds.restart(draft_.kinds);
}

/// Each step either has its memory or changes nothing: a graph that cannot be sealed now can be sealed later.
const std::shared_ptr<const Fragment>& Builder::seal() const {
  if (sealed_) return sealed_;
  close_last();
  if (!index_->late.empty()) add_late(draft_, index_->late);
  if (!index_->kinds_sealed) {
    keep_used(draft_.kinds, [&](const auto& visit) {
      for (std::uint32_t& kind : draft_.task_kinds) visit(kind);
      for (FamilyDraft& family : draft_.families) {
        for (std::uint32_t& kind : family.kinds) {
          if (kind != none) visit(kind);
        }
      }
    });
  }
  if (!index_->policies_sealed) {
    keep_used(draft_.policies, [&](const auto& visit) {
      for (TaskKind& kind : draft_.kinds) visit(kind.policy);
    });
  }
  const std::shared_ptr<Fragment> made(new Fragment, KeepsWarm{});
  draft_.first_edge.reserve(draft_.first_edge.size() + 1);
  draft_.first_literal.reserve(draft_.first_literal.size() + 1);
  draft_.first_edge.push_back(size32(draft_.edges.size()));
  if (!draft_.first_literal.empty()) draft_.first_literal.push_back(size32(draft_.task_literals.size()));
  *made = std::exchange(draft_, {});
  if (!has_staged(*made)) return sealed_ = made;
  try {
    sealed_ = std::make_shared<const Fragment>(with_publishers(*made));
  } catch (const std::bad_alloc&) {
    draft_ = std::move(*made);
    draft_.first_edge.pop_back();
    if (!draft_.first_literal.empty()) draft_.first_literal.pop_back();
    throw;
  }
  as_added_ = made;
  return sealed_;
}

}  // namespace dag::detail
