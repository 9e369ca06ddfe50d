// The cell's records: the tasks that exist, how each ended, when the job began and ended; and a summary when
// another leader goes on with the job.

#include <algorithm>

#include "libdag/base/saturating.hpp"
#include "libdag/cell/cell.hpp"
#include "libdag/graph/data_edges.hpp"
#include "libdag/journal/graph_part.hpp"

namespace dag {
namespace {

std::vector<event::TaskClass> classes_of(const detail::Fragment& fragment) {
  std::vector<std::uint64_t> counts(fragment.names.size());
  for (std::uint32_t task = 0; task < fragment.size(); ++task) ++counts[fragment.kind(task).name];
  std::vector<event::TaskClass> classes;
  for (std::size_t name = 0; name < counts.size(); ++name) {
    if (counts[name] > 0) classes.push_back({fragment.names[name], counts[name]});
  }
  return classes;
}

}  // namespace

void Cell::say_begun(Instant now) {
  say({}, {}, now, [&] {
    return event::JobBegan{plan_->name, plan_->graph->size(), retries_, counts_.settled};
  });
  say({}, {}, now, [&] { return event::TasksKnown{true, classes_of(*plan_->graph)}; });
  say_graph(*plan_->graph, {}, nullptr, now);
}

/// Edges for later questions about delays. `growth`: the record of the spawning attempt, if there is one.
void Cell::say_graph(const detail::Fragment& graph, TaskId first, const OutcomeRecord* growth, Instant now) {
  if (!records_.enabled() || !records_.wants_graph()) return;
  const AttemptId attempt = growth == nullptr ? AttemptId{} : growth->attempt;
  GraphPartWriter writer(first, [&](TaskId from, event::GraphPart part) {
    if (growth != nullptr) part.parent = growth->task;
    say(from, attempt, now, [&] { return std::move(part); });
  });
  std::vector<bool> data;
  for (std::uint32_t task = 0; task < graph.size(); ++task) {
    writer.task(graph.name(task));
    const auto in_edges = graph.in_edges(task);
    mark_data_edges(graph, task, data);
    for (std::uint32_t edge = 0; edge < in_edges.size(); ++edge)
      writer.waits_for(in_edges[edge].task(), static_cast<std::uint8_t>(in_edges[edge].kind()), data[edge]);
  }
  writer.finish();
}

/// Records the tasks that another job had done: no home tells of them.
void Cell::say_done(Instant now) {
  if (!records_.enabled()) return;
  for (const auto& [task, growth] : grown_) say_known(growth, now);
  for (const auto& [task, entry] : settled_) {
    if (entry.record.spawned && !grown_.contains(task)) say_known(entry.record, now);
  }
  for (const auto& [task, entry] : settled_) {
    say(task, entry.record.attempt, now,
        [this, &record = entry.record] { return recorded_of(record, std::nullopt); });
  }
  for (const auto& [epoch, known] : first_try_) {
    for (std::uint32_t word = 0; word < known.size(); ++word) {
      if (known[word] != 0) say_finished({{0, word * 64}, known[word]}, {epoch, 1}, now);
    }
  }
}

/// Records the tasks that an attempt spawned: before any of them is settled, perhaps in the same cut.
void Cell::say_known(const OutcomeRecord& growth, Instant now) {
  say(growth.task, growth.attempt, now, [&] {
    spawned_.emplace(growth.first_spawned, growth.spawned);
    return event::TasksKnown{false, classes_of(*growth.spawned)};
  });
  say_graph(*growth.spawned, growth.first_spawned, &growth, now);
}

/// `now`: when it ended, if that is known.
event::Settled Cell::recorded_of(const OutcomeRecord& said, std::optional<Instant> now) const {
  event::Settled settled{said.outcome, {}, said.tries, said.error};
  const detail::Fragment* fragment = plan_->graph.get();
  std::uint32_t index = said.task.index;
  if (said.task.origin != 0) {
    auto part = spawned_.upper_bound(said.task);
    if (part == spawned_.begin()) return settled;
    --part;
    fragment = part->second.get();
    index -= part->first.index;
  }
  if (index >= fragment->size()) return settled;
  settled.name = fragment->name(index);
  const auto deadline = fragment->policy(index).deadline;
  // A skipped task cannot be late. Lateness is unknown to a cell that began with a snapshot, which lacks the
  // time of submission.
  if (now && deadline && options_.submitted && said.outcome != Outcome::skipped) {
    settled.late = std::max(*now - later(*options_.submitted, *deadline), Duration{0});
  }
  return settled;
}

void Cell::say_finished(const message::TaskBits& some, AttemptId attempt, Instant now) {
  event::FinishedTasks many;
  some.each([&](TaskId task) {
    event::Settled one = recorded_of(plain_record({task, attempt}), now);
    const auto place = std::find(many.names.rbegin(), many.names.rend(), one.name);
    if (one.late > Duration{0}) return say(task, attempt, now, [&] { return std::move(one); });
    many.bits |= std::uint64_t{1} << (task.index - some.first.index);
    many.name_of.push_back(static_cast<std::uint8_t>(
        (place == many.names.rend() ? many.names.size()
                                    : static_cast<std::size_t>(many.names.rend() - place) - 1)));
    if (place == many.names.rend()) many.names.push_back(std::move(one.name));
  });
  if (many.bits == 0) return;
  records_.record_finished(
      {now, {options_.self.process, std::nullopt}, state_.job, some.first, attempt, std::move(many)});
}

void Cell::say_over(Instant now) {
  const bool cancelled = state_.cancelled && counts_.cancelled > 0;
  if (const std::uint64_t tolerated = counts_.failures_tolerated(); cancelled || tolerated > 0)
    say({}, {}, now, [&] { return event::JobVerdict{tolerated, cancelled}; });
  say({}, {}, now, [&] {
    return event::JobOver{counts_.finished, counts_.failed, counts_.skipped, counts_.cancelled,
                          state_.stopped};
  });
}

void Cell::say_so_far(Instant now) {
  if (!records_.enabled()) return;
  const auto ended = counts_.finished + counts_.failed + counts_.skipped + counts_.cancelled;
  if (ended == 0) return say_begun(now);
  JobSoFar so_far;
  so_far.job = state_.job;
  const auto add = [&](const OutcomeRecord& of, EventWhat what) {
    const EventPlace here{options_.self.process, std::nullopt};
    so_far.records.push_back({now, here, state_.job, of.task, of.attempt, std::move(what)});
  };
  const auto grew = [&](const OutcomeRecord& growth) {
    if (!growth.spawned) return;
    spawned_.emplace(growth.first_spawned, growth.spawned);
    add(growth, event::TasksKnown{false, classes_of(*growth.spawned)});
    // The journal that had it may be gone with its node.
    say_graph(*growth.spawned, growth.first_spawned, &growth, now);
  };
  add({}, event::TasksKnown{true, classes_of(*plan_->graph)});
  say_graph(*plan_->graph, {}, nullptr, now);
  for (const auto& [task, growth] : grown_) grew(growth);
  for (const auto& [task, entry] : settled_) {
    if (!grown_.contains(task)) grew(entry.record);
  }
  for (const auto& [task, entry] : settled_) {
    event::Settled settled = recorded_of(entry.record, std::nullopt);
    if (settled.outcome == Outcome::finished) {
      ++so_far.finished[settled.name];
    } else {
      add(entry.record, std::move(settled));
    }
  }
  std::vector<std::uint64_t> by_name(plan_->graph->names.size());
  for (const auto& [epoch, known] : first_try_) {
    for (std::uint32_t word = 0; word < known.size(); ++word) {
      message::TaskBits{{0, word * 64}, known[word]}.each(
          [&](TaskId task) { ++by_name[plan_->graph->kind(task.index).name]; });
    }
  }
  for (std::size_t name = 0; name < by_name.size(); ++name) {
    if (by_name[name] > 0) so_far.finished[plan_->graph->names[name]] += by_name[name];
  }
  records_.goes_on(so_far);
  if (done_) say_over(now);
}

}  // namespace dag
