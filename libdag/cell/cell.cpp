#include "libdag/cell/cell.hpp"

#include <algorithm>
#include <bit>

#include "libdag/base/check.hpp"
#include "libdag/base/checks_itself.hpp"
#include "libdag/graph/written_bytes.hpp"

namespace dag {
namespace {

/// The first epoch of every shard.
constexpr Epoch first_epoch{1, 1};

}  // namespace

Cell::Cell(CellOptions options, std::shared_ptr<const JobPlan> plan, EventSink& records)
    : options_(options),
      plan_(std::move(plan)),
      plan_is_small_(written_bytes(*plan_->graph) + plan_->shard_of.size() * sizeof(ShardIndex) <=
                     options_.small_plan_bytes_max),
      records_(records),
      steps_(plan_) {
  DAG_CHECK(plan_->shards > 0 && plan_->shard_of.size() == plan_->graph->size());
  state_.job = plan_->job;
  state_.cell = options_.self;
  state_.replicas = options_.replicas;
  log_.resize(plan_->shards);
  streams_.resize(plan_->shards);
  followed_.resize(plan_->graph->size() / 64 + 1);
  read_by_unfinished_.resize(followed_.size());
  const detail::Fragment& graph = *plan_->graph;
  const auto waits = [](const Policy& policy) { return policy.starts_from_settled(); };
  if (plan_->shards == 1 || std::none_of(graph.policies.begin(), graph.policies.end(), waits)) return;
  graph.each_edge([&](const detail::Edge& edge, std::uint32_t) {
    if (!waits(graph.policy(edge.successor))) return;
    const std::uint32_t from = plan_->shard_of[edge.predecessor];
    const std::uint32_t to = plan_->shard_of[edge.successor];
    if (from == to) return;
    std::vector<std::uint32_t>& shards = listeners_[edge.predecessor];
    if (std::find(shards.begin(), shards.end(), to) == shards.end()) shards.push_back(to);
  });
}

void Cell::send(Life to, JobMessage message) { effects_.emplace_back(SendMessage{to, std::move(message)}); }

bool Cell::alive(Life life) const { return message::is_alive(state_, life); }

void Cell::begin(const std::vector<Life>& lives, const std::vector<Life>& homes, Instant now) {
  DAG_CHECK(state_.version == 0 && !lives.empty());
  state_.version = 1;
  if (!options_.submitted) options_.submitted = now;
  say_begun(now);
  state_.lives = lives;
  if (!options_.self_runs) state_.recorders = {state_.cell};
  std::sort(state_.lives.begin(), state_.lives.end());
  DAG_CHECK(alive(state_.cell));
  if (!state_.homes.empty()) return begin_done(now);
  std::vector<Life> places = lives;
  if (!options_.self_runs) std::erase(places, state_.cell);
  recountable_ = options_.replicas > 1;
  for (std::uint32_t shard = 0; shard < plan_->shards; ++shard) {
    Life home;  // Null: the first epoch passes without a home.
    if (shard < homes.size()) {
      home = homes[shard];
    } else if (!places.empty()) {
      home = places[shard % places.size()];
    }
    DAG_CHECK(home != state_.cell || options_.self_runs);
    state_.homes.push_back({home, first_epoch});
    if (home != Life{}) say({}, {}, now, [&] { return event::HomeGiven{shard, home, first_epoch}; });
    recountable_ = recountable_ || home != state_.cell;
  }
  for (const Life life : state_.lives) tell_plan(life);
  tell_state();
}

/// The done tasks of a retried job are settled from the start, so each home recounts its shard, as after a
/// loss.
void Cell::begin_done(Instant now) {
  for (const Life life : state_.lives) tell_plan(life);
  say_done(now);
  give_orphans(now);
}

/// A large plan is sent on request. Sending it to all, and again by each new leader, could keep leaders so
/// busy that the next one is elected meanwhile, for ever.
void Cell::tell_plan(Life life) {
  if (plan_is_small_) send(life, message::JobCreate{plan_});
}

void Cell::tell_state() {
  for (const Life life : state_.lives) send(life, state_);
}

/// Accepts the present home only. It sends one Outcomes at a time, so another number is a repeated message.
/// (Its answer is on its way, or was lost with a life.)
bool Cell::believes(Life from, const JobMessage& message) const {
  if (state_.version == 0 || state_.ended || !alive(from)) return false;
  if (std::holds_alternative<message::RenewLease>(message) ||
      std::holds_alternative<message::AskPlan>(message))
    return true;
  const auto named = shard_epoch_of(message);
  if (!named || named->shard >= plan_->shards) return false;
  if (named->epoch != state_.homes[named->shard].epoch || from != state_.homes[named->shard].home)
    return false;
  if (std::holds_alternative<message::JobFailed>(message)) return true;
  const auto* outcomes = std::get_if<message::Outcomes>(&message);
  return outcomes != nullptr && outcomes->number == streams_[named->shard].outcomes + 1;
}

void Cell::on_message(Life from, const JobMessage& any, Instant now) {
  if (!believes(from, any)) return;
  if (const auto* ask = std::get_if<message::RenewLease>(&any))
    return send(from, message::LeaseRenewed{plan_->job, ask->number});
  if (std::holds_alternative<message::AskPlan>(any)) return send(from, message::JobCreate{plan_});
  if (const auto* failed = std::get_if<message::JobFailed>(&any)) return stop(failed->error, now);
  const auto* outcomes = std::get_if<message::Outcomes>(&any);
  const std::uint32_t shard = outcomes->shard;
  Stream& stream = streams_[shard];
  stream.outcomes = outcomes->number;
  stream.rows_open = outcomes->rows_open;
  stream.heard = true;

  std::map<std::uint32_t, message::Settled> news;
  news[shard];
  steps_.say(*outcomes);
  steps_.take(*this, [&](const RipeStep& step) { settle_step(step, news, now); });
  for (const message::Tried& tried : outcomes->tried) {
    if (recountable_ && !settled(tried.task)) tried_[tried.task] = tried.failed;
  }
  for (const TaskId task : outcomes->started) {
    if (recountable_ && !settled(task)) started_.insert(task);
  }
  for (const TaskId task : outcomes->freed) {
    const auto ended = settled_.find(task);
    if (ended != settled_.end() && recountable_ && !is_read_by_unfinished(task))
      ended->second.record.value = {};
  }
  for (auto& [to, settled] : news) {
    Stream& told = streams_[to];
    settled.job = plan_->job;
    settled.shard = to;
    settled.epoch = state_.homes[to].epoch;
    settled.from = told.position;
    settled.to = ++told.position;
    settled.outcomes = told.outcomes;
    settled.steps = steps_.taken(to);
    send(state_.homes[to].home, std::move(settled));
  }
  end_if_done(now);
}

void Cell::settle_step(const RipeStep& step, std::map<std::uint32_t, message::Settled>& news, Instant now) {
  news[step.shard];
  for (const OutcomeRecord& said : step.records) {
    if (said.spawned) say_known(said, now);
  }
  for (const message::TaskBits& some : step.first_try) settle_first_try(some, step.shard, news, now);
  for (const OutputName& name : step.plain) settle(step.shard, plain_record(name), news, now);
  for (OutcomeRecord& said : step.records) settle(step.shard, std::move(said), news, now);
}

std::uint64_t Cell::by_first_try(Epoch epoch, const message::TaskBits& tasks) const {
  if (is_planted(options_.planted, PlantedInCell::cut_not_closed)) return tasks.bits;
  const auto known = first_try_.find(epoch);
  const std::size_t word = tasks.first.index / 64;
  std::uint64_t found = 0;
  if (known != first_try_.end() && tasks.first.origin == 0 && word < known->second.size()) {
    found = tasks.bits & known->second[word];
  }
  message::TaskBits{tasks.first, tasks.bits & ~found}.each([&](TaskId task) {
    const auto settled = settled_.find(task);
    if (settled != settled_.end() && settled->second.record.attempt == AttemptId{epoch, 1}) {
      found |= message::bit_of(task).bits;
    }
  });
  return found;
}

bool Cell::by(const OutputName& name) const {
  if (is_planted(options_.planted, PlantedInCell::cut_not_closed)) return true;
  const auto settled = settled_.find(name.task);
  if (settled != settled_.end()) return settled->second.record.attempt == name.attempt;
  return name.attempt.number == 1 && by_first_try(name.attempt.epoch, message::bit_of(name.task)) != 0;
}

/// The record of an outcome that was told by name only.
OutcomeRecord Cell::plain_record(const OutputName& name) const {
  OutcomeRecord plain;
  plain.task = name.task;
  plain.attempt = name.attempt;
  plain.outcome = Outcome::finished;
  plain.has_output = name.task.origin == 0 && name.task.index < plan_->graph->size() &&
                     plan_->graph->kind(name.task.index).returns;
  return plain;
}

/// The many, 64 at a time.
void Cell::settle_first_try(const message::TaskBits& some, std::uint32_t shard,
                            std::map<std::uint32_t, message::Settled>& news, Instant now) {
  const Epoch epoch = state_.homes[shard].epoch;
  const std::size_t word = some.first.index / 64;
  const bool submitted = some.first.origin == 0 && word < followed_.size();
  if (!submitted && recountable_) {
    some.each([&](TaskId task) { settle(shard, plain_record({task, {epoch, 1}}), news, now); });
    return;
  }
  const auto count = static_cast<std::uint64_t>(std::popcount(some.bits));
  counts_.settled += count;
  counts_.finished += count;
  if (records_.enabled() || !tried_.empty() || !started_.empty() || !state_.crashed.empty() ||
      !state_.suspects.empty()) {
    some.each([&](TaskId task) { forget_tries(task); });
    if (records_.enabled()) say_finished(some, {epoch, 1}, now);
  }
  if (!submitted) return;
  std::vector<std::uint64_t>& known = first_try_[epoch];
  known.resize(followed_.size());
  DAG_CHECK((known[word] & some.bits) == 0);  // The home has all that is settled, and is the only one.
  known[word] |= some.bits;
  message::TaskBits{some.first, some.bits & followed_[word]}.each([&](TaskId task) {
    tell_followers({plain_record({task, {epoch, 1}}), state_.homes[shard].home});
  });
  if (listeners_.empty()) return;
  some.each([&](TaskId task) {
    if (listeners_.contains(task.index)) tell_listeners(plain_record({task, {epoch, 1}}), news);
  });
}

void Cell::tell_listeners(const OutcomeRecord& said, std::map<std::uint32_t, message::Settled>& news) const {
  if (said.task.origin != 0) return;
  const auto listening = listeners_.find(said.task.index);
  if (listening == listeners_.end()) return;
  for (const std::uint32_t to : listening->second) news[to].predecessors.push_back(said);
}

void Cell::forget_tries(TaskId task) {
  if (!is_planted(options_.planted, PlantedInCell::settled_tries_kept)) {
    tried_.erase(task);
    started_.erase(task);
  }
  for (std::vector<message::Crashed>* known : {&state_.crashed, &state_.suspects}) {
    std::erase_if(*known, [&](const message::Crashed& crashed) { return crashed.task == task; });
  }
}

void Cell::settle(std::uint32_t shard, OutcomeRecord said, std::map<std::uint32_t, message::Settled>& news,
                  Instant now) {
  const TaskId task = said.task;
  if (recountable_) log_[shard].push_back(task);
  if (said.outcome == Outcome::none) {
    DAG_CHECK(!grown_.contains(task));
    if (recountable_) grown_.emplace(task, std::move(said));
    return;
  }
  DAG_CHECK(!settled(task));  // The home has all that is settled, and it is the only one.
  say(task, said.attempt, now, [&] { return recorded_of(said, now); });
  forget_tries(task);
  ++counts_.settled;
  switch (said.outcome) {
    case Outcome::finished:
      ++counts_.finished;
      break;
    case Outcome::failed:
      ++counts_.failed;
      counts_.tolerated += said.tolerated ? 1 : 0;
      break;
    case Outcome::skipped:
      ++counts_.skipped;
      counts_.missed += said.error && !said.error->cause.empty() ? 1 : 0;
      break;
    default:
      ++counts_.cancelled;
      break;
  }
  note_unfinished(said);
  tell_listeners(said, news);
  const Entry entry{std::move(said), state_.homes[shard].home};
  tell_followers(entry);
  if (recountable_ || task.origin == 0) settled_.emplace(task, entry);
}

void Cell::note_unfinished(const OutcomeRecord& record) {
  const bool by_condition =
      record.outcome == Outcome::skipped && (!record.error || record.error->cause.empty());
  if (!recountable_ || record.task.origin != 0 || record.outcome == Outcome::finished || by_condition) return;
  for (const detail::EdgeEnd& edge : plan_->graph->in_edges(record.task.index))
    read_by_unfinished_[edge.task() / 64] |= std::uint64_t{1} << edge.task() % 64;
}

bool Cell::is_read_by_unfinished(TaskId task) const {
  return task.origin == 0 && (read_by_unfinished_[task.index / 64] >> task.index % 64 & 1) != 0;
}

void Cell::tell_followers(const Entry& entry) {
  const auto follows = followers_.find(entry.record.task);
  if (follows == followers_.end()) return;
  for (const ClientId client : follows->second) tell_client(client, entry);
}

void Cell::tell_client(ClientId client, const Entry& entry) {
  TellClient tell;
  tell.client = client;
  tell.record = entry.record;
  tell.record.spawned = nullptr;
  if (alive(entry.home)) tell.holders.push_back(entry.home);
  effects_.emplace_back(std::move(tell));
}

/// As the present homes have said, and not settled yet.
std::uint64_t Cell::rows_open() const {
  std::uint64_t open = 0;
  for (std::uint32_t shard = 0; shard < streams_.size(); ++shard)
    open += streams_[shard].rows_open + steps_.rows_waiting(shard);
  return open;
}

bool Cell::is_heard_of_all() const {
  return std::all_of(streams_.begin(), streams_.end(), [](const Stream& stream) { return stream.heard; });
}

void Cell::end_if_done(Instant now) {
  counts_.open = rows_open();
  if (done_ || !is_heard_of_all() || counts_.open > 0) return;
  done_ = true;
  say_over(now);
  effects_.emplace_back(JobIsOver{std::nullopt, state_.cancelled});
}

void Cell::close() {
  done_ = true;
  state_.ended = true;
  ++state_.version;
  if (!state_.lives.empty()) closed_ = std::exchange(state_.lives, {});
  for (const Life life : closed_) send(life, state_);
}

void Cell::stop(Error why, Instant now) {
  if (state_.ended) return;
  state_.ended = true;
  state_.stopped = why;
  ++state_.version;
  tell_state();
  // After a good end, an output that is asked for later cannot be made again: the runner that asked for it
  // tells its waiting client.
  if (std::exchange(done_, true)) return;
  say_over(now);
  effects_.emplace_back(JobIsOver{std::move(why), state_.cancelled});
}

void Cell::follow(ClientId client, const std::vector<TaskId>& tasks, Instant) {
  const auto one = [&](TaskId task) {
    if (!followers_[task].insert(client).second) return;
    if (task.origin == 0 && task.index / 64 < followed_.size())
      followed_[task.index / 64] |= std::uint64_t{1} << task.index % 64;
    if (auto ended = settled(task)) tell_client(client, {*std::move(ended), home_of(task)});
  };
  for (const TaskId task : tasks) one(task);
  if (!tasks.empty()) return;
  for (std::uint32_t task = 0; task < plan_->graph->size(); ++task) one({0, task});
}

void Cell::forget(ClientId client) {
  for (auto at = followers_.begin(); at != followers_.end();) {
    at->second.erase(client);
    at = at->second.empty() ? followers_.erase(at) : std::next(at);
  }
}

void Cell::keep(const std::vector<TaskId>& tasks, Instant) {
  std::vector<TaskId> new_ones;
  for (const TaskId task : tasks) {
    if (kept_.insert(task).second) new_ones.push_back(task);
  }
  send_kept(new_ones);
}

void Cell::send_kept(std::span<const TaskId> tasks) {
  std::map<std::uint32_t, message::Keep> keeps;
  for (const TaskId task : tasks) {
    const std::uint32_t shard = shard_of(*plan_, task);
    if (shard >= plan_->shards || state_.ended || !alive(state_.homes[shard].home)) continue;
    keeps[shard].tasks.push_back(task);
  }
  for (auto& [shard, keep] : keeps) {
    keep.job = plan_->job;
    keep.shard = shard;
    keep.epoch = state_.homes[shard].epoch;
    send(state_.homes[shard].home, std::move(keep));
  }
}

void Cell::cancel(const std::vector<TaskId>& tasks, Instant) {
  if (done_) return;
  if (tasks.empty()) {
    if (state_.cancelled) return;
    state_.cancelled = true;
    ++state_.version;
    return tell_state();
  }
  std::vector<TaskId> new_ones;
  for (const TaskId task : tasks) {
    if (cancelled_.insert(task).second) new_ones.push_back(task);
  }
  send_cancelled(new_ones);
}

void Cell::send_cancelled(std::span<const TaskId> tasks) {
  std::map<std::uint32_t, message::Cancel> cancels;
  for (const TaskId task : tasks) {
    const std::uint32_t shard = shard_of(*plan_, task);
    if (shard < plan_->shards && alive(state_.homes[shard].home)) cancels[shard].tasks.push_back(task);
  }
  for (auto& [shard, cancel] : cancels) {
    cancel.job = plan_->job;
    cancel.shard = shard;
    cancel.epoch = state_.homes[shard].epoch;
    send(state_.homes[shard].home, std::move(cancel));
  }
}

Life Cell::home_of(TaskId task) const {
  const auto found = settled_.find(task);
  if (found != settled_.end()) return found->second.home;
  return state_.homes[shard_of(*plan_, task)].home;
}

std::optional<OutcomeRecord> Cell::settled(TaskId task) const {
  const auto found = settled_.find(task);
  if (found != settled_.end()) return found->second.record;
  if (task.origin != 0 || task.index / 64 >= followed_.size()) return std::nullopt;
  for (const auto& [epoch, known] : first_try_) {
    if ((known[task.index / 64] >> task.index % 64 & 1) != 0) return plain_record({task, {epoch, 1}});
  }
  return std::nullopt;
}

std::vector<std::uint32_t> Cell::unread() const {
  std::vector<std::uint32_t> tasks;
  for (std::uint32_t task = 0; task < plan_->graph->size() && tasks.size() < unread_max; ++task) {
    if (!is_read_by_unfinished({0, task}) || !plan_->graph->kind(task).returns) continue;
    const auto record = settled({0, task});
    if (record && record->outcome == Outcome::finished && !record->value) tasks.push_back(task);
  }
  return tasks;
}

std::vector<CellEffect> Cell::take_effects() {
  if (checks_itself) check_invariants();
  return std::exchange(effects_, {});
}

}  // namespace dag
