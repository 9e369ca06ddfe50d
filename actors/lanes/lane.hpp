#pragma once
// A lane: its rows, its running kernel, and its unreported ends. Included only by the files that implement
// Lanes.

#include <chrono>
#include <condition_variable>
#include <thread>

#include "actors/lanes/kernel_times.hpp"
#include "actors/lanes/kernel_turn.hpp"
#include "actors/lanes/lane_rows.hpp"
#include "actors/lanes/lanes.hpp"
#include "actors/lanes/staging.hpp"
#include "libdag/base/forked_child.hpp"
#include "libdag/base/limits.hpp"
#include "libdag/journal/event_ring.hpp"

namespace dag {

using LaneClock = std::chrono::steady_clock;

/// A report goes to the home at the first task border at which it is this old, and before a kernel that is
/// expected to run for longer: the home wakes for each of them, on a core that a lane runs on.
inline constexpr Duration report_age_max = std::chrono::milliseconds(2);
/// The same when somebody waits for the home's reaction.
inline constexpr Duration pressing_age_max = std::chrono::microseconds(100);
/// News of an end for another process does not wait longer than this while its lane runs short rows.
inline constexpr Duration edge_age_max = std::chrono::nanoseconds(limits::flush_age_ns / 2);
/// Records carry times of the processor's counter, which is compared with the steady clock so often.
inline constexpr Duration clock_age_max = std::chrono::microseconds(100);
/// The cost of waking a sleeping lane: it pays off for more queued work than this.
inline constexpr Duration wake_cost = std::chrono::microseconds(10);

/// `rows` is shared with thieves; the rest belongs to the lane's thread but for what is atomic or guarded.
/// The thread shares ownership, so a lane that was given up lasts until its kernel returns.
struct alignas(64) Lanes::Lane final : detail::KernelHost {
  Lane(Lanes& of, std::size_t place, int core_to_use)
      : lanes(of),
        index(place),
        core(core_to_use),
        name(of.options_.process_name + "/cpu" + std::to_string(place)) {
    const auto& rings = of.options_.records.rings;
    if (place < rings.size()) records.emplace(rings[place]);
  }

  // Called by a kernel. An abandoned kernel's calls are dropped: the process may have forgotten it.
  void log(std::string_view line) override {
    if (speaks()) lanes.events_->log(speaker(), line);
  }
  void progress(double fraction, std::string_view note) override {
    if (!speaks() || !lanes.events_->follows_progress()) return;
    said_progress.store(true, std::memory_order_relaxed);
    lanes.events_->progress(speaker(), fraction, note);
  }
  std::string_view device() const override { return name; }
  std::string task_key() const override { return to_string(job) + "/" + to_string(task); }
  std::uint64_t fencing_token() const override { return dag::fencing_token(attempt); }
  std::string stage(std::string_view path) override;
  void publish(const std::string& path, const Blob& bytes) override;

  /// A child that the kernel forked does not speak either.
  bool speaks() const { return !abandoned.load() && !in_forked_child(); }
  Speaker speaker() const {
    return {job, task, attempt, task_name, name, static_cast<std::uint32_t>(index), number};
  }

  /// The lane will touch this shard, or none. Announced with a full barrier, but only when it changes: rows
  /// of one job follow each other.
  void enters(const LaneShard* shard) {
    if (inside.load(std::memory_order_relaxed) != shard) inside.store(shard, std::memory_order_seq_cst);
  }

  Lanes& lanes;
  const std::size_t index;
  const int core;
  const std::string name;
  LaneRows rows;
  std::thread thread;
  std::atomic<bool> abandoned{false};
  /// The shard whose row the lane runs or may have taken: it may not go away.
  std::atomic<const LaneShard*> inside{nullptr};

  // The handed-out attempt that runs here, for abandon; and whether the thread has ended.
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::optional<AttemptKey> running;
  Instant running_since;
  bool cut_off = false;  ///< the receiver of an abandoned kernel's end may be gone

  /// Says that the lane is inside of a row's kernel: then watch_stragglers may act in its place.
  alignas(64) KernelTurn turn;

  // Used by the lane's thread alone.
  JobId job;
  TaskId task;
  AttemptId attempt;
  std::uint32_t number = 0;  ///< of the attempt, as Context::attempt says
  /// The kernel that runs has called Context::progress, on any thread.
  std::atomic<bool> said_progress{false};
  std::optional<Staging> staging;  ///< of an attempt that may stage files
  std::string_view task_name;
  /// Ends not yet reported. Rows of one shard mostly follow each other, but news of other shards' rows
  /// come in between. Sent together when the first is old, when there are many, and before the lane
  /// sleeps.
  struct OpenReport {
    std::shared_ptr<LaneShard> shard;
    LaneReport report;
  };
  std::vector<OpenReport> reports;
  /// The report that was used last, and its shard: of no other use, so the null pointer when it may have
  /// moved.
  const LaneShard* current_shard = nullptr;
  LaneReport* current = nullptr;
  std::int64_t reports_since = 0;  ///< ticks
  bool pressing = false;           ///< somebody waits for the home's reaction to the reports
  /// Unwritten news for other processes, per peer in `known`; and news for other shards of this process.
  std::shared_ptr<const Edges::Known> known = std::make_shared<const Edges::Known>();
  std::vector<std::vector<EdgeNews>> batches;
  std::vector<EdgeNews> told_here;
  /// News for peers that are reached by links.
  struct LinkBatch {
    Life to;
    std::vector<EdgeNews> news;
  };
  std::vector<LinkBatch> by_link;
  std::size_t unwritten = 0, unwritten_bytes = 0;
  std::int64_t written_at = 0;  ///< ticks
  std::uint32_t borders = 0;
  std::int64_t looked_at = 0;       ///< into the rings, ticks
  LaneShard* next_shard = nullptr;  ///< of `next_row`
  /// The first row that the last row made ready: already claimed, runs at once.
  std::optional<ClaimedRow> next_row;
  /// When the last row ended: the next row begins then, if it follows at once.
  std::int64_t last_end = 0;
  std::vector<Blob> blobs;
  std::vector<detail::ArgumentView> views;
  KernelTimes times;
  std::uint32_t searches = 0;
  std::optional<EventRingWriter> records;
  /// The steady clock's time when `clock_` showed those ticks.
  Instant known_at;
  std::int64_t known_ticks = 0;
};

inline LaneReport& Lanes::report_to(Lane& lane, LaneShard& shard) {
  return lane.current_shard == &shard ? *lane.current : find_report(lane, shard);
}

/// A lane begins a kernel: the thread that watches it is not to sleep.
inline void Lanes::kernel_begins(Lane& lane) {
  lane.turn.begin();
  // Sequentially consistent for the case that there is no process barrier; a plain load on x86.
  if (watch_sleeps_.load(std::memory_order_seq_cst)) call_watch();
}

}  // namespace dag
