#include "libdag/consensus/replica.hpp"

#include "libdag/base/check.hpp"
#include "libdag/base/checks_itself.hpp"

namespace dag::consensus {

Replica::Replica(const ReplicaOptions& options, Stored stored, Instant now)
    : options_(options), random_(options.seed), vote_(stored.vote), snapshot_(std::move(stored.snapshot)) {
  if (planted(Planted::vote_forgotten)) vote_.candidate.reset();
  entries_.assign(std::make_move_iterator(stored.entries.begin()),
                  std::make_move_iterator(stored.entries.end()));
  if (snapshot_) {
    base_index_ = settled_ = snapshot_->index;
    base_term_ = snapshot_->term;
    effects_.emplace_back(Install{*snapshot_});
  }
  on_disk_ = last_index();
  // Entries of a term prove that this replica was in it, and voted for no other candidate there.
  if (const Term last = term_at(last_index()); last > vote_.term) vote_ = {last, std::nullopt};
  adopt_configuration();
  wait_for_election(now);
  check_invariants();  // The disk may have anything.
}

void Replica::begin(Configuration genesis, Blob state, Instant now) {
  DAG_CHECK(!snapshot_);
  snapshot_ = Snapshot{0, 0, std::move(genesis), std::move(state)};
  adopt_configuration();
  effects_.emplace_back(Install{*snapshot_});
  write_snapshot();
  wait_for_election(now);
}

void Replica::on_message(const Message& message, Instant now) {
  std::visit([&](const auto& one) { heard(one, now); }, message);
}

void Replica::on_time(Instant now) {
  if (role_ == Role::leader) look_for_majority(now);
  if (now < due_) return;
  // Before the first leader there is none to disturb, so a seat that begins a log asks only once.
  if (role_ != Role::leader) return ask_for_votes(vote_.term > 0, false, now);
  if (now >= successor_until_ && !planted(Planted::hands_over_for_ever)) successor_.reset();
  hand_over(now);
  const bool rests = may_rest(now);
  if (!rests) stir(now);
  rests_ = rests;
  ++beat_;
  due_ = now + (rests_ ? options_.rest_heartbeat : options_.heartbeat);
  replicate(now, true);
}

/// Every voter has all of it, but for those that say nothing for so long that they are none any more.
bool Replica::may_rest(Instant now) const {
  if (!quiet_ || !is_fit() || successor_ || !reads_.empty()) return false;
  if (settled_ < last_index() || !configuration_.learners.empty()) return false;
  return std::all_of(configuration_.voters.begin(), configuration_.voters.end(),
                     [&](const Seat& voter) { return match(voter) == last_index() || gives_up(voter, now); });
}

/// The others have as long to say something as if they had just done so.
void Replica::stir(Instant now) {
  if (role_ != Role::leader || !std::exchange(rests_, false)) return;
  for (auto& [seat, progress] : progress_) progress.heard = now;
  due_ = std::min(due_, now + options_.heartbeat);
}

void Replica::on_written(std::uint64_t number, Instant now) {
  written_ = std::max(written_, number);
  for (; !unwritten_.empty() && unwritten_.front().number <= written_; unwritten_.pop_front()) {
    const auto& [of, last, term] = unwritten_.front();
    if (has(last) && term_at(last) == term) on_disk_ = std::max(on_disk_, last);
  }
  for (; !held_.empty() && held_.front().number <= written_; held_.pop_front()) {
    effects_.emplace_back(std::move(held_.front().send));
  }
  if (role_ == Role::candidate && own_vote_ <= written_) {
    if (configuration_.votes(self())) votes_.insert(self());
    count_votes(now);
  }
  if (role_ == Role::leader) settle(now);
}

std::vector<Effect> Replica::take_effects() {
  if (checks_itself) check_invariants();
  return std::exchange(effects_, {});
}

// ---- The log

const Entry& Replica::entry(Index index) const {
  DAG_CHECK(index > base_index_ && index <= last_index());
  return entries_[index - base_index_ - 1];
}

Term Replica::term_at(Index index) const { return index <= base_index_ ? base_term_ : entry(index).term; }

bool Replica::has(Index index) const { return snapshot_ && index >= base_index_ && index <= last_index(); }

/// The configuration that counts at an index which is not before the snapshot, and where it lies.
std::pair<Index, const Configuration*> Replica::configuration_at(Index index) const {
  for (; index > snapshot_->index; --index) {
    if (entry(index).type == EntryType::configuration) return {index, &entry(index).configuration};
  }
  return {snapshot_->index, &snapshot_->configuration};
}

void Replica::adopt_configuration() {
  if (!snapshot_) return;
  const auto [index, configuration] = configuration_at(last_index());
  configuration_ = *configuration;
  configuration_index_ = index;
}

void Replica::compact(Index index, Blob state) {
  DAG_CHECK(snapshot_ && index <= settled_);
  if (index <= snapshot_->index) return;
  snapshot_ = Snapshot{index, term_at(index), *configuration_at(index).second, std::move(state)};
  write_snapshot();
  const Index base = first_kept(index) - 1;
  base_term_ = term_at(base);
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(base - base_index_));
  base_index_ = base;
}

/// The first index to keep when a snapshot covers the entries up to `index`.
Index Replica::first_kept(Index index) const {
  Index first = index + 1;
  std::size_t bytes = 0;
  while (first - 1 > base_index_ && index + 1 - first < options_.entries_kept) {
    bytes += entry_bytes(entry(first - 1));
    if (bytes > options_.bytes_kept) break;
    --first;
  }
  return first;
}

// ---- What leaves

void Replica::send(ProcessId to, Message message) { effects_.emplace_back(Send{to, std::move(message)}); }

/// When all that was written until now is on the disk.
void Replica::send_when_written(ProcessId to, Message message) {
  if (writes_ <= written_) return send(to, std::move(message));
  held_.push_back({writes_, {to, std::move(message)}});
}

void Replica::write(StoredChange change) { effects_.emplace_back(Write{++writes_, std::move(change)}); }

void Replica::write_entries(Index from) {
  DAG_CHECK(from > base_index_ && from <= last_index());
  DAG_CHECK(term_at(from) >= term_at(from - 1));
  DAG_CHECK(term_at(last_index()) <= vote_.term);
  const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(from - base_index_ - 1);
  write(StoredEntries{from, {first, entries_.end()}});
  unwritten_.push_back({writes_, last_index(), term_at(last_index())});
  on_disk_ = std::min(on_disk_, from - 1);
}

void Replica::write_snapshot() {
  write(*snapshot_);
  unwritten_.push_back({writes_, snapshot_->index, snapshot_->term});
}

}  // namespace dag::consensus
