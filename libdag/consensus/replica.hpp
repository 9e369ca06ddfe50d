#pragma once
// A copy of a replicated log: Raft (Ongaro, Ousterhout 2014; section numbers below are of Ongaro's thesis),
// with PreVote and check-quorum (9.6, 6.2), membership changes of one seat at a time (4), snapshots (5),
// leadership transfer (3.10) and reads without the log (6.4).
//
// Bound: with 2f+1 voters, settled entries survive any f permanent losses. Safety uses no clock: however late
// `now` is, at most one leader of a term settles anything. Liveness needs a majority whose members hear each
// other within an election timeout.
//
// Promises leave only when they are on the disk: a vote, and the acknowledgement of entries, wait in
// `take_effects` until on_written. With a full disk on_written does not come, so that replica neither votes
// nor counts until there is room. It does not ask for votes either, and hands the logs that it leads to
// another replica, as a leaving one does. A disk is a seat (entry.hpp): a replica that has lost its promises
// does not vote until it has been made a learner, and then a voter, under its new seat.
//
// A log at rest: when its owner expects no more commands and every voter has all of it, signs of life become
// rare, so that a thousand such logs cost a node nothing. Any other message ends the rest. If the leader is
// lost meanwhile, membership reports it (on_process_down); silence alone is tolerated for longer.
//
// Difference from the thesis: a replica without a log is always brought up by a snapshot, if need be by the
// snapshot at index 0, which is the genesis.

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "libdag/base/planted.hpp"
#include "libdag/base/random.hpp"
#include "libdag/base/time.hpp"
#include "libdag/consensus/messages.hpp"
#include "libdag/consensus/stored.hpp"

