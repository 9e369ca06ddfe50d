#pragma once
// One copy of a replicated log: Raft (Ongaro, Ousterhout 2014; section numbers below are of Ongaro's thesis),
// with PreVote and check-quorum (9.6, 6.2), membership changes of one seat at a time (4), snapshots (5),
// leadership transfer (3.10) and reads without the log (6.4).
//
// Bound: with 2f+1 voters whatever was settled survives any f that are lost for good. Safety uses no clock:
// however late `now` is, at most one leader of a term settles anything. Liveness wants a majority that hears
// each other within an election timeout.
//
// Nothing that others rely on leaves before it is on the disk: a vote, and the word that entries are here,
// wait in `take_effects` until on_written. A full disk just never says so, so such a replica neither votes
// nor counts until there is room; nor does it ask for votes, and what it leads it hands to another, as who is
// to go does. One disk is one seat (entry.hpp): a replica that has lost what it promised
// does not vote until it has been made a learner, and then a voter, under its new seat.
//
// A log at rest: when its owner expects no more commands and every voter has all of it, signs of life become
// rare, so that a thousand such logs cost a node nothing. Any other word ends the rest. A leader that is lost
// meanwhile is missed by whoever watches processes (on_process_down); its silence is borne for longer.
//
// Where it differs from the thesis: who has no log at all is told by a snapshot, also by the one at index 0,
// because that is where the genesis lies.

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

/// For the simulator's own test: which rule is broken on purpose.
enum class Planted : std::uint8_t {
  nothing,
  vote_before_written,      ///< a vote leaves before it is on the disk
  ack_before_written,       ///< entries are acknowledged before they are
  own_disk_not_waited_for,  ///< a leader counts itself before its entries are on its disk
  minority_settles,         ///< one copy less than a majority is enough
  older_terms_settle,       ///< entries of earlier terms are counted like its own (Raft, figure 3.7)
  any_log_gets_votes,       ///< whether a candidate has all is not asked
  votes_twice,              ///< a second candidate of a term gets a vote, too
  appends_truncate,         ///< every Append cuts off what follows it
  old_leaders_heard,        ///< an Append of an older term is taken
  changes_overlap,          ///< a configuration is changed while the last change is not settled
  changes_at_once,          ///< a leader changes it before an entry of its own term is settled
  learners_vote,            ///< learners count
  new_disk_votes,           ///< the seat is not looked at, only the node
  snapshot_forgets_who,     ///< an installed snapshot leaves the configuration as it was
  snapshot_cuts_settled,    ///< an old snapshot replaces what is settled behind it
  vote_forgotten,           ///< a restart forgets whom it voted for
  older_terms_answered,     ///< what an older term's leader said is answered like what this term's says
  reads_unconfirmed,        ///< a leader answers reads without having asked whether it still is one
  removed_does_not_lead,    ///< who has removed itself asks for no votes, though nobody else may know
  empty_does_not_vote,      ///< nor does a seat without a log vote
  silence_not_noticed,      ///< a leader that hears nobody goes on as one
  told_is_elected,          ///< who is told to take over leads without having asked for votes
  hands_over_early,         ///< who lacks entries is told to take over
  hands_over_for_ever,      ///< a leader whose successor does not come takes no commands any more
};

struct ReplicaOptions {
  Seat self;
  std::uint64_t seed = 0;
  /// A follower that hears nothing for between one and two of these asks to be leader; again after one to
  /// three heartbeats, until three of these have passed.
  Duration election_timeout = std::chrono::milliseconds(500);
  Duration heartbeat = std::chrono::milliseconds(100);
  /// The same of a log at rest.
  Duration rest_timeout = std::chrono::seconds(90);
  Duration rest_heartbeat = std::chrono::seconds(30);
  std::size_t entries_per_append_max = 1024;
  std::size_t bytes_per_append_max = std::size_t{128} << 10;
  std::size_t snapshot_piece_bytes = std::size_t{256} << 10;
  /// So many pieces are on their way at a time: on busy machines an answer takes a tenth of a second. Control
  /// waits behind them, so they are not more.
  std::size_t snapshot_pieces_in_flight = 8;
  /// A copy that says nothing for so long is none any more, although its node may live: it may have failed.
  Duration given_up_after = std::chrono::seconds(30);
  /// Entries that are kept when a snapshot covers them, so that who is a little late need not get all of it;
  /// and how large they may be together.
  std::size_t entries_kept = 1024;
  std::size_t bytes_kept = std::size_t{16} << 20;
  /// What a copy is sent that it has not said to have on its disk: those of the others need not hold in
  /// memory what a slow one has not written.
  std::size_t bytes_in_flight_max = std::size_t{16} << 20;
  Planted planted = Planted::nothing;
};

