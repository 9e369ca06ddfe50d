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

/// A node with room for one binary, and a clock that the test sets.
struct Shelf {
  std::atomic<dag::Duration::rep> now{0};
  std::vector<dag::ProgramId> gone;
  std::promise<void> kept;
};

class ShelfPorts final : public dag::KeeperPorts {
 public:
  explicit ShelfPorts(Shelf& shelf) : shelf_(shelf) {}

  dag::Instant now() override { return dag::Instant{dag::Duration{shelf_.now.load()}}; }
  dag::Status keep_program(dag::ProgramId, const dag::Blob&) override {
    shelf_.kept.set_value();
    return dag::Done{};
  }
  void drop_program(dag::ProgramId program) override { shelf_.gone.push_back(program); }

  // Nothing else is asked of this node.
  dag::Duration since_1970() override { return {}; }
  void send(dag::Life, dag::ClientMessage) override {}
  void send(dag::Life, dag::KeeperMessage) override {}
  void life_at(const dag::LifeAt&) override {}
  void forget(dag::Life) override {}
  void start_process(dag::StartProcess) override {}
  void stop_process(dag::Life) override {}
  dag::Blob program(dag::ProgramId) override { return {}; }
  std::optional<dag::JobDetails> details(dag::JobId) override { return std::nullopt; }
  void forget_details(dag::JobId) override {}
  void job_begins(const dag::JobPlan&) override {}
  void job_closed(dag::JobId) override {}
  void job_ended(dag::JobId, bool) override {}
  void spill(dag::client::TaskSettled) override {}
  void keep_save(dag::keeper::SaveCopy) override {}
  bool read_journal(dag::Life, const dag::client::AskJournal&) override { return false; }
  void drain(bool) override {}
  void shut_down() override {}

 private:
  Shelf& shelf_;
};

/// Programs that go when the next one comes, a day after the start.
std::vector<dag::ProgramId> dropped(dag::KeeperSetup setup) {
  Shelf shelf;
  dag::SystemConfig config;
  caf::actor_system system(config);
  setup.self = self;
  setup.programs = {before};
  setup.programs_bytes_max = 8;
  const auto node = system.spawn<Deaf>();
  const auto keeper =
      system.spawn<dag::KeeperActor>(std::move(setup), std::make_unique<ShelfPorts>(shelf), node);
  shelf.now = dag::Duration(24h).count();
  caf::anon_send(keeper, dag::mail::KeeperSaid{
                             peer, dag::keeper::ProgramBytes{next, dag::detail::to_blob(std::uint64_t{5})}});
  const bool in_time = shelf.kept.get_future().wait_for(dag::test::patient(20s)) == std::future_status::ready;
  for (const caf::actor& actor : {keeper, node}) caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  system.await_all_actors_done();
  REQUIRE(in_time);
  return shelf.gone;
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
