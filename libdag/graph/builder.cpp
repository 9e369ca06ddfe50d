// Decides how tasks, edges and arguments become the flat arrays of a Fragment: what is shared (names, codes,
// policies) and in which order edges lie. Whether the graph makes sense is check.hpp's question.

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

 private:
  std::unordered_map<Value, std::uint32_t, Hash, std::equal_to<>> table_;
  std::uint32_t last_ = none;
};

/// By successor, in the order of adding.
void sort_edges(Fragment& fragment) {
  std::uint32_t next = 0;
  for (TaskDraft& task : fragment.tasks) {
    task.first_edge = next;
    next += task.edge_count;
  }
  DAG_CHECK(next == fragment.edges.size());
  std::vector<std::uint32_t> place;
  place.reserve(fragment.tasks.size());
  for (const TaskDraft& task : fragment.tasks) place.push_back(task.first_edge);
  std::vector<Edge> sorted(fragment.edges.size());
  for (const Edge& edge : fragment.edges) sorted[place[edge.successor]++] = edge;
  fragment.edges = std::move(sorted);
}

/// `.needs(...).retry(...)` makes a policy that no task keeps; only kept ones go on, in the order of their
/// use.
void keep_used_policies(Fragment& fragment) {
  std::vector<std::uint32_t> renumbered(fragment.policies.size(), none);
  std::vector<Policy> used;
  for (TaskDraft& task : fragment.tasks) {
    std::uint32_t& number = renumbered[task.policy];
    if (number == none) {
      number = size32(used.size());
      used.push_back(fragment.policies[task.policy]);
    }
    task.policy = number;
  }
  fragment.policies = std::move(used);
}

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

