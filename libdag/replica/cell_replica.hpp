#pragma once
// One replica of a job's cell: a copy of its log (consensus/replica.hpp) and what that log made
// (cell/cell.hpp). It decides when what is said to the cell goes into the log, and that what the cell says
// leaves only from who leads.
//
//   follower --elected--> elected --its Lead is applied--> leads --another term--> follower
//
// Each leader's first command is Lead: when that is applied, all that was ever acknowledged has been, and
// the cell says again what the leader before it may not have got to say. What was said to a leader and did
// not come to be applied is lost; who said it hears of another term, and says it again.
//
// A snapshot is read back before the log goes: what a node cannot read, it has lost.
//
// Why it does not wait for ever: a command that was taken is applied when a majority of the copies can be
// written, or another leader comes. Memory: the log behind the last snapshot, which is made again when it has
// grown by `compact_every` entries, or by `compact_bytes` and as much as the snapshot takes: so snapshots are
// not most of what is written. Each copy makes its own, whoever leads.

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

struct CellReplicaOptions {
  Life self;
  consensus::ReplicaOptions log;
  std::size_t copies_wanted = 3;
  /// Its node runs nothing: this copy is there so that others have a majority, and leads no longer than it
  /// must.
  bool witness = false;
  /// Who holds copies is looked at so often.
  Duration reconfigure_every = std::chrono::milliseconds(200);
  std::uint64_t compact_every = 4096;
  std::size_t compact_bytes = std::size_t{16} << 20;
  /// A larger command is not proposed: the job stops instead.
  std::size_t command_bytes_max = consensus::command_bytes_max;
  /// As in CellOptions.
  std::size_t small_plan_bytes_max = CellOptions{}.small_plan_bytes_max;
  /// Lives that the cell knows, and this process has not heard of for so long since it leads, are dead. So
  /// are those after which it has heard of another life of their process.
  Duration unknown_for = std::chrono::seconds(1);
  const wire::CodeMap* codes = &wire::CodeMap::of_this_process();
  /// For the simulator's own test: which rule is broken on purpose.
  Planted planted = Planted::nothing;
};

/// To the replica of the same cell at that process.
struct SendToReplica {
  ProcessId to;
  consensus::Message message;
};
/// To be written to the node's log in the order of the numbers; on_written says how far that is.
struct WriteToLog {
  std::uint64_t number = 0;
  consensus::StoredChange change;
};
/// It leads now, and answers clients; or does not any more, and they have to ask another.
struct LeadsNow {
  bool leads = false;
};
/// The log goes on growing: what was to take its place could not be read back. That is an error of libdag.
struct NoSnapshot {
  Error why;
};
using CellReplicaEffect =
    std::variant<SendToReplica, WriteToLog, LeadsNow, NoSnapshot, SendMessage, TellClient, JobEnded>;

class CellReplica {
 public:
  /// `stored` is what the node's log has of this cell; nothing where it is new. Throws Failure (log_damaged)
  /// when it cannot be read.
  CellReplica(const CellReplicaOptions& options, consensus::Stored stored, RecordSink& records, Instant now);

  /// Begins the cell: all that hold copies at first do the same, and one of them asks to lead at once.
  /// Repeated, it changes nothing.
  void begin(consensus::Configuration genesis, const CellSnapshot& state, bool leads_first, Instant now);

  void on_replica_message(const consensus::Message& message, Instant now);
  void on_written(std::uint64_t number, Instant now);
  void on_time(Instant now);
  Instant due() const;

  /// What this process knows of others. All replicas are told; who leads tells the cell, of those that take
  /// part in the job.
  void on_life_up(Life life, Instant now, bool takes_part = true) { on_lives_up({life}, now, takes_part); }
  void on_lives_up(const std::vector<Life>& lives, Instant now, bool takes_part = true);
  void on_life_down(Life life, Instant now, const LifeEnd& how = {});
  /// Who can hold copies; and who is there, and is to go. If that is this process, it hands leadership over.
  void on_seats(std::vector<consensus::Candidate> alive, std::vector<consensus::Seat> leaving, Instant now);
  /// It writes nothing until there is room, and should not lead.
  void on_disk_full(bool full, Instant now);
  /// Its node holds more in memory for the disk than it should: nothing that is said to the cell goes into
  /// the log until it is told otherwise. It waits here; of each home that is one message.
  void on_disk_behind(bool behind, Instant now);
  /// Its node is late in all that it does: it leads no longer than it must.
  void on_sick(bool sick, Instant now);

