// The loop of a lane's thread: find work, run it, follow the edges of bare rows, report in batches.

#include <algorithm>
#include <limits>

#include "actors/lanes/checkpoints.hpp"
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
      const ClaimedRow row = *std::exchange(lane.next_row, std::nullopt);
      LaneShard& shard = *lane.next_shard;  // The shard exists: it is among the lane's reports.
      lane.enters(&shard);                  // News of another shard's row may have come in between.
      if (!shard.retired.load(std::memory_order_seq_cst)) run_row(lane, shard, row);
    } else if (alone_.wanted()) {
      // A row claimed now would wait until the other lane is done, and could go nowhere else.
      lane.enters(nullptr);
      step_aside(lane);
    } else {
      std::optional<Work> work = find_work(lane);
      if (!work) continue;
      if (work->dispatched) {
        let_go(lane);
        if (lane.rows.size() > 0) work_was_added();
        lane.last_end = 0;
        run_dispatched(lane, std::move(work->dispatched), work->band);
      } else {
        LaneShard& shard = *work->ready.shard;
        if (shard.retired.load(std::memory_order_seq_cst)) continue;
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
  write_edges(lane);
  if (auto work = look_everywhere(lane)) return work;
  if (lane.pressing) send_reports(lane);
  lane.enters(nullptr);
  if (retired_count_.load(std::memory_order_relaxed) > 0) let_go_of_retired();
  return search(lane);
}

LaneReport& Lanes::find_report(Lane& lane, LaneShard& shard) {
  auto found = std::find_if(lane.reports.begin(), lane.reports.end(),
                            [&](const Lane::OpenReport& open) { return open.shard.get() == &shard; });
  if (found == lane.reports.end()) {
    if (lane.reports.empty()) lane.reports_since = clock_.now();
    found = lane.reports.insert(found, {shard.shared_from_this(), {}});
    found->report.lane = static_cast<std::uint32_t>(lane.index);
  }
  lane.current_shard = &shard;
  lane.current = &found->report;
  return found->report;
}

void Lanes::send_reports(Lane& lane) {
  lane.pressing = false;
  for (Lane::OpenReport& open : lane.reports) {
    if (open.report.empty()) continue;
    open.shard->report(std::exchange(open.report, {}));
    open.report.lane = static_cast<std::uint32_t>(lane.index);
  }
  lane.current_shard = nullptr;  // Reports may move below, or be closed by the caller.
  note_queue();
  lane.reports_since = clock_.now();
  // A lane that is never without work forgets those that are over here.
  std::erase_if(lane.reports, [&](const Lane::OpenReport& open) {
    return open.shard->retired.load(std::memory_order_relaxed) &&
           !(lane.next_row && lane.next_shard == open.shard.get());
  });
}

/// Sends everything that others wait for, and releases the shards.
void Lanes::let_go(Lane& lane) {
  DAG_CHECK(!lane.next_row && lane.told_here.empty());
  write_edges(lane);
  if (lane.reports.empty()) return;
  send_reports(lane);
  lane.reports.clear();
}

/// A lane begins a kernel, as soon as no other lane has to be alone. False: the process ends.
inline bool Lanes::enter_kernel(Lane& lane) {
  for (;;) {
    kernel_begins(lane);
    if (!alone_.wanted()) return true;
    lane.turn.end();
    step_aside(lane);
    if (stopping_.load()) return false;
  }
}

/// Between two rows there may be something to do for edges_at_border().
inline bool Lanes::edges_wanted(const Lane& lane) const {
  return lane.unwritten > 0 || !lane.told_here.empty() || !lane.known->peers.empty() ||
         lane.known->version != edges_.version();
}

/// How old its reports may become.
inline std::int64_t Lanes::report_ticks(const Lane& lane) const {
  return lane.pressing ? pressing_ticks_ : age_ticks_;
}

/// Reads the clock once per row: a row that follows another begins when that one ended. So a run seems longer
/// by the lane's work between two kernels, some tens of nanoseconds.
void Lanes::run_row(Lane& lane, LaneShard& shard, ClaimedRow row) {
  RowTable& table = shard.table;
  const Row& about = table[row.row];
  const Part& part = table.part(about.part);
  const detail::Fragment& fragment = *part.fragment;
  const detail::TaskKind& kind = fragment.kind(about.task);
  std::uint32_t missing_edge = 0;
  lane.views.clear();
  if (kind.argument_count > 0 && !table.gather_inputs(row.row, lane.blobs, lane.views, missing_edge)) {
    table.apply(row.row, TakenBack{row.attempt});
    report_to(lane, shard).missing_inputs.push_back(row.row);
    lane.pressing = true;
    return;
  }
  report_to(lane, shard);  // So the shard stays while its kernel runs.
  table.prefetch_successors(row.row, part);

  const detail::Code& code = fragment.codes[kind.code];
  KernelTimes::Entry& expected = lane.times.of(code, unknown_ticks);
  if (expected.ticks > edge_ticks_) {
    write_edges(lane);
    if (expected.ticks > wake_ticks_ && lane.rows.size() > 0) work_was_added();
    if (expected.ticks > report_ticks(lane)) send_reports(lane);
  }
  lane.job = shard.job;
  lane.task = part.id(about.task);
  lane.attempt = {shard.epoch, row.attempt};
  lane.task_name = fragment.names[kind.name];
  // A home hands out what failed or was lost: a lane's own rows are at their first try.
  lane.number = 1;
  Context context(lane, lane.number, &shard.cancelled);
  detail::Call call;
  call.arguments = lane.views.data();
  call.argument_count = static_cast<std::uint32_t>(lane.views.size());
  call.context = &context;
  if (!enter_kernel(lane)) return;
  const std::int64_t began = lane.last_end != 0 ? lane.last_end : clock_.now();
  if (options_.running != nullptr) {
    options_.running->begin(lane.index, lane.task, lane.attempt, began);
  }
  std::optional<Error> error = call_kernel(code, call);
  if (lane.said_progress.load(std::memory_order_relaxed)) end_progress(lane);
  lane.turn.end();
  const std::int64_t ended = lane.last_end = clock_.now();
  if (lane.abandoned.load()) return;
  if (kind.argument_count > 0) lane.blobs.clear();  // Inputs may be large, and the next row far.
  KernelTimes::ran(expected, ended - began);
  const Duration ran = clock_.span(ended - began);
  if (options_.running != nullptr) options_.running->end(lane.index, error.has_value(), ran);
  if (lane.records)
    record_run(lane, instant_of(lane, ended), error ? Outcome::failed : Outcome::finished, ran, error);

  const bool quick =
      !error && call.becomes == detail::none && context.spawned() == nullptr && about.ends_by_itself;
  if (quick && shard.gate.enter(lane.index)) {
    end_row(lane, shard, row, std::move(call.result), ran);
    shard.gate.leave(lane.index);
    if (edges_wanted(lane)) edges_at_border(lane, ended);
    // Rows that this lane runs sooner than another would be awake need no other.
    const auto waiting = static_cast<std::int64_t>(lane.rows.size());
    if (waiting > 0 && waiting * (expected.ticks + 1) > wake_ticks_) work_was_added();
  } else {
    KernelResult result = collect(call, std::move(error));
    std::shared_ptr<const void> credit;
    if (result.spawned) {
      credit = take_credit(lane, shard.job, *result.spawned,
                           [&] { return shard.cancelled.load() || shard.retired.load(); });
      lane.last_end = 0;
    }
    end_slowly(lane, shard, row, std::move(result), ran);
    report_to(lane, shard).slow.back().credit = std::move(credit);
    edges_at_border(lane, ended);
  }
  const LaneReport& report = report_to(lane, shard);
  const bool many = report.quick.size() >= limits::flush_operations ||
                    (!report.others_empty() && report.size() >= limits::flush_operations);
  if (many || ended - lane.reports_since > report_ticks(lane)) send_reports(lane);
}

/// Called before the lane reports spawned tasks. Results that others wait for are sent before it waits.
template <class GiveUp>
std::shared_ptr<const void> Lanes::take_credit(Lane& lane, JobId job, const detail::Fragment& spawned,
                                               GiveUp&& give_up) {
  const auto waits = [&] {
    write_edges(lane);
    if (!lane.reports.empty()) send_reports(lane);
    if (lane.rows.size() > 0) work_was_added();
  };
  return spawn_credits_->take(job, load_of(spawned), waits, [&] { return stopping_.load() || give_up(); });
}

/// Waits until no lane has to be alone. That may be long, so results that others wait for are sent first.
void Lanes::step_aside(Lane& lane) {
  write_edges(lane);
  if (!lane.reports.empty()) send_reports(lane);
  lane.last_end = 0;
  alone_.stand_aside([this] { return stopping_.load(); });
}

bool Lanes::nobody_runs() const {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lane(i).turn.number() % 2 != 0) return false;
  }
  return true;
}

