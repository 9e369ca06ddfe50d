#pragma once
// The cell of a job: keeps its record and gives its shards to homes. It schedules nothing.
//
// A state machine: its state follows from its commands (command.hpp), in their order and nothing else. So
// replicas with the same commands have the same state, and each can go on in place of another. Effects
// leave only from the leader (`lead`); a new leader repeats those that its predecessor may not have sent.
// Homes are given out by way of the log: a count is enough for an epoch, and its term stays 1 under all
// leaders.
//
// The cell records the outcomes from the current home of a shard, in the order of the home's messages and
// together with all that they rest on (said_steps.hpp), and tells the home. Clients see an outcome only when
// it is settled. When a life is found dead, its shards go to other lives under a higher epoch, together with
// all settled outcomes of them. If no life is left that may have them, they wait without a home for the next
// life that comes up.
//
// The cell also counts how often a task crashed its process, or may have, because the task's
// home may have died of it. The message that tells of a death tells the count, so no
// home starts the task again without knowing. Kernels that just fail are counted by
// homes, which tell the cell before they try again; a later home gets the count with the
// shard.
//
// Why it ends: each home counts its open rows down and reports the number with each cut; a cut that leaves no
// row open in any shard ends the job. Cancelling the job (every home ends its rows) and a failure that a home
// reports end it, too.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "libdag/base/planted.hpp"
#include "libdag/cell/said_steps.hpp"
#include "libdag/cell/snapshot.hpp"
#include "libdag/job/effects.hpp"
#include "libdag/job/messages.hpp"
#include "libdag/journal/sink.hpp"

namespace dag {

/// Names a client of a cell: a Session, or a `dag show --follow`.
struct ClientId {
  std::uint64_t value = 0;
  auto operator<=>(const ClientId&) const = default;
};

/// Bugs that the simulator must find: each leaves out one rule of cells.
enum class PlantedInCell : std::uint8_t {
  nothing,
  leader_silent,          ///< a new leader does not repeat what the former one may have left unsaid
  dead_come_back,         ///< a life that the cell found dead is taken again
  snapshot_forgets_said,  ///< a snapshot lacks reports that are not settled yet
  snapshot_forgets_dead,  ///< a snapshot lacks the dead
  cut_not_closed,         ///< outcomes are settled before their predecessors
  // Only check_invariants sees these.
  settled_tries_kept,  ///< the cell remembers tries and starts of tasks that are settled
};

struct CellOptions {
  Life self;  ///< the life that the cell is in
  /// Shards of a dead life go to the lives with the fewest; this seed decides among equals.
  std::uint64_t seed = 0;
  /// True: lives that lead the cell may be homes and run attempts. If not, they are still members: their
  /// messages are let in, and their runners get outputs for the client and keep copies of saves.
  bool self_runs = true;
  /// Start of deadlines, by the clock of this process; if not set, begin(). A task is late when its outcome
  /// is settled, and so visible, after its deadline.
  std::optional<Instant> submitted = std::nullopt;
  std::uint32_t replicas = 1;
  /// A plan up to this size is sent to all members; a larger one only on request.
  std::size_t small_plan_bytes_max = std::size_t{32} << 10;
  /// For the simulator's own test: the rule that is broken on purpose.
  PlantedInCell planted = PlantedInCell::nothing;
};

/// A task that the client follows is settled. The value is inside the record, or the holders have it
/// (Runner::bring gets it).
struct TellClient {
  ClientId client;
  OutcomeRecord record;
  std::vector<Life> holders;
};
/// Every row is final and settled, or the job was stopped; then `stopped` has the
/// reason.
struct JobIsOver {
  std::optional<Error> stopped;
  bool cancelled = false;
};
using CellEffect = std::variant<SendMessage, TellClient, JobIsOver>;

class Cell : private SettledOutcomes {
 public:
  Cell(CellOptions options, std::shared_ptr<const JobPlan> plan, EventSink& records);
  /// Goes on from a snapshot. The snapshot overrides options that it has, too.
  Cell(CellOptions options, const CellSnapshot& from, EventSink& records);

  /// Applies a command, each of which is a function below. Clients' questions are no commands.
  void apply(CellCommand command, std::uint32_t term, Instant now);
  /// Another process leads, in this term. Begins the job when no process led before.
  void lead(const command::Lead& word, std::uint32_t term, Instant now);

