#pragma once
// The lanes of a process: threads that run kernels and nothing else. Each has a deque of rows that it made
// ready; an inbox takes work from outside; a dry lane steals from its neighbours, nearest first, then spins a
// little, then sleeps. Homes decide what runs; a lane only follows the edges of bare rows it ended
// (row_table.hpp).
//
// Why no work is missed: all lanes sleep on one bell (libdag/ring/bell.hpp), which other processes of the
// host ring too. A thread that adds work then looks whether a lane sleeps and none searches or was called. A
// lane that goes to sleep first says so (it is announced, and not searching), then looks through all queues
// again. By Dekker's argument one of them sees the other (process_barrier.hpp: the sleeper pays for both). A
// lane that stops searching because it found work calls the next one, if there is more.
//
// Why a shard is not destroyed under a lane: see Lanes::retire.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "actors/lanes/alone_turn.hpp"
#include "actors/lanes/edges.hpp"
#include "actors/lanes/inbox.hpp"
#include "actors/lanes/kernel_run.hpp"
#include "actors/lanes/lanes_port.hpp"
#include "actors/lanes/peer_ring.hpp"
#include "actors/lanes/running_page.hpp"
#include "actors/lanes/tick_clock.hpp"
#include "libdag/ring/doorbell.hpp"

namespace dag {

struct ReadNews;

/// The kernel that logs or reports progress. The texts last as long as the
/// call.
struct Speaker {
  JobId job;
  TaskId task;
  AttemptId attempt;
  std::string_view name;  ///< of the task
  std::string_view device;
  std::uint32_t lane = 0;
  std::uint32_t number = 0;  ///< of the attempt, as Context::attempt says
};
/// Events from lanes to the rest of the process. Called on lanes; `log` and `progress` on any thread of a
/// kernel. Must not block.
class LaneEvents {
 public:
  virtual ~LaneEvents() = default;

  virtual void log(const Speaker& /*by*/, std::string_view /*line*/) {}
  /// False: nobody hears of progress, nor that it is over.
  virtual bool follows_progress() const { return false; }
  virtual void progress(const Speaker& /*by*/, double /*fraction*/, std::string_view /*note*/) {}
  /// The kernel that reported progress does not run any more.
  virtual void progress_over(const Speaker& /*by*/) {}
  /// News of an end that is not for a lane: to be treated as a message from that life (none: from this one).
  virtual void edge_news(std::optional<Life> /*from*/, message::PredecessorEnded&& /*news*/) {}
  /// Lanes tell processes that no ring leads to by `send_edges`. False: homes tell them.
  virtual bool tells_by_link() const { return false; }
  /// At least once while both live.
  virtual void send_edges(Life /*to*/, std::vector<EdgeNews>&& /*news*/) {}
  /// Returns a callback for the moment when an output of another process is not read here any more: that
  /// process must be told (Lanes::take_back there). The callback may run on any thread, perhaps after the
  /// lanes are gone. Null: outputs of other processes are copied.
  virtual std::function<void()> returned(Life /*owner*/, std::uint64_t /*number*/) { return nullptr; }
  /// Called on a lane's thread when a kernel has returned. True: processes that it started may be left.
  virtual bool left_processes() { return false; }
  /// Leftovers of this attempt must be gone before the next one of its task begins. A process that can end
  /// for that ends. `charged`: the attempt is to blame.
  virtual void stuck(const OutputName& /*attempt*/, bool /*charged*/, std::string_view /*why*/) {}
  /// Lanes::tell_when_dry was called since the last time, and now a lane has nothing to do.
  virtual void dry() {}
};

/// The rings in which lanes note what ran, and for how long, for the journal.
struct LaneRecords {
  ProcessId process;
  /// A ring for each lane (libdag/journal/event_ring.hpp); a lane without a ring notes nothing. The memory
  /// outlives the lanes.
  std::vector<std::span<std::byte>> rings;
};

struct LanesOptions {
  /// The core of each lane, or -1 for an unpinned one. Empty: no lanes, and no work may be given to them.
  std::vector<int> cores;
  /// For each lane, the others in the order in which it looks for work, nearest first. Empty: by their
  /// numbers.
  std::vector<std::vector<std::uint32_t>> victims = {};
  /// How long a dry lane looks before it sleeps. Zero where lanes share cores.
  Duration spin = std::chrono::microseconds(20);
  /// How far lanes give way to the other threads of the host, this process's included, as of nice(1): 0 to
  /// 19. What a kernel starts, threads or processes, has it from its lane.
  std::uint32_t niceness = 0;
  /// The spawn credit of each job.
  SpawnCredit spawn_credit = {};
  /// As in `n0`: the process, for Context::device.
  std::string process_name = "n0";
  /// Where each lane notes its running attempt; null: nowhere. Outlives the lanes.
  RunningPage* running = nullptr;
  LaneRecords records = {};
  /// Where the lanes sleep, and what peers ring. Null: in memory of its own, since there are no peers.
  std::shared_ptr<ring::Doorbell> doorbell = nullptr;
};

class Lanes final : public LanesPort {
 public:
  /// The threads have this name and a number.
  static constexpr const char* thread_name = "dag-lane";

