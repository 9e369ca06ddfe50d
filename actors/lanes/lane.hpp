#pragma once
// One lane: its rows, what it runs, and what it has not reported yet. Used only by the files
// that Lanes is implemented in.

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
#include "libdag/journal/record_ring.hpp"

namespace dag {

using LaneClock = std::chrono::steady_clock;

/// A report goes to the home at the first task border at which it is this old, and before a kernel that is
/// expected to run for longer: the home wakes for each of them, on a core that a lane runs on.
inline constexpr Duration report_age_max = std::chrono::milliseconds(2);
/// The same when somebody waits for what the home makes of it.
inline constexpr Duration pressing_age_max = std::chrono::microseconds(100);
/// News of an end for another process does not wait longer than this while its lane runs short rows.
inline constexpr Duration edge_age_max = std::chrono::nanoseconds(limits::flush_age_ns / 2);
/// Records say when by the processor's counter, which is compared with the steady clock so often.
inline constexpr Duration clock_age_max = std::chrono::microseconds(100);
/// What waking a sleeping lane costs: it pays for more queued work than this.
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

  // What a kernel says. An abandoned one talks to nobody: the process may have forgotten it.
  void log(std::string_view line) override {
    if (speaks() && lanes.events_.log) lanes.events_.log(speaker(), line);
  }
  void progress(double fraction, std::string_view note) override {
    if (!speaks() || !lanes.events_.progress) return;
    said_progress.store(true, std::memory_order_relaxed);
    lanes.events_.progress(speaker(), fraction, note);
  }
  std::string_view device() const override { return name; }
  std::string task_key() const override { return to_string(job) + "/" + to_string(task); }
  std::uint64_t fencing_token() const override { return dag::fencing_token(attempt); }
  std::string stage(std::string_view path) override;
  void publish(const std::string& path, const Blob& bytes) override;

  /// Nor has a child that the kernel forked a voice.
  bool speaks() const { return !abandoned.load() && !in_forked_child(); }
  Speaker speaker() const {
    return {job, task, attempt, task_name, name, static_cast<std::uint32_t>(index), number};
  }

  /// It will touch this shard, or none. Announced with a full barrier, but only when it changes: rows of one
  /// job follow each other.
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
  /// The shard whose row it runs or may have taken: it may not go away.
  std::atomic<const LaneShard*> inside{nullptr};

  // Which handed-out attempt runs here, for abandon; and whether the thread has ended.
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::optional<AttemptKey> running;
  Instant running_since;
  bool cut_off = false;  ///< whoever could hear of the end of an abandoned kernel may be gone

  /// Whether it is inside of a row's kernel: then what follows may be seen to by watch_stragglers.
  alignas(64) KernelTurn turn;

  // The thread's own.
  JobId job;
  TaskId task;
  AttemptId attempt;
  std::uint32_t number = 0;  ///< of the attempt, as Context::attempt says
  /// The kernel that runs has called Context::progress, on any thread.
  std::atomic<bool> said_progress{false};
  std::optional<Staging> staging;  ///< of an attempt that may stage files
  std::string_view task_name;
  /// What it has not reported yet: rows of one shard follow each other, mostly, but news of other shards'
  /// rows come in between. Sent together when the first is old, when there is much, and before the lane
  /// sleeps.
  struct OpenReport {
    std::shared_ptr<LaneShard> shard;
    LaneReport report;
  };
  std::vector<OpenReport> reports;
  std::size_t current = 0;         ///< the one that was used last
  std::int64_t reports_since = 0;  ///< ticks
  bool pressing = false;           ///< somebody waits for what the home makes of them
  /// What it tells other processes and has not written, per peer in `known`; and other shards of this one.
  std::shared_ptr<const Edges::Known> known = std::make_shared<const Edges::Known>();
  std::vector<std::vector<EdgeNews>> batches;
  std::vector<EdgeNews> told_here;
  /// And by links.
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
  /// The first row its last one made ready: already claimed, runs at once.
  std::optional<ClaimedRow> next_row;
  /// When the last row ended: the next one begins there, if it follows at once.
  std::int64_t last_end = 0;
  std::vector<Blob> blobs;
  std::vector<detail::ArgumentView> views;
  KernelTimes times;
  std::uint32_t searches = 0;
  std::optional<RecordRingWriter> records;
  /// What the steady clock said when `clock_` showed those ticks.
  Instant known_at;
  std::int64_t known_ticks = 0;
};

}  // namespace dag
