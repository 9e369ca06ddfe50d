#pragma once
// What homes have said and the cell has not recorded yet: which steps may be recorded now. Decides nothing
// about what recording means (cell.hpp).
//
// A step rests on those before it of its own home, and on rows of other shards that it names. It may be
// recorded when all of these are, or will be together with it. Homes run ahead of the record, each row of one
// resting on rows of the other in turn; did each wait until the other's are recorded, the record would go one
// such turn per round trip. So the choice is the largest one that is closed: for each home the longest
// beginning of its steps such that every need of it is recorded, or in the chosen beginning of another. It is
// found from above: begin with all steps, cut each home's off at the first that needs something outside,
// until nothing changes. Each round takes steps away or is the last.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "libdag/job/messages.hpp"

namespace dag {

/// What is recorded already.
class RecordedOutcomes {
 public:
  virtual ~RecordedOutcomes() = default;
  /// Those of `tasks` that are recorded by attempt 1 of `epoch`.
  virtual std::uint64_t by_first_try(Epoch epoch, const message::TaskBits& tasks) const = 0;
  /// Recorded by this attempt.
  virtual bool by(const OutputName& name) const = 0;
};

/// A step that is to be recorded, and whose it is.
struct RipeStep {
  std::uint32_t shard = 0;
  std::span<const message::TaskBits> first_try;
  std::span<const OutputName> plain;
  std::span<OutcomeRecord> records;
};

class SaidSteps {
 public:
  explicit SaidSteps(std::shared_ptr<const JobPlan> plan);

  /// The home of a shard says this; it withdraws what it said before from `outcomes.first_step` on.
  void say(message::Outcomes outcomes);
  /// The home of a shard is gone, and what it said with it. The next one counts its steps from 0.
  void forget(std::uint32_t shard);
  /// What waits of the present home: one Outcomes for each that it said, without what was taken out.
  std::vector<message::Outcomes> waiting(std::uint32_t shard) const;
  /// Goes on from there, where `taken` of the home's steps were taken out. Of a shard that said nothing yet.
  void restore(std::uint32_t shard, Epoch epoch, std::uint64_t taken, std::vector<message::Outcomes> waiting);
  /// Takes out what may be recorded, each home's steps in their order.
  void take(const RecordedOutcomes& recorded, const std::function<void(const RipeStep&)>& record);

  /// Steps of the present home that were taken out.
  std::uint64_t taken(std::uint32_t shard) const { return streams_[shard].taken; }
  /// Rows in steps that were not.
  std::uint64_t rows_waiting(std::uint32_t shard) const { return streams_[shard].rows_waiting; }

 private:
  struct Stream {
    Epoch epoch;
    std::uint64_t taken = 0;  ///< also the number of the first step that waits
    std::uint64_t said = 0;   ///< one more than the number of the last
    std::deque<message::Outcomes> cuts;
    std::uint64_t rows_waiting = 0;
  };
  /// Where a row that other shards wait for was said.
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
  bool holds(const message::Outcomes& cut, std::size_t step, const RecordedOutcomes& recorded,
             const std::vector<std::uint64_t>& limits) const;
  /// The number of the first step of the stream below `limit` that does not hold; else `limit`.
  std::uint64_t first_open(const Stream& stream, std::uint64_t limit, const RecordedOutcomes& recorded,
                           const std::vector<std::uint64_t>& limits) const;
  bool awaited(TaskId task) const {
    return task.origin == 0 && task.index / 64 < awaited_.size() &&
           (awaited_[task.index / 64] >> task.index % 64 & 1) != 0;
  }

  std::shared_ptr<const JobPlan> plan_;
  std::vector<Stream> streams_;
  /// One bit per task of the graph: another shard has a successor of it.
  std::vector<std::uint64_t> awaited_;
  /// Per task of the graph, when it is awaited, and was said by attempt 1 of its home's epoch: in which step,
  /// plus 1.
  std::vector<std::uint64_t> said_first_;
  /// Awaited ones that were said by another attempt.
  std::map<TaskId, Said> said_;
};

}  // namespace dag
