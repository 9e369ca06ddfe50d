// Turns tasks, edges and arguments into the flat arrays of a Fragment. Decides which values are shared
// (names, codes, policies, kinds of tasks, argument lists) and the order of edges. check.hpp decides whether
// the graph makes sense.

#include <atomic>

#include "libdag/base/large_pages.hpp"
#include "libdag/graph/builder_index.hpp"
#include "libdag/graph/staging.hpp"

namespace dag::detail {
namespace {

/// Puts each behind the other in-edges of its task, in the order of adding.
void add_late(Fragment& fragment, std::vector<LateEdge>& late) {
  std::stable_sort(late.begin(), late.end(),
                   [](const LateEdge& a, const LateEdge& b) { return a.edge.successor < b.edge.successor; });
  std::vector<EdgeEnd> edges;
  std::vector<Condition> conditions;
  edges.reserve(fragment.edges.size() + late.size());
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
/// changes the indices.
template <class Value, class Each>
void keep_used(std::vector<Value>& values, Each&& each) {
  std::vector<std::uint32_t> renumbered(values.size(), none);
  std::vector<Value> used;
  each([&](std::uint32_t& index) {
    std::uint32_t& number = renumbered[index];
    if (number == none) {
      number = size32(used.size());
      used.push_back(values[index]);
    }
    index = number;
  });
  values = std::move(used);
}

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

Builder::Builder() : index_(std::make_unique<Index>()), serial_(next_serial()) {}
Builder::~Builder() = default;

void Builder::go_on() {
  draft_ = as_added_ ? *as_added_ : *sealed_;
  sealed_.reset();
  as_added_.reset();
  draft_.first_edge.pop_back();
  if (!draft_.first_literal.empty()) draft_.first_literal.pop_back();
  if (index_->kinds_sealed) return;
  index_->kinds_sealed = true;
  // Their numbers have changed.
  index_->plain_policies.fill(none);
  for (Index::Known& known : index_->known) known.kind = none;
  index_->policies.restart(draft_.policies);
  index_->kinds.restart(draft_.kinds);
}

/// Whether the last task can still get arguments, and is of no kind yet.
bool Builder::last_is_open() const { return !draft_.task_kinds.empty() && draft_.task_kinds.back() == none; }

/// The last task has all its arguments: finds out of which kind it is.
void Builder::close_last() const {
  if (!last_is_open()) return;
  TaskKind& last = index_->last;
  std::uint32_t& kind = index_->last_known->kind;
  if (kind != none && draft_.kinds[kind].argument_count == last.argument_count &&
      Index::equal_lists(draft_.arguments, draft_.kinds[kind].first_argument, last.first_argument,
                         last.argument_count)) {
    draft_.arguments.resize(last.first_argument);
    last.first_argument = draft_.kinds[kind].first_argument;
  } else if (last.argument_count == 0) {
    last.first_argument = 0;
  } else if (const std::uint32_t alike = index_->alike(draft_.arguments, last.first_argument);
             alike != last.first_argument) {
    draft_.arguments.resize(last.first_argument);
    last.first_argument = alike;
  }
  if (kind == none || draft_.kinds[kind] != last) kind = index_->kinds.index_of(draft_.kinds, last);
  draft_.task_kinds.back() = kind;
}

const Policy& Builder::policy_of(std::uint32_t task) const {
  const bool is_open = last_is_open() && task + 1 == draft_.size();
  return draft_.policies[is_open ? index_->last.policy : draft_.kind(task).policy];
}

void Builder::set_policy(std::uint32_t task, const Policy& policy) {
  if (last_is_open() && task + 1 == draft_.size()) {
    index_->last.policy = index_->policies.index_of(draft_.policies, policy);
    index_->kinds_sealed = false;
    return;
  }
  write_out_family_of(task);
  draft_.task_kinds[task] = with_policy(draft_.task_kinds[task], policy);
}

/// The kind that differs from this one in its policy only.
std::uint32_t Builder::with_policy(std::uint32_t kind, const Policy& policy) {
  TaskKind changed = draft_.kinds[kind];
  changed.policy = index_->policies.index_of(draft_.policies, policy);
  index_->kinds_sealed = false;
  return index_->kinds.index_of(draft_.kinds, changed);
}

std::uint32_t Builder::add_task(std::string_view name, Code code, bool returns, Effects effects) {
  open();
  close_last();
  const std::uint32_t task = draft_.size();
  DAG_CHECK(task < EdgeEnd::tasks_max);
  Index::Known& known = index_->known_of(draft_, name, code);
  index_->last_known = &known;
  TaskKind& last = index_->last;
  last.code = known.code_index;
  last.name = known.name_index;
  last.policy = index_->plain_policy(draft_, effects);
  last.first_argument = size32(draft_.arguments.size());
  last.argument_count = 0;
  last.call = CallKind::ordinary;
  last.returns = returns;
  last.actor = none;
  make_room(draft_.task_kinds);
  draft_.task_kinds.push_back(none);
  make_room(draft_.first_edge);
  draft_.first_edge.push_back(size32(draft_.edges.size()));
  if (!draft_.first_literal.empty()) {
    make_room(draft_.first_literal);
    draft_.first_literal.push_back(size32(draft_.task_literals.size()));
  }
  return task;
}

void Builder::add_argument(ArgumentKind kind, std::uint32_t first, std::uint32_t count,
                           std::uint32_t quorum) {
  open();
  DAG_CHECK(last_is_open());
  TaskKind& last = index_->last;
  DAG_CHECK(last.argument_count < std::numeric_limits<std::uint16_t>::max());
  Argument& argument = draft_.arguments.emplace_back();
  argument.kind = kind;
  argument.first = first;
  argument.count = count;
  argument.quorum = quorum;
  ++last.argument_count;
}

/// The in-edges of the last task that come next.
std::uint32_t Builder::next_in_edge() {
  open();
  DAG_CHECK(last_is_open());
  return size32(draft_.edges.size()) - draft_.first_edge.back();
}

/// A value that several tasks share by reference (dag::Ref) is one literal: it goes to other processes once.
void Builder::add_literal(Blob value) { add_literal_argument(literal_of(std::move(value))); }

/// Its index.
std::uint32_t Builder::literal_of(Blob value) {
  open();
  const std::uint32_t next = size32(draft_.literals.size());
  if (value.on_heap()) {  // Others are not shared: they lie nowhere, or in the Blob itself.
    const auto [at, fresh] = index_->shared_literals.try_emplace(value.bytes().data(), next);
    if (!fresh) return at->second;
  }
  draft_.literals.push_back(std::move(value));
  return next;
}

/// `literal` is its index.
void Builder::add_literal_argument(std::uint32_t literal) {
  open();
  if (draft_.first_literal.empty()) draft_.first_literal.assign(draft_.size(), 0);
  const std::uint32_t before = size32(draft_.task_literals.size()) - draft_.first_literal.back();
  add_argument(ArgumentKind::literal, before, 1, 0);
  make_room(draft_.task_literals);
  draft_.task_literals.push_back(literal);
}

void Builder::add_literal(const Writer& value) {
  add_literal_argument(size32(draft_.literals.size()));
  draft_.literals.emplace_back(value.bytes());
  const std::uint32_t task = draft_.size() - 1;
  for (const std::uint32_t actor : value.actors()) draft_.mentions.emplace_back(task, actor);
}

void Builder::add_input(std::uint32_t predecessor) {
  add_argument(ArgumentKind::input, next_in_edge(), 1, 0);
  add_in_edge(predecessor, EdgeKind::strong);
}

void Builder::add_maybe(std::uint32_t predecessor) {
  add_argument(ArgumentKind::maybe, next_in_edge(), 1, 0);
  add_in_edge(predecessor, EdgeKind::weak);
}

void Builder::add_gather(const std::vector<std::uint32_t>& predecessors) {
  add_argument(ArgumentKind::gather, next_in_edge(), size32(predecessors.size()), 0);
  for (const std::uint32_t predecessor : predecessors) add_in_edge(predecessor, EdgeKind::strong);
}

void Builder::add_quorum(const std::vector<std::uint32_t>& predecessors, std::uint32_t quorum) {
  add_argument(ArgumentKind::quorum, next_in_edge(), size32(predecessors.size()), quorum);
  for (const std::uint32_t predecessor : predecessors) add_in_edge(predecessor, EdgeKind::weak);
}

/// Adds an edge to the last task, the common case.
void Builder::add_in_edge(std::uint32_t predecessor, EdgeKind kind) {
  DAG_CHECK(predecessor < draft_.size());
  make_room(draft_.edges);
  draft_.edges.emplace_back(predecessor, kind);
}

void Builder::add_edge(std::uint32_t predecessor, std::uint32_t successor, EdgeKind kind, Code predicate) {
  open();
  DAG_CHECK(predecessor < draft_.size());
  DAG_CHECK(successor < draft_.size());
  DAG_CHECK((kind == EdgeKind::conditional) == (predicate.thunk != nullptr));
  const std::uint32_t code =
      kind == EdgeKind::conditional ? index_->codes.index_of(draft_.codes, predicate) : none;
  write_out_family_of(successor);
  if (successor + 1 != draft_.size()) {
    index_->late.push_back({{predecessor, successor, kind}, code});
    return;
  }
  if (code != none) draft_.conditions.push_back({size32(draft_.edges.size()), code});
  add_in_edge(predecessor, kind);
}

std::uint32_t Builder::add_actor(std::string_view name, Code save, Code restore, Code destroy) {
  open();
  const std::uint32_t actor = size32(draft_.actors.size());
  ActorDraft draft;
  draft.name = index_->names.index_of(draft_.names, name);
  draft.save = save;
  draft.restore = restore;
  draft.destroy = destroy;
  draft_.actors.push_back(draft);
  return actor;
}

std::uint32_t Builder::add_group(std::string_view name, Strategy strategy, Intensity intensity) {
  open();
  draft_.groups.push_back({index_->names.index_of(draft_.names, name), strategy, intensity});
  return size32(draft_.groups.size()) - 1;
}

void Builder::set_call(std::uint32_t actor, CallKind kind) {
  open();
  DAG_CHECK(last_is_open());
  DAG_CHECK(kind != CallKind::ordinary);
  TaskKind& last = index_->last;
  DAG_CHECK(last.call == CallKind::ordinary);
  const std::uint32_t task = draft_.size() - 1;
  last.call = kind;
  last.actor = actor;
  if (kind == CallKind::create) {
    DAG_CHECK(actor < draft_.actors.size());
    DAG_CHECK(draft_.actors[actor].create_task == none);
    draft_.actors[actor].create_task = task;
  }
  const auto before = index_->last_call.find(actor);
  if (before == index_->last_call.end()) {
    // Only a handle that came from outside has no call here yet; what its first one waits for, its home
    // knows.
    index_->last_call.emplace(actor, task);
    return;
  }
  add_edge(before->second, task, EdgeKind::strong);
  before->second = task;
}

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
    keep_used(draft_.policies, [&](const auto& visit) {
      for (TaskKind& kind : draft_.kinds) visit(kind.policy);
    });
  }
  draft_.first_edge.push_back(size32(draft_.edges.size()));
  if (!draft_.first_literal.empty()) draft_.first_literal.push_back(size32(draft_.task_literals.size()));
  sealed_ = std::make_shared<const Fragment>(std::move(draft_));
  draft_ = {};
  if (has_staged(*sealed_)) {
    as_added_ = std::exchange(sealed_, nullptr);
    sealed_ = std::make_shared<const Fragment>(with_publishers(*as_added_));
  }
  return sealed_;
}

}  // namespace dag::detail
