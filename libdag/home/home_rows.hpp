#pragma once
// The rows of a home: their words, and the notes and facts that the home has of them. All parts of the home
// read them; the home alone changes them.

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "libdag/base/check.hpp"
#include "libdag/base/limits.hpp"
#include "libdag/home/home_state.hpp"
#include "libdag/home/row_set.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

struct HomeRows {
  HomeRows(RowTable& rows, Epoch epoch) : table(rows), own_epoch(epoch) {}

  // ---- Words and notes
  Word word(RowIndex row) const { return table.word(row); }
  bool has_ended(RowIndex row) const { return word(row).state == RowState::ended; }
  bool is(RowIndex row, std::uint32_t flags) const {
    return (notes[row].flags & flags) != 0 || ((flags & flag::noted) != 0 && noted_rows.has(row)) ||
           ((flags & flag::sent) != 0 && sent_rows.has(row)) ||
           ((flags & flag::left) != 0 && left_rows.has(row)) ||
           ((flags & flag::settled) != 0 && settled_rows.has(row));
  }
  void set(RowIndex row, std::uint32_t flags) {
    if ((flags & flag::noted) != 0) noted_rows.add(row);
    if ((flags & flag::sent) != 0) sent_rows.add(row);
    if ((flags & flag::left) != 0) left_rows.add(row);
    if ((flags & flag::settled) != 0) settled_rows.add(row);
    if ((flags & (flag::known | flag::wanted)) != 0) by_words.remove(row);
    notes[row].flags = (notes[row].flags | (flags & ~flag::in_sets)) & flag::all;
  }
  void unset(RowIndex row, std::uint32_t flags) {
    if ((flags & flag::noted) != 0) noted_rows.remove(row);
    if ((flags & flag::sent) != 0) sent_rows.remove(row);
    if ((flags & flag::left) != 0) left_rows.remove(row);
    notes[row].flags = notes[row].flags & ~flags & flag::all;
  }
  /// Makes room for the rows that the table has.
  void resize() {
    notes.resize(table.size());
    for (RowSet* const set :
         {&noted_rows, &sent_rows, &left_rows, &settled_rows, &by_words, &returning, &releasing}) {
      set->resize(table.size());
    }
  }

  // ---- Facts
  const Fact* fact(RowIndex row) const { return is(row, flag::known) ? &facts.at(row) : nullptr; }
  /// Made when missing.
  Fact& fact_of(RowIndex row) {
    set(row, flag::known);
    return facts[row];
  }
  AttemptId attempt_of(RowIndex row) const {
    const Fact* known = fact(row);
    if (known != nullptr && known->attempt) return known->attempt;
    const Epoch epoch =
        table[row].ghost ? table.routes().to[table.other_shards(row).front()].epoch : own_epoch;
    return {epoch, word(row).attempt};
  }
  OutputName output_of(RowIndex row) const { return {table.id(row), attempt_of(row)}; }
  /// True: all of them are outputs that count now.
  bool names_hold(const std::vector<OutputName>& names) const {
    return std::all_of(names.begin(), names.end(), [&](const OutputName& name) {
      const RowIndex row = table.find(name.task);
      return row != no_row && has_ended(row) && attempt_of(row) == name.attempt;
    });
  }
  /// The row whose output is this row's: itself, or the row that it became.
  RowIndex owner_of(RowIndex row) const {
    const Fact* known = fact(row);
    return known != nullptr && known->owner != no_row ? known->owner : row;
  }

  // ---- The graph's words about rows
  bool is_call(RowIndex row) const { return table.kind_of(table[row]).call != detail::CallKind::ordinary; }
  bool is_save(RowIndex row) const { return table.kind_of(table[row]).call == detail::CallKind::save; }
  bool is_exclusive(RowIndex row) const { return table.policy_of(table[row]).effects == Effects::exclusive; }
  bool varies(RowIndex row) const { return table.policy_of(table[row]).varying; }
  /// How often it may be tried. A member of a group that says nothing of it leaves that to its group.
  Retry retry_of(RowIndex row) const {
    Retry retry = table.policy_of(table[row]).retry;
    if (is(row, flag::member) && retry.attempts == 1) retry.attempts = limits::attempts_max;
    return retry;
  }
  /// Shards, except this one, where a row of ours has successors.
  std::span<const ShardIndex> foreign_shards(RowIndex row) const { return table.other_shards(row); }
  std::string describe(RowIndex row) const {
    return "task '" + table.name_of(table[row]) + "' (" + to_string(table.id(row)) + ")";
  }

  template <class Visit>  // (kind of edge, predecessor row, place among the in-edges)
  void each_in(RowIndex row, Visit&& visit) const {
    const Part& part = table.part(table[row].part);
    std::uint32_t place = 0;
    for (const detail::EdgeEnd end : part.in_edges(row))
      visit(end.kind(), part.rows_begin + end.task(), place++);
  }
  template <class Visit>  // (kind of edge, successor row; no_row: not ours)
  void each_out(RowIndex row, Visit&& visit) const {
    const Part& part = table.part(table[row].part);
    for (const Successor successor : part.out_edges(row)) {
      visit(successor.kind(), successor.row() == no_row ? no_row : part.rows_begin + successor.row());
    }
  }
  /// Visits the rows that the row's arguments name, in the order of the arguments. A row that is named twice
  /// is visited twice.
  template <class Visit>
  void each_input(RowIndex row, Visit&& visit) const {
    const Row& about = table[row];
    const Part& part = table.part(about.part);
    for (const detail::Argument& argument : part.fragment->arguments_of(about.task)) {
      if (!is_input(argument.kind)) continue;
      for (const detail::EdgeEnd end : part.in_edges(row).subspan(argument.first, argument.count)) {
        visit(part.rows_begin + end.task());
      }
    }
  }
  /// Visits reports on rows, one after another. Rows of the next reports come into the cache meanwhile, since
  /// graphs are larger than the cache.
  template <class Said, class Visit>
  void each_reading_ahead(const std::vector<Said>& list, Visit&& visit) const {
    constexpr std::size_t distance = 8;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i + distance < list.size()) {
        __builtin_prefetch(&notes[list[i + distance].row], 1);
        __builtin_prefetch(&table[list[i + distance].row], 1);
      }
      visit(list[i]);
    }
  }

  RowTable& table;
  const Epoch own_epoch;
  std::vector<Note> notes;                                ///< per row
  RowSet noted_rows, sent_rows, left_rows, settled_rows;  ///< the flags of these names
  /// Lean rows of the graph whose end concerns no other shard, and of which nothing is known or wanted. They
  /// are told and settled a word at a time (by_words.cpp).
  RowSet by_words;
  RowSet returning;  ///< of those that were so at first: their kind returns a value
  RowSet releasing;  ///< of those that were so at first: a predecessor's kind returns a value
  /// Facts of the rows that have flag::known, and of no others.
  std::unordered_map<RowIndex, Fact> facts;
};

}  // namespace dag
