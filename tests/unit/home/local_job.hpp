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
#include "libdag/home/door.hpp"
#include "libdag/home/edge_news.hpp"
#include "libdag/home/home.hpp"
#include "libdag/home/runner.hpp"
#include "tests/support/random_graph.hpp"
#include "tools/sim/changing_loads.hpp"

namespace dag::test {

/// A kernel is to be run.
struct KernelCall {
  TaskId task;
  AttemptId id;
  std::string name;
  std::uint32_t try_number = 1;
  detail::Code code;
  bool returns = false;
  detail::CallKind call = detail::CallKind::ordinary;
  void* self = nullptr;  ///< of calls: the object; of create: where its address goes
  bool again = false;    ///< what it leaves stands for an output that is gone
  const std::vector<detail::ArgumentView>& views;
  const std::vector<detail::Code>& predicates;
  Life at;
};
using Kernel = std::function<Ended(const KernelCall&)>;

struct LocalJobOptions {
  std::uint32_t processes = 1;
  std::uint32_t shards = 1;
  std::vector<std::uint32_t> shard_of;  ///< empty: all in shard 0
  std::vector<std::uint32_t> homes;     ///< processes, per shard; empty: in turn
  Representation representation = Representation::as_needed;
  std::uint64_t inline_bytes_max = 4096;
  bool cell_runs = true;
  std::uint64_t seed = 1;
  /// Where attempts go that no bare lane takes, and actors live: a process. Left out: at home.
  std::optional<std::uint32_t> place;
  /// Instead: by earliest finish, under loads that are drawn from the seed.
  bool changing_loads = false;
  /// Whatever can happen next happens in any order, drawn from the seed. Else in the order of its causes.
  bool shuffled = false;
  /// Lanes tell those of other shards of ends, in this process and over rings to all others.
  bool rings = false;
  /// Every message comes twice.
  bool twice = false;
  /// All digests are taken behind, as those of large outputs are.
  bool digests_behind = false;
  /// Who gets the records of all processes. Left out: nobody.
  RecordSink* records = nullptr;
};

class LocalJob {
 public:
  LocalJob(detail::Fragment graph, Kernel kernel, LocalJobOptions options = {})
      : options_(std::move(options)),
        kernel_(std::move(kernel)),
        random_(options_.seed),
        records_(options_.records != nullptr ? *options_.records : nobody_) {
    auto plan = std::make_shared<JobPlan>();
    plan->job = JobId{7};
    plan->graph = std::make_shared<const detail::Fragment>(std::move(graph));
    plan->shards = options_.shards;
    plan->shard_of = options_.shard_of;
    plan->shard_of.resize(plan->graph->size());
    plan->representation = options_.representation;
    plan->inline_bytes_max = options_.inline_bytes_max;
    plan_ = plan;
    std::vector<Life> lives, homes;
    for (std::uint32_t i = 0; i < options_.processes; ++i) {
      processes_.emplace_back();
      begin_life({ProcessId{i}, Incarnation{1}});
      lives.push_back(life(i));
    }
    for (const std::uint32_t process : options_.homes) homes.push_back(life(process));
    cell_ = std::make_unique<Cell>(CellOptions{life(0), options_.seed, options_.cell_runs}, plan_, records_);
    cell_->begin(lives, homes, now);
    cell_->follow({1}, {}, now);
    drain_cell();
  }

  // ---- What a test does

