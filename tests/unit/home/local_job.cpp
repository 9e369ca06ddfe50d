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
    earliest(process.job->wake_at());
  }
  return at;
}

bool LocalJob::wait() {
  const std::optional<Instant> at = wakes_at();
  if (!at) return false;
  now = std::max(now, *at);
  for (Process& process : processes_) {
    if (!process.up) continue;
    process.job->on_time(now);
    take_steps(process);
  }
  return true;
}

void LocalJob::fetch(TaskId task) {
  fetching_[task.index] = task;
  const TellClient& tell = settled.at(task);
  processes_[0].job->bring(task.index, tell.record, tell.holders, now);
  drain(processes_[0]);
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
  process.around = std::make_unique<Around>(*this, index);
  process.job = std::make_unique<JobHere>(options, plan_, *process.around, records_);
  process.job->open();
}

Blob LocalJob::in_slot(TaskId task) const {
  const std::uint32_t shard = shard_of(*plan_, task);
  const Process& process = processes_[home_process(shard)];
  if (!process.up) return {};
  const HomesHere& homes = process.job->homes();
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
  process->job->on_message(mail.from, mail.message);
  take_steps(*process);
}

std::unique_ptr<HomeHere> LocalJob::make_home(Process& process, const BeginHome& which) {
  HomeOptions options;
  options.shard = which.shard;
  options.epoch = which.epoch;
  options.self = process.life;
  options.seed = options_.seed;
  options.several_processes = options_.processes > 1;
  options.released_bytes_max = options_.released_bytes_max;
  options.spawn_credit = options_.spawn_credit;
  if (options_.digests_behind) options.digest_at_once_bytes_max = 0;
  std::unique_ptr<HomePlacement> placement;
  if (options_.changing_loads) {
    placement = std::make_unique<sim::ChangingLoads>(options_.seed + 17 * which.shard + which.epoch.count);
  } else {
    placement = std::make_unique<Placed>(options_);
  }
  // No lanes pass its gate but those played here.
  return std::make_unique<HomeHere>(options, plan_, std::make_shared<SharedRows>(plan_->representation, 0),
                                    records_, std::move(placement));
}

/// Lanes leave its rows.
void LocalJob::end_home(Process& process, const HomeHere& home) {
  const std::uint32_t shard = home.home.options().shard;
  std::erase_if(process.queue,
                [&](const Work& work) { return work.attempt == nullptr && work.shard == shard; });
}

std::vector<RowIndex> LocalJob::take_rows(Process& process, std::uint32_t shard, std::uint32_t most) {
  std::vector<RowIndex> rows;
  std::erase_if(process.queue, [&](const Work& work) {
    if (rows.size() == most || work.attempt || work.shard != shard) return false;
    rows.push_back(work.row);
    return true;
  });
  return rows;
}

std::vector<OutputName> LocalJob::take_attempts(Process& process, std::uint32_t most,
                                                const std::function<bool(const OutputName&)>& may_go) {
  std::vector<OutputName> attempts;
  std::erase_if(process.queue, [&](const Work& work) {
    if (attempts.size() == most || !work.attempt) return false;
    const OutputName name{work.attempt->task, work.attempt->id};
    if (process.stopped.contains(name) || !may_go(name)) return false;
    attempts.push_back(name);
    return true;
  });
  return attempts;
}

std::string LocalJob::stuck() {
  std::string text;
  for (Process& process : processes_) {
    if (!process.up) continue;
    for (const auto& [shard, box] : process.job->homes()) {
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
