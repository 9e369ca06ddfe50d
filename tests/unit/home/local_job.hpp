#pragma once
// A job in one place: a cell, a few processes with homes, runners and lanes, joined by a queue. No time
// passes but that which homes and runners wait for, and whatever happens happens one after another; a test
// looks at it between any two steps, holds messages and kernels back, and lets processes die.

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include "libdag/cell/cell.hpp"
#include "libdag/here/job_here.hpp"
#include "libdag/job/edge_news.hpp"
#include "tests/support/random_graph.hpp"

namespace dag::test {

/// A kernel is to be run.
struct KernelCall {
  TaskId task;
  AttemptId id;
  std::string name;
  std::uint32_t attempt_number = 1;
  detail::Code code;
  bool returns = false;
  detail::CallKind call = detail::CallKind::ordinary;
  void* self = nullptr;  ///< of calls: the object; of create: where its address goes
  bool again = false;    ///< what it leaves stands for an output that is gone
  const std::vector<detail::ArgumentView>& views;
  const std::vector<detail::Code>& predicates;
  Life at;
};
using Kernel = std::function<AttemptEnd(const KernelCall&)>;

struct LocalJobOptions {
  std::uint32_t processes = 1;
  std::uint32_t shards = 1;
  std::vector<ShardIndex> shard_of;  ///< empty: all in shard 0
  std::vector<std::uint32_t> homes;  ///< processes, per shard; empty: in turn
  Representation representation = Representation::as_needed;
  std::uint64_t inline_bytes_max = 4096;
  bool cell_runs = true;
  bool quarantine = false;     ///< JobPlan's
  std::uint32_t replicas = 1;  ///< of the record, as the cell says; there is one all the same
  std::uint64_t seed = 1;
  /// Where attempts go that no bare lane takes, and actors live: a process. Left out: at home.
  std::optional<std::uint32_t> place;
  /// The place of tasks of these names, instead.
  std::map<std::string, std::uint32_t> places = {};
  /// Instead: by earliest finish, under loads that are drawn from the seed.
  bool changing_loads = false;
  /// Whatever can happen next happens in any order, drawn from the seed. Else in the order of its causes.
  bool shuffled = false;
  /// Lanes tell those of other shards of ends, in this process and over rings to all others.
  bool rings = false;
  /// Every message comes twice.
  bool twice = false;
  /// HomeOptions'.
  std::optional<std::uint64_t> released_bytes_max = {};
  SpawnCredit spawn_credit = {};
  /// All digests are taken behind, as those of large outputs are.
  bool digests_behind = false;
  /// How long tasks usually take, by name, as placement says when somebody asks.
  std::map<std::string, Duration> usual = {};
  /// Counts by name what placement heard of how long tasks ran. Left out: nobody counts.
  std::map<std::string, int>* durations_heard = nullptr;
  /// Gets the records of all processes, if it is given.
  EventSink* records = nullptr;
};

class LocalJob {
 public:
  LocalJob(detail::Fragment graph, Kernel kernel, LocalJobOptions options = {});

  ~LocalJob();

  // ---- What a test does

  /// Makes one thing happen. False: nothing is left but to wait.
  bool step();
  /// Until `reached`, or for ever when it cannot be: then it throws.
  void run_until(const std::function<bool()>& reached);
  void run() {
    run_until([&] { return job_ended.has_value(); });
  }
  /// Everything that can happen without time passing, but for the little that homes wait with a cut.
  void settle_down();
  /// When somebody wants to wake up.
  std::optional<Instant> wakes_at() const;
  /// Time passes until then. False: nobody does.
  bool wait();
  /// The process is gone, and the cell has not heard of it yet.
  void kill(std::uint32_t process) {
    processes_[process] = {};
    processes_[process].life = life_of_[process];
  }
  void tell_death(std::uint32_t process) {
    cell_->on_life_down(life_of_[process], now);
    drain_cell();
  }
  void die(std::uint32_t process) {
    kill(process);
    tell_death(process);
  }
  void come_up(std::uint32_t process) {
    begin_life({ProcessId{process}, Incarnation{life_of_[process].incarnation.value + 1}});
    cell_->on_life_up(life(process), now);
    drain_cell();
  }
  void cancel_job() {
    cell_->cancel({}, now);
    drain_cell();
  }
  /// The bytes of a settled output, for the client: in `brought` when they have come.
  void fetch(TaskId task);
  void steal(std::uint32_t thief, std::uint32_t victim, std::uint32_t slots) {
    post(life(thief), life(victim), message::StealRequest{plan_->job, slots});
  }

