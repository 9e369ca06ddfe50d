#pragma once
// The home itself: its rows, its attempts, and the classes that know the rest. Those decide and return; the
// home carries it out, and says to each what the others need. The member functions lie in one file per
// subject, as the sections below say, and they alone include this file.

#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

#include "libdag/base/random.hpp"
#include "libdag/graph/outcome_rules.hpp"
#include "libdag/home/actor_objects.hpp"
#include "libdag/home/askers.hpp"
#include "libdag/home/borders.hpp"
#include "libdag/home/checkpoints.hpp"
#include "libdag/home/consumed_outputs.hpp"
#include "libdag/home/crashes.hpp"
#include "libdag/home/critical_path.hpp"
#include "libdag/home/digests.hpp"
#include "libdag/home/earlier_attempts.hpp"
#include "libdag/home/home_rows.hpp"
#include "libdag/home/lane_ways.hpp"
#include "libdag/home/ledger.hpp"
#include "libdag/home/outputs.hpp"
#include "libdag/home/recount.hpp"
#include "libdag/home/retries.hpp"
#include "libdag/home/row_work.hpp"
#include "libdag/home/spawned_parts.hpp"
#include "libdag/home/starts.hpp"
#include "libdag/home/staying_outputs.hpp"
#include "libdag/home/stopped_attempts.hpp"
#include "libdag/home/task_groups.hpp"
#include "libdag/supervision/checkpoint_interval.hpp"

namespace dag {

class Home::Impl : public HomeRows {
 public:
  Impl(HomeOptions options, std::shared_ptr<const JobPlan> plan, RowTable& table, Gate& gate, EventSink& sink,
       std::unique_ptr<HomePlacement> placement);

  // ---- events.cpp
  void begin(const message::JobState& state);
  void on_state(const message::JobState& state);
  void on_lanes(LaneReport&& report);
  void on_message(Life from, const JobMessage& message);
  void on_time();
  void attempts_lost(Instant leases_over);
  void tell_new_homes(const message::JobState& before);
  void finish_event();
  void fail_job(Error error);
  void cancel_all();
  void on(Life from, const message::Settled& message);
  void on(Life from, const message::Keep& message);
  void on(Life from, const message::Cancel& message);
  void on(Life from, const message::Ended& message);
  void on(Life from, const message::Digested& message);
  void on(Life from, const message::Checkpointed& message);
  void on(Life from, const message::Return& message);
  void on(Life from, const message::Holding& message);
  void on(Life from, const message::Report& message);
  void on(Life from, const message::PredecessorEnded& message);
  void on(Life from, const message::NotEnded& message);
  void on(Life from, const message::Consumed& message);
  void on(Life from, const message::Need& message);
  template <class M>
  void on(Life, const M&) {}  // for other machines

  // ---- edges.cpp
  void add_rows(std::uint32_t part, RowIndex parent);
  void keep_unread_calls(const Part& part);
  void open(std::uint32_t part);
  void satisfy(RowIndex row);
  void close(RowIndex row, Outcome outcome, std::optional<Error> error, std::uint32_t flags = 0);
  void note(RowIndex row, bool by_lane);
  void note_quick(RowIndex row, Duration ran);
  bool note_lean(RowIndex row);
  void note_reported(const QuickEnd& quick);
  void tell_shard(RowIndex row, std::uint32_t shard);
  void ghost_news(const OutcomeRecord& record, const std::vector<Life>* holders, bool settled);

  // ---- by_words.cpp
  void find_rows_by_words();
  bool notes_by_words() const;
  std::size_t note_by_words(std::span<const QuickEnd> ends);
  bool note_by_word(RowIndex row);
  RowWord alike(RowWord some) const;
  void write(message::Outcomes& outcomes, RowWord finished);
  void settle(RowWord finished);

  // ---- decide.cpp
  void decide(RowIndex row);
  bool ends_without_start(RowIndex row);
  void start_unless_held(RowIndex row);
  bool inputs_settled(RowIndex row) const;
  bool condition(RowIndex predecessor, std::uint32_t edge) const;
  std::vector<EdgeResult> edge_results(RowIndex row) const;
  Error cancel_reason(RowIndex row) const;
  Error error_before(RowIndex row) const;
  Error skip_reason(RowIndex row, const std::vector<EdgeResult>& results) const;
  bool is_true(HeldFor why, RowIndex row) const;
  void check_held_rows() const;

