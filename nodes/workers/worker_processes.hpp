#pragma once
// Starts the worker processes of a node from sealed memory, watches them, ends one that is frozen
// (frozen.hpp), and says how each ended. Decides nothing about which are wanted (libdag/keeper/host.hpp). One
// thread starts them, each under a warden (libdag/warden), and waits: the kernel tells a warden when the
// thread that started it ends, so neither a process nor what it started outlives the node, however that ends.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "actors/lanes/running_page.hpp"
#include "actors/lanes/tick_clock.hpp"
#include "libdag/base/time.hpp"
#include "libdag/keeper/host.hpp"
#include "nodes/journal.hpp"
#include "nodes/workers/frozen.hpp"
#include "nodes/workers/program_store.hpp"
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

/// What is the same for all of them.
struct WorkerDefaults {
  std::string node_address;
  CoreShare share;
  std::uint32_t lanes = 0;
  /// What a worker process writes to stdout and stderr goes to a file there, one each; that of a process
  /// which said nothing is removed. Empty: it goes to our stderr.
  std::string log_directory;
  /// Keeps what happens in them; null: nobody does. Outlives this.
  Journal* journal = nullptr;
  /// That each of them has then.
  std::size_t lanes_each = 0;
  /// Of their lanes, as of nice(1).
  std::uint32_t niceness = 0;
  SpawnCredit spawn_credit = {};
};

/// What the worker processes of a node do.
struct WorkersNow {
  std::uint32_t processes = 0, lanes_running = 0;
  std::uint64_t queued = 0;  ///< tasks that wait for a lane, as they said last
  /// Since they were started: of all their lanes together, and of it what these were inside of kernels.
  Duration lane_time{0}, busy{0};
  /// Of those that have ended, too: never less than it was, while the node lives.
  Duration busy_ever{0};
};

class WorkerProcesses {
 public:
  /// A process that was told to end (SIGTERM) is killed after this time.
  static constexpr Duration stop_grace = std::chrono::seconds(2);
  /// And for so long before that its kernels may go on.
  static constexpr Duration kernels_grace = std::chrono::milliseconds(500);

  WorkerProcesses(WorkerDefaults defaults, const ProgramStore& programs, WorkerEvents events);
  /// Kills what still runs, and waits for it; no event is told any more.
  ~WorkerProcesses();
  WorkerProcesses(const WorkerProcesses&) = delete;
  WorkerProcesses& operator=(const WorkerProcesses&) = delete;

  // From any thread; never block.
  void start(StartProcess order, ClusterId cluster);
  void stop(Life life);
  /// Ends all of them, and returns when they have ended. What is asked for later is not done. Not from
  /// several threads at once.
  void end_all();
  WorkersNow now() const { return pages_.now(defaults_.lanes_each); }
  /// How much they have run, those that have ended included.
  RunTotals ran() const { return pages_.ran(); }

 private:
  struct Child;
  /// A page that it shares with a child.
  class Pages {
   public:
    /// Null: there is no memory for it. The child gets `file`.
    RunningPage* make(Life life, int& file);
    /// The child has ended, or never began.
    void take_back(Life life);
    WorkersNow now(std::size_t lanes_each) const;
    RunTotals ran() const;

   private:
    Duration ran_since(std::int64_t began) const;

    struct Page {
      int file = -1;
      RunningPage* page = nullptr;
      Instant since;
    };
    mutable std::mutex mutex_;
    std::map<Life, Page> pages_;
    RunTotals of_ended_;
    const TickClock clock_;  ///< the one of lanes, which processes of one host share
  };

  void post(std::function<void()> what);
  void run();
  void look_who_is_frozen();
  void start_now(const StartProcess& order, ClusterId cluster);
  void stop_now(Life life);
  void ask_to_end(Child& child);
  void reap(std::map<Life, Child>::iterator child);
  int wait_milliseconds() const;

  const WorkerDefaults defaults_;
  const ProgramStore& programs_;
  const WorkerEvents events_;
  Pages pages_;
  std::map<Life, Child> children_;  // The thread's own.
  bool over_ = false;               // Likewise.
  Instant look_at_;                 // Likewise: when it looks next whether one is frozen.
  std::mutex mutex_;
  std::vector<std::function<void()>> waiting_;
  int wake_ = -1;  // An eventfd.
  std::thread thread_;
};

}  // namespace dag
