#pragma once
// The home of a shard: decides which of its rows may run, where, how often, what they came to, and what may
// be forgotten. A machine for one thread; actors/home_actor drives it and carries out its effects.
//
// What it decides alone. Lanes run bare rows and follow their strong edges inside the shard (row_table.hpp);
// of all that the home only hears afterwards, in batches. Everything else comes to it: rows whose last edge
// is satisfied and that are not plain (`decide`), attempts that failed, spawned, or were lost, edges from and
// to other shards.
//
// Who satisfies which edge. An edge inside the shard is satisfied by whoever ends its predecessor, once,
// because a row's first change to `ended` happens once: the strong edges of a quick end by the lane, all
// other edges by the home when it notes the end. An edge from another shard starts at a ghost, and whoever
// changes the ghost's word to `ended` satisfies its edges: a lane that was told by another one
// (edge_news.hpp; the strong ones), or the home with the first message about it. Later ones only tell it more
// about holders.
//
// What it tells the cell. A row's outcome is sent when the outcomes of its predecessors here were sent,
// together with the attempts of those elsewhere that it used. The cell records it with these, in steps
// (cell/said_steps.hpp). When a row elsewhere comes to another attempt after all, what rests
// on it is not recorded; the home withdraws it, and says it anew.
//
// Why it ends. Every row leaves `waiting` when its predecessors ended, which is well-founded (no cycles);
// `held` by a decision, a timer that is set, a message that is repeated until answered, or a predecessor that
// settles; `ready`, `running` and `lent` by an end, a Return, or the death of who has it, which the cell
// tells. Each try is counted and limited. The cell hears of each end and answers, and the job ends when no
// row of any home is left open.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "libdag/base/planted.hpp"
#include "libdag/job/attempt.hpp"
#include "libdag/job/effects.hpp"
#include "libdag/job/explained.hpp"
#include "libdag/job/held_outputs.hpp"
#include "libdag/job/lane_report.hpp"
#include "libdag/job/messages.hpp"
#include "libdag/job/planted.hpp"
#include "libdag/job/spawn_credit.hpp"
#include "libdag/journal/sink.hpp"
#include "libdag/placement/choose_process.hpp"
#include "libdag/rows/gate.hpp"
#include "libdag/rows/row_table.hpp"
#include "libdag/supervision/lease.hpp"

namespace dag {

/// What is recorded leaves a home this long after what left before, if nobody waits for it: recording it
/// costs some messages between processes, however little it is.
inline constexpr Duration cut_interval = std::chrono::milliseconds(50);

struct HomeOptions {
  std::uint32_t shard = 0;
  Epoch epoch;
  Life self;
  std::uint64_t seed = 0;
  /// Digests are taken of outputs that leave the process, and of all outputs of job actors' calls.
  bool several_processes = false;
  /// Of this process. So many tasks that may run only once, and one more, are started before one has ended:
  /// those that are lost with a process are not known to have run or not.
  std::uint32_t lanes = 1;
  std::size_t digest_at_once_bytes_max = dag::digest_at_once_bytes_max;
  /// For the simulator's own test: which rule is broken on purpose.
  Planted planted = Planted::nothing;
  /// A rollback of job actors that comes to nothing this often stops the job.
  std::uint32_t rollbacks_max = 1000;
  /// Of processes that run exclusive tasks.
  Duration lease = exclusive_lease;
  Duration cut_interval = dag::cut_interval;
  /// Outputs that no task will read any more stay while all of them together are no larger, for a client that
  /// asks late; who asks later is refused (output_released). Nothing: none stays, and what such a client asks
  /// for is made again.
  std::optional<std::uint64_t> released_bytes_max = {};
  /// How far it may be ahead of the record with what attempts have spawned.
  SpawnCredit spawn_credit = {};
};

/// An attempt that is to be given a place.
struct AttemptToPlace {
  TaskId task;
  const std::string& name;
  const Policy& policy;
  /// Empty where there is only one place.
  const std::vector<PlacementInput>& inputs;
  /// Whether anybody wants to know why.
  bool explained = true;
};
struct PlacedAttempt {
  Life at;
  /// Set when there was something to decide, and somebody wants to know: it is recorded.
  std::optional<recorded::Placed> why = std::nullopt;
};

/// Where a job actor is to live, where attempts run that are not for the lanes here: pure choices. The
/// default keeps attempts here and gives each new actor to the life with the fewest; finish_placer.hpp has
/// another.
class HomePlacement {
 public:
  virtual ~HomePlacement() = default;
  /// `lives` is not empty, and sorted; `actors_at` counts this home's actors per life.
  virtual Life place_actor(std::uint32_t actor, const std::vector<Life>& lives,
                           const std::vector<std::uint32_t>& actors_at, const Policy& policy) = 0;
  /// Where to run an attempt; `self` to keep it. The answer must be one of `lives`, or `self`.
  virtual PlacedAttempt place_attempt(const AttemptToPlace& attempt, const std::vector<Life>& lives,
                                      Life self) = 0;
  /// Whether to ask about a plain row, too, that the home made ready. Lanes never ask.
  virtual bool wants_to_place(const std::string&, const Policy&, bool /*inputs_here*/) const { return false; }
  /// Whether a row that waits here would be longer under way to `thief`, with its inputs.
  virtual bool keeps(const std::vector<PlacementInput>& /*inputs*/, Life /*thief*/, Life /*self*/) {
    return false;
  }
  /// A task of that name ran for so long, here or elsewhere. `bound`: it had no choice, as calls of job
  /// actors have none, so placement learns nothing of it but what is usual.
  virtual void ran(const std::string&, Duration, bool /*bound*/) {}
  /// So long do tasks of that name run, if anything is known of it.
  virtual std::optional<Duration> usual(const std::string&, const Policy&) const { return std::nullopt; }
  /// The same for people, with its range.
  virtual std::optional<RunEstimate> estimate(const std::string& name, const Policy& policy) const {
    const auto known = usual(name, policy);
    return known ? std::optional(RunEstimate{*known, *known, *known}) : std::nullopt;
  }
  /// Of tasks of all names.
  virtual std::optional<RunEstimate> estimate_of_all() const { return std::nullopt; }
  /// needs_impossible when none of `lives` could ever run a task of that name. Of a life that has not said
  /// what it has, it is taken that it could.
  virtual Status possible(const std::string&, const Policy&, const std::vector<Life>& /*lives*/) {
    return Done{};
  }
  /// What it would choose from, of all that are there; by the same predicate as place_attempt.
  virtual std::vector<recorded::Candidate> consider(const AttemptToPlace&, const std::vector<Life>&,
                                                    Life /*self*/) {
    return {};
  }
};
/// One of those with the fewest; which one of them, the actor's number says. Actors that are not saved
/// together may have homes of their own, which know nothing of each other: the first one would be the same
/// for all.
Life with_fewest_actors(std::uint32_t actor, const std::vector<Life>& lives,
                        const std::vector<std::uint32_t>& actors_at);
std::unique_ptr<HomePlacement> simple_placement();

// ---- Effects, to be carried out in order

using HomeEffect = std::variant<MakeReady, StartAttempt, StopAttempt, SendMessage, PublishOutput, Troubled>;

/// For `dag show` and tests.
struct HomeCounts {
  std::uint64_t rows = 0;  ///< without ghosts
  std::uint64_t ended = 0;
  std::uint64_t settled = 0;
  std::uint64_t outputs_held = 0;  ///< bytes in slots
  std::uint64_t lent = 0;
  std::uint64_t attempts = 0;  ///< issued outside of bare rows
};

class Home {
 public:
  /// `table` is empty and `gate` open; lanes may use both as soon as begin() or recover() has returned
  /// effects. All but the options are kept by reference.
  Home(HomeOptions options, std::shared_ptr<const JobPlan> plan, RowTable& table, Gate& gate,
       RecordSink& records, std::unique_ptr<HomePlacement> placement = simple_placement());
  ~Home();
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  /// The shard's first home.
  void begin(const message::JobState& state, Instant now);
  /// A later one. Starts rows when every life it asks has reported or died.
  void recover(const message::Assign& assign, const message::JobState& state, Instant now);