  // ---- routes.cpp
  void add_graph();
  bool end_ghost(RowIndex row, Outcome outcome);
  void note_ghost(RowIndex row);
  bool is_newest(RowIndex ghost, std::uint32_t from, Epoch from_epoch, std::uint64_t change);
  void ghost_not_ended(const std::vector<RowIndex>& ghosts);
  Fact& fact_of_ghost(RowIndex row);
  bool inputs_unknown(RowIndex ghost) const;
  void name_ghosts_of(std::uint32_t shard);
  std::vector<std::pair<RowIndex, std::uint32_t>> change_routes();
  void on_reach(std::vector<Life> lives, bool by_link);

  // ---- attempts.cpp
  AttemptId issue(RowIndex row, Life to);
  void start(RowIndex row, std::optional<Life> wanted_at = std::nullopt);
  void dispatch(RowIndex row, Life to, AttemptId id, bool again, AttemptId generation,
                const OutcomeRecord* restore);
  void attempt_ended(Life from, OutcomeRecord record, Duration ran);
  /// `known_run` is empty if the run time was lost.
  void row_attempt_ended(RowIndex row, OutcomeRecord& record, Life from, std::uint32_t word_attempt,
                         std::optional<Duration> known_run);
  void stop_dispatched(RowIndex row, const OutAttempt& out);
  bool bare(RowIndex row) const;

  // ---- retrying.cpp
  void attempt_failed(RowIndex row, std::uint32_t word_attempt, AttemptId id, const Error& why);
  void take_back(RowIndex row, const EventWhat& why);
  void on_crashes(const message::JobState* before);
  Error no_more_attempts(RowIndex row) const;
  void tell_trouble(RowIndex row, Troubled::Kind kind, std::uint32_t number, const std::string& what,
                    std::optional<Duration> again_after);

  // ---- lending.cpp
  std::size_t lend(std::span<const RowIndex> rows, Life thief, std::uint32_t slots);
  bool may_go_elsewhere(RowIndex row) const;
  bool may_lend(const OutputName& attempt) const;
  std::size_t lend_attempts(std::span<const OutputName> attempts, Life thief);
  bool lend_again(RowIndex row, Life from, Life thief);

  // ---- placing.cpp
  std::vector<RowIndex> input_rows(RowIndex row) const;
  bool inputs_here(RowIndex row) const;
  std::vector<PlacementInput> inputs_to_place(RowIndex row) const;
  std::optional<FewPlaces> narrowed(RowIndex row) const;
  PlacedAttempt place(RowIndex row) const;
  std::vector<event::Candidate> consider(RowIndex row) const;
  void ready(RowIndex row);
  void place_ready(RowIndex row);
  void observe(RowIndex row, Duration ran);

  // ---- lineage.cpp
  std::vector<Life> holders_of(RowIndex row);
  std::vector<OutputName> inputs_of(RowIndex row) const;
  OutcomeRecord record_of(RowIndex row, bool for_cell);
  bool needs_digest(RowIndex row, const Blob& output) const;
  bool digest_taken(RowIndex row);
  void await_digest(RowIndex row, Life from);
  bool copied(RowIndex row);
  void copies_lost();
  void copy_lost(RowIndex row);
  /// An answer without content, for the name that was asked for.
  message::Located answer_about(const OutputName& asked) const;
  void answer(const Asker& asker, RowIndex row);
  void answer_askers(RowIndex row);
  void remake(RowIndex row);
  void run_again(RowIndex row);
  void again_ended(RowIndex row, OutcomeRecord& record, Life from);
  void output_is_there_again(RowIndex row, OutcomeRecord& record, Life from);

  // ---- letting_go.cpp
  void consumer_done(RowIndex row);
  void maybe_let_go(RowIndex row);
  bool lingers(RowIndex row);
  void let_go(RowIndex row);
  Error released(RowIndex row) const;
  void drop_bytes(RowIndex row);
  void release_inputs(RowIndex row);

