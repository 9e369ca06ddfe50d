#pragma once
// Index over a Builder's values, so that tasks share equal ones. Used by builder.cpp and builder_family.cpp
// only.

#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "dag/detail/builder.hpp"
#include "libdag/base/check.hpp"

namespace dag::detail {

inline std::size_t mixed(std::size_t seed, std::uint64_t value) {
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

inline std::uint64_t bits(const std::optional<std::chrono::nanoseconds>& duration) {
  return duration ? static_cast<std::uint64_t>(duration->count()) : ~std::uint64_t{0};
}

// Replayed workflows state another duration for each of their tasks, so finding a policy must not be a linear
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
    seed = mixed(seed, bits(policy.takes));
    seed = mixed(seed, bits(policy.checkpoint));
    return mixed(seed, policy.group ? std::uint64_t{*policy.group} + 1 : 0);
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

inline std::uint32_t size32(std::size_t size) {
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
  /// `values` are all there are, and all different.
  void restart(const std::vector<Value>& values) {
    table_.clear();
    last_ = none;
    for (const Value& value : values) table_.emplace(value, size32(table_.size()));
  }

 private:
  std::unordered_map<Value, std::uint32_t, Hash, std::equal_to<>> table_;
  std::uint32_t last_ = none;
};

/// An edge to a task that is not the newest any more.
struct LateEdge {
  Edge edge;
  std::uint32_t predicate = none;  ///< index into codes
};

struct Builder::Index {
  /// Finds out what the fragment has of a call site's code and name.
  void meet(CallSite& site, Fragment& fragment, std::string_view name, const Code& code) {
    const std::uint32_t code_index = codes.index_of(fragment.codes, code);
    const std::uint32_t name_index = names.index_of(fragment.names, name);
    site = {};
    site.code = code;
    site.code_index = code_index;
    site.name_index = name_index;
  }

  /// Place of an earlier argument list equal to the one from `first` to the end; else `first`.
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
  std::unordered_multimap<std::size_t, ArgumentList> argument_lists;    // by hash
  std::map<std::uint32_t, std::uint32_t> last_call;                     // of each actor, in this fragment
  std::unordered_map<const std::byte*, std::uint32_t> shared_literals;  // by the address of their bytes
  /// The kind of the last task until the task is closed, unless it is as its call site expects.
  TaskKind last;
  CallSite* last_site = nullptr;
  std::vector<LateEdge> late;
  /// True: every kind is in use, and kinds lie in the order of their first use.
  bool kinds_sealed = true;
  /// True: every policy is in use, and policies lie in the order of the kinds.
  bool policies_sealed = true;
  /// Large arrays have been asked for (warm_arrays.hpp).
  bool is_warm = false;
};

}  // namespace dag::detail
