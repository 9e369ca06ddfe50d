// The checks of every step, and of the end.

#include <algorithm>

#include "libdag/graph/outcome_rules.hpp"
#include "libdag/supervision/blame.hpp"
#include "tools/sim/world.hpp"

namespace dag::sim {

// ---- Checks

void World::check(const Process& process) const {
  if (process.job != nullptr) process.job->check_invariants();
  for (const auto& [shard, box] : process.homes) check(*box);
}

void World::check(const HomeBox& box) const {
  const RowTable& table = box.table;
  for (RowIndex row = 0; row < table.size(); ++row) {
    const Row& about = table[row];
    const Word word = table.word(row);
    if (about.ghost || word.state == RowState::ended) continue;
    std::uint32_t open = 0;
    const dag::Part& part = table.part(about.part);
    for (const detail::EdgeEnd end : part.fragment->in_edges(about.task)) {
      if (table.word(part.row_of(end.task())).state != RowState::ended) ++open;
    }
    if (word.state == RowState::waiting) {
      // An edge whose predecessor ended on a lane, but is not a strong one, is satisfied a little later.
      if (word.open < open) {
        throw Violation("row " + to_string(table.id(row)) +
                        " has an edge that was satisfied twice: " + std::to_string(word.open) + " open, " +
                        std::to_string(open) + " predecessors to end");
      }
    } else if (open > 0) {
      throw Violation("row " + to_string(table.id(row)) + " was started before its predecessors had ended");
    }
  }
}

void World::check_tries(TaskId task, AttemptId id, std::uint32_t attempt_number) {
  if (!options_.listened) return;
  std::map<AttemptId, std::uint32_t>& known = tries_[task];
  if (const auto over = trace_.started_over.find(task); over != trace_.started_over.end()) {
    known.erase(known.begin(), known.upper_bound(over->second));
    if (id <= over->second) return;
  }
  const auto here = known.emplace(id, attempt_number).first;
  const auto later = std::next(here);
  const bool right = (here == known.begin() || std::prev(here)->second <= attempt_number) &&
                     (later == known.end() || attempt_number <= later->second);
  if (!right) {
    throw Violation("attempt " + to_string(task) + to_string(id) + " is said to be try " +
                    std::to_string(attempt_number) + ", and others of the task say otherwise");
  }
}

/// I11.
void World::check_once(std::uint64_t salt, TaskId task) {
  const Known* known = program_.find(salt);
  if (known == nullptr || known->graph->fragment.policy(known->task).effects != Effects::at_most_once) return;
  ++seen["started once"];
  if (!started_once_.insert(task).second) {
    throw Violation("task " + to_string(task) + " may run only once, and was started twice");
  }
}

/// P7, of what is dispatched, or begun by a lane on its own. What was dispatched before its task came under
/// suspicion runs as it was: the process that went down then had an earlier attempt, which had been taken
/// back and ran on (seed 670540).
void World::check_suspect(const Process& process, std::uint64_t salt, TaskId task) const {
  const Known* known = program_.find(salt);
  const message::Crashed* crashed = message::crashes_of(process.state(), task);
  const bool quarantined = message::suspicions_of(process.state(), task) != nullptr ||
                           (crashed != nullptr && crashed->times >= quarantined_after);
  if (known == nullptr || !quarantined) return;
  const Policy& policy = known->graph->fragment.policy(known->task);
  if (policy.group) return;
  throw Violation("task " + to_string(task) + " may have taken a process down, and runs in company");
}

void World::check_dispatched(const Process& process, const Attempt& attempt) const {
  if (attempt.call != detail::CallKind::ordinary || attempt.alone || attempt.stands_for) return;
  check_suspect(process, detail::from_blob<std::uint64_t>(attempt.blobs.at(0)), attempt.task);
}

/// I9. Also at processes that only the cell takes for dead.
void World::check_exclusive(TaskId task) {
  ++seen["started under a lease"];
  for (const std::unique_ptr<Process>& process : processes_) {
    for (const auto& [lane, name] : process->running) {
      if (process->up && name.task == task)
        throw Violation("task " + to_string(task) + " is exclusive, and runs twice at a time");
    }
  }
}

void World::check_effects(std::uint64_t salt, TaskId task, const std::vector<OutputName>& rests_on) const {
  const Known* known = program_.find(salt);
  if (known == nullptr) return;
  const detail::Fragment& fragment = known->graph->fragment;
  const Policy& policy = fragment.policy(known->task);
  if (!policy.starts_from_settled()) return;
  for (const OutputName& name : rests_on) {
    if (name.task.origin != 0 && options_.shards == 1) continue;  // The cell does not remember those.
    const auto settled = cell_->settled(name.task);
    if (options_.processes > 1 && (!settled || settled->attempt != name.attempt)) {
      throw Violation("task " + to_string(task) + (policy.group ? " is in a group" : " has effects") +
                      " and was started from " + to_string(name.task) + to_string(name.attempt) +
                      ", which is not settled");
    }
  }
}
void World::on_settled(const TellClient& tell) {
  const TaskId task = tell.record.task;
  const auto told = attempts_.find(task);
  if (told != attempts_.end() && replicated()) {
    // By another leader.
    if (told->second == tell.record.attempt && settled_.at(task).outcome == tell.record.outcome) return;
    throw Violation("task " + to_string(task) + " is settled otherwise than a client was told");
  }
  attempts_[task] = tell.record.attempt;
  if (!settled_.emplace(task, Settled{tell.record.outcome, std::nullopt}).second) {
    throw Violation("task " + to_string(task) + " was settled twice");
  }
  if (!cancel_after.empty()) {
    cell_->cancel({cancel_after.begin(), cancel_after.end()}, clock_of(0));
    cancel_after.clear();
  }
  if (tell.record.outcome != Outcome::finished) return;
  const bool returns = plan_->graph->kind(task.index).returns;
  if (fetched_.contains(task) && returns) return fetch_later(tell);
  if (tell.record.value) {
    settled_[task].value = detail::from_blob<std::uint64_t>(tell.record.value);
    check_value(task);
  } else if (tell.record.digest != 0) {
    check_digest(task, tell.record.digest);
  } else if (const auto known = left_.find({task, tell.record.attempt}); returns && known != left_.end()) {
    settled_[task].value = known->second;  // Recorded by its name only: what that attempt left.
    check_value(task);
  }
}

void World::fetch_later(const TellClient& tell) {
  ++fetches_planned_;
  events_.after(random_.chance(0.5) ? Duration{0} : millis(0, 1000), [this, tell] {
    --fetches_planned_;
    Process* at = replicated() ? leading() : processes_[0].get();
    if (at == nullptr) return fetch_later(tell);
    ++fetches_open_;
    ++seen[ended_ ? "fetched after the end" : "fetched"];
    if (replicated()) fetching_[tell.record.task.index] = {at->life, tell};
    at->job->bring(tell.record.task.index, tell.record, tell.holders, clock_of(*at));
    drain(*at);
  });
}

void World::on_brought(const Brought& brought) {
  if (replicated() && fetching_.erase(brought.name.task.index) == 0) return;
  --fetches_open_;
  const bool honest =
      brought.lost && ((may_vary_unsaid() && brought.lost->code == ErrorCode::not_reproducible) ||
                       (options_.once && brought.lost->code == ErrorCode::output_lost));
  if (honest) {
    stopped_ = brought.lost;  // See check_result. Of a job that had ended the cell does not say it.
    return;
  }
  if (brought.lost) throw Violation("an output was lost: " + brought.lost->message());
  settled_[brought.name.task].value = detail::from_blob<std::uint64_t>(brought.bytes);
  check_value(brought.name.task);
}

bool World::made_unlike(std::uint32_t task, const std::set<std::uint32_t>& again) const {
  if (!again.contains(task)) return false;
  if (varies(program_.graph().tasks[task].salt)) return true;
  const auto in_edges = plan_->graph->in_edges(task);
  return std::any_of(in_edges.begin(), in_edges.end(),
                     [&](const detail::EdgeEnd& end) { return made_unlike(end.task(), again); });
}

void World::check_consistency() const {
  const detail::Fragment& fragment = *plan_->graph;
  for (std::uint32_t task = 0; task < fragment.size(); ++task) {
    const test::RandomTask& kernel = program_.graph().tasks[task];
    if (fragment.kind(task).call != detail::CallKind::ordinary) continue;
    const Settled& settled = settled_.at({0, task});
    std::vector<EdgeResult> edges;
    const auto in_edges = fragment.in_edges(task);
    for (std::uint32_t i = 0; i < in_edges.size(); ++i) {
      const Settled& from = settled_.at({0, in_edges[i].task()});
      EdgeResult result{in_edges[i].kind(), from.outcome, true};
      if (result.kind == detail::EdgeKind::conditional && from.outcome == Outcome::finished) {
        result.condition = test::holds(fragment.predicate(fragment.first_edge[task] + i),
                                       from.value ? detail::to_blob(*from.value) : Blob());
      }
      edges.push_back(result);
    }
    const Decision decision = decide(fragment.policy(task).join, edges, fragment.arguments_of(task));
    const bool ran = settled.outcome == Outcome::finished || settled.outcome == Outcome::failed;
    const bool right = decision == Decision::run    ? ran || kernel.spawns != test::none
                       : decision == Decision::skip ? settled.outcome == Outcome::skipped
                                                    : settled.outcome == Outcome::cancelled;
    if (!right) {
      throw Violation("task " + std::to_string(task) + " settled as " + std::string(name(settled.outcome)) +
                      ", which does not follow from what it rests on");
    }
    const bool becomes =
        kernel.spawns != test::none && program_.graph().spawned[kernel.spawns].becomes != test::none;
    if (settled.outcome != Outcome::finished || !settled.value || becomes) continue;
    std::uint64_t value = kernel.salt;
    bool made_again = made_unlike(task, named_only_);
    for (const detail::Argument& argument : fragment.arguments_of(task).subspan(1)) {
      value = test::mixed(value, argument.count);
      for (std::uint32_t k = 0; k < argument.count; ++k) {
        const std::uint32_t from = in_edges[argument.first + k].task();
        made_again = made_again || made_unlike(from, named_only_);
        const Settled& input = settled_.at({0, from});
        value = test::mixed(value, input.value ? *input.value : test::absent_value);
      }
    }
    if (varies(kernel.salt)) value = varied(value, attempts_.at({0, task}));
    if (value != *settled.value && !made_again) {
      throw Violation("task " + std::to_string(task) +
                      " settled with a value that its settled inputs do not give");
    }
  }
}

void World::check_digest(TaskId task, std::uint64_t digest) const {
  const test::Expected* right = expected(task);
  if (right == nullptr || !right->value) return;
  if (digest != digest_of(detail::to_blob(*right->value))) {
    throw Violation("task " + to_string(task) + " has another digest than the oracle says");
  }
}

void World::check_result() {
  // A value that was used and is gone cannot be had again: that is the honest end of such a job.
  if (may_vary_unsaid() && stopped_ && stopped_->code == ErrorCode::not_reproducible) {
    ++seen["stopped: not reproducible"];
    return;
  }
  if (options_.once && stopped_ && stopped_->code == ErrorCode::output_lost) {
    ++seen["stopped: what may run only once lost its output"];
    return;
  }
  if (stopped_) throw Violation("the job was stopped: " + stopped_->message());
  for (std::uint32_t task = 0; task < plan_->graph->size(); ++task) {
    const auto found = settled_.find({0, task});
    if (found == settled_.end()) throw Violation("task " + std::to_string(task) + " was never settled");
    const test::Expected* right = expected({0, task});
    if (right != nullptr && check_outcomes && found->second.outcome != right->outcome) {
      if (member_was_blamed()) {
        ++seen["a member of a group was taken for who kills"];
        return;
      }
      throw Violation("task " + std::to_string(task) + " was " + std::string(name(found->second.outcome)) +
                      ", the oracle says " + std::string(name(right->outcome)));
    }
  }
  if (options_.varying && options_.inline_bytes_max > 0 && !options_.cancels) check_consistency();
}

/// Suspects that are in a group run in company (nodes/PROMISES.md), so one may fail for what another did, and
/// what rests on it goes another way.
bool World::member_was_blamed() const {
  return std::any_of(in_company_.begin(), in_company_.end(), [&](const auto& one) {
    const auto& [task, times] = one;
    const auto settled = settled_.find(task);
    return times > suspicions_free && settled != settled_.end() &&
           settled->second.outcome == Outcome::failed && plan_->graph->policy(task.index).group.has_value();
  });
}

std::string World::stuck() {
  std::string text;
  for (const auto& process : processes_) {
    if (!process->up) continue;
    text += "\n  " + to_string(process->life) + " state " + std::to_string(process->state().version) + ", " +
            std::to_string(process->job->runner().attempts_now()) + " attempts taken, " +
            std::to_string(process->queue.size()) + " queued, " + std::to_string(process->lanes_busy) +
            " lanes busy, " + std::to_string(process->job->router().waiting()) + " at the door";
    for (const auto& [shard, box] : process->homes) {
      text += "\n    shard " + std::to_string(shard) + " epoch " + to_string(box->home.epoch()) +
              (box->home.recounting() ? " recounting" : "") + ", rows_open " +
              std::to_string(cell_->counts().open);
      for (RowIndex row = 0; row < box->table.size(); ++row) {
        const Row& about = box->table[row];
        if (about.ghost) continue;
        const std::string why = box->home.explain(box->table.id(row));
        if (why.ends_with("settled")) continue;
        text += "\n      " + to_string(box->table.id(row)) + " " + why;
      }
    }
  }
  return text;
}

}  // namespace dag::sim
