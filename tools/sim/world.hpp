#pragma once
// A cluster in one process: machines, lanes, network and clock of one seed. Everything that may go wrong is
// an option; what must never be seen is checked after each event.

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include "libdag/cell/cell.hpp"
#include "libdag/graph/outcome_rules.hpp"
#include "libdag/graph/partition.hpp"
#include "libdag/home/door.hpp"
#include "libdag/home/edge_news.hpp"
#include "libdag/home/home.hpp"
#include "libdag/home/runner.hpp"
#include "libdag/wire/envelope.hpp"
#include "tools/sim/changing_loads.hpp"
#include "tools/sim/events.hpp"
#include "tools/sim/program.hpp"
#include "tools/sim/rings.hpp"

namespace dag::sim {

struct WorldOptions {
  std::uint64_t seed = 1;
  std::uint32_t processes = 1;
  std::uint32_t lanes = 2;
  std::uint32_t shards = 1;
  Representation representation = Representation::as_needed;
  std::uint64_t inline_bytes_max = 4096;
  bool steal = true;
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
  /// Some tasks take their process down (not the cell's).
  bool poison = false;
  /// All digests are taken behind, as those of large outputs are.
  bool digests_behind = false;
  Instant calm_at = Instant{std::chrono::seconds(2)};
  Duration patience = std::chrono::seconds(60);  ///< after calm_at, until the job must have ended
  std::uint64_t events_max = 3'000'000;
  Planted planted = Planted::nothing;
  /// Some kernels give another value with each attempt: then no oracle knows the result, but each settled
  /// value must be the one that the settled values of its inputs give.
  bool varying = false;
  /// Somebody cancels the job, or some of its tasks, at some time: then what has to come of the others is not
  /// known, only that all of them end.
  bool cancels = false;
  bool trace = false;
  /// Whether anybody wants the records. Where nobody does, homes take shorter ways.
  bool listened = true;
};

/// What must not happen has happened.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class TraceSink final : public RecordSink {
 public:
  void record(const Record& record) override {
    ++count;
    if (std::holds_alternative<recorded::StartedOver>(record.what))
      started_over[record.task] = record.attempt;
    const std::string line = to_string(record);
    for (const char c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    if (print) std::puts(line.c_str());
    if (keep) lines.push_back(line);
  }
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  std::uint64_t count = 0;
  bool print = false;
  bool keep = false;
  std::vector<std::string> lines;
  std::map<TaskId, AttemptId> started_over;  ///< the last attempt whose inputs do not count any more
};
class QuietSink final : public RecordSink {
 public:
  void record(const Record&) override { ++count; }
  std::uint64_t count = 0;
};

/// What is known of a task when the job is over, however it was run: equal for all ways to run a graph.
struct Settled {
  Outcome outcome = Outcome::none;
  std::optional<std::uint64_t> value;
  bool operator==(const Settled&) const = default;
};

class World {
 public:
  World(WorldOptions options, Program& program)
      : options_(options),
        program_(program),
        random_(options.seed * 2 + 1),
        faults_(options.seed * 3 + 7),
        rings_(options.seed) {
    auto plan = std::make_shared<JobPlan>();
    plan->job = JobId{7};
    plan->name = "sim";
    plan->graph = std::make_shared<const detail::Fragment>(program.graph().fragment);
    plan->shards = options.shards;
    plan->shard_of = options.shards == 1 ? std::vector<std::uint32_t>(plan->graph->size(), 0)
                                         : partition(*plan->graph, options.shards);
    plan->representation = options.representation;
    plan->inline_bytes_max = options.inline_bytes_max;
    plan->seed = options.seed;
    plan_ = plan;
    trace_.print = options.trace;
    std::vector<Life> lives;
    for (std::uint32_t i = 0; i < options.processes; ++i) {
      processes_.push_back(std::make_unique<Process>());
      processes_[i]->life = {ProcessId{i}, Incarnation{0}};
      if (i > 0 && options.workers_late) {
        come_up_after(millis(1, 100), i);
      } else {
        start_process(i, 1);
        lives.push_back(life_of(i));
      }
    }
    cell_ = std::make_unique<Cell>(CellOptions{life_of(0), options.seed, options.cell_runs}, plan_, sink());
    cell_->begin(lives, {}, now());
    cell_->follow(ClientId{1}, {}, now());
    std::vector<TaskId> wanted;
    for (std::uint32_t task = 0; task < plan_->graph->size(); ++task) {
      if (random_.chance(0.3)) wanted.push_back({0, task});
    }
    if (options.client_fetches) fetched_.insert(wanted.begin(), wanted.end());
    cell_->keep(wanted, now());
    drain_cell();
    plan_faults();
    if (options_.cancels) plan_cancel();
  }

  /// Runs the job to its end and checks what came of it.
  void run() {
    std::uint64_t count = 0;
    while (!over()) {
      if (events_.empty())
        throw Violation("nothing is left to happen, and the job has not ended: " + stuck());
      if (events_.next_at() > options_.calm_at + options_.patience) {
        throw Violation("the job did not end in time: " + stuck());
      }
      if (++count > options_.events_max) throw Violation("too many events: " + stuck());
      events_.run_one();
      if (touched_ != nullptr) {
        if (count % 4 == 0 || count < 200) check(*touched_);
        touched_ = nullptr;
      }
    }
    events = count;
    check_result();
  }

  const std::map<TaskId, Settled>& settled() const { return settled_; }
  std::uint64_t trace_hash() const { return trace_.hash; }
  TraceSink& trace() { return trace_; }
  const std::optional<Error>& stopped() const { return stopped_; }
  std::uint64_t events = 0;
  std::map<std::string, std::uint64_t> seen;  ///< how often what happened: coverage
  std::uint64_t outputs_peak = 0;
  std::set<TaskId> cancel_after;  ///< tests: cancels these when anything has settled

  Cell& cell() { return *cell_; }
  void step_until(Instant when) {
    while (!over() && !events_.empty() && events_.next_at() <= when) events_.run_one();
  }