  /// The message is on its way.
  void post(Life from, Life to, JobMessage message);

  /// A kernel of this name, which is paused, saves its state.
  void save(const std::string& name, std::uint64_t state);
  /// Where a kernel of this name waits for a lane.
  std::optional<std::uint32_t> waits_at(const std::string& name) const;
  /// By all runners.
  std::uint64_t bytes_held() const {
    std::uint64_t bytes = 0;
    for (const Process& process : processes_) bytes += process.up ? process.job->runner().bytes_held() : 0;
    return bytes;
  }
  Cell& cell() { return *cell_; }
  /// After a test has called the cell.
  void told_cell() { drain_cell(); }
  void keep(const std::vector<TaskId>& tasks) {
    cell_->keep(tasks, now);
    drain_cell();
  }
  Home& home(std::uint32_t shard) { return box(shard).home; }
  RowTable& table(std::uint32_t shard) { return box(shard).table; }
  Life life(std::uint32_t process) const { return life_of_[process]; }
  std::uint32_t home_process(std::uint32_t shard) const {
    return cell_->state().homes[shard].home.process.value;
  }
  /// How often a kernel of this name was run.
  std::size_t runs(const std::string& name) const {
    return static_cast<std::size_t>(
        std::count_if(ran.begin(), ran.end(), [&](const Ran& one) { return one.name == name; }));
  }
  /// The client's value: what it was told or brought, or what it would be brought from the task's home.
  std::optional<std::uint64_t> value(TaskId task) const;
  Outcome outcome(TaskId task) const {
    const auto found = settled.find(task);
    return found == settled.end() ? Outcome::none : found->second.record.outcome;
  }

  struct Ran {
    std::string name;
    TaskId task;
    AttemptId id;
    std::uint32_t attempt_number;
    Life at;
    bool again;
  };
  struct Mail {
    Life from, to;
    JobMessage message;
  };
  std::uint64_t told_by_lanes = 0;                             ///< ghosts that lanes ended
  std::vector<Ran> ran;                                        ///< kernels that were run, in order
  std::vector<Troubled> troubles;                              ///< that homes told, in order
  std::map<std::string, std::vector<std::uint64_t>> restored;  ///< from what kernels of a name started
  std::map<TaskId, TellClient> settled;
  std::map<TaskId, Brought> brought;
  std::vector<std::pair<Life, KeepSave>> kept_saves;  ///< and where a disk would keep them
  std::vector<Life> leases_lost;                      ///< who had to end
  std::optional<JobIsOver> job_ended;
  Instant now;
  std::set<std::string> paused;           ///< kernels of these names begin and do not end, unless stopped
  std::set<std::string> deaf;             ///< and these do not end either when they are stopped
  bool hold_digests = false;              ///< they are not taken yet
  std::function<bool(const Mail&)> hold;  ///< messages that are not delivered yet
  std::vector<Mail> held;
  void release_held() {
    hold = nullptr;
    for (Mail& mail : std::exchange(held, {})) messages_.push_back(std::move(mail));
  }

 private:
  using Box = HomeHere;
  /// The ports of a job in a process.
  class Around final : public JobPorts {
   public:
    Around(LocalJob& local, std::uint32_t process) : local_(local), process_(process) {}
    std::unique_ptr<HomeHere> make_home(const BeginHome& which) override {
      return local_.make_home(local_.processes_[process_], which);
    }
    void end_home(std::unique_ptr<HomeHere> home) override {
      local_.end_home(local_.processes_[process_], *home);
    }
    /// Thieves get all that they ask for, as far as it is there and may go.
    Waiting waiting(std::optional<Duration>) override {
      return {.rows = 1u << 20, .mean_run = std::chrono::hours(1)};
    }
    std::vector<RowIndex> take_rows(std::uint32_t shard, std::uint32_t most) override {
      return LocalJob::take_rows(local_.processes_[process_], shard, most);
    }
    std::vector<OutputName> take_attempts(std::uint32_t most,
                                          const std::function<bool(const OutputName&)>& may_go) override {
      return LocalJob::take_attempts(local_.processes_[process_], most, may_go);
    }

