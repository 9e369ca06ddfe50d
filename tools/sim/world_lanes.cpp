// Lanes, and the rings between them.

#include <algorithm>
#include <numeric>

#include "tools/sim/world.hpp"

namespace dag::sim {

/// A lane without credit looks as often whether there is some.
static constexpr Duration wait_for_credit = std::chrono::microseconds(200);

// ---- Rings

void World::make_rings(Life life) {
  for (const auto& other : processes_) {
    if (!other->up || other->life == life || !rings_.may_join(life, other->life)) continue;
    join_after(rings_.soon(), life, other->life);
    join_after(rings_.soon(), other->life, life);
    if (rings_.chance(0.9)) continue;
    // A side finds that the other writes what cannot be; the other side hears of that a little later.
    const Duration pause = std::chrono::milliseconds(3) + 30 * rings_.soon();
    part_after(pause, life, other->life);
    part_after(pause + rings_.soon(), other->life, life);
  }
}

void World::join_after(Duration pause, Life self, Life peer) {
  events_.after(pause, [this, self, peer] {
    if (find(self) == nullptr || find(peer) == nullptr) return;
    rings_.join(self, peer);
    tell_reach(self);
  });
}

void World::part_after(Duration pause, Life self, Life peer) {
  events_.after(pause, [this, self, peer] {
    if (find(self) == nullptr || !rings_.joined(self, peer)) return;
    ++seen["ring given up"];
    rings_.part(self, peer);
    tell_reach(self);
  });
}

void World::join_soon(Life life, std::uint32_t shard) {
  events_.after(Duration{0}, [this, life, shard] {
    Process* mine = find(life);
    if (mine == nullptr || !mine->homes.contains(shard)) return;
    mine->job->on_reach(shard, rings_.reach(life), clock_of(*mine), options_.by_link);
    drain(*mine);
  });
}

void World::tell_reach(Life life) {
  Process* mine = find(life);
  for (auto& [shard, box] : mine->homes) {
    mine->job->on_reach(shard, rings_.reach(life), clock_of(*mine), options_.by_link);
    drain(*mine);
  }
}

bool World::write_ring(Life from, const Route& route, EdgeNews&& news) {
  if (route.way == Way::link) {
    if (is_large(news.value)) return false;
    ++seen["told by a lane through a link"];
    send(from, route.home, as_message(std::move(news), 0));
    return true;
  }
  if (!rings_.joined(from, route.home) && route.home != from) return false;
  if (route.home != from && is_large(news.value) && !options_.shared_memory) return false;
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

void World::read_ring(Life from, Life to, EdgeNews news) {
  Process* process = find(to);
  if (process == nullptr || stands_still()) return;
  if (from != to && !rings_.joined(to, from)) {
    if (rings_.given_up(to, from)) return;
    // The message lies in the ring until somebody here looks.
    events_.after(std::chrono::milliseconds(1), [this, from, to, news = std::move(news)]() mutable {
      read_ring(from, to, std::move(news));
    });
    return;
  }
  if (from != to && is_large(news.value)) {
    ++seen["large output told by a lane"];
    if (rings_.chance(0.1)) {  // The ring cannot be opened.
      const std::uint64_t size_bytes = std::exchange(news.value, {}).size_bytes();
      return deliver(from, to, as_message_without(std::move(news), size_bytes, from));
    }
  }
  const auto found = process->homes.find(news.shard);
  // Now and then the gate is closed, or no lane is there to read.
  if (found == process->homes.end() || rings_.chance(0.05) || !hear_edge(*process, *found->second, news)) {
    ++seen["ring news for a home"];
    deliver(from, to, as_message(std::move(news), digest_at_once()));
  }
}

/// Lets a lane handle the news of an end. False: the news is not for lanes.
bool World::hear_edge(Process& process, HomeBox& box, EdgeNews& news) {
  RowIndex ghost = no_row;
  const Arrival arrival = end_ghost(
      box.table, news, ghost,
      [&](RowIndex ready) {
        process.queue.push_back({news.shard, ready, nullptr});
      },
      [&](RowIndex held) { box.report.decide.push_back(held); },
      is_planted(options_.planted.lanes, PlantedInLanes::old_news));
  if (arrival == Arrival::false_news) throw Violation("a lane told what no lane can mean");
  if (arrival == Arrival::for_home) return false;
  ++seen["ghost ended by a lane"];
  box.report.ghosts.push_back(ghost);
  touched_ = &process;
  report_later(process, box);
  run_lanes(process);
  return true;
}

/// A message that lanes sent to lanes. False: it is for a home, or for nobody.
bool World::hear_message(Process& process, const JobMessage& message) {
  const auto* ended = std::get_if<message::PredecessorEnded>(&message);
  if (ended == nullptr) return false;
  message::PredecessorEnded copy = *ended;
  std::optional<EdgeNews> news = told_by_lane(copy);
  if (!news || (!options_.pace && rings_.chance(0.05))) return false;
  const auto found = process.homes.find(news->shard);
  return found != process.homes.end() && hear_edge(process, *found->second, *news);
}

// ---- Lanes

void World::run_lanes(Process& process) {
  if (!runs(process.life.process.value) && !process.queue.empty()) {
    throw Violation("work at a cell that only records");
  }
  while (process.lanes_busy < options_.lanes && !process.queue.empty() && !process.alone) {
    const std::size_t at = options_.pace ? 0 : random_.below(process.queue.size());
    // The row waits until running rows have ended, and lets none begin; or others have their turn before it.
    const Work& next = process.queue[at];
    if (next.attempt != nullptr && next.attempt->alone && process.lanes_busy > 0) return;
    Work work = std::move(process.queue[at]);
    process.queue.erase(process.queue.begin() + static_cast<std::ptrdiff_t>(at));
    if (work.attempt != nullptr) {
      begin_attempt(process, work);
    } else {
      begin_row(process, work);
    }
  }
}

Duration World::kernel_time() {
  if (options_.pace) return options_.pace->kernel;
  const double dice = random_.unit();
  const Duration usual = std::chrono::microseconds(dice < 0.7    ? 5 + random_.below(200)
                                                   : dice < 0.97 ? random_.below(10'000)
                                                                 : random_.below(200'000));
  return usual + straggles();
}

std::uint32_t World::take_lane(Process& process, TaskId task, AttemptId id, bool alone) {
  if (process.alone || (alone && process.lanes_busy > 0))
    throw Violation("task " + to_string(task) + " runs beside one that has to be alone, or is that one");
  if (alone) ++seen["ran alone"];
  process.alone = alone;
  ++process.lanes_busy;
  std::uint32_t lane = 0;
  while (process.running.contains(lane)) ++lane;
  process.running[lane] = {task, id};
  process.running_since[lane] = process.lanes_changed = now();
  return lane;
}

bool World::leave_lane(Process* process, std::uint32_t lane, const KernelRun& run) {
  if (process == nullptr) return false;
  const std::uint32_t index = process->life.process.value;
  const bool crashes = plan_->quarantine ? run.crashes_always : run.crashes;
  if (crashes && options_.poison && (index != 0 || replicated())) {
    // Some are free where nobody knows who did it. Two homes of the task, one after the other, may both have
    // started it, and some of what it takes down knows nothing of the other.
    if (plan_->quarantine && ++took_down_[run.salt] > 2 * (suspicions_free + quarantined_after))
      throw Violation("a task takes one process down after the other");
    if (took_down_[run.salt] == quarantined_after) ++seen["took two down, where none comes back"];
    LifeEnd end{ProcessEnd::faulted, "signal 11", {}, lane};
    if (riddles_.chance(0.4)) {
      end = {ProcessEnd::killed, "signal 9", {}, std::nullopt};
      ++seen[process->alone ? "killed alone by nobody knows whom" : "killed by nobody knows whom"];
    }
    for (const auto& [other, name] : process->running) {
      end.running.push_back({name.task, name.attempt, other});
      if (end.end == ProcessEnd::killed && other != lane) ++in_company_[name.task];
    }
    ++seen["crashed"];
    // If it led, others have to find out, and to elect one.
    if (replicated() && now() > options_.calm_at) options_.patience += std::chrono::seconds(1);
    if (process->running.size() > 1) ++seen["crashed in company"];
    const Life life = process->life;
    gone(index);
    heard_down(life, end, 0, 20);
    return false;
  }
  --process->lanes_busy;
  process->alone = false;
  process->running.erase(lane);
  process->running_since.erase(lane);
  process->lanes_changed = now();
  return true;
}

void World::begin_row(Process& process, const Work& work) {
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
  const dag::Part& part = box.table.part(about.part);
  const auto salt = detail::from_blob<std::uint64_t>(views.at(0).values[0]);
  check_once(salt, task);
  check_suspect(process, salt, task);
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
  if (!first_began) first_began = now();
  const Duration takes = kernel_time();
  if (options_.stragglers > 0) run->ended.ran = takes;
  events_.after(takes, [this, life = process.life, shard = work.shard, row = work.row, attempt, run, lane] {
    leave_row(life, shard, row, attempt, run, lane);
  });
}

void World::leave_row(Life life, std::uint32_t shard, RowIndex row, std::uint32_t attempt,
                      const std::shared_ptr<KernelRun>& run, std::uint32_t lane) {
  if (waits_for_credit(life, run->ended))
    return events_.after(wait_for_credit, [=, this] { leave_row(life, shard, row, attempt, run, lane); });
  last_ended = now();
  Process* mine = find(life);
  if (!leave_lane(mine, lane, *run)) return;
  const auto found = mine->homes.find(shard);
  if (found != mine->homes.end()) end_row(*mine, *found->second, row, attempt, *run);
  run_lanes(*mine);
}

/// Whether a lane of that process has to wait before it tells what its kernel has spawned. It keeps the lane.
bool World::waits_for_credit(Life life, const AttemptEnd& ended) {
  const Process* mine = find(life);
  if (mine == nullptr || !ended.spawned || mine->state().cancelled || mine->state().ended) return false;
  if (mine->stopped.contains({ended.task, ended.id})) return false;
  SpawnLoad ahead;
  for (const auto& [shard, box] : mine->homes) ahead += box->home.spawned_ahead();
  if (options_.spawn_credit.left(ahead)) return false;
  ++seen["waited for credit"];
  return true;
}

void World::end_row(Process& process, HomeBox& box, RowIndex row, std::uint32_t attempt, KernelRun& run) {
  Row& about = box.table[row];
  const bool quick = run.ended.outcome == Outcome::finished && !run.ended.spawned && about.ends_by_itself;
  if (quick && (options_.pace || !random_.chance(0.05))) {  // Now and then the gate is closed.
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
      const Duration ran = options_.stragglers > 0 ? run.ended.ran : std::chrono::microseconds(1);
      box.report.quick.push_back({row, attempt, ran});
    }
  } else {
    SlowEnd slow{row, attempt, std::move(run.ended)};
    slow.ended.task = box.table.id(row);
    box.report.slow.push_back(std::move(slow));
  }
  report_later(process, box);
}

void World::report_at_pace(Process& process, HomeBox& box) {
  events_.after(options_.pace->report_after, [this, life = process.life, shard = box.home.options().shard] {
    HomeBox& there = *find(life)->homes.at(shard);
    there.report_under_way = false;
    auto report = std::make_shared<LaneReport>(std::exchange(there.report, {}));
    const auto rows = static_cast<Duration::rep>(report->size());
    const Pace& pace = *options_.pace;
    take_control(life.process.value, pace.per_message + pace.per_row * rows, [this, life, shard, report] {
      Process& mine = *find(life);
      mine.job->on_lanes(shard, std::move(*report), clock_of(mine));
      drain(mine);
    });
  });
}

void World::report_later(Process& process, HomeBox& box) {
  if (box.report_under_way) return;
  box.report_under_way = true;
  if (options_.pace) return report_at_pace(process, box);
  events_.after(std::chrono::microseconds(random_.below(400)),
                [this, life = process.life, shard = box.home.options().shard] {
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
                  mine->job->on_lanes(shard, std::move(report), clock_of(*mine));
                  drain(*mine);
                  if (!second.empty()) {
                    events_.after(std::chrono::microseconds(random_.below(300)), [this, life, shard, second] {
                      Process* later = find(life);
                      if (later == nullptr || !later->homes.contains(shard)) return;
                      later->job->on_lanes(shard, second, clock_of(*later));
                      drain(*later);
                    });
                  }
                });
}

void World::save_meanwhile(Life life, const Attempt& attempt, Duration takes) {
  const auto count = static_cast<Duration::rep>(1 + random_.below(4));
  for (Duration::rep i = 1; i <= count; ++i) {
    events_.after(takes * i / (count + 1),
                  [this, life, task = attempt.task, id = attempt.id, state = saved_by(attempt)] {
                    Process* mine = find(life);
                    if (mine == nullptr || mine->stopped.contains({task, id})) return;
                    const Blob bytes = detail::to_blob(state);
                    mine->job->on_checkpoint(task, id, {bytes, digest_of(bytes)});
                    drain(*mine);
                  });
  }
}

void World::begin_attempt(Process& process, const Work& work) {
  const Attempt& attempt = *work.attempt;
  if (process.stopped.contains({attempt.task, attempt.id})) {
    return events_.after(
        Duration{0}, [this, life = process.life, ended = cancelled_end(attempt)] { tell_end(life, ended); });
  }
  executed(attempt.task, attempt.id);
  if (attempt.call == detail::CallKind::ordinary) {
    check_once(detail::from_blob<std::uint64_t>(attempt.blobs.at(0)), attempt.task);
  }
  if (attempt.exclusive) check_exclusive(attempt.task);
  if (!attempt.stands_for) {
    check_effects(detail::from_blob<std::uint64_t>(attempt.blobs.at(0)), attempt.task, attempt.inputs);
  }
  auto run = std::make_shared<KernelRun>();
  const std::vector<detail::ArgumentView> views = argument_views(attempt);
  const std::uint32_t total = std::accumulate(attempt.counts.begin(), attempt.counts.end(), std::uint32_t{0});
  if (total != attempt.blobs.size()) throw Violation("an attempt with other inputs than arguments");
  for (const OutputName& name : attempt.inputs) {
    if (!name.attempt) throw Violation("an attempt names an input that has not ended");
  }
  const bool restores_object = attempt.call == detail::CallKind::create && attempt.restore_from;
  if (!restores_object && attempt.restore_from) {
    ++seen["went on from what was saved"];
    const bool excused =
        std::any_of(attempt.inputs.begin(), attempt.inputs.end(), [&](const OutputName& name) {
          return name.task.origin == 0 && may_vary_unsaid() &&
                 (made_unlike(name.task.index, named_only_) || made_unlike(name.task.index, made_again_));
        });
    if (detail::from_blob<std::uint64_t>(attempt.restore_from) != saved_by(attempt) && !excused) {
      throw Violation("attempt " + to_string(attempt.task) + to_string(attempt.id) +
                      " starts from what was saved with other inputs");
    }
  }
  if (!attempt.stands_for && !restores_object) {
    check_tries(attempt.task, attempt.id, attempt.attempt_number);
  }
  void* self = nullptr;
  void* made = nullptr;
  if (attempt.call == detail::CallKind::create) {
    self = &made;
  } else if (attempt.call != detail::CallKind::ordinary) {
    const auto found = process.actors.find(attempt.actor);
    const bool right = found != process.actors.end() &&
                       (found->second.first == attempt.generation ||
                        is_planted(options_.planted.lanes, PlantedInLanes::generation_ignored));
    if (!right) {
      if (!process.stopped.contains({attempt.task, attempt.id})) ++seen["object not here"];
      run->ended.task = attempt.task;
      run->ended.id = attempt.id;
      run->ended.outcome = Outcome::failed;
      run->ended.error = Error{ErrorCode::output_lost, "the object is not here"};
      const std::uint32_t lane = take_lane(process, attempt.task, attempt.id, attempt.alone);
      events_.after(kernel_time(), [this, life = process.life, run, lane] { end_attempt(life, run, lane); });
      return;
    }
    self = found->second.second.get();
  }
  if (restores_object) {
    ++seen["restored"];
    test::restore_actor(attempt.actor_code.restore, attempt.restore_from, self);
    run->ended.task = attempt.task;
    run->ended.id = attempt.id;
  } else {
    // A run again has no more tries to fail; it succeeded once.
    const std::uint32_t attempt_number = attempt.stands_for ? 1000 : attempt.attempt_number;
    *run =
        run_kernel(program_, attempt.task, attempt.id, attempt.code, attempt.returns, attempt_number, views,
                   self, attempt.predicates, options_.varying && attempt.call == detail::CallKind::ordinary);
  }
  if (made != nullptr) {
    process.actors[attempt.actor] = {attempt.generation, std::shared_ptr<void>(made, [](void* object) {
                                       delete static_cast<test::ActorState*>(object);
                                     })};
  }
  if (attempt.stands_for) {
    ++seen["run again"];
    if (attempt.task.origin == 0) made_again_.insert(attempt.task.index);
  }
  const std::uint32_t lane = take_lane(process, attempt.task, attempt.id, attempt.alone);
  const Duration takes = attempt.exclusive && random_.chance(0.5) ? millis(1, 300) : kernel_time();
  if (options_.stragglers > 0) run->ended.ran = takes;
  if (attempt.checkpoints) save_meanwhile(process.life, attempt, takes);
  events_.after(takes, [this, life = process.life, run, lane] { end_attempt(life, run, lane); });
}

void World::end_attempt(Life life, const std::shared_ptr<KernelRun>& run, std::uint32_t lane) {
  if (waits_for_credit(life, run->ended))
    return events_.after(wait_for_credit, [=, this] { end_attempt(life, run, lane); });
  Process* mine = find(life);
  if (!leave_lane(mine, lane, *run)) return;
  tell_end(life, run->ended);
}

void World::tell_end(Life life, const AttemptEnd& ended) {
  Process* mine = find(life);
  if (mine == nullptr) return;
  if (mine->job->on_ended(ended, clock_of(*mine))) drain(*mine);
  run_lanes(*mine);
}

}  // namespace dag::sim
