#pragma once
// The rows of one shard as lanes and the home see them: words and outputs. The graph around them is that of
// programs (program.hpp). The table knows which rows an ended row touches; the home decides what that means
// for a row that is not plain (home.hpp).
//
// Rights. The home adds parts. Lanes and the home change words, through next() only. While the home counts
// rows again after a loss, no lane may be between "row ended" and "its successors are told": the home closes
// the gate and waits for the few instructions that lanes are inside it (gate.hpp). That is instead of an
// epoch in every word: decrements of an older count cannot exist, and a lane pays one store for it.

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dag/detail/fragment.hpp"
#include "libdag/base/ids.hpp"
#include "libdag/base/stable_vector.hpp"
#include "libdag/graph/program.hpp"
#include "libdag/outputs/output_slot.hpp"
#include "libdag/rows/word.hpp"

namespace dag {

struct Row {
  std::atomic<std::uint64_t> word{0};
  [[no_unique_address]] OutputSlot output;  // `part` lies in what it leaves over.
  std::uint32_t part = 0;                   ///< number of the part that the row comes from
  std::uint32_t task = 0;                   ///< its index in the part's fragment
  // Three fields are set with the row and stay; the others have their own bytes, because threads change them.
  /// Stands for a task of another shard, so that an edge from it looks like any other. Never run here.
  bool ghost : 1 = false;
  /// The home's decision on its end is waited for: by rows behind weak edges, or, if no row is behind it, by
  /// a client.
  bool home_waits : 1 = false;
  /// The row has successors in other shards.
  bool awaited : 1 = false;
  /// A lane that ran it may end it and satisfy its local strong edges by itself. Otherwise the home ends it.
  bool ends_by_itself = false;
  /// Lanes have told all shards with successors of its end (edge_news.hpp), so the home need not. Set by the
  /// lane that ended the row, before it satisfies successors; by the home, while the gate is closed.
  bool told = false;
  /// The row started anew in this epoch: the home has to correct what shards were told of it. For a ghost:
  /// its home did so, and news of lanes is older.
  bool told_by_home = false;
};
static_assert(sizeof(Row) == 32, "two rows share a cache line");

/// A fragment with rows of some of its tasks: row r of the program is row `rows_begin + r` of the table.
class Part {
 public:
  Part(std::shared_ptr<const detail::Fragment> of, std::shared_ptr<const Program> with, TaskId id,
       RowIndex begin);

  const std::shared_ptr<const detail::Fragment> fragment;
  const std::shared_ptr<const Program> program;
  const TaskId first_id;  ///< of its task 0; the others follow
  const RowIndex rows_begin, rows_end;

  TaskId id(std::uint32_t task) const { return {first_id.origin, first_id.index + task}; }
  /// no_row where neither the task nor a successor is ours.
  RowIndex row_of(std::uint32_t task) const {
    return program->row_of.empty() ? rows_begin + task : program->row_of[task];
  }
  /// The other ends are rows of the program. A ghost has no in-edges.
  std::span<const detail::EdgeEnd> in_edges(RowIndex row) const {
    const std::uint32_t* const first = first_in_ + (row - rows_begin);
    return {in_ + first[0], in_ + first[1]};
  }
  std::span<const Successor> out_edges(RowIndex row) const {
    const std::uint32_t* const first = first_out_ + (row - rows_begin);
    return {out_ + first[0], out_ + first[1]};
  }

 private:
  // Lanes find edges here at once: those of the program, or of the fragment.
  const std::uint32_t* first_in_;
  const detail::EdgeEnd* in_;
  const std::uint32_t* first_out_;
  const Successor* out_;
};

/// A row that the caller runs, with its attempt.
struct ClaimedRow {
  RowIndex row = no_row;
  std::uint32_t attempt = 0;
};

/// The ways in which a lane can tell the lanes of another process.
enum class Way : std::uint8_t {
  closed,  ///< not at all: homes tell each other
  memory,  ///< at once: a ring, or it is this process
  link,    ///< from lane to lane by a link, as certain as messages between homes
};
/// The way of a lane to another shard.
struct Route {
  Life home;
  /// The shard's epoch, as the home here knows it: lanes do not take news of another epoch.
  Epoch epoch;
  Way way = Way::closed;
  bool operator==(const Route&) const = default;
};
/// The owner of the table's shard, and the homes of the others. Set before lanes see the table, then changed
/// by the home while the gate is closed.
struct Routes {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;
  Life self;
  std::vector<Route> to;  ///< per shard
};
/// Forced by a switch of the tests: every task as a bare row where that is possible, or none.
enum class Representation : std::uint8_t { as_needed, supervised };

class RowTable {
 public:
  explicit RowTable(Representation representation = Representation::as_needed)
      : representation_(representation) {}

  /// Adds the rows and ghosts of a program of `fragment`. All are `waiting`, with as many open edges as they
  /// have in-edges, and one more where there is nothing else to wait for: the home takes that one away when
  /// it has set up whatever rows need. `closed`: all rows have one more. Returns the part's number.
  std::uint32_t add(std::shared_ptr<const detail::Fragment> fragment, std::shared_ptr<const Program> program,
                    TaskId first_id, bool closed = false);

