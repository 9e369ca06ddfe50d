#include "actors/job_here_actor.hpp"

#include <algorithm>

#include "actors/digest_actor.hpp"
#include "actors/exceptions.hpp"
#include "actors/waiting_for.hpp"

namespace dag {
namespace {

RunnerOptions options_of_runner(const JobSetup& setup, const LanesPort& lanes) {
  RunnerOptions options;
  options.self = setup.self;
  options.lanes = static_cast<std::uint32_t>(lanes.count());
  return options;
}

keeper::SaveCopy copy_of(KeepSave save, const JobPlan& plan) {
  const detail::Fragment& graph = *plan.graph;
  const TaskId task = save.name.task;
  keeper::SaveCopy copy{plan.job, plan.name, {}, std::move(save)};
  const message::SavedAs& as = copy.save.as;
  if (as.members == 0) {
    copy.actor_name = task.origin == 0 ? graph.names[graph.kind(task.index).name] : to_string(task);
  } else if (as.actor < graph.actors.size()) {
    copy.actor_name = graph.names[graph.actors[as.actor].name];
  }
  return copy;
}

}  // namespace

JobHereActor::JobHereActor(caf::actor_config& config, JobSetup setup, LanesPort& lanes, const Ports& ports,
                           EventSink& records, caf::actor node)
    : event_based_actor(config),
      setup_(std::move(setup)),
      lanes_(lanes),
      ports_(ports),
      records_(records),
      node_(std::move(node)),
      attempts_(*this, lanes, setup_.plan->representation),
      job_(std::make_unique<JobHere>(options_of_runner(setup_, lanes), setup_.plan,
                                     static_cast<JobPorts&>(*this), records)) {}

JobHereActor::~JobHereActor() = default;

caf::behavior JobHereActor::make_behavior() {
  set_exception_handler(keep_text);
  if (!ask_disk()) job_->open();
  return {
      [this](mail::Delivery& delivery) {
        for (auto& [from, message] : delivery.messages) job_->on_message(from, std::move(message));
        act();
      },
      [this](mail::LaneNews& news) { on_lanes(news); },
      [this](mail::AttemptEnded& end) {
        attempts_.ended(end.ended);
        look_at_lanes();
        job_->on_ended(std::move(end.ended), ports_.process.now());
        act();
      },
      [this](mail::Checkpointed& kept) {
        job_->on_checkpoint(kept.task, kept.attempt, std::move(kept.saved));
        act();
      },
      [this](mail::ReachChanged) {
        each_home([this](HomeOnLanes& here) { look_at_reach(here.home.options().shard); });
        act();
      },
      [this](const mail::Loads& loads) { on_loads(loads); },
      [this](mail::Publish& publish) {
        job_->publish(std::move(publish.record), std::move(publish.bytes));
        act();
      },
      [this](mail::Bring& bring) {
        asked_[bring.ticket] = caf::actor_cast<caf::actor>(current_sender());
        job_->bring(bring.ticket, bring.record, std::move(bring.holders), ports_.process.now());
        act();
      },
      [this](const mail::Digested& digested) {
        job_->on_digest(digested.name, digested.digest);
        act();
      },
      [this](mail::SavesFound& found) {
        for (KeepSave& save : found.saves) job_->found(std::move(save));
        job_->open();
        act();
      },
      [this](const mail::CellHere& here) { setup_.cell = here.cell; },
      [this](mail::Explain& question) { explain(question); },
      [this](const mail::Tick& tick) {
        if (wake_at_ != tick.due) return;  // An earlier one was set since.
        wake_at_.reset();
        job_->on_time(ports_.process.now());
        act();
      },
  };
}

/// The runner answers the first state with all that is here, so messages wait until the disk has answered.
bool JobHereActor::ask_disk() {
  if (!ports_.saves) return false;
  return ports_.saves->read(setup_.plan->job, setup_.plan->name,
                            [self = caf::actor_cast<caf::actor_addr>(this)](std::vector<KeepSave> saves) {
                              if (const auto alive = caf::actor_cast<caf::actor>(self))
                                caf::anon_send(alive, mail::SavesFound{std::move(saves)});
                            });
}

void JobHereActor::on_exit() {
  job_.reset();  // Lanes report to nobody from here on.
  lanes_.actors().forget_job(setup_.plan->job);
  asked_.clear();
  digests_ = nullptr;
  setup_.cell = nullptr;
  node_ = nullptr;
}

void JobHereActor::check_invariants() const {
  if (job_) job_->check_invariants();
}

/// Lanes may have reported to a home that has ended since.
void JobHereActor::on_lanes(mail::LaneNews& news) {
  const auto here = job_->homes().find(news.shard);
  if (here == job_->homes().end() || here->second->home.epoch() != news.epoch) return;
  look_at_lanes();
  job_->on_lanes(news.shard, std::move(news.report), ports_.process.now());
  act();
}

void JobHereActor::on_loads(const mail::Loads& loads) {
  setup_.loads = loads;
  each_home([&](HomeOnLanes& here) { here.on_loads(loads); });
}

void JobHereActor::explain(mail::Explain& question) const {
  job_->explain(question.what, ports_.process.now(), question.process);
  const std::map<TaskId, std::uint64_t> places = lanes_.places(question.job);
  for (auto* tasks : {&question.process.tasks, &question.process.taken}) {
    for (TaskExplained& task : *tasks) {
      if (const auto place = places.find(task.task); place != places.end()) task.place = place->second;
    }
  }
  question.done(std::move(question.process));
}

// ---- The process around the job

std::unique_ptr<HomeHere> JobHereActor::make_home(const BeginHome& which) {
  HomeOptions options;
  options.shard = which.shard;
  options.epoch = which.epoch;
  options.self = setup_.self;
  options.seed = setup_.plan->seed + which.shard;
  options.lanes = std::max(1u, static_cast<std::uint32_t>(lanes_.count()));
  options.several_processes = which.state.lives.size() > 1;
  options.released_bytes_max = setup_.released_bytes_max;
  options.spawn_credit = lanes_.spawn_credits()->each();
  auto made = HomeOnLanes::make(std::move(options), setup_.plan, lanes_, records_, ports_);
  made->shard().report = [self = caf::actor_cast<caf::actor>(this), shard = which.shard,
                          epoch = which.epoch](LaneReport&& report) {
    caf::anon_send(self, mail::LaneNews{shard, epoch, std::move(report)});
  };
  made->shard().reach_changed = [self = caf::actor_cast<caf::actor>(this)] {
    caf::anon_send(self, mail::ReachChanged{});
  };
  if (setup_.loads.of) made->on_loads(setup_.loads);
  made->look_at_lanes();
  return made;
}

/// Nobody waits for what it started and the runner did not.
void JobHereActor::end_home(std::unique_ptr<HomeHere> home) {
  const std::uint32_t shard = home->home.options().shard;
  attempts_.stop_all([&](const OutputName& attempt) {
    return shard_of(*setup_.plan, attempt.task) == shard && !job_->runner().has(attempt);
  });
}

Waiting JobHereActor::waiting(std::optional<Duration> mean_run) { return waiting_for(lanes_, mean_run); }

std::vector<RowIndex> JobHereActor::take_rows(std::uint32_t shard, std::uint32_t most) {
  std::vector<RowIndex> rows = lanes_.take_rows(home(shard).shard(), most);
  if (!rows.empty()) look_at_lanes();
  return rows;
}

std::vector<OutputName> JobHereActor::take_attempts(std::uint32_t most,
                                                    const std::function<bool(const OutputName&)>& may_go) {
  std::vector<OutputName> attempts = lanes_.take_attempts(setup_.plan->job, most, may_go);
  for (const OutputName& attempt : attempts) attempts_.give(attempt);
  if (!attempts.empty()) look_at_lanes();
  return attempts;
}

HomeOnLanes& JobHereActor::home(std::uint32_t shard) const {
  return static_cast<HomeOnLanes&>(*job_->homes().at(shard));
}

template <class Visit>
void JobHereActor::each_home(Visit&& visit) const {
  for (const auto& [shard, here] : job_->homes()) visit(static_cast<HomeOnLanes&>(*here));
}

void JobHereActor::look_at_lanes() const {
  each_home([](HomeOnLanes& here) { here.look_at_lanes(); });
}

void JobHereActor::look_at_reach(std::uint32_t shard) {
  std::vector<Life> reach = lanes_.reach();
  reach.push_back(setup_.self);
  job_->on_reach(shard, std::move(reach), ports_.process.now(), lanes_.tells_by_link());
}

// ---- Effects

void JobHereActor::act() {
  carry_out();
  for (look_at_lanes(); job_->step(ports_.process.now()); look_at_lanes()) carry_out();
  tell_lanes();
  for (const Life from : std::exchange(came_, {})) send(node_, mail::WorkCame{from});
  wake();
}

void JobHereActor::tell_lanes() const {
  each_home([this](HomeOnLanes& here) {
    here.say_ahead();
    // Only after the rows are closed: a kernel that returns because of it would start its successors.
    if (job_->state().cancelled) here.shard().cancelled.store(true);
  });
}

void JobHereActor::wake() {
  const std::optional<Instant> wake = job_->wake_at();
  if (!wake || (wake_at_ && *wake_at_ <= *wake)) return;
  wake_at_ = wake;
  delayed_send(this, std::max(*wake - ports_.process.now(), Duration{0}), mail::Tick{*wake});
}

void JobHereActor::carry_out() {
  for (auto effects = job_->take_effects(); !effects.empty(); effects = job_->take_effects()) {
    for (JobEffect& any : effects) std::visit([this](auto& what) { carry_out(what); }, any);
  }
  tell_lease();
}

/// The node ends the process in time, however long a home here takes for its next event.
void JobHereActor::tell_lease() {
  const std::optional<Instant> at = job_->runner().ends_by();
  if (std::exchange(ends_by_, at) != at) send(node_, mail::EndsBy{setup_.plan->job, at});
}

void JobHereActor::carry_out(const OfferRow& ready) {
  lanes_.make_ready(home(ready.shard).shard(), ready.row, ready.priority);
}

void JobHereActor::carry_out(SendMessage& message) {
  if (message.to != setup_.self) return ports_.process.send(message.to, std::move(message.message));
  job_->on_message(setup_.self, std::move(message.message));
}

void JobHereActor::carry_out(TellCell& said) {
  if (setup_.cell) send(setup_.cell, mail::Incoming{said.from, std::move(said.message)});
}

void JobHereActor::carry_out(const HomeBegan& begun) {
  lanes_.add_shard(home(begun.shard).shard());
  look_at_reach(begun.shard);
}

void JobHereActor::carry_out(Troubled& what) { ports_.process.troubled(setup_.plan->job, std::move(what)); }

void JobHereActor::carry_out(Brought& what) {
  const auto waiting = asked_.find(what.ticket);
  if (waiting == asked_.end()) return;
  send(waiting->second, mail::Brought{std::move(what)});
  asked_.erase(waiting);
}

/// Keeps a save on the disk here, and on those of all nodes with a copy of the record.
void JobHereActor::carry_out(KeepSave& save) {
  if (!ports_.saves) return;
  keeper::SaveCopy copy = copy_of(std::move(save), *setup_.plan);
  send(node_, mail::SaveHere{copy});
  ports_.saves->keep(std::move(copy));
}

void JobHereActor::carry_out(TakeDigest& order) {
  if (!digests_) digests_ = spawn_digests();
  send(digests_, mail::TakeDigest{std::move(order)});
}

caf::actor JobHereActor::spawn_digests() {
  const auto self = caf::actor_cast<caf::actor>(this);
  ProcessPort& process = ports_.process;
  if (!process.has_background_threads()) return spawn<DigestActor, caf::linked>(self, std::ref(process));
  return spawn<DigestActor, caf::linked + caf::detached>(self, std::ref(process));
}

void JobHereActor::carry_out(const LeaseLost& lost) {
  ports_.process.end_now("this process could not renew its lease, under which it runs the exclusive task " +
                         to_string(lost.task) + " of " + to_string(setup_.plan->job));
}

void JobHereActor::carry_out(const WorkLent& lent) {
  if (ports_.scheduling) ports_.scheduling->stolen(lent.thief, lent.tasks);
}

void JobHereActor::carry_out(const JobOver&) { send(node_, mail::JobOver{setup_.plan->job}); }

}  // namespace dag