  // ---- outcomes.cpp
  void put(RowIndex row, bool growth);
  std::size_t weight_of_record(RowIndex row, bool growth) const;
  std::vector<OutputName> needs_elsewhere(RowIndex row) const;
  bool simple(RowIndex row) const;
  bool named_only(RowIndex row) const;
  void write(message::Outcomes& outcomes, Ledger::Entry entry);
  void write_plain(message::Outcomes& outcomes, RowIndex row) const;
  void say_again();
  void withdraw(RowIndex changed);
  void put_tried(RowIndex row);
  void put_started(RowIndex row);
  void try_send(RowIndex row);
  bool inputs_sent(RowIndex row) const;
  bool left_no_trace(RowIndex call) const;
  void wake_parked_by(RowIndex row);
  std::optional<Instant> leaves_at() const;
  void flush();
  void row_settled(RowIndex row);
  void own_settled(RowIndex row);
  void lean_settled(RowIndex row);
  void park(RowIndex row);
  void unpark(RowIndex row);

  // ---- may_start.cpp
  bool may_start(RowIndex row);
  bool waits_for_leases(RowIndex row);
  void look_for_leases_over();
  bool waits_for_stopped(RowIndex row) const { return stopped_attempts.holds(row, state.lives, now); }
  void stop_for_next(RowIndex row, const OutAttempt& out);
  void stopped_is_gone(RowIndex row, Life runner, AttemptId id);
  void stopped_are_lost(Instant leases_over);

  // ---- spawn.cpp
  void grow(RowIndex row, OutcomeRecord& record, TaskId first_id);
  bool tolerates_failure(RowIndex row) const;
  std::vector<OutcomeRecord::LiteralAbove> literals_left_out(RowIndex row,
                                                             const detail::Fragment& spawned) const;
  void leave_out_literals(RowIndex row, OutcomeRecord& record) const;
  std::size_t bytes_told_of(RowIndex row, const detail::Fragment& spawned) const;
  std::optional<Error> spawns_the_impossible(const detail::Fragment& spawned) const;
  std::optional<Error> spawns_too_much(RowIndex row, const detail::Fragment& spawned) const;
  void bring_literals(RowIndex row, OutcomeRecord& record) const;
  void end_head(RowIndex head, RowIndex tail);
  void vanish(std::uint32_t part, std::set<RowIndex>& touched);

  // ---- actors.cpp
  void add_actors();
  void add_call(RowIndex row, const std::set<RowIndex>& behind);
  void call_ended(RowIndex row);
  void count_calls_again();
  void step_actor(std::uint32_t actor);
  void call_again_ended(RowIndex row, OutcomeRecord& record, Life from);
  void call_lost(RowIndex row, const std::string& why);
  void remake_call(RowIndex row);
  void roll_back(std::uint32_t group, const std::string& why);
  bool makes_save(RowIndex row);
  void saves_changed(std::uint32_t group);
  void replicate_save(RowIndex row);
  void replicate_saves();

  // ---- saved_states.cpp
  bool add_checkpoint(const OutcomeRecord& record, Life holder);
  void answer_checkpoint(Life asker, const message::Need& need);
  void give_checkpoint(RowIndex row, const Policy& policy, std::uint32_t word_attempt, message::Lend& lend);
  void copy_checkpoint(const RowCheckpoint& checkpoint);
  void copy_checkpoints();
  void checkpoints_lost(const message::JobState& before);

  // ---- groups.cpp
  void add_groups();
  bool waits_for_group(RowIndex member);
  void member_ended(RowIndex member);
  void carry_out(const TaskGroups::Consequences& what);
  void stop_member(RowIndex member, const std::string& why);
  void look_again_at(std::span<const RowIndex> members);
  void overtake(const OutputName& attempt);
  void count_groups_again();

  // ---- recount.cpp
  void recover(const message::Assign& assign, const message::JobState& state);
  void recount_if_complete();
  bool adopt(RowIndex row);
  bool offer(RowIndex row, const OutcomeRecord& record, bool bytes, Life from);
  void deny_unended();
  void tell_not_ended(const std::vector<RowIndex>& rows);

  // ---- void_ends.cpp
  Undone what_rests_on(const std::vector<RowIndex>& changed);
  void reset_from(const std::vector<RowIndex>& changed);
  void undo(RowIndex row, bool keep_attempt);
  void begin_anew(RowIndex row, const Undone& undone);