  // ---- What is said to the cell. False: it does not lead, and nothing comes of it.
  bool on_message(Life from, const JobMessage& message, Instant now);
  bool follow(ClientId client, const std::vector<TaskId>& tasks, Instant now);
  bool keep(std::vector<TaskId> tasks, Instant now);
  /// Taken is not recorded: a leader that is lost takes it along. See is_cancelled.
  bool cancel(std::vector<TaskId> tasks, Instant now);
  bool stop(Error why, Instant now);
  bool close(Instant now);
  /// Hands leadership to this process, if it holds a copy.
  void hand_over(ProcessId to, Instant now);

  bool leads() const { return leads_; }
  /// The whole job, and a majority of the copies has that: every later leader knows.
  bool is_cancelled() const { return cell_ && cell_->state().cancelled; }
  /// Who does, as far as is known here.
  std::optional<ProcessId> leader() const { return log_.leader(); }
  /// Since when it has not heard a majority, where it should: NO_QUORUM.
  std::optional<Instant> without_majority() const { return log_.without_majority(); }
  /// Null: nothing was begun here yet.
  const Cell* cell() const { return cell_.get(); }
  consensus::Index applied() const { return applied_; }
  const consensus::Replica& log() const { return log_; }
  std::vector<CellReplicaEffect> take_effects();

 private:
  /// Of what it does not lead nobody is to have a record twice.
  class LeadersRecords final : public RecordSink {
   public:
    LeadersRecords(RecordSink& to, const bool& leads) : RecordSink(to.listens()), to_(to), leads_(leads) {}
    bool wants_graph() const override { return to_.wants_graph(); }
    void record(const Record& record) override {
      if (leads_) to_.record(record);
    }
    void record_finished(const Record& many) override {
      if (leads_) to_.record_finished(many);
    }
    void goes_on(const JobSoFar& job) override { to_.goes_on(job); }

   private:
    RecordSink& to_;
    const bool& leads_;
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
  void bury_unknown(Instant now);
  bool is_member(Life life) const;
  bool is_quiet() const;
  bool is_long() const;
  void compact();
  void renew_lease(std::uint64_t number);

  const CellReplicaOptions options_;
  bool leads_ = false;
  LeadersRecords records_;
  consensus::Replica log_;
  std::unique_ptr<Cell> cell_;
  consensus::Index applied_ = 0, compact_at_ = 0;
  std::size_t applied_bytes_ = 0;  ///< of the entries behind the snapshot
  /// Taken while leadership was being handed over, which may come to nothing, or while the disk was behind.
  std::deque<CellCommand> waiting_;
  /// The newest Outcomes of each shard's home that this leader put into the log.
  std::map<std::uint32_t, std::pair<Epoch, std::uint64_t>> taken_;
  /// Answered when it is known that nobody else led meanwhile.
  std::map<std::uint64_t, std::pair<Life, message::RenewLease>> leases_asked_;
  std::uint64_t leases_ = 0;
  std::set<TaskId> to_keep_;  ///< that this leader was asked to
  std::set<ClientId> clients_;
  std::set<Life> up_;
  std::set<Life> take_part_;               ///< of them
  std::map<ProcessId, Incarnation> down_;  ///< of each process that died, the newest life
  /// How lives ended that had something running, until the cell knows.
  std::map<Life, LifeEnd> ends_;
  std::vector<consensus::Candidate> seats_;
  std::vector<consensus::Seat> leaving_;
  bool sick_ = false, disk_behind_ = false;
  Instant elected_at_, reconfigure_at_;
  std::vector<CellReplicaEffect> effects_;
};

}  // namespace dag