namespace dag::consensus {

/// For the simulator's own test: the rule that is broken on purpose.
enum class Planted : std::uint8_t {
  nothing,
  vote_before_written,      ///< a vote leaves before it is on the disk
  ack_before_written,       ///< entries are acknowledged before they are on the disk
  own_disk_not_waited_for,  ///< a leader counts itself before its entries are on its disk
  minority_settles,         ///< one copy less than a majority settles
  older_terms_settle,       ///< entries of earlier terms settle like its own (Raft, figure 3.7)
  any_log_gets_votes,       ///< a vote does not depend on the candidate's log
  votes_twice,              ///< a second candidate of a term gets a vote, too
  appends_truncate,         ///< every Append cuts off the entries behind it
  old_leaders_heard,        ///< an Append of an older term is taken
  changes_overlap,          ///< a configuration changes before the last change is settled
  changes_at_once,          ///< a configuration changes before an entry of its own term is settled
  learners_vote,            ///< learners count for majorities
  new_disk_votes,           ///< only the node is compared, not the seat
  snapshot_forgets_who,     ///< an installed snapshot leaves the configuration as it was
  snapshot_cuts_settled,    ///< an old snapshot replaces settled entries behind it
  vote_forgotten,           ///< a restart forgets the vote
  older_terms_answered,     ///< messages of older terms are answered like those of this term
  reads_unconfirmed,        ///< reads are answered without asking whether it still leads
  removed_does_not_lead,    ///< a removed seat asks for no votes, though others may not know
  empty_does_not_vote,      ///< a seat without a log does not vote
  silence_not_noticed,      ///< a leader that hears no follower goes on leading
  told_is_elected,          ///< a seat that is told to take over leads without asking for votes
  hands_over_early,         ///< a seat that lacks entries is told to take over
  hands_over_for_ever,      ///< a leader whose successor does not come takes no commands any more
  flight_counted_twice,     ///< bytes on their way count twice. Only check_invariants sees it
};

struct ReplicaOptions {
  Seat self;
  std::uint64_t seed = 0;
  /// A follower that hears nothing for one to two timeouts asks to be leader. It asks again after one to
  /// three heartbeats, until three timeouts have passed.
  Duration election_timeout = std::chrono::milliseconds(500);
  Duration heartbeat = std::chrono::milliseconds(100);
  /// The election timeout of a log at rest.
  Duration rest_timeout = std::chrono::seconds(90);
  Duration rest_heartbeat = std::chrono::seconds(30);
  std::size_t entries_per_append_max = 1024;
  std::size_t bytes_per_append_max = std::size_t{128} << 10;
  std::size_t snapshot_piece_bytes = std::size_t{256} << 10;
  /// Pieces in flight: on busy machines an answer takes a tenth of a second. Control messages wait behind the
  /// pieces, so there are no more.
  std::size_t snapshot_pieces_in_flight = 8;
  /// A copy that is silent for this time counts as lost, although its node may live: it may have failed.
  Duration given_up_after = std::chrono::seconds(30);
  /// Entries that are kept although a snapshot covers them, so that a replica that is a little late need not
  /// get the whole snapshot; and their largest size together.
  std::size_t entries_kept = 1024;
  std::size_t bytes_kept = std::size_t{16} << 20;
  /// Unacknowledged bytes sent to a copy: the leader does not fill the others' memory with entries that a
  /// slow disk has not written.
  std::size_t bytes_in_flight_max = std::size_t{16} << 20;
  Planted planted = Planted::nothing;
};

/// Memory of an entry.
inline std::size_t entry_bytes(const Entry& entry) { return entry.command.size_bytes() + sizeof(Entry); }

// ---- Effects

struct Send {
  ProcessId to;
  Message message;
};
/// Writes in the order of the numbers, which grow by one; Replica::on_written reports progress.
struct Write {
  std::uint64_t number = 0;
  StoredChange change;
};
/// Settled entries: apply them in this order, once in each life.
struct Apply {
  Index index = 0;
  Entry entry;
};
/// Replaces the state, whatever was applied before.
struct Install {
  Snapshot snapshot;
};
/// The replica may take commands. Once `Apply` of its noop comes, all acknowledged commands are applied.
struct Lead {
  Term term = 0;
};
/// The replica leads no more: commands that it took and did not settle may be lost.
struct Follow {
  Term term = 0;
};
/// Answers Replica::read with this number: it led after the question, and `index` was settled.
struct Readable {
  std::uint64_t number = 0;
  Index index = 0;
};
using Effect = std::variant<Send, Write, Apply, Install, Lead, Follow, Readable>;

class Replica {
 public:
  enum class Role : std::uint8_t { follower, precandidate, candidate, leader };

  /// `stored`: the content of the disk; empty for a new one.
  Replica(const ReplicaOptions& options, Stored stored, Instant now);

  /// Begins a log with this state: all voters of `genesis` do the same. Only where there is no log.
  void begin(Configuration genesis, Blob state, Instant now);
  void on_message(const Message& message, Instant now);
  void on_time(Instant now);
  /// Membership reports that this process is gone. If it led, nobody waits for its silence.
  void on_process_down(ProcessId process, Instant now);
  /// Asks to lead at once: for the replica that begins a log.
  void stand(Instant now) { due_ = now; }
  /// The disk is full: writes wait, and so do all promises of this copy. Until there is room it asks for no
  /// votes, since it would be the candidate of a term that no other replica hears of.
  void on_disk_full(bool full, Instant now);
  /// The node is leaving, or should not lead for another reason. The replica still votes. It asks for votes
  /// when no other does, since it may be the only one with all entries, but leads no longer than it must.
  void on_leaving(bool leaving, Instant now);
  /// `quiet`: no more commands are expected, so the log may rest.
  void on_quiet(bool quiet) { quiet_ = quiet; }
  /// Ends the rest of a log that this copy leads, for instance when copies may have come or gone.
  void stir(Instant now);
  /// All writes up to this number are on the disk.
  void on_written(std::uint64_t number, Instant now);

