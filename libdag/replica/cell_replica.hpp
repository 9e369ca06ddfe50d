#pragma once
// A replica of a job's cell: a copy of its log (consensus/replica.hpp) and the cell made from that log
// (cell/cell.hpp). Decides when messages to the cell go into the log, and lets effects of the cell leave only
// from the leader.
//
//   follower --elected--> elected --its Lead is applied--> leads --another term--> follower
//
// Each leader's first command is Lead: when it is applied, all that was ever acknowledged has been, and the
// cell repeats the messages that its former leader may not have sent. A message to a leader that was not
// applied is lost; its sender hears of another term, and repeats it.
//
// A snapshot is read back before the log goes, since a node has lost what it cannot read.
//
// Why it does not wait for ever: a command that was taken is applied when a majority of the copies can be
// written, or another leader comes. Memory: the log behind the last snapshot. A snapshot is made when that
// log has grown by `compact_every` entries, or by `compact_bytes` and the size of the snapshot, so most
// written bytes are not snapshots. Each copy makes its own, the leader's or not.

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "libdag/cell/cell.hpp"
#include "libdag/consensus/reconfiguration.hpp"
#include "libdag/consensus/records.hpp"
#include "libdag/wire/code_map.hpp"

namespace dag {

/// Bugs that the simulator must find: each leaves out one rule of replicas of a cell.
enum class PlantedInReplica : std::uint8_t {
  nothing,
  leads_too_early,  ///< a leader answers before entries of earlier leaders are applied
  unknown_stay,     ///< lives that died before the leader could know them stay members
  // Only check_invariants sees these.
  known_deaths_kept,  ///< a copy keeps ends of lives that its cell has buried
};

struct CellReplicaOptions {
  Life self;
  consensus::ReplicaOptions log;
  std::size_t copies_wanted = 3;
  /// The node runs nothing: this copy exists so that others have a majority, and leads no longer than it
  /// must.
  bool witness = false;
  /// Interval at which the leader checks the set of copies.
  Duration reconfigure_every = std::chrono::milliseconds(200);
  std::uint64_t compact_every = 4096;
  std::size_t compact_bytes = std::size_t{16} << 20;
  /// A larger command is not proposed: the job stops instead.
  std::size_t command_bytes_max = consensus::command_bytes_max;
  /// As in CellOptions.
  std::size_t small_plan_bytes_max = CellOptions{}.small_plan_bytes_max;
  /// Lives that the cell knows, and that were not heard of for this time since this process leads, are dead.
  /// So are lives after which a newer life of their process was heard of.
  Duration unknown_for = std::chrono::seconds(1);
  const wire::CodeMap* codes = &wire::CodeMap::of_this_process();
  /// For the simulator's own test: the rule that is broken on purpose.
  PlantedInReplica planted = PlantedInReplica::nothing;
  PlantedInCell planted_in_cell = PlantedInCell::nothing;
};

/// To the replica of the same cell at that process.
struct SendToReplica {
  ProcessId to;
  consensus::Message message;
};
/// Writes to the node's log in the order of the numbers; on_written reports progress.
struct WriteToLog {
  std::uint64_t number = 0;
  consensus::StoredChange change;
};
/// The replica leads now, and answers clients; or leads no more, and clients have to ask another node.
struct LeadsNow {
  bool leads = false;
};
/// The log goes on growing: the snapshot to replace it could not be read back. That is an error of libdag.
struct NoSnapshot {
  Error why;
};
using CellReplicaEffect =
    std::variant<SendToReplica, WriteToLog, LeadsNow, NoSnapshot, SendMessage, TellClient, JobIsOver>;

class CellReplica {
 public:
  /// `stored`: the content of the node's log for this cell; empty for a new one. Throws Failure (log_damaged)
  /// when it cannot be read.
  CellReplica(const CellReplicaOptions& options, consensus::Stored stored, EventSink& records, Instant now);

  /// Begins the cell: all initial copies do the same, and one of them asks to lead at once. Repeated calls
  /// change nothing.
  void begin(consensus::Configuration genesis, const CellSnapshot& state, bool leads_first, Instant now);

  void on_replica_message(const consensus::Message& message, Instant now);
  void on_written(std::uint64_t number, Instant now);
  void on_time(Instant now);
  Instant due() const;

  /// News of other processes. All replicas are told; the leader tells the cell of those that take part in the
  /// job.
  void on_life_up(Life life, Instant now, bool takes_part = true) { on_lives_up({life}, now, takes_part); }
  void on_lives_up(const std::vector<Life>& lives, Instant now, bool takes_part = true);
  void on_life_down(Life life, Instant now, const LifeEnd& how = {});
  /// `alive` can hold copies; `leaving` are there, too. If this process leaves, it hands leadership over.
  void on_seats(std::vector<consensus::Candidate> alive, std::vector<consensus::Seat> leaving, Instant now);
  /// The replica writes nothing until there is room, and should not lead.
  void on_disk_full(bool full, Instant now);
  /// The node has too much in memory that waits for the disk: messages to the cell stay out of the log until
  /// this is called again. They wait here, a message for each home.
  void on_disk_behind(bool behind, Instant now);
  /// The node is late in all that it does: it leads no longer than it must.
  void on_sick(bool sick, Instant now);

