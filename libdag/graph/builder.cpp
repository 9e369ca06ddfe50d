// Decides how tasks, edges and arguments become the flat arrays of a Fragment: what is shared (names, codes,
// policies) and in which order edges lie. Whether the graph makes sense is check.hpp's question.

#include "dag/detail/builder.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "libdag/base/check.hpp"

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

/// The index of a value among those added before; a new one is appended to `values`. Neighbours in a graph
/// are mostly alike, so the last hit is tried before the table.
template <class Value, class Hash>
class Interned {
 public:
  template <class Key>
  std::uint32_t index_of(std::vector<Value>& values, const Key& key) {
    if (last_ != none && values[last_] == key) return last_;
    const auto [at, added] = table_.try_emplace(Value(key), size32(values.size()));
    if (added) values.push_back(at->first);
    return last_ = at->second;
  }

 private:
  std::unordered_map<Value, std::uint32_t, Hash> table_;
  std::uint32_t last_ = none;
};

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

struct Builder::Index {
  Interned<std::string, std::hash<std::string>> names;
  Interned<Code, CodeHash> codes;
  Interned<Policy, PolicyHash> policies;
  std::vector<std::uint32_t> in_edges;                                  // of each task, so far
  std::map<std::uint32_t, std::uint32_t> last_call;                     // of each actor, in this fragment
  std::unordered_map<const std::byte*, std::uint32_t> shared_literals;  // by where their bytes lie
};

Builder::Builder() : index_(std::make_unique<Index>()), serial_(next_serial()) {}
Builder::~Builder() = default;

std::uint32_t Builder::policy_index(const Policy& policy) {
  return index_->policies.index_of(fragment_.policies, policy);
}

std::uint32_t Builder::add_task(std::string_view name, Code code, bool returns, Effects effects) {
  const std::uint32_t task = size32(fragment_.tasks.size());
  Policy policy;
  policy.effects = effects;
  TaskDraft draft;
  draft.code = index_->codes.index_of(fragment_.codes, code);
  draft.name = index_->names.index_of(fragment_.names, name);
  draft.policy = policy_index(policy);
  draft.first_argument = size32(fragment_.arguments.size());
  draft.returns = returns;
  fragment_.tasks.push_back(draft);
  index_->in_edges.push_back(0);
  return task;
}

void Builder::add_argument(Argument argument) {
  DAG_CHECK(!fragment_.tasks.empty());
  TaskDraft& task = fragment_.tasks.back();
  // Arguments of a task lie side by side, so only the last task can get some.
  DAG_CHECK(task.first_argument + task.argument_count == fragment_.arguments.size());
  DAG_CHECK(task.argument_count < std::numeric_limits<std::uint16_t>::max());
  fragment_.arguments.push_back(argument);
  ++task.argument_count;
}

/// A value that several tasks share by reference (dag::Ref) is one literal: it goes to other processes once.
void Builder::add_literal(Blob value) {
  const std::uint32_t next = size32(fragment_.literals.size());
  const auto [at, fresh] = index_->shared_literals.try_emplace(value.bytes().data(), next);
  const bool shared = !fresh && value;  // Null blobs all lie nowhere.
  add_argument({ArgumentKind::literal, shared ? at->second : next, 1, 0});
  if (!shared) fragment_.literals.push_back(std::move(value));
}

void Builder::add_literal(const Writer& value) {
  add_argument({ArgumentKind::literal, size32(fragment_.literals.size()), 1, 0});
  fragment_.literals.emplace_back(value.bytes());
  const std::uint32_t task = size32(fragment_.tasks.size() - 1);
  for (const std::uint32_t actor : value.actors()) fragment_.mentions.emplace_back(task, actor);
}

void Builder::add_input(std::uint32_t predecessor) {
  const std::uint32_t task = size32(fragment_.tasks.size() - 1);
  add_argument({ArgumentKind::input, index_->in_edges.back(), 1, 0});
  add_edge(predecessor, task, EdgeKind::strong);
}

