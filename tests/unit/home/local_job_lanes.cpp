// The effects of homes and runners, and the lanes and rings that carry them out.

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "libdag/job/edge_news.hpp"
#include "tests/unit/home/local_job.hpp"

namespace dag::test {

// ---- Rings

void LocalJob::read_ring() {
  auto ring = rings_.begin();
  if (options_.shuffled) std::advance(ring, random_.below(rings_.size()));
  const auto [from, to] = ring->first;
  EdgeNews news = std::move(ring->second.front());
  ring->second.pop_front();
  if (ring->second.empty()) rings_.erase(ring);
  Process* process = find(to);
  if (process == nullptr) return;
  const HomesHere& homes = process->job->homes();
  const auto found = homes.find(news.shard);
  // In another order than that of its causes: as if the gate were closed, or no lane there.
  if (found == homes.end() || (options_.shuffled && random_.chance(0.1))) {
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
  process->job->on_lanes(news.shard, std::move(report), now);
  drain(*process);
}

// ---- Effects

void LocalJob::drain_cell() {
  for (CellEffect& effect : cell_->take_effects()) {
    if (auto* message = std::get_if<SendMessage>(&effect)) {
      post(life(0), message->to, std::move(message->message));
    } else if (auto* tell = std::get_if<TellClient>(&effect)) {
      const TaskId task = tell->record.task;
      if (!settled.emplace(task, std::move(*tell)).second) {
        throw std::runtime_error("settled twice: " + to_string(task));
      }
    } else if (auto* end = std::get_if<JobIsOver>(&effect)) {
      job_ended = std::move(*end);
    }
  }
}

void LocalJob::take_steps(Process& process) {
  while (process.up && process.job->step(now)) carry_out(process);
  if (process.up) process.job->check_invariants();
}

void LocalJob::drain(Process& process) {
  carry_out(process);
  take_steps(process);
}

void LocalJob::carry_out(Process& process) {
  for (JobEffect& effect : process.job->take_effects()) {
    carry_out(process, effect);
    if (!process.up) return;
  }
}

void LocalJob::carry_out(Process& process, JobEffect& any) {
  if (std::holds_alternative<LeaseLost>(any)) {
    leases_lost.push_back(process.life);
    kill(process.life.process.value);
  } else if (const auto* ready = std::get_if<OfferRow>(&any)) {
    process.queue.push_back({ready->shard, ready->row, nullptr});
  } else if (auto* start = std::get_if<StartAttempt>(&any)) {
    process.queue.push_back({0, no_row, std::make_shared<Attempt>(std::move(start->attempt))});
  } else if (const auto* stop = std::get_if<StopAttempt>(&any)) {
    process.stopped.insert({stop->task, stop->id});
  } else if (auto* message = std::get_if<SendMessage>(&any)) {
    post(process.life, message->to, std::move(message->message));
  } else if (const auto* said = std::get_if<TellCell>(&any)) {
    cell_->on_message(said->from, said->message, now);
    drain_cell();
  } else if (const auto* began = std::get_if<HomeBegan>(&any); began != nullptr && options_.rings) {
    process.job->on_reach(began->shard, life_of_, now, false);
    carry_out(process);
  } else if (auto* trouble = std::get_if<Troubled>(&any)) {
    troubles.push_back(std::move(*trouble));
  } else if (auto* came = std::get_if<Brought>(&any)) {
    brought[fetching_.at(came->ticket)] = std::move(*came);
  } else if (auto* save = std::get_if<KeepSave>(&any)) {
    kept_saves.emplace_back(process.life, std::move(*save));
  } else if (auto* digest = std::get_if<TakeDigest>(&any)) {
    digests_.emplace_back(process.life, std::move(*digest));
  }
}

bool LocalJob::take_digest() {
  if (digests_.empty() || hold_digests) return false;
  const auto [life, output] = std::move(digests_.front());
  digests_.pop_front();
  if (Process* process = find(life)) {
    process->job->on_digest(output.name, digest_of(output.bytes));
    drain(*process);
  }
  return true;
}

// ---- Lanes

bool LocalJob::lane_has_work() {
  return std::any_of(processes_.begin(), processes_.end(), [&](const Process& process) {
    return std::any_of(process.queue.begin(), process.queue.end(),
                       [&](const Work& work) { return can_run(process, work); });
  });
}

bool LocalJob::run_lane() {
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

AttemptEnd LocalJob::run_kernel(const KernelCall& call) {
  if (!executed_.insert({call.task, call.id}).second) {
    throw std::runtime_error("executed twice: " + to_string(call.task) + to_string(call.id));
  }
  ran.push_back({call.name, call.task, call.id, call.attempt_number, call.at, call.again});
  AttemptEnd ended = kernel_(call);
  ended.task = call.task;
  ended.id = call.id;
  return ended;
}

void LocalJob::run_row(Process& process, const Work& work) {
  Box& box = *process.job->homes().at(work.shard);
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
    AttemptEnd ended = run_kernel({box.table.id(about),
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
        if (route.home != process.life && news.value.size_bytes() > options_.inline_bytes_max) return false;
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
  process.job->on_lanes(work.shard, std::move(report), now);
  drain(process);
}

void LocalJob::save(const std::string& name, std::uint64_t state) {
  for (Process& process : processes_) {
    for (const Work& work : process.queue) {
      if (!process.up || work.attempt == nullptr || work.attempt->name != name || dropped(process, work))
        continue;
      const Blob bytes = detail::to_blob(state);
      process.job->on_checkpoint(work.attempt->task, work.attempt->id, {bytes, digest_of(bytes)});
      return drain(process);
    }
  }
  throw std::runtime_error(name + " does not run");
}

void LocalJob::run_attempt(Process& process, const Attempt& attempt) {
  if (process.stopped.contains({attempt.task, attempt.id})) {
    return end_attempt(process, cancelled_end(attempt));
  }
  const std::vector<detail::ArgumentView> views = argument_views(attempt);
  auto& object = process.objects[attempt.actor];
  void* made = nullptr;
  void* self = attempt.call == detail::CallKind::create ? static_cast<void*>(&made) : object.second.get();
  if (attempt.call == detail::CallKind::call || attempt.call == detail::CallKind::save) {
    if (object.first != attempt.generation) throw std::runtime_error("a call of another making of its actor");
  }
  AttemptEnd ended;
  if (attempt.call == detail::CallKind::ordinary && attempt.restore_from)
    restored[attempt.name].push_back(detail::from_blob<std::uint64_t>(attempt.restore_from));
  const KernelCall call{attempt.task,
                        attempt.id,
                        attempt.name,
                        attempt.attempt_number,
                        attempt.code,
                        attempt.returns,
                        attempt.call,
                        self,
                        static_cast<bool>(attempt.stands_for),
                        views,
                        attempt.predicates,
                        process.life};
  if (attempt.call == detail::CallKind::create && attempt.restore_from) {
    ran.push_back({attempt.name + " restored", attempt.task, attempt.id, 1, process.life, true});
    restore_actor(attempt.actor_code.restore, attempt.restore_from, self);
    ended.task = attempt.task;
    ended.id = attempt.id;
  } else {
    ended = run_kernel(call);
  }
  if (made != nullptr) {
    object = {attempt.generation,
              std::shared_ptr<void>(made, [](void* gone) { delete static_cast<ActorState*>(gone); })};
  }
  end_attempt(process, ended);
}

void LocalJob::end_attempt(Process& process, const AttemptEnd& ended) {
  process.job->on_ended(ended, now);
  drain(process);
}

}  // namespace dag::test
