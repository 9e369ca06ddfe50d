#include "libdag/cell/cell.hpp"

#include <algorithm>
#include <bit>

namespace dag {
namespace {

/// So often a task may run in a process that is killed before it counts as a try.
constexpr std::uint32_t suspicions_free = 2;
/// Of every shard.
constexpr Epoch first_epoch{1, 1};

std::vector<recorded::TaskClass> classes_of(const detail::Fragment& fragment) {
  std::vector<std::uint64_t> counts(fragment.names.size());
  for (const detail::TaskDraft& task : fragment.tasks) ++counts[task.name];
  std::vector<recorded::TaskClass> classes;
  for (std::size_t name = 0; name < counts.size(); ++name) {
    if (counts[name] > 0) classes.push_back({fragment.names[name], counts[name]});
  }
  return classes;
}

}  // namespace

Cell::Cell(CellOptions options, std::shared_ptr<const JobPlan> plan, RecordSink& records)
    : options_(options), plan_(std::move(plan)), records_(records) {
  DAG_CHECK(plan_->shards > 0 && plan_->shard_of.size() == plan_->graph->tasks.size());
  state_.job = plan_->job;
  state_.cell = options_.self;
  log_.resize(plan_->shards);
  streams_.resize(plan_->shards);
  followed_.resize(plan_->graph->tasks.size() / 64 + 1);
  if (plan_->shards == 1) return;
  for (const detail::Edge& edge : plan_->graph->edges) {
    const std::uint32_t from = plan_->shard_of[edge.predecessor];
    const std::uint32_t to = plan_->shard_of[edge.successor];
    if (from == to) continue;
    std::vector<std::uint32_t>& shards = listeners_[edge.predecessor];
    if (std::find(shards.begin(), shards.end(), to) == shards.end()) shards.push_back(to);
  }
}

void Cell::send(Life to, JobMessage message) { effects_.emplace_back(SendMessage{to, std::move(message)}); }

bool Cell::alive(Life life) const {
  return std::binary_search(state_.lives.begin(), state_.lives.end(), life);
}

void Cell::begin(const std::vector<Life>& lives, const std::vector<Life>& homes, Instant now) {
  DAG_CHECK(state_.version == 0 && !lives.empty());
  state_.version = 1;
  if (!options_.submitted) options_.submitted = now;
  say({}, {}, now, [&] { return recorded::TasksKnown{true, classes_of(*plan_->graph)}; });
  state_.lives = lives;
  state_.cell_only_records = !options_.self_runs;
  std::sort(state_.lives.begin(), state_.lives.end());
  DAG_CHECK(alive(options_.self));
  std::vector<Life> places = lives;
  if (!options_.self_runs) std::erase(places, options_.self);
  for (std::uint32_t shard = 0; shard < plan_->shards; ++shard) {
    Life home;  // Nobody: the first epoch passes without a home.
    if (shard < homes.size()) {
      home = homes[shard];
    } else if (!places.empty()) {
      home = places[shard % places.size()];
    }
    DAG_CHECK(home != options_.self || options_.self_runs);
    state_.homes.push_back({home, first_epoch});
    if (home != Life{}) say({}, {}, now, [&] { return recorded::HomeGiven{shard, home, first_epoch}; });
    recountable_ = recountable_ || home != options_.self;
  }
  for (const Life life : state_.lives) send(life, message::JobCreate{plan_});
  tell_state();
}

void Cell::tell_state() {
  for (const Life life : state_.lives) send(life, state_);
}

void Cell::on_life_up(Life life, Instant now) {
  if (state_.ended || alive(life)) return;
  state_.lives.insert(std::upper_bound(state_.lives.begin(), state_.lives.end(), life), life);
  ++state_.version;
  say({}, {}, now, [&] { return recorded::Member{life, recorded::MemberChange::up}; });
  send(life, message::JobCreate{plan_});
  give_orphans(now);
}

void Cell::on_life_down(Life life, Instant now, const LifeEnd& how) {
  if (state_.ended || !alive(life)) return;
  DAG_CHECK(life != options_.self);
  std::erase(state_.lives, life);
  ++state_.version;
  say({}, {}, now, [&] { return recorded::Member{life, recorded::MemberChange::down, how.what}; });
  blame(how, now);
  give_orphans(now);
}

void Cell::blame(const LifeEnd& how, Instant now) {
  std::vector<RunningAttempt> running = how.running;
  // A page that was cut off in the middle of a word may name anything.
  std::erase_if(running, [&](const RunningAttempt& attempt) {
    return shard_of(*plan_, attempt.task) >= plan_->shards;
  });
  for (RunningAttempt& attempt : running) {
    const auto suspect = suspected_.find(attempt.task);
    attempt.suspected = suspect == suspected_.end() ? 0 : suspect->second;
  }
  for (const Charge& charge : charges(how.end, how.guilty_lane, running)) {
    // There are no processes of its own for a suspect, so the third time counts. When a process was killed by
    // somebody outside (an operator, the kernel short of memory: nobody tells), who ran there alone is no
    // more than a suspect either.
    const bool perhaps = charge.exit == Exit::failed && how.end == ProcessEnd::killed && !how.guilty_lane;
    const bool suspect = charge.suspect || perhaps;
    if (suspect && ++suspected_[charge.task] <= suspicions_free) continue;
    if (!suspect && charge.exit != Exit::failed) continue;
    const auto at = std::lower_bound(
        state_.crashed.begin(), state_.crashed.end(), charge.task,
        [](const message::Crashed& crashed, TaskId wanted) { return crashed.task < wanted; });
    std::uint32_t times = 1;
    if (at != state_.crashed.end() && at->task == charge.task) {
      times = ++at->times;
      at->what = how.what;
    } else {
      state_.crashed.insert(at, {charge.task, 1, how.what});
    }
    say(charge.task, {}, now, [&] { return recorded::Crashed{times, how.what}; });
  }
}

/// The lives have changed: tells everybody, and gives shards without a home to whoever may have them.
void Cell::give_orphans(Instant now) {
  std::vector<std::uint32_t> orphans;
  if (!message::lives_that_run(state_).empty()) {
    for (std::uint32_t shard = 0; shard < plan_->shards; ++shard) {
      if (!alive(state_.homes[shard].home)) orphans.push_back(shard);
    }
  }
  for (const std::uint32_t shard : orphans) give(shard, now);
  if (state_.ended) return;  // A shard was lost too often.
  tell_state();
  for (const std::uint32_t shard : orphans) send(state_.homes[shard].home, assignment(shard));
}

message::Assign Cell::assignment(std::uint32_t shard) const {
  message::Assign assign;
  assign.job = plan_->job;
  assign.shard = shard;
  assign.epoch = state_.homes[shard].epoch;
  assign.asked = state_.lives;
  std::set<TaskId> grew_before;
  for (const TaskId task : log_[shard]) {
    // A task that was fixed before it ended is there twice: as it grew, and as it ended.
    const auto grew = grown_.find(task);
    if (grew != grown_.end() && grew_before.insert(task).second) {
      assign.settled.push_back(grew->second);
    } else {
      assign.settled.push_back(settled_.at(task).record);
    }
  }
  for (const auto& [epoch, known] : first_try_) {
    message::FirstTry tried{epoch, {}};
    for (std::uint32_t word = 0; word < known.size(); ++word) {
      message::TaskBits some{{0, word * 64}, 0};
      message::TaskBits{{0, word * 64}, known[word]}.each([&](TaskId task) {
        if (plan_->shard_of[task.index] == shard) some.bits |= std::uint64_t{1} << task.index % 64;
      });
      if (some.bits != 0) tried.tasks.push_back(some);
    }
    if (!tried.tasks.empty()) assign.first_try.push_back(std::move(tried));
  }
  for (const auto& [predecessor, shards] : listeners_) {
    if (std::find(shards.begin(), shards.end(), shard) == shards.end()) continue;
    const auto ended = settled_.find({0, predecessor});
    if (ended != settled_.end()) assign.settled.push_back(ended->second.record);
  }
  for (const TaskId task : kept_) {
    if (shard_of(*plan_, task) == shard) assign.kept.push_back({task, {}});
  }
  for (const TaskId task : cancelled_) {
    if (shard_of(*plan_, task) == shard) assign.cancelled.push_back(task);
  }
  for (const auto& [task, failed] : tried_) {
    if (shard_of(*plan_, task) == shard) assign.tried.push_back({task, failed});
  }
  return assign;
}

/// To the life with the fewest shards, of those that run.
void Cell::give(std::uint32_t shard, Instant now) {
  const std::vector<Life> places = message::lives_that_run(state_);
  Life best = places.front();
  std::size_t fewest = SIZE_MAX;
  const std::size_t from = (options_.seed + shard) % places.size();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Life life = places[(from + i) % places.size()];
    const auto has = static_cast<std::size_t>(std::count_if(
        state_.homes.begin(), state_.homes.end(), [&](const auto& home) { return home.home == life; }));
    if (has < fewest) {
      fewest = has;
      best = life;
    }
  }
  message::ShardHome& home = state_.homes[shard];
  home.home = best;
  ++home.epoch.count;
  say({}, {}, now, [&] { return recorded::HomeGiven{shard, home.home, home.epoch}; });
  streams_[shard] = {};
  if (home.epoch.count >= 256) {
    stop({ErrorCode::internal, "the home of shard " + std::to_string(shard) + " was lost too often"}, now);
  }
}