  /// One thing happens. False: nothing is left but to wait.
  bool step() {
    if (!rings_.empty() && (!options_.shuffled || random_.chance(0.3))) {
      read_ring();
      return true;
    }
    const bool some_message = !messages_.empty();
    if (some_message && (!options_.shuffled || !lane_has_work() || random_.chance(0.5))) {
      deliver_next();
      return true;
    }
    if (run_lane() || take_digest()) return true;
    if (rings_.empty()) return false;
    read_ring();
    return true;
  }
  /// Until `reached`, or for ever when it cannot be: then it throws.
  void run_until(const std::function<bool()>& reached) {
    for (std::uint64_t steps = 0; !reached(); ++steps) {
      if (steps > 1'000'000) throw std::runtime_error("too many steps:" + stuck());
      if (!step() && !wait()) throw std::runtime_error("nothing is left to happen:" + stuck());
    }
  }
  void run() {
    run_until([&] { return job_ended.has_value(); });
  }
  /// Everything that can happen without time passing, but for the little that homes wait with a cut.
  void settle_down() {
    const Instant until = now + std::chrono::milliseconds(20);
    do {
      while (step()) {
      }
    } while (wakes_at().value_or(until) < until && wait());
  }
  /// When somebody wants to wake up.
  std::optional<Instant> wakes_at() const {
    std::optional<Instant> at;
    const auto earliest = [&](std::optional<Instant> when) {
      if (when && (!at || *when < *at)) at = when;
    };
    for (const Process& process : processes_) {
      if (!process.up) continue;
      earliest(process.runner->wake_at());
      for (const auto& [shard, box] : process.homes) earliest(box->home.wake_at());
    }
    return at;
  }
  /// Time passes until then. False: nobody does.
  bool wait() {
    const std::optional<Instant> at = wakes_at();
    if (!at) return false;
    now = std::max(now, *at);
    for (Process& process : processes_) {
      if (!process.up) continue;
      process.runner->on_time(now);
      drain_runner(process);
      for (auto& [shard, box] : process.homes) {
        box->home.on_time(now);
        drain_home(process, *box);
      }
    }
    return true;
  }
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
  /// The bytes of a settled output, for the client: in `brought` when they have come.
  void fetch(TaskId task) {
    fetching_[task.index] = task;
    const TellClient& tell = settled.at(task);
    processes_[0].runner->bring(task.index, tell.record, tell.holders, now);
    drain_runner(processes_[0]);
  }
  void steal(std::uint32_t thief, std::uint32_t victim, std::uint32_t slots) {
    post(life(thief), life(victim), message::StealRequest{plan_->job, slots});
  }

  /// Where a kernel of this name waits for a lane.
  std::optional<std::uint32_t> waits_at(const std::string& name) const {
    for (const Process& process : processes_) {
      for (const Work& work : process.queue) {
        if (process.up && name_of(process, work) == name && !dropped(process, work))
          return process.life.process.value;
      }
    }
    return std::nullopt;
  }
  Cell& cell() { return *cell_; }
  /// After a test has called the cell.
  void told_cell() { drain_cell(); }
  void keep(const std::vector<TaskId>& tasks) {
    cell_->keep(tasks, now);
    drain_cell();
  }
  Home& home(std::uint32_t shard) { return *box(shard).home_; }
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
  std::optional<std::uint64_t> value(TaskId task) const {
    const auto fetched = brought.find(task);
    if (fetched != brought.end()) return detail::from_blob<std::uint64_t>(fetched->second.bytes);
    const auto found = settled.find(task);
    if (found == settled.end()) return std::nullopt;
    Blob value = found->second.record.value;
    if (!value && found->second.record.has_output) value = in_slot(task);
    if (!value) return std::nullopt;
    return detail::from_blob<std::uint64_t>(value);
  }
  Outcome outcome(TaskId task) const {
    const auto found = settled.find(task);
    return found == settled.end() ? Outcome::none : found->second.record.outcome;
  }

  struct Ran {
    std::string name;
    TaskId task;
    AttemptId id;
    std::uint32_t try_number;
    Life at;
    bool again;
  };
  struct Mail {
    Life from, to;
    JobMessage message;
  };
  std::uint64_t told_by_lanes = 0;  ///< ghosts that lanes ended
  std::vector<Ran> ran;             ///< kernels that were run, in order
  std::map<TaskId, TellClient> settled;
  std::map<TaskId, Brought> brought;
  std::vector<std::pair<Life, KeepSave>> kept_saves;  ///< and where a disk would keep them
  std::optional<JobEnded> job_ended;
  Instant now;
  std::set<std::string> paused;           ///< kernels of these names begin and do not end
  bool hold_digests = false;              ///< they are not taken yet
  std::function<bool(const Mail&)> hold;  ///< messages that are not delivered yet
  std::vector<Mail> held;
  void release_held() {
    hold = nullptr;
    for (Mail& mail : std::exchange(held, {})) messages_.push_back(std::move(mail));
  }

