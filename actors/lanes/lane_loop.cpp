// What a lane's thread does: find work, run it, follow the edges of bare rows, report in batches.

#include "actors/lanes/lane.hpp"
#include "libdag/base/limits.hpp"

namespace dag {
namespace {

/// A report that has waited this long goes to the home at the next task border.
constexpr Duration report_age_max = std::chrono::milliseconds(1);
/// After a kernel that ran at least this long, nothing waits for the next border: the next one may be as
/// long.
constexpr Duration long_kernel = std::chrono::microseconds(100);

}  // namespace

void Lanes::run(Lane& lane) {
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (lane.next_row != no_row) {
      run_row(lane, *lane.report_shard, std::exchange(lane.next_row, no_row));
    } else {
      std::optional<Work> work = find_work(lane);
      if (!work) continue;
      if (work->shard != nullptr) {
        if (lane.report_shard != work->shard) flush(lane);
        run_row(lane, *work->shard, work->row);
      } else {
        flush(lane);
        run_handed_out(lane, *work->handed_out);
      }
    }
    if (lane.abandoned.load()) return;  // Nothing of the process may be touched from here on.
  }
}

std::optional<Work> Lanes::find_work(Lane& lane) {
  lane.inside.store(nullptr);
  if (auto work = lane.queue.pop(lane.inside)) return work;
  flush(lane);
  if (retired_count_.load(std::memory_order_relaxed) > 0) let_go_of_retired();

  const auto steal = [&]() -> std::optional<Work> {
    const std::lock_guard lock(lanes_mutex_);
    if (auto work = lane.queue.steal(lane.inside)) return work;
    const bool known = lane.index < options_.victims.size();
    for (std::size_t i = 1; i < lanes_.size(); ++i) {
      const std::size_t victim =
          known ? options_.victims[lane.index][i - 1] : (lane.index + i) % lanes_.size();
      if (auto work = lanes_[victim]->queue.steal(lane.inside)) return work;
    }
    return std::nullopt;
  };
  std::uint32_t seen = pushes_.load(std::memory_order_seq_cst);
  if (auto work = steal()) return work;
  const auto spin_until = LaneClock::now() + options_.spin;
  while (options_.spin > Duration::zero() && LaneClock::now() < spin_until) {
    if (pushes_.load(std::memory_order_acquire) != seen) return std::nullopt;  // The caller looks again.
  }
  idle_.fetch_add(1, std::memory_order_seq_cst);
  seen = pushes_.load(std::memory_order_seq_cst);
  std::optional<Work> work = steal();
  if (!work && !stopping_.load()) pushes_.wait(seen, std::memory_order_seq_cst);
  idle_.fetch_sub(1, std::memory_order_seq_cst);
  return work;
}

void Lanes::begin_report(Lane& lane, LaneShard& shard) {
  if (lane.report_shard == &shard) return;
  flush(lane);
  lane.report_shard = &shard;
  lane.reporting.store(&shard);
  lane.report.lane = static_cast<std::uint32_t>(lane.index);
  lane.report_since = LaneClock::now();
}

void Lanes::flush(Lane& lane) {
  if (lane.report_shard == nullptr) return;
  DAG_CHECK(lane.next_row == no_row);
  if (!lane.report.empty()) lane.report_shard->report(std::exchange(lane.report, {}));
  lane.report_shard = nullptr;
  lane.reporting.store(nullptr);
}