void Cell::on_message(Life from, const JobMessage& any, Instant now) {
  if (state_.ended || !alive(from)) return;
  const auto named = shard_epoch_of(any);
  if (!named || named->shard >= plan_->shards) return;
  // Only who is the home now is believed.
  if (named->epoch != state_.homes[named->shard].epoch || from != state_.homes[named->shard].home) return;
  if (const auto* failed = std::get_if<message::JobFailed>(&any)) return stop(failed->error, now);
  const auto* outcomes = std::get_if<message::Outcomes>(&any);
  if (outcomes == nullptr) return;
  const std::uint32_t shard = outcomes->shard;
  Stream& stream = streams_[shard];
  // A home sends one at a time, so another number is a repeated message. (Its answer is on its way, or was
  // lost with a life.)
  if (outcomes->number != stream.outcomes + 1) return;
  stream.outcomes = outcomes->number;
  stream.rows_open = outcomes->rows_open;
  stream.heard = true;

  for (const OutcomeRecord& said : outcomes->records) {
    if (said.spawned) say_known(said, now);
  }
  std::map<std::uint32_t, message::Settled> news;
  news[shard];
  for (const message::TaskBits& some : outcomes->first_try) settle_first_try(some, shard, news, now);
  for (const OutputName& name : outcomes->plain) settle(shard, plain_record(name), news, now);
  for (const OutcomeRecord& said : outcomes->records) settle(shard, said, news, now);
  for (const message::Tried& tried : outcomes->tried) {
    if (recountable_ && !settled(tried.task)) tried_[tried.task] = tried.failed;
  }
  for (const TaskId task : outcomes->freed) {
    const auto ended = settled_.find(task);
    if (ended != settled_.end() && recountable_) ended->second.record.value = {};
  }
  for (auto& [to, settled] : news) {
    Stream& told = streams_[to];
    settled.job = plan_->job;
    settled.shard = to;
    settled.epoch = state_.homes[to].epoch;
    settled.from = told.position;
    settled.to = ++told.position;
    settled.outcomes = told.outcomes;
    send(state_.homes[to].home, std::move(settled));
  }
  end_if_done();
}

