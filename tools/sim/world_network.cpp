// Messages between processes: sending, the network's faults, delivery.

#include <algorithm>

#include "libdag/wire/envelope.hpp"
#include "tools/sim/changing_loads.hpp"
#include "tools/sim/world.hpp"

namespace dag::sim {

void World::send(Life from, Life to, const JobMessage& message) {
  if (options_.pace) return send_at_pace(from, to, message);
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
    // A message that was on its way when its sender died may be lost.
    const bool lost_with_sender = random_.chance(0.5);
    events_.after(pause, [this, from, to, arriving, lost_with_sender] {
      if (lost_with_sender && find(from) == nullptr) return;
      deliver(from, to, arriving);
    });
  }
}

void World::take_control(std::uint32_t process, Duration cost, std::function<void()> then) {
  Carried& one = carried[process];
  one.busy_until = std::max(one.busy_until, now()) + cost;
  one.busy += cost;
  events_.at(one.busy_until, std::move(then));
}

void World::send_at_pace(Life from, Life to, const JobMessage& message) {
  const Pace& pace = *options_.pace;
  const auto deliver_it = [this, from, to, message] { deliver(from, to, message); };
  if (from.process == to.process) return take_control(to.process.value, pace.per_message, deliver_it);
  const std::size_t size = wire::size_bytes(wire::Operation(message));
  if (std::holds_alternative<message::JobCreate>(message)) {
    graph_bytes += size;
    return events_.after(Duration{0}, deliver_it);
  }
  const auto seconds = [](double count) {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(count));
  };
  const Duration cost = pace.per_message + seconds(static_cast<double>(size) * pace.seconds_per_byte);
  const Duration on_its_way = pace.latency + seconds(static_cast<double>(size) / pace.bytes_per_second);
  for (const Life end : {from, to}) {
    ++carried[end.process.value].messages;
    carried[end.process.value].bytes += size;
  }
  take_control(from.process.value, cost, [this, to, cost, on_its_way, deliver_it] {
    events_.after(on_its_way,
                  [this, to, cost, deliver_it] { take_control(to.process.value, cost, deliver_it); });
  });
}

JobMessage World::through_bytes(const JobMessage& message) {
  constexpr std::size_t message_bytes_max = std::size_t{1}
                                            << 29;  // Larger messages than a frame go in pieces.
  wire::Envelope envelope;
  envelope.operations = {message};
  const auto frame = wire::encode(envelope, message_bytes_max);
  if (!frame) throw Violation(std::string(name(message)) + " cannot be sent: " + frame.error().what);
  auto arrived = wire::decode(frame->bytes(), message_bytes_max);
  if (!arrived) throw Violation(std::string(name(message)) + " is refused: " + arrived.error().what);
  return std::get<JobMessage>(std::move(arrived->operations.at(0)));
}

