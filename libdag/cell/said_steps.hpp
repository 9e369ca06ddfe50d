#pragma once
// Steps that homes have reported and the cell has not settled yet; decides which may be settled now.
// cell.hpp does the recording.
//
// A step rests on earlier steps of its own home, and on rows of other shards that it names. It may be
// settled when all of these are settled, or will be together with it. Homes run ahead of the record, and
// rows of two homes may rest on each other in turn: if each home waited for the other's record, the record
// would advance one such turn per round trip. So the largest closed set is chosen: for each home the longest
// prefix of its steps whose needs are all settled, or in the chosen prefix of another home. It is found from
// above: begin with all steps, cut each home's prefix at the first step that needs something outside, until
// nothing changes. Each round removes steps or is the last.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "libdag/job/messages.hpp"

namespace dag {

/// The outcomes that are settled already.
class SettledOutcomes {
 public:
  virtual ~SettledOutcomes() = default;
  /// The bits of `tasks` that are settled by attempt 1 of `epoch`.
  virtual std::uint64_t by_first_try(Epoch epoch, const message::TaskBits& tasks) const = 0;
  /// True: settled by this attempt.
  virtual bool by(const OutputName& name) const = 0;
};

/// A step to be settled, with its shard.
struct RipeStep {
  std::uint32_t shard = 0;
  std::span<const message::TaskBits> first_try;
  std::span<const OutputName> plain;
  std::span<OutcomeRecord> records;
};

class SaidSteps {
 public:
  explicit SaidSteps(std::shared_ptr<const JobPlan> plan);

  /// A report of a shard's home; it withdraws earlier reports from `outcomes.first_step` on.
  void say(message::Outcomes outcomes);
  /// Drops the reports of a shard's home, which is gone. The next home counts its steps from 0.
  void forget(std::uint32_t shard);
  /// Unsettled reports of the present home: one Outcomes for each report, without settled steps.
  std::vector<message::Outcomes> waiting(std::uint32_t shard) const;
  /// Restores a shard without reports: `taken` of the home's steps were settled, `waiting` were not.
  void restore(std::uint32_t shard, Epoch epoch, std::uint64_t taken, std::vector<message::Outcomes> waiting);
  /// Takes out the steps that may be settled, each home's in order.
  void take(const SettledOutcomes& recorded, const std::function<void(const RipeStep&)>& record);

  /// Throws Bug when a rule is broken.
  void check_invariants(const SettledOutcomes& recorded) const;

  /// Settled steps of the present home.
  std::uint64_t taken(std::uint32_t shard) const { return streams_[shard].taken; }
  /// Rows in steps that are not settled.
  std::uint64_t rows_waiting(std::uint32_t shard) const { return streams_[shard].rows_waiting; }

 private:
  struct Stream {
    Epoch epoch;
    std::uint64_t taken = 0;  ///< also the number of the first waiting step
    std::uint64_t said = 0;   ///< one more than the last step's number
    std::deque<message::Outcomes> cuts;
    std::uint64_t rows_waiting = 0;
  };
  /// Position of a report of a row that other shards wait for.
  struct Said {
    AttemptId attempt;
    std::uint64_t step = 0;
  };

  void find_awaited();
  void remember(const message::Outcomes& cut, std::size_t step);
  void forget(const message::Outcomes& cut, std::size_t step);
  template <class Visit>
  void each_awaited(const message::Outcomes& cut, std::size_t step, Visit&& visit) const;
  bool chosen(const OutputName& name, const std::vector<std::uint64_t>& limits) const;
  bool holds(const message::Outcomes& cut, std::size_t step, const SettledOutcomes& recorded,
             const std::vector<std::uint64_t>& limits) const;
  /// The number of the stream's first step below `limit` whose needs are not met; else `limit`.
  std::uint64_t first_open(const Stream& stream, std::uint64_t limit, const SettledOutcomes& recorded,
                           const std::vector<std::uint64_t>& limits) const;
  /// By shard: the number of the first step that may not be settled yet.
  std::vector<std::uint64_t> ripe_below(const SettledOutcomes& recorded) const;
  static void check_stream(const Stream& stream);
  bool awaited(TaskId task) const {
    return task.origin == 0 && task.index / 64 < awaited_.size() &&
           (awaited_[task.index / 64] >> task.index % 64 & 1) != 0;
  }

  std::shared_ptr<const JobPlan> plan_;
  std::vector<Stream> streams_;
  /// Bits per task of the graph: another shard has a successor of it.
  std::vector<std::uint64_t> awaited_;
  /// Per awaited task of the graph that attempt 1 of its home's epoch ended: number of the reporting step,
  /// plus 1.
  std::vector<std::uint64_t> said_first_;
  /// Awaited tasks that another attempt ended.
  std::map<TaskId, Said> said_;
};

}  // namespace dag