   private:
    LocalJob& local_;
    const std::uint32_t process_;
  };
  struct Work {
    std::uint32_t shard = 0;
    RowIndex row = no_row;
    std::shared_ptr<Attempt> attempt;
  };
  struct Process {
    Life life;
    bool up = false;
    std::unique_ptr<Around> around;
    std::unique_ptr<JobHere> job;
    std::deque<Work> queue;
    std::set<OutputName> stopped;
    std::map<std::uint32_t, std::pair<AttemptId, std::shared_ptr<void>>> objects;  ///< ActorState all
  };
  class Placed final : public HomePlacement {
   public:
    explicit Placed(const LocalJobOptions& options)
        : place_(options.place),
          places_(options.places),
          usual_(options.usual),
          durations_heard_(options.durations_heard) {}
    Life place_actor(std::uint32_t, const std::vector<Life>& lives, const std::vector<std::uint32_t>&,
                     const Policy&) override {
      return find(lives, lives.front(), place_);
    }
    PlacedAttempt place_attempt(const AttemptToPlace& attempt, const std::vector<Life>& lives,
                                Life self) override {
      const auto named = places_.find(attempt.name);
      return {find(lives, self, named == places_.end() ? place_ : named->second)};
    }
    void ran(const std::string& name, Duration, bool) override {
      if (durations_heard_ != nullptr) ++(*durations_heard_)[name];
    }
    std::optional<Duration> usual(const std::string& name, const Policy&) const override {
      const auto known = usual_.find(name);
      return known == usual_.end() ? std::nullopt : std::optional(known->second);
    }

   private:
    static Life find(const std::vector<Life>& lives, Life otherwise, std::optional<std::uint32_t> place) {
      for (const Life life : lives) {
        if (place && life.process.value == *place) return life;
      }
      return otherwise;
    }
    std::optional<std::uint32_t> place_;
    std::map<std::string, std::uint32_t> places_;
    std::map<std::string, Duration> usual_;
    std::map<std::string, int>* durations_heard_;
  };

  void begin_life(Life life);
  Process* find(Life life) {
    Process& process = processes_[life.process.value];
    return process.up && process.life == life ? &process : nullptr;
  }
  Box& box(std::uint32_t shard) { return *processes_[home_process(shard)].job->homes().at(shard); }
  /// The value in the slot of the task's row.
  Blob in_slot(TaskId task) const;

  // ---- Messages

  void deliver_next();
  void deliver(const Mail& mail);
  std::unique_ptr<HomeHere> make_home(Process& process, const BeginHome& which);
  static void end_home(Process& process, const HomeHere& home);
  static std::vector<RowIndex> take_rows(Process& process, std::uint32_t shard, std::uint32_t most);
  static std::vector<OutputName> take_attempts(Process& process, std::uint32_t most,
                                               const std::function<bool(const OutputName&)>& may_go);

  // ---- Rings

  void read_ring();

  // ---- Effects

  void drain_cell();
  /// Each machine of the process handles what came for it.
  void take_steps(Process& process);
  /// To be called when a machine was told of something.
  void drain(Process& process);
  void carry_out(Process& process);
  void carry_out(Process& process, JobEffect& effect);
  bool take_digest();

  // ---- Lanes

  static const std::string& name_of(const Process& process, const Work& work) {
    if (work.attempt != nullptr) return work.attempt->name;
    const RowTable& table = process.job->homes().at(work.shard)->table;
    return table.name_of(table[work.row]);
  }
  /// Nobody wants it run any more.
  static bool dropped(const Process& process, const Work& work) {
    if (work.attempt != nullptr) return process.stopped.contains({work.attempt->task, work.attempt->id});
    return process.job->homes().at(work.shard)->table.word(work.row).state != RowState::ready;
  }
  bool can_run(const Process& process, const Work& work) const {
    return !paused.contains(name_of(process, work)) ||
           (dropped(process, work) && !deaf.contains(name_of(process, work)));
  }
  bool lane_has_work();
  bool run_lane();
  AttemptEnd run_kernel(const KernelCall& call);
  void run_row(Process& process, const Work& work);
  void run_attempt(Process& process, const Attempt& attempt);
  void end_attempt(Process& process, const AttemptEnd& ended);

  std::string stuck();

  LocalJobOptions options_;
  Kernel kernel_;
  Random random_;
  NullEventSink nobody_;
  EventSink& records_;
  std::shared_ptr<const JobPlan> plan_;
  std::deque<Process> processes_;
  std::vector<Life> life_of_;
  std::unique_ptr<Cell> cell_;
  std::deque<Mail> messages_;
  std::map<std::pair<Life, Life>, std::deque<EdgeNews>> rings_;  ///< from, to
  std::deque<std::pair<Life, TakeDigest>> digests_;
  std::set<OutputName> executed_;
  std::map<std::uint64_t, TaskId> fetching_;
};

}  // namespace dag::test