 private:
  struct Work {
    std::uint32_t shard = 0;
    RowIndex row = no_row;
    std::shared_ptr<Attempt> attempt;
  };
  struct HomeBox {
    HomeBox(HomeOptions options, std::shared_ptr<const JobPlan> plan, RecordSink& sink,
            std::unique_ptr<HomePlacement> placement)
        : table(plan->representation), home(options, plan, table, gate, sink, std::move(placement)) {}
    RowTable table;
    Gate gate{0};  // No lanes but those played here.
    Home home;
    LaneReport report;
    bool report_under_way = false;
    std::optional<Instant> timer;
  };
  struct Process {
    Life life;
    bool up = false;
    std::unique_ptr<Runner> runner;
    std::unique_ptr<Door> door;
    message::JobState state;
    std::map<std::uint32_t, std::unique_ptr<HomeBox>> homes;
    std::map<std::uint32_t, message::Assign> assigned;
    std::deque<Work> queue;
    std::uint32_t lanes_busy = 0;
    std::map<std::uint32_t, OutputName> running;  ///< by lane
    std::map<std::uint32_t, std::pair<AttemptId, std::shared_ptr<void>>> actors;
    std::set<OutputName> stopped;
    std::optional<Instant> runner_timer;
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

  RecordSink& sink() {
    if (options_.listened) return trace_;
    return nobody_;
  }
  Instant now() const { return events_.now(); }
  Life life_of(std::uint32_t process) const { return processes_[process]->life; }
  Process* find(Life life) {
    if (life.process.value >= processes_.size()) return nullptr;
    Process& process = *processes_[life.process.value];
    return process.up && process.life == life ? &process : nullptr;
  }

  // ---- Processes
  // ---------------------------------------------------------------------------------------------
  /// The job has ended, and the client has what it wanted.
  bool over() const { return ended_ && (stopped_ || (fetches_open_ == 0 && fetches_planned_ == 0)); }

  void start_process(std::uint32_t index, std::uint32_t incarnation) {
    Process& process = *processes_[index];
    process = Process{};
    process.life = {ProcessId{index}, Incarnation{incarnation}};
    process.up = true;
    RunnerOptions options{process.life, options_.planted};
    if (options_.digests_behind) options.digest_at_once_bytes_max = 0;
    process.runner = std::make_unique<Runner>(options, plan_, sink());
    process.door = std::make_unique<Door>(process.life);
    if (options_.steal && options_.processes > 1 && (index > 0 || options_.cell_runs))
      look_for_work(process.life);
    if (options_.rings) make_rings(process.life);
  }

  // ---- Rings
  // -------------------------------------------------------------------------------------------------
  void make_rings(Life life) {
    for (const auto& other : processes_) {
      if (!other->up || other->life == life || !rings_.may_join(life, other->life)) continue;
      join_after(rings_.soon(), life, other->life);
      join_after(rings_.soon(), other->life, life);
      if (rings_.chance(0.9)) continue;
      // One side finds that the other writes what cannot be; the other hears of that a little later.
      const Duration pause = std::chrono::milliseconds(3) + 30 * rings_.soon();
      part_after(pause, life, other->life);
      part_after(pause + rings_.soon(), other->life, life);
    }
  }
  void join_after(Duration pause, Life self, Life peer) {
    events_.after(pause, [this, self, peer] {
      if (find(self) == nullptr || find(peer) == nullptr) return;
      rings_.join(self, peer);
      tell_reach(self);
    });
  }
  void part_after(Duration pause, Life self, Life peer) {
    events_.after(pause, [this, self, peer] {
      if (find(self) == nullptr || !rings_.joined(self, peer)) return;
      ++seen["ring given up"];
      rings_.part(self, peer);
      tell_reach(self);
    });
  }
  /// Lanes hear of a new home when it has begun.
  void join_soon(Life life, std::uint32_t shard) {
    events_.after(Duration{0}, [this, life, shard] {
      Process* mine = find(life);
      if (mine == nullptr || !mine->homes.contains(shard)) return;
      HomeBox& box = *mine->homes.at(shard);
      box.home.on_reach(rings_.reach(life), now());
      drain_home(*mine, box);
    });
  }
  void tell_reach(Life life) {
    Process* mine = find(life);
    for (auto& [shard, box] : mine->homes) {
      box->home.on_reach(rings_.reach(life), now());
      drain_home(*mine, *box);
    }
  }

  /// What a lane writes about a row that ended, inside the gate. False: it cannot be written now.
  bool write_ring(Life from, const Route& route, EdgeNews&& news) {
    if (!rings_.joined(from, route.home) && route.home != from) return false;
    const auto at = rings_.write(from, route.home, now());
    if (!at) return false;
    ++seen[route.home == from ? "told by a lane here" : "told by a lane through a ring"];
    // Not flushed yet when the writer dies, or read in time.
    const bool lost_with_writer = rings_.chance(0.5);
    events_.at(*at, [this, from, to = route.home, news = std::move(news), lost_with_writer]() mutable {
      if (lost_with_writer && find(from) == nullptr) return;
      read_ring(from, to, std::move(news));
    });
    return true;
  }
  void read_ring(Life from, Life to, EdgeNews news) {
    Process* process = find(to);
    if (process == nullptr || over()) return;
    if (from != to && !rings_.joined(to, from)) {
      if (rings_.given_up(to, from)) return;
      // It lies in the ring until somebody here looks.
      events_.after(std::chrono::milliseconds(1), [this, from, to, news = std::move(news)]() mutable {
        read_ring(from, to, std::move(news));
      });
      return;
    }
    const auto found = process->homes.find(news.shard);
    // Now and then the gate is closed, or no lane is there to read.
    if (found == process->homes.end() || rings_.chance(0.05)) {
      ++seen["ring news for a home"];
      return deliver(from, to, as_message(std::move(news)));
    }
    HomeBox& box = *found->second;
    RowIndex ghost = no_row;
    const Arrival arrival = end_ghost(
        box.table, news, ghost,
        [&](RowIndex ready) {
          process->queue.push_back({news.shard, ready, nullptr});
        },
        [&](RowIndex held) { box.report.decide.push_back(held); },
        options_.planted == Planted::old_news_by_lanes);
    if (arrival == Arrival::false_news) throw Violation("a lane told what no lane can mean");
    if (arrival == Arrival::for_home) {
      ++seen["ring news for a home"];
      return deliver(from, to, as_message(std::move(news)));
    }
    ++seen["ghost ended by a lane"];
    box.report.ghosts.push_back(ghost);
    touched_ = &box;
    report_later(*process, box);
    run_lanes(*process);
  }

