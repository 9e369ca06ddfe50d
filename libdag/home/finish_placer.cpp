#include "libdag/home/finish_placer.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace dag {
namespace {

/// Bulk bytes through ZeroMQ ran at 1.2 to 1.6 GB/s on one host, by a prototype.
constexpr double bandwidth_bytes_per_second = 1.2e9;
/// Assumed run time of a queued task whose name has no ended task here.
constexpr Duration run_unknown = std::chrono::milliseconds(1);
/// Above these a queue is as good as endless; their product is far from where durations overflow.
constexpr Duration run_counted_max = std::chrono::hours(1);
constexpr std::uint64_t tasks_counted_max = 1'000'000;
/// Tasks of a name are a class. Tasks for other kinds of devices have names of their own so far.
constexpr KindIndex one_kind{0};

std::vector<event::Candidate> candidates_of(const PlacementQuestion& question) {
  std::vector<event::Candidate> candidates;
  for (const PlacementScore& score : scores_of(question)) {
    candidates.push_back({score.process, score.wait, score.transfer, score.run, to_string(score.misfits)});
  }
  return candidates;
}

RunEstimate told(const DurationEstimate& known) {
  const Duration spread = 2 * known.deviation();
  return {known.mean(), std::max(known.mean() - spread, Duration{0}), known.at_most(), known.observations()};
}

event::Placed why(const PlacementQuestion& question, const PlacementChoice& choice) {
  event::Placed placed{choice.process, std::string(name(choice.rule)), {}};
  if (choice.rule == PlacementRule::earliest_finish) placed.candidates = candidates_of(question);
  return placed;
}

}  // namespace

void FinishPlacer::on_loads(std::vector<LifeLoad> loads) {
  std::sort(loads.begin(), loads.end(), [](const LifeLoad& a, const LifeLoad& b) { return a.life < b.life; });
  known_lives_.clear();
  known_.clear();
  for (LifeLoad& load : loads) {
    if (!known_lives_.empty() && known_lives_.back() == load.life) continue;
    load.devices.process = load.life.process;
    known_lives_.push_back(load.life);
    known_.push_back({std::move(load), 0});
  }
}

void FinishPlacer::on_queue(Life life, LaneQueue queue) {
  Known* const found = known(life, asked_last_);
  if (found == nullptr) return;
  found->load.queue = queue;
  found->given = 0;
}

Life FinishPlacer::place_actor(std::uint32_t actor, const std::vector<Life>& lives,
                               const std::vector<std::uint32_t>& actors_at, const Policy&) {
  return with_fewest_actors(actor, lives, actors_at);
}

PlacedAttempt FinishPlacer::place_attempt(const AttemptToPlace& attempt, const std::vector<Life>& lives,
                                          Life self) {
  Known* const here = known(self, asked_last_);
  const bool alone = lives.empty() || (lives.size() == 1 && lives[0] == self);
  if (here == nullptr || alone) return {self, std::nullopt};
  asked_last_ = static_cast<std::size_t>(here - known_.data());
  const std::optional<Duration> run = predicted(attempt.name, attempt.policy);
  const Duration each = mean_run().value_or(run_unknown);
  const auto candidate = [&](const Known& there) { return candidate_at(there, each, run); };
  PlacementQuestion question{
      needs_of(attempt.policy.needs), attempt.inputs, lending_round_trip, candidate(*here), {}};
  const auto answer = [&](Known& at, const PlacementChoice& choice) {
    ++at.given;
    PlacedAttempt placed{at.load.life};
    if (attempt.explained) placed.why = why(question, choice);
    return placed;
  };
  if (const auto rule = stays_here(question)) return answer(*here, {self.process, *rule});

  const auto ask = [&](std::span<Known* const> others,
                       std::span<PlacementCandidate> candidates) -> std::optional<PlacedAttempt> {
    for (std::size_t i = 0; i < others.size(); ++i) candidates[i] = candidate(*others[i]);
    question.others = candidates;
    const auto choice = choose_process(question);
    if (!choice) return std::nullopt;
    if (choice->process == self.process) return answer(*here, *choice);
    return answer(**std::find_if(others.begin(), others.end(),
                                 [&](const Known* one) { return one->load.life.process == choice->process; }),
                  *choice);
  };
  std::array<Known*, placement_holders_max + placement_sampled> few;
  std::array<PlacementCandidate, few.size()> candidates_of_few;
  std::size_t count = 0;
  const Considered considered = whom_to_consider(self.process, attempt.inputs, lives, random_);
  for (const std::uint32_t place : considered.all()) {
    if (Known* const there = known(lives[place], place)) few[count++] = there;
  }
  if (count == 0) return {self, std::nullopt};
  if (auto placed = ask(std::span(few).first(count), std::span(candidates_of_few).first(count)))
    return *placed;

  // A process outside the sample may have the devices that the task needs.
  std::vector<Known*> everybody;
  for (std::size_t place = 0; place < lives.size(); ++place) {
    Known* const there = lives[place] == self ? nullptr : known(lives[place], place);
    if (there != nullptr) everybody.push_back(there);
  }
  std::vector<PlacementCandidate> candidates(everybody.size());
  // No process has: the home here knows best how to report that.
  return ask(everybody, candidates).value_or(PlacedAttempt{self});
}

