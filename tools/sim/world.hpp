#pragma once
// A cluster in one process: machines, lanes, network and clock of one seed. Everything that may go wrong is
// an option; what must never be seen is checked after each event.

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "libdag/cell/cell.hpp"
#include "libdag/here/job_here.hpp"
#include "libdag/job/edge_news.hpp"
#include "libdag/replica/cell_replica.hpp"
#include "libdag/stealing/thief.hpp"
#include "tools/sim/cuts.hpp"
#include "tools/sim/events.hpp"
#include "tools/sim/gang_watch.hpp"
#include "tools/sim/planted.hpp"
#include "tools/sim/program.hpp"
#include "tools/sim/result.hpp"
#include "tools/sim/rings.hpp"
#include "tools/sim/true_loads.hpp"
#include "tools/sim/work_conservation.hpp"

namespace dag::sim {

/// How long things take, where it is measured how busy lanes are kept, and nothing goes wrong. The figures
/// were measured by prototypes between two hosts.
struct Pace {
  Duration kernel = std::chrono::microseconds(100);
  Duration latency = std::chrono::microseconds(50);  ///< one way
  double bytes_per_second = 1.2e9;
  /// The time of a process's message thread for a message, at either end, and for each of its bytes.
  Duration per_message = std::chrono::microseconds(1);
  double seconds_per_byte = 3e-9;
  /// The time of the same thread for each row that lanes report, and how long lanes collect rows.
  Duration per_row = std::chrono::nanoseconds(100);
  Duration report_after = std::chrono::microseconds(10);
};

struct WorldOptions {
  std::uint64_t seed = 1;
  std::uint32_t processes = 1;
  std::uint32_t lanes = 2;
  std::uint32_t shards = 1;
  Representation representation = Representation::as_needed;
  std::uint64_t inline_bytes_max = 4096;
  bool steal = true;
  bool steal_attempts = false;  ///< also what was dispatched, and waits for a lane
  /// So many kernels run for seconds, at most; who asks for work and who gives some decide as real ones do.
  std::uint32_t stragglers = 0;
  std::uint64_t outputs_times_larger = 1;  ///< then: TrueLoadsOptions
  /// So many processes hold the record. One: the first, which then never dies.
  std::uint32_t replicas = 1;
  CellReplicaOptions replica = {};
  double replicas_lost = 0;        ///< share of what replicas say to each other that is lost
  std::uint32_t replicas_cut = 0;  ///< so often one hears no other for a while, and is not heard
  bool cut_anyhow = false;         ///< or on one way only, or they are parted
  std::uint32_t pauses = 0;        ///< so often one is stopped for a while
  std::uint32_t disks_full = 0;    ///< so often one writes nothing for a while
  bool copies_move = false;   ///< who is gone loses its copy, when another can have it; and who is drained
  bool until_copied = false;  ///< it goes on until the record has its copies again: L3
  double aim = 0;             ///< share of deaths that are of who leads
  // Faults, which stop at `calm_at`.
  double late = 0;  ///< share of messages that come late, after others
  double repeated = 0;
  std::uint32_t deaths = 0;
  double zombies = 0;  ///< share of deaths that are only believed: the process goes on for a while
  bool rejoin = true;
  bool spread_actors = true;
  /// Attempts are placed by earliest finish, under loads that are drawn. Else at home, or anywhere by chance.
  bool by_finish = false;
  /// The cell's process only records: it is nobody's home and runs nothing.
  bool cell_runs = true;
  /// Then: the others come up when the job has begun already.
  bool workers_late = false;
  /// All processes but the cell's die at about the same time, and come back later.
  bool all_die = false;
  /// The client gets what it wants through the runner beside the cell, also after the job's end.
  bool client_fetches = false;
  /// Lanes tell those of other shards of ends, over rings where two processes share some.
  bool rings = false;
  /// Then: with outputs that do not go along in a record, too, as where they can be read where they lie.
  bool shared_memory = false;
  /// And by links where no ring leads.
  bool by_link = false;
  /// Some tasks take their process down (not the cell's).
  bool poison = false;
  /// Then: those that always do are given up before all are down. (Processes come back here all the same.)
  bool quarantine = false;
  /// All digests are taken behind, as those of large outputs are.
  bool digests_behind = false;
  /// Clocks run faster or slower by up to so many millionths.
  std::int64_t drift_ppm = 0;
  Instant calm_at = Instant{std::chrono::seconds(2)};
  Duration patience = std::chrono::seconds(30);  ///< after calm_at, until the job must have ended: L1
  std::uint64_t events_max = 3'000'000;
  PlantedBugs planted = {};
  /// Some kernels give another value with each attempt: then no oracle knows the result, but each settled
  /// value must be the one that the settled values of its inputs give.
  bool varying = false;
  bool says_varying = false;  ///< and these tasks say so, so nothing of it is an honest end of the job
  /// Somebody cancels the job, or some of its tasks, at some time: then what has to come of the others is not
  /// known, only that all of them end.
  bool cancels = false;
  /// Some tasks may run only once, so what comes of them when processes die is not known.
  bool once = false;
  Duration lease = exclusive_lease;
  Duration cut_interval = dag::cut_interval;
  SpawnCredit spawn_credit = {};
  /// As in CellOptions.
  std::size_t small_plan_bytes_max = CellOptions{}.small_plan_bytes_max;
  bool trace = false;
  /// Whether anybody wants the records. Where nobody does, homes take shorter ways.
  bool listened = true;
  /// Left out: things take as long as chance has it.
  std::optional<Pace> pace = std::nullopt;
};

/// The control traffic of a process, where there is a pace: messages sent to other processes, and received.
struct Carried {
  Instant busy_until;
  Duration busy{0};
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

class TraceSink final : public EventSink {
 public:
  void record(const JournalEvent& record) override {
    ++count;
    if (gangs) gangs->record(record);
    if (std::holds_alternative<event::StartedOver>(record.what)) started_over[record.task] = record.attempt;
    if (std::holds_alternative<event::Lost>(record.what) ||
        std::holds_alternative<event::Returned>(record.what))
      given_up.push_back({record.task, record.attempt});
    if (const auto* ended = std::get_if<event::Ended>(&record.what))
      left_out += ended->outcome == Outcome::finished && !ended->error.empty() ? 1 : 0;
    const std::string line = to_string(record);
    for (const char c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    if (print) std::puts(line.c_str());
    if (keep) lines.push_back(line);
  }
  /// Messages count in the trace, too, since not every world has a listener.
  void delivered(Instant when, Life from, Life to, const JobMessage& message) {
    for (const std::uint64_t part :
         {static_cast<std::uint64_t>(when.since_start.count()), std::uint64_t{from.process.value},
          std::uint64_t{to.process.value}, std::uint64_t{message.index()}}) {
      hash = (hash ^ part) * 0x100000001B3ULL;
    }
  }
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  std::uint64_t count = 0;
  std::uint64_t left_out = 0;  ///< saves
  std::optional<GangWatch> gangs;
  bool print = false;
  bool keep = false;
  std::vector<std::string> lines;
  std::map<TaskId, AttemptId> started_over;  ///< the last attempt whose inputs do not count any more
  std::vector<OutputName> given_up;          ///< by the home whose records came last
};
class QuietSink final : public EventSink {
 public:
  void record(const JournalEvent&) override { ++count; }
  std::uint64_t count = 0;
};

/// The end of a task as the job's result has it: equal for all ways to run a graph.
struct Settled {
  Outcome outcome = Outcome::none;
  std::optional<std::uint64_t> value;
  bool operator==(const Settled&) const = default;
};

class World {
 public:
  World(WorldOptions options, Program& program);
  ~World();