void Lanes::run_row(Lane& lane, LaneShard& shard, RowIndex row) {
  begin_report(lane, shard);
  RowTable& table = shard.table;
  const Next claim = table.apply(row, Claimed{});
  if (claim.what != Do::run) return;  // Taken back, lent or closed meanwhile.
  const std::uint32_t attempt = claim.word.attempt;
  std::uint32_t missing_edge = 0;
  if (!table.gather_inputs(row, lane.blobs, lane.views, missing_edge)) {
    table.apply(row, TakenBack{attempt});
    lane.report.missing_inputs.push_back(row);
    return;
  }

  const Row& about = table[row];
  const detail::Fragment& fragment = table.fragment_of(about);
  const detail::TaskDraft& draft = fragment.tasks[about.task];
  lane.job = shard.job;
  lane.task = about.id;
  lane.task_name = fragment.names[draft.name];
  Context context(lane, attempt, &shard.cancelled);
  const auto began = LaneClock::now();
  if (options_.running != nullptr) options_.running->begin(lane.index, about.id, {shard.epoch, attempt});
  KernelResult result = run_kernel(fragment.codes[draft.code], lane.views, nullptr, context);
  const Duration ran = LaneClock::now() - began;
  if (lane.abandoned.load()) return;
  if (options_.running != nullptr) options_.running->end(lane.index);
  lane.last_ran = ran;
  end_row(lane, shard, row, attempt, std::move(result), ran);

  const bool due = ran > long_kernel || began - lane.report_since > report_age_max ||
                   lane.report.size() >= limits::flush_operations;
  if (!due || lane.report.empty()) return;
  if (lane.next_row == no_row) {
    flush(lane);
  } else {
    // The row that runs next keeps the lane on this shard; what is known goes out.
    shard.report(std::exchange(lane.report, {}));
    lane.report.lane = static_cast<std::uint32_t>(lane.index);
    lane.report_since = began;
  }
}

void Lanes::end_row(Lane& lane, LaneShard& shard, RowIndex row, std::uint32_t attempt, KernelResult&& result,
                    Duration ran) {
  RowTable& table = shard.table;
  Row& about = table[row];
  const bool quick =
      !result.error && !result.spawned && result.becomes == detail::none && about.ends_by_itself;
  if (quick && shard.gate.enter(lane.index)) {
    if (table.apply(row, AttemptEnded{attempt, Outcome::finished}).what == Do::tell) {
      about.output.store(std::move(result.output));
      table.satisfy_local_strong(
          row,
          [&](RowIndex ready) {
            if (lane.next_row != no_row) {
              lane.queue.push({&shard, lane.next_row, nullptr, Priority::normal});
              wake_one();
            }
            lane.next_row = ready;
          },
          [&](RowIndex held) { lane.report.decide.push_back(held); });
      lane.report.quick.push_back({row, attempt, ran});
    }
    shard.gate.leave(lane.index);
    return;
  }

  const detail::Fragment& fragment = table.fragment_of(about);
  std::vector<detail::Code> predicates;
  const Part& part = table.part(about.part);
  for (std::uint32_t i = part.first_out[about.task]; i < part.first_out[about.task + 1]; ++i) {
    const detail::Edge& edge = fragment.edges[part.out[i]];
    if (edge.kind == detail::EdgeKind::conditional) predicates.push_back(fragment.codes[edge.predicate]);
  }
  SlowEnd slow{row, attempt, {}};
  slow.ended.task = about.id;
  slow.ended.conditions = run_predicates(predicates, result);
  slow.ended.outcome = result.error ? Outcome::failed : Outcome::finished;
  slow.ended.error = std::move(result.error);
  if (!slow.ended.error) {
    slow.ended.output = std::move(result.output);
    slow.ended.spawned = std::move(result.spawned);
    slow.ended.becomes = result.becomes;
  }
  slow.ended.ran = ran;
  lane.report.slow.push_back(std::move(slow));
}

void Lanes::run_handed_out(Lane& lane, const HandedOut& work) {
  const Attempt& attempt = work.attempt;
  const AttemptKey key{attempt.job, attempt.task, attempt.id};
  Ended ended;
  if (work.cancelled->load()) {
    // Not even begun: the job actor it was meant for may be another object by now.
    ended.task = attempt.task;
    ended.id = attempt.id;
    ended.outcome = Outcome::cancelled;
  } else {
    lane.job = attempt.job;
    lane.task = attempt.task;
    lane.task_name = attempt.name;
    {
      const std::lock_guard lock(lane.mutex);
      lane.running = key;
    }
    const auto began = LaneClock::now();
    if (options_.running != nullptr) options_.running->begin(lane.index, attempt.task, attempt.id);
    ended = run_attempt(attempt, actors_, lane, work.cancelled.get());
    ended.ran = LaneClock::now() - began;
    const std::lock_guard lock(lane.mutex);
    lane.running.reset();
    if (lane.abandoned.load()) return;
    if (options_.running != nullptr) options_.running->end(lane.index);
  }
  {
    const std::lock_guard lock(handed_out_mutex_);
    handed_out_.erase(key);
  }
  work.done(std::move(ended));
}

}  // namespace dag
