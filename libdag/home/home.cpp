// The face of a home: takes the time, lets the parts handle the event, and finishes it.

#include "libdag/home/home.hpp"

#include <algorithm>

#include "libdag/home/home_impl.hpp"

namespace dag {
namespace {

class SimplePlacement final : public HomePlacement {
 public:
  Life place_actor(std::uint32_t actor, const std::vector<Life>& lives,
                   const std::vector<std::uint32_t>& actors_at, const Policy&) override {
    return with_fewest_actors(actor, lives, actors_at);
  }
  PlacedAttempt place_attempt(const AttemptToPlace&, const std::vector<Life>&, Life self) override {
    return {self};
  }
};

}  // namespace

Life with_fewest_actors(std::uint32_t actor, const std::vector<Life>& lives,
                        const std::vector<std::uint32_t>& actors_at) {
  DAG_CHECK(!lives.empty() && lives.size() == actors_at.size());
  const std::uint32_t fewest = *std::min_element(actors_at.begin(), actors_at.end());
  std::vector<Life> equal;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    if (actors_at[i] == fewest) equal.push_back(lives[i]);
  }
  return equal[actor % equal.size()];
}

std::unique_ptr<HomePlacement> simple_placement() { return std::make_unique<SimplePlacement>(); }

Home::Home(HomeOptions options, std::shared_ptr<const JobPlan> plan, RowTable& table, Gate& gate,
           EventSink& records, std::unique_ptr<HomePlacement> placement)
    : impl_(std::make_unique<Impl>(options, std::move(plan), table, gate, records, std::move(placement))) {}
Home::~Home() = default;

void Home::begin(const message::JobState& state, Instant now) {
  impl_->now = now;
  impl_->begin(state);
  impl_->finish_event();
}
void Home::recover(const message::Assign& assign, const message::JobState& state, Instant now) {
  impl_->now = now;
  impl_->recover(assign, state);
  impl_->finish_event();
}
void Home::on_state(const message::JobState& state, Instant now) {
  impl_->now = now;
  impl_->on_state(state);
  impl_->finish_event();
}
void Home::on_lanes(LaneReport report, Instant now) {
  impl_->now = now;
  if (impl_->over) return;
  impl_->on_lanes(std::move(report));
  impl_->finish_event();
}
void Home::on_reach(std::vector<Life> lives, Instant now, bool others_by_link) {
  impl_->now = now;
  if (impl_->over) return;
  impl_->on_reach(std::move(lives), others_by_link);
  impl_->finish_event();
}
bool Home::on_ended(AttemptEnd ended, Instant now) {
  impl_->now = now;
  if (shard_of(*impl_->plan, ended.task) != impl_->options.shard) return false;
  if (impl_->over) return true;
  OutcomeRecord record;
  record.task = ended.task;
  record.attempt = ended.id;
  record.outcome = ended.outcome;
  record.has_output = static_cast<bool>(ended.output);
  record.size_bytes = ended.output.size_bytes();
  record.value = std::move(ended.output);
  record.conditions = std::move(ended.conditions);
  record.spawned = std::move(ended.spawned);
  record.becomes = ended.becomes;
  record.error = std::move(ended.error);
  impl_->attempt_ended(impl_->options.self, std::move(record), ended.ran);
  impl_->finish_event();
  return true;
}
void Home::on_message(Life from, const JobMessage& message, Instant now) {
  impl_->now = now;
  if (impl_->over) return;
  impl_->on_message(from, message);
  impl_->finish_event();
}
void Home::on_time(Instant now) {
  impl_->now = now;
  if (impl_->over) return;
  impl_->on_time();
  impl_->finish_event();
}
std::optional<Instant> Home::wake_at() const {
  if (impl_->over) return std::nullopt;
  std::optional<Instant> at = impl_->retries.wake_at();
  const auto or_at = [&](std::optional<Instant> other) {
    if (other && (!at || *other < *at)) at = other;
  };
  or_at(impl_->staying.wake_at());
  or_at(impl_->stopped_attempts.wake_at());
  if (!impl_->recounting()) or_at(impl_->starts.wake_at());
  or_at(impl_->leaves_at());
  return at;
}
std::size_t Home::lend(std::span<const RowIndex> rows, Life thief, std::uint32_t slots, Instant now) {
  impl_->now = now;
  const std::size_t went = impl_->lend(rows, thief, slots);
  impl_->finish_event();
  return went;
}
bool Home::may_lend(const OutputName& attempt) const { return impl_->may_lend(attempt); }
std::size_t Home::lend_attempts(std::span<const OutputName> attempts, Life thief, Instant now) {
  impl_->now = now;
  const std::size_t went = impl_->lend_attempts(attempts, thief);
  impl_->finish_event();
  return went;
}
void Home::vouch(message::Report& report) const {
  const Impl& home = *impl_;
  if (home.over || report.shard == home.options.shard || home.table.part_count() == 0) return;
  for (RowIndex row = 0; row < home.table.part(0).rows_end; ++row) {
    if (!home.table[row].ghost || home.plan->shard_of[home.table[row].task] != report.shard) continue;
    if (home.has_ended(row) && !home.is(row, flag::settled))
      message::add_task(report.ended, home.table.id(row));
    if (!home.is(row, flag::noted)) continue;
    // A recount of the row must know whether the inputs of its attempt still count. Lanes do not tell
    // that.
    if (!home.is(row, flag::known) || (!home.is(row, flag::settled) && home.inputs_unknown(row))) continue;
    const Fact& known = home.facts.at(row);
    message::Report::Had had;
    had.record.task = home.table.id(row);
    had.record.attempt = known.attempt;
    had.record.outcome = home.word(row).outcome;
    had.record.digest = known.digest;
    had.record.size_bytes = known.size_bytes;
    had.record.has_output = known.has_output;
    had.record.conditions = known.conditions;
    had.record.error = known.error;
    had.record.grew = known.grew;
    had.record.inputs = known.named;
    if (known.size_bytes <= home.plan->inline_bytes_max) had.record.value = home.table[row].output.load();
    report.had.push_back(std::move(had));
  }
}
void Home::check_invariants() const {
  impl_->critical_path.check_invariants();
  impl_->retries.check_invariants();
  impl_->starts.check_invariants();
  impl_->stopped_attempts.check_invariants();
  impl_->ledger.check_invariants();
  impl_->earlier.check_invariants();
  impl_->outputs.check_invariants();
  impl_->digests.check_invariants();
  impl_->staying.check_invariants();
  impl_->askers.check_invariants();
  impl_->spawned_parts.check_invariants();
  impl_->ways.check_invariants();
  impl_->consumed.check_invariants();
  impl_->calls.check_invariants();
  impl_->borders.check_invariants();
  impl_->checkpoints.check_invariants();
  impl_->objects.check_invariants();
  impl_->work.check_invariants();
  impl_->groups.check_invariants();
  impl_->check_held_rows();
}
std::vector<HomeEffect> Home::take_effects() { return std::exchange(impl_->effects, {}); }
SpawnLoad Home::spawned_ahead() const { return impl_->spawned_parts.load_ahead(); }
const HomeOptions& Home::options() const { return impl_->options; }
bool Home::recounting() const { return impl_->recounting(); }
HomeCounts Home::counts() const {
  HomeCounts counts = impl_->counts;
  counts.rows = impl_->ledger.rows();
  counts.lent = impl_->dispatched.size();
  for (RowIndex row = 0; row < impl_->table.size(); ++row) {
    counts.outputs_held += impl_->table[row].output.load().size_bytes();
  }
  return counts;
}

}  // namespace dag