  // ---- Messages to the cell. False: this replica does not lead, and the message is dropped.
  bool on_message(Life from, const JobMessage& message, Instant now);
  bool follow(ClientId client, const std::vector<TaskId>& tasks, Instant now);
  bool keep(std::vector<TaskId> tasks, Instant now);
  /// Taken does not mean settled: a leader that is lost takes it along. See is_cancelled.
  bool cancel(std::vector<TaskId> tasks, Instant now);
  bool stop(Error why, Instant now);
  bool close(Instant now);
  /// Hands leadership to this process, if it holds a copy.
  void hand_over(ProcessId to, Instant now);

  bool leads() const { return leads_; }
  /// True: the whole job is cancelled, and a majority of the copies has that, so every later leader knows.
  bool is_cancelled() const { return cell_ && cell_->state().cancelled; }
  /// The leader, as far as known here.
  std::optional<ProcessId> leader() const { return log_.leader(); }
  /// Since when no majority has been heard, if one should be: NO_QUORUM.
  std::optional<Instant> without_majority() const { return log_.without_majority(); }
  /// Null: no cell was begun here yet.
  const Cell* cell() const { return cell_.get(); }
  consensus::Index applied() const { return applied_; }
  const consensus::Replica& log() const { return log_; }
  std::vector<CellReplicaEffect> take_effects();
  /// Throws Bug when a rule is broken, here or in the log or the cell. The rules hold between two events.
  void check_invariants() const;

 private:
  /// Passes records on only while this replica is to tell them, so that few are recorded twice.
  class LeadersRecords final : public EventSink {
   public:
    LeadersRecords(EventSink& to, const bool& tells) : EventSink(to.listens()), to_(to), tells_(tells) {}
    bool wants_graph() const override { return to_.wants_graph(); }
    void record(const JournalEvent& record) override {
      if (tells_) to_.record(record);
    }
    void record_finished(const JournalEvent& many) override {
      if (tells_) to_.record_finished(many);
    }
    void goes_on(const JobSoFar& job) override { to_.goes_on(job); }

   private:
    EventSink& to_;
    const bool& tells_;
  };

  void drain(Instant now);
  void judge_itself(Instant now);
  void carry_out(consensus::Effect& effect, Instant now);
  void apply(consensus::Index index, const consensus::Entry& entry, Instant now);
  void install(const consensus::Snapshot& snapshot);
  void elected(Instant now);
  void say_leads(Instant now);
  void let_go();
  void take_cell_effects();
  bool tell(CellCommand command, Instant now);
  Blob written(const CellCommand& command) const;
  void offer_waiting(Instant now);
  void reconfigure(Instant now);
  void end_older_lives(Life life, Instant now);
  void bury_unknown(Instant now);
  bool is_member(Life life) const;
  bool is_quiet() const;
  bool is_long() const;
  void compact();
  void renew_lease(std::uint64_t number);
  void forget_known_ends();
  void check_leads() const;
  void check_lives() const;

  const CellReplicaOptions options_;
  bool leads_ = false;
  /// Records commands: as the leader, and from its election on those that came after the last commands that
  /// the leader before it said to be settled. That leader may not have lived to record them.
  bool tells_ = false;
  LeadersRecords records_;
  consensus::Replica log_;
  /// The last command that was on the disk when this replica began: recorded when it was settled.
  const consensus::Index found_;
  std::unique_ptr<Cell> cell_;
  consensus::Index applied_ = 0, compact_at_ = 0;
  std::size_t applied_bytes_ = 0;  ///< of entries behind the snapshot
  /// Commands taken while leadership was being handed over, which may fail, or while the disk was behind.
  std::deque<CellCommand> waiting_;
  /// The newest Outcomes of each shard's home that this leader put into the log.
  std::map<std::uint32_t, std::pair<Epoch, std::uint64_t>> taken_;
  /// Answered when it is certain that no other replica led meanwhile.
  std::map<std::uint64_t, std::pair<Life, message::RenewLease>> leases_asked_;
  std::uint64_t leases_ = 0;
  std::set<TaskId> to_keep_;  ///< tasks that this leader was asked to keep
  std::set<ClientId> clients_;
  std::set<Life> up_;
  std::set<Life> take_part_;               ///< lives in the job
  std::map<ProcessId, Incarnation> down_;  ///< the newest dead life of each process
  /// Ends of lives that had tasks running, until the cell knows.
  std::map<Life, LifeEnd> ends_;
  std::vector<consensus::Candidate> seats_;
  std::vector<consensus::Seat> leaving_;
  bool sick_ = false, disk_behind_ = false;
  Instant elected_at_, reconfigure_at_;
  std::vector<CellReplicaEffect> effects_;
};

}  // namespace dag