/// What an attempt spawned: before any task of it is settled, perhaps in the same cut.
void Cell::say_known(const OutcomeRecord& growth, Instant now) {
  say(growth.task, growth.attempt, now, [&] {
    spawned_.emplace(growth.first_spawned, growth.spawned);
    return recorded::TasksKnown{false, classes_of(*growth.spawned)};
  });
}

recorded::Settled Cell::recorded_of(const OutcomeRecord& said, Instant now) const {
  recorded::Settled settled{said.outcome, {}, said.tries, said.error};
  const detail::Fragment* fragment = plan_->graph.get();
  std::uint32_t index = said.task.index;
  if (said.task.origin != 0) {
    auto part = spawned_.upper_bound(said.task);
    if (part == spawned_.begin()) return settled;
    --part;
    fragment = part->second.get();
    index -= part->first.index;
  }
  if (index >= fragment->tasks.size()) return settled;
  const detail::TaskDraft& task = fragment->tasks[index];
  settled.name = fragment->names[task.name];
  const auto deadline = fragment->policies[task.policy].deadline;
  // What is skipped was not to be done, so it cannot be late.
  if (deadline && said.outcome != Outcome::skipped && now > *options_.submitted + *deadline) {
    settled.late = now - (*options_.submitted + *deadline);
  }
  return settled;
}