  void plan_cancel() {
    Random random(options_.seed * 23 + 7);
    const auto span = static_cast<std::uint64_t>(options_.calm_at.since_start.count());
    const std::uint64_t at = random.chance(0.5) ? random.below(span / 2) : random.below(span / 100 + 1);
    std::vector<TaskId> tasks;
    if (random.chance(0.3)) {
      for (std::uint32_t task = 0; task < plan_->graph->size(); ++task) {
        if (random.chance(0.3)) tasks.push_back({0, task});
      }
    }
    events_.at(Instant{Duration(at)}, [this, tasks] {
      if (over()) return;
      ++seen["cancelled by somebody"];
      cell_->cancel(tasks, now());
      drain_cell();
    });
  }

  void plan_faults() {
    if (options_.processes < 2) return;
    for (std::uint32_t i = 0; i < options_.deaths; ++i) {
      const auto span = static_cast<std::uint64_t>(options_.calm_at.since_start.count());
      // Half of them early, when there is most to lose.
      const std::uint64_t at = faults_.chance(0.5) ? faults_.below(span) : faults_.below(span / 20);
      const auto victim = static_cast<std::uint32_t>(1 + faults_.below(options_.processes - 1));
      events_.at(Instant{Duration(at)}, [this, victim] { die(victim); });
    }
    if (!options_.all_die) return;
    const auto at = faults_.below(static_cast<std::uint64_t>(options_.calm_at.since_start.count()) / 4);
    for (std::uint32_t victim = 1; victim < options_.processes; ++victim) {
      const Duration later = std::chrono::microseconds(faults_.below(3000));
      events_.at(Instant{Duration(at)} + later, [this, victim] { die(victim); });
    }
  }

  void die(std::uint32_t index) {
    Process& process = *processes_[index];
    if (!process.up || over()) return;
    const Life life = process.life;
    const bool zombie = faults_.chance(options_.zombies);
    ++seen[zombie ? "declared dead alive" : "died"];
    if (zombie) {
      cell_->on_life_down(life, now());
      drain_cell();
      events_.after(millis(1, 200), [this, index, life] {
        if (processes_[index]->up && processes_[index]->life == life) gone(index);
      });
      return;
    }
    gone(index);
    events_.after(millis(1, 150), [this, life] {
      cell_->on_life_down(life, now());
      drain_cell();
    });
  }

  void gone(std::uint32_t index) {
    Process& process = *processes_[index];
    const Life old = process.life;
    process = Process{};
    process.life = old;
    if (!options_.rejoin) return;
    come_up_after(millis(160, 600), index);
  }

  void come_up_after(Duration pause, std::uint32_t index) {
    events_.after(pause, [this, index] {
      if (over()) return;
      start_process(index, processes_[index]->life.incarnation.value + 1);
      ++seen["came up"];
      cell_->on_life_up(life_of(index), now());
      drain_cell();
    });
  }

  Duration millis(std::uint64_t least, std::uint64_t most) {
    return std::chrono::microseconds(1000 * least + random_.below(1000 * (most - least) + 1));
  }

  // ---- Network
  // -----------------------------------------------------------------------------------------------
  void send(Life from, Life to, const JobMessage& message) {
    ++seen[std::string(name(message))];
    const bool calm = now() >= options_.calm_at;
    if (from.process == to.process) {
      events_.after(std::chrono::microseconds(1), [this, from, to, message] { deliver(from, to, message); });
      return;
    }
    const JobMessage arriving = through_bytes(message);
    const int copies = !calm && random_.chance(options_.repeated) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      Duration pause = std::chrono::microseconds(30 + random_.below(300));
      if (!calm && random_.chance(options_.late)) pause += millis(1, 300);
      // What was on its way when its sender died may be lost.
      const bool lost_with_sender = random_.chance(0.5);
      events_.after(pause, [this, from, to, arriving, lost_with_sender] {
        if (lost_with_sender && find(from) == nullptr) return;
        deliver(from, to, arriving);
      });
    }
  }

  /// As it arrives elsewhere: what a machine says must be a frame that a receiver takes.
  static JobMessage through_bytes(const JobMessage& message) {
    constexpr std::size_t message_bytes_max = std::size_t{1}
                                              << 29;  // What is larger than a frame goes in pieces.
    wire::Envelope envelope;
    envelope.operations = {message};
    const auto frame = wire::encode(envelope, message_bytes_max);
    if (!frame) throw Violation(std::string(name(message)) + " cannot be sent: " + frame.error().what);
    auto arrived = wire::decode(frame->bytes(), message_bytes_max);
    if (!arrived) throw Violation(std::string(name(message)) + " is refused: " + arrived.error().what);
    return std::get<JobMessage>(std::move(arrived->operations.at(0)));
  }

  void trace_message(const char* what, Life from, Life to, const JobMessage& message) {
    if (!options_.trace) return;
    std::string line = std::to_string(now().since_start.count()) + " " + what + " " + to_string(from) +
                       " -> " + to_string(to) + " " + std::string(name(message));
    if (const auto named = shard_epoch_of(message)) {
      line += " shard " + std::to_string(named->shard) + " epoch " + to_string(named->epoch);
    }
    const auto add = [&](const OutputName& output) {
      line += " " + to_string(output.task) + to_string(output.attempt);
    };
    std::visit(
        [&]<class M>(const M& any) {
          if constexpr (requires { any.record; }) add(any.record.name());
          if constexpr (requires { any.name; }) add(any.name);
          if constexpr (requires { any.attempt; }) add({any.attempt.task, any.attempt.id});
          if constexpr (requires { any.names; }) {
            for (const OutputName& output : any.names) add(output);
          }
          if constexpr (requires { any.had; }) {
            for (const auto& had : any.had) add(had.record.name());
            line += " running";
            for (const auto& running : any.running) add(running.name);
          }
          if constexpr (std::is_same_v<M, message::Settled>) {
            line += " " + std::to_string(any.from) + "-" + std::to_string(any.to);
          }
          if constexpr (requires { any.rows_open; }) {
            line += " number " + std::to_string(any.number) + " open " + std::to_string(any.rows_open);
          }
          if constexpr (requires { any.tried; }) {
            for (const auto& [task, failed] : any.tried) {
              line += " tried " + to_string(task) + " " + std::to_string(failed);
            }
          }
          if constexpr (requires { any.version; }) line += " version " + std::to_string(any.version);
        },
        message);
    std::puts(line.c_str());
  }

