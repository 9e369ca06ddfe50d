#include "tools/sim/actors/actor_host.hpp"

#include "actors/invariants.hpp"

namespace dag::sim {

ActorHost::Config::Config() {
  set("scheduler.policy", caf::atom("testing"));
  set("logger.verbosity", caf::atom("quiet"));
}

ActorHost::ActorHost(Instant now)
    : system_(config_), coordinator_(dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler())) {
  coordinator_.clock().current_time = caf::actor_clock::time_point(now.since_start);
}

ActorHost::~ActorHost() {
  drain();
  // Its destructor would wait for them for ever.
  if (system_.registry().running() != 0) std::terminate();
}

void ActorHost::drain() {
  while (coordinator_.try_run_once()) {
  }
}

void ActorHost::run_one(Random& random) {
  auto& jobs = coordinator_.jobs;
  std::swap(jobs.front(), jobs[random.below(jobs.size())]);
  const caf::intrusive_ptr<caf::resumable> job(jobs.front());  // An actor may end with its message.
  coordinator_.run_once();
  if (const auto* actor = dynamic_cast<const HasInvariants*>(job.get())) actor->check_invariants();
}

void ActorHost::advance(Instant now) {
  caf::detail::test_actor_clock& clock = coordinator_.clock();
  const caf::actor_clock::time_point to(now.since_start);
  clock.advance_time(to - clock.current_time);  // By nothing, too: something may be due at once.
}

std::optional<Instant> ActorHost::next_timeout() const {
  const auto& schedule = coordinator_.clock().schedule();
  if (schedule.empty()) return std::nullopt;
  return Instant{std::chrono::duration_cast<Duration>(schedule.begin()->first.time_since_epoch())};
}

void ActorHost::kill(caf::actor& actor) {
  if (actor) caf::anon_send_exit(actor, caf::exit_reason::kill);
  actor = nullptr;
}

}  // namespace dag::sim