/// When its clock showed so many ticks, which was just now. The steady clock is asked again so soon that the
/// two have not drifted apart by more than it takes to ask.
Instant Lanes::instant_of(Lane& lane, std::int64_t ticks) const {
  const std::int64_t since = ticks - lane.known_ticks;
  if (since >= 0 && since < clock_again_ticks_) return lane.known_at + clock_.span(since);
  const std::int64_t before = clock_.now();
  const Instant at = lane_now();
  // If it lost its processor in between, the two do not belong together.
  if (clock_.now() - before < clock_again_ticks_ / 50) {
    lane.known_ticks = before;
    lane.known_at = at;
  }
  return at;
}

void Lanes::record(Lane& lane, Instant at, EventWhat what) {
  lane.records->put({at,
                     {options_.records.process, static_cast<std::uint32_t>(lane.index)},
                     lane.job,
                     lane.task,
                     lane.attempt,
                     std::move(what)});
}

void Lanes::record_run(Lane& lane, Instant at, Outcome outcome, Duration ran,
                       const std::optional<Error>& error) {
  record(lane, at, event::Ran{outcome, ran, error ? error->what : std::string()});
}

/// Inside the gate: no user code, no lock.
void Lanes::end_row(Lane& lane, LaneShard& shard, ClaimedRow row, Blob&& output, Duration ran) {
  RowTable& table = shard.table;
  Row& about = table[row.row];
  if (RowTable::change(about, AttemptEnded{row.attempt, Outcome::finished}).what != Do::tell) return;
  if (about.awaited) {
    tell_others(table, row.row, row.attempt, output, [&](const Route& route, EdgeNews&& news) {
      return tell_edge(lane, shard, route, std::move(news));
    });
  }
  if (output) about.output.store(std::move(output));
  LaneReport& report = report_to(lane, shard);
  lane.next_shard = &shard;
  lane.next_row = table.satisfy_and_claim(
      row.row,
      [&](RowIndex ready) {
        lane.rows.push({&shard, ready});
      },
      [&](RowIndex held) { report.decide.push_back(held); });
  lane.pressing =
      lane.pressing || !report.decide.empty() || about.home_waits || (about.awaited && !about.told);
  if (report.quick.capacity() == 0) report.quick.reserve(limits::flush_operations);
  report.quick.push_back({row.row, row.attempt, ran});
}