  /// Runs the job to its end and checks what came of it.
  void run();

  const std::map<TaskId, Settled>& settled() const { return settled_; }
  std::uint64_t trace_hash() const { return trace_.hash; }
  TraceSink& trace() { return trace_; }
  const std::optional<Error>& stopped() const { return stopped_; }
  std::uint64_t events = 0;
  std::map<std::string, std::uint64_t> seen;  ///< how often what happened: coverage
  std::set<TaskId> cancel_after;              ///< tests: cancels these when anything has settled
  // With a pace:
  std::vector<Carried> carried;   ///< by process
  std::uint64_t graph_bytes = 0;  ///< sent to all before they begin, which takes no time here
  std::optional<Instant> first_began, last_ended;

  Cell& cell() { return *cell_; }

 private:
  struct Work {
    std::uint32_t shard = 0;
    RowIndex row = no_row;
    std::shared_ptr<Attempt> attempt;
  };
  struct HomeBox final : HomeHere {
    using HomeHere::HomeHere;
    std::optional<Duration> mean_run() const override {
      return placer == nullptr ? std::nullopt : placer->mean_run();
    }
    TrueLoads* placer = nullptr;  ///< of `home`, where it is one
    LaneReport report;
    bool report_under_way = false;
  };
  /// The ports of a job in a process.
  class Around final : public JobPorts {
   public:
    Around(World& world, std::uint32_t process) : world_(world), process_(process) {}
    std::unique_ptr<HomeHere> make_home(const BeginHome& which) override {
      return world_.make_home(*world_.processes_[process_], which);
    }
    void end_home(std::unique_ptr<HomeHere> home) override {
      world_.end_home(*world_.processes_[process_], *home);
    }
    Waiting waiting(std::optional<Duration> mean_run) override {
      return world_.waiting_at(*world_.processes_[process_], mean_run);
    }
    std::vector<RowIndex> take_rows(std::uint32_t shard, std::uint32_t most) override {
      return world_.take_rows(*world_.processes_[process_], shard, most);
    }
    std::vector<OutputName> take_attempts(std::uint32_t most,
                                          const std::function<bool(const OutputName&)>& may_go) override {
      return world_.take_attempts(*world_.processes_[process_], most, may_go);
    }

