// The log: how entries come to the others, and when they are settled.

#include "libdag/base/check.hpp"
#include "libdag/consensus/replica.hpp"

namespace dag::consensus {

// ---- The leader

std::optional<Index> Replica::propose(Blob command, Instant now) {
  if (role_ != Role::leader || successor_) return std::nullopt;
  append({vote_.term, EntryType::command, std::move(command), {}}, now);
  return last_index();
}

bool Replica::may_change() const {
  return role_ == Role::leader && !successor_ && (settled_ >= noop_ || planted(Planted::changes_at_once)) &&
         (settled_ >= configuration_index_ || planted(Planted::changes_overlap));
}

bool Replica::change(Configuration to, Instant now) {
  if (!may_change() || to.voters.empty()) return false;
  std::vector<Seat> differ;
  std::set_symmetric_difference(to.voters.begin(), to.voters.end(), configuration_.voters.begin(),
                                configuration_.voters.end(), std::back_inserter(differ));
  if (differ.size() > 1) return false;
  append({vote_.term, EntryType::configuration, {}, std::move(to)}, now);
  return true;
}

bool Replica::read(std::uint64_t number, Instant now) {
  if (role_ != Role::leader) return false;
  stir(now);
  reads_.push_back({number, ++beat_, std::max(settled_, noop_)});
  replicate(now, true);
  answer_reads();
  return true;
}

Index Replica::match(const Seat& seat) const {
  if (seat == self()) return planted(Planted::own_disk_not_waited_for) ? last_index() : on_disk_;
  const auto found = progress_.find(seat);
  return found == progress_.end() ? 0 : found->second.match;
}

bool Replica::hears(const Seat& seat, Instant now) const {
  if (seat == self()) return true;
  const auto found = progress_.find(seat);
  return found != progress_.end() && now - found->second.heard < patience();
}

bool Replica::gives_up(const Seat& seat, Instant now) const {
  const auto found = progress_.find(seat);
  return found != progress_.end() &&
         now - found->second.heard >= std::max(options_.given_up_after, patience());
}

void Replica::append(Entry entry, Instant now) {
  stir(now);
  entries_.push_back(std::move(entry));
  if (entries_.back().type == EntryType::configuration) adopt_configuration();
  write_entries(last_index());
  replicate(now, false);
  settle(now);
}

/// Sends each seat its outstanding entries; with `beat` at least a sign of life.
void Replica::replicate(Instant now, bool beat) {
  std::erase_if(progress_, [&](const auto& one) { return !configuration_.has(one.first); });
  const auto to_all = [&](const std::vector<Seat>& seats) {
    for (const Seat& seat : seats) {
      if (seat.node == self().node) continue;
      // Not heard of yet: has as long to say something as one that was.
      const auto [at, added] = progress_.try_emplace(seat, Progress{.next = settled_ + 1, .heard = now});
      replicate_to(seat, at->second, beat || added, now);
    }
  };
  to_all(configuration_.voters);
  to_all(configuration_.learners);
}

void Replica::replicate_to(const Seat& seat, Progress& progress, bool beat, Instant now) {
  if (progress.snapshot_index || progress.next <= base_index_) {
    if (progress.snapshot_index != snapshot_->index) {
      progress.snapshot_index = snapshot_->index;
      progress.snapshot_has = progress.snapshot_said = progress.snapshot_sent = 0;
      progress.snapshot_moved = now;
      return send_pieces(seat, progress);
    }
    if (!beat) return;
    if (now - progress.snapshot_moved < options_.election_timeout) {
      return send_piece(seat, progress.snapshot_has, 0);  // A sign of life.
    }
    // The pieces on their way are lost, or the follower was restarted and has less than before.
    progress.snapshot_sent = progress.snapshot_has = progress.snapshot_said;
    progress.snapshot_moved = now;
    return send_pieces(seat, progress);
  }
  Append append{self(), vote_.term, progress.next - 1, term_at(progress.next - 1), {}, settled_,
                beat_,  rests_};
  std::size_t bytes = 0;
  while (progress.next <= last_index() && append.entries.size() < options_.entries_per_append_max &&
         bytes < options_.bytes_per_append_max &&
         progress.in_flight_bytes + bytes < options_.bytes_in_flight_max) {
    append.entries.push_back(entry(progress.next++));
    bytes += entry_bytes(append.entries.back());
  }
  if (append.entries.empty() && !beat) return;
  if (bytes > 0) {
    progress.in_flight.emplace_back(progress.next - 1, bytes);
    progress.in_flight_bytes += planted(Planted::flight_counted_twice) ? 2 * bytes : bytes;
  }
  send(seat.node, std::move(append));
}

/// As many as may be on their way.
void Replica::send_pieces(const Seat& seat, Progress& progress) {
  const std::uint64_t size = snapshot_->state.bytes().size();
  const std::uint64_t up_to = std::min(
      size, progress.snapshot_has + options_.snapshot_pieces_in_flight * options_.snapshot_piece_bytes);
  if (size == 0) return send_piece(seat, 0, 0);
  while (progress.snapshot_sent < up_to) {
    send_piece(seat, progress.snapshot_sent, options_.snapshot_piece_bytes);
    progress.snapshot_sent = std::min(size, progress.snapshot_sent + options_.snapshot_piece_bytes);
  }
}

void Replica::send_piece(const Seat& seat, std::uint64_t offset, std::size_t size_max) {
  const std::span<const std::byte> state = snapshot_->state.bytes();
  const std::size_t size = std::min(size_max, state.size() - offset);
  send(seat.node,
       SnapshotPiece{self(), vote_.term, snapshot_->index, snapshot_->term, snapshot_->configuration,
                     state.size(), offset, Blob(state.subspan(offset, size)), beat_});
}

/// The sender's progress, if the answer is for this leader in this term.
Replica::Progress* Replica::progress_of(const Seat& seat, Term term, std::uint64_t beat, Instant now) {
  if (term > vote_.term) {
    follow(term, std::nullopt, now);
    return nullptr;
  }
  if (role_ != Role::leader || term < vote_.term) return nullptr;
  auto found = progress_.find(seat);
  if (found == progress_.end() && planted(Planted::new_disk_votes)) {
    found = std::find_if(progress_.begin(), progress_.end(),
                         [&](const auto& one) { return one.first.node == seat.node; });
  }
  if (found == progress_.end()) return nullptr;
  found->second.heard = now;
  found->second.beat = std::max(found->second.beat, beat);
  return &found->second;
}

void Replica::heard(const AppendAnswer& answer, Instant now) {
  Progress* progress = progress_of(answer.from, answer.term, answer.beat, now);
  if (progress == nullptr) return;
  if (answer.empty) {
    progress->send_from(0);
  } else if (answer.matches) {
    progress->again_from.reset();
    progress->has_up_to(answer.index);
    if (progress->snapshot_index && answer.index >= *progress->snapshot_index) {
      progress->snapshot_index.reset();
      progress->send_from(answer.index + 1);
    }
  } else if (!is_on_its_way(*progress, answer.index, now)) {
    progress->send_from(std::max(progress->match, std::min(progress->next - 1, answer.index)) + 1);
    progress->again_from = progress->next - 1;
    progress->again_at = now;
  }
  const Seat seat = answer.from;
  if (progress->match < last_index()) stir(now);
  settle(now);
  if (role_ != Role::leader) return;
  answer_reads();
  if (const auto found = progress_.find(seat); found != progress_.end()) {
    if (successor_ == seat && found->second.match == last_index()) {
      send(seat.node, TakeOver{self(), vote_.term});
    }
    replicate_to(seat, found->second, false, now);
  }
}

/// True: the entries that it reports missing have been sent already. Small messages overtake large ones, and
/// each reports the same gap: if the entries were sent each time, a large one could keep a link busy for
/// longer than a leader may be silent.
bool Replica::is_on_its_way(const Progress& progress, Index has, Instant now) const {
  return progress.again_from && has >= *progress.again_from &&
         now - progress.again_at < options_.election_timeout;
}

void Replica::heard(const SnapshotAnswer& answer, Instant now) {
  Progress* progress = progress_of(answer.from, answer.term, answer.beat, now);
  if (progress == nullptr) return;
  answer_reads();
  if (progress->snapshot_index != answer.index || progress->snapshot_index != snapshot_->index) return;
  const std::uint64_t has = std::min<std::uint64_t>(answer.received_bytes, snapshot_->state.bytes().size());
  progress->snapshot_said = has;
  // Less than before: it has begun anew, or that was overtaken. Sent again at once, each of the pieces would
  // have an answer that is overtaken as easily, and there were more of them each time.
  if (has <= progress->snapshot_has) return;
  progress->snapshot_has = has;
  progress->snapshot_moved = now;
  progress->snapshot_sent = std::max(progress->snapshot_sent, has);
  send_pieces(answer.from, *progress);
}

/// Counts on how many disks entries are (thesis 3.6.2: only of its own term; those before come with them).
void Replica::settle(Instant now) {
  if (role_ != Role::leader) return;
  std::vector<Index> on_disks;
  for (const Seat& voter : configuration_.voters) on_disks.push_back(match(voter));
  if (planted(Planted::learners_vote)) {
    for (const Seat& learner : configuration_.learners) on_disks.push_back(match(learner));
  }
  std::sort(on_disks.begin(), on_disks.end(), std::greater<>());
  std::size_t needed = configuration_.quorum();
  if (planted(Planted::minority_settles) && needed > 1) --needed;
  const Index index = on_disks[needed - 1];
  if (index <= settled_) return;
  if (term_at(index) != vote_.term && !planted(Planted::older_terms_settle)) return;
  settle_up_to(index);
  answer_reads();
  // A leader that is no voter any more leads until that change is settled (thesis 4.2.2).
  if (settled_ >= configuration_index_ && !configuration_.votes(self())) {
    replicate(now, true);
    follow(vote_.term, std::nullopt, now);
  }
}

void Replica::settle_up_to(Index index) {
  while (settled_ < index) {
    ++settled_;
    effects_.emplace_back(Apply{settled_, entry(settled_)});
  }
}

void Replica::answer_reads() {
  if (reads_.empty() || settled_ < noop_) return;
  std::vector<std::uint64_t> beats;
  for (const Seat& voter : configuration_.voters) {
    const auto found = progress_.find(voter);
    beats.push_back(voter == self() ? beat_ : found == progress_.end() ? 0 : found->second.beat);
  }
  std::sort(beats.begin(), beats.end(), std::greater<>());
  const std::uint64_t heard_by_most = beats[configuration_.quorum() - 1];
  while (!reads_.empty() && (reads_.front().beat <= heard_by_most || planted(Planted::reads_unconfirmed)) &&
         reads_.front().index <= settled_) {
    effects_.emplace_back(Readable{reads_.front().number, reads_.front().index});
    reads_.pop_front();
  }
}

/// A leader that is cut off says so, and lets go.
void Replica::look_for_majority(Instant now) {
  std::size_t heard_of = 0;
  for (const Seat& voter : configuration_.voters) heard_of += hears(voter, now) ? 1 : 0;
  if (heard_of >= configuration_.quorum() || planted(Planted::silence_not_noticed)) return;
  alone_since_ = now;
  follow(vote_.term, std::nullopt, now);
}

// ---- The others

/// Whether the message is of a leader that counts; if so it is the one that is followed.
bool Replica::is_followed(const Seat& from, Term term, bool rests, Instant now) {
  if (term < vote_.term && !planted(Planted::old_leaders_heard)) return false;
  if (term > vote_.term || role_ != Role::follower) follow(std::max(term, vote_.term), from.node, now);
  leader_ = from.node;
  rests_ = rests;
  heard_leader_ = now;
  alone_since_.reset();
  wait_for_election(now);
  return true;
}

void Replica::heard(const Append& append, Instant now) {
  if (!is_followed(append.from, append.term, append.rests, now)) {
    if (planted(Planted::older_terms_answered))
      return send(append.from.node, AppendAnswer{self(), vote_.term, false, 0, false, append.beat});
    return send(append.from.node, Outdated{self(), vote_.term});
  }
  AppendAnswer answer{self(), vote_.term, false, 0, false, append.beat};
  if (!snapshot_) {
    answer.empty = true;
    return send(append.from.node, answer);
  }
  // Entries before the beginning of this log are settled, so they are equal.
  const Index skipped = base_index_ > append.previous_index ? base_index_ - append.previous_index : 0;
  const Index previous = append.previous_index + skipped;
  if (skipped == 0 && (!has(previous) || term_at(previous) != append.previous_term)) {
    answer.index = std::min(last_index(), previous - 1);
    if (has(previous)) {  // All of that term here may be wrong.
      while (answer.index > settled_ && term_at(answer.index) == term_at(previous)) --answer.index;
    }
    return send(append.from.node, answer);
  }
  const Index end = std::max(previous, append.previous_index + append.entries.size());
  take_entries(append, skipped);
  settle_up_to(std::min(append.settled, end));
  answer.matches = true;
  answer.index = planted(Planted::ack_before_written) ? end : std::min(end, on_disk_);
  // Entries get a single answer, when they are on the disk. Signs of life are answered meanwhile.
  if (append.entries.empty() || answer.index == end) send(append.from.node, answer);
  if (answer.index == end) return;
  answer.index = end;
  send_when_written(append.from.node, answer);
}

void Replica::take_entries(const Append& append, Index skipped) {
  Index index = append.previous_index + skipped;
  Index changed_from = 0;
  const auto cut_behind = [&](Index last) {
    entries_.resize(last - base_index_);
    if (configuration_index_ > last) adopt_configuration();
  };
  if (planted(Planted::appends_truncate) && index < last_index()) {
    cut_behind(index);
    settled_ = std::min(settled_, index);
    changed_from = index + 1;
  }
  for (std::size_t i = skipped; i < append.entries.size(); ++i) {
    ++index;
    if (has(index) && term_at(index) == append.entries[i].term) continue;
    if (has(index)) cut_behind(index - 1);
    if (changed_from == 0) changed_from = index;
    entries_.push_back(append.entries[i]);
    if (append.entries[i].type == EntryType::configuration) adopt_configuration();
  }
  if (changed_from != 0) write_entries(changed_from);
}

void Replica::heard(const SnapshotPiece& piece, Instant now) {
  if (!is_followed(piece.from, piece.term, false, now))
    return send(piece.from.node, Outdated{self(), vote_.term});
  AppendAnswer whole{self(), vote_.term, true, 0, false, piece.beat};
  if (snapshot_ && piece.index <= settled_ && !planted(Planted::snapshot_cuts_settled)) {
    whole.index = std::min(settled_, on_disk_);
    return send_when_written(piece.from.node, whole);
  }
  const bool goes_on = coming_ && coming_->index == piece.index && coming_->index_term == piece.index_term &&
                       coming_->size_bytes == piece.size_bytes;
  if (!goes_on) {
    coming_ = piece;
    received_.clear();
    ahead_.clear();
    // The announced size is trusted only up to this limit.
    received_.reserve(std::min<std::uint64_t>(piece.size_bytes, 64 * options_.snapshot_piece_bytes));
  }
  const bool next = piece.offset == received_.size();
  const bool further = piece.offset > received_.size() && ahead_.size() < options_.snapshot_pieces_in_flight;
  if (piece.bytes && (next || further)) ahead_.emplace(piece.offset, piece.bytes);
  while (!ahead_.empty() && ahead_.begin()->first <= received_.size()) {
    const auto kept = ahead_.extract(ahead_.begin());
    if (kept.key() != received_.size()) continue;
    const auto bytes = kept.mapped().bytes();
    received_.insert(received_.end(), bytes.begin(), bytes.end());
  }
  if (received_.size() < piece.size_bytes) {
    return send(piece.from.node,
                SnapshotAnswer{self(), vote_.term, piece.index, received_.size(), piece.beat});
  }
  install({piece.index, piece.index_term, piece.configuration, Blob(std::span<const std::byte>(received_))});
  coming_.reset();
  received_ = {};
  ahead_.clear();
  whole.index = piece.index;
  send_when_written(piece.from.node, whole);
}

void Replica::install(Snapshot snapshot) {
  if (planted(Planted::snapshot_forgets_who) && snapshot_) snapshot.configuration = configuration_;
  const bool goes_on = has(snapshot.index) && term_at(snapshot.index) == snapshot.term;
  if (goes_on) {
    entries_.erase(entries_.begin(),
                   entries_.begin() + static_cast<std::ptrdiff_t>(snapshot.index - base_index_));
  } else {
    entries_.clear();
    on_disk_ = 0;
  }
  base_index_ = settled_ = snapshot.index;
  base_term_ = snapshot.term;
  snapshot_ = std::move(snapshot);
  adopt_configuration();
  effects_.emplace_back(Install{*snapshot_});
  write_snapshot();
}

}  // namespace dag::consensus
