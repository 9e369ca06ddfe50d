#include "libdag/home/finish_placer.hpp"

#include <algorithm>

namespace dag {
namespace {

/// To lend a row, fetch nothing and hear of its end. Links take 100 us on one host; two actors on each side
/// double it (the thief of actors/node_actor reckons with the same).
constexpr Duration round_trip = std::chrono::microseconds(200);
/// Bulk bytes through ZeroMQ ran at 1.2 to 1.6 GB/s (DESIGN.md section 7).
constexpr double bandwidth_bytes_per_second = 1.2e9;
/// What a task that waits somewhere is taken to need as long as none has ended here.
constexpr Duration run_unknown = std::chrono::milliseconds(1);
/// Beyond these a queue is as good as endless; their product is far from where durations overflow.
constexpr Duration run_counted_max = std::chrono::hours(1);
constexpr std::uint64_t tasks_counted_max = 1'000'000;
/// Tasks of a name are a class. What runs on other kinds of devices has names of its own so far.
constexpr KindIndex one_kind{0};

recorded::Placed why(const PlacementChoice& choice) {
  recorded::Placed placed{choice.process, std::string(name(choice.rule)), {}};
  for (const PlacementScore& score : choice.scores) {
    placed.candidates.push_back(
        {score.process, score.wait, score.transfer, score.run, to_string(score.misfits)});
  }
  return placed;
}

}  // namespace

void FinishPlacer::on_loads(std::vector<LifeLoad> loads) {
  known_.clear();
  for (LifeLoad& load : loads) {
    const Life life = load.life;
    known_[life] = {std::move(load), 0};
  }
}

void FinishPlacer::on_queue(Life life, LaneQueue queue) {
  const auto found = known_.find(life);
  if (found == known_.end()) return;
  found->second.load.queue = queue;
  found->second.given = 0;
}

Life FinishPlacer::place_actor(std::uint32_t, const std::vector<Life>& lives,
                               const std::vector<std::uint32_t>& actors_at, const Policy&) {
  return with_fewest_actors(lives, actors_at);
}

PlacedAttempt FinishPlacer::place_attempt(const AttemptToPlace& attempt, const std::vector<Life>& lives,
                                          Life self) {
  const Known* here = known(self);
  if (here == nullptr) return {self, std::nullopt};
  std::map<ProcessId, Life> life_of;
  std::vector<ProcessId> members;
  for (const Life life : lives) {
    if (life == self || known(life) == nullptr) continue;
    life_of[life.process] = life;
    members.push_back(life.process);
  }
  if (members.empty()) return {self, std::nullopt};

  const std::optional<Duration> run = predicted(attempt.name, attempt.policy);
  const auto candidate = [&](const Known& there) {
    PlacementCandidate one{there.load.devices, wait_at(there), run, bandwidth_bytes_per_second};
    one.node.process = there.load.life.process;
    return one;
  };
  PlacementQuestion question{
      needs_of(attempt.policy.needs), attempt.inputs, round_trip, candidate(*here), {}};
  const auto ask = [&](const std::vector<ProcessId>& processes) {
    question.others.clear();
    for (const ProcessId process : processes)
      question.others.push_back(candidate(*known(life_of.at(process))));
    return choose_process(question);
  };
  auto choice = ask(whom_to_consider(self.process, attempt.inputs, members, random_));
  // Somebody who was not sampled may have what the task needs.
  if (!choice) choice = ask(members);
  // Nobody has: the home here knows best what to say of that.
  if (!choice) return {self, std::nullopt};
  const Life at = choice->process == self.process ? self : life_of.at(choice->process);
  ++known_.at(at).given;
  return {at, why(*choice)};
}

bool FinishPlacer::wants_to_place(const std::string& name, const Policy& policy, bool inputs_here) const {
  return !inputs_here || predicted(name, policy).value_or(Duration{0}) >= short_run_round_trips * round_trip;
}

void FinishPlacer::ran(const std::string& name, Duration ran) {
  const TaskClass next{static_cast<std::uint32_t>(classes_.size())};
  const bool full = classes_.size() == DurationPredictor::classes_max;
  const auto found = full ? classes_.find(name) : classes_.try_emplace(name, next).first;
  if (found != classes_.end()) predictor_.observe(found->second, one_kind, ran);
  any_.observe(ran);
}

std::optional<Duration> FinishPlacer::mean_run() const {
  if (any_.observations() == 0) return std::nullopt;
  return std::min(any_.mean(), run_counted_max);
}

const FinishPlacer::Known* FinishPlacer::known(Life life) const {
  const auto found = known_.find(life);
  return found == known_.end() ? nullptr : &found->second;
}

std::optional<Duration> FinishPlacer::predicted(const std::string& name, const Policy& policy) const {
  const auto found = classes_.find(name);
  if (found == classes_.end()) return policy.takes;
  return predictor_.predict(found->second, one_kind, policy.takes);
}

/// Until a lane there is free for one more.
Duration FinishPlacer::wait_at(const Known& there) const {
  const std::uint32_t lanes = std::max(there.load.lanes, 1u);
  const Duration each = mean_run().value_or(run_unknown);
  const auto all_of_them = [&](std::uint64_t tasks) {
    return each * static_cast<Duration::rep>(std::min(tasks, tasks_counted_max)) / lanes;
  };
  if (there.load.backlog > Duration{0}) return there.load.backlog / lanes + all_of_them(there.given);
  const std::uint64_t before = std::uint64_t{there.load.queue.tasks_ready} + there.given;
  return before < there.load.queue.lanes_free ? Duration{0}
                                              : all_of_them(before - there.load.queue.lanes_free + 1);
}

}  // namespace dag