  void deliver(Life from, Life to, const JobMessage& message) {
    trace_message("at", from, to, message);
    Process* process = find(to);
    if (process == nullptr || over()) return;
    const auto epoch_here = [&](std::uint32_t shard) -> std::optional<Epoch> {
      const auto found = process->homes.find(shard);
      if (found == process->homes.end()) return std::nullopt;
      return found->second->home.epoch();
    };
    switch (process->door->judge(from, message, process->state, epoch_here)) {
      case Admission::drop:
        ++seen["refused at the door"];
        return;
      case Admission::wait:
        ++seen["waited at the door"];
        process->door->hold(from, message);
        return;
      case Admission::deliver:
        break;
    }
    if (const auto* state = std::get_if<message::JobState>(&message)) {
      on_state(*process, *state);
    } else if (const auto* assign = std::get_if<message::Assign>(&message)) {
      on_assign(*process, *assign);
    } else if (const auto* steal = std::get_if<message::StealRequest>(&message)) {
      on_steal(*process, from, steal->slots);
    } else {
      switch (recipient_of(message)) {
        case Recipient::cell:
          if (process->life.process.value == 0) {
            cell_->on_message(from, message, now());
            drain_cell();
          }
          break;
        case Recipient::runner:
          process->runner->on_message(from, message, now());
          drain_runner(*process);
          break;
        case Recipient::home: {
          const auto found = process->homes.find(shard_epoch_of(message)->shard);
          if (found == process->homes.end()) break;
          found->second->home.on_message(from, message, now());
          drain_home(*process, *found->second);
          break;
        }
        case Recipient::process:
          break;
      }
    }
  }

  void on_state(Process& process, const message::JobState& state) {
    if (state.version <= process.state.version) return;
    const bool first = process.state.version == 0;
    process.state = state;
    process.door->on_state(state);
    const Life life = process.life;
    process.runner->on_state(state, now());
    drain_runner(process);
    for (auto& [shard, box] : process.homes) {
      box->home.on_state(state, now());
      drain_home(process, *box);
    }
    for (std::uint32_t shard = 0; shard < state.homes.size(); ++shard) {
      const message::ShardHome& home = state.homes[shard];
      if (first && home.home == life && home.epoch == Epoch{1, 1}) {
        HomeBox& box = make_home(process, shard, home.epoch);
        box.home.begin(state, now());
        drain_home(process, box);
      }
    }
    wake_waiting(process);
  }

  void on_assign(Process& process, const message::Assign& assign) {
    for (const message::FirstTry& some : assign.first_try) {
      for (const message::TaskBits& bits : some.tasks) {
        bits.each([&](TaskId task) { named_only_.insert(task.index); });
      }
    }
    if (!assign.first_try.empty()) ++seen["recorded by name only, and a home died"];
    const message::ShardHome& home = process.state.homes[assign.shard];
    if (home.home != process.life || home.epoch != assign.epoch || process.homes.contains(assign.shard))
      return;
    ++seen["recounted"];
    HomeBox& box = make_home(process, assign.shard, assign.epoch);
    box.home.recover(assign, process.state, now());
    drain_home(process, box);
    wake_waiting(process);
  }

  void wake_waiting(Process& process) {
    for (auto& [from, message] : process.door->take_waiting()) {
      events_.after(Duration{0}, [this, from = from, to = process.life, message = message] {
        deliver(from, to, message);
      });
    }
  }

  HomeBox& make_home(Process& process, std::uint32_t shard, Epoch epoch) {
    if (!options_.cell_runs && process.life == life_of(0))
      throw Violation("a home at a cell that only records");
    HomeOptions options;
    options.shard = shard;
    options.epoch = epoch;
    options.self = process.life;
    options.seed = options_.seed + shard;
    options.several_processes = options_.processes > 1;
    options.planted = options_.planted;
    if (options_.digests_behind) options.digest_at_once_bytes_max = 0;
    auto& box = process.homes[shard];
    std::unique_ptr<HomePlacement> placement;
    const std::uint64_t placement_seed = options_.seed + 17 * shard + epoch.count;
    if (options_.by_finish) {
      placement = std::make_unique<ChangingLoads>(placement_seed);
    } else {
      placement = std::make_unique<Spread>(placement_seed, options_.spread_actors && options_.processes > 1);
    }
    box = std::make_unique<HomeBox>(options, plan_, sink(), std::move(placement));
    if (options_.rings) join_soon(process.life, shard);
    return *box;
  }

  // ---- Effects
  // -----------------------------------------------------------------------------------------------
  void drain_cell() {
    for (CellEffect& effect : cell_->take_effects()) {
      if (auto* message = std::get_if<SendMessage>(&effect)) {
        send(life_of(0), message->to, message->message);
      } else if (auto* tell = std::get_if<TellClient>(&effect)) {
        on_settled(*tell);
      } else if (auto* end = std::get_if<JobEnded>(&effect)) {
        if (std::exchange(ended_, true) && !end->stopped) throw Violation("the job ended twice");
        stopped_ = end->stopped;
      }
    }
  }

  void drain_home(Process& process, HomeBox& box) {
    const std::uint32_t shard = box.home.options().shard;
    bool published = false;
    for (HomeEffect& effect : box.home.take_effects()) {
      if (auto* ready = std::get_if<MakeReady>(&effect)) {
        process.queue.push_back({shard, ready->row, nullptr});
      } else if (auto* start = std::get_if<StartAttempt>(&effect)) {
        process.queue.push_back({shard, no_row, std::make_shared<Attempt>(std::move(start->attempt))});
      } else if (auto* stop = std::get_if<StopAttempt>(&effect)) {
        process.stopped.insert({stop->task, stop->id});
      } else if (auto* message = std::get_if<SendMessage>(&effect)) {
        send(process.life, message->to, message->message);
      } else if (auto* publish = std::get_if<PublishOutput>(&effect)) {
        process.runner->publish(publish->record, publish->bytes);
        published = true;
      }
    }
    if (published) drain_runner(process);
    touched_ = &box;
    if (const auto at = box.home.wake_at(); at && (!box.timer || *at < *box.timer || *box.timer < now())) {
      box.timer = at;
      events_.at(*at, [this, life = process.life, shard, at = *at] {
        Process* mine = find(life);
        if (mine == nullptr || !mine->homes.contains(shard)) return;
        HomeBox& again = *mine->homes.at(shard);
        if (again.timer == at) again.timer.reset();
        again.home.on_time(now());
        drain_home(*mine, again);
      });
    }
    run_lanes(process);
  }

