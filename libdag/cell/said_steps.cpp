#include "libdag/cell/said_steps.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"

namespace dag {
namespace {

/// The part of `list` that belongs to a step: from where the one before it ends to where it ends.
template <class T>
auto part_of(T& list, const message::Outcomes& cut, std::size_t step,
             std::uint32_t message::OutcomeStep::*end) {
  const std::size_t first = step == 0 ? 0 : cut.steps[step - 1].*end;
  return std::span(list).subspan(first, cut.steps[step].*end - first);
}

}  // namespace

SaidSteps::SaidSteps(std::shared_ptr<const JobPlan> plan) : plan_(std::move(plan)), streams_(plan_->shards) {}

/// Called when a home reports, since the begin of the job should not wait for a walk over its graph.
void SaidSteps::find_awaited() {
  if (plan_->shards == 1 || !awaited_.empty()) return;
  awaited_.resize(plan_->graph->size() / 64 + 1);
  said_first_.resize(plan_->graph->size());
  plan_->graph->each_edge([&](const detail::Edge& edge, std::uint32_t) {
    if (plan_->shard_of[edge.predecessor] == plan_->shard_of[edge.successor]) return;
    awaited_[edge.predecessor / 64] |= std::uint64_t{1} << edge.predecessor % 64;
  });
}

/// Calls `visit` with the name of each row of a step that other shards wait for.
template <class Visit>
void SaidSteps::each_awaited(const message::Outcomes& cut, std::size_t step, Visit&& visit) const {
  if (awaited_.empty()) return;
  using Step = message::OutcomeStep;
  for (const message::TaskBits& some : part_of(cut.first_try, cut, step, &Step::first_try)) {
    if (some.first.origin != 0 || some.first.index / 64 >= awaited_.size()) continue;
    message::TaskBits{some.first, some.bits & awaited_[some.first.index / 64]}.each([&](TaskId task) {
      visit(OutputName{task, {cut.epoch, 1}});
    });
  }
  for (const OutputName& name : part_of(cut.plain, cut, step, &Step::plain)) {
    if (awaited(name.task)) visit(name);
  }
  for (const OutcomeRecord& said : part_of(cut.records, cut, step, &Step::records)) {
    // A task that only grew is not waited for yet.
    if (said.outcome != Outcome::none && awaited(said.task)) visit(said.name());
  }
}

void SaidSteps::remember(const message::Outcomes& cut, std::size_t step) {
  const std::uint64_t number = cut.first_step + step;
  each_awaited(cut, step, [&](const OutputName& name) {
    if (name.attempt == AttemptId{cut.epoch, 1}) {
      said_first_[name.task.index] = number + 1;
    } else {
      said_[name.task] = {name.attempt, number};
    }
  });
}

void SaidSteps::forget(const message::Outcomes& cut, std::size_t step) {
  each_awaited(cut, step, [&](const OutputName& name) {
    said_first_[name.task.index] = 0;
    said_.erase(name.task);
  });
}

void SaidSteps::say(message::Outcomes outcomes) {
  find_awaited();
  Stream& stream = streams_[outcomes.shard];
  stream.epoch = outcomes.epoch;
  // Settled steps stand, and a home never withdraws them: it cannot know better than the record.
  DAG_CHECK(outcomes.first_step >= stream.taken && outcomes.first_step <= stream.said);
  while (stream.said > outcomes.first_step) {
    message::Outcomes& last = stream.cuts.back();
    forget(last, last.steps.size() - 1);
    stream.rows_waiting -= last.steps.back().rows;
    last.steps.pop_back();
    --stream.said;
    // Its first steps may have been settled.
    if (last.steps.empty() || stream.said == stream.taken) stream.cuts.pop_back();
  }
  if (outcomes.steps.empty()) {
    if (outcomes.first_try.empty() && outcomes.plain.empty() && outcomes.records.empty()) return;
    const auto size = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
    std::uint32_t rows = size(outcomes.plain);
    for (const message::TaskBits& some : outcomes.first_try)
      rows += static_cast<std::uint32_t>(std::popcount(some.bits));
    for (const OutcomeRecord& said : outcomes.records) rows += said.outcome == Outcome::none ? 0 : 1;
    outcomes.steps.push_back({size(outcomes.first_try), size(outcomes.plain), size(outcomes.records),
                              size(outcomes.needs_first), size(outcomes.needs), rows});
  }
  for (std::size_t step = 0; step < outcomes.steps.size(); ++step) {
    remember(outcomes, step);
    stream.rows_waiting += outcomes.steps[step].rows;
  }
  stream.said += outcomes.steps.size();
  stream.cuts.push_back(std::move(outcomes));
}

std::vector<message::Outcomes> SaidSteps::waiting(std::uint32_t shard) const {
  const Stream& stream = streams_[shard];
  std::vector<message::Outcomes> cuts(stream.cuts.begin(), stream.cuts.end());
  for (message::Outcomes& cut : cuts) {
    // Steps of the first cut may have been settled; the last steps of any cut may have been withdrawn.
    const auto gone = static_cast<std::ptrdiff_t>(std::max(stream.taken, cut.first_step) - cut.first_step);
    const message::OutcomeStep begin =
        gone == 0 ? message::OutcomeStep{} : cut.steps[static_cast<std::size_t>(gone) - 1];
    const message::OutcomeStep end = cut.steps.back();
    const auto keep = [](auto& list, std::uint32_t from, std::uint32_t to) {
      list.erase(list.begin() + to, list.end());
      list.erase(list.begin(), list.begin() + from);
    };
    keep(cut.first_try, begin.first_try, end.first_try);
    keep(cut.plain, begin.plain, end.plain);
    keep(cut.records, begin.records, end.records);
    keep(cut.needs_first, begin.needs_first, end.needs_first);
    keep(cut.needs, begin.needs, end.needs);
    cut.steps.erase(cut.steps.begin(), cut.steps.begin() + gone);
    for (message::OutcomeStep& step : cut.steps) {
      step.first_try -= begin.first_try;
      step.plain -= begin.plain;
      step.records -= begin.records;
      step.needs_first -= begin.needs_first;
      step.needs -= begin.needs;
    }
    cut.first_step += static_cast<std::uint64_t>(gone);
  }
  return cuts;
}

void SaidSteps::restore(std::uint32_t shard, Epoch epoch, std::uint64_t taken,
                        std::vector<message::Outcomes> waiting) {
  Stream& stream = streams_[shard];
  stream.epoch = epoch;
  stream.taken = stream.said = taken;
  for (message::Outcomes& outcomes : waiting) say(std::move(outcomes));
}

void SaidSteps::forget(std::uint32_t shard) {
  Stream& stream = streams_[shard];
  for (const message::Outcomes& cut : stream.cuts) {
    for (std::size_t step = 0; step < cut.steps.size(); ++step) {
      if (cut.first_step + step >= stream.taken) forget(cut, step);
    }
  }
  stream = {};
}

bool SaidSteps::chosen(const OutputName& name, const std::vector<std::uint64_t>& limits) const {
  if (!awaited(name.task)) return false;
  const std::uint32_t shard = plan_->shard_of[name.task.index];
  if (name.attempt == AttemptId{streams_[shard].epoch, 1}) {
    const std::uint64_t said = said_first_[name.task.index];
    return said != 0 && said - 1 < limits[shard];
  }
  const auto said = said_.find(name.task);
  return said != said_.end() && said->second.attempt == name.attempt && said->second.step < limits[shard];
}

bool SaidSteps::holds(const message::Outcomes& cut, std::size_t step, const SettledOutcomes& recorded,
                      const std::vector<std::uint64_t>& limits) const {
  using Step = message::OutcomeStep;
  for (const message::NeededFirst& need : part_of(cut.needs_first, cut, step, &Step::needs_first)) {
    message::TaskBits open = need.tasks;
    open.bits &= ~recorded.by_first_try(need.epoch, need.tasks);
    bool every = true;
    open.each([&](TaskId task) { every = every && chosen({task, {need.epoch, 1}}, limits); });
    if (!every) return false;
  }
  const auto needs = part_of(cut.needs, cut, step, &Step::needs);
  return std::all_of(needs.begin(), needs.end(),
                     [&](const OutputName& name) { return recorded.by(name) || chosen(name, limits); });
}

std::uint64_t SaidSteps::first_open(const Stream& stream, std::uint64_t limit,
                                    const SettledOutcomes& recorded,
                                    const std::vector<std::uint64_t>& limits) const {
  for (const message::Outcomes& cut : stream.cuts) {
    const std::uint64_t first = std::max(cut.first_step, stream.taken);
    for (std::size_t step = first - cut.first_step; step < cut.steps.size(); ++step) {
      const std::uint64_t number = cut.first_step + step;
      if (number >= limit) return limit;
      if (!holds(cut, step, recorded, limits)) return number;
    }
  }
  return limit;
}

std::vector<std::uint64_t> SaidSteps::ripe_below(const SettledOutcomes& recorded) const {
  std::vector<std::uint64_t> limits;
  for (const Stream& stream : streams_) limits.push_back(stream.said);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t shard = 0; shard < streams_.size(); ++shard) {
      const std::uint64_t open = first_open(streams_[shard], limits[shard], recorded, limits);
      changed = changed || open != limits[shard];
      limits[shard] = open;
    }
  }
  return limits;
}

