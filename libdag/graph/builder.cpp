// Decides how tasks, edges and arguments become the flat arrays of a Fragment: what is shared (names, codes,
// policies, kinds of tasks, argument lists) and in which order edges lie. Whether the graph makes sense is
// check.hpp's question.

#include "dag/detail/builder.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "libdag/base/check.hpp"
#include "libdag/base/large_pages.hpp"

namespace dag::detail {
namespace {

std::size_t mixed(std::size_t seed, std::uint64_t value) {
  const std::uint64_t z = (seed ^ value) * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(z ^ (z >> 32));
}

struct CodeHash {
  std::size_t operator()(const Code& code) const {
    return mixed(std::hash<const void*>()(code.thunk), std::hash<const void*>()(code.function));
  }
};

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
};

std::uint64_t bits(const std::optional<std::chrono::nanoseconds>& duration) {
  return duration ? static_cast<std::uint64_t>(duration->count()) : ~std::uint64_t{0};
}

// Replayed workflows state another duration for each of their tasks, so finding a policy must not be a
// search.
struct PolicyHash {
  std::size_t operator()(const Policy& policy) const {
    std::size_t seed = std::hash<double>()(policy.needs.cpus);
    seed = mixed(seed, policy.needs.gpus);
    seed = mixed(seed, policy.needs.memory);
    seed = mixed(seed, policy.retry.attempts);
    seed = mixed(seed, static_cast<std::uint64_t>(policy.retry.backoff.count()));
    seed = mixed(seed, static_cast<std::uint64_t>(policy.priority) |
                           static_cast<std::uint64_t>(policy.effects) << 8 |
                           static_cast<std::uint64_t>(policy.join) << 16);
    seed = mixed(seed, bits(policy.timeout));
    seed = mixed(seed, bits(policy.deadline));
    return mixed(seed, bits(policy.takes));
  }
};

struct KindHash {
  std::size_t operator()(const TaskKind& kind) const {
    std::size_t seed = mixed(kind.code, kind.name);
    seed = mixed(seed, kind.policy | std::uint64_t{kind.first_argument} << 32);
    seed = mixed(seed, kind.argument_count | static_cast<std::uint64_t>(kind.call) << 16 |
                           std::uint64_t{kind.returns} << 24);
    return mixed(seed, kind.actor);
  }
};

std::uint32_t size32(std::size_t size) {
  DAG_CHECK(size < none);
  return static_cast<std::uint32_t>(size);
}

/// The index of a value among those added before; a new one is appended to `values`.
template <class Value, class Hash>
class Interned {
 public:
  template <class Key>
  std::uint32_t index_of(std::vector<Value>& values, const Key& key) {
    if (last_ != none && values[last_] == key) return last_;
    auto at = table_.find(key);
    if (at == table_.end()) {
      at = table_.emplace(Value(key), size32(values.size())).first;
      values.push_back(at->first);
    }
    return last_ = at->second;
  }
  /// `values` are all there is, each another one.
  void restart(const std::vector<Value>& values) {
    table_.clear();
    last_ = none;
    for (const Value& value : values) table_.emplace(value, size32(table_.size()));
  }

 private:
  std::unordered_map<Value, std::uint32_t, Hash, std::equal_to<>> table_;
  std::uint32_t last_ = none;
};

/// An edge to a task that was not the last one any more.
struct LateEdge {
  Edge edge;
  std::uint32_t predicate = none;  ///< index into codes
};

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

struct Builder::Index {
  /// What most tasks are: one of a few kernels under one of a few names.
  struct Known {
    Code code;
    std::uint32_t code_index = none;
    std::uint32_t name_index = none;
    std::uint32_t kind = none;  ///< of the last task with both
  };
  /// A small cache before the tables: two of them in one place only cost time. The code comes by reference,
  /// and what is appended per task is written field by field in its place: a struct that is put together and
  /// copied at once costs more than all else here (its wide load waits for the narrow stores).
  Known& known_of(Fragment& fragment, std::string_view name, const Code& code) {
    // Names are mostly literals: where they lie tells them apart; that they are the same only their text
    // does.
    const std::uint64_t places = reinterpret_cast<std::uintptr_t>(code.thunk) ^
                                 reinterpret_cast<std::uintptr_t>(code.function) * 3 ^
                                 reinterpret_cast<std::uintptr_t>(name.data()) * 5;
    Known& one = known[(places * 0x9E3779B97F4A7C15ULL) >> 60];
    if (one.code == code && one.name_index != none && fragment.names[one.name_index] == name) return one;
    meet(one, fragment, name, code);
    return one;
  }
  [[gnu::noinline]] void meet(Known& one, Fragment& fragment, std::string_view name, const Code& code) {
    const std::uint32_t code_index = codes.index_of(fragment.codes, code);
    const std::uint32_t name_index = names.index_of(fragment.names, name);
    one.code = code;
    one.code_index = code_index;
    one.name_index = name_index;
    one.kind = none;
  }
  std::uint32_t plain_policy(Fragment& fragment, Effects effects) {
    const std::uint32_t index = plain_policies[static_cast<std::size_t>(effects)];
    return index != none ? index : meet(fragment, effects);
  }
  [[gnu::noinline]] std::uint32_t meet(Fragment& fragment, Effects effects) {
    Policy policy;
    policy.effects = effects;
    return plain_policies[static_cast<std::size_t>(effects)] = policies.index_of(fragment.policies, policy);
  }

