#pragma once
// The home of a shard: decides which of its rows run, where and how often, how they ended, and what may be
// forgotten. A machine for one thread; a JobHere drives it.
//
// Scope of its decisions. Lanes run bare rows and follow their strong edges inside the shard (row_table.hpp);
// the home hears of those later, in batches. Everything else comes to the home: rows whose last edge is
// satisfied and that are not plain (`decide`), attempts that failed, spawned, or were lost, edges from and to
// other shards.
//
// Edges. An edge inside the shard is satisfied by the thread that ends its predecessor, once, because a
// row's first change to `ended` happens once: the strong edges of a quick end by the lane, all other edges
// by the home when it notes the end. An edge from another shard starts at a ghost. The thread that changes
// the ghost's word to `ended` satisfies its edges: a lane that was told by another lane (edge_news.hpp;
// the strong edges), or the home with the first message about the ghost. Later messages only name more
// holders.
//
// Outcomes. A row's outcome is sent to the cell when the outcomes of its predecessors here were sent,
// together with the attempts of predecessors elsewhere that it used. The cell records it with these, in steps
// (cell/said_steps.hpp). If a row elsewhere comes to another attempt after all, outcomes that rest on it are
// not settled; the home withdraws them, and sends them anew.
//
// Every job ends. Every row leaves `waiting` when its predecessors ended, which is well-founded (no cycles);
// `held` by a decision, a timer that is set, a message that is repeated until answered, or a predecessor that
// settles; `ready`, `running` and `lent` by an end, a Return, or the death of the process that has it, which
// the cell tells. Each try is counted and limited. The cell hears of each end and answers, and the job ends
// when no row of any home is left open.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "libdag/home/planted.hpp"
#include "libdag/job/attempt.hpp"
#include "libdag/job/effects.hpp"
#include "libdag/job/explained.hpp"
#include "libdag/job/held_outputs.hpp"
#include "libdag/job/lane_report.hpp"
#include "libdag/job/messages.hpp"
#include "libdag/job/spawn_credit.hpp"
#include "libdag/journal/sink.hpp"
#include "libdag/placement/choose_process.hpp"
#include "libdag/rows/gate.hpp"
#include "libdag/rows/row_table.hpp"
#include "libdag/supervision/lease.hpp"

