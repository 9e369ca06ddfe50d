// The many rows of which there is little to say: told to the cell and settled a word of 64 at a time, instead
// of one after the other. Such a row is lean, in no contact with other shards, and finished by its first
// attempt on a lane here (HomeRows::by_words). Any fact or wish about it makes it a row like others at once,
// also when it has been told already: each stage handles those rows of a word by themselves.
//
// Steps that are skipped: a value goes when its readers have settled. Where the kind returns none there is
// nothing to go, so readers of such rows are not counted down, and these rows never count as let go.

#include <algorithm>
#include <span>

#include "libdag/home/home_impl.hpp"

namespace dag {

void Home::Impl::find_rows_by_words() {
  const Part& part = table.part(0);
  const Program& program = *part.program;
  DAG_CHECK(part.rows_begin == 0);
  constexpr unsigned looked_at = row_flag::lean | row_flag::elsewhere | row_flag::presses | row_flag::awaited;
  RowIndex count = 0;
  for (RowIndex begin = 0; begin < program.rows; begin += 64) {
    RowWord found{begin / 64, 0};
    const RowIndex end = std::min(program.rows - begin, RowIndex{64});
    for (RowIndex row = 0; row < end; ++row) {
      const bool is_one = (program.flags[begin + row] & looked_at) == row_flag::lean;
      found.bits |= std::uint64_t{is_one} << row;
    }
    by_words.set(found);
    count += found.count();
  }
  const std::vector<detail::TaskKind>& kinds = part.fragment->kinds;
  if (count == program.rows &&
      std::none_of(kinds.begin(), kinds.end(), [](const auto& kind) { return kind.returns; }))
    return;
  const auto may_leave_a_value = [&](RowIndex row) {
    return (program.flags[row] & row_flag::lean) == 0 || table.kind_of(table[row]).returns;
  };
  for (RowIndex row = 0; row < program.rows; ++row) {
    if (!by_words.has(row)) continue;
    if (may_leave_a_value(row)) returning.add(row);
    for (const detail::EdgeEnd end : part.in_edges(row)) {
      if (may_leave_a_value(end.task())) releasing.add(row);
    }
  }
}

/// False: each end has to be looked at by itself.
bool Home::Impl::notes_by_words() const {
  return !ends_undone && parked_rows == 0 && askers.empty() && !sink.wants_runs();
}

/// The row has finished by its first attempt on a lane. If all that it rests on was sent, it may be sent,
/// too. False: there is more to it.
bool Home::Impl::note_by_word(RowIndex row) {
  if (!by_words.has(row) || noted_rows.has(row)) return false;
  // A value that may be read elsewhere is told with the row, as long as somebody may read it.
  const bool returns = returning.has(row);
  if (returns && options.several_processes) return false;
  const bool any = is_planted(options.planted, PlantedInHome::words_not_closed);
  for (const detail::EdgeEnd end : table.part(0).in_edges(row)) {
    if (!sent_rows.has(end.task()) && !any) return false;
  }
  ++counts.ended;
  noted_rows.add(row);
  sent_rows.add(row);
  ledger.put_finished(row, returns ? name_bytes : 0);
  return true;
}

/// Notes the ends at the beginning of the list that are so, and returns their number. Lanes report a row
/// once: if no home has touched it, it has ended as they say.
std::size_t Home::Impl::note_by_words(std::span<const QuickEnd> ends) {
  std::size_t done = 0;
  while (done < ends.size() && ends[done].attempt == 1 && note_by_word(ends[done].row)) {
    const QuickEnd& quick = ends[done++];
    if (is_observed(quick)) observe(quick.row, quick.ran);
  }
  return done;
}

/// The rows of the word of which there is still no more to say.
RowWord Home::Impl::alike(RowWord some) const { return {some.word, some.bits & by_words[some.word]}; }

void Home::Impl::write(message::Outcomes& outcomes, RowWord finished) {
  RowWord named = alike(finished);
  if (options.several_processes) named.bits &= ~returning[finished.word];
  if (named.bits != 0 && table.part(0).program->task_of.empty()) {
    outcomes.first_try.push_back({{0, named.first()}, named.bits});
  } else {
    named.each([&](RowIndex row) { write_plain(outcomes, row); });
  }
  RowWord{finished.word, finished.bits & ~named.bits}.each([&](RowIndex row) {
    write(outcomes, Ledger::Entry{row, false});
  });
}

void Home::Impl::settle(RowWord finished) {
  const RowWord quick = alike(finished);
  RowWord{finished.word, finished.bits & ~quick.bits}.each([this](RowIndex row) { row_settled(row); });
  settled_rows.add(quick);
  counts.settled += quick.count();
  // With spawned tasks a row may stand for the output of another, whatever its own kind returns.
  const bool quiet = table.part_count() == 1;
  RowWord left_over = quick;
  if (quiet) left_over.bits &= releasing[finished.word] | returning[finished.word];
  left_over.each([this](RowIndex row) {
    release_inputs(row);
    maybe_let_go(row);
  });
}

}  // namespace dag