  void on_state(const message::JobState& state, Instant now);
  /// What a lane did with bare rows.
  void on_lanes(LaneReport report, Instant now);
  /// Lanes can tell those of these lives of ends themselves, through memory (edge_news.hpp), this life
  /// included or not; and those of all others by links, or not. Who cannot be told by lanes is told by this
  /// home, as all were before the first call.
  void on_reach(std::vector<Life> lives, Instant now, bool others_by_link = false);
  /// The end of an attempt that StartAttempt asked for. False: it is not (or not any more) one of ours.
  bool on_ended(Ended ended, Instant now);
  /// Any message whose Recipient is `home` and that names this shard.
  void on_message(Life from, const JobMessage& message, Instant now);
  /// Timeouts and backoffs that are due.
  void on_time(Instant now);
  std::optional<Instant> wake_at() const;
  /// `thief` asked for rows; `rows` are ready ones that no lane has claimed (Lanes::take_rows). Those that
  /// cannot go are made ready again. How many went.
  std::size_t lend(std::span<const RowIndex> rows, Life thief, std::uint32_t slots, Instant now);
  /// Whether this attempt, which waits for a lane here, may be taken from it for an idle process.
  bool may_lend(const OutputName& attempt) const;
  /// Attempts that may, and were taken: other ones are handed to the thief, or here again. How many went.
  std::size_t lend_attempts(std::span<const OutputName> attempts, Life thief, Instant now);

  /// What this home can vouch for about rows of another shard, for that shard's new home: added to `report`.
  void vouch(message::Report& report) const;

  /// What is to be done since the last call. To be called after each event.
  std::vector<HomeEffect> take_effects();

  const HomeOptions& options() const;
  HomeCounts counts() const;
  /// What was spawned, and the record does not have.
  SpawnLoad spawned_ahead() const;
  bool recounting() const;
  /// The epoch that a message must name.
  Epoch epoch() const { return options().epoch; }
  /// Why the row is where it is, in one line; for people.
  std::string explain(TaskId task) const;
  /// The same of those that are wanted, and how many there are in each state.
  void explain(const TaskSelector& wanted, Instant at, ProcessExplained& to) const;
  /// The longest way from a row of this home that has not ended to the end of the graph takes the place of
  /// `longest` when it is longer. O(tasks + edges) the first time, and when what is known of it has become
  /// old; else O(rows).
  void critical_path(Instant at, std::optional<PathLeft>& longest);
  /// The outputs that lie with its rows.
  void count_held(HeldSum& sum) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dag