   private:
    World& world_;
    const std::uint32_t process_;
  };
  struct Process {
    Life life;
    bool up = false;
    std::unique_ptr<Around> around;
    std::unique_ptr<JobHere> job;
    std::map<std::uint32_t, HomeBox*> homes;  ///< of `job`
    std::optional<std::uint32_t> asked_in;    ///< the leader of that term, what the job is
    std::deque<Work> queue;
    std::uint32_t lanes_busy = 0;
    std::map<std::uint32_t, OutputName> running;  ///< by lane
    bool alone = false;                           ///< what runs has to be
    std::map<std::uint32_t, Instant> running_since;
    Instant lanes_changed;  ///< one took something, or was through with it
    ThiefMachine thief{ThiefOptions{}};
    std::map<std::uint32_t, std::pair<AttemptId, std::shared_ptr<void>>> actors;
    std::set<OutputName> stopped;
    std::optional<Instant> timer;          ///< of `job`
    std::unique_ptr<CellReplica> replica;  ///< where there are several
    std::optional<Instant> replica_timer;
    const message::JobState& state() const { return job->state(); }
    consensus::Index compared_at = 0;  ///< what it had applied when its cell was compared with the reference
  };
  /// The part of a process that outlives it.
  struct ReplicaDisk {
    consensus::Stored stored;
    std::deque<WriteToLog> waiting;
    bool busy = false;
    Instant full_until;
  };
  class Spread final : public HomePlacement {
   public:
    Spread(std::uint64_t seed, bool spread) : random_(seed), spread_(spread) {}
    Life place_actor(std::uint32_t, const std::vector<Life>& lives, const std::vector<std::uint32_t>&,
                     const Policy&) override {
      return lives[random_.below(lives.size())];
    }
    PlacedAttempt place_attempt(const AttemptToPlace&, const std::vector<Life>& lives, Life self) override {
      return {spread_ && random_.chance(0.2) ? lives[random_.below(lives.size())] : self};
    }

   private:
    Random random_;
    bool spread_;
  };

  EventSink& sink() {
    if (options_.listened) return trace_;
    return nobody_;
  }
  /// As nobody in it knows it: see clock_of.
  Instant now() const { return events_.now(); }
  /// The clock of a machine; the processes of its number use it one after the other.
  Instant clock_of(std::uint32_t process) const;
  Instant clock_of(const Process& process) const { return clock_of(process.life.process.value); }
  /// When that clock says this.
  std::optional<Instant> when(const Process& process, std::optional<Instant> said) const;
  Life life_of(std::uint32_t process) const { return processes_[process]->life; }
  Process* find(Life life) {
    if (life.process.value >= processes_.size()) return nullptr;
    Process& process = *processes_[life.process.value];
    return process.up && process.life == life ? &process : nullptr;
  }

  // ---- Processes