  /// Where a list of arguments equal to that from `first` to the end lies: `first` itself when there is none.
  std::uint32_t alike(const std::vector<Argument>& arguments, std::uint32_t first) {
    const std::uint32_t count = size32(arguments.size()) - first;
    std::size_t hash = count;
    for (std::uint32_t i = first; i < arguments.size(); ++i) {
      const Argument& argument = arguments[i];
      hash = mixed(hash, static_cast<std::uint64_t>(argument.kind) | std::uint64_t{argument.first} << 8);
      hash = mixed(hash, argument.count | std::uint64_t{argument.quorum} << 32);
    }
    const auto [begin, end] = argument_lists.equal_range(hash);
    for (auto list = begin; list != end; ++list) {
      if (list->second.count == count && equal_lists(arguments, list->second.first, first, count)) {
        return list->second.first;
      }
    }
    argument_lists.emplace(hash, ArgumentList{first, count});
    return first;
  }
  static bool equal_lists(const std::vector<Argument>& arguments, std::uint32_t a, std::uint32_t b,
                          std::uint32_t count) {
    return std::equal(arguments.begin() + a, arguments.begin() + a + count, arguments.begin() + b);
  }

  struct ArgumentList {
    std::uint32_t first = 0, count = 0;
  };
  Interned<std::string, NameHash> names;
  Interned<Code, CodeHash> codes;
  Interned<Policy, PolicyHash> policies;
  Interned<TaskKind, KindHash> kinds;
  std::array<Known, 16> known = {};
  std::array<std::uint32_t, 3> plain_policies = {none, none, none};     // by their effects
  std::unordered_multimap<std::size_t, ArgumentList> argument_lists;    // by what they hash to
  std::map<std::uint32_t, std::uint32_t> last_call;                     // of each actor, in this fragment
  std::unordered_map<const std::byte*, std::uint32_t> shared_literals;  // by where their bytes lie
  /// The last task, until it is closed: what will be its kind.
  TaskKind last;
  Known* last_known = nullptr;
  std::vector<LateEdge> late;
  /// Every kind is that of a task, and they lie in the order of their use; every policy that of a kind.
  bool kinds_sealed = true;
};

Builder::Builder() : index_(std::make_unique<Index>()), serial_(next_serial()) {}
Builder::~Builder() = default;

void Builder::go_on() {
  draft_ = *sealed_;
  sealed_.reset();
  draft_.first_edge.pop_back();
  if (!draft_.first_literal.empty()) draft_.first_literal.pop_back();
  if (index_->kinds_sealed) return;
  index_->kinds_sealed = true;
  // They have other numbers now.
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
  const std::uint32_t index = index_->policies.index_of(draft_.policies, policy);
  index_->kinds_sealed = false;
  if (last_is_open() && task + 1 == draft_.size()) {
    index_->last.policy = index;
    return;
  }
  TaskKind kind = draft_.kind(task);
  kind.policy = index;
  draft_.task_kinds[task] = index_->kinds.index_of(draft_.kinds, kind);
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
void Builder::add_literal(Blob value) {
  open();
  const std::uint32_t next = size32(draft_.literals.size());
  if (value.on_heap()) {  // Others are not shared: they lie nowhere, or in the Blob itself.
    const auto [at, fresh] = index_->shared_literals.try_emplace(value.bytes().data(), next);
    if (!fresh) return add_literal_argument(at->second);
  }
  add_literal_argument(next);
  draft_.literals.push_back(std::move(value));
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

/// Of the last task, as most are.
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
    });
    keep_used(draft_.policies, [&](const auto& visit) {
      for (TaskKind& kind : draft_.kinds) visit(kind.policy);
    });
  }
  draft_.first_edge.push_back(size32(draft_.edges.size()));
  if (!draft_.first_literal.empty()) draft_.first_literal.push_back(size32(draft_.task_literals.size()));
  sealed_ = std::make_shared<const Fragment>(std::move(draft_));
  draft_ = {};
  return sealed_;
}

}  // namespace dag::detail