/// What an entry takes in memory.
inline std::size_t entry_bytes(const Entry& entry) { return entry.command.size_bytes() + sizeof(Entry); }

// ---- Effects

struct Send {
  ProcessId to;
  Message message;
};
/// To be written in the order of the numbers, which grow by one; Replica::on_written says how far it is.
struct Write {
  std::uint64_t number = 0;
  StoredChange change;
};
/// Settled: to be applied, in this order, once in each life.
struct Apply {
  Index index = 0;
  Entry entry;
};
/// The state is this one now, whatever was applied before.
struct Install {
  Snapshot snapshot;
};
/// It may take commands. All that was ever acknowledged is applied when `Apply` of this term's noop comes.
struct Lead {
  Term term = 0;
};
/// It was leader and is none any more: what it took and did not settle may be lost.
struct Follow {
  Term term = 0;
};
/// Answer to Replica::read with this number: it was leader after the question, and `index` was settled.
struct Readable {
  std::uint64_t number = 0;
  Index index = 0;
};
using Effect = std::variant<Send, Write, Apply, Install, Lead, Follow, Readable>;

class Replica {
 public:
  enum class Role : std::uint8_t { follower, precandidate, candidate, leader };

  /// `stored` is what the disk has; nothing on a new one.
  Replica(const ReplicaOptions& options, Stored stored, Instant now);

  /// Begins a log whose state is `state`: all voters of `genesis` do the same. Only where there is none.
  void begin(Configuration genesis, Blob state, Instant now);
  void on_message(const Message& message, Instant now);
  void on_time(Instant now);
  /// Whoever watches processes says that this one is gone. If it led, nobody waits for its silence.
  void on_process_down(ProcessId process, Instant now);
  /// Asks to lead without waiting: of who begins a log.
  void stand(Instant now) { due_ = now; }
  /// The disk is full: what is written waits, and so does all that this copy would promise. Until there is
  /// room it asks for no votes, which would leave it as the candidate of a term that nobody hears of.
  void on_disk_full(bool full, Instant now);
  /// Its node is to go, or should not lead for another reason. It still votes, and asks for votes when nobody
  /// else does, since it may be the only one that has all; but leads no longer than it must.
  void on_leaving(bool leaving, Instant now);
  /// `quiet`: no more commands are expected, so the log may rest.
  void on_quiet(bool quiet) { quiet_ = quiet; }
  /// Ends the rest of a log that this copy leads, as when others may have come or gone.
  void stir(Instant now);
  /// All writes up to this number are on the disk.
  void on_written(std::uint64_t number, Instant now);

  // ---- The leader
  /// The index that the command has if it is settled; nothing from who does not lead.
  std::optional<Index> propose(Blob command, Instant now);
  /// False when it may not: not leader, or not yet, or the last change is not settled, or more than one seat
  /// changes its vote.
  bool change(Configuration to, Instant now);
  /// Readable comes when it is known that nobody else led meanwhile. False: does not lead.
  bool read(std::uint64_t number, Instant now);
  /// Hands leadership to this voter; takes no command until that has happened or an election timeout passed.
  /// Nothing comes of it while another one is being waited for.
  void transfer(ProcessId to, Instant now);
  /// How far a copy is, as its leader knows: the last index that is on its disk.
  Index match(const Seat& seat) const;
  /// Whether its copy was heard of within an election timeout.
  bool hears(const Seat& seat, Instant now) const;
  /// The leader: it has not heard of this one for too long.
  bool gives_up(const Seat& seat, Instant now) const;

