#include "libdag/graph/program.hpp"

#include <iterator>

#include "libdag/base/check.hpp"

namespace dag {
namespace {

using detail::EdgeEnd;
using detail::EdgeKind;
using detail::Fragment;

/// The flags of a row of that kind, as far as its edges do not matter.
std::uint8_t flags_of(const Fragment& graph, const detail::TaskKind& kind) {
  const Policy& policy = graph.policies[kind.policy];
  std::uint8_t flags = policy.keep ? row_flag::kept : 0;
  if (kind.call == detail::CallKind::save) flags |= row_flag::presses;
  const bool special = kind.call != detail::CallKind::ordinary || policy.starts_from_settled() ||
                       policy.effects == Effects::staged || policy.join != Join::all || policy.timeout ||
                       policy.checkpoint || policy.needs != Needs{} || policy.priority != Priority::normal;
  if (special) return flags;
  flags |= row_flag::plain | row_flag::ends_by_itself;
  return policy.varying ? flags : flags | row_flag::lean;
}

class Maker {
 public:
  Maker(const Fragment& graph, const Sharding* sharding) : graph_(graph), sharding_(sharding) {}

  Program make() {
    if (sharding_ == nullptr) {
      made_.rows = graph_.size();
    } else {
      number_rows();
    }
    DAG_CHECK(made_.size() <= Successor::rows_max);
    count_successors();
    put_successors();
    if (sharding_ != nullptr) look_at_shards();
    if (unusual_) look_at_edges();
    add_conditionals();
    return std::move(made_);
  }

 private:
  bool is_mine(std::uint32_t task) const { return sharding_->shard_of[task] == sharding_->shard; }
  RowIndex row_of(std::uint32_t task) const { return sharding_ == nullptr ? task : made_.row_of[task]; }
  bool is_own(RowIndex row) const { return row < made_.rows; }

  /// Visits the edges from rows here to rows here, and from rows of this shard to tasks of others:
  /// `visit(predecessor, end, task, row)`.
  template <class Visit>
  void each_edge(Visit&& visit) const {
    if (sharding_ == nullptr) return each_edge_of_all(visit);
    std::uint32_t place = 0;
    for (std::uint32_t task = 0; task < graph_.size(); ++task) {
      const RowIndex row = row_of(task);
      const bool own = is_own(row);
      for (; place < graph_.first_edge[task + 1]; ++place) {
        const RowIndex predecessor = row_of(graph_.edges[place].task());
        if (own || is_own(predecessor)) visit(predecessor, graph_.edges[place], task, row);
      }
    }
  }

  template <class Visit>
  void each_edge_of_all(Visit& visit) const {
    const EdgeEnd* end = graph_.edges.data();
    const std::uint32_t count = graph_.size();
    for (std::uint32_t task = 0; task < count; ++task) {
      const EdgeEnd* const last = graph_.edges.data() + graph_.first_edge[task + 1];
      for (; end != last; ++end) visit(end->task(), *end, task, task);
    }
  }

  void number_rows() {
    made_.row_of.assign(graph_.size(), no_row);
    const auto add = [&](std::uint32_t task) {
      made_.row_of[task] = static_cast<RowIndex>(made_.task_of.size());
      made_.task_of.push_back(task);
    };
    for (std::uint32_t task = 0; task < graph_.size(); ++task) {
      if (is_mine(task)) add(task);
    }
    made_.rows = static_cast<RowIndex>(made_.task_of.size());
    // Edges of a ghost to other shards count, too: its home knows them.
    unusual_ = std::any_of(graph_.edges.begin(), graph_.edges.end(),
                           [](EdgeEnd end) { return end.kind() != EdgeKind::strong; });
    std::vector<bool> ghost(graph_.size(), false);
    for (RowIndex row = 0; row < made_.rows; ++row) {
      for (const EdgeEnd end : graph_.in_edges(made_.task_of[row])) ghost[end.task()] = !is_mine(end.task());
    }
    for (std::uint32_t task = 0; task < graph_.size(); ++task) {
      if (ghost[task]) add(task);
    }
    made_.ghosts = static_cast<RowIndex>(made_.task_of.size()) - made_.rows;
    for (RowIndex row = 0; row < made_.rows; ++row) {
      made_.first_in.push_back(static_cast<std::uint32_t>(made_.in.size()));
      for (const EdgeEnd end : graph_.in_edges(made_.task_of[row]))
        made_.in.emplace_back(made_.row_of[end.task()], end.kind());
    }
    made_.first_in.resize(made_.size() + 1, static_cast<std::uint32_t>(made_.in.size()));
  }

