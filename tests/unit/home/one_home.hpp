#pragma once
// A lone home; the test plays all other machines.

#include <catch2/catch.hpp>
#include <optional>
#include <vector>

#include "tests/unit/home/scripted.hpp"

namespace dag::test {

/// The home of c's shard alone: c reads a and b of another shard, whose home is played by the test.
struct OneHome {
  explicit OneHome(Representation representation, Effects effects = Effects::pure) {
    Names graph;
    a = graph.task("a"), b = graph.task("b"), c = graph.task("c", {a, b}, effects);
    auto made = std::make_shared<JobPlan>();
    made->job = JobId{7};
    made->graph = std::make_shared<const detail::Fragment>(graph.builder.sealed());
    made->shards = 2;
    made->shard_of = {0, 0, 1};
    made->representation = representation;
    state.job = JobId{7};
    state.version = 1;
    state.lives = {self, other};
    state.homes = {{other, {1, 1}}, {self, {1, 1}}};
    state.cell = other;
    table.emplace(representation);
    HomeOptions options;
    options.shard = 1;
    options.epoch = {1, 1};
    options.self = self;
    options.several_processes = true;
    home.emplace(options, made, *table, gate, records);
    home->begin(state, now);
    look();
  }
  /// An attempt of a or b ended at the other home.
  message::PredecessorEnded ended(TaskId task, AttemptId attempt, std::uint64_t change, std::uint64_t value) {
    message::PredecessorEnded news;
    news.job = JobId{7};
    news.shard = 1;
    news.epoch = {1, 1};
    news.from = 0;
    news.from_epoch = attempt.epoch;
    news.change = change;
    news.record = record(task, attempt, value);
    return news;
  }
  /// Withdraws the end.
  message::NotEnded not_ended(TaskId task, Epoch from_epoch, std::uint64_t change) {
    return {JobId{7}, 1, {1, 1}, 0, from_epoch, change, {message::bit_of(task)}};
  }
  static OutcomeRecord record(TaskId task, AttemptId attempt, std::uint64_t value) {
    OutcomeRecord record;
    record.task = task;
    record.attempt = attempt;
    record.outcome = Outcome::finished;
    record.has_output = true;
    record.value = detail::to_blob(value);
    record.size_bytes = record.value.size_bytes();
    record.digest = digest_of(record.value);
    return record;
  }
  message::Settled settled(TaskId task, AttemptId attempt, std::uint64_t value) {
    message::Settled news = heard(1);
    news.predecessors = {record(task, attempt, value)};
    return news;
  }
  /// The cell has heard so many cuts, and settled nothing.
  message::Settled heard(std::uint64_t outcomes) {
    message::Settled news;
    news.job = JobId{7};
    news.shard = 1;
    news.epoch = {1, 1};
    news.from = position;
    news.to = ++position;
    news.outcomes = outcomes;
    return news;
  }
  void tell(const JobMessage& message) {
    home->on_message(other, message, now);
    look();
  }
  /// An attempt of c ends here: on a lane, or one that was dispatched.
  void end_c(std::uint32_t attempt, std::uint64_t value) {
    AttemptEnd ended;
    ended.task = c;
    ended.id = {{1, 1}, attempt};
    ended.output = detail::to_blob(value);
    const RowIndex row = table->find(c);
    if (made_ready == 0) {
      home->on_ended(ended, now);
    } else {
      if (table->word(row).state == RowState::ready) REQUIRE(table->apply(row, Claimed{}).what == Do::run);
      LaneReport report;
      report.slow.push_back({row, attempt, ended});
      home->on_lanes(report, now);
    }
    look();
  }
  void look() {
    for (HomeEffect& effect : home->take_effects()) {
      if (std::holds_alternative<MakeReady>(effect)) ++made_ready;
      if (auto* start = std::get_if<StartAttempt>(&effect)) started.push_back(start->attempt);
      if (auto* stop = std::get_if<StopAttempt>(&effect)) stopped.push_back({stop->task, stop->id});
      if (auto* message = std::get_if<SendMessage>(&effect)) {
        if (auto* outcomes = std::get_if<message::Outcomes>(&message->message)) sent.push_back(*outcomes);
      }
    }
  }
  std::size_t starts() const { return made_ready + started.size(); }
  std::size_t records_sent() const {
    std::size_t count = 0;
    for (const message::Outcomes& outcomes : sent) {
      count += outcomes.plain.size() + outcomes.records.size();
      for (const message::TaskBits& some : outcomes.first_try) some.each([&](TaskId) { ++count; });
    }
    return count;
  }

  TaskId a, b, c;
  const Life other{ProcessId{2}, Incarnation{1}}, self{ProcessId{1}, Incarnation{1}};
  const Instant now{};
  message::JobState state;
  NullEventSink records;
  Gate gate{0};
  std::optional<RowTable> table;
  std::optional<Home> home;
  std::uint64_t position = 0;
  std::size_t made_ready = 0;
  std::vector<Attempt> started;
  std::vector<OutputName> stopped;
  std::vector<message::Outcomes> sent;
};

inline constexpr AttemptId first{{1, 1}, 1};
inline constexpr AttemptId of_new_home{{1, 2}, 1};

}  // namespace dag::test
