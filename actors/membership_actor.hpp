#pragma once
// Hosts the membership machine: which processes are alive. Decides nothing itself; its word is a hint,
// incarnations and epochs decide.
//
// Messages: in Heard, LinkBroken, LinkRefused (from the transport), Others, Leave, Tick; out LifeUp,
// LifeDown, Loads (to the node).

#include <map>
#include <memory>
#include <string_view>

#include "actors/mail.hpp"
#include "libdag/membership/membership_machine.hpp"

namespace dag {

/// The actor's ports besides the node.
class MembershipPorts {
 public:
  virtual ~MembershipPorts() = default;

  virtual Instant now() = 0;
  virtual void send(SendMembership message) = 0;
  /// Called before any actor here sends to that life; and after the last one did.
  virtual void up(const MemberUp& up) = 0;
  virtual void down(const MemberDown& down) = 0;
  /// Life that has been silent for a while (true), or is heard again (false).
  virtual void doubted(Life /*life*/, bool /*suspected*/) {}
  /// The end of a process that died, as far as any actor here can know it.
  virtual LifeEnd end_of(Life /*life*/) { return {}; }
  /// The load that this process gossips.
  virtual LoadSummary load() = 0;
  /// All members that are up, this process included, with each heartbeat and whenever one comes or goes; and
  /// how the others are heard.
  virtual void view(std::vector<Claim> /*members*/, Hearings /*heard*/) {}
  /// Other members take this life for over.
  virtual void over() = 0;
  /// The process began with too low an incarnation, and may begin again with `next`.
  virtual void come_back(Incarnation /*next*/) { over(); }
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
  MembershipActor(caf::actor_config& config, MembershipSetup setup, std::unique_ptr<MembershipPorts> ports,
                  caf::actor node);
  caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "dag.membership"; }

 private:
  void act(MembershipEffects effects);
  void tell_loads();
  void tell_view();

  const std::unique_ptr<MembershipPorts> ports_;
  const bool tells_loads_;
  caf::actor node_;
  MembershipMachine machine_;
  std::optional<Instant> wake_at_;
};

}  // namespace dag