  void drain_runner(Process& process) {
    for (RunnerEffect& effect : process.runner->take_effects()) {
      if (auto* start = std::get_if<StartAttempt>(&effect)) {
        process.queue.push_back({0, no_row, std::make_shared<Attempt>(std::move(start->attempt))});
      } else if (auto* stop = std::get_if<StopAttempt>(&effect)) {
        process.stopped.insert({stop->task, stop->id});
      } else if (auto* message = std::get_if<SendMessage>(&effect)) {
        if (auto* report = std::get_if<message::Report>(&message->message)) {
          for (auto& [shard, box] : process.homes) box->home.vouch(*report);
        }
        send(process.life, message->to, message->message);
      } else if (auto* brought = std::get_if<Brought>(&effect)) {
        on_brought(*brought);
      } else if (auto* digest = std::get_if<TakeDigest>(&effect)) {
        digest_later(process.life, digest->name, digest_of(digest->bytes));
      }
    }
    if (const auto at = process.runner->wake_at();
        at && (!process.runner_timer || *at < *process.runner_timer || *process.runner_timer < now())) {
      process.runner_timer = at;
      events_.at(*at, [this, life = process.life, at = *at] {
        Process* mine = find(life);
        if (mine == nullptr) return;
        if (mine->runner_timer == at) mine->runner_timer.reset();
        mine->runner->on_time(now());
        drain_runner(*mine);
      });
    }
    run_lanes(process);
  }

  void digest_later(Life life, OutputName name, std::uint64_t digest) {
    ++seen["digest taken behind"];
    const Duration pause = random_.chance(0.5) ? millis(0, 1) : millis(0, 50);
    events_.after(pause, [this, life, name, digest] {
      Process* mine = find(life);
      if (mine == nullptr) return;
      mine->runner->on_digest(name, digest);
      drain_runner(*mine);
    });
  }

  // ---- Lanes
  // -------------------------------------------------------------------------------------------------
  void run_lanes(Process& process) {
    if (!options_.cell_runs && process.life == life_of(0) && !process.queue.empty()) {
      throw Violation("work at a cell that only records");
    }
    while (process.lanes_busy < options_.lanes && !process.queue.empty()) {
      const std::size_t at = random_.below(process.queue.size());
      Work work = std::move(process.queue[at]);
      process.queue.erase(process.queue.begin() + static_cast<std::ptrdiff_t>(at));
      if (work.attempt != nullptr) {
        begin_attempt(process, work);
      } else {
        begin_row(process, work);
      }
    }
  }

