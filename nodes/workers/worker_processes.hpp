#pragma once
// Starts the worker processes of a node from sealed memory, watches them, ends frozen ones (frozen.hpp), and
// says how each ended. libdag/host/host.hpp decides which are wanted. One thread starts them, each under a
// warden (libdag/warden), and waits: the kernel tells a warden when the thread that started it ends, so
// neither a process nor its descendants outlive the node, however the node ends.
//
// A process whose job is over stays for a while, and serves the next job that is launched in exactly the same
// way, by the same Session (seat_door.hpp). For all others it has ended, and another one begins. A process
// with anything left to run does not stay: a kernel, or a process that a kernel has started.

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "libdag/base/owned_file.hpp"
#include "libdag/host/host.hpp"
#include "nodes/disk/program_store.hpp"
#include "nodes/journal/journal.hpp"
#include "nodes/workers/frozen.hpp"
#include "nodes/workers/worker_pages.hpp"
#include "nodes/workers/worker_seat.hpp"

namespace dag {

/// Called on the thread of WorkerProcesses; must not block.
struct WorkerEvents {
  std::function<void(Life life, std::uint32_t pid)> started;
  std::function<void(Life life, Error why)> not_started;
  std::function<void(Life life, ProcessEnd end, std::string text, std::vector<RunningAttempt> running,
                     std::optional<std::uint32_t> guilty_lane)>
      ended;
};

/// Settings shared by all worker processes.
struct WorkerDefaults {
  std::string node_address;
  CoreShare share;
  std::uint32_t lanes = 0;
  /// A worker process's stdout and stderr go to a file there, one for each job that it serves; an empty file
  /// is removed. Empty: they go to our stderr.
  std::string log_directory;
  /// Journals their events; null: nobody does. Outlives this.
  Journal* journal = nullptr;
  /// Lanes of each worker process.
  std::size_t lanes_each = 0;
  /// Niceness of their lanes, as of nice(1).
  std::uint32_t niceness = 0;
  SpawnCredit spawn_credit = {};
  /// Time that a process waits for its next job. 0: it ends with its first.
  Duration keep_warm = std::chrono::seconds(3);
};

class WorkerProcesses {
 public:
  /// A process that was told to end (SIGTERM), or to leave its job, is killed after this time.
  static constexpr Duration stop_grace = std::chrono::seconds(2);
  /// Kernels may go on for this long before the process is told to end.
  static constexpr Duration kernels_grace = std::chrono::milliseconds(500);
  /// Limit of processes that wait for their next job; beyond it the oldest ends.
  static constexpr std::size_t warm_max = 4;

  WorkerProcesses(WorkerDefaults defaults, const ProgramStore& programs, WorkerEvents events);
  /// Kills the processes that still run, and waits for them; no event is told any more.
  ~WorkerProcesses();
  WorkerProcesses(const WorkerProcesses&) = delete;
  WorkerProcesses& operator=(const WorkerProcesses&) = delete;

  // From any thread; never block.
  void start(StartProcess order, ClusterId cluster);
  void stop(Life life);
  /// Ends all processes, and returns when they have ended. Later orders are ignored. Not from several threads
  /// at once.
  void end_all();
  /// Without processes that wait for their next job.
  WorkersNow now() const { return pages_.now(defaults_.lanes_each); }
  /// Totals of all processes, those that have ended included.
  RunTotals ran() const { return pages_.ran(); }

 private:
  struct Process;
  struct Child;
  struct Order {
    StartProcess start;
    ClusterId cluster;
  };
  struct Prepared;
  using Children = std::map<Life, Child>;

  void post(std::function<void()> what);
  void run();
  void look_at_children();
  void look_at_warm();
  void look_who_is_frozen();
  void stop_now(Life life);
  void ask_to_end(Child& child);
  bool can_serve_again(const Child& child) const;
  void hear(Children::iterator child);
  void has_left(Children::iterator child);
  void keep_warm(Process process);
  void end_warm(Process& process);
  void reap(Children::iterator child);
  void close_job(Life life, const Child& child);
  int wait_milliseconds() const;

  // ---- worker_starts.cpp
  void start_now(const Order& order);
  bool serve_next(const Order& order);
  bool hand_over(Process process, const Order& order);
  void start_process(const Order& order);
  bool prepare(const Order& order, Prepared& prepared);
  void undo(const Order& order, const Prepared& prepared);
  Child& add(const Order& order, const Prepared& prepared, Process process);

  const WorkerDefaults defaults_;
  const ProgramStore& programs_;
  const WorkerEvents events_;
  WorkerPages pages_;
  // The thread's own, to `look_at_`.
  Children children_;
  std::list<Process> warm_;  ///< the oldest first
  bool over_ = false;
  Instant look_at_;  ///< when it looks next for frozen processes
  std::mutex mutex_;
  std::vector<std::function<void()>> waiting_;
  int wake_ = -1;  // An eventfd.
  std::thread thread_;
};

}  // namespace dag