struct Builder::Index {
  /// What most tasks are: one of a few kernels under one of a few names.
  struct Kind {
    Code code;
    std::uint32_t code_index = none;
    std::uint32_t name_index = none;
  };
  /// A small cache before the tables: two kinds in one place only cost time. The code comes by reference,
  /// and what is appended per task is written field by field in its place: a struct that is put together and
  /// copied at once costs more than all else here (its wide load waits for the narrow stores).
  const Kind& kind_of(Fragment& fragment, std::string_view name, const Code& code) {
    // Names are mostly literals: where they lie tells them apart; that they are the same only their text
    // does.
    const std::uint64_t places = reinterpret_cast<std::uintptr_t>(code.thunk) ^
                                 reinterpret_cast<std::uintptr_t>(code.function) * 3 ^
                                 reinterpret_cast<std::uintptr_t>(name.data()) * 5;
    Kind& kind = kinds[(places * 0x9E3779B97F4A7C15ULL) >> 60];
    if (kind.code == code && kind.name_index != none && fragment.names[kind.name_index] == name) return kind;
    meet(kind, fragment, name, code);
    return kind;
  }
  [[gnu::noinline]] void meet(Kind& kind, Fragment& fragment, std::string_view name, const Code& code) {
    const std::uint32_t code_index = codes.index_of(fragment.codes, code);
    const std::uint32_t name_index = names.index_of(fragment.names, name);
    kind.code = code;
    kind.code_index = code_index;
    kind.name_index = name_index;
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
  void forget_policies() {
    policies = {};
    plain_policies.fill(none);
  }

  Interned<std::string, NameHash> names;
  Interned<Code, CodeHash> codes;
  Interned<Policy, PolicyHash> policies;
  std::array<Kind, 16> kinds = {};
  std::array<std::uint32_t, 3> plain_policies = {none, none, none};     // by their effects
  std::map<std::uint32_t, std::uint32_t> last_call;                     // of each actor, in this fragment
  std::unordered_map<const std::byte*, std::uint32_t> shared_literals;  // by where their bytes lie
  /// Every edge was added while its successor was the last task, so the in-edges of each task lie side by
  /// side and `first_edge` says where.
  bool edges_sealed = true;
  /// Every policy is that of a task, and they lie in the order of their use.
  bool policies_sealed = true;
};

Builder::Builder() : index_(std::make_unique<Index>()), serial_(next_serial()) {}
Builder::~Builder() = default;

void Builder::go_on() {
  draft_ = *sealed_;
  sealed_.reset();
  index_->edges_sealed = true;
  if (index_->policies_sealed) return;
  index_->policies_sealed = true;
  index_->forget_policies();  // They have other numbers now.
  std::vector<Policy> again;
  for (const Policy& policy : draft_.policies) index_->policies.index_of(again, policy);
}

void Builder::set_policy(std::uint32_t task, const Policy& policy) {
  draft_.tasks[task].policy = index_->policies.index_of(draft_.policies, policy);
  index_->policies_sealed = false;
}

std::uint32_t Builder::add_task(std::string_view name, Code code, bool returns, Effects effects) {
  open();
  const std::uint32_t task = size32(draft_.tasks.size());
  const Index::Kind& kind = index_->kind_of(draft_, name, code);
  const std::uint32_t policy = index_->plain_policy(draft_, effects);
  make_room(draft_.tasks);
  TaskDraft& draft = draft_.tasks.emplace_back();
  draft.code = kind.code_index;
  draft.name = kind.name_index;
  draft.policy = policy;
  draft.first_argument = size32(draft_.arguments.size());
  draft.first_edge = size32(draft_.edges.size());
  draft.returns = returns;
  return task;
}

void Builder::add_argument(ArgumentKind kind, std::uint32_t first, std::uint32_t count,
                           std::uint32_t quorum) {
  open();
  DAG_CHECK(!draft_.tasks.empty());
  TaskDraft& task = draft_.tasks.back();
  // Arguments of a task lie side by side, so only the last task can get some.
  DAG_CHECK(task.first_argument + task.argument_count == draft_.arguments.size());
  DAG_CHECK(task.argument_count < std::numeric_limits<std::uint16_t>::max());
  make_room(draft_.arguments);
  Argument& argument = draft_.arguments.emplace_back();
  argument.kind = kind;
  argument.first = first;
  argument.count = count;
  argument.quorum = quorum;
  ++task.argument_count;
}

/// The in-edges of the last task that come next.
std::uint32_t Builder::next_in_edge() {
  open();
  DAG_CHECK(!draft_.tasks.empty());
  return draft_.tasks.back().edge_count;
}

/// A value that several tasks share by reference (dag::Ref) is one literal: it goes to other processes once.
void Builder::add_literal(Blob value) {
  open();
  const std::uint32_t next = size32(draft_.literals.size());
  if (value.on_heap()) {  // Others are not shared: they lie nowhere, or in the Blob itself.
    const auto [at, fresh] = index_->shared_literals.try_emplace(value.bytes().data(), next);
    if (!fresh) return add_argument(ArgumentKind::literal, at->second, 1, 0);
  }
  add_argument(ArgumentKind::literal, next, 1, 0);
  draft_.literals.push_back(std::move(value));
}

void Builder::add_literal(const Writer& value) {
  open();
  add_argument(ArgumentKind::literal, size32(draft_.literals.size()), 1, 0);
  draft_.literals.emplace_back(value.bytes());
  const std::uint32_t task = size32(draft_.tasks.size() - 1);
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
  const std::size_t tasks = draft_.tasks.size();
  DAG_CHECK(predecessor < tasks);
  make_room(draft_.edges);
  Edge& edge = draft_.edges.emplace_back();
  edge.predecessor = predecessor;
  edge.successor = static_cast<std::uint32_t>(tasks - 1);
  edge.kind = kind;
  ++draft_.tasks.back().edge_count;
}

void Builder::add_edge(std::uint32_t predecessor, std::uint32_t successor, EdgeKind kind, Code predicate) {
  open();
  DAG_CHECK(predecessor < draft_.tasks.size());
  DAG_CHECK(successor < draft_.tasks.size());
  DAG_CHECK((kind == EdgeKind::conditional) == (predicate.thunk != nullptr));
  Edge edge{predecessor, successor, none, kind};
  if (kind == EdgeKind::conditional) edge.predicate = index_->codes.index_of(draft_.codes, predicate);
  make_room(draft_.edges);
  draft_.edges.push_back(edge);
  ++draft_.tasks[successor].edge_count;
  if (successor + 1 != draft_.tasks.size()) index_->edges_sealed = false;
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
  DAG_CHECK(!draft_.tasks.empty());
  DAG_CHECK(kind != CallKind::ordinary);
  TaskDraft& draft = draft_.tasks.back();
  DAG_CHECK(draft.call == CallKind::ordinary);
  const std::uint32_t task = size32(draft_.tasks.size() - 1);
  draft.call = kind;
  draft.actor = actor;
  if (kind == CallKind::create) {
    DAG_CHECK(actor < draft_.actors.size());
    DAG_CHECK(draft_.actors[actor].create_task == none);
    draft_.actors[actor].create_task = task;
  }
  const auto last = index_->last_call.find(actor);
  if (last == index_->last_call.end()) {
    // Only a handle that came from outside has no call here yet; what its first one waits for, its home
    // knows.
    index_->last_call.emplace(actor, task);
    return;
  }
  add_edge(last->second, task, EdgeKind::strong);
  last->second = task;
}

const std::shared_ptr<const Fragment>& Builder::seal() const {
  if (sealed_) return sealed_;
  if (!index_->edges_sealed) sort_edges(draft_);
  if (!index_->policies_sealed) keep_used_policies(draft_);
  sealed_ = std::make_shared<const Fragment>(std::move(draft_));
  draft_ = {};
  return sealed_;
}

}  // namespace dag::detail
