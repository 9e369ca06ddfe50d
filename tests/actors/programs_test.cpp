// A keeper lets binaries go when another one needs room, and not those of jobs that it has yet to hear of.

#include <catch2/catch.hpp>

#include <dag/dag.hpp>

#include <future>

#include "actors/keeper_actor.hpp"
#include "actors/node_actor.hpp"
#include "nodes/process/parts.hpp"
#include "tests/support/patience.hpp"

namespace {

using namespace std::chrono_literals;

constexpr dag::Life self{{0}, {1}}, peer{{1}, {1}};
constexpr dag::ProgramId before{1, 1, 8}, next{2, 2, 8};

class Deaf final : public caf::event_based_actor {
 public:
  using caf::event_based_actor::event_based_actor;
  caf::behavior make_behavior() override {
    return {[](const dag::mail::Record&) {}};
  }
};

/// Those that go when the next one comes, a day after the start.
std::vector<dag::ProgramId> dropped(dag::KeeperSetup setup) {
  std::vector<dag::ProgramId> gone;
  std::promise<void> kept;
  std::atomic<dag::Duration::rep> now{0};
  dag::SystemConfig config;
  caf::actor_system system(config);
  dag::KeeperPorts ports;
  ports.now = [&] { return dag::Instant{dag::Duration{now.load()}}; };
  ports.drop_program = [&](dag::ProgramId program) { gone.push_back(program); };
  ports.keep_program = [&](dag::ProgramId, const dag::Blob&) -> dag::Status {
    kept.set_value();
    return dag::Done{};
  };
  setup.self = self;
  setup.programs = {before};
  setup.programs_bytes_max = 8;
  const auto node = system.spawn<Deaf>();
  const auto keeper = system.spawn<dag::KeeperActor>(std::move(setup), std::move(ports), node);
  now = dag::Duration(24h).count();
  caf::anon_send(keeper, dag::mail::KeeperSaid{
                             peer, dag::keeper::ProgramBytes{next, dag::detail::to_blob(std::uint64_t{5})}});
  const bool in_time = kept.get_future().wait_for(dag::test::patient(20s)) == std::future_status::ready;
  for (const caf::actor& actor : {keeper, node}) caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  system.await_all_actors_done();
  REQUIRE(in_time);
  return gone;
}

}  // namespace

TEST_CASE("a binary that nobody needs makes room for the next one") {
  CHECK(dropped({}) == std::vector<dag::ProgramId>{before});
}

TEST_CASE("no binary goes while a record on the disk has not been read, since its job may need it") {
  dag::KeeperSetup setup;
  setup.unread = {{7}};
  CHECK(dropped(std::move(setup)).empty());
}