void Builder::add_maybe(std::uint32_t predecessor) {
  const std::uint32_t task = size32(fragment_.tasks.size() - 1);
  add_argument({ArgumentKind::maybe, index_->in_edges.back(), 1, 0});
  add_edge(predecessor, task, EdgeKind::weak);
}

void Builder::add_gather(const std::vector<std::uint32_t>& predecessors) {
  const std::uint32_t task = size32(fragment_.tasks.size() - 1);
  add_argument({ArgumentKind::gather, index_->in_edges.back(), size32(predecessors.size()), 0});
  for (const std::uint32_t predecessor : predecessors) add_edge(predecessor, task, EdgeKind::strong);
}

void Builder::add_quorum(const std::vector<std::uint32_t>& predecessors, std::uint32_t quorum) {
  const std::uint32_t task = size32(fragment_.tasks.size() - 1);
  add_argument({ArgumentKind::quorum, index_->in_edges.back(), size32(predecessors.size()), quorum});
  for (const std::uint32_t predecessor : predecessors) add_edge(predecessor, task, EdgeKind::weak);
}

void Builder::add_edge(std::uint32_t predecessor, std::uint32_t successor, EdgeKind kind, Code predicate) {
  DAG_CHECK(predecessor < fragment_.tasks.size());
  DAG_CHECK(successor < fragment_.tasks.size());
  DAG_CHECK((kind == EdgeKind::conditional) == (predicate.thunk != nullptr));
  Edge edge{predecessor, successor, none, kind};
  if (kind == EdgeKind::conditional) edge.predicate = index_->codes.index_of(fragment_.codes, predicate);
  fragment_.edges.push_back(edge);
  ++index_->in_edges[successor];
}

std::uint32_t Builder::add_actor(std::string_view name, Code save, Code restore, Code destroy) {
  const std::uint32_t actor = size32(fragment_.actors.size());
  ActorDraft draft;
  draft.name = index_->names.index_of(fragment_.names, name);
  draft.save = save;
  draft.restore = restore;
  draft.destroy = destroy;
  fragment_.actors.push_back(draft);
  return actor;
}

void Builder::set_call(std::uint32_t actor, CallKind kind) {
  DAG_CHECK(!fragment_.tasks.empty());
  DAG_CHECK(kind != CallKind::ordinary);
  TaskDraft& draft = fragment_.tasks.back();
  DAG_CHECK(draft.call == CallKind::ordinary);
  const std::uint32_t task = size32(fragment_.tasks.size() - 1);
  draft.call = kind;
  draft.actor = actor;
  if (kind == CallKind::create) {
    DAG_CHECK(actor < fragment_.actors.size());
    DAG_CHECK(fragment_.actors[actor].create_task == none);
    fragment_.actors[actor].create_task = task;
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

Fragment Builder::sealed() const {
  Fragment sealed = fragment_;

  std::uint32_t next = 0;
  for (std::size_t task = 0; task < sealed.tasks.size(); ++task) {
    sealed.tasks[task].first_edge = next;
    sealed.tasks[task].edge_count = index_->in_edges[task];
    next += index_->in_edges[task];
  }
  DAG_CHECK(next == sealed.edges.size());
  std::vector<std::uint32_t> place(sealed.tasks.size());
  for (std::size_t task = 0; task < place.size(); ++task) place[task] = sealed.tasks[task].first_edge;
  for (const Edge& edge : fragment_.edges) sealed.edges[place[edge.successor]++] = edge;

  // `.needs(...).retry(...)` makes a policy that no task keeps; only kept ones go on, in the order of their
  // use.
  std::vector<std::uint32_t> renumbered(sealed.policies.size(), none);
  sealed.policies.clear();
  for (TaskDraft& task : sealed.tasks) {
    std::uint32_t& number = renumbered[task.policy];
    if (number == none) {
      number = size32(sealed.policies.size());
      sealed.policies.push_back(fragment_.policies[task.policy]);
    }
    task.policy = number;
  }
  return sealed;
}

}  // namespace dag::detail
