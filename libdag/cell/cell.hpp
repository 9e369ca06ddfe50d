#pragma once
// The cell of a job: its record, and who is the home of which shard. It schedules nothing.
//
// It is a state machine: what it knows is what it was told (command.hpp), in that order and nothing else, so
// several replicas that are told the same come to the same, and each can go on where another was. What it
// says leaves only from the one that leads (`lead`); a new leader says again what the one before it may not
// have got to say. Homes are given out by it, so by its log: a count is enough of an epoch, and its term
// stays 1, whoever leads.
//
// It records what the current home of a shard says, in the order of its saying and together with all that it
// rests on (said_steps.hpp), and tells the home; clients see an outcome only when it is recorded. When a life
// is found dead, its shards go to others under a higher epoch, together with all that is settled of them.
// When no life is left that may have them, they wait without a home, and the next life that comes up gets
// them.
//
// It also counts how often a task took its process down, or may have, because the task's home may have died
// of it; the state that tells of a death tells of that, so no home starts the task again without knowing. How
// often
// a kernel just failed, homes count and tell it before they try again, and a later home is told with the
// shard.
//
// Why it ends: each home counts its open rows down and says so with each cut; a cut that leaves nothing open
// in any shard ends the job. So does cancelling it (every home ends its rows), or a failure that a home
// reports.

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
#include "libdag/job/planted.hpp"
#include "libdag/journal/sink.hpp"

namespace dag {

/// Names a client of a cell: one Session, one `dag show --follow`.
struct ClientId {
  std::uint64_t value = 0;
  auto operator<=>(const ClientId&) const = default;
};

struct CellOptions {
  Life self;  ///< of the process that it is in
  /// Shards of a dead life go to the lives with the fewest, drawn by this seed among equals.
  std::uint64_t seed = 0;
  /// Whether lives that lead the cell may be homes and run attempts. If not, they are members all the same:
  /// their messages are let in, and their runners get outputs for the client and keep copies of saves.
  bool self_runs = true;
  /// From when deadlines count, by the clock of this process; left out: from begin(). A task is late when its
  /// outcome is recorded, and so seen by anybody, after its deadline.
  std::optional<Instant> submitted = std::nullopt;
  std::uint32_t replicas = 1;
  /// A plan that takes no more than this is told to all; a larger one to those who ask what the job is.
  std::size_t small_plan_bytes_max = std::size_t{32} << 10;
  /// For the simulator's own test: which rule is broken on purpose.
  Planted planted = Planted::nothing;
};

/// A task that the client follows is settled. The value is inside the record, or lies with the holders
/// (Runner::bring gets it).
struct TellClient {
  ClientId client;
  OutcomeRecord record;
  std::vector<Life> holders;
};
/// Every row is final and settled, or the job was stopped. `stopped` says why when it did not come to its
/// end.
struct JobEnded {
  std::optional<Error> stopped;
  bool cancelled = false;
};
using CellEffect = std::variant<SendMessage, TellClient, JobEnded>;

class Cell : private RecordedOutcomes {
 public:
  Cell(CellOptions options, std::shared_ptr<const JobPlan> plan, RecordSink& records);
  /// Goes on where another was. What the options say that the snapshot says, too, they say in vain.
  Cell(CellOptions options, const CellSnapshot& from, RecordSink& records);

  /// Any of what follows, but for clients.
  void apply(CellCommand command, std::uint32_t term, Instant now);
  /// Another process leads, in this term. `begin` when nobody did before.
  void lead(const command::Lead& word, std::uint32_t term, Instant now);

  /// Gives the shards to those of `lives` that run: shard i to homes[i] when given, else in turn. `lives`
  /// holds the cell's own. When none runs yet, the first that comes up begins.
  void begin(const std::vector<Life>& lives, const std::vector<Life>& homes, Instant now);
  /// Whether anything would come of that message.
  bool believes(Life from, const JobMessage& message) const;
  void on_message(Life from, const JobMessage& message, Instant now);
  void on_life_up(Life life, Instant now) { on_lives_up({life}, now); }
  void on_lives_up(const std::vector<Life>& lives, Instant now);
  /// Tasks that took the process down are charged with a try, and those that may have are suspects
  /// (supervision/blame.hpp says which those are); homes learn that together with the death.
  void on_life_down(Life life, Instant now, const LifeEnd& how = {});

  /// Tells the client of these tasks of the graph, now or when they are settled; no tasks: of all of them.
  void follow(ClientId client, const std::vector<TaskId>& tasks, Instant now);
  /// The client will want the bytes: they are kept. To be asked early; later they may have to be made again.
  void keep(const std::vector<TaskId>& tasks, Instant now);
  bool keeps(TaskId task) const { return kept_.contains(task); }
  void forget(ClientId client);
  /// These tasks, or the whole job when there are none.
  void cancel(const std::vector<TaskId>& tasks, Instant now);
  void stop(Error why, Instant now);
  /// Nobody will ask for anything of the job any more: homes and runners let go of it. Until then a settled
  /// output can be had, or made again, also when the job has ended.
  void close();