  /// The job has ended, and the client has what it wanted.
  bool over() const {
    if (!ended_ || (options_.until_copied && !copied_)) return false;
    return stopped_ || (fetches_open_ == 0 && fetches_planned_ == 0);
  }

  /// And what was under way then has come to its end, too.
  bool stands_still() const { return over() && !settling_; }

  void start_process(std::uint32_t index, std::uint32_t incarnation);

  // ---- Rings

  void make_rings(Life life);
  void join_after(Duration pause, Life self, Life peer);
  void part_after(Duration pause, Life self, Life peer);
  /// Lanes hear of a new home when it has begun.
  void join_soon(Life life, std::uint32_t shard);
  void tell_reach(Life life);

  /// Writes a lane's news of a row that ended, inside the gate. False: the ring has no room now.
  bool write_ring(Life from, const Route& route, EdgeNews&& news);
  bool is_large(const Blob& value) const { return value.size_bytes() > options_.inline_bytes_max; }
  std::size_t digest_at_once() const { return options_.digests_behind ? 0 : digest_at_once_bytes_max; }
  bool hear_edge(Process& process, HomeBox& box, EdgeNews& news);
  bool knows_the_job(Process& process, Life from, const JobMessage& message);
  bool hear_message(Process& process, const JobMessage& message);
  void read_ring(Life from, Life to, EdgeNews news);

  // ---- Faults

  void plan_cancel();
  void plan_faults();
  void die(std::uint32_t index);
  void gone(std::uint32_t index);
  void come_up_after(Duration pause, std::uint32_t index);

  Duration millis(std::uint64_t least, std::uint64_t most) {
    return std::chrono::microseconds(1000 * least + random_.below(1000 * (most - least) + 1));
  }

  // ---- Replicas of the cell (world_replicas.cpp)

  bool replicated() const { return options_.replicas > 1; }
  /// May be a home, and run things.
  bool runs(std::uint32_t index) const { return options_.cell_runs || index >= options_.replicas; }
  void begin_replicas();
  void start_replica(std::uint32_t index);
  void crash_replica(std::uint32_t index);
  void drain_replica(Process& process);
  void carry_out(Process& process, CellReplicaEffect& effect);
  void send_to_replica(std::uint32_t from, std::uint32_t to, const consensus::Message& message);
  void write_log(std::uint32_t index);
  void leads_now(Process& process);
  void look_at_cancel(const CellReplica& replica);
  void check_against_reference(Process& process);
  Process* leading();
  void plan_cuts();
  void plan_pauses();
  void plan_full_disks();
  void plan_drain();
  void tell_seats(Process& process);
  /// True: the process is stopped, and `then` runs when it goes on.
  bool waits_in_pause(std::uint32_t index, std::function<void()> then);
  /// Until somebody leads who does it.
  void to_leader(std::function<bool(CellReplica&, Instant)> what);
  void heard_up(Life life);
  void heard_down(Life life, const LifeEnd& how, std::uint64_t least_ms, std::uint64_t most_ms);
  std::uint32_t draw_victim();
  /// Some time before all is calm.
  Instant draw_time(Random& random) const {
    return Instant{Duration(random.below(static_cast<std::uint64_t>(options_.calm_at.since_start.count())))};
  }

  // ---- What must hold of the record (world_record.cpp)

  void check_closed(const Cell& cell);
  void note_given_up(const Process& process);
  void check_leader(const Process& process);
  void check_configuration(const consensus::Configuration& next);
  bool is_copied();
  std::string who_has_copies();
  void look_who_has_copies();

  // ---- Network

  void send(Life from, Life to, const JobMessage& message);

  void send_at_pace(Life from, Life to, const JobMessage& message);
  /// Takes the process's thread for messages for so long, when it is free; `then` when that is over.
  void take_control(std::uint32_t process, Duration cost, std::function<void()> then);

  /// As it arrives elsewhere: what a machine says must be a frame that a receiver takes.
  static JobMessage through_bytes(const JobMessage& message);
  void trace_message(const char* what, Life from, Life to, const JobMessage& message);
  void deliver(Life from, Life to, const JobMessage& message);
  void count_refused(Process& process, Life from, Admission admission);
  void tell_cell(Process& process, Life from, const JobMessage& message);
  std::unique_ptr<HomeHere> make_home(Process& process, const BeginHome& which);
  static void end_home(Process& process, const HomeHere& home);
  std::unique_ptr<HomePlacement> placement_of(const HomeOptions& home, TrueLoads*& placer);