  /// Without events nobody listens.
  explicit Lanes(LanesOptions options, std::unique_ptr<LaneEvents> events = nullptr);
  ~Lanes() override;

  /// Lets running kernels see `cancelled`, waits two seconds for them to return, and abandons the others.
  /// Afterwards lanes call no LaneEvent any more, and new work is not run. The destructor does it, and before
  /// it the owner of what the events use.
  void stop();
  // LanesPort says what each of these is for.
  void make_ready(LaneShard& shard, RowIndex row, Priority band = Priority::normal) override;
  void start(Attempt attempt, Priority band, std::function<void(AttemptEnd&&)> done,
             std::function<void(Saved&&)> saved = {}, std::function<void()> began = {}) override;
  void cancel(JobId job, TaskId task, AttemptId attempt) override;
  bool abandon(JobId job, TaskId task, AttemptId attempt) override;
  bool left_processes() const override { return events_->left_processes(); }
  void stuck(const OutputName& attempt, bool charged, const std::string& why) override {
    events_->stuck(attempt, charged, why);
  }
  std::vector<RowIndex> take_rows(const LaneShard& shard, std::size_t count) override;
  std::vector<OutputName> take_attempts(JobId job, std::size_t count,
                                        const std::function<bool(const OutputName&)>& may_go) override;
  void tell_when_dry() override { dry_wanted_.store(true, std::memory_order_relaxed); }

  /// No row of this shard may run any more. The shard is destroyed when no lane can reach it. A lane says
  /// which shard it is inside of before it takes a row (`notice` in deque.hpp) and looks at `retired` before
  /// it runs the row. So when `retired` was set and then no lane is inside, no row of the shard will be run
  /// or pushed again; its rows are taken out of the queues. If then no lane is inside that took a row
  /// meanwhile, no lane knows the shard.
  void retire(std::shared_ptr<LaneShard> shard) override;

  // Ends that concern other shards (edges.hpp). From any thread.
  /// A peer on this host with which we share rings.
  void add_ring(Life peer, std::shared_ptr<ring::RingCarrier> carrier);
  /// The peer died, or its ring broke.
  void remove_ring(Life peer);
  /// A peer does not read an output any more that lanes here have told of.
  void take_back(Life peer, std::uint64_t number) { edges_.outputs().take_back(peer, number); }
  /// The peer died: it reads nothing any more, and no output of it is opened again.
  void life_over(Life peer) { edges_.outputs().forget(peer); }
  std::vector<Life> reach() const override;
  bool tells_by_link() const override { return events_->tells_by_link(); }
  /// News that lanes of another process sent by a link. On one thread at a time, which is not a lane.
  void hear(Life from, std::vector<EdgeNews>&& news);
  void add_shard(LaneShard& shard) override;
  /// Reads the rings where no lane does, for homes. True: there was news.
  bool poll_rings();

  std::vector<RunningNow> running_now() const override;
  std::map<TaskId, std::uint64_t> places(JobId job) const override;
  bool stand_aside() const override { return alone_.wanted(); }
  JobActors& actors() override { return actors_; }
  const std::shared_ptr<SpawnCredits>& spawn_credits() override { return spawn_credits_; }
  std::size_t count() const override { return options_.cores.size(); }
  std::size_t queued() const override;
  /// Publishes the number of queued rows in the page that other processes read.
  void note_queue() const;
  std::uint32_t idle() const override;
  std::uint32_t dry() const override;

 private:
  struct Lane;
  struct AttemptKey {
    JobId job;
    TaskId task;
    AttemptId attempt;
    auto operator<=>(const AttemptKey&) const = default;
  };

  Lane& lane(std::size_t index) const { return *lanes_[index].load(std::memory_order_acquire); }
  void start_thread(const std::shared_ptr<Lane>& lane);

