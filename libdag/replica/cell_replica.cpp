#include "libdag/replica/cell_replica.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"
#include "libdag/base/checks_itself.hpp"
#include "libdag/base/overloaded.hpp"
#include "libdag/base/spawned.hpp"
#include "libdag/wire/cell_log.hpp"

namespace dag {

// Behind a cut that is nearly full.
static_assert(spawned_bytes_max < consensus::command_bytes_max / 8 * 7);

CellReplica::CellReplica(const CellReplicaOptions& options, consensus::Stored stored, EventSink& records,
                         Instant now)
    : options_(options),
      records_(records, tells_),
      log_(options.log, std::move(stored), now),
      found_(log_.last_index()) {
  up_.insert(options_.self);
  take_part_.insert(options_.self);
  drain(now);
}

void CellReplica::begin(consensus::Configuration genesis, const CellSnapshot& state, bool leads_first,
                        Instant now) {
  if (log_.snapshot()) return;
  log_.begin(std::move(genesis), wire::encode(state, *options_.codes), now);
  if (leads_first) log_.stand(now);
  drain(now);
}

std::vector<CellReplicaEffect> CellReplica::take_effects() {
  if (checks_itself) check_invariants();
  return std::exchange(effects_, {});
}

// ---- The log

void CellReplica::on_replica_message(const consensus::Message& message, Instant now) {
  log_.on_message(message, now);
  drain(now);
}

void CellReplica::on_written(std::uint64_t number, Instant now) {
  log_.on_written(number, now);
  drain(now);
}

void CellReplica::on_time(Instant now) {
  log_.on_time(now);
  drain(now);
  offer_waiting(now);
  if (leads_ && now >= reconfigure_at_) reconfigure(now);
}

Instant CellReplica::due() const { return leads_ ? std::min(log_.due(), reconfigure_at_) : log_.due(); }

void CellReplica::drain(Instant now) {
  for (auto all_now = log_.take_effects(); !all_now.empty(); all_now = log_.take_effects()) {
    for (consensus::Effect& any : all_now) carry_out(any, now);
  }
  compact();
}

void CellReplica::carry_out(consensus::Effect& any, Instant now) {
  std::visit(
      Overloaded{[&](consensus::Send& one) {
                   effects_.emplace_back(SendToReplica{one.to, std::move(one.message)});
                 },
                 [&](consensus::Write& one) {
                   effects_.emplace_back(WriteToLog{one.number, std::move(one.change)});
                 },
                 [&](const consensus::Apply& one) { apply(one.index, one.entry, now); },
                 [&](const consensus::Install& one) { install(one.snapshot); },
                 [&](const consensus::Lead&) { elected(now); }, [&](const consensus::Follow&) { let_go(); },
                 [&](const consensus::Readable& one) { renew_lease(one.number); }},
      any);
}

void CellReplica::install(const consensus::Snapshot& snapshot) {
  const CellSnapshot state = wire::decode_snapshot(snapshot.state.bytes(), *options_.codes).value_or_throw();
  CellOptions options;
  options.self = options_.self;
  options.seed = state.plan->seed;
  options.small_plan_bytes_max = options_.small_plan_bytes_max;
  options.planted = options_.planted_in_cell;
  cell_ = std::make_unique<Cell>(options, state, records_);
  applied_ = snapshot.index;
  applied_bytes_ = 0;
  log_.on_quiet(is_quiet());
  forget_known_ends();
}

/// The cell has heard of the death, so no leader has to tell it.
void CellReplica::forget_known_ends() {
  if (is_planted(options_.planted, PlantedInReplica::known_deaths_kept)) return;
  std::erase_if(ends_, [&](const auto& end) { return !is_member(end.first); });
}

void CellReplica::apply(consensus::Index index, const consensus::Entry& entry, Instant now) {
  DAG_CHECK(index == applied_ + 1);
  applied_ = index;
  applied_bytes_ += consensus::entry_bytes(entry);
  const bool is_leader = log_.role() == consensus::Replica::Role::leader;
  tells_ = leads_ || (is_leader && index > found_);
  if (entry.type != consensus::EntryType::command) return;
  CellCommand command = wire::decode_command(entry.command.bytes(), *options_.codes).value_or_throw();
  const auto* lead = std::get_if<command::Lead>(&command);
  const bool begins =
      lead != nullptr && lead->leader == options_.self && entry.term == log_.term() && is_leader;
  if (begins) {
    tells_ = leads_ = true;
    effects_.emplace_back(LeadsNow{true});
    say_leads(now);
    if (cell_->state().version > 0) cell_->say_so_far(now);
  }
  cell_->apply(std::move(command), entry.term, now);
  log_.on_quiet(is_quiet());
  forget_known_ends();
  take_cell_effects();
  // The leader before this one may have died before it could say so.
  if (!begins) return;
  if (const auto end = cell_->ended()) effects_.emplace_back(*end);
}

void CellReplica::take_cell_effects() {
  for (CellEffect& any : cell_->take_effects()) {
    if (!leads_) continue;
    std::visit([&](auto& effect) { effects_.emplace_back(std::move(effect)); }, any);
  }
}

/// True: the job has ended and is not closed yet: its record will soon go, and all are to hear that.
bool CellReplica::is_quiet() const { return cell_->ended() && !cell_->is_closed(); }

bool CellReplica::is_long() const {
  const consensus::Snapshot& last = *log_.snapshot();
  return applied_ >= last.index + options_.compact_every ||
         applied_bytes_ >= std::max(options_.compact_bytes, last.state.size_bytes());
}

void CellReplica::compact() {
  if (!cell_ || applied_ < compact_at_ || !is_long()) return;
  Blob state = wire::encode(cell_->snapshot(), *options_.codes);
  if (const auto read = wire::decode_snapshot(state.bytes(), *options_.codes); !read) {
    compact_at_ = applied_ + options_.compact_every;
    effects_.emplace_back(NoSnapshot{read.error()});
    return;
  }
  log_.compact(applied_, std::move(state));
  applied_bytes_ = 0;
  for (consensus::Effect& any : log_.take_effects()) {
    if (auto* one = std::get_if<consensus::Write>(&any))
      effects_.emplace_back(WriteToLog{one->number, std::move(one->change)});
  }
}

// ---- Leadership

/// The cell must not be told anything yet: commands of earlier leaders may not be applied.
void CellReplica::elected(Instant now) {
  taken_.clear();
  to_keep_.clear();
  waiting_.clear();
  command::Lead word{options_.self, {take_part_.begin(), take_part_.end()}, {}};
  for (const auto& [process, incarnation] : down_) {
    if (!ends_.contains({process, incarnation})) word.down.push_back({process, incarnation});
  }
  if (is_planted(options_.planted, PlantedInReplica::leads_too_early)) leads_ = true;
  const auto propose = [&](CellCommand command) { log_.propose(written(command), now); };
  propose(std::move(word));
  for (const auto& [life, how] : ends_) propose(command::LifeDown{life, how});
  elected_at_ = reconfigure_at_ = now;
}

void CellReplica::say_leads(Instant now) {
  if (!records_.enabled()) return;
  records_.record(
      {now, {options_.self.process, std::nullopt}, cell_->plan()->job, {}, {}, event::Leads{log_.term()}});
}

void CellReplica::let_go() {
  waiting_.clear();
  leases_asked_.clear();
  tells_ = false;
  if (!std::exchange(leads_, false)) return;
  for (const ClientId client : std::exchange(clients_, {})) cell_->forget(client);
  effects_.emplace_back(LeadsNow{false});
}

void CellReplica::hand_over(ProcessId to, Instant now) {
  log_.transfer(to, now);
  drain(now);
}

void CellReplica::on_seats(std::vector<consensus::Candidate> alive, std::vector<consensus::Seat> leaving,
                           Instant now) {
  seats_ = std::move(alive);
  leaving_ = std::move(leaving);
  log_.stir(now);
  if (leads_) reconfigure_at_ = std::min(reconfigure_at_, now + options_.reconfigure_every);
  judge_itself(now);
}

void CellReplica::on_sick(bool sick, Instant now) {
  sick_ = sick;
  judge_itself(now);
}

/// Whether it leads no longer than it must.
void CellReplica::judge_itself(Instant now) {
  const bool leaves = std::find(leaving_.begin(), leaving_.end(), options_.log.self) != leaving_.end();
  log_.on_leaving(leaves || options_.witness || sick_, now);
  drain(now);
}

void CellReplica::on_disk_full(bool full, Instant now) {
  log_.on_disk_full(full, now);
  drain(now);
}

void CellReplica::on_disk_behind(bool behind, Instant now) {
  disk_behind_ = behind;
  offer_waiting(now);
}

void CellReplica::reconfigure(Instant now) {
  bury_unknown(now);
  // Copies that there are stay, dead ones included, when there is no seat for another: they may come back.
  const std::vector<consensus::Seat>& voters = log_.configuration().voters;
  std::size_t there = std::min(voters.size(), options_.copies_wanted);
  // A leaving replica whose replacement has joined does not need another one.
  const bool one_leaves = std::any_of(voters.begin(), voters.end(), [&](const consensus::Seat& seat) {
    return std::find(leaving_.begin(), leaving_.end(), seat) != leaving_.end();
  });
  if (one_leaves) there = consensus::copies_for(there, there);
  const std::size_t wanted = std::max(there, consensus::copies_for(options_.copies_wanted, seats_.size()));
  const auto to = consensus::next_change(log_, consensus::ranked(cell_->state().job.value, seats_), leaving_,
                                         wanted, now);
  if (to) log_.change(*to, now);
  reconfigure_at_ = now + (log_.rests() ? options_.log.rest_heartbeat : options_.reconfigure_every);
  drain(now);
}

bool CellReplica::is_member(Life life) const { return message::is_alive(cell_->state(), life); }

/// The replica may have come when these lives had died already. A process that is up again is known at once.
void CellReplica::bury_unknown(Instant now) {
  if (is_planted(options_.planted, PlantedInReplica::unknown_stay)) return;
  const bool all_are_known = now - elected_at_ >= options_.unknown_for;
  const std::vector<Life> lives = cell_->state().lives;
  for (const Life life : lives) {
    if (up_.contains(life)) continue;
    const auto later = up_.upper_bound(life);
    if (all_are_known || (later != up_.end() && later->process == life.process)) on_life_down(life, now);
  }
}

// ---- What is said to the cell

bool CellReplica::tell(CellCommand command, Instant now) {
  if (log_.role() != consensus::Replica::Role::leader || !cell_) return false;
  waiting_.push_back(std::move(command));
  offer_waiting(now);
  return true;
}

void CellReplica::offer_waiting(Instant now) {
  while (!waiting_.empty() && !disk_behind_ && log_.propose(written(waiting_.front()), now))
    waiting_.pop_front();
  drain(now);
}

/// The command's bytes for the log. A command that no log can hold would end this copy, and then that of the
/// next leader, which gets the same command, until no copy is left: so it ends the job instead.
Blob CellReplica::written(const CellCommand& command) const {
  Blob bytes = wire::encode(command, *options_.codes);
  if (bytes.size_bytes() <= options_.command_bytes_max) return bytes;
  const auto* said = std::get_if<command::Said>(&command);
  const Error why{
      ErrorCode::usage,
      (said == nullptr ? "a command" : "a report of " + to_string(said->from)) + " takes " +
          std::to_string(bytes.size_bytes()) + " bytes at once in the job's record, which takes " +
          std::to_string(options_.command_bytes_max) + " at most",
      "spawn fewer tasks at once, with smaller literals, and let no task read millions of others"};
  return wire::encode(command::Stop{why}, *options_.codes);
}

/// A leader that has not begun yet knows them from when it was elected.
void CellReplica::on_lives_up(const std::vector<Life>& lives, Instant now, bool takes_part) {
  command::LivesUp new_ones;
  for (const Life life : lives) {
    const auto dead = down_.find(life.process);
    if (dead != down_.end() && life.incarnation <= dead->second) continue;
    end_older_lives(life, now);
    up_.insert(life);
    if (takes_part && take_part_.insert(life).second) new_ones.lives.push_back(life);
  }
  if (!new_ones.lives.empty()) tell(std::move(new_ones), now);
}

/// A process has one life at a time, and the end of the one before may not have been heard of.
void CellReplica::end_older_lives(Life life, Instant now) {
  const std::set<Life> others = up_;
  for (const Life older : others) {
    if (older.process == life.process && older < life) on_life_down(older, now);
  }
}

void CellReplica::on_life_down(Life life, Instant now, const LifeEnd& how) {
  if (life == options_.self) return;
  end_older_lives(life, now);
  up_.erase(life);
  take_part_.erase(life);
  Incarnation& dead = down_[life.process];
  dead = std::max(dead, life.incarnation);
  if (!how.running.empty() && cell_ && is_member(life)) ends_[life] = how;
  log_.on_process_down(life.process, now);
  tell(command::LifeDown{life, how}, now);
}

bool CellReplica::on_message(Life from, const JobMessage& message, Instant now) {
  if (!leads_ || !cell_->believes(from, message)) return false;
  if (const auto* ask = std::get_if<message::RenewLease>(&message)) {
    leases_asked_[++leases_] = {from, *ask};
    log_.read(leases_, now);
    drain(now);
    return true;
  }
  if (std::holds_alternative<message::AskPlan>(message)) {  // Nothing that the log is to know.
    cell_->on_message(from, message, now);
    take_cell_effects();
    return true;
  }
  if (const auto* said = std::get_if<message::Outcomes>(&message)) {
    auto& [epoch, number] = taken_[said->shard];
    if (epoch == said->epoch && number >= said->number) return true;
    epoch = said->epoch;
    number = said->number;
  }
  return tell(command::Said{from, message}, now);
}

/// No other replica led at the question's time, so no home has been told that the life is out of the job.
void CellReplica::renew_lease(std::uint64_t number) {
  const auto found = leases_asked_.find(number);
  if (found == leases_asked_.end()) return;
  const auto [from, ask] = found->second;
  leases_asked_.erase(leases_asked_.begin(), std::next(found));
  if (!leads_ || !cell_->believes(from, ask)) return;
  effects_.emplace_back(SendMessage{from, message::LeaseRenewed{ask.job, ask.number}});
}

bool CellReplica::follow(ClientId client, const std::vector<TaskId>& tasks, Instant now) {
  if (!leads_) return false;
  clients_.insert(client);
  cell_->follow(client, tasks, now);
  take_cell_effects();
  return true;
}

bool CellReplica::keep(std::vector<TaskId> tasks, Instant now) {
  if (!leads_) return false;
  // Clients repeat requests, and repetitions would grow the log.
  std::erase_if(tasks, [&](TaskId task) { return cell_->keeps(task) || !to_keep_.insert(task).second; });
  return tasks.empty() || tell(command::Keep{std::move(tasks)}, now);
}
bool CellReplica::cancel(std::vector<TaskId> tasks, Instant now) {
  if (leads_ && tasks.empty() && is_cancelled()) return true;
  return leads_ && tell(command::Cancel{std::move(tasks)}, now);
}
bool CellReplica::stop(Error why, Instant now) { return leads_ && tell(command::Stop{std::move(why)}, now); }
bool CellReplica::close(Instant now) { return leads_ && tell(command::Close{}, now); }

}  // namespace dag