  /// For records, where a job is led from now on that others led: what it has come to, and how it began and
  /// ended if that may have been lost with them. Looks at all that is settled.
  void say_so_far(Instant now);

  const message::JobState& state() const { return state_; }
  const std::shared_ptr<const JobPlan>& plan() const { return plan_; }
  /// What whoever began it wanted to find again.
  const Blob& attached() const { return attached_; }
  /// Nobody will ask for anything of the job.
  bool is_closed() const { return state_.ended && state_.lives.empty(); }
  /// How the job ended, or was stopped; nothing while it goes on.
  std::optional<JobEnded> ended() const;
  /// Of a cell with several replicas.
  CellSnapshot snapshot() const;
  const CellCounts& counts() const { return counts_; }
  /// The settled record of a task, if it is settled (and remembered).
  std::optional<OutcomeRecord> settled(TaskId task) const;
  /// Tasks of the graph whose outputs somebody who retries the job would read again, and the record has not:
  /// who keeps what the job leaves should have them. Not more than unread_max.
  std::vector<std::uint32_t> unread() const;
  static constexpr std::size_t unread_max = 4096;
  std::vector<CellEffect> take_effects();

 private:
  using Entry = RecordedOutcome;
  struct Stream {
    std::uint64_t position = 0;  ///< of the newest Settled sent
    std::uint64_t outcomes = 0;  ///< number of the newest Outcomes heard in this epoch
    std::uint64_t rows_open = 0;
    bool heard = false;  ///< rows_open is from this epoch
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
  /// `what` makes what is recorded; it is not called when nobody listens.
  template <class What>
  void say(TaskId task, AttemptId attempt, Instant now, What&& what) {
    if (!records_.enabled()) return;
    records_.record({now, {options_.self.process, std::nullopt}, state_.job, task, attempt, what()});
  }
  void say_known(const OutcomeRecord& growth, Instant now);
  void say_graph(const detail::Fragment& graph, TaskId first, const OutcomeRecord* growth, Instant now);
  void say_finished(const message::TaskBits& some, AttemptId attempt, Instant now);
  recorded::Settled recorded_of(const OutcomeRecord& said, std::optional<Instant> now) const;
  void blame(const LifeEnd& how, Instant now);
  void give_orphans(Instant now);
  void give(std::uint32_t shard, Instant now);
  message::Assign assignment(std::uint32_t shard) const;
  /// Visits what is recorded of a shard, each record and its home, in the order of settling. A task that was
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

  CellOptions options_;
  std::shared_ptr<const JobPlan> plan_;
  bool plan_is_small_;
  Blob attached_;
  JobId retries_;
  RecordSink& records_;
  message::JobState state_;
  bool done_ = false;
  /// Whether a home may have to be counted again: some shard is not at this process, or the job can lose this
  /// process. If not, only the tasks of the graph are remembered.
  bool recountable_ = false;
  /// One bit per task of the graph: those of which only the name is known, by the epoch of the home that ran
  /// them; and those whose end a client wants to hear.
  std::map<Epoch, std::vector<std::uint64_t>> first_try_;
  std::vector<std::uint64_t> followed_;
  /// The same for those that a task reads which failed, or did not run: its job may be retried, so what is
  /// inline of them stays. Not in a snapshot: outcomes say it.
  std::vector<std::uint64_t> read_by_unfinished_;
  /// Per shard, in the order of settling; a task whose attempt was fixed before it ended is there twice.
  std::vector<std::vector<TaskId>> log_;
  /// Tasks that were fixed as what they spawned: the record with outcome `none`.
  std::map<TaskId, OutcomeRecord> grown_;
  std::map<TaskId, Entry> settled_;
  std::vector<Stream> streams_;
  SaidSteps steps_;
  /// Per task of the graph: other shards with successors of it that start only when it is settled.
  std::map<std::uint32_t, std::vector<std::uint32_t>> listeners_;
  /// How often the kernel of tasks that are not settled failed, where another home may have to know.
  std::map<TaskId, std::uint32_t> tried_;
  /// Tasks that may run only once, or not twice at a time, were started, and are not settled.
  std::set<TaskId> started_;
  std::map<TaskId, std::set<ClientId>> followers_;
  std::set<TaskId> kept_;
  std::set<TaskId> cancelled_;
  /// Of each process that died, the newest life that did: it does not come back, whoever thinks it is there.
  std::map<ProcessId, Incarnation> gone_;
  /// Who took part when the job was closed.
  std::vector<Life> closed_;
  /// What attempts spawned, by its first task. Kept for records, so only when somebody listens.
  std::map<TaskId, std::shared_ptr<const detail::Fragment>> spawned_;
  CellCounts counts_;
  std::vector<CellEffect> effects_;
};

}  // namespace dag