  // ---- Effects

  void drain_cell();
  /// Lets the machines handle their events in turn; lanes go on in between.
  void take_steps(Process& process);
  /// To be called when a machine was told of something.
  void drain(Process& process);
  void carry_out(Process& process);
  /// False: the process is gone.
  bool carry_out(Process& process, JobEffect& effect);
  void wake_later(Process& process);
  void digest_later(Life life, OutputName name, std::uint64_t digest);

  // ---- Lanes

  void run_lanes(Process& process);
  Duration kernel_time();
  std::uint32_t take_lane(Process& process, TaskId task, AttemptId id, bool alone = false);
  /// False: the process is not there any more, or the kernel took it down.
  bool leave_lane(Process* process, std::uint32_t lane, const KernelRun& run);

  void executed(TaskId task, AttemptId id) {
    if (!executed_.insert({task, id}).second) {
      throw Violation("attempt " + to_string(task) + to_string(id) + " was executed twice");
    }
  }

  /// A later attempt is not told of fewer tries than an earlier one, whichever home gave it out, unless the
  /// task started over in between.
  void check_tries(TaskId task, AttemptId id, std::uint32_t attempt_number);

  /// Effects rest on what is settled, else they could not be taken back.
  void check_once(std::uint64_t salt, TaskId task);
  void check_suspect(const Process& process, std::uint64_t salt, TaskId task) const;
  void check_dispatched(const Process& process, const Attempt& attempt) const;
  void check_exclusive(TaskId task);
  void check_effects(std::uint64_t salt, TaskId task, const std::vector<OutputName>& rests_on) const;
  void begin_row(Process& process, const Work& work);
  void leave_row(Life life, std::uint32_t shard, RowIndex row, std::uint32_t attempt,
                 const std::shared_ptr<KernelRun>& run, std::uint32_t lane);
  bool waits_for_credit(Life life, const AttemptEnd& ended);
  void end_row(Process& process, HomeBox& box, RowIndex row, std::uint32_t attempt, KernelRun& run);

  /// Reports of several lanes have no order among each other: parts of one are sent in any.
  void report_later(Process& process, HomeBox& box);
  void report_at_pace(Process& process, HomeBox& box);
  void begin_attempt(Process& process, const Work& work);
  void end_attempt(Life life, const std::shared_ptr<KernelRun>& run, std::uint32_t lane);
  void tell_end(Life life, const AttemptEnd& ended);
  void save_meanwhile(Life life, const Attempt& attempt, Duration takes);

  // ---- Stealing (world_stealing.cpp)

  void look_for_work(Life life);
  bool steals_by_policy() const { return options_.stragglers > 0 && options_.steal; }
  void look_as_thief(Life life);
  std::vector<VictimView> victims_of(const Process& process);
  static bool one_waits_to_be_alone(const Process& process);
  std::vector<Duration> running_for(const Process& process) const;
  std::uint32_t free_lanes(const Process& process) const;
  Waiting waiting_at(const Process& process, std::optional<Duration> mean_run) const;
  std::vector<RowIndex> take_rows(Process& process, std::uint32_t shard, std::uint32_t most);
  std::vector<OutputName> take_attempts(Process& process, std::uint32_t most,
                                        const std::function<bool(const OutputName&)>& may_go);
  std::unique_ptr<HomePlacement> true_loads(Life life, std::uint64_t seed, TrueLoads*& placer);
  /// How much longer a kernel takes.
  Duration straggles();
  void look_at_waiting_work(Instant at);
  void look(Instant at);

  // ---- Checks

  void check(const Process& process) const;
  void check(const HomeBox& box) const;
  void on_settled(const TellClient& tell);

  /// A client takes its time, now and then until all has ended.
  void fetch_later(const TellClient& tell);
  void on_brought(const Brought& brought);

  /// Whether an output that was made again, or may have been, may have got another value: by its kernel, or
  /// by what it is made of, of `again` as well. named_only_: nobody needed it any more when another home took
  /// over (libdag/home/lineage.cpp). made_again_: its process was lost, maybe before it had taken the digest.
  bool made_unlike(std::uint32_t task, const std::set<std::uint32_t>& again) const;
  /// So that a value which was used and is gone cannot be had again.
  bool may_vary_unsaid() const { return options_.varying && !options_.says_varying; }