  /// Gives the shards to those of `lives` that run tasks: shard i to homes[i] if given, else in turn. `lives`
  /// contains the cell's own. If none runs tasks yet, the job begins with the first that comes up.
  void begin(const std::vector<Life>& lives, const std::vector<Life>& homes, Instant now);
  /// True: the message would have an effect.
  bool believes(Life from, const JobMessage& message) const;
  void on_message(Life from, const JobMessage& message, Instant now);
  void on_life_up(Life life, Instant now) { on_lives_up({life}, now); }
  void on_lives_up(const std::vector<Life>& lives, Instant now);
  /// Tasks that crashed the process are charged with a try, and tasks that may have are suspects
  /// (supervision/blame.hpp decides which); homes learn that together with the death.
  void on_life_down(Life life, Instant now, const LifeEnd& how = {});

  /// Tells the client of these tasks of the graph, now or when they are settled; no tasks: of all of them.
  void follow(ClientId client, const std::vector<TaskId>& tasks, Instant now);
  /// Keeps these outputs for the client. To be called early; later they may have to be made again.
  void keep(const std::vector<TaskId>& tasks, Instant now);
  bool keeps(TaskId task) const { return kept_.contains(task); }
  void forget(ClientId client);
  /// Cancels these tasks, or the whole job when there are none.
  void cancel(const std::vector<TaskId>& tasks, Instant now);
  void stop(Error why, Instant now);
  /// Nobody will ask for anything of the job any more: homes and runners free its data. Until then a settled
  /// output can be had, or made again, also when the job has ended.
  void close();

  /// Records a summary when this process comes to lead the job: all settled outcomes, and the job's begin and
  /// end, whose records the former leader may have lost.
  void say_so_far(Instant now);

  const message::JobState& state() const { return state_; }
  const std::shared_ptr<const JobPlan>& plan() const { return plan_; }
  /// Data that the job's creator attached.
  const Blob& attached() const { return attached_; }
  /// True: nobody will ask for anything of the job.
  bool is_closed() const { return state_.ended && state_.lives.empty(); }
  /// How the job ended, or was stopped; none while it goes on.
  std::optional<JobIsOver> ended() const;
  /// The state of the cell, for its replicas.
  CellSnapshot snapshot() const;
  const CellCounts& counts() const { return counts_; }
  /// The record of a task, if the task is settled (and remembered).
  std::optional<OutcomeRecord> settled(TaskId task) const;
  /// Tasks of the graph whose outputs a retry of the job would read again and the record does not have:
  /// results storage should keep them. At most unread_max.
  std::vector<std::uint32_t> unread() const;
  static constexpr std::size_t unread_max = 4096;
  std::vector<CellEffect> take_effects();
  /// Throws Bug when a rule is broken. The rules hold between two events.
  void check_invariants() const;

 private:
  using Entry = SettledOutcome;
  struct Stream {
    std::uint64_t position = 0;  ///< of the newest Settled sent
    std::uint64_t outcomes = 0;  ///< number of the newest Outcomes heard in this epoch
    std::uint64_t rows_open = 0;
    bool heard = false;  ///< rows_open is of this epoch
  };

