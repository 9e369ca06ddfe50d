// Reasons for the places of rows, for people. Reads the home's data; changes nothing.

#include <algorithm>

#include "libdag/home/home_impl.hpp"

namespace dag {
namespace {

/// Candidates are made for so many: with many nodes they are long.
constexpr std::size_t with_candidates_max = 4;

/// Predecessors that a line names.
constexpr std::size_t named_max = 3;

/// Order of rows that have not ended: the states that people look for come first.
int rank_of(RowState state) {
  switch (state) {
    case RowState::held:
      return 0;
    case RowState::running:
    case RowState::lent:
      return 1;
    case RowState::ready:
      return 2;
    case RowState::waiting:
      return 3;
    case RowState::ended:
      break;
  }
  return 5;
}

}  // namespace

/// The task that a row waits for without an edge: the one it became when its kernel returned, or, for a call,
/// the call of the same job actor whose turn it is.
RowIndex Home::Impl::waits_behind(RowIndex row) const {
  const RowState at = word(row).state;
  if (at == RowState::held && is_call(row)) {
    const RowIndex first = calls.actor_of(row).next_call();
    return first == row ? no_row : first;
  }
  if ((at != RowState::running && at != RowState::lent) || dispatched.contains(row)) return no_row;
  const Fact* known = fact(row);
  return known == nullptr ? no_row : known->becomes;
}

/// As people see it.
RowState Home::Impl::told_state(RowIndex row) const {
  return waits_behind(row) == no_row ? word(row).state : RowState::waiting;
}

/// In one line.
std::string Home::Impl::why(RowIndex row) const {
  if (is(row, flag::vanished)) return "vanished: another attempt of its parent counts";
  const Word word = this->word(row);
  if (const RowIndex other = waits_behind(row); other != no_row) {
    if (word.state == RowState::held)
      return "waits for its turn: " + describe(other) + " is before it at its job actor";
    return "becomes " + describe(other) + ", which it spawned";
  }
  switch (word.state) {
    case RowState::waiting: {
      if (recounting()) return "waits for reports of the other processes after a loss";
      std::string text = "waits for";
      std::size_t open = 0;
      each_in(row, [&](detail::EdgeKind, RowIndex predecessor, std::uint32_t) {
        if (!has_ended(predecessor) && ++open <= named_max)
          text += (open == 1 ? " " : ", ") + describe(predecessor);
      });
      if (open > named_max) text += " and " + std::to_string(open - named_max) + " more";
      return text;
    }
    case RowState::held:
      return why_held(row);
    case RowState::ready:
      return "is ready: waits for a lane";
    case RowState::running:
      return "runs here";
    case RowState::lent:
      if (const auto out = dispatched.find(row); out != dispatched.end()) {
        const std::string at = "dispatched to " + to_string(out->second.runner.process);
        return crashes.runs_alone(row) ? at + ", to run with nothing beside it: " + crashes.why_alone(row)
                                       : at;
      }
      return "becomes a task that it spawned";
    case RowState::ended:
      return std::string(name(word.outcome)) +
             (is(row, flag::settled)     ? ", settled"
              : digests.awaits(row)      ? ", waits for its digest"
              : outputs.awaits_copy(row) ? ", waits until its output has a second copy"
              : is(row, flag::parked)    ? ", waits until its inputs are settled"
              : is(row, flag::sent)      ? ", being settled"
              : is(row, flag::noted)     ? ", to be settled"
                                         : ", by a lane that has not reported it");
  }
  return "";
}

/// Calls run where their job actor lives. Empty: the call has ended, or the actor has no place yet.
std::string Home::Impl::where_called(RowIndex row) const {
  if (!is_call(row) || has_ended(row)) return "";
  const std::optional<Life>& place = objects.place_of(row);
  if (!place) return "";
  return "; its job actor lives at " + to_string(place->process) +
         ", which had the fewest job actors of this home";
}

std::string Home::Impl::why_held(RowIndex row) const {
  switch (notes[row].held_for) {
    case HeldFor::nothing:
      break;
    case HeldFor::pause:
      return "waits for its next attempt";
    case HeldFor::failure_settled:
      return "waits until its failure is settled";
    case HeldFor::start_settled:
      return "waits until its start is settled";
    case HeldFor::slot:
      return "waits: too many tasks with a settled start run";
    case HeldFor::lease:
      return "waits until the lease of a lost process has expired";
    case HeldFor::stopped_attempt:
      return "waits until its stopped attempt has ended";
    case HeldFor::credit:
      return "waits until more spawned tasks are settled";
    case HeldFor::save_settled:
      return "waits until the save before it is settled and has its copies";
    case HeldFor::group:
      return "waits for another member of its group '" + groups.name_of(row) + "', which is retried";
    case HeldFor::settled_inputs:
      return which_settled(row);
    case HeldFor::actors_turn:
      return why_not_called(row);
  }
  return "held";
}

/// Rows wait for settled inputs for different reasons.
std::string Home::Impl::which_settled(RowIndex row) const {
  if (is(row, flag::member))
    return "is in the group '" + groups.name_of(row) + "': waits until its inputs are settled";
  if (table.policy_of(table[row]).effects == Effects::pure) return "waits until its parent is settled";
  return "has effects: waits until its inputs are settled";
}

/// The reason why a call does not run although it is the next one.
std::string Home::Impl::why_not_called(RowIndex row) const {
  if (objects.lacks_state(row)) return "waits until its job actor is restored";
  return objects.is_busy(row) ? "waits for its job actor, which is busy" : "held";
}

/// True: the task failed, or a try of it did.
bool Home::Impl::went_wrong(RowIndex row) const {
  if (word(row).state == RowState::ended && word(row).outcome == Outcome::failed) return true;
  return retries.charged(row) > 0;
}

TaskExplained Home::Impl::explained(RowIndex row, bool with_candidates, Instant at) const {
  const Row& about = table[row];
  const Word word = this->word(row);
  const Policy& policy = table.policy_of(about);
  TaskExplained one;
  one.task = table.id(row);
  one.name = table.name_of(about);
  one.state = told_state(row);
  one.outcome = word.state == RowState::ended ? word.outcome : Outcome::none;
  one.attempt = word.attempt == 0 && word.state != RowState::ended ? AttemptId{} : attempt_of(row);
  one.why = why(row);
  if (const auto due = retries.pause_over_at(row); due && is_held_for(row, HeldFor::pause))
    one.why += ", in " + text_of(std::max(*due - at, Duration{0}));
  one.why += where_called(row);
  if (one.why.size() > why_bytes_max) one.why.resize(why_bytes_max);
  one.failures = retries.charged(row);
  one.usual = placement->estimate(one.name, policy);
  one.needs = needs_of(policy.needs);
  one.priority = policy.priority;
  if (word.state == RowState::ended) {
    if (const Fact* known = fact(row)) one.error = known->error;
  } else if (const Error* failed = retries.newest_failure(row)) {
    one.error = *failed;
  } else if (const message::Crashed* crashed = crashes_of(state, one.task)) {
    one.error = Error{ErrorCode::process_crashed, "crashed its process: " + crashed->what};
  }
  each_in(row, [&](detail::EdgeKind, RowIndex predecessor, std::uint32_t) {
    if (has_ended(predecessor) || word.state != RowState::waiting) return;
    if (++one.waits_for_all <= waits_for_max) one.waits_for.push_back(table.id(predecessor));
  });
  if (const RowIndex other = waits_behind(row); other != no_row) {
    one.waits_for = {table.id(other)};
    one.waits_for_all = 1;
  }
  const bool not_begun =
      word.state == RowState::waiting || word.state == RowState::held || word.state == RowState::ready;
  if (with_candidates && not_begun) one.candidates = consider(row);
  return one;
}

void Home::count_held(HeldSum& sum) const {
  const RowTable& table = impl_->table;
  const std::string unnamed;
  for (RowIndex row = 0; row < table.size(); ++row) {
    if (const Blob output = table[row].output.load())
      sum.add(table[row].ghost ? unnamed : table.name_of(table[row]), output);
  }
}

std::string Home::explain(TaskId task) const {
  const RowIndex row = impl_->table.find(task);
  if (row == no_row || impl_->table[row].ghost) return "is not of this shard";
  return impl_->why(row);
}

void Home::explain(const TaskSelector& wanted, Instant at, ProcessExplained& to) const {
  const Impl& home = *impl_;
  std::vector<std::pair<int, RowIndex>> found;
  const auto add = [&](RowIndex row) {
    if (wanted.failed && !home.went_wrong(row)) return;
    const RowState told = home.told_state(row);
    ++to.counts[static_cast<std::size_t>(told)];
    const bool went_wrong = told == RowState::ended && home.word(row).outcome == Outcome::failed;
    found.emplace_back(went_wrong ? 4 : rank_of(told), row);
    if (found.size() < 2 * explained_max) return;
    std::stable_sort(found.begin(), found.end());
    found.resize(explained_max);
  };
  if (wanted.name.empty() && !wanted.range && !wanted.tasks.empty()) {
    for (const TaskId task : wanted.tasks) {
      const RowIndex row = home.table.find(task);
      if (row != no_row && !home.table[row].ghost && !home.is(row, flag::vanished)) add(row);
    }
  } else {
    for (RowIndex row = 0; row < home.table.size(); ++row) {
      const Row& about = home.table[row];
      if (about.ghost || home.is(row, flag::vanished)) continue;
      if (wanted.takes(home.table.id(row), home.table.name_of(about))) add(row);
    }
  }
  std::stable_sort(found.begin(), found.end());
  for (const auto& [rank, row] : found) {
    if (to.tasks.size() == explained_max) break;
    to.tasks.push_back(home.explained(row, to.tasks.size() < with_candidates_max, at));
  }
  home.explain_lanes(to);
}

/// Adds names and usual run times to lanes' attempts of rows of this home, and the run time of all tasks.
void Home::Impl::explain_lanes(ProcessExplained& to) const {
  if (!to.runs) to.runs = placement->estimate_of_all();
  for (RunningNow& running : to.running) {
    const RowIndex row = table.find(running.task);
    if (row == no_row || table[row].ghost) continue;
    running.name = table.name_of(table[row]);
    running.usual = placement->estimate(running.name, table.policy_of(table[row]));
  }
}

void Home::critical_path(Instant at, std::optional<PathLeft>& longest) {
  Impl& home = *impl_;
  if (home.over || home.recounting() || home.table.size() > CriticalPath::tasks_max) return;
  if (!home.critical_path.measure(*home.placement, at)) return;
  for (RowIndex row = 0; row < home.table.size(); ++row) {
    if (home.table[row].ghost || home.is(row, flag::vanished) || home.has_ended(row)) continue;
    const TaskId task = home.table.id(row);
    PathLeft path{Duration{0}, 1, task};
    if (task.origin == 0) {
      const CriticalPath::Way way = home.critical_path.from(task.index);
      path.left = way.left;
      path.tasks = way.tasks;
    } else {
      // Successors of a spawned task are in the graph only where the task that spawned it waits for it.
      path.left =
          home.placement->usual(home.table.name_of(home.table[row]), home.table.policy_of(home.table[row]))
              .value_or(Duration{0});
    }
    if (!longest || std::pair(longest->left, longest->tasks) < std::pair(path.left, path.tasks))
      longest = path;
  }
}

}  // namespace dag
