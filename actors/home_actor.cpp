#include "actors/home_actor.hpp"

#include "actors/exceptions.hpp"

namespace dag {

HomeActor::HomeActor(caf::actor_config& config, HomeSetup setup, Lanes& lanes, Ports ports,
                     RecordSink& records, caf::actor node, caf::actor runner)
    : event_based_actor(config),
      setup_(std::move(setup)),
      lanes_(lanes),
      ports_(std::move(ports)),
      node_(std::move(node)),
      runner_(std::move(runner)),
      attempts_(*this, lanes, setup_.plan->representation),
      shard_(std::make_shared<LaneShard>(setup_.plan->representation)) {
  shard_->job = setup_.plan->job;
  shard_->epoch = setup_.options.epoch;
  home_ = std::make_unique<Home>(setup_.options, setup_.plan, shard_->table, shard_->gate, records);
}

HomeActor::~HomeActor() = default;

caf::behavior HomeActor::make_behavior() {
  set_exception_handler(keep_text);
  shard_->report = [self = caf::actor_cast<caf::actor>(this)](LaneReport&& report) {
    caf::anon_send(self, mail::LaneNews{std::move(report)});
  };
  if (setup_.assign) {
    home_->recover(*setup_.assign, setup_.state, ports_.now());
  } else {
    home_->begin(setup_.state, ports_.now());
  }
  act();
  return {
      [this](mail::LaneNews& news) {
        home_->on_lanes(std::move(news.report), ports_.now());
        act();
      },
      [this](mail::AttemptEnded& end) {
        attempts_.ended(end.ended);
        home_->on_ended(std::move(end.ended), ports_.now());
        act();
      },
      [this](const mail::Incoming& incoming) {
        if (const auto* state = std::get_if<message::JobState>(&incoming.message)) {
          if (state->cancelled) shard_->cancelled.store(true);
          home_->on_state(*state, ports_.now());
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
      [this](const mail::Steal& steal) {
        const std::vector<RowIndex> rows = lanes_.take_rows(*shard_, steal.slots);
        home_->lend(rows, steal.thief, steal.slots, ports_.now());
        act();
      },
      [this](const mail::Tick& tick) {
        if (wake_at_ != tick.due) return;  // An earlier one was set since.
        wake_at_.reset();
        home_->on_time(ports_.now());
        act();
      },
  };
}

void HomeActor::on_exit() {
  // Lanes report to nobody from here on; the shard goes when the last of them is out of it.
  if (shard_) lanes_.retire(std::move(shard_));
  node_ = nullptr;
  runner_ = nullptr;
}

void HomeActor::act() {
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
          } else {
            send(runner_, mail::Publish{std::move(what.record), std::move(what.bytes)});
          }
        },
        effect);
  }
  if (!outgoing.messages.empty()) send(node_, std::move(outgoing));
  const std::optional<Instant> wake = home_->wake_at();
  if (wake && (!wake_at_ || *wake < *wake_at_)) {
    wake_at_ = wake;
    const Duration wait = std::max(*wake - ports_.now(), Duration{0});
    delayed_send(this, wait, mail::Tick{*wake});
  }
}

}  // namespace dag
