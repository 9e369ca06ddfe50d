// What a lane's thread does: find work, run it, follow the edges of bare rows, report in batches.

#include <limits>

#include "actors/lanes/lane.hpp"
#include "libdag/base/limits.hpp"

namespace dag {
namespace {

/// A kernel that this lane has not seen may be as long as it likes.
constexpr std::int64_t unknown_ticks = std::numeric_limits<std::int32_t>::max();
/// A lane that never runs dry looks into the inbox as often, so that what comes from outside gets its turn.
constexpr std::uint32_t rows_between_inbox = 64;

}  // namespace

void Lanes::run(Lane& lane) {
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (lane.next_row) {
      run_row(lane, *lane.report_shard, *std::exchange(lane.next_row, std::nullopt));
    } else {
      std::optional<Work> work = find_work(lane);
      if (!work) continue;
      if (work->handed_out) {
        flush(lane);
        lane.last_end = 0;
        run_handed_out(lane, *work->handed_out);
      } else {
        LaneShard& shard = *work->ready.shard;
        if (shard.retired.load(std::memory_order_seq_cst)) continue;
        if (lane.report_shard != &shard) flush(lane);
        const Next claim = shard.table.apply(work->ready.row, Claimed{});
        if (claim.what != Do::run) continue;  // Taken back, lent or closed meanwhile.
        run_row(lane, shard, {work->ready.row, claim.word.attempt});
      }
    }
    if (lane.abandoned.load()) return;  // Nothing of the process may be touched from here on.
  }
}

std::optional<Work> Lanes::find_work(Lane& lane) {
  if (inbox_.has_pressing() || (++lane.searches % rows_between_inbox == 0 && inbox_.has_any())) {
    lane.last_end = 0;
    if (auto work = inbox_.pop(Priority::normal, lane.inside, lane.rows, 0)) return work;
  }
  if (auto ready = lane.rows.pop([&](LaneShard* shard) { lane.enters(shard); })) {
    return Work{*ready, nullptr, Priority::normal};
  }
  lane.last_end = 0;
  if (auto work = look_everywhere(lane)) return work;
  flush(lane);
  lane.enters(nullptr);
  if (retired_count_.load(std::memory_order_relaxed) > 0) let_go_of_retired();
  return search(lane);
}

void Lanes::begin_report(Lane& lane, LaneShard& shard) {
  if (lane.report_shard == &shard) return;
  flush(lane);
  lane.report_shard = &shard;
  lane.reporting.store(&shard);
  lane.report.lane = static_cast<std::uint32_t>(lane.index);
  lane.report.quick.reserve(limits::flush_operations);
  lane.report_since = clock_.now();
}

void Lanes::send_report(Lane& lane) {
  if (lane.report.empty()) return;
  lane.report_shard->report(std::exchange(lane.report, {}));
  lane.report.lane = static_cast<std::uint32_t>(lane.index);
  lane.report.quick.reserve(limits::flush_operations);
  lane.report_since = clock_.now();
}

void Lanes::flush(Lane& lane) {
  if (lane.report_shard == nullptr) return;
  DAG_CHECK(!lane.next_row);
  if (!lane.report.empty()) lane.report_shard->report(std::exchange(lane.report, {}));
  lane.report_shard = nullptr;
  lane.reporting.store(nullptr);
}

/// One reading of the clock per row: where rows follow each other, one begins when the last one ended. So a
/// run seems longer by what the lane does between two kernels, some tens of nanoseconds.
void Lanes::run_row(Lane& lane, LaneShard& shard, ClaimedRow row) {
  begin_report(lane, shard);
  RowTable& table = shard.table;
  std::uint32_t missing_edge = 0;
  if (!table.gather_inputs(row.row, lane.blobs, lane.views, missing_edge)) {
    table.apply(row.row, TakenBack{row.attempt});
    lane.report.missing_inputs.push_back(row.row);
    return;
  }
  table.prefetch_successors(row.row);

  const Row& about = table[row.row];
  const detail::Fragment& fragment = table.fragment_of(about);
  const detail::TaskDraft& draft = fragment.tasks[about.task];
  const detail::Code& code = fragment.codes[draft.code];
  KernelTimes::Entry& expected = lane.times.of(code, unknown_ticks);
  if (expected.ticks > wake_ticks_) {
    if (lane.rows.size() > 0) work_was_added();
    if (expected.ticks > long_ticks_) send_report(lane);
  }
  lane.job = shard.job;
  lane.task = about.id;
  lane.task_name = fragment.names[draft.name];
  Context context(lane, row.attempt, &shard.cancelled);
  detail::Call call;
  call.arguments = lane.views.data();
  call.argument_count = static_cast<std::uint32_t>(lane.views.size());
  call.context = &context;
  const std::int64_t began = lane.last_end != 0 ? lane.last_end : clock_.now();
  if (options_.running != nullptr) {
    options_.running->begin(lane.index, about.id, {shard.epoch, row.attempt});
  }
  std::optional<Error> error = call_kernel(code, call);
  const std::int64_t ended = lane.last_end = clock_.now();
  if (lane.abandoned.load()) return;
  if (options_.running != nullptr) options_.running->end(lane.index);
  lane.blobs.clear();  // What it read may be large, and the next row may be far.
  KernelTimes::ran(expected, ended - began);
  const Duration ran = clock_.span(ended - began);

  const bool quick =
      !error && call.becomes == detail::none && context.spawned() == nullptr && about.ends_by_itself;
  if (quick && shard.gate.enter(lane.index)) {
    end_row(lane, shard, row, std::move(call.result), ran);
    shard.gate.leave(lane.index);
    // Rows that this lane runs sooner than another would be awake need no other.
    const auto waiting = static_cast<std::int64_t>(lane.rows.size());
    if (waiting > 0 && waiting * (expected.ticks + 1) > wake_ticks_) work_was_added();
  } else {
    end_slowly(lane, row, table, collect(call, std::move(error)), ran);
  }
  if (ran > long_kernel || ended - lane.report_since > age_ticks_ ||
      lane.report.size() >= limits::flush_operations) {
    send_report(lane);
  }
}

/// Inside the gate: no user code, no lock.
void Lanes::end_row(Lane& lane, LaneShard& shard, ClaimedRow row, Blob&& output, Duration ran) {
  RowTable& table = shard.table;
  if (table.apply(row.row, AttemptEnded{row.attempt, Outcome::finished}).what != Do::tell) return;
  if (output) table[row.row].output.store(std::move(output));
  lane.next_row = table.satisfy_and_claim(
      row.row,
      [&](RowIndex ready) {
        lane.rows.push({&shard, ready});
      },
      [&](RowIndex held) { lane.report.decide.push_back(held); });
  lane.report.quick.push_back({row.row, row.attempt, ran});
}

/// The end is not plain, or the gate is closed: the row stays `running`, and the home ends it.
void Lanes::end_slowly(Lane& lane, ClaimedRow row, const RowTable& table, KernelResult&& result,
                       Duration ran) {
  const Row& about = table[row.row];
  const detail::Fragment& fragment = table.fragment_of(about);
  std::vector<detail::Code> predicates;
  const Part& part = table.part(about.part);
  for (std::uint32_t i = part.first_out[about.task]; i < part.first_out[about.task + 1]; ++i) {
    const detail::Edge& edge = fragment.edges[part.out[i]];
    if (edge.kind == detail::EdgeKind::conditional) predicates.push_back(fragment.codes[edge.predicate]);
  }
  SlowEnd slow{row.row, row.attempt, {}};
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
