// Tasks that attempts add to the graph. A spawned part belongs to one attempt of its parent: its rows run
// ahead, are settled after that attempt is, and vanish when the parent is run anew. A parent that becomes a
// spawned task ends when that one ends; a chain of such parents, thousands long, is walked with a queue.

#include <algorithm>
#include <span>

#include "libdag/graph/written_bytes.hpp"
#include "libdag/home/home_impl.hpp"

namespace dag {

using detail::CallKind;
using detail::EdgeKind;
using detail::Fragment;

/// Adds the tasks that the attempt of `row` spawned. `first_id` is known from the record, or else given
/// here.
void Home::Impl::grow(RowIndex row, OutcomeRecord& record, TaskId first_id) {
  bring_literals(row, record);
  const std::shared_ptr<const Fragment> fragment = record.spawned;
  DAG_CHECK(fragment != nullptr);
  DAG_CHECK(record.becomes == detail::none || record.becomes < fragment->size());
  const bool recorded = first_id != TaskId{};
  if (!recorded) {
    const std::optional<TaskId> first = spawned_parts.take_ids(fragment->size());
    if (!first) return fail_job({ErrorCode::internal, "the job spawned more tasks than libdag can number"});
    first_id = *first;
  }
  const std::uint32_t part = table.add(fragment, make_program(*fragment), first_id, recounting());
  add_rows(part, row);
  if (!recorded) spawned_parts.went_ahead(part, load_of(*fragment));
  const RowIndex first = table.part(part).rows_begin, end = table.part(part).rows_end;
  Fact& known = fact_of(row);
  known.attempt = record.attempt;
  known.part = part;
  const bool becomes = record.becomes != detail::none;
  if (becomes) {
    const RowIndex tail = first + record.becomes;
    known.becomes = tail;
    known.grown_attempt = record.attempt;
    set(row, flag::grown);
    starts.ended(row);
    std::vector<detail::Code> inherited = table.predicates_of(table[row]);
    inherited.insert(inherited.end(), known.inherited.begin(), known.inherited.end());
    Fact& tail_known = fact_of(tail);
    tail_known.head = row;
    tail_known.inherited = std::move(inherited);
    // Its bytes belong to its heads as well, so it must not be gone before they have taken them over.
    ++notes[tail].consumers;
    // Lanes know neither the conditions of other rows, nor the rows that end with it.
    table.apply(tail, Watched{});
    table[tail].ends_by_itself = false;
  }
  const std::set<RowIndex> behind =
      becomes && has_calls(*fragment) ? calls.behind(row) : std::set<RowIndex>{};
  for (RowIndex child = first; child < end; ++child) {
    say(child, [&] { return event::Spawned{table.id(row), record.attempt}; });
    if (is_call(child)) add_call(child, behind);
    if (crashes.lost_a_spawned_one()) table.apply(child, Watched{});
  }
  // A recount first ends the rows that are settled.
  if (state.cancelled && !recounting()) {
    for (RowIndex child = first; child < end; ++child) {
      close(child, Outcome::cancelled, Error{ErrorCode::task_cancelled, "the job was cancelled"},
            flag::by_order);
    }
  }
  if (!recounting()) open(part);
  if (becomes && !recorded) work.send(row);
}

/// Literals that the task was given and hands on: the cell has them already.
std::vector<OutcomeRecord::LiteralAbove> Home::Impl::literals_left_out(RowIndex row,
                                                                       const Fragment& spawned) const {
  std::vector<OutcomeRecord::LiteralAbove> left_out;
  const Fragment& above = table.fragment_of(table[row]);
  if (above.first_literal.empty()) return left_out;
  const std::uint32_t task = table[row].task;
  const std::span<const std::uint32_t> given(above.task_literals.data() + above.first_literal[task],
                                             above.task_literals.data() + above.first_literal[task + 1]);
  for (std::uint32_t here = 0; here < spawned.literals.size(); ++here) {
    const Blob& bytes = spawned.literals[here];
    if (bytes.size_bytes() < literal_bytes_left_out) continue;
    const auto same = std::find_if(given.begin(), given.end(), [&](std::uint32_t literal) {
      const Blob& own = above.literals[literal];
      const bool shared =
          own.bytes().data() == bytes.bytes().data() && own.size_bytes() == bytes.size_bytes();
      return shared || own.same_bytes(bytes);  // Sharing is the usual case, and costs nothing to see.
    });
    if (same != given.end()) left_out.push_back({here, *same});
  }
  return left_out;
}

void Home::Impl::leave_out_literals(RowIndex row, OutcomeRecord& record) const {
  record.literals_above = literals_left_out(row, *record.spawned);
  if (record.literals_above.empty()) return;
  auto lean = std::make_shared<Fragment>(*record.spawned);
  for (const auto [here, above] : record.literals_above) lean->literals[here] = {};
  record.spawned = std::move(lean);
}

/// Size of the report of the spawned tasks to the cell, roughly.
std::size_t Home::Impl::bytes_told_of(RowIndex row, const Fragment& spawned) const {
  std::size_t bytes = written_bytes(spawned);
  for (const auto [here, above] : literals_left_out(row, spawned))
    bytes -= spawned.literals[here].size_bytes();
  return bytes;
}

/// Why the row's attempt may not spawn that, if it may not: a copy of the record that cannot be written is
/// lost, and so is each that comes after it.
std::optional<Error> Home::Impl::spawns_too_much(RowIndex row, const Fragment& spawned) const {
  const auto more_than = [](std::size_t number, std::string of_what, std::size_t most) {
    return Error{
        ErrorCode::usage,
        "it spawned " + std::to_string(number) + " " + of_what + " at once, and " + std::to_string(most) +
            " are the most",
        "spawn fewer tasks at once (they can spawn the others), and pass large values on as outputs, "
        "which tasks read, rather than as literals"};
  };
  if (spawned.size() > limits::tasks_max) return more_than(spawned.size(), "tasks", limits::tasks_max);
  if (spawned.edges.size() > limits::edges_max)
    return more_than(spawned.edges.size(), "edges", limits::edges_max);
  if (state.replicas == 1 || written_bytes(spawned) <= spawned_bytes_max) return std::nullopt;
  const std::size_t bytes = bytes_told_of(row, spawned);
  if (bytes <= spawned_bytes_max) return std::nullopt;
  return more_than(bytes, "bytes of tasks and literals", spawned_bytes_max);
}

/// Why no process of the job could ever run one of the tasks, if that is so. The gateway asks the same of the
/// tasks that are submitted.
std::optional<Error> Home::Impl::spawns_the_impossible(const Fragment& spawned) const {
  std::vector<bool> known(spawned.policies.size(), false);  // Many kinds share one.
  for (const detail::TaskKind& kind : spawned.kinds) {
    if (known[kind.policy]) continue;
    known[kind.policy] = true;
    const Status possible =
        placement->possible(spawned.names[kind.name], spawned.policies[kind.policy], places);
    if (!possible) return possible.error();
  }
  return std::nullopt;
}

/// Puts back the literals that the record left out: the row's own fragment is known by now.
void Home::Impl::bring_literals(RowIndex row, OutcomeRecord& record) const {
  if (record.literals_above.empty()) return;
  const Fragment& above = table.fragment_of(table[row]);
  auto whole = std::make_shared<Fragment>(*record.spawned);
  for (const auto [here, in_above] : std::exchange(record.literals_above, {})) {
    DAG_CHECK(here < whole->literals.size() && in_above < above.literals.size());
    whole->literals[here] = above.literals[in_above];
  }
  record.spawned = std::move(whole);
}

/// Ends a row after the task that it became.
void Home::Impl::end_head(RowIndex head, RowIndex tail) {
  if (!is(head, flag::grown) || has_ended(head) || !is(tail, flag::noted)) return;
  Fact& known = fact_of(head);
  if (known.becomes != tail) return;
  const Fact& from = fact_of(tail);
  // The value is that of one attempt of the tail, and another attempt of the tail may give another one: so
  // the name of the end is not that of the attempt which grew.
  known.attempt = uncounted();
  const RowIndex owner = owner_of(tail);
  std::size_t own = 0;
  each_out(tail, [&](detail::EdgeKind kind, RowIndex) { own += kind == EdgeKind::conditional ? 1 : 0; });
  known.conditions.clear();
  if (from.conditions.size() > own) {
    known.conditions.assign(from.conditions.begin() + static_cast<std::ptrdiff_t>(own),
                            from.conditions.end());
  }
  known.error = from.error;
  const Outcome outcome = word(tail).outcome;
  if (outcome == Outcome::finished) {
    Blob blob = table[owner].output.load();
    const Fact* owned = fact(owner);
    known.has_output = blob || (owned != nullptr && owned->has_output);
    known.digest = owned != nullptr ? owned->digest : 0;
    known.size_bytes = blob ? blob.size_bytes() : (owned != nullptr ? owned->size_bytes : 0);
    known.owner = owner;
    table[head].output.store(std::move(blob));
    // The pin that grow() put on the tail moves to the owner.
    if (owner != tail) {
      ++notes[owner].consumers;
      consumer_done(tail);
    }
  } else {
    known.has_output = false;
    consumer_done(tail);
  }
  if (table.apply(head, Closed{outcome}).what != Do::tell) return;
  say_closed(head, outcome, {});
  note(head, false);
}

/// The part does not exist any more: another attempt of its parent counts. Calls that it made of job actors
/// have changed states that nobody may see.
void Home::Impl::vanish(std::uint32_t part, std::set<RowIndex>& touched) {
  if (is_planted(options.planted, PlantedInHome::orphan_settles)) return;
  std::vector<std::uint32_t> stack{part};
  while (!stack.empty()) {
    const std::uint32_t number = stack.back();
    stack.pop_back();
    spawned_parts.forget(number);
    for (RowIndex row = table.part(number).rows_begin; row < table.part(number).rows_end; ++row) {
      if (is(row, flag::vanished)) continue;
      DAG_CHECK(!is(row, flag::sent));
      touched.insert(row);
      if (const Fact* known = fact(row); known != nullptr && known->part != detail::none) {
        stack.push_back(known->part);
      }
    }
  }
}

}  // namespace dag