  /// Leaves in `first_out`, one place further than it is to be, where the successors of each row begin.
  void count_successors() {
    std::vector<std::uint8_t> of_kind;
    for (const detail::TaskKind& kind : graph_.kinds) {
      of_kind.push_back(flags_of(graph_, kind));
      unusual_ = unusual_ || graph_.policies[kind.policy].starts_from_settled();
    }
    made_.flags.resize(made_.size());
    if (sharding_ == nullptr) {
      for (std::uint32_t task = 0; task < made_.rows; ++task) {
        made_.flags[task] = of_kind[graph_.task_kinds[task]];
        if (graph_.edge_count(task) == 0) made_.roots.push_back(task);
      }
    } else {
      flag_rows(of_kind);
    }
    count_edges();
  }
  void flag_rows(const std::vector<std::uint8_t>& of_kind) {
    for (std::uint32_t task = 0; task < graph_.size(); ++task) {
      const RowIndex row = row_of(task);
      if (row == no_row) continue;
      const std::uint8_t flags = of_kind[graph_.task_kinds[task]];
      made_.flags[row] = is_own(row) ? flags : flags & (row_flag::plain | row_flag::ends_by_itself);
      if (is_own(row) && graph_.edge_count(task) == 0) made_.roots.push_back(row);
    }
  }
  void count_edges() {
    made_.first_out.assign(made_.size() + 2, 0);
    std::uint32_t* const after = made_.first_out.data() + 2;
    bool all_strong = true;
    if (sharding_ == nullptr) {
      for (const EdgeEnd end : graph_.edges) {
        ++after[end.task()];
        all_strong = all_strong && end.kind() == EdgeKind::strong;
      }
    } else {
      each_edge([&](RowIndex predecessor, EdgeEnd end, std::uint32_t, RowIndex row) {
        ++after[predecessor];
        all_strong = all_strong && end.kind() == EdgeKind::strong;
        if (!is_own(predecessor)) made_.flags[row] |= row_flag::elsewhere;
      });
    }
    unusual_ = unusual_ || !all_strong;
    std::uint32_t sum = 0;
    for (RowIndex row = 0; row < made_.size(); ++row) {
      if (after[row] == 0) made_.flags[row] |= row_flag::home_waits | row_flag::kept;
      sum += after[row];
      after[row] = sum;
    }
  }

  /// With shards the successors are tasks yet.
  void put_successors() {
    made_.out.resize(made_.first_out.back());
    Successor* const out = made_.out.data();
    std::uint32_t* const next = made_.first_out.data() + 1;
    each_edge([&](RowIndex predecessor, EdgeEnd end, std::uint32_t task, RowIndex) {
      out[next[predecessor]++] = Successor(task, end.kind());
    });
    made_.first_out.pop_back();
  }

  void look_at_shards() {
    std::vector<ShardIndex> some;
    made_.first_other.push_back(0);
    for (RowIndex row = 0; row < made_.size(); ++row) {
      some.clear();
      if (!is_own(row)) some.push_back(sharding_->shard_of[made_.task_of[row]]);
      for (const Successor successor : made_.successors(row)) {
        if (!is_mine(successor.row())) some.push_back(sharding_->shard_of[successor.row()]);
      }
      std::sort(some.begin(), some.end());
      std::unique_copy(some.begin(), some.end(), std::back_inserter(made_.other_shards));
      made_.first_other.push_back(static_cast<std::uint32_t>(made_.other_shards.size()));
      if (is_own(row) && !some.empty()) made_.flags[row] |= row_flag::awaited;
    }
    for (RowIndex row = 0; row < made_.size(); ++row) {
      const auto begin = made_.out.begin() + made_.first_out[row];
      const auto end = made_.out.begin() + made_.first_out[row + 1];
      for (auto successor = begin; successor != end; ++successor) {
        const RowIndex other = made_.row_of[successor->row()];
        *successor = Successor(is_own(other) ? other : no_row, successor->kind());
      }
      std::stable_partition(begin, end, [&](Successor successor) {
        return successor.row() != no_row && (made_.flags[successor.row()] & row_flag::awaited) != 0;
      });
    }
  }

  /// Flags that depend on edges which are not strong, or on successors that start from settled inputs.
  void look_at_edges() {
    const auto unset = [&](RowIndex row, int flags) {
      if (row != no_row) made_.flags[row] &= static_cast<std::uint8_t>(~flags);
    };
    graph_.each_edge([&](const detail::Edge& edge, std::uint32_t) {
      const RowIndex from = row_of(edge.predecessor), to = row_of(edge.successor);
      const bool records = graph_.policy(edge.successor).starts_from_settled();
      if (edge.kind != EdgeKind::strong) {
        unset(to, row_flag::plain | row_flag::ends_by_itself | row_flag::lean);
        if (from != no_row) made_.flags[from] |= row_flag::home_waits;
      }
      if (edge.kind != EdgeKind::strong || records) unset(from, row_flag::lean);
      // Its condition is evaluated where the predecessor ran: more than a lane says quickly.
      if (edge.kind == EdgeKind::conditional) unset(from, row_flag::ends_by_itself);
      if (records && is_own(from) && !is_own(to)) made_.flags[from] |= row_flag::presses;
    });
  }

  void add_conditionals() {
    for (const detail::Condition& condition : graph_.conditions) {
      const RowIndex row = row_of(graph_.edges[condition.edge].task());
      if (row != no_row) made_.conditionals.push_back({row, condition.edge, condition.code});
    }
    std::stable_sort(
        made_.conditionals.begin(), made_.conditionals.end(),
        [](const Program::Conditional& a, const Program::Conditional& b) { return a.row < b.row; });
  }

  const Fragment& graph_;
  const Sharding* const sharding_;
  bool unusual_ = false;  ///< look_at_edges() has something to find
  Program made_;
};

}  // namespace

std::span<const Program::Conditional> Program::conditionals_of(RowIndex row) const {
  const auto first =
      std::lower_bound(conditionals.begin(), conditionals.end(), row,
                       [](const Conditional& one, RowIndex wanted) { return one.row < wanted; });
  auto last = first;
  while (last != conditionals.end() && last->row == row) ++last;
  return {first, last};
}

std::uint32_t Program::readers(RowIndex row) const {
  if (first_other.empty()) return first_out[row + 1] - first_out[row];
  const auto to = successors(row);
  const auto here = std::count_if(to.begin(), to.end(), [](Successor one) { return one.row() != no_row; });
  return static_cast<std::uint32_t>(here) + (row < rows ? static_cast<std::uint32_t>(others(row).size()) : 0);
}

std::shared_ptr<const Program> make_program(const Fragment& graph, const Sharding* sharding) {
  return std::make_shared<const Program>(Maker(graph, sharding).make());
}

}  // namespace dag
