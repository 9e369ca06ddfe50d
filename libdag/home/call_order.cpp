// Places calls of job actors that a task spawns in the order of calls. Calls run in the order in which they
// were added; but a call that a task spawns while later calls wait for that very task (it became what it
// spawned) goes before those: behind them it would wait for itself.
//
// A recount adds all growths of a job, a step of a long training each, before anything has ended. So tasks
// before a new one are not looked at, and tasks behind it once: a task found to have no calls behind it never
// gets one, because edges are those of one part, and a row has the heads that it came with.

#include "libdag/home/home_impl.hpp"

namespace dag {

/// The calls that can end only after `row` has: by edges, by tasks that rows became, by the order of calls.
/// None of them has ended, so a recount finds the same ones when all of it is over.
std::set<RowIndex> Home::Impl::calls_behind(RowIndex row) {
  std::set<RowIndex> seen{row}, calls;
  std::set<std::uint32_t> elsewhere;  // Submitted tasks without a row of ours.
  std::vector<RowIndex> rows{row};
  std::vector<std::uint32_t> tasks;
  const auto look = [&](RowIndex other) {
    if (other == no_row || is(other, flag::vanished | flag::no_calls_behind)) return;
    if (seen.insert(other).second) rows.push_back(other);
  };
  const auto look_behind = [&](std::uint32_t task) {
    if (!submitted_out) submitted_out.emplace(*plan->graph);
    for (const OutEdge& edge : submitted_out->of(task)) {
      const RowIndex other = table.part(0).row_of(edge.successor);
      if (other != no_row && !table[other].ghost) {
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
    if (plan->shards > 1 && table[top].part == 0) {
      look_behind(table[top].task);
    } else {
      each_out(top, [&](detail::EdgeKind, RowIndex successor) { look(successor); });
    }
    if (const Fact* known = fact(top)) look(known->head);
    if (!is_call(top)) continue;
    if (top != row) calls.insert(top);
    const CallOrder& order = chain_of(top)->calls;
    if (const std::size_t next = order.place_of(top) + 1; next < order.size()) look(order[next]);
  }
  if (calls.empty() && !is_call(row)) {
    for (const RowIndex one : seen) set(one, flag::no_calls_behind);
  }
  return calls;
}

/// `behind`: the calls that wait for the task that adds it.
void Home::Impl::add_call(RowIndex row, const std::set<RowIndex>& behind) {
  ActorChain& chain = *chain_of(row);
  std::size_t at = chain.calls.size();
  while (at > chain.next && behind.contains(chain.calls[at - 1])) --at;
  if (is_planted(options.planted, Planted::calls_out_of_order) && at > chain.next + 1) --at;
  chain.calls.insert(at, row);
  // A saved state is read by nobody in the graph, and kept until a newer one is complete.
  if (is_save(row)) ++notes[row].consumers;
}

}  // namespace dag