  Duration kernel_time() {
    const double dice = random_.unit();
    return std::chrono::microseconds(dice < 0.7    ? 5 + random_.below(200)
                                     : dice < 0.97 ? random_.below(10'000)
                                                   : random_.below(200'000));
  }

  std::uint32_t take_lane(Process& process, TaskId task, AttemptId id) {
    ++process.lanes_busy;
    std::uint32_t lane = 0;
    while (process.running.contains(lane)) ++lane;
    process.running[lane] = {task, id};
    return lane;
  }
  /// False: the process is not there any more, or the kernel took it down.
  bool leave_lane(Process* process, std::uint32_t lane, const KernelRun& run) {
    if (process == nullptr) return false;
    const std::uint32_t index = process->life.process.value;
    if (run.crashes && options_.poison && index != 0) {
      LifeEnd end{ProcessEnd::faulted, "signal 11", {}, lane};
      for (const auto& [other, name] : process->running)
        end.running.push_back({name.task, name.attempt, other});
      ++seen["crashed"];
      if (process->running.size() > 1) ++seen["crashed in company"];
      const Life life = process->life;
      gone(index);
      events_.after(millis(0, 20), [this, life, end] {
        cell_->on_life_down(life, now(), end);
        drain_cell();
      });
      return false;
    }
    --process->lanes_busy;
    process->running.erase(lane);
    return true;
  }

  void executed(TaskId task, AttemptId id) {
    if (!executed_.insert({task, id}).second) {
      throw Violation("attempt " + to_string(task) + to_string(id) + " was executed twice");
    }
  }

  /// A later attempt is not told of fewer tries than an earlier one, whichever home gave it out, unless the
  /// task started over in between.
  void check_tries(TaskId task, AttemptId id, std::uint32_t try_number) {
    if (!options_.listened) return;
    std::map<AttemptId, std::uint32_t>& known = tries_[task];
    if (const auto over = trace_.started_over.find(task); over != trace_.started_over.end()) {
      known.erase(known.begin(), known.upper_bound(over->second));
      if (id <= over->second) return;
    }
    const auto here = known.emplace(id, try_number).first;
    const auto later = std::next(here);
    const bool right = (here == known.begin() || std::prev(here)->second <= try_number) &&
                       (later == known.end() || try_number <= later->second);
    if (!right) {
      throw Violation("attempt " + to_string(task) + to_string(id) + " is said to be try " +
                      std::to_string(try_number) + ", and others of the task say otherwise");
    }
  }

  /// Effects rest on what is settled, else they could not be taken back.
  void check_effects(std::uint64_t salt, TaskId task, const std::vector<OutputName>& rests_on) const {
    const Known* known = program_.find(salt);
    if (known == nullptr) return;
    const detail::Fragment& fragment = known->graph->fragment;
    if (fragment.policy(known->task).effects != Effects::idempotent) return;
    for (const OutputName& name : rests_on) {
      if (name.task.origin != 0 && options_.shards == 1) continue;  // The cell does not remember those.
      const auto settled = cell_->settled(name.task);
      if (options_.processes > 1 && (!settled || settled->attempt != name.attempt)) {
        throw Violation("task " + to_string(task) + " has effects and was started from " +
                        to_string(name.task) + to_string(name.attempt) + ", which is not settled");
      }
    }
  }

  void begin_row(Process& process, const Work& work) {
    HomeBox& box = *process.homes.at(work.shard);
    const Next claim = box.table.apply(work.row, Claimed{});
    if (claim.what != Do::run) return;
    std::vector<Blob> blobs;
    std::vector<detail::ArgumentView> views;
    std::uint32_t missing = 0;
    const std::uint32_t attempt = claim.word.attempt;
    if (!box.table.gather_inputs(work.row, blobs, views, missing)) {
      ++seen["missing inputs"];
      box.table.apply(work.row, TakenBack{attempt});
      box.report.missing_inputs.push_back(work.row);
      report_later(process, box);
      return;
    }
    const Row& about = box.table[work.row];
    const AttemptId id{box.home.epoch(), attempt};
    const TaskId task = box.table.id(about);
    executed(task, id);
    check_tries(task, id, 1);
    const detail::Fragment& fragment = box.table.fragment_of(about);
    const detail::TaskKind& kind = fragment.kind(about.task);
    const Part& part = box.table.part(about.part);
    const auto salt = detail::from_blob<std::uint64_t>(views.at(0).values[0]);
    for (const detail::EdgeEnd end : fragment.in_edges(about.task)) {
      const TaskId input = box.table.id(part.row_of(end.task()));
      const auto settled = cell_->settled(input);
      check_effects(salt, task, {{input, settled ? settled->attempt : AttemptId{}}});
    }
    auto run = std::make_shared<KernelRun>(run_kernel(program_, task, id, fragment.codes[kind.code],
                                                      kind.returns, 1, views, nullptr,
                                                      box.table.predicates_of(about), options_.varying));
    if (run->ended.output) left_[{task, id}] = detail::from_blob<std::uint64_t>(run->ended.output);
    const std::uint32_t lane = take_lane(process, task, id);
    events_.after(kernel_time(),
                  [this, life = process.life, shard = work.shard, row = work.row, attempt, run, lane] {
                    Process* mine = find(life);
                    if (!leave_lane(mine, lane, *run)) return;
                    const auto found = mine->homes.find(shard);
                    if (found != mine->homes.end()) end_row(*mine, *found->second, row, attempt, *run);
                    run_lanes(*mine);
                  });
  }

  void end_row(Process& process, HomeBox& box, RowIndex row, std::uint32_t attempt, KernelRun& run) {
    Row& about = box.table[row];
    const bool quick = run.ended.outcome == Outcome::finished && !run.ended.spawned && about.ends_by_itself;
    if (quick && !random_.chance(0.05)) {  // Now and then the gate is closed.
      if (box.table.apply(row, AttemptEnded{attempt, Outcome::finished}).what == Do::tell) {
        about.output.store(run.ended.output);
        const std::uint32_t shard = box.home.options().shard;
        tell_others(box.table, row, attempt, run.ended.output, [&](const Route& route, EdgeNews&& news) {
          return write_ring(process.life, route, std::move(news));
        });
        box.table.satisfy_local_strong(
            row,
            [&](RowIndex ready) {
              process.queue.push_back({shard, ready, nullptr});
            },
            [&](RowIndex held) { box.report.decide.push_back(held); });
        box.report.quick.push_back({row, attempt, std::chrono::microseconds(1)});
      }
    } else {
      SlowEnd slow{row, attempt, std::move(run.ended)};
      slow.ended.task = box.table.id(row);
      box.report.slow.push_back(std::move(slow));
    }
    report_later(process, box);
  }

  /// Reports of several lanes have no order among each other: parts of one are sent in any.
  void report_later(Process& process, HomeBox& box) {
    if (box.report_under_way) return;
    box.report_under_way = true;
    events_.after(std::chrono::microseconds(random_.below(400)), [this, life = process.life,
                                                                  shard = box.home.options().shard] {
      Process* mine = find(life);
      if (mine == nullptr || !mine->homes.contains(shard)) return;
      HomeBox& there = *mine->homes.at(shard);
      there.report_under_way = false;
      LaneReport report = std::exchange(there.report, {});
      LaneReport second;
      for (std::size_t i = 0; i < report.quick.size();) {
        if (random_.chance(0.3)) {
          second.quick.push_back(report.quick[i]);
          report.quick.erase(report.quick.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
          ++i;
        }
      }
      if (rings_.chance(0.3)) std::swap(second.ghosts, report.ghosts);
      if (!second.empty()) std::shuffle(second.quick.begin(), second.quick.end(), random_);
      std::shuffle(report.quick.begin(), report.quick.end(), random_);
      there.home.on_lanes(std::move(report), now());
      drain_home(*mine, there);
      if (!second.empty()) {
        events_.after(std::chrono::microseconds(random_.below(300)), [this, life, shard, second] {
          Process* later = find(life);
          if (later == nullptr || !later->homes.contains(shard)) return;
          later->homes.at(shard)->home.on_lanes(second, now());
          drain_home(*later, *later->homes.at(shard));
        });
      }
    });
  }

  void begin_attempt(Process& process, const Work& work) {
    const Attempt& attempt = *work.attempt;
    if (process.stopped.contains({attempt.task, attempt.id})) return;
    executed(attempt.task, attempt.id);
    if (!attempt.stands_for) {
      check_effects(detail::from_blob<std::uint64_t>(attempt.blobs.at(0)), attempt.task, attempt.inputs);
    }
    auto run = std::make_shared<KernelRun>();
    std::vector<detail::ArgumentView> views;
    const Blob* next = attempt.blobs.data();
    std::uint32_t total = 0;
    for (const std::uint32_t count : attempt.counts) {
      views.push_back({next, count});
      next += count;
      total += count;
    }
    if (total != attempt.blobs.size()) throw Violation("an attempt with other inputs than arguments");
    for (const OutputName& name : attempt.inputs) {
      if (!name.attempt) throw Violation("an attempt names an input that has not ended");
    }
    if (!attempt.stands_for && !attempt.restore_from) {
      check_tries(attempt.task, attempt.id, attempt.try_number);
    }
    void* self = nullptr;
    void* made = nullptr;
    if (attempt.call == detail::CallKind::create) {
      self = &made;
    } else if (attempt.call != detail::CallKind::ordinary) {
      const auto found = process.actors.find(attempt.actor);
      const bool right = found != process.actors.end() && (found->second.first == attempt.generation ||
                                                           options_.planted == Planted::generation_ignored);
      if (!right) {
        if (!process.stopped.contains({attempt.task, attempt.id})) ++seen["object not here"];
        run->ended.task = attempt.task;
        run->ended.id = attempt.id;
        run->ended.outcome = Outcome::failed;
        run->ended.error = Error{ErrorCode::output_lost, "the object is not here"};
        const std::uint32_t lane = take_lane(process, attempt.task, attempt.id);
        events_.after(kernel_time(),
                      [this, life = process.life, run, lane] { end_attempt(life, *run, lane); });
        return;
      }
      self = found->second.second.get();
    }
    if (attempt.call == detail::CallKind::create && attempt.restore_from) {
      ++seen["restored"];
      const detail::ArgumentView saved{&attempt.restore_from, 1};
      detail::Call call;
      call.arguments = &saved;
      call.argument_count = 1;
      call.self = self;
      reinterpret_cast<detail::Thunk>(const_cast<void*>(attempt.actor_code.restore.thunk))(call);
      run->ended.task = attempt.task;
      run->ended.id = attempt.id;
    } else {
      // A run again has no more tries to fail; it succeeded once.
      const std::uint32_t try_number = attempt.stands_for || attempt.restore_from ? 1000 : attempt.try_number;
      *run = run_kernel(program_, attempt.task, attempt.id, attempt.code, attempt.returns, try_number, views,
                        self, attempt.predicates,
                        options_.varying && attempt.call == detail::CallKind::ordinary);
    }
    if (made != nullptr) {
      process.actors[attempt.actor] = {attempt.generation, std::shared_ptr<void>(made, [](void* object) {
                                         delete static_cast<test::ActorState*>(object);
                                       })};
    }
    if (attempt.stands_for) ++seen["run again"];
    const std::uint32_t lane = take_lane(process, attempt.task, attempt.id);
    events_.after(kernel_time(), [this, life = process.life, run, lane] { end_attempt(life, *run, lane); });
  }

  void end_attempt(Life life, KernelRun& run, std::uint32_t lane) {
    Process* mine = find(life);
    if (!leave_lane(mine, lane, run)) return;
    if (!mine->runner->on_ended(run.ended, now())) {
      for (auto& [shard, box] : mine->homes) {
        if (box->home.on_ended(run.ended, now())) {
          drain_home(*mine, *box);
          break;
        }
      }
    } else {
      drain_runner(*mine);
    }
    run_lanes(*mine);
  }

  // ---- Stealing
  // ----------------------------------------------------------------------------------------------
  void look_for_work(Life life) {
    events_.after(millis(1, 8), [this, life] {
      Process* mine = find(life);
      if (mine == nullptr || over()) return;
      if (mine->queue.empty() && mine->lanes_busy < options_.lanes && mine->state.lives.size() > 1) {
        const Life victim = mine->state.lives[random_.below(mine->state.lives.size())];
        if (victim != life)
          send(life, victim, message::StealRequest{plan_->job, options_.lanes - mine->lanes_busy});
      }
      look_for_work(life);
    });
  }

  void on_steal(Process& process, Life thief, std::uint32_t slots) {
    for (auto& [shard, box] : process.homes) {
      std::vector<RowIndex> rows;
      for (std::size_t i = 0; i < process.queue.size() && rows.size() < slots;) {
        if (process.queue[i].attempt == nullptr && process.queue[i].shard == shard) {
          rows.push_back(process.queue[i].row);
          process.queue.erase(process.queue.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
          ++i;
        }
      }
      if (rows.empty()) continue;
      ++seen["lent to a thief"];
      box->home.lend(rows, thief, slots, now());
      drain_home(process, *box);
      return;
    }
  }

  // ---- Checks
  // ------------------------------------------------------------------------------------------------
  void check(HomeBox& box) const {
    const RowTable& table = box.table;
    for (RowIndex row = 0; row < table.size(); ++row) {
      const Row& about = table[row];
      const Word word = table.word(row);
      if (about.ghost || word.state == RowState::ended) continue;
      std::uint32_t open = 0;
      const Part& part = table.part(about.part);
      for (const detail::EdgeEnd end : part.fragment->in_edges(about.task)) {
        if (table.word(part.row_of(end.task())).state != RowState::ended) ++open;
      }
      if (word.state == RowState::waiting) {
        // An edge whose predecessor ended on a lane, but is not a strong one, is satisfied a little later.
        if (word.open < open) {
          throw Violation("row " + to_string(table.id(row)) +
                          " has an edge that was satisfied twice: " + std::to_string(word.open) + " open, " +
                          std::to_string(open) + " predecessors to end");
        }
      } else if (open > 0) {
        throw Violation("row " + to_string(table.id(row)) + " was started before its predecessors had ended");
      }
    }
  }

  void on_settled(const TellClient& tell) {
    const TaskId task = tell.record.task;
    attempts_[task] = tell.record.attempt;
    if (!settled_.emplace(task, Settled{tell.record.outcome, std::nullopt}).second) {
      throw Violation("task " + to_string(task) + " was settled twice");
    }
    if (!cancel_after.empty()) {
      cell_->cancel({cancel_after.begin(), cancel_after.end()}, now());
      cancel_after.clear();
    }
    if (tell.record.outcome != Outcome::finished) return;
    const bool returns = plan_->graph->kind(task.index).returns;
    if (fetched_.contains(task) && returns) return fetch_later(tell);
    if (tell.record.value) {
      settled_[task].value = detail::from_blob<std::uint64_t>(tell.record.value);
      check_value(task);
    } else if (tell.record.digest != 0) {
      check_digest(task, tell.record.digest);
    } else if (const auto known = left_.find({task, tell.record.attempt}); returns && known != left_.end()) {
      settled_[task].value = known->second;  // Recorded by its name only: what that attempt left.
      check_value(task);
    }
  }

  /// A client takes its time, now and then until all has ended.
  void fetch_later(const TellClient& tell) {
    ++fetches_planned_;
    events_.after(random_.chance(0.5) ? Duration{0} : millis(0, 1000), [this, tell] {
      --fetches_planned_;
      ++fetches_open_;
      ++seen[ended_ ? "fetched after the end" : "fetched"];
      Process& mine = *processes_[0];
      mine.runner->bring(tell.record.task.index, tell.record, tell.holders, now());
      drain_runner(mine);
    });
  }

  void on_brought(const Brought& brought) {
    --fetches_open_;
    if (brought.lost && options_.varying && brought.lost->code == ErrorCode::not_reproducible) {
      stopped_ = brought.lost;  // See check_result. Of a job that had ended the cell does not say it.
      return;
    }
    if (brought.lost) throw Violation("an output was lost: " + brought.lost->message());
    settled_[brought.name.task].value = detail::from_blob<std::uint64_t>(brought.bytes);
    check_value(brought.name.task);
  }

  /// Whether an output that nobody needed any more was made again by another home (libdag/home/lineage.cpp),
  /// and its kernel may have given another value.
  bool made_unlike(std::uint32_t task) const {
    return named_only_.contains(task) && varies(program_.graph().tasks[task].salt);
  }

  /// Each settled outcome and value is what the settled ones of its predecessors give.
  void check_consistency() const {
    const detail::Fragment& fragment = *plan_->graph;
    for (std::uint32_t task = 0; task < fragment.size(); ++task) {
      const test::RandomTask& kernel = program_.graph().tasks[task];
      if (fragment.kind(task).call != detail::CallKind::ordinary) continue;
      const Settled& settled = settled_.at({0, task});
      std::vector<EdgeResult> edges;
      const auto in_edges = fragment.in_edges(task);
      for (std::uint32_t i = 0; i < in_edges.size(); ++i) {
        const Settled& from = settled_.at({0, in_edges[i].task()});
        EdgeResult result{in_edges[i].kind(), from.outcome, true};
        if (result.kind == detail::EdgeKind::conditional && from.outcome == Outcome::finished) {
          result.condition = test::holds(fragment.predicate(fragment.first_edge[task] + i),
                                         from.value ? detail::to_blob(*from.value) : Blob());
        }
        edges.push_back(result);
      }
      const Decision decision = decide(fragment.policy(task).join, edges, fragment.arguments_of(task));
      const bool ran = settled.outcome == Outcome::finished || settled.outcome == Outcome::failed;
      const bool right = decision == Decision::run    ? ran || kernel.spawns != test::none
                         : decision == Decision::skip ? settled.outcome == Outcome::skipped
                                                      : settled.outcome == Outcome::cancelled;
      if (!right) {
        throw Violation("task " + std::to_string(task) + " settled as " + std::string(name(settled.outcome)) +
                        ", which does not follow from what it rests on");
      }
      const bool becomes =
          kernel.spawns != test::none && program_.graph().spawned[kernel.spawns].becomes != test::none;
      if (settled.outcome != Outcome::finished || !settled.value || becomes) continue;
      std::uint64_t value = kernel.salt;
      bool made_again = made_unlike(task);
      for (const detail::Argument& argument : fragment.arguments_of(task).subspan(1)) {
        value = test::mixed(value, argument.count);
        for (std::uint32_t k = 0; k < argument.count; ++k) {
          const std::uint32_t from = in_edges[argument.first + k].task();
          made_again = made_again || made_unlike(from);
          const Settled& input = settled_.at({0, from});
          value = test::mixed(value, input.value ? *input.value : test::absent_value);
        }
      }
      if (varies(kernel.salt)) value = varied(value, attempts_.at({0, task}));
      if (value != *settled.value && !made_again) {
        throw Violation("task " + std::to_string(task) +
                        " settled with a value that its settled inputs do not give");
      }
    }
  }

  const test::Expected* expected(TaskId task) const {
    if (task.origin != 0 || options_.varying || options_.cancels) return nullptr;
    const Known* known = program_.find(program_.graph().tasks.at(task.index).salt);
    return known == nullptr ? nullptr : &known->expected;
  }

  void check_value(TaskId task) const {
    const test::Expected* right = expected(task);
    if (right == nullptr || settled_.at(task).value == right->value) return;
    throw Violation("task " + to_string(task) + " has another value than the oracle says");
  }
  void check_digest(TaskId task, std::uint64_t digest) const {
    const test::Expected* right = expected(task);
    if (right == nullptr || !right->value) return;
    if (digest != digest_of(detail::to_blob(*right->value))) {
      throw Violation("task " + to_string(task) + " has another digest than the oracle says");
    }
  }

  void check_result() {
    // A value that was used and is gone cannot be had again: that is the honest end of such a job.
    if (options_.varying && stopped_ && stopped_->code == ErrorCode::not_reproducible) {
      ++seen["stopped: not reproducible"];
      return;
    }
    if (stopped_) throw Violation("the job was stopped: " + stopped_->message());
    for (std::uint32_t task = 0; task < plan_->graph->size(); ++task) {
      const auto found = settled_.find({0, task});
      if (found == settled_.end()) throw Violation("task " + std::to_string(task) + " was never settled");
      const test::Expected* right = expected({0, task});
      if (right != nullptr && check_outcomes && found->second.outcome != right->outcome) {
        throw Violation("task " + std::to_string(task) + " was " + std::string(name(found->second.outcome)) +
                        ", the oracle says " + std::string(name(right->outcome)));
      }
    }
    if (options_.varying && !options_.cancels) check_consistency();
    for (const auto& process : processes_) {
      if (process->up && process->door->waiting() > 1000) throw Violation("a door with a queue");
    }
  }

  std::string stuck() {
    std::string text;
    for (const auto& process : processes_) {
      if (!process->up) continue;
      text += "\n  " + to_string(process->life) + " state " + std::to_string(process->state.version) + ", " +
              std::to_string(process->runner->attempts_now()) + " attempts taken, " +
              std::to_string(process->queue.size()) + " queued, " + std::to_string(process->lanes_busy) +
              " lanes busy, " + std::to_string(process->door->waiting()) + " at the door";
      for (const auto& [shard, box] : process->homes) {
        text += "\n    shard " + std::to_string(shard) + " epoch " + to_string(box->home.epoch()) +
                (box->home.recounting() ? " recounting" : "") + ", rows_open " +
                std::to_string(cell_->counts().open);
        for (RowIndex row = 0; row < box->table.size(); ++row) {
          const Row& about = box->table[row];
          if (about.ghost) continue;
          const std::string why = box->home.explain(box->table.id(row));
          if (why.ends_with("settled")) continue;
          text += "\n      " + to_string(box->table.id(row)) + " " + why;
        }
      }
    }
    return text;
  }

 public:
  bool check_outcomes = true;

 private:
  WorldOptions options_;
  Program& program_;
  Random random_;
  Random faults_;
  Rings rings_;
  Events events_;
  TraceSink trace_;
  NullRecordSink nobody_;
  std::shared_ptr<const JobPlan> plan_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::unique_ptr<Cell> cell_;
  std::map<TaskId, Settled> settled_;
  std::map<TaskId, AttemptId> attempts_;
  std::set<std::uint32_t> named_only_;  ///< tasks of the graph of which a later home learnt only the name
  std::set<OutputName> executed_;
  std::map<OutputName, std::uint64_t> left_;                    ///< what kernels of bare rows returned
  std::map<TaskId, std::map<AttemptId, std::uint32_t>> tries_;  ///< of attempts for the first time
  HomeBox* touched_ = nullptr;
  bool ended_ = false;
  std::set<TaskId> fetched_;
  std::uint64_t fetches_planned_ = 0, fetches_open_ = 0;
  std::optional<Error> stopped_;
};

}  // namespace dag::sim