  /// The state up to `index`, which has been applied: entries up to there may go.
  void compact(Index index, Blob state);

  const Seat& self() const { return options_.self; }
  Role role() const { return role_; }
  Term term() const { return vote_.term; }
  std::optional<ProcessId> leader() const { return leader_; }
  const Configuration& configuration() const { return configuration_; }
  /// The last change is settled, and so is an entry of this term.
  bool may_change() const;
  Index settled() const { return settled_; }
  Index last_index() const { return base_index_ + entries_.size(); }
  const std::optional<Snapshot>& snapshot() const { return snapshot_; }
  /// Of an index that is still here, as all behind the snapshot are.
  const Entry& entry(Index index) const;
  /// Since when a majority has been silent, as its leader or a candidate knows.
  std::optional<Instant> without_majority() const { return alone_since_; }
  bool rests() const { return rests_; }
  Instant due() const { return due_; }
  std::vector<Effect> take_effects();

 private:
  struct Progress {
    Index match = 0;                           ///< known to be on its disk
    Index next = 1;                            ///< what it is sent next
    std::optional<Index> snapshot_index = {};  ///< it is being sent this one
    std::uint64_t snapshot_has = 0;            ///< of its bytes, the most that it said
    std::uint64_t snapshot_said = 0;           ///< the last that came, which others may have overtaken
    std::uint64_t snapshot_sent = 0;           ///< of them; more than it has are on their way, or lost
    Instant snapshot_moved = {};               ///< when it last said more
    Instant heard;
    std::uint64_t beat = 0;  ///< the newest that came back
    /// It was sent again what is behind this index, because it lacked that, and has not said since that it
    /// has it.
    std::optional<Index> again_from = {};
    Instant again_at = {};
    /// Of each Append that it has not said to have on its disk: the last index, and how large it was.
    std::deque<std::pair<Index, std::size_t>> in_flight = {};
    std::size_t in_flight_bytes = 0;

    /// What was sent from there on may be lost.
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
  void heard(const Over&, Instant) {}  ///< for whoever holds it
  bool may_lead() const;
  bool follows_a_leader(Instant now) const;
  bool has_all(Index last_index, Term last_term) const;
  void ask_for_votes(bool pre, bool transfer, Instant now);
  void count_votes(Instant now);
  void lead(Instant now);
  void hand_over(Instant now);
  bool is_fit() const { return !disk_full_ && !leaving_; }
  bool may_rest(Instant now) const;
  /// How long who should be heard of may be silent.
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

  // What leaves
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
  Index on_disk_ = 0;  ///< entries up to here
  Instant due_, heard_leader_;
  std::optional<Instant> alone_since_;
  bool disk_full_ = false, leaving_ = false;
  bool quiet_ = false;
  bool rests_ = false;  ///< as the leader has decided with its last sign of life

  // A candidate's, a leader's
  std::set<Seat> votes_;
  std::uint64_t own_vote_ = 0;  ///< the write that holds it
  std::map<Seat, Progress> progress_;
  Index noop_ = 0;  ///< of this term
  std::uint64_t beat_ = 0;
  std::deque<Read> reads_;
  std::optional<Seat> successor_;  ///< not the node: a learner with a new disk may be there
  Instant successor_until_;
  /// Who did not take over when told to, since the last pause; and until when it is.
  std::set<ProcessId> unwilling_;
  Instant hand_over_at_;

  // A snapshot that is coming
  std::optional<SnapshotPiece> coming_;
  std::vector<std::byte> received_;
  std::map<std::uint64_t, Blob> ahead_;  ///< by offset: pieces that overtook others

  std::uint64_t writes_ = 0, written_ = 0;
  std::deque<Held> held_;
  std::deque<Unwritten> unwritten_;
  std::vector<Effect> effects_;
};

}  // namespace dag::consensus
