#include "tools/sim/actors/sim_lanes.hpp"

#include <algorithm>

#include "libdag/base/limits.hpp"

namespace dag::sim {
namespace {

std::string in_words(RowState state) {
  static constexpr const char* words[] = {"waiting", "held", "ready", "running", "lent", "ended"};
  return words[static_cast<std::size_t>(state)];
}

}  // namespace

// ---- Orders of actors

void SimLanes::add(Work work) {
  queue_.push_back(std::move(work));
  look_soon();
}

void SimLanes::make_ready(LaneShard& shard, RowIndex row, Priority) {
  add({shard.shared_from_this(), row, nullptr});
}

void SimLanes::start(Attempt attempt, Priority, std::function<void(AttemptEnd&&)> done,
                     std::function<void(Saved&&)> saved, std::function<void()> began) {
  auto work = std::make_shared<Dispatched>(
      Dispatched{std::move(attempt), std::move(done), std::move(saved), std::move(began)});
  dispatched_.push_back(work);
  add({nullptr, no_row, std::move(work)});
}

void SimLanes::cancel(JobId job, TaskId task, AttemptId attempt) {
  for (const auto& work : dispatched_) {
    const Attempt& about = work->attempt;
    if (about.job == job && about.task == task && about.id == attempt) work->cancelled = true;
  }
}

bool SimLanes::abandon(JobId job, TaskId task, AttemptId attempt) {
  const auto lane = std::find_if(running_.begin(), running_.end(), [&](const auto& one) {
    return one.second.job == job && one.second.task == task && one.second.id == attempt;
  });
  if (lane == running_.end()) return false;
  ledger_.saw("lane abandoned");
  running_.erase(lane);
  look_soon();
  return true;
}

std::vector<RowIndex> SimLanes::take_rows(const LaneShard& shard, std::size_t count) {
  std::vector<RowIndex> rows;
  std::erase_if(queue_, [&](const Work& work) {
    if (rows.size() == count || work.dispatched || work.shard.get() != &shard) return false;
    rows.push_back(work.row);
    return true;
  });
  if (!rows.empty()) ledger_.saw("rows taken for a thief");
  return rows;
}

std::vector<OutputName> SimLanes::take_attempts(JobId job, std::size_t count,
                                                const std::function<bool(const OutputName&)>& may_go) {
  std::vector<OutputName> names;
  std::erase_if(queue_, [&](const Work& work) {
    if (names.size() == count || !work.dispatched || work.dispatched->cancelled) return false;
    const Attempt& attempt = work.dispatched->attempt;
    if (attempt.job != job || !may_go({attempt.task, attempt.id})) return false;
    names.push_back({attempt.task, attempt.id});
    std::erase(dispatched_, work.dispatched);
    return true;
  });
  if (!names.empty()) ledger_.saw("attempts taken for a thief");
  return names;
}

void SimLanes::add_shard(LaneShard& shard) {
  shards_[{shard.job, shard.table.routes().shard}] = shard.shared_from_this();
}

void SimLanes::retire(std::shared_ptr<LaneShard> shard) {
  shard->retired = true;
  std::erase_if(queue_, [&](const Work& work) { return work.shard == shard; });
  std::erase_if(reports_, [&](const OpenReport& open) { return open.shard == shard; });
  std::erase_if(shards_, [&](const auto& one) { return one.second == shard; });
}

std::vector<RunningAttempt> SimLanes::running() const {
  std::vector<RunningAttempt> all;
  for (const auto& [lane, one] : running_) all.push_back({one.task, one.id, lane, 0});
  return all;
}

std::vector<RunningNow> SimLanes::running_now() const {
  std::vector<RunningNow> all;
  if (ledger_.planted == PlantedAround::nobody_seems_busy) return all;
  for (const auto& [lane, one] : running_) all.push_back({one.task, one.id, lane, ports_.now() - one.began});
  return all;
}

bool SimLanes::stand_aside() const {
  return std::any_of(running_.begin(), running_.end(), [](const auto& one) { return one.second.alone; }) ||
         std::any_of(queue_.begin(), queue_.end(),
                     [](const Work& work) { return work.dispatched && work.dispatched->attempt.alone; });
}

void SimLanes::look(Life self, std::vector<WaitingWork>& waiting, std::vector<FreeLane>& free,
                    JobId job) const {
  if (!stand_aside() && running_.size() < options_.lanes) free.push_back({self, job, changed_});
  for (const Work& work : queue_) {
    if (work.dispatched && work.dispatched->cancelled) continue;
    if (!work.dispatched) {
      const RowTable& table = work.shard->table;
      if (table.word(work.row).state != RowState::ready) continue;
      waiting.push_back(
          {self, job, table.id(work.row), {work.shard->epoch, table.word(work.row).attempt}, false, {}});
      continue;
    }
    const Attempt& attempt = work.dispatched->attempt;
    // A lane keeps an attempt that waits to be alone, and does not give it back.
    const bool bound = attempt.call != detail::CallKind::ordinary || attempt.exclusive ||
                       attempt.stands_for || attempt.alone;
    waiting.push_back({self, job, attempt.task, attempt.id, bound, {}});
  }
}

std::string SimLanes::open_rows() const {
  std::string text = "      " + std::to_string(queue_.size()) + " queued, " +
                     std::to_string(running_.size()) + " running, " + std::to_string(dispatched_.size()) +
                     " dispatched";
  for (const auto& [at, shard] : shards_) {
    text += "\n      " + to_string(at.first) + " shard " + std::to_string(at.second) + " epoch " +
            to_string(shard->epoch);
    for (RowIndex row = 0; row < shard->table.size(); ++row) {
      const Word word = shard->table.word(row);
      if (word.state == RowState::ended) continue;
      text += "\n        " + to_string(shard->table.id(row)) + (shard->table[row].ghost ? " (ghost) " : " ") +
              in_words(word.state) + ", attempt " + std::to_string(word.attempt) + ", " +
              std::to_string(word.open) + " open";
    }
  }
  return text;
}

// ---- Decisions of lanes

void SimLanes::look_soon() {
  if (std::exchange(look_planned_, true)) return;
  ports_.after(std::chrono::microseconds(random_.below(30)), [this] {
    look_planned_ = false;
    take_work();
  });
}

void SimLanes::take_work() {
  while (running_.size() < options_.lanes && !queue_.empty()) {
    const auto at = queue_.begin() + static_cast<std::ptrdiff_t>(random_.below(queue_.size()));
    // No attempt begins beside one that is to be alone, and that one begins when nothing runs.
    const bool alone = at->dispatched && at->dispatched->attempt.alone;
    const bool one_is = std::any_of(running_.begin(), running_.end(),
                                    [](const auto& running) { return running.second.alone; });
    if (one_is || (alone && !running_.empty())) return;
    if (alone) ledger_.saw("ran alone");
    const Work work = std::move(*at);
    queue_.erase(at);
    if (work.dispatched) {
      begin_attempt(work.dispatched);
    } else {
      begin_row(work);
    }
  }
  if (running_.size() < options_.lanes && std::exchange(dry_wanted_, false)) ports_.dry();
}

Duration SimLanes::kernel_time() {
  const double dice = random_.unit();
  const Duration takes = options_.slow * std::chrono::microseconds(dice < 0.7    ? 5 + random_.below(200)
                                                                   : dice < 0.97 ? random_.below(10'000)
                                                                                 : random_.below(300'000));
  return takes + options_.takes_more;
}

void SimLanes::run(JobId job, TaskId task, AttemptId id, bool alone, Duration takes,
                   std::shared_ptr<KernelRun> kernel, std::function<void(KernelRun&)> then) {
  std::uint32_t lane = 0;
  while (running_.contains(lane)) ++lane;
  const std::uint64_t number = ++number_;
  running_[lane] = {job, task, id, number, alone, ports_.now()};
  changed_ = ports_.now();
  const bool crashes = kernel->crashes && options_.crashes && ledger_.may_crash(job);
  ports_.after(takes, [this, lane, number, crashes, kernel = std::move(kernel), then = std::move(then)] {
    const auto found = running_.find(lane);
    if (found == running_.end() || found->second.number != number) return;  // Given up.
    if (crashes) {
      ledger_.saw("kernel crashed");
      return ports_.crashed(lane);
    }
    leave(lane, number, kernel, then);
  });
}

void SimLanes::leave(std::uint32_t lane, std::uint64_t number, const std::shared_ptr<KernelRun>& kernel,
                     const std::function<void(KernelRun&)>& then) {
  const auto found = running_.find(lane);
  if (found == running_.end() || found->second.number != number) return;  // Given up.
  const Running& run = found->second;
  std::shared_ptr<const void> credit;  // Until the receiver of the end holds it.
  if (kernel->ended.spawned) {
    const bool stopped = std::any_of(dispatched_.begin(), dispatched_.end(), [&](const auto& work) {
      const Attempt& about = work->attempt;
      return work->cancelled && about.job == run.job && about.task == run.task && about.id == run.id;
    });
    const bool over = std::none_of(shards_.begin(), shards_.end(), [&](const auto& one) {
      return one.first.first == run.job && !one.second->cancelled;
    });
    if (!stopped && !over && !spawn_credits_->has_credit(run.job)) {
      ledger_.saw("waited for credit");
      return ports_.after(std::chrono::microseconds(100), [=, this] { leave(lane, number, kernel, then); });
    }
    credit = spawn_credits_->hold(run.job, kernel->ended);
  }
  running_.erase(found);
  changed_ = ports_.now();
  then(*kernel);
  look_soon();
}

void SimLanes::begin_row(const Work& work) {
  const std::shared_ptr<LaneShard>& shard = work.shard;
  RowTable& table = shard->table;
  const Next claim = table.apply(work.row, Claimed{});
  if (claim.what != Do::run) return;
  const std::uint32_t attempt = claim.word.attempt;
  std::vector<Blob> blobs;
  std::vector<detail::ArgumentView> views;
  std::uint32_t missing = 0;
  if (!table.gather_inputs(work.row, blobs, views, missing)) {
    table.apply(work.row, TakenBack{attempt});
    report_to(shard).missing_inputs.push_back(work.row);
    return report_later(shard);
  }
  const Row& about = table[work.row];
  const TaskId task = table.id(about);
  const AttemptId id{shard->epoch, attempt};
  const detail::Fragment& fragment = table.fragment_of(about);
  const detail::TaskKind& kind = fragment.kind(about.task);
  ledger_.executed(shard->job, task, id);
  auto kernel =
      std::make_shared<KernelRun>(run_kernel(ledger_.program(shard->job), task, id, fragment.codes[kind.code],
                                             kind.returns, 1, views, nullptr, table.predicates_of(about)));
  run(shard->job, task, id, false, kernel_time(), kernel,
      [this, shard, row = work.row, attempt](KernelRun& ended) { end_row(shard, row, attempt, ended); });
}

void SimLanes::end_row(const std::shared_ptr<LaneShard>& shard, RowIndex row, std::uint32_t attempt,
                       KernelRun& run) {
  if (shard->retired) return;
  RowTable& table = shard->table;
  const bool quick =
      run.ended.outcome == Outcome::finished && !run.ended.spawned && table[row].ends_by_itself;
  if (!quick || !shard->gate.enter(0)) {
    SlowEnd slow{row, attempt, std::move(run.ended)};
    slow.ended.task = table.id(row);
    slow.credit = spawn_credits_->hold(shard->job, slow.ended);
    report_to(shard).slow.push_back(std::move(slow));
    return report_later(shard);
  }
  std::vector<EdgeNews> told_here;
  if (table.apply(row, AttemptEnded{attempt, Outcome::finished}).what == Do::tell) {
    tell_others(table, row, attempt, run.ended.output, [&](const Route& route, EdgeNews&& news) {
      if (route.home != table.routes().self) return tell_edge(*shard, route, std::move(news));
      told_here.push_back(std::move(news));
      return true;
    });
    if (run.ended.output) table[row].output.store(std::move(run.ended.output));
    LaneReport& report = report_to(shard);
    table.satisfy_local_strong(
        row,
        [&](RowIndex ready) {
          queue_.push_back({shard, ready, nullptr});
        },
        [&](RowIndex held) { report.decide.push_back(held); });
    report.quick.push_back({row, attempt, std::chrono::microseconds(1)});
  }
  shard->gate.leave(0);
  report_later(shard);
  for (EdgeNews& news : told_here) hear(std::nullopt, std::move(news));
}

bool SimLanes::tell_edge(const LaneShard&, const Route& route, EdgeNews&& news) {
  if (route.way != Way::link || news.value.size_bytes() > limits::inline_output_bytes_max) return false;
  ledger_.saw("told by a lane through a link");
  ports_.send_edge(route.home, std::move(news));
  return true;
}

void SimLanes::hear(std::optional<Life> from, EdgeNews&& news) {
  const auto found = shards_.find({news.job, news.shard});
  if (found != shards_.end() && found->second->gate.enter(0)) {
    const std::shared_ptr<LaneShard> shard = found->second;
    RowIndex ghost = no_row;
    LaneReport& report = report_to(shard);
    const Arrival arrival = end_ghost(
        shard->table, news, ghost,
        [&](RowIndex ready) {
          queue_.push_back({shard, ready, nullptr});
        },
        [&](RowIndex held) { report.decide.push_back(held); });
    shard->gate.leave(0);
    if (arrival == Arrival::false_news) ledger_.violate("a lane told what no lane can mean");
    if (arrival == Arrival::ended) {
      ledger_.saw("ghost ended by a lane");
      report.ghosts.push_back(ghost);
      report_later(shard);
      return look_soon();
    }
  }
  ports_.edge_news(from, as_message(std::move(news)));
}

void SimLanes::begin_attempt(const std::shared_ptr<Dispatched>& work) {
  const Attempt& attempt = work->attempt;
  const auto end = [this, work](KernelRun& run) {
    std::erase(dispatched_, work);
    work->done(std::move(run.ended));
  };
  auto kernel = std::make_shared<KernelRun>();
  if (work->cancelled) {
    kernel->ended = cancelled_end(attempt);
    return end(*kernel);
  }
  ledger_.executed(attempt.job, attempt.task, attempt.id);
  if (work->began) work->began();
  *kernel = run_attempt(attempt);
  const Duration takes = kernel_time();
  run(attempt.job, attempt.task, attempt.id, attempt.alone, takes, kernel, end);
  if (attempt.checkpoints && work->saved) save_meanwhile(work, takes);
}

void SimLanes::save_meanwhile(const std::shared_ptr<Dispatched>& work, Duration takes) {
  const auto count = static_cast<Duration::rep>(1 + random_.below(4));
  for (Duration::rep i = 1; i <= count; ++i) {
    ports_.after(takes * i / (count + 1), [work, state = detail::to_blob(saved_by(work->attempt))] {
      work->saved({state, digest_of(state)});
    });
  }
}

KernelRun SimLanes::run_attempt(const Attempt& attempt) {
  KernelRun run;
  run.ended.task = attempt.task;
  run.ended.id = attempt.id;
  void* self = nullptr;
  void* made = nullptr;
  std::shared_ptr<void> object;
  if (attempt.call == detail::CallKind::create) {
    self = &made;
  } else if (attempt.call != detail::CallKind::ordinary) {
    object = actors_.find(attempt.job, attempt.actor, attempt.generation);
    if (!object) {
      ledger_.saw("object not here");
      run.ended.outcome = Outcome::failed;
      run.ended.error = Error{ErrorCode::output_lost, "the object is not here"};
      return run;
    }
    self = object.get();
  }
  const bool restores_object = attempt.call == detail::CallKind::create && attempt.restore_from;
  if (attempt.restore_from && !restores_object) {
    ledger_.saw("went on from what was saved");
    if (detail::from_blob<std::uint64_t>(attempt.restore_from) != saved_by(attempt))
      ledger_.violate("attempt " + to_string(attempt.job) + "/" + to_string(attempt.task) +
                      to_string(attempt.id) + " starts from what was saved with other inputs");
  }
  if (restores_object) {
    ledger_.saw("restored");
    test::restore_actor(attempt.actor_code.restore, attempt.restore_from, self);
  } else {
    // A run again has no more tries to fail; it succeeded once.
    const std::uint32_t tries = attempt.stands_for ? 1000 : attempt.attempt_number;
    run = run_kernel(ledger_.program(attempt.job), attempt.task, attempt.id, attempt.code, attempt.returns,
                     tries, argument_views(attempt), self, attempt.predicates);
  }
  if (made != nullptr)
    actors_.put(attempt.job, attempt.actor, attempt.generation, made, attempt.actor_code.destroy);
  if (attempt.stands_for) ledger_.saw("run again");
  return run;
}

// ---- Reports

LaneReport& SimLanes::report_to(const std::shared_ptr<LaneShard>& shard) {
  const auto found = std::find_if(reports_.begin(), reports_.end(),
                                  [&](const OpenReport& open) { return open.shard == shard; });
  if (found != reports_.end()) return found->report;
  return reports_.emplace_back(OpenReport{shard, {}}).report;
}

/// Reports of several lanes have no order among each other: parts of one are sent in any.
void SimLanes::report_later(const std::shared_ptr<LaneShard>& shard) {
  ports_.after(std::chrono::microseconds(random_.below(400)), [this, shard] {
    if (shard->retired) return;
    LaneReport& report = report_to(shard);
    LaneReport later;
    std::erase_if(report.quick, [&](const QuickEnd& quick) {
      if (!random_.chance(0.3)) return false;
      later.quick.push_back(quick);
      return true;
    });
    if (random_.chance(0.3)) std::swap(later.ghosts, report.ghosts);
    std::shuffle(report.quick.begin(), report.quick.end(), random_);
    if (!report.empty()) shard->report(std::exchange(report, {}));
    report = std::move(later);
    if (!report.empty()) report_later(shard);
  });
}

}  // namespace dag::sim