/// The end is not plain, or the gate is closed: the row stays `running`, and the home ends it.
void Lanes::end_slowly(Lane& lane, LaneShard& shard, ClaimedRow row, KernelResult&& result, Duration ran) {
  const RowTable& table = shard.table;
  const Row& about = table[row.row];
  SlowEnd slow{row.row, row.attempt, {}};
  slow.ended.task = table.id(about);
  slow.ended.conditions = run_predicates(table.predicates_of(about), result);
  slow.ended.outcome = result.error ? Outcome::failed : Outcome::finished;
  slow.ended.error = std::move(result.error);
  if (!slow.ended.error) {
    slow.ended.output = std::move(result.output);
    slow.ended.spawned = std::move(result.spawned);
    slow.ended.becomes = result.becomes;
  }
  slow.ended.ran = ran;
  report_to(lane, shard).slow.push_back(std::move(slow));
  lane.pressing = true;
}

/// By the lane's thread, or when the lane is given up.
void Lanes::end_progress(Lane& lane) {
  if (lane.said_progress.exchange(false)) events_->progress_over(lane.speaker());
}

std::string Lanes::Lane::stage(std::string_view path) {
  if (staging) return staging->stage(path);
  throw Failure({ErrorCode::usage, "a task stages " + std::string(path) + ", and is not declared staged",
                 "add .effects(dag::staged) to it"});
}

void Lanes::Lane::publish(const std::string& path, const Blob& bytes) {
  std::string of = task_key();
  std::replace(of.begin(), of.end(), '/', '-');
  publish_file(path, bytes, of, std::to_string(fencing_token()));
}