namespace dag {

/// Interval between cuts to the cell, unless something waits for one: recording a cut costs some messages
/// between processes, however small the cut is.
inline constexpr Duration cut_interval = std::chrono::milliseconds(50);

struct HomeOptions {
  std::uint32_t shard = 0;
  Epoch epoch;
  Life self;
  std::uint64_t seed = 0;
  /// If set, digests are taken of outputs that leave the process, and of all outputs of job actors' calls.
  bool several_processes = false;
  /// Lanes of this process. At most one more at_most_once and exclusive task than this is started and not
  /// ended: if the process is lost, nobody knows whether they ran.
  std::uint32_t lanes = 1;
  std::size_t digest_at_once_bytes_max = dag::digest_at_once_bytes_max;
  /// For the simulator's own test: the rule that is broken on purpose.
  PlantedInHome planted = PlantedInHome::nothing;
  /// The job is stopped after this many rollbacks of job actors without success.
  std::uint32_t rollbacks_max = 1000;
  /// Lease of processes that run exclusive tasks.
  Duration lease = exclusive_lease;
  Duration cut_interval = dag::cut_interval;
  /// Released outputs stay up to this sum of sizes, for a client that asks late; later questions are refused
  /// (output_released). Nothing: no released output stays, and an output that a client asks for is made
  /// again.
  std::optional<std::uint64_t> released_bytes_max = {};
  /// Limit of spawned tasks that the record does not have yet.
  SpawnCredit spawn_credit = {};
};

/// An attempt to be placed.
struct AttemptToPlace {
  TaskId task;
  const std::string& name;
  const Policy& policy;
  /// Empty where there is only one place.
  const std::vector<PlacementInput>& inputs;
  /// True if the reason for the choice is to be recorded.
  bool explained = true;
};
struct PlacedAttempt {
  Life at;
  /// Set if there was a choice, and the reason is to be recorded.
  std::optional<event::Placed> why = std::nullopt;
};

/// Chooses where job actors live, and where attempts run that are not for the lanes here: pure choices. The
/// default keeps attempts here and gives each new actor to the life with the fewest actors; finish_placer.hpp
/// has another.
class HomePlacement {
 public:
  virtual ~HomePlacement() = default;
  /// `lives` is not empty, and sorted; `actors_at` counts this home's actors per life.
  virtual Life place_actor(std::uint32_t actor, const std::vector<Life>& lives,
                           const std::vector<std::uint32_t>& actors_at, const Policy& policy) = 0;
  /// Where to run an attempt; `self` to keep it. The answer must be one of `lives`, or `self`.
  virtual PlacedAttempt place_attempt(const AttemptToPlace& attempt, const std::vector<Life>& lives,
                                      Life self) = 0;
  /// True if plain rows that the home made ready are to be placed as well. Lanes never ask.
  virtual bool wants_to_place(const std::string&, const Policy&, bool /*inputs_here*/) const { return false; }
  /// True if a row queued here starts sooner than it could get to `thief` with its inputs.
  virtual bool keeps(const std::vector<PlacementInput>& /*inputs*/, Life /*thief*/, Life /*self*/) {
    return false;
  }
  /// A task of that name took this time, here or elsewhere. `bound`: it had no choice of place, as calls of
  /// job actors have none, so placement learns only its usual run time.
  virtual void ran(const std::string&, Duration, bool /*bound*/) {}
  /// The usual run time of tasks of that name, if known.
  virtual std::optional<Duration> usual(const std::string&, const Policy&) const { return std::nullopt; }
  /// The same for people, with its range.
  virtual std::optional<RunEstimate> estimate(const std::string& name, const Policy& policy) const {
    const auto known = usual(name, policy);
    return known ? std::optional(RunEstimate{*known, *known, *known}) : std::nullopt;
  }
  /// The run time of all tasks.
  virtual std::optional<RunEstimate> estimate_of_all() const { return std::nullopt; }
  /// needs_impossible when none of `lives` could ever run a task of that name. A life that has not announced
  /// its devices is assumed able to.
  virtual Status possible(const std::string&, const Policy&, const std::vector<Life>& /*lives*/) {
    return Done{};
  }
  /// The candidates and the verdict on each; by the same predicate as place_attempt.
  virtual std::vector<event::Candidate> consider(const AttemptToPlace&, const std::vector<Life>&,
                                                 Life /*self*/) {
    return {};
  }
};
/// A life with the fewest actors; the actor's number chooses among several. Actors that are not saved
/// together may have homes of their own, which know nothing of each other: taking the first would give all of
/// them the same life.
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
       EventSink& records, std::unique_ptr<HomePlacement> placement = simple_placement());
  ~Home();
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  /// The shard's first home.
  void begin(const message::JobState& state, Instant now);
  /// A later home of the shard. Starts rows when every life it asks has reported or died.
  void recover(const message::Assign& assign, const message::JobState& state, Instant now);

  void on_state(const message::JobState& state, Instant now);
  /// The report of a lane on bare rows.
  void on_lanes(LaneReport report, Instant now);
  /// Lanes can tell these lives of ends themselves, through memory (edge_news.hpp); `lives` may include this
  /// life. They tell all other lives by links if `others_by_link`. This home tells the lives that lanes
  /// cannot, as it tells all before the first call.
  void on_reach(std::vector<Life> lives, Instant now, bool others_by_link = false);
  /// The end of an attempt that StartAttempt asked for. False: it is not (or not any more) one of ours.
  bool on_ended(AttemptEnd ended, Instant now);
  /// Any message whose Recipient is `home` and that names this shard.
  void on_message(Life from, const JobMessage& message, Instant now);
  /// Timeouts and backoffs that are due.
  void on_time(Instant now);
  std::optional<Instant> wake_at() const;
  /// `thief` asked for rows; `rows` are ready ones that no lane has claimed (Lanes::take_rows). Rows that
  /// cannot go are made ready again. Returns how many went.
  std::size_t lend(std::span<const RowIndex> rows, Life thief, std::uint32_t slots, Instant now);
  /// True if this attempt, queued for a lane here, may be taken from it for an idle process.
  bool may_lend(const OutputName& attempt) const;
  /// Attempts that may_lend and were taken go to the thief, or are queued here again. Returns how many went.
  std::size_t lend_attempts(std::span<const OutputName> attempts, Life thief, Instant now);

  /// Adds to `report` what this home can vouch for about rows of another shard, for that shard's new home.
  void vouch(message::Report& report) const;

  /// The effects since the last call. To be called after each event.
  std::vector<HomeEffect> take_effects();

  const HomeOptions& options() const;
  HomeCounts counts() const;
  /// Spawned tasks that the record does not have.
  SpawnLoad spawned_ahead() const;
  bool recounting() const;
  /// The epoch that a message must name.
  Epoch epoch() const { return options().epoch; }
  /// Why the row is where it is, in one line; for people.
  std::string explain(TaskId task) const;
  /// The same for the tasks of the selector, with the number of rows in each state.
  void explain(const TaskSelector& wanted, Instant at, ProcessExplained& to) const;
  /// Replaces `longest` by the longest path from a row of this home that has not ended to the end of the
  /// graph, if that is longer. O(tasks + edges) the first time, and when its estimates have become old; else
  /// O(rows).
  void critical_path(Instant at, std::optional<PathLeft>& longest);
  /// Adds the outputs that lie with its rows.
  void count_held(HeldSum& sum) const;
  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dag
