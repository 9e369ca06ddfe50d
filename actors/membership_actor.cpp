#include "actors/membership_actor.hpp"

#include "actors/exceptions.hpp"

namespace dag {

MembershipActor::MembershipActor(caf::actor_config& config, MembershipSetup setup,
                                 std::unique_ptr<MembershipPorts> ports, caf::actor node)
    : event_based_actor(config),
      ports_(std::move(ports)),
      tells_loads_(setup.tells_loads),
      node_(std::move(node)),
      machine_(setup.self, std::move(setup.endpoint), std::move(setup.options), Random(setup.seed),
               ports_->now()) {}

caf::behavior MembershipActor::make_behavior() {
  set_exception_handler(keep_text);
  machine_.on_load(ports_->load());
  act({});
  tell_view();
  return {
      [this](const mail::Heard& heard) {
        act(machine_.on_message(heard.from, heard.message, ports_->now()));
        if (tells_loads_) tell_loads();
      },
      [this](const mail::LinkBroken& broken) { act(machine_.on_disconnected(broken.life, ports_->now())); },
      [this](const mail::LinkRefused& refused) { act(machine_.on_refused(refused.life, ports_->now())); },
      [this](const mail::Others& others) { machine_.on_seeds(others.addresses); },
      [this](const mail::Leave&) {
        if (!machine_.is_over()) act(machine_.leave(ports_->now()));
        quit(caf::exit_reason::user_shutdown);
      },
      [this](const mail::Tick& tick) {
        if (wake_at_ != tick.due) return;  // Another one was set since.
        wake_at_.reset();
        machine_.on_load(ports_->load());
        act(machine_.on_tick(ports_->now()));
        tell_view();
      },
  };
}

void MembershipActor::on_exit() { node_ = nullptr; }

void MembershipActor::act(MembershipEffects effects) {
  bool changed = false;
  for (MembershipEffect& effect : effects) {
    changed =
        changed || std::holds_alternative<MemberUp>(effect) || std::holds_alternative<MemberDown>(effect);
    if (auto* message = std::get_if<SendMembership>(&effect)) {
      ports_->send(std::move(*message));
    } else if (const auto* up = std::get_if<MemberUp>(&effect)) {
      ports_->up(*up);
      send(node_, mail::LifeUp{up->life});
    } else if (const auto* down = std::get_if<MemberDown>(&effect)) {
      const bool died = down->why == DownWhy::process_died || down->why == DownWhy::told;
      send(node_, mail::LifeDown{down->life, std::nullopt, died ? ports_->end_of(down->life) : LifeEnd{}});
      ports_->down(*down);
    } else if (const auto* as = std::get_if<ComeBackAs>(&effect)) {
      as->began_too_low ? ports_->come_back(as->incarnation) : ports_->over();
    } else if (const auto* suspected = std::get_if<MemberSuspected>(&effect)) {
      ports_->doubted(suspected->life, true);
    } else if (const auto* trusted = std::get_if<MemberTrusted>(&effect)) {
      ports_->doubted(trusted->life, false);
    }
    // Suspicions and a stale view ask for patience, which is what everybody has here until a MemberDown.
  }
  if (changed) tell_view();
  if (machine_.is_over()) return;
  const Instant wake = machine_.wake_at();
  if (wake_at_ && *wake_at_ <= wake) return;
  wake_at_ = wake;
  delayed_send(this, std::max(wake - ports_->now(), Duration{0}), mail::Tick{wake});
}

void MembershipActor::tell_view() {
  std::vector<Claim> members{machine_.self()};
  Hearings heard;
  for (const auto& [process, member] : machine_.members()) {
    if (!is_up(member.claim.state)) continue;
    members.push_back(member.claim);
    heard[process] = {member.heard, member.round_trip};
  }
  ports_->view(std::move(members), std::move(heard));
}

void MembershipActor::tell_loads() {
  std::vector<std::pair<Life, LoadSummary>> loads{{machine_.self().life, ports_->load()}};
  for (const auto& [process, member] : machine_.members()) {
    if (is_up(member.claim.state)) loads.emplace_back(member.claim.life, member.claim.load);
  }
  send(node_, mail::Loads{std::make_shared<const decltype(loads)>(std::move(loads))});
}

}  // namespace dag
