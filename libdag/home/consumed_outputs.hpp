#pragma once
// Outputs that rows of another shard read, and that the other shard needs no more: their home may let them
// go. Here is who has told so of outputs of ours, and what this home has to tell of outputs of others.

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "libdag/home/home_rows.hpp"
#include "libdag/job/messages.hpp"

namespace dag {

class ConsumedOutputs {
 public:
  explicit ConsumedOutputs(const HomeRows& rows) : rows_(rows) {}

  /// The rows of the submitted graph are in the table. (No other shard reads outputs of spawned ones.)
  void add_graph() { told_.resize(all_readers().size()); }

  // ---- Ours
  /// The shard needs the output of our row no more. True: it reads the output, and says so for the first
  /// time.
  bool first_told_by(std::uint32_t shard, RowIndex row) {
    const std::span<const ShardIndex> readers = rows_.foreign_shards(row);
    const auto reader = std::find(readers.begin(), readers.end(), shard);
    if (reader == readers.end()) return false;
    const auto place = static_cast<std::size_t>(&*reader - all_readers().data());
    if (told_[place]) return false;
    told_[place] = true;
    return true;
  }

  // ---- Those of others
  /// Nothing here needs the output of that shard's task.
  void tell(std::uint32_t shard, TaskId task) { message::add_task(to_tell_[shard], task); }
  /// By shard; sent when the event is over.
  std::map<std::uint32_t, std::vector<message::TaskBits>> take_to_tell() {
    return std::exchange(to_tell_, {});
  }

  /// After an event. Throws Bug when a rule is broken.
  void check_invariants() const {
    DAG_CHECK(to_tell_.empty());
    DAG_CHECK(told_.empty() || told_.size() == all_readers().size());
  }

 private:
  const std::vector<ShardIndex>& all_readers() const { return rows_.table.part(0).program->other_shards; }

  const HomeRows& rows_;
  std::vector<bool> told_;  ///< by the reader's place in Program::other_shards
  std::map<std::uint32_t, std::vector<message::TaskBits>> to_tell_;
};

}  // namespace dag
