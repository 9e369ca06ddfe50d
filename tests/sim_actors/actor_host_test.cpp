// The host of a simulated process's actors: it checks each of them after its message.
#include <catch2/catch.hpp>

#include "actors/invariants.hpp"
#include "libdag/base/check.hpp"
#include "tools/sim/actors/actor_host.hpp"

using namespace dag;

namespace {

enum class Order : int { work, contradict_yourself, contradict_yourself_and_end };

class Contradictory final : public caf::event_based_actor, public HasInvariants {
 public:
  using event_based_actor::event_based_actor;

  caf::behavior make_behavior() override {
    return {[this](int order) {
      well_ = static_cast<Order>(order) == Order::work;
      if (static_cast<Order>(order) == Order::contradict_yourself_and_end) quit();
    }};
  }
  void check_invariants() const override { DAG_CHECK(well_); }

 private:
  bool well_ = true;
};

}  // namespace

TEST_CASE("an actor that contradicts itself is found with the message after which it does") {
  const Order wrong = GENERATE(Order::contradict_yourself, Order::contradict_yourself_and_end);
  sim::ActorHost host{Instant{}};
  Random random(1);
  caf::actor actor = host.system().spawn<Contradictory>();
  caf::anon_send(actor, static_cast<int>(Order::work));
  while (host.has_job()) host.run_one(random);
  caf::anon_send(actor, static_cast<int>(wrong));
  CHECK_THROWS_AS(host.run_one(random), Bug);
  sim::ActorHost::kill(actor);
}