/// Adds the staged files to the attempt's results.
static void add_staged(AttemptEnd& ended, const Staging& staging) {
  if (ended.outcome != Outcome::finished) return;
  const auto failed = [&](const Error& why) {
    ended.outcome = Outcome::failed;
    ended.error = why;
    ended.output = {};
    ended.spawned.reset();
    ended.becomes = detail::none;
  };
  if (ended.becomes != detail::none) {
    return failed({ErrorCode::usage, "a task that is declared staged became one that it spawned",
                   "let the task that it spawns stage the files"});
  }
  try {
    ended.output = detail::pack(staging.read(), ended.output);
  } catch (const Failure& failure) {
    failed(failure.error());
  } catch (const std::exception& error) {
    failed({ErrorCode::task_failed, error.what()});
  }
}

/// Like enter_kernel, for one beside which nothing runs. False: the process ends, the attempt is cancelled,
/// or others were to have their turn.
bool Lanes::enter_alone(Lane& lane, const Dispatched& work) {
  const bool alone = alone_.enter(
      &lane, work.in_vain, [this] { return nobody_runs(); },
      [&] { return stopping_.load() || work.cancelled->load(); });
  if (alone) kernel_begins(lane);
  return alone;
}

void Lanes::leave_kernel(Lane& lane, const Attempt& attempt) {
  lane.turn.end();
  if (attempt.alone) alone_.leave(&lane);
}

void Lanes::run_dispatched(Lane& lane, std::unique_ptr<Dispatched> mine, Priority band) {
  const Dispatched& work = *mine;
  const Attempt& attempt = work.attempt;
  note_queue();
  bool begins = false;
  if (!work.cancelled->load()) {
    begins = attempt.alone ? enter_alone(lane, work) : enter_kernel(lane);
    if (!begins && stopping_.load()) return;
    if (!begins && !work.cancelled->load()) {
      ++mine->in_vain;
      inbox_.push({{}, std::move(mine), band});
      work_was_added();
      return;
    }
    if (begins && work.cancelled->load()) {  // While it waited.
      leave_kernel(lane, attempt);
      begins = false;
    }
  }
  const AttemptKey key{attempt.job, attempt.task, attempt.id};
  AttemptEnd ended;
  if (!begins) {
    // Not even begun: the job actor it was meant for may be another object by now.
    ended = cancelled_end(attempt);
  } else {
    lane.job = attempt.job;
    lane.task = attempt.task;
    lane.attempt = attempt.id;
    lane.task_name = attempt.name;
    lane.number = attempt.attempt_number;
    {
      const std::lock_guard lock(lane.mutex);
      lane.running = key;
      lane.running_since = lane_now();
    }
    const auto began = LaneClock::now();
    if (options_.running != nullptr)
      options_.running->begin(lane.index, attempt.task, attempt.id, clock_.now());
    if (lane.records) record(lane, lane_now(), event::Started{});
    if (work.began) work.began();
    std::optional<LaneCheckpoints> checkpoints;
    if (attempt.checkpoints) {
      checkpoints.emplace(attempt, [&](Saved&& saved) {
        // An abandoned kernel talks to nobody.
        if (work.saved && !lane.abandoned.load()) work.saved(std::move(saved));
      });
    }
    if (attempt.stages) lane.staging.emplace();
    ended = run_attempt(attempt, actors_, lane, work.cancelled.get(), checkpoints ? &*checkpoints : nullptr);
    if (attempt.stages) add_staged(ended, *lane.staging);
    lane.staging.reset();
    ended.ran = LaneClock::now() - began;
    const std::lock_guard lock(lane.mutex);
    lane.running.reset();
    if (lane.abandoned.load()) {
      // Somebody may wait for the kernel all the same.
      if (!lane.cut_off) work.done(std::move(ended));
      return;
    }
    if (options_.running != nullptr)
      options_.running->end(lane.index, ended.outcome == Outcome::failed, ended.ran);
    if (lane.said_progress.load(std::memory_order_relaxed)) end_progress(lane);
    leave_kernel(lane, attempt);
    if (lane.records) record_run(lane, lane_now(), ended.outcome, ended.ran, ended.error);
  }
  if (ended.spawned) take_credit(lane, attempt.job, *ended.spawned, [&] { return work.cancelled->load(); });
  {
    const std::lock_guard lock(dispatched_mutex_);
    dispatched_.erase(key);
  }
  work.done(std::move(ended));
}

}  // namespace dag