/// What is meant by an outcome of which only the name was said.
OutcomeRecord Cell::plain_record(const OutputName& name) const {
  OutcomeRecord plain;
  plain.task = name.task;
  plain.attempt = name.attempt;
  plain.outcome = Outcome::finished;
  plain.has_output = name.task.origin == 0 && name.task.index < plan_->graph->tasks.size() &&
                     plan_->graph->tasks[name.task.index].returns;
  return plain;
}

/// The many, 64 at a time. Predecessors of rows of other shards are not among them.
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
  if (records_.enabled() || !suspected_.empty() || !tried_.empty() || !state_.crashed.empty()) {
    some.each([&](TaskId task) {
      const OutcomeRecord plain = plain_record({task, {epoch, 1}});
      say(task, plain.attempt, now, [&] { return recorded_of(plain, now); });
      forget_tries(task);
    });
  }
  if (!submitted) return;
  std::vector<std::uint64_t>& known = first_try_[epoch];
  known.resize(followed_.size());
  DAG_CHECK((known[word] & some.bits) == 0);  // The home has all that is settled, and is the only one.
  known[word] |= some.bits;
  message::TaskBits{some.first, some.bits & followed_[word]}.each([&](TaskId task) {
    tell_followers({plain_record({task, {epoch, 1}}), state_.homes[shard].home});
  });
}

void Cell::forget_tries(TaskId task) {
  suspected_.erase(task);
  tried_.erase(task);
  std::erase_if(state_.crashed, [&](const message::Crashed& crashed) { return crashed.task == task; });
}

void Cell::settle(std::uint32_t shard, OutcomeRecord said, std::map<std::uint32_t, message::Settled>& news,
                  Instant now) {
  const TaskId task = said.task;
  if (recountable_) log_[shard].push_back(task);
  if (said.outcome == Outcome::none) {
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
      break;
    case Outcome::skipped:
      ++counts_.skipped;
      break;
    default:
      ++counts_.cancelled;
      break;
  }
  if (task.origin == 0) {
    const auto listening = listeners_.find(task.index);
    if (listening != listeners_.end()) {
      for (const std::uint32_t to : listening->second) news[to].predecessors.push_back(said);
    }
  }
  const Entry entry{std::move(said), state_.homes[shard].home};
  tell_followers(entry);
  if (recountable_ || task.origin == 0) settled_.emplace(task, entry);
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

void Cell::end_if_done() {
  counts_.open = 0;
  bool all_heard = true;
  for (const Stream& stream : streams_) {
    counts_.open += stream.rows_open;
    all_heard = all_heard && stream.heard;
  }
  if (done_ || !all_heard || counts_.open > 0) return;
  done_ = true;
  effects_.emplace_back(JobEnded{std::nullopt, state_.cancelled});
}

void Cell::close() {
  if (state_.ended) return;
  done_ = true;
  state_.ended = true;
  ++state_.version;
  tell_state();
}

void Cell::stop(Error why, Instant) {
  if (state_.ended) return;
  state_.ended = true;
  state_.stopped = why;
  ++state_.version;
  tell_state();
  // When it had ended well, an output that was asked for later cannot be made again: whoever waits for one is
  // told by the runner that he asked.
  if (std::exchange(done_, true)) return;
  effects_.emplace_back(JobEnded{std::move(why), state_.cancelled});
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
  for (std::uint32_t task = 0; task < plan_->graph->tasks.size(); ++task) one({0, task});
}

void Cell::forget(ClientId client) {
  for (auto at = followers_.begin(); at != followers_.end();) {
    at->second.erase(client);
    at = at->second.empty() ? followers_.erase(at) : std::next(at);
  }
}

void Cell::keep(const std::vector<TaskId>& tasks, Instant) {
  std::map<std::uint32_t, message::Keep> keeps;
  for (const TaskId task : tasks) {
    if (!kept_.insert(task).second) continue;
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
  std::map<std::uint32_t, message::Cancel> cancels;
  for (const TaskId task : tasks) {
    if (!cancelled_.insert(task).second) continue;
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

std::vector<CellEffect> Cell::take_effects() { return std::exchange(effects_, {}); }

}  // namespace dag