 private:
  struct Box {
    Box(HomeOptions options, std::shared_ptr<const JobPlan> plan, RecordSink& sink,
        std::unique_ptr<HomePlacement> placement)
        : table(plan->representation), home(options, plan, table, gate, sink, std::move(placement)) {}
    RowTable table;
    Gate gate{0};  // No lanes but those played here.
    Home home;
    Home* home_ = &home;
  };
  struct Work {
    std::uint32_t shard = 0;
    RowIndex row = no_row;
    std::shared_ptr<Attempt> attempt;
  };
  struct Process {
    Life life;
    bool up = false;
    std::unique_ptr<Runner> runner;
    std::unique_ptr<Door> door;
    message::JobState state;
    std::map<std::uint32_t, std::unique_ptr<Box>> homes;
    std::deque<Work> queue;
    std::set<OutputName> stopped;
    std::map<std::uint32_t, std::pair<AttemptId, std::shared_ptr<void>>> objects;  ///< ActorState all
  };
  class Placed final : public HomePlacement {
   public:
    explicit Placed(std::optional<std::uint32_t> place) : place_(place) {}
    Life place_actor(std::uint32_t, const std::vector<Life>& lives, const std::vector<std::uint32_t>&,
                     const Policy&) override {
      return find(lives, lives.front());
    }
    PlacedAttempt place_attempt(const AttemptToPlace&, const std::vector<Life>& lives, Life self) override {
      return {find(lives, self)};
    }

   private:
    Life find(const std::vector<Life>& lives, Life otherwise) const {
      for (const Life life : lives) {
        if (place_ && life.process.value == *place_) return life;
      }
      return otherwise;
    }
    std::optional<std::uint32_t> place_;
  };

  void begin_life(Life life) {
    const std::uint32_t index = life.process.value;
    life_of_.resize(std::max<std::size_t>(life_of_.size(), index + 1));
    life_of_[index] = life;
    Process& process = processes_[index] = {};
    process.life = life;
    process.up = true;
    RunnerOptions options{life};
    if (options_.digests_behind) options.digest_at_once_bytes_max = 0;
    process.runner = std::make_unique<Runner>(options, plan_, records_);
    process.door = std::make_unique<Door>(life);
  }
  Process* find(Life life) {
    Process& process = processes_[life.process.value];
    return process.up && process.life == life ? &process : nullptr;
  }
  Box& box(std::uint32_t shard) { return *processes_[home_process(shard)].homes.at(shard); }
  /// What lies in the slot of the task's row.
  Blob in_slot(TaskId task) const {
    const std::uint32_t shard = shard_of(*plan_, task);
    const auto& homes = processes_[home_process(shard)].homes;
    const auto found = homes.find(shard);
    if (found == homes.end()) return {};
    const RowIndex row = found->second->table.find(task);
    return row == no_row ? Blob() : found->second->table[row].output.load();
  }

  // ---- Messages