  // ---- Small helpers
  /// With a single process no row is placed by run times. So some of the short rows suffice for the usual run
  /// time, and all rows that are long compared to a look at them. Short ones are drawn by their numbers:
  /// names that take turns come up alike.
  bool is_observed(const QuickEnd& quick) const {
    constexpr Duration long_enough = std::chrono::microseconds(50);
    return places.size() > 1 || quick.ran >= long_enough || (quick.row * 2654435761u) >> 28 == 0;
  }
  void hold(RowIndex row, HeldFor why) { notes[row].held_for = why; }
  bool is_held_for(RowIndex row, HeldFor why) const {
    return word(row).state == RowState::held && notes[row].held_for == why;
  }
  AttemptId uncounted() {
    DAG_CHECK(uncounted_given < uncounted_max);  // The job ends.
    return {options.epoch, uncounted_attempts + uncounted_given++};
  }
  bool alive(Life life) const;
  bool recounting() const { return recount.has_value(); }
  bool runs(Life life) const;
  Life home_of(std::uint32_t shard) const { return state.homes[shard].home; }
  void send(Life to, JobMessage message) { effects.emplace_back(SendMessage{to, std::move(message)}); }
  void release(Life at, const OutputName& name) { outputs.release(at, name); }
  /// `what` makes the event for the journal; it is not called when nothing listens.
  template <class What>
  void say(TaskId task, AttemptId attempt, What&& what) {
    if (sink.enabled()) record(task, attempt, what());
  }
  template <class What>
  void say(RowIndex row, What&& what) {
    if (sink.enabled()) record(table.id(row), attempt_of(row), what());
  }
  void record(TaskId task, AttemptId attempt, EventWhat what);
  void say_closed(RowIndex row, Outcome outcome, const std::string& why);

  // ---- explain.cpp
  RowIndex waits_behind(RowIndex row) const;
  RowState told_state(RowIndex row) const;
  std::string why(RowIndex row) const;
  std::string why_held(RowIndex row) const;
  std::string which_settled(RowIndex row) const;
  std::string where_called(RowIndex row) const;
  std::string why_not_called(RowIndex row) const;
  TaskExplained explained(RowIndex row, bool with_candidates, Instant at) const;
  bool went_wrong(RowIndex row) const;
  void explain_lanes(ProcessExplained& to) const;

  HomeOptions options;
  std::shared_ptr<const JobPlan> plan;
  Gate& gate;
  EventSink& sink;
  std::unique_ptr<HomePlacement> placement;
  Random random;
  Instant now;
  message::JobState state;
  std::vector<Life> places;  ///< lives_that_run(state)
  CriticalPath critical_path;

  // Outputs.
  Outputs outputs;
  Digests digests;
  StayingOutputs staying;
  Askers askers;

  // Attempts.
  Crashes crashes;
  Retries retries;
  std::map<RowIndex, OutAttempt> dispatched;
  StoppedAttempts stopped_attempts;
  std::map<RowIndex, Again> again;
  Checkpoints checkpoints;
  Losses losses;
  Starts starts;
  std::uint32_t uncounted_given = 0;  ///< attempts without a word (uncounted_attempts)
  SpawnedParts spawned_parts;

  // Towards the cell.
  Ledger ledger;
  std::size_t parked_rows = 0;
  std::optional<Error> failure;  ///< sent: the job cannot go on

  // Other shards.
  std::uint64_t changes = 0;  ///< counts from 1; news of lanes counts as 0 (edge_news.hpp)
  LaneWays ways;
  ConsumedOutputs consumed;

  // Job actors.
  ActorCalls calls;
  Borders borders;
  ActorObjects objects;

  // Groups of tasks.
  TaskGroups groups;

  // Recounting.
  std::optional<Recount> recount;  ///< only while it waits for reports
  EarlierAttempts earlier;

  HomeCounts counts;
  RowWork work;
  bool over = false;         ///< the job failed or ended: nothing is started any more
  bool ends_undone = false;  ///< rows of this epoch ended in vain: not every report of a lane counts
  std::vector<HomeEffect> effects;
};

}  // namespace dag