  // ---- The leader
  /// The index of the command once it is settled; none if this replica does not lead.
  std::optional<Index> propose(Blob command, Instant now);
  /// False when no change is allowed: not leader, or not yet, or the last change is not settled, or more than
  /// one seat changes its vote.
  bool change(Configuration to, Instant now);
  /// Readable follows when no other replica can have led meanwhile. False: does not lead.
  bool read(std::uint64_t number, Instant now);
  /// Hands leadership to this voter; takes no command until that has happened or an election timeout passed.
  /// Ignored while another hand-over is under way.
  void transfer(ProcessId to, Instant now);
  /// The last index on a copy's disk, as far as its leader knows.
  Index match(const Seat& seat) const;
  /// True: the copy was heard of within an election timeout.
  bool hears(const Seat& seat, Instant now) const;
  /// For the leader. True: the copy was silent for too long.
  bool gives_up(const Seat& seat, Instant now) const;

  /// The state up to `index`, which has been applied: entries up to there may be removed.
  void compact(Index index, Blob state);

  const Seat& self() const { return options_.self; }
  Role role() const { return role_; }
  Term term() const { return vote_.term; }
  std::optional<ProcessId> leader() const { return leader_; }
  const Configuration& configuration() const { return configuration_; }
  /// True: the last change is settled, and so is an entry of this term.
  bool may_change() const;
  Index settled() const { return settled_; }
  Index last_index() const { return base_index_ + entries_.size(); }
  const std::optional<Snapshot>& snapshot() const { return snapshot_; }
  /// The entry at an index that is still here; all indices behind the snapshot are.
  const Entry& entry(Index index) const;
  /// Since when a majority has been silent, as seen by a leader or candidate.
  std::optional<Instant> without_majority() const { return alone_since_; }
  bool rests() const { return rests_; }
  Instant due() const { return due_; }
  std::vector<Effect> take_effects();
  /// Throws Bug when a rule is broken. The rules hold between two events.
  void check_invariants() const;

 private:
  struct Progress {
    Index match = 0;                           ///< known to be on its disk
    Index next = 1;                            ///< next index to send
    std::optional<Index> snapshot_index = {};  ///< the snapshot that it is being sent
    std::uint64_t snapshot_has = 0;            ///< the most bytes of the snapshot that it acknowledged
    std::uint64_t snapshot_said = 0;           ///< its last answer, which others may have overtaken
    std::uint64_t snapshot_sent = 0;           ///< bytes sent; beyond snapshot_has in flight or lost
    Instant snapshot_moved = {};               ///< when it last acknowledged more
    Instant heard;
    std::uint64_t beat = 0;  ///< newest beat that it answered
    /// Entries behind this index were sent again because it lacked them, and it has not acknowledged them
    /// since.
    std::optional<Index> again_from = {};
    Instant again_at = {};
    /// Unacknowledged Appends: last index and size of each.
    std::deque<std::pair<Index, std::size_t>> in_flight = {};
    std::size_t in_flight_bytes = 0;

    /// Entries from `index` on may be lost: they are sent again.
    void send_from(Index index) {
      next = index;
      in_flight.clear();
      in_flight_bytes = 0;
    }
    void has_up_to(Index index) {
      match = std::max(match, index);
      next = std::max(next, index + 1);
      for (; !in_flight.empty() && in_flight.front().first <= match; in_flight.pop_front())
        in_flight_bytes -= in_flight.front().second;
    }
  };
  struct Held {
    std::uint64_t number = 0;
    Send send;
  };
  struct Unwritten {
    std::uint64_t number = 0;
    Index last = 0;
    Term term = 0;
  };
  struct Read {
    std::uint64_t number = 0;
    std::uint64_t beat = 0;
    Index index = 0;
  };

  // election.cpp
  void heard(const AskVote& ask, Instant now);
  void heard(const VoteAnswer& answer, Instant now);
  void heard(const TakeOver& order, Instant now);
  void heard(const Outdated& word, Instant now);
  void heard(const Over&, Instant) {}  ///< the owner of the replica handles it
  bool may_lead() const;
  bool follows_a_leader(Instant now) const;
  bool has_all(Index last_index, Term last_term) const;
  void ask_for_votes(bool pre, bool transfer, Instant now);
  void count_votes(Instant now);
  void lead(Instant now);
  void hand_over(Instant now);
  bool is_fit() const { return !disk_full_ && !leaving_; }
  bool may_rest(Instant now) const;
  /// How long a leader or follower may be silent.
  Duration patience() const { return rests_ ? options_.rest_timeout : options_.election_timeout; }
  void follow(Term term, std::optional<ProcessId> leader, Instant now);
  void wait_for_election(Instant now);
  void wait_for_votes(Instant now);
  bool counts(const Seat& seat) const;

