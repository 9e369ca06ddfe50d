#pragma once
// The lanes of one simulated worker process, in virtual time, in place of the threads of actors/lanes. The
// seed draws the next work, the time of each kernel and the time of its report.

#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "actors/lanes/lanes_port.hpp"
#include "libdag/base/random.hpp"
#include "libdag/job/edge_news.hpp"
#include "libdag/supervision/blame.hpp"
#include "tools/sim/actors/ledger.hpp"
#include "tools/sim/work_conservation.hpp"

namespace dag::sim {

struct SimLanesOptions {
  std::uint32_t lanes = 2;
  bool tell_by_link = false;  ///< of ends, lanes of other processes
  bool crashes = false;       ///< some kernels take the process down
  std::uint32_t slow = 1;     ///< kernels take so many times longer
  Duration takes_more{0};     ///< and each so much more
  SpawnCredit spawn_credit = {};
};

/// Calls of lanes to their process.
struct SimLanesPorts {
  /// Later, if the process is there then, and awake.
  std::function<void(Duration pause, std::function<void()> what)> after;
  std::function<Instant()> now;
  std::function<void()> dry;
  std::function<void(Life to, EdgeNews&& news)> send_edge;
  std::function<void(std::optional<Life> from, message::PredecessorEnded&& news)> edge_news;
  /// The kernel on this lane took the process down.
  std::function<void(std::uint32_t lane)> crashed;
};

class SimLanes final : public LanesPort {
 public:
  SimLanes(SimLanesOptions options, Ledger& ledger, SimLanesPorts ports, std::uint64_t seed)
      : options_(options), ledger_(ledger), ports_(std::move(ports)), random_(seed) {}

  void make_ready(LaneShard& shard, RowIndex row, Priority band) override;
  void start(Attempt attempt, Priority band, std::function<void(AttemptEnd&&)> done,
             std::function<void(Saved&&)> saved = {}, std::function<void()> began = {}) override;
  void cancel(JobId job, TaskId task, AttemptId attempt) override;
  bool abandon(JobId job, TaskId task, AttemptId attempt) override;
  std::vector<RowIndex> take_rows(const LaneShard& shard, std::size_t count) override;
  std::vector<OutputName> take_attempts(JobId job, std::size_t count,
                                        const std::function<bool(const OutputName&)>& may_go) override;
  void tell_when_dry() override { dry_wanted_ = true; }
  void add_shard(LaneShard& shard) override;
  void retire(std::shared_ptr<LaneShard> shard) override;
  std::vector<Life> reach() const override { return {}; }
  bool tells_by_link() const override { return options_.tell_by_link; }
  std::vector<RunningNow> running_now() const override;
  bool stand_aside() const override;
  JobActors& actors() override { return actors_; }
  const std::shared_ptr<SpawnCredits>& spawn_credits() override { return spawn_credits_; }
  std::size_t count() const override { return options_.lanes; }
  std::size_t queued() const override { return queue_.size(); }
  std::uint32_t idle() const override { return dry(); }
  std::uint32_t dry() const override {
    return options_.lanes - std::min(options_.lanes, static_cast<std::uint32_t>(running_.size()));
  }

  /// News from lanes of another process.
  void hear(std::optional<Life> from, EdgeNews&& news);
  /// The content of the page that a process shares with its node.
  std::vector<RunningAttempt> running() const;
  /// Adds what this process has: attempts that no kernel has begun, and idle lanes, if there are any that
  /// could begin something.
  void look(Life self, std::vector<WaitingWork>& waiting, std::vector<FreeLane>& free, JobId job) const;
  /// The rows here that have not ended, for people.
  std::string open_rows() const;

 private:
  struct Dispatched {
    Attempt attempt;
    std::function<void(AttemptEnd&&)> done;
    std::function<void(Saved&&)> saved;
    std::function<void()> began;
    bool cancelled = false;
  };
  struct Work {
    std::shared_ptr<LaneShard> shard;  ///< of a row
    RowIndex row = no_row;
    std::shared_ptr<Dispatched> dispatched;
  };
  struct Running {
    JobId job;
    TaskId task;
    AttemptId id;
    std::uint64_t number = 0;
    bool alone = false;  ///< nothing runs beside it
    Instant began;
  };
  struct OpenReport {
    std::shared_ptr<LaneShard> shard;
    LaneReport report;
  };

  void add(Work work);
  void look_soon();
  void take_work();
  void begin_row(const Work& work);
  void begin_attempt(const std::shared_ptr<Dispatched>& work);
  KernelRun run_attempt(const Attempt& attempt);
  void end_row(const std::shared_ptr<LaneShard>& shard, RowIndex row, std::uint32_t attempt, KernelRun& run);
  bool tell_edge(const LaneShard& from, const Route& route, EdgeNews&& news);
  /// Calls `then` when the kernel has ended; not if its lane is given up before, or it takes all down.
  void run(JobId job, TaskId task, AttemptId id, bool alone, Duration takes,
           std::shared_ptr<KernelRun> kernel, std::function<void(KernelRun&)> then);
  /// The kernel has returned; a lane without credit for the kernel's spawned tasks waits.
  void leave(std::uint32_t lane, std::uint64_t number, const std::shared_ptr<KernelRun>& kernel,
             const std::function<void(KernelRun&)>& then);
  void save_meanwhile(const std::shared_ptr<Dispatched>& work, Duration takes);
  Duration kernel_time();
  LaneReport& report_to(const std::shared_ptr<LaneShard>& shard);
  void report_later(const std::shared_ptr<LaneShard>& shard);

  const SimLanesOptions options_;
  Ledger& ledger_;
  const SimLanesPorts ports_;
  Random random_;
  JobActors actors_;
  const std::shared_ptr<SpawnCredits> spawn_credits_ = std::make_shared<SpawnCredits>(options_.spawn_credit);
  std::deque<Work> queue_;
  std::map<std::uint32_t, Running> running_;  ///< by lane
  std::uint64_t number_ = 0;
  std::vector<std::shared_ptr<Dispatched>> dispatched_;  ///< that have not ended
  std::map<std::pair<JobId, std::uint32_t>, std::shared_ptr<LaneShard>> shards_;
  std::vector<OpenReport> reports_;
  bool look_planned_ = false, dry_wanted_ = false;
  Instant changed_;  ///< something began or ended
};

}  // namespace dag::sim
