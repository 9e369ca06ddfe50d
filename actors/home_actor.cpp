#include "actors/home_actor.hpp"

#include "actors/exceptions.hpp"
#include "actors/timed_placement.hpp"
#include "actors/waiting_for.hpp"
#include "libdag/keeper/admission.hpp"

namespace dag {
namespace {

/// In the words of the placer.
LifeLoad placing_load(Life life, const LoadSummary& load) {
  LifeLoad known{life, devices_of(life.process, load), 0, {0, load.tasks_ready}, Duration{0}};
  for (const DeviceLoad& device : load.devices) {
    known.lanes += device.lanes;
    known.queue.lanes_free += device.lanes_free;
    known.backlog += device.backlog;
  }
  return known;
}

}  // namespace

HomeActor::HomeActor(caf::actor_config& config, HomeSetup setup, LanesPort& lanes, Ports ports,
                     RecordSink& records, caf::actor node, caf::actor runner)
    : event_based_actor(config),
      setup_(std::move(setup)),
      lanes_(lanes),
      ports_(std::move(ports)),
      node_(std::move(node)),
      runner_(std::move(runner)),
      attempts_(*this, lanes, setup_.plan->representation),
      shard_(std::make_shared<LaneShard>(setup_.plan->representation, lanes.count())) {
  shard_->job = setup_.plan->job;
  shard_->epoch = setup_.options.epoch;
  setup_.options.spawn_credit = lanes.spawn_credits()->each();
  auto placer = std::make_unique<FinishPlacer>(setup_.options.seed, [this] {
    return all_busy_for(static_cast<std::uint32_t>(lanes_.count()), running_for(lanes_));
  });
  placer_ = placer.get();
  std::unique_ptr<HomePlacement> placement = std::move(placer);
  if (ports_.placed)
    placement = std::make_unique<TimedPlacement>(std::move(placement), ports_.now, ports_.placed);
  home_ = std::make_unique<Home>(setup_.options, setup_.plan, shard_->table, shard_->gate, records,
                                 std::move(placement));
  if (setup_.loads.of) on_loads(setup_.loads);
}

HomeActor::~HomeActor() = default;

caf::behavior HomeActor::make_behavior() {
  set_exception_handler(keep_text);
  shard_->report = [self = caf::actor_cast<caf::actor>(this)](LaneReport&& report) {
    caf::anon_send(self, mail::LaneNews{std::move(report)});
  };
  shard_->reach_changed = [self = caf::actor_cast<caf::actor>(this)] {
    caf::anon_send(self, mail::ReachChanged{});
  };
  look_at_lanes();
  if (setup_.assign) {
    home_->recover(*setup_.assign, setup_.state, ports_.now());
  } else {
    home_->begin(setup_.state, ports_.now());
  }
  act();
  lanes_.add_shard(*shard_);
  look_at_reach();
  return {
      [this](mail::LaneNews& news) {
        look_at_lanes();
        home_->on_lanes(std::move(news.report), ports_.now());
        act();
      },
      [this](mail::ReachChanged) { look_at_reach(); },
      [this](mail::AttemptEnded& end) {
        attempts_.ended(end.ended);
        look_at_lanes();
        home_->on_ended(std::move(end.ended), ports_.now());
        act();
      },
      [this](const mail::Incoming& incoming) {
        look_at_lanes();
        if (const auto* state = std::get_if<message::JobState>(&incoming.message)) {
          home_->on_state(*state, ports_.now());
          // Only after the rows are closed: a kernel that returns because of it would start its successors.
          if (state->cancelled) shard_->cancelled.store(true);
        } else {
          home_->on_message(incoming.from, incoming.message, ports_.now());
        }
        act();
      },
      [this](mail::Vouch& vouch) {
        home_->vouch(std::get<message::Report>(vouch.report.message));
        if (vouch.homes.empty()) {
          send(node_, mail::Outgoing{{std::move(vouch.report)}});
        } else {
          const caf::actor next = vouch.homes.back();
          vouch.homes.pop_back();
          send(next, std::move(vouch));
        }
      },
      [this](mail::Explain& question) {
        home_->explain(question.what, ports_.now(), question.process);
        if (question.what.outputs) home_->count_held(question.held);
        if (question.what.critical_path) home_->critical_path(ports_.now(), question.process.critical_path);
        const caf::actor next = question.homes.empty() ? question.runner : question.homes.back();
        if (!question.homes.empty()) question.homes.pop_back();
        send(next, std::move(question));
      },
      [this](mail::Steal& steal) {
        questions_.ask(steal.thief, steal.slots, ports_.now());
        kept_all_ = false;
        act();
        // Where all that was looked at is better off here, others may have something yet.
        if (!questions_.asks(steal.thief) && !kept_all_) return;
        if (std::exchange(steal.passed_on, true)) questions_.close(steal.thief);
        const caf::actor next = steal.others.back();
        steal.others.pop_back();
        send(next, std::move(steal));
      },
      [this](const mail::Loads& loads) { on_loads(loads); },
      [this](const mail::Tick& tick) {
        if (wake_at_ != tick.due) return;  // An earlier one was set since.
        wake_at_.reset();
        look_at_lanes();
        home_->on_time(ports_.now());
        act();
      },
  };
}

void HomeActor::on_loads(const mail::Loads& loads) {
  std::vector<LifeLoad> known;
  for (const auto& [life, load] : *loads.of) known.push_back(placing_load(life, load));
  placer_->on_loads(std::move(known));
}

void HomeActor::look_at_lanes() {
  placer_->on_queue(setup_.options.self, {.lanes_free = lanes_.idle(),
                                          .tasks_ready = static_cast<std::uint32_t>(lanes_.queued())});
}

void HomeActor::look_at_reach() {
  std::vector<Life> reach = lanes_.reach();
  reach.push_back(setup_.options.self);
  home_->on_reach(std::move(reach), ports_.now(), lanes_.tells_by_link());
  act();
}

/// Lanes wait for this credit before they report spawned tasks.
void HomeActor::say_ahead(SpawnLoad ahead) {
  lanes_.spawn_credits()->change(setup_.plan->job, std::exchange(ahead_, ahead), ahead);
}

void HomeActor::on_exit() {
  say_ahead({});
  // Lanes report to nobody from here on; the shard goes when the last of them is out of it.
  if (shard_) lanes_.retire(std::move(shard_));
  node_ = nullptr;
  runner_ = nullptr;
}

void HomeActor::act() {
  carry_out();
  say_ahead(home_->spawned_ahead());
  if (!questions_.empty()) answer_thieves();
  std::optional<Instant> wake = home_->wake_at();
  if (const auto again = questions_.look_again_at(); again && (!wake || *again < *wake)) wake = again;
  if (wake && (!wake_at_ || *wake < *wake_at_)) {
    wake_at_ = wake;
    const Duration wait = std::max(*wake - ports_.now(), Duration{0});
    delayed_send(this, wait, mail::Tick{*wake});
  }
}

void HomeActor::answer_thieves() {
  questions_.answer(
      ports_.now(), lending_round_trip, [this] { return waiting_for(lanes_, placer_->mean_run()); },
      [this](Life thief, std::uint32_t rows) {
        const std::vector<RowIndex> taken = lanes_.take_rows(*shard_, rows);
        const std::vector<OutputName> attempts =
            lanes_.take_attempts(setup_.plan->job, rows - taken.size(),
                                 [this](const OutputName& attempt) { return home_->may_lend(attempt); });
        if (taken.empty() && attempts.empty()) return false;
        look_at_lanes();
        std::size_t went = home_->lend(taken, thief, rows, ports_.now());
        for (const OutputName& attempt : attempts) attempts_.give(attempt);
        went += home_->lend_attempts(attempts, thief, ports_.now());
        kept_all_ = went == 0;
        if (went > 0 && ports_.stolen) ports_.stolen(thief, went);
        carry_out();
        return true;
      });
}

void HomeActor::carry_out() {
  mail::Outgoing outgoing;
  for (HomeEffect& effect : home_->take_effects()) {
    std::visit(
        [&](auto& what) {
          using What = std::remove_cvref_t<decltype(what)>;
          if constexpr (std::is_same_v<What, MakeReady>) {
            lanes_.make_ready(*shard_, what.row, what.priority);
          } else if constexpr (std::is_same_v<What, StartAttempt>) {
            attempts_.start(std::move(what));
          } else if constexpr (std::is_same_v<What, StopAttempt>) {
            attempts_.stop(what);
          } else if constexpr (std::is_same_v<What, SendMessage>) {
            outgoing.messages.push_back(std::move(what));
          } else if constexpr (std::is_same_v<What, Troubled>) {
            if (ports_.troubled) ports_.troubled(setup_.plan->job, std::move(what));
          } else {
            send(runner_, mail::Publish{std::move(what.record), std::move(what.bytes)});
          }
        },
        effect);
  }
  if (!outgoing.messages.empty()) send(node_, std::move(outgoing));
}

}  // namespace dag