Status FinishPlacer::possible(const std::string& name, const Policy& policy, const std::vector<Life>& lives) {
  if (policy.needs == Needs{}) return Done{};
  std::vector<NodeDevices> nodes;
  for (std::size_t place = 0; place < lives.size(); ++place) {
    const Known* const there = known(lives[place], place);
    if (there == nullptr) return Done{};
    nodes.push_back(there->load.devices);
  }
  if (nodes.empty()) return Done{};
  const auto able = able_nodes("'" + name + "'", needs_of(policy.needs), nodes);
  if (!able) return able.error();
  return Done{};
}

std::vector<event::Candidate> FinishPlacer::consider(const AttemptToPlace& attempt,
                                                     const std::vector<Life>& lives, Life self) {
  const Known* const here = known(self, asked_last_);
  if (here == nullptr) return {};
  const std::optional<Duration> run = predicted(attempt.name, attempt.policy);
  const Duration each = mean_run().value_or(run_unknown);
  const auto candidate = [&](const Known& there) { return candidate_at(there, each, run); };
  std::vector<PlacementCandidate> others;
  std::vector<event::Candidate> unheard;
  for (std::size_t place = 0; place < lives.size(); ++place) {
    if (lives[place] == self) continue;
    if (const Known* const there = known(lives[place], place)) {
      others.push_back(candidate(*there));
    } else {
      unheard.push_back({.process = lives[place].process, .misfit = "has not said yet what it has"});
    }
  }
  auto candidates = candidates_of(
      {needs_of(attempt.policy.needs), attempt.inputs, lending_round_trip, candidate(*here), others});
  candidates.insert(candidates.end(), unheard.begin(), unheard.end());
  return candidates;
}

bool FinishPlacer::wants_to_place(const std::string& name, const Policy& policy, bool inputs_here) const {
  return !inputs_here ||
         predicted(name, policy).value_or(Duration{0}) >= short_run_round_trips * lending_round_trip;
}

bool FinishPlacer::keeps(const std::vector<PlacementInput>& inputs, Life thief, Life self) {
  const std::uint64_t missing = missing_bytes(inputs, thief.process);
  const Known* const here = known(self, asked_last_);
  if (missing == 0 || here == nullptr) return false;
  const double under_way = static_cast<double>(missing) / bandwidth_bytes_per_second;
  const auto waits_longer = [under_way](Duration wait) {
    return std::chrono::duration<double>(wait).count() >= under_way;
  };
  if (waits_longer(wait_at(*here, mean_run().value_or(run_unknown)))) return false;
  // A task queued behind stragglers waits as long again, however short tasks of its name are.
  return !busy_for_ || !waits_longer(busy_for_());
}

void FinishPlacer::ran(const std::string& name, Duration ran, bool bound) {
  const TaskClass next{static_cast<std::uint32_t>(classes_.size())};
  const bool full = classes_.size() == DurationPredictor::classes_max;
  const auto found = full ? classes_.find(name) : classes_.try_emplace(name, next).first;
  if (found != classes_.end()) predictor_.observe(found->second, one_kind, ran);
  if (!bound) any_.observe(ran);
}

std::optional<RunEstimate> FinishPlacer::estimate(const std::string& name, const Policy& policy) const {
  const auto found = classes_.find(name);
  if (found != classes_.end()) {
    if (const auto known = predictor_.estimate(found->second, one_kind)) return told(*known);
  }
  if (!policy.takes) return std::nullopt;
  return RunEstimate{*policy.takes, *policy.takes, *policy.takes};
}

std::optional<RunEstimate> FinishPlacer::estimate_of_all() const {
  return any_.observations() == 0 ? std::nullopt : std::optional(told(any_));
}

std::optional<Duration> FinishPlacer::mean_run() const {
  if (any_.observations() == 0) return std::nullopt;
  return std::min(any_.mean(), run_counted_max);
}

FinishPlacer::Known* FinishPlacer::known(Life life, std::size_t near) {
  if (near < known_lives_.size() && known_lives_[near] == life) return &known_[near];
  const auto found = std::lower_bound(known_lives_.begin(), known_lives_.end(), life);
  if (found == known_lives_.end() || *found != life) return nullptr;
  return &known_[static_cast<std::size_t>(found - known_lives_.begin())];
}

std::optional<Duration> FinishPlacer::predicted(const std::string& name, const Policy& policy) const {
  const auto found = classes_.find(name);
  if (found == classes_.end()) return policy.takes;
  return predictor_.predict(found->second, one_kind, policy.takes);
}

PlacementCandidate FinishPlacer::candidate_at(const Known& there, Duration each,
                                              std::optional<Duration> run) const {
  return {&there.load.devices, wait_at(there, each), run, bandwidth_bytes_per_second};
}

Duration FinishPlacer::wait_at(const Known& there, Duration each) const {
  const std::uint32_t lanes = std::max(there.load.lanes, 1u);
  const auto all_of_them = [&](std::uint64_t tasks) {
    return each * static_cast<Duration::rep>(std::min(tasks, tasks_counted_max)) / lanes;
  };
  if (there.load.backlog > Duration{0}) return there.load.backlog / lanes + all_of_them(there.given);
  const std::uint64_t before = std::uint64_t{there.load.queue.tasks_ready} + there.given;
  return before < there.load.queue.lanes_free ? Duration{0}
                                              : all_of_them(before - there.load.queue.lanes_free + 1);
}

}  // namespace dag
