#pragma once
// The exchange with the cell about outcomes: what is told, in which order and when, and what is settled.
//
// Outcomes go into cuts. A cut consists of steps: the cell records a step together with all that the step
// needs from other shards (cell/said_steps.hpp). One cut is under way at a time; meanwhile the next grows.
//
// The home decides what may be told (outcomes.cpp); the ledger knows no rows but their numbers.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "libdag/base/check.hpp"
#include "libdag/home/planted.hpp"
#include "libdag/home/row_set.hpp"
#include "libdag/job/messages.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

class Ledger {
 public:
  /// A row in a cut: its end, or its growth.
  struct Entry {
    RowIndex row = no_row;
    bool growth = false;
  };
  /// Rows that are settled together.
  struct Step {
    std::vector<Entry> entries;
    std::vector<RowWord> finished;  ///< rows of put_finished()
  };
  /// Lists of a cut that the cell gets as they were filled.
  struct Lists {
    std::vector<message::NeededFirst> needs_first;
    std::vector<OutputName> needs;
    std::vector<TaskId> freed;
    std::vector<message::Tried> tried;
    std::vector<TaskId> started;
  };
  /// A cut that leaves. Values are added now, because only now is it known which bytes may still be needed.
  struct Leaving : Lists {
    struct End {
      std::uint32_t needs_first = 0, needs = 0;  ///< where the step's part of those lists ends
      std::uint32_t rows = 0;                    ///< that ended
    };
    std::uint64_t number = 0;  ///< from 1
    std::uint64_t first_step = 0;
    std::vector<End> steps;
  };

  Ledger(Duration interval, PlantedInHome planted) : interval_(interval), planted_(planted) {}

  // ---- Rows that the cell has to hear of
  void add_rows(std::uint32_t count) {
    rows_own_ += count;
    filling_.resize(static_cast<RowIndex>(rows_own_));
  }
  void row_vanished() { --rows_own_; }
  /// The record of earlier homes has it.
  void row_recovered() { ++rows_said_; }
  std::uint64_t rows() const { return rows_own_; }
  /// Rows that have not left.
  std::uint64_t rows_open() const { return rows_own_ - rows_said_; }

  // ---- Filling
  /// Takes the entry into the cut that is being filled. `needs`: what the row used of other shards; nullptr
  /// if it has no predecessors there.
  void put(Entry entry, std::size_t weight_bytes, const std::vector<OutputName>* needs);
  /// The same for a row below rows(), without needs, of which there is nothing to say but that its first
  /// attempt finished: one bit.
  void put_finished(RowIndex row, std::size_t weight_bytes) {
    if (filling_[row / 64] == 0) open_word(row / 64);
    filling_.add(row);
    ++filling_rows_;
    filling_bytes_ += weight_bytes;
  }
  /// The row is to be tried again: not before the cell knows how often it was, or the home that comes after
  /// this one would begin to count anew.
  void put_tried(RowIndex row, message::Tried tried);
  /// The row may run only once, or not twice at a time: it does not before the cell knows, or the home that
  /// comes after this one would start it again.
  void put_started(RowIndex row, TaskId task);
  /// Nobody will ask for the bytes of the task. A successor home restarts from settled values, so a value may
  /// go only when the values computed from it are settled: the cell hears so when all steps that have left
  /// are.
  void free_later(TaskId task) { freed_later_.emplace_back(steps_known_ + steps_.size(), task); }
  /// Something in the cut is waited for: it leaves at once.
  void press() { pressing_ = true; }
  /// The cell has to hear of this home, also when no row can end.
  void greet();

  // ---- Leaving
  /// When the next cut leaves; nothing when there is none, or one is under way. `urgent`: at once.
  std::optional<Instant> leaves_at(Instant now, bool urgent) const;
  Leaving leave(Instant now);
  /// The entries of a step that has left and is not settled.
  const Step& step(std::uint64_t number) const { return steps_.at(number - steps_known_); }
  /// Keeps them where the cell may get another leader.
  void keep(const message::Outcomes& outcomes) { said_last_ = outcomes; }
  /// The last that was kept, if the cell has not answered it.
  const message::Outcomes* unanswered() const;
  /// Takes back the entries that have left and are not settled, from the first step that has one of the
  /// rows, and all that have not left.
  std::vector<Entry> withdraw(const std::set<RowIndex>& rows);

  // ---- Settled
  /// News from the cell; may be repeated, and come in any order.
  void add(const message::Settled& message);
  /// The next of the news, in the order of the record. steps_settled() follows.
  std::optional<message::Settled> take_next();
  /// Calls `settle` with each step that is settled now.
  template <class Settle>
  void steps_settled(std::uint64_t count, Settle&& settle) {
    DAG_CHECK(count <= steps_known_ + steps_.size());
    while (steps_known_ < count) {
      const Step step = std::move(steps_.front());
      steps_.pop_front();
      ++steps_known_;  // Before `settle`, which frees values later than all steps that have left.
      settle(step);
    }
    free_settled();
  }
  /// Number of Outcomes that the record has.
  std::uint64_t settled() const { return settled_; }
  /// The number of tries of the row, or its start, is not settled yet.
  bool awaits_settling(RowIndex row) const { return unsettled_.contains(row); }
  /// Rows that awaited it, and do not any more.
  std::vector<RowIndex> take_settled();

  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  /// Where a step's part of its cut's lists ends.
  struct StepEnd {
    std::uint32_t entries = 0, finished = 0, needs_first = 0, needs = 0;
  };
  struct Cut : Step, Lists {
    std::vector<StepEnd> steps;
    std::size_t rows = 0, bytes = 0;
  };
  Cut& open_cut();
  void open_word(std::uint32_t word);
  void end_words(Cut& cut);
  std::size_t rows_of_last() const { return cuts_.back().rows + filling_rows_; }
  void name_needs(Cut& cut, const std::vector<OutputName>& needs);
  void await_settling(RowIndex row);
  void free_settled();

  const Duration interval_;
  const PlantedInHome planted_;
  std::uint64_t rows_own_ = 0;
  std::uint64_t rows_said_ = 0;  ///< in cuts that left
  std::deque<Cut> cuts_;         ///< that have not left; the last one is being filled
  /// Rows of put_finished() in the step that is being filled, the words that have some, and their number and
  /// weight: a row is added to what lies in the cache, and the cut gets them when the step is over.
  RowSet filling_;
  std::vector<std::uint32_t> filling_words_;
  std::size_t filling_rows_ = 0, filling_bytes_ = 0;
  std::deque<Step> steps_;  ///< that left and are not settled, from number steps_known_ on
  std::uint64_t steps_known_ = 0;
  /// With the number of steps to be settled before the cell hears so. Steps that are withdrawn count on, so a
  /// number may be smaller than one before it, and is late then.
  std::deque<std::pair<std::uint64_t, TaskId>> freed_later_;
  std::uint64_t sent_ = 0, settled_ = 0;  ///< Outcomes
  bool heard_ = false;                    ///< the cell has heard of this home, or will
  bool pressing_ = false;
  Instant cut_left_;  ///< when the last cut left
  std::optional<message::Outcomes> said_last_;
  /// Rows whose number of tries, or start, is not settled: with the number of the Outcomes that has it.
  std::map<RowIndex, std::uint64_t> unsettled_;
  std::uint64_t position_ = 0;                       ///< in the stream of Settled
  std::map<std::uint64_t, message::Settled> ahead_;  ///< that came before their predecessors in the stream
};

}  // namespace dag