  // replication.cpp
  void heard(const Append& append, Instant now);
  void heard(const AppendAnswer& answer, Instant now);
  void heard(const SnapshotPiece& piece, Instant now);
  void heard(const SnapshotAnswer& answer, Instant now);
  bool is_on_its_way(const Progress& progress, Index has, Instant now) const;
  Progress* progress_of(const Seat& seat, Term term, std::uint64_t beat, Instant now);
  bool is_followed(const Seat& from, Term term, bool rests, Instant now);
  void take_entries(const Append& append, Index skipped);
  void install(Snapshot snapshot);
  void append(Entry entry, Instant now);
  void replicate(Instant now, bool beat);
  void replicate_to(const Seat& seat, Progress& progress, bool beat, Instant now);
  void send_pieces(const Seat& seat, Progress& progress);
  void send_piece(const Seat& seat, std::uint64_t offset, std::size_t size_max);
  void settle(Instant now);
  void settle_up_to(Index index);
  void answer_reads();
  void look_for_majority(Instant now);
  void adopt_configuration();
  std::pair<Index, const Configuration*> configuration_at(Index index) const;
  Term term_at(Index index) const;
  Index first_kept(Index index) const;
  bool has(Index index) const;

  // invariants.cpp
  void check_log() const;
  void check_disk() const;
  void check_role() const;
  void check_progress(const Progress& progress) const;
  void check_coming() const;

  // Messages to others
  void send(ProcessId to, Message message);
  void send_when_written(ProcessId to, Message message);
  void write(StoredChange change);
  void write_entries(Index from);
  void write_snapshot();
  bool planted(Planted what) const { return is_planted(options_.planted, what); }

  const ReplicaOptions options_;
  Random random_;
  Role role_ = Role::follower;
  Vote vote_;
  std::optional<ProcessId> leader_;
  std::optional<Snapshot> snapshot_;
  std::deque<Entry> entries_;  ///< behind base_index_, which is not behind the snapshot
  Index base_index_ = 0;
  Term base_term_ = 0;
  Configuration configuration_;  ///< the newest in the log
  Index configuration_index_ = 0;
  Index settled_ = 0;
  Index on_disk_ = 0;  ///< entries up to here are on the disk
  Instant due_, heard_leader_;
  std::optional<Instant> alone_since_;
  bool disk_full_ = false, leaving_ = false;
  bool quiet_ = false;
  bool rests_ = false;  ///< by the leader's decision in its last sign of life

  // A candidate's, a leader's
  std::set<Seat> votes_;
  std::uint64_t own_vote_ = 0;  ///< the write that holds it
  std::map<Seat, Progress> progress_;
  Index noop_ = 0;  ///< index of this term's noop
  std::uint64_t beat_ = 0;
  std::deque<Read> reads_;
  std::optional<Seat> successor_;  ///< a seat and not a node: a learner with a new disk may be on the node
  Instant successor_until_;
  /// Processes that did not take over when told to, since the last pause; and the end of that pause.
  std::set<ProcessId> unwilling_;
  Instant hand_over_at_;

  // An incoming snapshot
  std::optional<SnapshotPiece> coming_;
  std::vector<std::byte> received_;
  std::map<std::uint64_t, Blob> ahead_;  ///< by offset: pieces that overtook others

  std::uint64_t writes_ = 0, written_ = 0;
  std::deque<Held> held_;
  std::deque<Unwritten> unwritten_;
  std::vector<Effect> effects_;
};

}  // namespace dag::consensus
