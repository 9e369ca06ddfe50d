#pragma once
// The way to a process's membership actor, for threads that may have messages for it before it is there.
// Early messages are dropped: partners repeat everything.

#include <caf/all.hpp>
#include <mutex>

#include "actors/mail.hpp"
#include "nodes/transport/transport.hpp"

namespace dag {

class MembershipDoor {
 public:
  /// `spawn` makes the actor; messages that come meanwhile wait. Only the first call does anything.
  template <class Spawn>
  void open(Spawn&& spawn) {
    const std::lock_guard lock(mutex_);
    if (!actor_) actor_ = spawn();
  }

  template <class Mail>
  void send(Mail mail) {
    if (const caf::actor actor = get()) caf::anon_send(actor, std::move(mail));
  }

  /// Says goodbye, so that the others do not take our end for a loss, and returns when it is said. Before the
  /// other actors end.
  void leave(caf::actor_system& system) {
    const caf::actor actor = get();
    if (!actor) return;
    caf::scoped_actor self(system);
    self->monitor(actor);
    self->send(actor, mail::Leave{});
    self->receive([](const caf::down_msg&) {});
  }

 private:
  caf::actor get() {
    const std::lock_guard lock(mutex_);
    return actor_;
  }

  std::mutex mutex_;
  caf::actor actor_;
};

/// Sends the membership actor the transport's events about other processes.
class MemberEvents : public TransportEvents {
 public:
  explicit MemberEvents(MembershipDoor& door) : door_(door) {}

  void membership(Life from, MembershipMessage message) override {
    door_.send(mail::Heard{from, std::move(message)});
  }
  void disconnected(Life life) override {
    if (is_member(life)) door_.send(mail::LinkBroken{life});
  }
  void refused(Life life) override {
    if (is_member(life)) door_.send(mail::LinkRefused{life});
  }

 private:
  /// Broken links of others are not reported.
  virtual bool is_member(Life /*life*/) const { return true; }

  MembershipDoor& door_;
};

}  // namespace dag