void SaidSteps::take(const SettledOutcomes& recorded, const std::function<void(const RipeStep&)>& record) {
  const std::vector<std::uint64_t> limits = ripe_below(recorded);
  using Step = message::OutcomeStep;
  for (std::uint32_t shard = 0; shard < streams_.size(); ++shard) {
    Stream& stream = streams_[shard];
    while (stream.taken < limits[shard]) {
      message::Outcomes& cut = stream.cuts.front();
      const std::size_t step = stream.taken - cut.first_step;
      record({shard, part_of(cut.first_try, cut, step, &Step::first_try),
              part_of(cut.plain, cut, step, &Step::plain), part_of(cut.records, cut, step, &Step::records)});
      forget(cut, step);
      stream.rows_waiting -= cut.steps[step].rows;
      if (++stream.taken == cut.first_step + cut.steps.size()) stream.cuts.pop_front();
    }
  }
}

// ---- Rules

void SaidSteps::check_invariants(const SettledOutcomes& recorded) const {
  const std::vector<std::uint64_t> ripe = ripe_below(recorded);
  for (std::size_t shard = 0; shard < streams_.size(); ++shard) {
    check_stream(streams_[shard]);
    DAG_CHECK(ripe[shard] == streams_[shard].taken);  // No step waits that may be settled.
  }
}

/// The waiting steps follow each other without a gap, behind the settled ones.
void SaidSteps::check_stream(const Stream& stream) {
  std::uint64_t next = stream.taken, rows = 0;
  for (const message::Outcomes& cut : stream.cuts) {
    const bool is_first = &cut == &stream.cuts.front();
    DAG_CHECK(cut.epoch == stream.epoch);
    DAG_CHECK(is_first ? cut.first_step <= next : cut.first_step == next);
    DAG_CHECK(cut.first_step + cut.steps.size() > next);
    for (std::size_t step = next - cut.first_step; step < cut.steps.size(); ++step, ++next)
      rows += cut.steps[step].rows;
  }
  DAG_CHECK(next == stream.said);
  DAG_CHECK(rows == stream.rows_waiting);
}

}  // namespace dag
