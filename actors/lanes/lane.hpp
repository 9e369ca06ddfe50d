#pragma once
// One lane: its queue, what it runs, and what it has not reported yet. Used by lanes.cpp and lane_loop.cpp
// only.

#include <chrono>
#include <condition_variable>
#include <thread>

#include "actors/lanes/lanes.hpp"

namespace dag {

using LaneClock = std::chrono::steady_clock;

/// `queue` is shared; the rest belongs to the lane's thread but for what is atomic or guarded. The thread
/// shares ownership, so a lane that was given up lasts until its kernel returns.
struct Lanes::Lane final : detail::KernelHost {
  Lane(Lanes& of, std::size_t place, int core_to_use)
      : lanes(of),
        index(place),
        core(core_to_use),
        name(of.options_.process_name + "/cpu" + std::to_string(place)) {}

  // What a kernel says. An abandoned one talks to nobody: the process may have forgotten it.
  void log(std::string_view line) override {
    if (!abandoned.load() && lanes.events_.log) lanes.events_.log(job, task, task_name, name, line);
  }
  void progress(double fraction, std::string_view note) override {
    if (!abandoned.load() && lanes.events_.progress) {
      lanes.events_.progress(job, task, task_name, name, fraction, note);
    }
  }
  std::string_view device() const override { return name; }

  Lanes& lanes;
  const std::size_t index;
  const int core;
  const std::string name;
  WorkQueue queue;
  std::thread thread;
  std::atomic<bool> abandoned{false};
  /// The shards whose row it runs, and whose ends it has not reported: neither may go away.
  std::atomic<const LaneShard*> inside{nullptr};
  std::atomic<const LaneShard*> reporting{nullptr};

  // Which handed-out attempt runs here, for abandon; and whether the thread has ended.
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::optional<AttemptKey> running;

  // The thread's own.
  JobId job;
  TaskId task;
  std::string_view task_name;
  LaneShard* report_shard = nullptr;
  LaneReport report;
  LaneClock::time_point report_since{};
  RowIndex next_row = no_row;  ///< the last successor made ready: run at once, without queueing
  std::vector<Blob> blobs;
  std::vector<detail::ArgumentView> views;
  Duration last_ran{0};
};

}  // namespace dag
