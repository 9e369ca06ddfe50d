#include "actors/cell_actor.hpp"

#include "actors/exceptions.hpp"
#include "actors/retrying.hpp"

namespace dag {

CellActor::CellActor(caf::actor_config& config, CellSetup setup, const Ports& ports, EventSink& records,
                     caf::actor node, caf::actor job)
    : event_based_actor(config),
      setup_(std::move(setup)),
      ports_(ports),
      node_(std::move(node)),
      job_(std::move(job)),
      cell_(setup_.retry ? Cell(setup_.options, setup_.retry->begins->genesis, records)
                         : Cell(setup_.options, setup_.plan, records)),
      voice_(setup_.plan->job, *ports_.listener) {}

caf::behavior CellActor::make_behavior() {
  set_exception_handler(keep_text);
  if (const auto retry = std::exchange(setup_.retry, std::nullopt)) {
    offer_outputs(*retry, job_);
    tell_results(*retry, setup_.plan->job, *ports_.listener);
  }
  cell_.begin(setup_.lives, {}, ports_.process.now());
  act();
  return {
      [this](const mail::Incoming& incoming) {
        cell_.on_message(incoming.from, incoming.message, ports_.process.now());
        act();
      },
      [this](const mail::Want& want) {
        voice_.rest(want.at_rest);
        if (!want.at_rest) cell_.keep({TaskId{0, want.task}}, ports_.process.now());
        cell_.follow(ClientVoice::submitter, {TaskId{0, want.task}}, ports_.process.now());
        act();
      },
      [this](const mail::CancelJob&) {
        cell_.cancel({}, ports_.process.now());
        act();
      },
      [this](mail::StopJob& stop) {
        cell_.stop(std::move(stop.why), ports_.process.now());
        act();
      },
      [this](mail::ProgressDue) { voice_.tell_progress(&cell_.counts()); },
      [this](const mail::ForgetJob&) {
        cell_.close();
        act();
      },
      [this](const mail::LivesUp& up) {
        cell_.on_lives_up(up.lives, ports_.process.now());
        act();
      },
      [this](const mail::LifeUp& up) {
        cell_.on_life_up(up.life, ports_.process.now());
        act();
      },
      [this](const mail::LifeDown& down) {
        cell_.on_life_down(down.life, ports_.process.now(), down.how);
        act();
      },
      [this](mail::Submit& order) {
        say_what_is_done(*order.retry, cell_.snapshot(), order.plan->job);
        send(node_, std::move(order));
      },
      [this](mail::Brought& arrived) { voice_.on_brought(std::move(arrived.brought)); },
  };
}

void CellActor::on_exit() {
  node_ = nullptr;
  job_ = nullptr;
}

void CellActor::act() {
  mail::Outgoing outgoing;
  for (CellEffect& effect : cell_.take_effects()) {
    std::visit(
        [&](auto& what) {
          using What = std::remove_cvref_t<decltype(what)>;
          if constexpr (std::is_same_v<What, SendMessage>) {
            outgoing.messages.push_back(std::move(what));
          } else if constexpr (std::is_same_v<What, TellClient>) {
            if (auto order = voice_.tell(std::move(what))) send(job_, *std::move(order));
          } else {
            ports_.listener->ends(setup_.plan->job, cell_);
            ports_.listener->ended(setup_.plan->job, std::move(what.stopped), cell_.counts());
          }
        },
        effect);
  }
  if (!outgoing.messages.empty()) send(node_, std::move(outgoing));
  if (voice_.owes_progress(cell_.counts()))
    delayed_send(this, ClientVoice::progress_every, mail::ProgressDue{});
}

}  // namespace dag
