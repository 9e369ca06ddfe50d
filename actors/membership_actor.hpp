#pragma once
// Hosts the membership machine: which processes are alive. Decides nothing itself; its word is a hint,
// incarnations and epochs decide.
//
// Messages: in Heard, LinkBroken, LinkRefused (from the transport), Others, Leave, Tick; out LifeUp,
// LifeDown, Loads (to the node).

#include <functional>
#include <map>
#include <string_view>

#include "actors/mail.hpp"
#include "libdag/membership/membership_machine.hpp"

namespace dag {

/// The actor's ports besides the node.
struct MembershipPorts {
  std::function<Instant()> now;
  std::function<void(SendMembership message)> send;
  /// Called before any actor here sends to that life; and after the last one did.
  std::function<void(const MemberUp& up)> up;
  std::function<void(const MemberDown& down)> down;
  /// That life has been silent for a while (true), or is heard again (false). May be empty.
  std::function<void(Life life, bool suspected)> doubted;
  /// The end of a process that died, as far as any actor here can know it. May be empty.
  std::function<LifeEnd(Life life)> end_of;
  /// The load that this process gossips.
  std::function<LoadSummary()> load;
  /// All members that are up, this process included, with each heartbeat and whenever one comes or goes; and
  /// how the others are heard. May be empty.
  std::function<void(std::vector<Claim> members, Hearings heard)> view;
  /// Other members take this life for over.
  std::function<void()> over;
  /// It began with too low an incarnation, and may begin again with this one. Null: it is over instead.
  std::function<void(Incarnation next)> come_back = nullptr;
};

struct MembershipSetup {
  Life self;
  Endpoint endpoint;
  MembershipOptions options;
  std::uint64_t seed = 0;
  /// True: the node is told the others' loads, whenever one of them is heard.
  bool tells_loads = true;
};

class MembershipActor : public caf::event_based_actor {
 public:
  MembershipActor(caf::actor_config& config, MembershipSetup setup, MembershipPorts ports, caf::actor node);
  caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "dag.membership"; }

 private:
  void act(MembershipEffects effects);
  void tell_loads();
  void tell_view();

  MembershipPorts ports_;
  const bool tells_loads_;
  caf::actor node_;
  MembershipMachine machine_;
  std::optional<Instant> wake_at_;
};

}  // namespace dag