  void post(Life from, Life to, JobMessage message) {
    Mail mail{from, to, std::move(message)};
    if (options_.twice) messages_.push_back(mail);
    if (hold && hold(mail)) {
      held.push_back(std::move(mail));
    } else {
      messages_.push_back(std::move(mail));
    }
  }
  void deliver_next() {
    const std::size_t at = options_.shuffled ? random_.below(messages_.size()) : 0;
    const Mail mail = std::move(messages_[at]);
    messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(at));
    deliver(mail);
  }
  void deliver(const Mail& mail) {
    Process* process = find(mail.to);
    if (process == nullptr) return;
    const auto epoch_here = [&](std::uint32_t shard) -> std::optional<Epoch> {
      const auto found = process->homes.find(shard);
      return found == process->homes.end() ? std::nullopt : std::optional(found->second->home.epoch());
    };
    switch (process->door->judge(mail.from, mail.message, process->state, epoch_here)) {
      case Admission::drop:
        return;
      case Admission::wait:
        return process->door->hold(mail.from, mail.message);
      case Admission::deliver:
        break;
    }
    if (const auto* state = std::get_if<message::JobState>(&mail.message)) return on_state(*process, *state);
    if (const auto* assign = std::get_if<message::Assign>(&mail.message)) return on_assign(*process, *assign);
    if (const auto* steal = std::get_if<message::StealRequest>(&mail.message)) {
      return on_steal(*process, mail.from, steal->slots);
    }
    switch (recipient_of(mail.message)) {
      case Recipient::cell:
        cell_->on_message(mail.from, mail.message, now);
        return drain_cell();
      case Recipient::runner:
        process->runner->on_message(mail.from, mail.message, now);
        return drain_runner(*process);
      case Recipient::home: {
        const auto found = process->homes.find(shard_epoch_of(mail.message)->shard);
        if (found == process->homes.end()) return;
        found->second->home.on_message(mail.from, mail.message, now);
        return drain_home(*process, *found->second);
      }
      case Recipient::process:
        return;
    }
  }
  void on_state(Process& process, const message::JobState& state) {
    if (state.version <= process.state.version) return;
    const bool first = process.state.version == 0;
    process.state = state;
    process.door->on_state(state);
    process.runner->on_state(state, now);
    drain_runner(process);
    for (auto& [shard, box] : process.homes) {
      box->home.on_state(state, now);
      drain_home(process, *box);
    }
    for (std::uint32_t shard = 0; shard < state.homes.size(); ++shard) {
      if (!first || state.homes[shard].home != process.life || state.homes[shard].epoch != Epoch{1, 1})
        continue;
      Box& box = make_home(process, shard, {1, 1});
      box.home.begin(state, now);
      drain_home(process, box);
      open_rings(process, box);
    }
    wake(process);
  }
  void on_assign(Process& process, const message::Assign& assign) {
    const message::ShardHome& home = process.state.homes[assign.shard];
    if (home.home != process.life || home.epoch != assign.epoch || process.homes.contains(assign.shard))
      return;
    Box& box = make_home(process, assign.shard, assign.epoch);
    box.home.recover(assign, process.state, now);
    drain_home(process, box);
    open_rings(process, box);
    wake(process);
  }
  void wake(Process& process) {
    for (auto& [from, message] : process.door->take_waiting())
      messages_.push_back({from, process.life, message});
  }
  Box& make_home(Process& process, std::uint32_t shard, Epoch epoch) {
    HomeOptions options;
    options.shard = shard;
    options.epoch = epoch;
    options.self = process.life;
    options.seed = options_.seed;
    options.several_processes = options_.processes > 1;
    if (options_.digests_behind) options.digest_at_once_bytes_max = 0;
    auto& box = process.homes[shard];
    std::unique_ptr<HomePlacement> placement;
    if (options_.changing_loads) {
      placement = std::make_unique<sim::ChangingLoads>(options_.seed + 17 * shard + epoch.count);
    } else {
      placement = std::make_unique<Placed>(options_.place);
    }
    box = std::make_unique<Box>(options, plan_, records_, std::move(placement));
    return *box;
  }
  void on_steal(Process& process, Life thief, std::uint32_t slots) {
    for (auto& [shard, box] : process.homes) {
      std::vector<RowIndex> rows;
      for (auto at = process.queue.begin(); at != process.queue.end() && rows.size() < slots;) {
        if (at->attempt == nullptr && at->shard == shard) {
          rows.push_back(at->row);
          at = process.queue.erase(at);
        } else {
          ++at;
        }
      }
      box->home.lend(rows, thief, slots, now);
      drain_home(process, *box);
    }
  }

  // ---- Rings

  /// Lanes know a home when it has begun.
  void open_rings(Process& process, Box& box) {
    if (!options_.rings) return;
    box.home.on_reach(life_of_, now);
    drain_home(process, box);
  }
  void read_ring() {
    auto ring = rings_.begin();
    if (options_.shuffled) std::advance(ring, random_.below(rings_.size()));
    const auto [from, to] = ring->first;
    EdgeNews news = std::move(ring->second.front());
    ring->second.pop_front();
    if (ring->second.empty()) rings_.erase(ring);
    Process* process = find(to);
    if (process == nullptr) return;
    const auto found = process->homes.find(news.shard);
    // In another order than that of its causes: as if the gate were closed, or no lane there.
    if (found == process->homes.end() || (options_.shuffled && random_.chance(0.1))) {
      return deliver({from, to, as_message(std::move(news))});
    }
    Box& box = *found->second;
    LaneReport report;
    RowIndex ghost = no_row;
    const Arrival arrival = end_ghost(
        box.table, news, ghost,
        [&](RowIndex ready) {
          process->queue.push_back({news.shard, ready, nullptr});
        },
        [&](RowIndex decide) { report.decide.push_back(decide); });
    if (arrival == Arrival::false_news) throw std::runtime_error("a lane told what no lane can mean");
    if (arrival == Arrival::for_home) return deliver({from, to, as_message(std::move(news))});
    ++told_by_lanes;
    report.ghosts.push_back(ghost);
    box.home.on_lanes(std::move(report), now);
    drain_home(*process, box);
  }

  // ---- Effects