  /// Each settled outcome and value is what the settled ones of its predecessors give.
  void check_consistency() const;

  const test::Expected* expected(TaskId task) const {
    if (task.origin != 0 || options_.varying || options_.cancels || options_.once) return nullptr;
    const Known* known = program_.find(program_.graph().tasks.at(task.index).salt);
    return known == nullptr ? nullptr : &known->expected;
  }

  void check_value(TaskId task) const {
    const test::Expected* right = expected(task);
    if (right == nullptr || settled_.at(task).value == right->value) return;
    throw Violation("task " + to_string(task) + " has another value than the oracle says");
  }
  void check_digest(TaskId task, std::uint64_t digest) const;
  void check_result();
  bool member_was_blamed() const;
  std::string stuck();
  void step();

  // ---- What must have an end (world_bounds.cpp)

  void check_log_length(const CellReplica& replica) const;
  void note_waiting(Process& process, Life from, const JobMessage& message);
  void settle();
  void close_job();
  void run_until_quiet(std::string (World::*left)() const, Duration least);
  std::string left_running() const;
  std::string left_when_closed() const;

 public:
  bool check_outcomes = true;

 private:
  WorldOptions options_;
  Program& program_;
  Random random_;
  Random faults_;
  std::vector<std::int64_t> drift_ppm_;               ///< of each machine's clock
  Random riddles_;                                    ///< who killed a process
  std::map<std::uint64_t, std::uint32_t> took_down_;  ///< processes, by task
  std::map<TaskId, std::uint32_t> in_company_;        ///< of who took one down, and nobody knows who it was
  Random stragglers_;
  std::uint32_t stragglers_left_ = 0;
  Rings rings_;
  Events events_;
  TraceSink trace_;
  NullEventSink nobody_;
  std::shared_ptr<const JobPlan> plan_;
  std::vector<std::unique_ptr<Process>> processes_;
  /// The cell; where there are replicas, what the log as far as it is settled anywhere makes of one.
  std::unique_ptr<Cell> cell_;
  consensus::Index reference_at_ = 0;
  std::map<consensus::Index, std::uint64_t> states_;  ///< digests of what they made of the cell
  std::set<Life> buried_;                             ///< that the cell found dead
  std::vector<ReplicaDisk> disks_;
  Cuts cuts_;
  std::vector<Instant> paused_until_;
  std::optional<std::uint32_t> drained_;
  std::set<std::uint32_t> open_in_record_;  ///< tasks of the graph that have not settled
  std::set<OutputName> given_up_;           ///< attempts, by the homes that had them
  std::map<consensus::Term, Life> led_;     ///< who was leader in each term
  consensus::Term told_in_ = 0;             ///< the last one in which a client was told something
  std::optional<Life> leads_last_;          ///< who was found to lead last
  std::optional<consensus::Configuration> configuration_;
  consensus::Index settled_at_last_look_ = 0;
  bool copied_ = false;  ///< at the end
  Instant copied_at_, last_up_, last_gone_;
  std::vector<TaskId> wanted_;
  std::map<std::uint32_t, std::pair<Life, TellClient>> fetching_;  ///< by task
  std::map<TaskId, Settled> settled_;
  std::map<TaskId, AttemptId> attempts_;
  std::set<std::uint32_t> named_only_;  ///< tasks of the graph of which a later home learnt only the name
  std::set<std::uint32_t> made_again_;  ///< and those that ran once more under the name of a lost output
  std::set<OutputName> executed_;
  std::set<TaskId> started_once_;                               ///< of those that may run only once
  std::map<OutputName, std::uint64_t> left_;                    ///< what kernels of bare rows returned
  std::map<TaskId, std::map<AttemptId, std::uint32_t>> tries_;  ///< of attempts for the first time
  Process* touched_ = nullptr;
  WorkConservation conservation_;
  bool ended_ = false;
  bool settling_ = false;
  bool cancel_asked_ = false, cancel_acknowledged_ = false;  ///< of the whole job
  std::set<TaskId> fetched_;
  std::uint64_t fetches_planned_ = 0, fetches_open_ = 0;
  std::optional<Error> stopped_;
};

}  // namespace dag::sim