  Row& operator[](RowIndex row) { return rows_[row]; }
  const Row& operator[](RowIndex row) const { return rows_[row]; }
  RowIndex size() const { return rows_.size(); }
  Part& part(std::uint32_t number) { return *parts_[number]; }
  const Part& part(std::uint32_t number) const { return *parts_[number]; }
  std::uint32_t part_count() const { return parts_.size(); }

  /// The row or ghost of a task; no_row when there is none. For the home's thread.
  RowIndex find(TaskId id) const;

  const detail::Fragment& fragment_of(const Row& row) const { return *parts_[row.part]->fragment; }
  const detail::TaskKind& kind_of(const Row& row) const { return fragment_of(row).kind(row.task); }
  const Policy& policy_of(const Row& row) const { return fragment_of(row).policy(row.task); }
  const std::string& name_of(const Row& row) const { return fragment_of(row).name(row.task); }
  TaskId id(const Row& row) const { return parts_[row.part]->id(row.task); }
  TaskId id(RowIndex row) const { return id(rows_[row]); }
  /// Predicates of a row's conditional out-edges, in their order.
  std::vector<detail::Code> predicates_of(const Row& row) const;

  /// For a row of this shard: the shards of its successors. For a ghost: the shard it stands for.
  std::span<const ShardIndex> other_shards(RowIndex row) const {
    const Part& in = *parts_[rows_[row].part];
    return in.program->others(row - in.rows_begin);
  }
  Routes& routes() { return routes_; }
  const Routes& routes() const { return routes_; }

  Word word(RowIndex row) const { return Word::unpacked(rows_[row].word.load(std::memory_order_acquire)); }

  /// Applies an event to a row's word, against other threads that do so at the same time.
  template <class Event>
  Next apply(RowIndex row, Event event) {
    const PackedNext after = change(rows_[row], event);
    return {Word::unpacked(after.bits), after.what};
  }
  template <class Event>
  static PackedNext change(Row& row, Event event) {
    std::uint64_t seen = row.word.load(std::memory_order_acquire);
    for (;;) {
      const PackedNext after = next_packed(seen, event);
      if (after.bits == seen || row.word.compare_exchange_weak(seen, after.bits, std::memory_order_acq_rel,
                                                               std::memory_order_acquire)) {
        return after;
      }
    }
  }

  /// Satisfies the strong edges from an ended-and-finished row to rows of this table: `ready(row)` and
  /// `decide(row)` are called for rows that owe something. The other out-edges are the home's.
  template <class Ready, class Decide>
  void satisfy_local_strong(RowIndex row, Ready&& ready, Decide&& decide) {
    each_lane_successor(row,
                        [&](RowIndex successor) { satisfy(successor, PredecessorEnded{}, ready, decide); });
  }
  /// The same, but the first row that becomes plain ready is claimed by the caller: it is not told to
  /// `ready`, it is the answer.
  template <class Ready, class Decide>
  std::optional<ClaimedRow> satisfy_and_claim(RowIndex row, Ready&& ready, Decide&& decide) {
    std::optional<ClaimedRow> claimed;
    each_lane_successor(row, [&](RowIndex successor) {
      if (claimed) {
        satisfy(successor, PredecessorEnded{}, ready, decide);
      } else if (const PackedNext after = satisfy(successor, PredecessorEndedClaiming{}, ready, decide);
                 after.what == Do::run) {
        claimed = ClaimedRow{successor, Word::attempt_in(after.bits)};
      }
    });
    return claimed;
  }
  /// Lets the rows that an end of this one will touch come into the cache meanwhile.
  void prefetch_successors(RowIndex row, const Part& in) const {
    const std::span<const Successor> out = in.out_edges(row);
    for (const Successor successor : out.first(std::min<std::size_t>(out.size(), 4))) {
      if (successor.row() != no_row) __builtin_prefetch(&rows_[in.rows_begin + successor.row()], 1);
    }
  }

  /// The blobs of a row's parameters, `views` pointing into `blobs`. False when one that must be there is not
  /// in this process (its index in the task's in-edges is left in `missing_edge`).
  bool gather_inputs(RowIndex row, std::vector<Blob>& blobs, std::vector<detail::ArgumentView>& views,
                     std::uint32_t& missing_edge) const;

 private:
  /// The rows that a lane which ended this one satisfies.
  template <class Visit>
  void each_lane_successor(RowIndex row, Visit&& visit) const {
    const Part& in = *parts_[rows_[row].part];
    for (const Successor successor : in.out_edges(row)) {
      const RowIndex other = successor.row();
      if (successor.kind() == detail::EdgeKind::strong && other != no_row) visit(in.rows_begin + other);
    }
  }
  template <class Event, class Ready, class Decide>
  PackedNext satisfy(RowIndex successor, Event event, Ready& ready, Decide& decide) {
    const PackedNext after = change(rows_[successor], event);
    if (after.what == Do::make_ready) ready(successor);
    if (after.what == Do::decide) decide(successor);
    return after;
  }

  struct Block {
    TaskId first;
    std::uint32_t count;
    std::uint32_t part;
  };

  Representation representation_;
  Routes routes_;
  StableVector<Row> rows_;
  StableVector<std::unique_ptr<Part>> parts_;
  std::vector<Block> blocks_;  // sorted by id
};

}  // namespace dag