  void drain_cell() {
    for (CellEffect& effect : cell_->take_effects()) {
      if (auto* message = std::get_if<SendMessage>(&effect)) {
        post(life(0), message->to, std::move(message->message));
      } else if (auto* tell = std::get_if<TellClient>(&effect)) {
        const TaskId task = tell->record.task;
        if (!settled.emplace(task, std::move(*tell)).second) {
          throw std::runtime_error("settled twice: " + to_string(task));
        }
      } else if (auto* end = std::get_if<JobEnded>(&effect)) {
        job_ended = std::move(*end);
      }
    }
  }
  void drain_home(Process& process, Box& box) {
    const std::uint32_t shard = box.home.options().shard;
    for (HomeEffect& effect : box.home.take_effects()) {
      if (auto* ready = std::get_if<MakeReady>(&effect)) {
        process.queue.push_back({shard, ready->row, nullptr});
      } else if (auto* start = std::get_if<StartAttempt>(&effect)) {
        process.queue.push_back({shard, no_row, std::make_shared<Attempt>(std::move(start->attempt))});
      } else if (auto* stop = std::get_if<StopAttempt>(&effect)) {
        process.stopped.insert({stop->task, stop->id});
      } else if (auto* message = std::get_if<SendMessage>(&effect)) {
        post(process.life, message->to, std::move(message->message));
      } else if (auto* publish = std::get_if<PublishOutput>(&effect)) {
        process.runner->publish(publish->record, publish->bytes);
        drain_runner(process);
      }
    }
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
        post(process.life, message->to, std::move(message->message));
      } else if (auto* came = std::get_if<Brought>(&effect)) {
        brought[fetching_.at(came->ticket)] = std::move(*came);
      } else if (auto* save = std::get_if<KeepSave>(&effect)) {
        kept_saves.emplace_back(process.life, std::move(*save));
      } else if (auto* digest = std::get_if<TakeDigest>(&effect)) {
        digests_.emplace_back(process.life, std::move(*digest));
      }
    }
  }
  bool take_digest() {
    if (digests_.empty() || hold_digests) return false;
    const auto [life, output] = std::move(digests_.front());
    digests_.pop_front();
    if (Process* process = find(life)) {
      process->runner->on_digest(output.name, digest_of(output.bytes));
      drain_runner(*process);
    }
    return true;
  }

  // ---- Lanes

  static const std::string& name_of(const Process& process, const Work& work) {
    if (work.attempt != nullptr) return work.attempt->name;
    const RowTable& table = process.homes.at(work.shard)->table;
    return table.name_of(table[work.row]);
  }
  /// Nobody wants it run any more.
  static bool dropped(const Process& process, const Work& work) {
    if (work.attempt != nullptr) return process.stopped.contains({work.attempt->task, work.attempt->id});
    return process.homes.at(work.shard)->table.word(work.row).state != RowState::ready;
  }
  bool can_run(const Process& process, const Work& work) const {
    return paused.empty() || !paused.contains(name_of(process, work));
  }
  bool lane_has_work() {
    return std::any_of(processes_.begin(), processes_.end(), [&](const Process& process) {
      return std::any_of(process.queue.begin(), process.queue.end(),
                         [&](const Work& work) { return can_run(process, work); });
    });
  }
  bool run_lane() {
    const std::size_t first = options_.shuffled ? random_.below(processes_.size()) : 0;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      Process& process = processes_[(first + i) % processes_.size()];
      std::vector<std::size_t> ready;
      for (std::size_t at = 0; at < process.queue.size(); ++at) {
        if (can_run(process, process.queue[at])) ready.push_back(at);
      }
      if (ready.empty()) continue;
      const std::size_t at = ready[options_.shuffled ? random_.below(ready.size()) : 0];
      const Work work = std::move(process.queue[at]);
      process.queue.erase(process.queue.begin() + static_cast<std::ptrdiff_t>(at));
      work.attempt != nullptr ? run_attempt(process, *work.attempt) : run_row(process, work);
      return true;
    }
    return false;
  }
  Ended run_kernel(const KernelCall& call) {
    if (!executed_.insert({call.task, call.id}).second) {
      throw std::runtime_error("executed twice: " + to_string(call.task) + to_string(call.id));
    }
    ran.push_back({call.name, call.task, call.id, call.try_number, call.at, call.again});
    Ended ended = kernel_(call);
    ended.task = call.task;
    ended.id = call.id;
    return ended;
  }
  void run_row(Process& process, const Work& work) {
    Box& box = *process.homes.at(work.shard);
    const Next claim = box.table.apply(work.row, Claimed{});
    if (claim.what != Do::run) return;
    const std::uint32_t attempt = claim.word.attempt;
    std::vector<Blob> blobs;
    std::vector<detail::ArgumentView> views;
    std::uint32_t missing = 0;
    LaneReport report;
    Row& about = box.table[work.row];
    if (!box.table.gather_inputs(work.row, blobs, views, missing)) {
      box.table.apply(work.row, TakenBack{attempt});
      report.missing_inputs.push_back(work.row);
    } else {
      const detail::Fragment& fragment = box.table.fragment_of(about);
      const detail::TaskKind& kind = fragment.kind(about.task);
      const std::vector<detail::Code> predicates = box.table.predicates_of(about);
      Ended ended = run_kernel({box.table.id(about),
                                {box.home.epoch(), attempt},
                                box.table.name_of(about),
                                1,
                                fragment.codes[kind.code],
                                kind.returns,
                                kind.call,
                                nullptr,
                                false,
                                views,
                                predicates,
                                process.life});
      const bool quick = ended.outcome == Outcome::finished && !ended.spawned && about.ends_by_itself;
      if (quick && box.table.apply(work.row, AttemptEnded{attempt}).what == Do::tell) {
        about.output.store(ended.output);
        tell_others(box.table, work.row, attempt, ended.output, [&](const Route& route, EdgeNews&& news) {
          rings_[{process.life, route.home}].push_back(std::move(news));
          return true;
        });
        box.table.satisfy_local_strong(
            work.row,
            [&](RowIndex ready) {
              process.queue.push_back({work.shard, ready, nullptr});
            },
            [&](RowIndex decide) { report.decide.push_back(decide); });
        report.quick.push_back({work.row, attempt});
      } else {
        report.slow.push_back({work.row, attempt, std::move(ended)});
      }
    }
    box.home.on_lanes(std::move(report), now);
    drain_home(process, box);
  }
  void run_attempt(Process& process, const Attempt& attempt) {
    if (process.stopped.contains({attempt.task, attempt.id})) return;
    std::vector<detail::ArgumentView> views;
    const Blob* next = attempt.blobs.data();
    for (const std::uint32_t count : attempt.counts) {
      views.push_back({next, count});
      next += count;
    }
    auto& object = process.objects[attempt.actor];
    void* made = nullptr;
    void* self = attempt.call == detail::CallKind::create ? static_cast<void*>(&made) : object.second.get();
    if (attempt.call == detail::CallKind::call || attempt.call == detail::CallKind::save) {
      if (object.first != attempt.generation)
        throw std::runtime_error("a call of another making of its actor");
    }
    Ended ended;
    const KernelCall call{attempt.task,
                          attempt.id,
                          attempt.name,
                          attempt.try_number,
                          attempt.code,
                          attempt.returns,
                          attempt.call,
                          self,
                          static_cast<bool>(attempt.stands_for),
                          views,
                          attempt.predicates,
                          process.life};
    if (attempt.restore_from) {
      ran.push_back({attempt.name + " restored", attempt.task, attempt.id, 1, process.life, true});
      const detail::ArgumentView saved{&attempt.restore_from, 1};
      detail::Call restore;
      restore.arguments = &saved;
      restore.argument_count = 1;
      restore.self = self;
      reinterpret_cast<detail::Thunk>(const_cast<void*>(attempt.actor_code.restore.thunk))(restore);
      ended.task = attempt.task;
      ended.id = attempt.id;
    } else {
      ended = run_kernel(call);
    }
    if (made != nullptr) {
      object = {attempt.generation,
                std::shared_ptr<void>(made, [](void* gone) { delete static_cast<ActorState*>(gone); })};
    }
    const bool by_runner = process.runner->on_ended(ended, now);
    if (by_runner) return drain_runner(process);
    for (auto& [shard, box] : process.homes) {
      if (!box->home.on_ended(ended, now)) continue;
      return drain_home(process, *box);
    }
  }

  std::string stuck() {
    std::string text;
    for (Process& process : processes_) {
      for (auto& [shard, box] : process.homes) {
        for (RowIndex row = 0; row < box->table.size(); ++row) {
          if (box->table[row].ghost) continue;
          const std::string why = box->home.explain(box->table.id(row));
          if (!why.ends_with("settled")) text += "\n  " + to_string(box->table.id(row)) + " " + why;
        }
      }
    }
    return text;
  }

  LocalJobOptions options_;
  Kernel kernel_;
  Random random_;
  NullRecordSink nobody_;
  RecordSink& records_;
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