  std::uint64_t by_first_try(Epoch epoch, const message::TaskBits& tasks) const override;
  bool by(const OutputName& name) const override;
  void settle_step(const RipeStep& step, std::map<std::uint32_t, message::Settled>& news, Instant now);
  void forget_tries(TaskId task);
  void begin_done(Instant now);
  void note_unfinished(const OutcomeRecord& record);
  bool is_read_by_unfinished(TaskId task) const;
  OutcomeRecord plain_record(const OutputName& name) const;
  void settle_first_try(const message::TaskBits& some, std::uint32_t shard,
                        std::map<std::uint32_t, message::Settled>& news, Instant now);
  void settle(std::uint32_t shard, OutcomeRecord record, std::map<std::uint32_t, message::Settled>& news,
              Instant now);
  /// `what` makes the record; it is not called when nobody listens.
  template <class What>
  void say(TaskId task, AttemptId attempt, Instant now, What&& what) {
    if (!records_.enabled()) return;
    records_.record({now, {options_.self.process, std::nullopt}, state_.job, task, attempt, what()});
  }
  void say_known(const OutcomeRecord& growth, Instant now);
  void say_graph(const detail::Fragment& graph, TaskId first, const OutcomeRecord* growth, Instant now);
  void say_finished(const message::TaskBits& some, AttemptId attempt, Instant now);
  event::Settled recorded_of(const OutcomeRecord& said, std::optional<Instant> now) const;
  void blame(const LifeEnd& how, Instant now);
  void give_orphans(Instant now);
  void give(std::uint32_t shard, Instant now);
  message::Assign assignment(std::uint32_t shard) const;
  /// Visits the settled outcomes of a shard with their homes, in the order of settling. A task that was
  /// fixed before it ended is visited twice: as it grew, and as it ended.
  template <class Visit>
  void each_settled(std::uint32_t shard, Visit&& visit) const {
    std::set<TaskId> grew_before;
    for (const TaskId task : log_[shard]) {
      const auto grew = grown_.find(task);
      if (grew != grown_.end() && grew_before.insert(task).second) {
        visit(grew->second, Life{});
      } else {
        const Entry& ended = settled_.at(task);
        visit(ended.record, ended.home);
      }
    }
  }
  bool is_new(Life life) const;
  void add(Life life, Instant now);
  void remove(Life life, const std::string& why, Instant now);
  void say_again();
  void send_kept(std::span<const TaskId> tasks);
  void send_cancelled(std::span<const TaskId> tasks);
  Life home_of(TaskId task) const;
  void tell_plan(Life life);
  void tell_state();
  void tell_followers(const Entry& entry);
  void tell_listeners(const OutcomeRecord& said, std::map<std::uint32_t, message::Settled>& news) const;
  void tell_client(ClientId client, const Entry& entry);
  void say_begun(Instant now);
  void say_done(Instant now);
  void say_over(Instant now);
  void end_if_done(Instant now);
  void send(Life to, JobMessage message);
  bool alive(Life life) const;
  void check_members() const;
  void check_homes() const;
  void check_counts() const;
  void check_memory() const;
  std::uint64_t rows_open() const;
  bool is_heard_of_all() const;

  CellOptions options_;
  std::shared_ptr<const JobPlan> plan_;
  bool plan_is_small_;
  Blob attached_;
  JobId retries_;
  EventSink& records_;
  message::JobState state_;
  bool done_ = false;
  /// True: a home may have to be recounted, since some shard is not at this process, or the job can lose this
  /// process. If not, only tasks of the graph are remembered.
  bool recountable_ = false;
  /// Bits per task of the graph: tasks of which only the name is known, by the epoch of the home that ran
  /// them; and tasks whose end a client wants to hear.
  std::map<Epoch, std::vector<std::uint64_t>> first_try_;
  std::vector<std::uint64_t> followed_;
  /// Bits of tasks read by a task that failed or did not run: their inline outputs are kept, since the job
  /// may be retried. Not in a snapshot, as it follows from the outcomes.
  std::vector<std::uint64_t> read_by_unfinished_;
  /// Per shard, in the order of settling; a task whose attempt was fixed before it ended is listed twice.
  std::vector<std::vector<TaskId>> log_;
  /// Tasks whose attempt was fixed when it spawned: their record has outcome `none`.
  std::map<TaskId, OutcomeRecord> grown_;
  std::map<TaskId, Entry> settled_;
  std::vector<Stream> streams_;
  SaidSteps steps_;
  /// Per task of the graph: other shards with successors that start only when the task is settled.
  std::map<std::uint32_t, std::vector<std::uint32_t>> listeners_;
  /// Failed tries of tasks that are not settled, where another home may have to know them.
  std::map<TaskId, std::uint32_t> tried_;
  /// Unsettled tasks that were started and may run only once, or not twice at a time.
  std::set<TaskId> started_;
  std::map<TaskId, std::set<ClientId>> followers_;
  std::set<TaskId> kept_;
  std::set<TaskId> cancelled_;
  /// The newest dead life of each process: a dead life does not come back, even if a member believes so.
  std::map<ProcessId, Incarnation> gone_;
  /// Members when the job was closed.
  std::vector<Life> closed_;
  /// Fragments that attempts spawned, by first task. For records, so kept only when somebody listens.
  std::map<TaskId, std::shared_ptr<const detail::Fragment>> spawned_;
  CellCounts counts_;
  std::vector<CellEffect> effects_;
};

}  // namespace dag
