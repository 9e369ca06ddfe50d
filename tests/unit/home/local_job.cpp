#include "tests/unit/home/local_job.hpp"

#include <algorithm>
#include <stdexcept>

#include "libdag/home/home_state.hpp"
#include "tools/sim/changing_loads.hpp"

namespace dag::test {

LocalJob::LocalJob(detail::Fragment graph, Kernel kernel, LocalJobOptions options)
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
  plan->quarantine = options_.quarantine;
  plan_ = plan;
  std::vector<Life> lives, homes;
  for (std::uint32_t i = 0; i < options_.processes; ++i) {
    processes_.emplace_back();
    begin_life({ProcessId{i}, Incarnation{1}});
    lives.push_back(life(i));
  }
  for (const std::uint32_t process : options_.homes) homes.push_back(life(process));
  CellOptions cell{life(0), options_.seed, options_.cell_runs};
  cell.replicas = options_.replicas;
  cell_ = std::make_unique<Cell>(cell, plan_, records_);
  cell_->begin(lives, homes, now);
  cell_->follow({1}, {}, now);
  drain_cell();
}

LocalJob::~LocalJob() = default;

// ---- What a test does

bool LocalJob::step() {
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

void LocalJob::run_until(const std::function<bool()>& reached) {
  for (std::uint64_t steps = 0; !reached(); ++steps) {
    if (steps > 1'000'000) throw std::runtime_error("too many steps:" + stuck());
    if (!step() && !wait()) throw std::runtime_error("nothing is left to happen:" + stuck());
  }
}

void LocalJob::settle_down() {
  const Instant until = now + 2 * cut_interval;
  do {
    while (step()) {
    }
  } while (wakes_at().value_or(until) < until && wait());
}

std::optional<Instant> LocalJob::wakes_at() const {
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

bool LocalJob::wait() {
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

void LocalJob::fetch(TaskId task) {
  fetching_[task.index] = task;
  const TellClient& tell = settled.at(task);
  processes_[0].runner->bring(task.index, tell.record, tell.holders, now);
  drain_runner(processes_[0]);
}

std::optional<std::uint32_t> LocalJob::waits_at(const std::string& name) const {
  for (const Process& process : processes_) {
    for (const Work& work : process.queue) {
      if (process.up && name_of(process, work) == name && !dropped(process, work))
        return process.life.process.value;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> LocalJob::value(TaskId task) const {
  const auto fetched = brought.find(task);
  if (fetched != brought.end()) return detail::from_blob<std::uint64_t>(fetched->second.bytes);
  const auto found = settled.find(task);
  if (found == settled.end()) return std::nullopt;
  Blob value = found->second.record.value;
  if (!value && found->second.record.has_output) value = in_slot(task);
  if (!value) return std::nullopt;
  return detail::from_blob<std::uint64_t>(value);
}

void LocalJob::begin_life(Life life) {
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

Blob LocalJob::in_slot(TaskId task) const {
  const std::uint32_t shard = shard_of(*plan_, task);
  const auto& homes = processes_[home_process(shard)].homes;
  const auto found = homes.find(shard);
  if (found == homes.end()) return {};
  const RowIndex row = found->second->table.find(task);
  return row == no_row ? Blob() : found->second->table[row].output.load();
}

// ---- Messages

void LocalJob::post(Life from, Life to, JobMessage message) {
  Mail mail{from, to, std::move(message)};
  if (options_.twice) messages_.push_back(mail);
  if (hold && hold(mail)) {
    held.push_back(std::move(mail));
  } else {
    messages_.push_back(std::move(mail));
  }
}

void LocalJob::deliver_next() {
  const std::size_t at = options_.shuffled ? random_.below(messages_.size()) : 0;
  const Mail mail = std::move(messages_[at]);
  messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(at));
  deliver(mail);
}

void LocalJob::deliver(const Mail& mail) {
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

void LocalJob::on_state(Process& process, const message::JobState& state) {
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

void LocalJob::on_assign(Process& process, const message::Assign& assign) {
  const message::ShardHome& home = process.state.homes[assign.shard];
  if (home.home != process.life || home.epoch != assign.epoch || process.homes.contains(assign.shard)) return;
  Box& box = make_home(process, assign.shard, assign.epoch);
  box.home.recover(assign, process.state, now);
  drain_home(process, box);
  open_rings(process, box);
  wake(process);
}

LocalJob::Box& LocalJob::make_home(Process& process, std::uint32_t shard, Epoch epoch) {
  HomeOptions options;
  options.shard = shard;
  options.epoch = epoch;
  options.self = process.life;
  options.seed = options_.seed;
  options.several_processes = options_.processes > 1;
  options.released_bytes_max = options_.released_bytes_max;
  options.spawn_credit = options_.spawn_credit;
  if (options_.digests_behind) options.digest_at_once_bytes_max = 0;
  auto& box = process.homes[shard];
  std::unique_ptr<HomePlacement> placement;
  if (options_.changing_loads) {
    placement = std::make_unique<sim::ChangingLoads>(options_.seed + 17 * shard + epoch.count);
  } else {
    placement = std::make_unique<Placed>(options_);
  }
  box = std::make_unique<Box>(options, plan_, records_, std::move(placement));
  return *box;
}

void LocalJob::on_steal(Process& process, Life thief, std::uint32_t slots) {
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
    std::vector<OutputName> attempts;
    std::erase_if(process.queue, [&, &home = box->home](const Work& work) {
      if (!work.attempt || rows.size() + attempts.size() == slots) return false;
      const OutputName name{work.attempt->task, work.attempt->id};
      if (process.stopped.contains(name) || !home.may_lend(name)) return false;
      attempts.push_back(name);
      return true;
    });
    box->home.lend(rows, thief, slots, now);
    box->home.lend_attempts(attempts, thief, now);
    drain_home(process, *box);
    slots -= std::min(slots, static_cast<std::uint32_t>(rows.size() + attempts.size()));
  }
  std::erase_if(process.queue, [&](const Work& work) {
    if (!work.attempt || slots == 0) return false;
    const OutputName name{work.attempt->task, work.attempt->id};
    if (process.stopped.contains(name) || !process.runner->may_give(name)) return false;
    process.runner->give(name, thief);
    --slots;
    return true;
  });
  drain_runner(process);
}

std::string LocalJob::stuck() {
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

}  // namespace dag::test
