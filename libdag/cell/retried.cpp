#include "libdag/cell/retried.hpp"

#include <algorithm>
#include <bit>

#include "libdag/cell/done_tasks.hpp"
#include "libdag/outputs/digest.hpp"

namespace dag {
namespace {

/// Takes over the done tasks.
class Taken {
 public:
  Taken(const CellSnapshot& ended, JobId job, const OutputsHeld& outputs) : ended_(ended) {
    auto plan = std::make_shared<JobPlan>(*ended.plan);
    plan->job = job;
    plan->seed = job.value;
    inline_bytes_max_ = plan->inline_bytes_max;
    to_.genesis = genesis_of(std::move(plan), ended.leaders_run, ended.replicas);
    to_.genesis.retries = ended.plan->job;
    to_.done.resize(ended.plan->graph->size());
    if (ended.state.version > 0) take(DoneTasks(ended, outputs), outputs);
  }
  Retried result() { return std::move(to_); }

 private:
  void take(const DoneTasks& tasks, const OutputsHeld& outputs) {
    to_.done = tasks.all();
    to_.genesis.counts.open = static_cast<std::uint64_t>(std::count(to_.done.begin(), to_.done.end(), false));
    for (const auto& [task, bytes] : outputs) {
      if (task < to_.done.size() && to_.done[task] && bytes) outputs_[tasks.owner_of(task)] = bytes;
    }
    for (const message::ShardHome& home : ended_.state.homes)
      to_.genesis.state.homes.push_back({Life{}, home.epoch});
    for (std::size_t shard = 0; shard < ended_.shards.size(); ++shard) {
      for (const SettledOutcome& one : ended_.shards[shard].settled) {
        const auto root = tasks.root_of(one.record.task);
        if (root && tasks.is_done(*root)) take(shard, one.record);
      }
    }
    for (const message::FirstTry& tried : ended_.first_try) take(tasks, tried);
  }

  void take(std::size_t shard, OutcomeRecord record) {
    count(record.outcome, 1);
    if (const auto bytes = outputs_.find(record.task); bytes != outputs_.end() && !record.value) {
      hold(record, bytes->second);
    } else if (!record.value) {
      record.digest = 0;  // Made again it may be another, as that of any task that runs again.
    }
    to_.genesis.shards[shard].settled.push_back({std::move(record), Life{}});
  }

  void hold(OutcomeRecord& record, const Blob& bytes) {
    record.has_output = true;
    record.size_bytes = bytes.size_bytes();
    if (record.digest == 0) record.digest = digest_of(bytes);
    if (bytes.size_bytes() <= inline_bytes_max_) {
      record.value = bytes;
    } else {
      to_.held.push_back({record, bytes});
      to_.held.back().record.spawned = nullptr;
    }
  }

  void take(const DoneTasks& tasks, const message::FirstTry& tried) {
    message::FirstTry taken{tried.epoch, {}};
    for (const message::TaskBits& some : tried.tasks) {
      message::TaskBits named{some.first, 0};
      some.each([&](TaskId task) {
        if (!tasks.is_done(task.index)) return;
        if (outputs_.contains(task))
          return take(ended_.plan->shard_of[task.index], finished(task, tried.epoch));
        named.bits |= message::bit_of(task).bits;
      });
      count(Outcome::finished, static_cast<std::uint64_t>(std::popcount(named.bits)));
      if (named.bits != 0) taken.tasks.push_back(named);
    }
    if (!taken.tasks.empty()) to_.genesis.first_try.push_back(std::move(taken));
  }

  static OutcomeRecord finished(TaskId task, Epoch epoch) {
    OutcomeRecord record;
    record.task = task;
    record.attempt = {epoch, 1};
    record.outcome = Outcome::finished;
    return record;
  }

  void count(Outcome outcome, std::uint64_t tasks) {
    CellCounts& counts = to_.genesis.counts;
    if (outcome == Outcome::none) return;
    counts.settled += tasks;
    (outcome == Outcome::finished ? counts.finished : counts.skipped) += tasks;
  }

  const CellSnapshot& ended_;
  std::uint64_t inline_bytes_max_ = 0;
  std::map<TaskId, Blob> outputs_;  ///< by owner
  Retried to_;
};

}  // namespace

Retried retried(const CellSnapshot& ended, JobId job, const OutputsHeld& outputs) {
  return Taken(ended, job, outputs).result();
}

}  // namespace dag
