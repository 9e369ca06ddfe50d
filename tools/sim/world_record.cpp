// The checks of a job's record, entry by entry, and of the places of its copies.

#include <algorithm>
#include <set>

#include "tools/sim/world.hpp"

namespace dag::sim {

namespace {

/// L3: after all was calm and everybody was there.
constexpr Duration copied_within = std::chrono::seconds(10);
/// L2: so long after that, or after a process has gone, nobody is elected any more.
constexpr Duration elections_stop_within = std::chrono::seconds(5);

bool has_majority(const consensus::Configuration& all, const std::set<consensus::Seat>& seats) {
  const auto there = std::count_if(all.voters.begin(), all.voters.end(),
                                   [&](const consensus::Seat& one) { return seats.contains(one); });
  return static_cast<std::size_t>(there) >= all.quorum();
}

}  // namespace

/// I2: what is settled as finished was computed from what is settled, and from no other attempts. Of those
/// that nobody says more of than their name, only that all before them has settled.
void World::check_closed(const Cell& cell) {
  const detail::Fragment& graph = *plan_->graph;
  std::vector<std::uint32_t> settled_now;
  std::erase_if(open_in_record_, [&](std::uint32_t task) {
    const auto record = cell.settled({0, task});
    if (!record) return false;
    if (record->outcome == Outcome::finished) settled_now.push_back(task);
    return true;
  });
  for (const std::uint32_t task : settled_now) {
    for (const detail::EdgeEnd before : graph.in_edges(task)) {
      if (open_in_record_.contains(before.task()))
        throw Violation("task " + std::to_string(task) + " is settled, and task " +
                        std::to_string(before.task()) + " before it is not");
    }
    const auto record = cell.settled({0, task});
    if (given_up_.contains({{0, task}, record->attempt}))
      throw Violation("task " + std::to_string(task) + " is settled as what its attempt " +
                      to_string(record->attempt) + " gave, which its home had given up");
    for (const OutputName& input : record->inputs) {
      const auto from = cell.settled(input.task);
      if (input.task.origin == 0 && (!from || from->attempt != input.attempt))
        throw Violation("task " + std::to_string(task) + " is settled on " + to_string(input.task) +
                        to_string(input.attempt) + ", which is not what is settled");
    }
  }
}

/// I5: what a home has given up, as it was lost or came back unrun, does not count any more, unless that home
/// was not the one any more either. I5 asks it of tasks with effects; it is so of all.
void World::note_given_up(const Process& process) {
  for (const OutputName& name : std::exchange(trace_.given_up, {})) {
    const std::uint32_t shard = shard_of(*plan_, name.task);
    const auto here = process.homes.find(shard);
    if (here != process.homes.end() && cell_->state().homes[shard].epoch == here->second->home.epoch())
      given_up_.insert(name);
  }
}

/// I4, L2.
void World::check_leader(const Process& process) {
  const consensus::Replica& log = process.replica->log();
  if (log.role() != consensus::Replica::Role::leader) return;
  const auto [term, first] = led_.try_emplace(log.term(), process.life);
  if (term->second != process.life) throw Violation("two leaders of term " + std::to_string(log.term()));
  if (!first) return;
  const bool hands_over = leads_last_ && drained_ && leads_last_->process.value == *drained_;
  leads_last_ = process.life;
  // A leader that is to go hands over at any time. Kernels may take processes down at any time.
  if (!hands_over && now() > std::max({options_.calm_at, last_up_, last_gone_}) + elections_stop_within)
    throw Violation("somebody was elected long after all was calm");
}

/// I8: a majority of the one and a majority of the next have somebody in common.
void World::check_configuration(const consensus::Configuration& next) {
  if (const auto before = std::exchange(configuration_, next)) {
    // The largest number of the old ones' seats that is no majority of the new, and is one of the old.
    std::set<consensus::Seat> others(before->voters.begin(), before->voters.end());
    for (const consensus::Seat& voter : next.voters) others.erase(voter);
    std::size_t spare = next.voters.size() - next.quorum();  // Whom a majority of the next can do without.
    for (const consensus::Seat& voter : before->voters) {
      if (next.votes(voter) && spare > 0) others.insert(voter), --spare;
    }
    if (has_majority(*before, others))
      throw Violation("of two configurations, one behind the other, each has a majority without the other");
    ++seen["the copies' holders changed"];
  }
}

/// As many have a copy as there should be, of what was settled when it was looked last.
bool World::is_copied() {
  const Process* leader = leading();
  if (leader == nullptr) return false;
  const consensus::Replica& log = leader->replica->log();
  const consensus::Index settled = std::exchange(settled_at_last_look_, log.settled());
  const auto copies = std::count_if(log.configuration().voters.begin(), log.configuration().voters.end(),
                                    [&](const consensus::Seat& voter) {
                                      return processes_[voter.node.value]->up &&
                                             (voter == log.self() || log.match(voter) >= settled);
                                    });
  std::size_t seats = options_.cell_runs ? options_.processes : options_.replicas;
  if (drained_ && *drained_ < seats) --seats;
  const std::size_t wanted = consensus::copies_for(options_.replicas, seats);
  const bool stays =
      wanted == options_.replicas && drained_ && log.configuration().votes({ProcessId{*drained_}, 1});
  return static_cast<std::size_t>(copies) >= wanted && !stays;
}

std::string World::who_has_copies() {
  const Process* leader = leading();
  if (leader == nullptr) return ": nobody leads";
  const consensus::Replica& log = leader->replica->log();
  std::string text =
      ": " + to_string(leader->life) + " leads, and has settled " + std::to_string(log.settled());
  for (const consensus::Seat& voter : log.configuration().voters) {
    text += ", " + std::to_string(voter.node.value) + (processes_[voter.node.value]->up ? "" : " (down)") +
            " votes and has " + std::to_string(log.match(voter));
  }
  for (const consensus::Seat& learner : log.configuration().learners)
    text += ", " + std::to_string(learner.node.value) + " learns";
  return text;
}

/// L3.
void World::look_who_has_copies() {
  if (!options_.until_copied || now() < options_.calm_at) return;
  if (is_copied()) {
    copied_at_ = now();
    copied_ = copied_ || ended_;
  } else if (now() > std::max({options_.calm_at, last_up_, copied_at_}) + copied_within) {
    throw Violation("there are fewer copies than there should be long after all was calm" + who_has_copies());
  }
}

}  // namespace dag::sim
