// Turns tasks, edges and arguments into the flat arrays of a Fragment. Decides which values are shared
// (names, codes, policies, kinds of tasks, argument lists) and the order of edges. builder_seal.cpp puts them
// into their final order; check.hpp decides whether the graph makes sense.

#include <atomic>

#include "libdag/base/large_pages.hpp"
#include "libdag/graph/builder_index.hpp"
#include "libdag/graph/warm_arrays.hpp"

namespace dag::detail {
namespace {

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

Policy plain_with(Effects effects) {
  Policy policy;
  policy.effects = effects;
  return policy;
}

}  // namespace

Builder::Builder() : index_(std::make_unique<Index>()), serial_(next_serial()) { plain_policies_.fill(none); }
Builder::~Builder() { keep_warm(draft_); }

/// Whether the last task can still get arguments, and is of no kind yet.
bool Builder::last_is_open() const {
  return last_.site != nullptr || (!draft_.task_kinds.empty() && draft_.task_kinds.back() == none);
}

/// The last task differs from what its call site expected: it goes on as one that is met for the first time.
void Builder::leave_site() const {
  const CallSite& site = *last_.site;
  TaskKind& last = index_->last;
  last = {};
  last.code = site.code_index;
  last.name = site.name_index;
  last.policy = last_.policy;
  last.first_argument = size32(draft_.arguments.size());
  last.argument_count = static_cast<std::uint16_t>(last_.next_argument - site.first_argument);
  last.returns = site.returns;
  for (std::uint32_t i = site.first_argument; i < last_.next_argument; ++i) {
    const Argument as_before = draft_.arguments[i];
    draft_.arguments.push_back(as_before);
  }
  draft_.task_kinds.back() = none;
  index_->last_site = last_.site;
  last_.site = nullptr;
}

/// The last task has all its arguments: finds out of which kind it is.
void Builder::close_last() const {
  if (!last_is_open()) return;
  if (last_is_as_expected()) {
    last_.site = nullptr;
    return;
  }
  if (last_.site != nullptr) leave_site();
  TaskKind& last = index_->last;
  CallSite& site = *index_->last_site;
  std::uint32_t& kind = site.kind;
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
  // Calls of one method by different actors are of different kinds.
  site.expected = last.call == CallKind::ordinary ? kind : none;
  site.policy = last.policy;
  site.first_argument = last.first_argument;
  site.end_argument = last.first_argument + last.argument_count;
}

const Policy& Builder::policy_of(std::uint32_t task) const {
  const bool is_open = last_is_open() && task + 1 == draft_.size();
  if (!is_open) return draft_.policies[draft_.kind(task).policy];
  return draft_.policies[last_.site != nullptr ? last_.policy : index_->last.policy];
}

void Builder::set_policy(std::uint32_t task, const Policy& policy) {
  if (last_is_open() && task + 1 == draft_.size()) {
    const std::uint32_t index = index_->policies.index_of(draft_.policies, policy);
    (last_.site != nullptr ? last_.policy : index_->last.policy) = index;
    index_->policies_sealed = false;
    // From now on set_effects finds it.
    std::uint32_t& plain = plain_policies_[static_cast<std::size_t>(policy.effects)];
    if (plain == none && policy == plain_with(policy.effects)) plain = index;
    return;
  }
  write_out_family_of(task);
  draft_.task_kinds[task] = with_policy(draft_.task_kinds[task], policy);
}

/// The kind that differs from this one in its policy only.
std::uint32_t Builder::with_policy(std::uint32_t kind, const Policy& policy) {
  TaskKind changed = draft_.kinds[kind];
  changed.policy = index_->policies.index_of(draft_.policies, policy);
  index_->kinds_sealed = index_->policies_sealed = false;
  return index_->kinds.index_of(draft_.kinds, changed);
}

/// The index of the policy that says nothing but the effects.
std::uint32_t Builder::plain_policy(Effects effects) {
  std::uint32_t& index = plain_policies_[static_cast<std::size_t>(effects)];
  if (index != none) return index;
  return index = index_->policies.index_of(draft_.policies, plain_with(effects));
}

std::uint32_t Builder::add_task_slowly(std::string_view name, const Code& code, bool returns,
                                       Effects effects) {
  open();
  close_last();
  const std::uint32_t task = draft_.size();
  DAG_CHECK(task < EdgeEnd::tasks_max);
  if (task >= warm_from && !std::exchange(index_->is_warm, true)) warm_up(draft_);
  CallSite& site = sites_[CallSite::place_of(name, code)];
  const bool is_known =
      site.code == code && site.name_index != none && equal_text(draft_.names[site.name_index], name);
  if (!is_known) index_->meet(site, draft_, name, code);
  if (site.returns != returns || site.effects != effects) site.expected = none;
  site.returns = returns;
  site.effects = effects;
  site.first_policy = plain_policy(effects);
  make_room(draft_.task_kinds);
  draft_.task_kinds.push_back(site.expected);
  make_room(draft_.first_edge);
  draft_.first_edge.push_back(size32(draft_.edges.size()));
  if (!draft_.first_literal.empty()) {
    make_room(draft_.first_literal);
    draft_.first_literal.push_back(size32(draft_.task_literals.size()));
  }
  if (site.expected != none) {
    begin_as_expected(site);
    return task;
  }
  // Field by field and in place: a struct that is put together and copied at once costs more than all else
  // here (its wide load waits for the narrow stores).
  TaskKind& last = index_->last;
  last.code = site.code_index;
  last.name = site.name_index;
  last.policy = site.first_policy;
  last.first_argument = size32(draft_.arguments.size());
  last.argument_count = 0;
  last.call = CallKind::ordinary;
  last.returns = returns;
  last.actor = none;
  index_->last_site = &site;
  return task;
}

void Builder::add_argument(ArgumentKind kind, std::uint32_t first, std::uint32_t count,
                           std::uint32_t quorum) {
  open();
  DAG_CHECK(last_is_open());
  if (expects(kind, first)) {
    const Argument& next = draft_.arguments[last_.next_argument];
    if (next.count == count && next.quorum == quorum) {
      ++last_.next_argument;
      return;
    }
  }
  if (last_.site != nullptr) leave_site();
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
  make_room(draft_.literals);
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

void Builder::add_input_slowly(std::uint32_t predecessor) {
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
  if (predecessor + 1 == draft_.size()) in_order_ = false;
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
  if (predecessor >= successor) in_order_ = false;
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
  if (last_.site != nullptr) leave_site();
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

}  // namespace dag::detail
