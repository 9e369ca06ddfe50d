#pragma once
// The lanes of a process: threads that run kernels and nothing else. Each has a queue; a dry one takes from
// its neighbours, nearest first, then spins a little, then sleeps. What should run is decided by homes; a
// lane only follows the edges of bare rows it ended (row_table.hpp).
//
// Why a push is never missed: a lane that finds nothing notes the pushes it has seen, looks through all
// queues again, and sleeps only while that number has not moved (Work is queued before the number moves).

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/lanes/job_actors.hpp"
#include "actors/lanes/kernel_run.hpp"
#include "actors/lanes/lane_shard.hpp"
#include "actors/lanes/running_page.hpp"
#include "actors/lanes/work_queue.hpp"

namespace dag {

/// What lanes tell the rest of the process. Called on lanes; must not block.
struct LaneEvents {
  std::function<void(JobId, TaskId, std::string_view task, std::string_view device, std::string_view line)>
      log = {};
  std::function<void(JobId, TaskId, std::string_view task, std::string_view device, double fraction,
                     std::string_view note)>
      progress = {};
};

struct LanesOptions {
  /// One lane each; the core to pin it to, or -1 for none. No lanes: nothing may be given to them.
  std::vector<int> cores;
  /// For each lane, the others in the order in which it looks for work, nearest first. Empty: by their
  /// numbers.
  std::vector<std::vector<std::uint32_t>> victims = {};
  /// How long a dry lane looks before it sleeps. Zero where lanes share cores.
  Duration spin = std::chrono::microseconds(20);
  /// As in `n0`: the process, for Context::device.
  std::string process_name = "n0";
  /// Where each lane notes what it runs, if anybody wants to know; outlives the lanes.
  RunningPage* running = nullptr;
};

class Lanes {
 public:
  Lanes(LanesOptions options, LaneEvents events);
  /// Lets running kernels see `cancelled`, waits two seconds for them to return, abandons those that do not.
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// A row became ready outside of the lanes.
  void make_ready(LaneShard& shard, RowIndex row, Priority band = Priority::normal);
  /// Runs a handed-out attempt; `done` gets its end, on a lane, and must not block. Not called when the lane
  /// is abandoned first.
  void start(Attempt attempt, Priority band, std::function<void(Ended&&)> done);
  /// The kernel of this attempt sees `cancelled` from now on; if it has not started, it never does, and
  /// `done` gets an end that says cancelled.
  void cancel(JobId job, TaskId task, AttemptId attempt);
  /// The kernel of this attempt did not return in time: its lane is given up and replaced, so that others can
  /// run. True when such a lane was found. The thread itself ends when the kernel returns, if ever.
  bool abandon(JobId job, TaskId task, AttemptId attempt);
  /// Ready rows that no lane has claimed, oldest first, for another process.
  std::vector<RowIndex> take_rows(const LaneShard& shard, std::size_t count);

  /// No row of this shard is to be run any more. The lanes let go of it when the last one is out of it.
  void retire(std::shared_ptr<LaneShard> shard);

  JobActors& actors() { return actors_; }
  std::size_t count() const { return options_.cores.size(); }
  /// Work that is queued and not running, over all lanes.
  std::size_t queued() const;
  std::uint32_t idle() const { return idle_.load(std::memory_order_relaxed); }

 private:
  struct Lane;
  struct AttemptKey {
    JobId job;
    TaskId task;
    AttemptId attempt;
    auto operator<=>(const AttemptKey&) const = default;
  };

  void start_thread(const std::shared_ptr<Lane>& lane);
  void run(Lane& lane);
  std::optional<Work> find_work(Lane& lane);
  void run_row(Lane& lane, LaneShard& shard, RowIndex row);
  void end_row(Lane& lane, LaneShard& shard, RowIndex row, std::uint32_t attempt, KernelResult&& result,
               Duration ran);
  void run_handed_out(Lane& lane, const HandedOut& work);
  void begin_report(Lane& lane, LaneShard& shard);
  void flush(Lane& lane);
  void push(Work work);
  void wake_one();
  void let_go_of_retired();

  LanesOptions options_;
  LaneEvents events_;
  JobActors actors_;
  mutable std::mutex lanes_mutex_;  // guards the list itself: a lane is replaced when it is abandoned
  std::vector<std::shared_ptr<Lane>> lanes_;
  /// Attempts that were started here and have not ended, by what their kernels look at.
  std::mutex handed_out_mutex_;
  std::map<AttemptKey, std::shared_ptr<std::atomic<bool>>> handed_out_;
  std::atomic<std::size_t> next_lane_{0};
  std::atomic<std::uint32_t> pushes_{0};
  std::atomic<std::uint32_t> idle_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint32_t> retired_count_{0};
  std::mutex retired_mutex_;
  std::vector<std::shared_ptr<LaneShard>> retired_;
};

}  // namespace dag
