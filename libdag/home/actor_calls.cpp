// Calls run in the order in which they were added; but a call that a task spawns while later calls wait for
// that very task (it became what it spawned) goes before those: behind them it would wait for itself.
//
// A recount adds all growths of a job, a step of a long training each, before anything has ended. So tasks
// before a new one are not looked at, and tasks behind it once: a task found to have no calls behind it never
// gets one, because edges are those of one part, and a row has the heads that it came with.

#include "libdag/home/actor_calls.hpp"

#include "libdag/base/check.hpp"
#include "libdag/base/planted.hpp"

namespace dag {

void ActorCalls::add_actors() {
  std::map<std::uint32_t, std::uint32_t> group_of;
  for (std::size_t i = 0; i < graph_.save_groups.size(); ++i) {
    for (const std::uint32_t actor : graph_.save_groups[i])
      group_of.emplace(actor, static_cast<std::uint32_t>(i));
  }
  const Part& part = rows_.table.part(0);
  std::map<std::uint32_t, std::uint32_t> here;  // group of the graph -> of this home
  for (std::uint32_t index = 0; index < graph_.actors.size(); ++index) {
    const RowIndex create = part.row_of(graph_.actors[index].create_task);
    if (create == no_row || rows_.table[create].ghost) continue;
    Actor actor;
    actor.index = index;
    actor.can_save = graph_.actors[index].save.thunk != nullptr;
    const auto grouped = group_of.find(index);
    if (grouped == group_of.end()) {
      actor.group = group_count();
      groups_.emplace_back();
    } else {
      const auto [at, added] = here.emplace(grouped->second, group_count());
      if (added) groups_.emplace_back();
      actor.group = at->second;
    }
    groups_[actor.group].push_back(size());
    number_by_index_.emplace(index, size());
    actors_.push_back(std::move(actor));
  }
}

void ActorCalls::add(RowIndex call, const std::set<RowIndex>& behind) {
  Actor& actor = actors_[number_of(call)];
  std::size_t at = actor.calls.size();
  while (at > actor.next && behind.contains(actor.calls[at - 1])) --at;
  if (is_planted(planted_, PlantedInHome::calls_out_of_order) && at > actor.next + 1) --at;
  actor.calls.insert(at, call);
}

std::set<RowIndex> ActorCalls::behind(RowIndex row) {
  none_behind_.resize(rows_.table.size());
  std::set<RowIndex> seen{row}, calls;
  std::set<std::uint32_t> elsewhere;  // Submitted tasks without a row of ours.
  std::vector<RowIndex> rows{row};
  std::vector<std::uint32_t> tasks;
  const auto look = [&](RowIndex other) {
    if (other == no_row || rows_.is(other, flag::vanished) || none_behind_[other]) return;
    if (seen.insert(other).second) rows.push_back(other);
  };
  const auto look_behind = [&](std::uint32_t task) {
    if (!out_edges_) out_edges_.emplace(graph_);
    for (const OutEdge& edge : out_edges_->of(task)) {
      const RowIndex other = rows_.table.part(0).row_of(edge.successor);
      if (other != no_row && !rows_.table[other].ghost) {
        look(other);
      } else if (elsewhere.insert(edge.successor).second) {
        tasks.push_back(edge.successor);
      }
    }
  };
  while (!rows.empty() || !tasks.empty()) {
    if (rows.empty()) {
      const std::uint32_t task = tasks.back();
      tasks.pop_back();
      look_behind(task);
      continue;
    }
    const RowIndex top = rows.back();
    rows.pop_back();
    if (several_shards_ && rows_.table[top].part == 0) {
      look_behind(rows_.table[top].task);
    } else {
      rows_.each_out(top, [&](detail::EdgeKind, RowIndex successor) { look(successor); });
    }
    if (const Fact* known = rows_.fact(top)) look(known->head);
    if (!rows_.is_call(top)) continue;
    if (top != row) calls.insert(top);
    const CallOrder& order = actor_of(top).calls;
    if (const std::size_t next = order.place_of(top) + 1; next < order.size()) look(order[next]);
  }
  if (calls.empty() && !rows_.is_call(row)) {
    for (const RowIndex one : seen) none_behind_[one] = true;
  }
  return calls;
}

RowIndex ActorCalls::take_ended(std::uint32_t number) {
  Actor& actor = actors_[number];
  const RowIndex call = actor.next_call();
  if (call == no_row || !rows_.is(call, flag::noted)) return no_row;
  ++actor.next;
  return call;
}

std::uint32_t ActorCalls::number_of(RowIndex call) const {
  const auto found = number_by_index_.find(rows_.table.kind_of(rows_.table[call]).actor);
  DAG_CHECK(found != number_by_index_.end());  // The partition keeps calls in the shard of their actor.
  return found->second;
}

void ActorCalls::check_invariants() const {
  for (const Actor& actor : actors_) {
    DAG_CHECK(actor.next <= actor.calls.size());
    const RowIndex next = actor.next_call(), last = actor.last_ended();
    DAG_CHECK(next == no_row || !rows_.is(next, flag::noted | flag::vanished));
    DAG_CHECK(last == no_row || rows_.is(last, flag::noted));
  }
}

}  // namespace dag