  // lane_loop.cpp: what a lane's thread does
  void run(Lane& lane);
  std::optional<Work> find_work(Lane& lane);
  std::optional<Work> steal(Lane& lane);
  void run_row(Lane& lane, LaneShard& shard, ClaimedRow row);
  void end_row(Lane& lane, LaneShard& shard, ClaimedRow row, Blob&& output, Duration ran);
  void end_slowly(Lane& lane, LaneShard& shard, ClaimedRow row, KernelResult&& result, Duration ran);
  void run_dispatched(Lane& lane, std::unique_ptr<Dispatched> mine, Priority band);
  template <class GiveUp>
  std::shared_ptr<const void> take_credit(Lane& lane, JobId job, const detail::Fragment& spawned,
                                          GiveUp&& give_up);
  bool enter_kernel(Lane& lane);
  void step_aside(Lane& lane);
  bool enter_alone(Lane& lane, const Dispatched& work);
  void leave_kernel(Lane& lane, const Attempt& attempt);
  bool nobody_runs() const;
  Instant instant_of(Lane& lane, std::int64_t ticks) const;
  void record(Lane& lane, Instant at, EventWhat what);
  void record_run(Lane& lane, Instant at, Outcome outcome, Duration ran, const std::optional<Error>& error);
  LaneReport& report_to(Lane& lane, LaneShard& shard);
  LaneReport& find_report(Lane& lane, LaneShard& shard);
  void send_reports(Lane& lane);
  std::int64_t report_ticks(const Lane& lane) const;
  void let_go(Lane& lane);

  // lane_edges.cpp: ends that concern other shards
  void look_at_rings(Lane& lane);
  bool tell_edge(Lane& lane, const LaneShard& from, const Route& route, EdgeNews&& news);
  void write_edges(Lane& lane);
  bool edges_wanted(const Lane& lane) const;
  void edges_at_border(Lane& lane, std::int64_t now);
  bool read_edges(Lane& lane);
  bool edge_news(const Lane& lane) const;
  static bool ring_news(const Edges::Known& known);
  template <class Hear>
  bool read_rings(const Edges::Known& known, std::size_t records_max, Hear&& hear);
  bool read_in_place(ReadNews& read, Life owner);
  void tell_by_link(Lane& lane, Life to, EdgeNews&& news);
  void hear_edge(Lane& lane, EdgeNews& news, std::optional<Life> from);

  // parking.cpp: sleeping and waking of lanes
  std::optional<Work> search(Lane& lane);
  std::optional<Work> look_everywhere(Lane& lane);
  void say_dry();
  bool anything_queued() const;
  bool work_was_added();
  void found_after_search(const Lane& lane);

  // listener.cpp: reading rings when no lane does
  void ring_came();
  void ring_went();
  void listen();

  // stragglers.cpp: sending a lane's results when its kernel is unexpectedly long
  void watch_stragglers();
  void help_out(Lane& lane, std::uint64_t kernel);
  void kernel_begins(Lane& lane);
  void call_watch();

  void end_progress(Lane& lane);
  void let_go_of_retired();
  bool nobody_inside(const LaneShard* shard) const;
  void sweep(const LaneShard* shard);

  LanesOptions options_;
  const std::unique_ptr<LaneEvents> events_;  ///< never null
  JobActors actors_;
  const std::shared_ptr<SpawnCredits> spawn_credits_;
  const TickClock clock_;
  // Limits of lane.hpp, in ticks.
  std::atomic<bool> dry_wanted_{false};
  const std::int64_t wake_ticks_, pressing_ticks_, age_ticks_, edge_ticks_, clock_again_ticks_;
  Inbox inbox_;
  Edges edges_;
  /// The current lane of each place. An abandoned lane is replaced, but kept until the end in `all_lanes_`:
  /// so thieves need no lock.
  std::vector<std::atomic<Lane*>> lanes_;
  /// For the thread that replaces a lane, or takes rows out of queues to put others back.
  mutable std::mutex lanes_mutex_;
  std::vector<std::shared_ptr<Lane>> all_lanes_;
  /// Reads news from links, like a lane that runs nothing; among `all_lanes_`.
  std::shared_ptr<Lane> ear_;
  /// Attempts that were started here and have not ended, with the flags that their kernels read.
  std::mutex dispatched_mutex_;
  std::map<AttemptKey, std::shared_ptr<std::atomic<bool>>> dispatched_;
  AloneTurn alone_;
  /// Read at every push, written when a lane goes to sleep or is called.
  ring::BellWords own_bells_;
  ring::Bells<std::atomic> bells_;
  std::atomic<std::uint32_t> searching_{0};
  /// Begins with the first ring.
  std::mutex listener_mutex_;
  std::thread listener_;
  std::mutex watch_mutex_;
  std::condition_variable watch_called_;
  std::atomic<bool> watch_sleeps_{false};
  std::thread watch_;
  alignas(64) std::atomic<bool> stopping_{false};
  std::atomic<std::uint32_t> retired_count_{0};
  std::vector<std::shared_ptr<LaneShard>> retired_;  // guarded by lanes_mutex_
};

}  // namespace dag
