// Election of a leader: requests for votes, votes, and hand-over of leadership.

#include <limits>

#include "libdag/consensus/replica.hpp"

namespace dag::consensus {

/// Whether a seat's word counts.
bool Replica::counts(const Seat& seat) const {
  if (planted(Planted::learners_vote)) return configuration_.has(seat);
  if (planted(Planted::new_disk_votes)) {
    return std::any_of(configuration_.voters.begin(), configuration_.voters.end(),
                       [&](const Seat& voter) { return voter.node == seat.node; });
  }
  return configuration_.votes(seat);
}

/// A seat that just cannot hear the leader must not disturb the others (thesis 4.2.3).
bool Replica::follows_a_leader(Instant now) const {
  return role_ == Role::leader || (leader_ && now - heard_leader_ < patience());
}

bool Replica::has_all(Index last_index_there, Term last_term_there) const {
  if (planted(Planted::any_log_gets_votes)) return true;
  const Term last_term = term_at(last_index());
  return last_term_there != last_term ? last_term_there > last_term : last_index_there >= last_index();
}

/// A removed seat may lead until the removal is settled: it may be the only one that knows (thesis 4.2.2). A
/// learner may lead: a leader that is lost for good may have left its last entries only there, and then a
/// learner votes for no seat that lacks them. Both lead until an entry is settled, and no longer.
bool Replica::may_lead() const {
  if (!snapshot_) return false;
  if (configuration_.has(self())) return true;
  if (planted(Planted::removed_does_not_lead)) return false;
  return configuration_index_ > settled_ && configuration_at(configuration_index_ - 1).second->votes(self());
}

/// Voters try first; leaving voters and non-voters wait for longer.
void Replica::wait_for_election(Instant now) {
  const auto spread = static_cast<std::uint64_t>(patience().count());
  const int times = !configuration_.votes(self()) ? 3 : leaving_ ? 2 : 1;
  due_ = now + times * patience() + Duration(random_.below(spread));
}

/// Votes may be split, or refused by seats that have not missed the leader yet. As long as that may be the
/// reason, the candidate asks again soon: clients would notice another election timeout.
void Replica::wait_for_votes(Instant now) {
  wait_for_election(now);
  const bool just_lost = now - heard_leader_ < 3 * options_.election_timeout;
  if (!just_lost || leaving_ || !configuration_.votes(self())) return;
  due_ = now + options_.heartbeat +
         Duration(random_.below(2 * static_cast<std::uint64_t>(options_.heartbeat.count())));
}

void Replica::on_process_down(ProcessId process, Instant now) {
  if (leader_ != process || role_ == Role::leader) return;
  leader_.reset();
  if (std::exchange(rests_, false)) {
    heard_leader_ = now;  // The leader is not missed yet.
    wait_for_election(now);
  }
  if (!is_fit()) return;
  const auto spread = static_cast<std::uint64_t>(options_.heartbeat.count());
  due_ = std::min(due_, now + Duration(random_.below(spread)));  // Not all at once.
}

void Replica::follow(Term term, std::optional<ProcessId> leader, Instant now) {
  if (role_ == Role::leader) effects_.emplace_back(Follow{term});
  const bool rested = std::exchange(rests_, false);
  if (role_ != Role::follower || rested) wait_for_election(now);
  role_ = Role::follower;
  leader_ = leader;
  successor_.reset();
  reads_.clear();
  progress_.clear();
  if (term <= vote_.term) return;
  vote_ = {term, std::nullopt};
  write(vote_);
}

void Replica::ask_for_votes(bool pre, bool transfer, Instant now) {
  rests_ = false;
  wait_for_votes(now);
  if (!may_lead()) return;
  leader_.reset();
  votes_.clear();
  if (!alone_since_) alone_since_ = now;
  if (disk_full_) return;
  if (vote_.term == std::numeric_limits<Term>::max()) return;  // There is none left to be elected in.
  role_ = pre ? Role::precandidate : Role::candidate;
  AskVote ask{self(), vote_.term + 1, last_index(), term_at(last_index()), pre, transfer};
  if (!pre) {
    vote_ = {ask.term, self().node};
    write(vote_);
    own_vote_ = writes_;
  } else {
    if (configuration_.votes(self())) votes_.insert(self());
  }
  for (const Seat& voter : configuration_.voters) {
    if (voter.node == self().node) continue;
    pre ? send(voter.node, ask) : send_when_written(voter.node, ask);
  }
  count_votes(now);
}

void Replica::count_votes(Instant now) {
  if (votes_.size() < configuration_.quorum()) return;
  role_ == Role::precandidate ? ask_for_votes(false, false, now) : lead(now);
}

/// A seat without a log votes, too: it has promised nothing, and may be needed to settle that it is a voter.
void Replica::heard(const AskVote& ask, Instant now) {
  if (!snapshot_ && planted(Planted::empty_does_not_vote)) return;
  stir(now);  // The candidate has missed this leader.
  VoteAnswer answer{self(), vote_.term, false, ask.pre};
  if (ask.pre) {
    answer.granted =
        ask.term > vote_.term && !follows_a_leader(now) && has_all(ask.last_index, ask.last_term);
    if (answer.granted) answer.term = ask.term;
    return send(ask.from.node, answer);
  }
  if (ask.term < vote_.term) return send(ask.from.node, answer);
  if (!ask.transfer && follows_a_leader(now)) return;
  if (ask.term > vote_.term) follow(ask.term, std::nullopt, now);
  answer.term = vote_.term;
  const bool free = !vote_.candidate || *vote_.candidate == ask.from.node || planted(Planted::votes_twice);
  answer.granted = free && has_all(ask.last_index, ask.last_term);
  if (answer.granted) {
    role_ = Role::follower;
    if (vote_.candidate != ask.from.node) {
      vote_.candidate = ask.from.node;
      write(vote_);
    }
    wait_for_election(now);
  }
  if (planted(Planted::vote_before_written)) return send(ask.from.node, answer);
  send_when_written(ask.from.node, answer);
}

void Replica::heard(const VoteAnswer& answer, Instant now) {
  if (!answer.granted) {
    if (answer.term > vote_.term) follow(answer.term, std::nullopt, now);
    return;
  }
  const bool asked = answer.pre ? role_ == Role::precandidate && answer.term == vote_.term + 1
                                : role_ == Role::candidate && answer.term == vote_.term;
  if (!asked || !counts(answer.from)) return;
  votes_.insert(answer.from);
  count_votes(now);
}

void Replica::heard(const TakeOver& order, Instant now) {
  if (order.term != vote_.term || role_ != Role::follower || !is_fit()) return;
  if (!planted(Planted::told_is_elected)) return ask_for_votes(false, true, now);
  vote_ = {vote_.term + 1, self().node};
  write(vote_);
  lead(now);
}

void Replica::heard(const Outdated& word, Instant now) {
  if (word.term > vote_.term) follow(word.term, std::nullopt, now);
}

void Replica::lead(Instant now) {
  role_ = Role::leader;
  rests_ = false;
  leader_ = self().node;
  alone_since_.reset();
  successor_.reset();
  reads_.clear();
  progress_.clear();
  unwilling_.clear();
  hand_over_at_ = now;
  due_ = now + options_.heartbeat;
  effects_.emplace_back(Lead{vote_.term});
  noop_ = last_index() + 1;
  append({vote_.term, EntryType::noop, {}, {}}, now);
}

void Replica::transfer(ProcessId to, Instant now) {
  if (role_ != Role::leader || successor_ || to == self().node) return;
  stir(now);
  for (const Seat& voter : configuration_.voters) {
    if (voter.node != to) continue;
    successor_ = voter;
    successor_until_ = now + options_.election_timeout;
    if (match(voter) == last_index() || planted(Planted::hands_over_early))
      send(to, TakeOver{self(), vote_.term});
  }
}

void Replica::on_disk_full(bool full, Instant now) {
  disk_full_ = full;
  if (!is_fit()) stir(now);
  hand_over(now);
}

void Replica::on_leaving(bool leaving, Instant now) {
  leaving_ = leaving;
  if (!is_fit()) stir(now);
  hand_over(now);
}

/// Hands over to the heard seat with most entries. One after the other, as seats that are no fitter do not
/// answer; then a pause, in which commands are taken: a log whose leader cannot write goes on if others can.
void Replica::hand_over(Instant now) {
  if (role_ != Role::leader || is_fit() || successor_ || now < hand_over_at_ || settled_ < noop_) return;
  const Seat* best = nullptr;
  for (const Seat& voter : configuration_.voters) {
    if (voter.node == self().node || !hears(voter, now) || unwilling_.contains(voter.node)) continue;
    if (best == nullptr || match(voter) > match(*best)) best = &voter;
  }
  if (best != nullptr) {
    unwilling_.insert(best->node);
    return transfer(best->node, now);
  }
  if (unwilling_.empty()) return;
  unwilling_.clear();
  hand_over_at_ = now + 4 * options_.election_timeout;
}

}  // namespace dag::consensus