void World::trace_message(const char* what, Life from, Life to, const JobMessage& message) {
  if (!options_.trace) return;
  std::string line = std::to_string(now().since_start.count()) + " " + what + " " + to_string(from) + " -> " +
                     to_string(to) + " " + std::string(name(message));
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
        if constexpr (requires { any.first_step; }) {
          line += " from step " + std::to_string(any.first_step) + " of " + std::to_string(any.steps.size());
          for (const OutputName& need : any.needs)
            line += " needs " + to_string(need.task) + to_string(need.attempt);
          for (const auto& one : any.records) add(one.name());
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

void World::deliver(Life from, Life to, const JobMessage& message) {
  trace_.delivered(now(), from, to, message);
  trace_message("at", from, to, message);
  Process* process = find(to);
  if (process == nullptr) return;
  if (stands_still())
    return events_.after(Duration{0}, [this, from, to, message] { deliver(from, to, message); });
  if (waits_in_pause(to.process.value, [this, from, to, message] { deliver(from, to, message); })) return;
  const bool known = knows_the_job(*process, from, message);
  if (find(to) == nullptr) return;
  if (known && hear_message(*process, message)) return;
  const Admission admission = process->job->on_message(from, message);
  if (admission != Admission::deliver && known) count_refused(*process, from, admission);
  if (admission == Admission::wait) note_waiting(*process, from, message);
  take_steps(*process);
}

void World::count_refused(Process& process, Life from, Admission admission) {
  if (process.job->router().is_over()) return;
  ++seen[admission == Admission::wait ? "waited at the door"
         : find(from) == nullptr      ? "refused: from the dead"
                                      : "refused: for an older home"];
}

void World::tell_cell(Process& process, Life from, const JobMessage& message) {
  if (process.replica != nullptr) {
    process.replica->on_message(from, message, clock_of(process));
    drain_replica(process);
  } else if (process.life.process.value == 0) {
    cell_->on_message(from, message, clock_of(0));
    drain_cell();
  }
}

/// Where a copy of the record is, that says it, too. Whoever does not know asks, as NodeActor does.
bool World::knows_the_job(Process& process, Life from, const JobMessage& message) {
  if (process.job->router().is_open()) return true;
  const bool has_it =
      process.replica != nullptr ? process.replica->cell() != nullptr : from.process == process.life.process;
  if (has_it || std::holds_alternative<message::JobCreate>(message)) {
    process.job->open();
    take_steps(process);
    return true;
  }
  const auto* state = std::get_if<message::JobState>(&message);
  if (state == nullptr || (process.asked_in && *process.asked_in >= state->term)) return false;
  process.asked_in = state->term;
  ++seen["asked what the job is"];
  send(process.life, state->cell, message::AskPlan{state->job});
  return false;
}

std::unique_ptr<HomeHere> World::make_home(Process& process, const BeginHome& which) {
  if (!runs(process.life.process.value)) throw Violation("a home at a cell that only records");
  if (which.assign) {
    ++seen["recounted"];
    if (!which.assign->first_try.empty()) ++seen["recorded by name only, and a home died"];
    for (const message::FirstTry& some : which.assign->first_try) {
      for (const message::TaskBits& bits : some.tasks) {
        bits.each([&](TaskId task) { named_only_.insert(task.index); });
      }
    }
  }
  HomeOptions options;
  options.shard = which.shard;
  options.epoch = which.epoch;
  options.self = process.life;
  options.seed = options_.seed + which.shard;
  options.several_processes = options_.processes > 1;
  options.lanes = options_.lanes;
  options.planted = options_.planted.home;
  options.lease = options_.lease;
  options.cut_interval = options_.cut_interval;
  options.spawn_credit = options_.spawn_credit;
  if (options_.digests_behind) options.digest_at_once_bytes_max = 0;
  TrueLoads* placer = nullptr;
  auto placement = placement_of(options, placer);
  // No lanes pass its gate but those played here.
  auto box = std::make_unique<HomeBox>(options, plan_, std::make_shared<SharedRows>(plan_->representation, 0),
                                       sink(), std::move(placement));
  box->placer = placer;
  process.homes[which.shard] = box.get();
  if (options_.rings || options_.by_link) join_soon(process.life, which.shard);
  return box;
}

std::unique_ptr<HomePlacement> World::placement_of(const HomeOptions& home, TrueLoads*& placer) {
  const std::uint64_t seed = options_.seed + 17 * home.shard + home.epoch.count;
  if (options_.stragglers > 0) return true_loads(home.self, seed, placer);
  if (options_.by_finish) return std::make_unique<ChangingLoads>(seed);
  return std::make_unique<Spread>(seed, options_.spread_actors && options_.processes > 1);
}

/// Lanes leave its rows.
void World::end_home(Process& process, const HomeHere& home) {
  const std::uint32_t shard = home.home.options().shard;
  process.homes.erase(shard);
  std::erase_if(process.queue,
                [&](const Work& work) { return work.attempt == nullptr && work.shard == shard; });
}

}  // namespace dag::sim
