#include "libdag/here/job_router.hpp"

#include <catch2/catch.hpp>

namespace dag {
namespace {

constexpr Life leader{ProcessId{0}, Incarnation{1}}, here{ProcessId{1}, Incarnation{1}},
    other{ProcessId{2}, Incarnation{1}};
constexpr Epoch first{1, 1}, second{1, 2}, third{1, 3};

/// A job of which each shard is at one of these.
message::JobState state_of(std::uint64_t version, std::vector<message::ShardHome> homes) {
  message::JobState state;
  state.version = version;
  state.cell = leader;
  state.lives = {leader, here, other};
  state.homes = std::move(homes);
  return state;
}
message::Assign assign_of(std::uint32_t shard, Epoch epoch) {
  message::Assign assign;
  assign.shard = shard;
  assign.epoch = epoch;
  return assign;
}
message::Settled settled_of(std::uint32_t shard, Epoch epoch) {
  message::Settled settled;
  settled.shard = shard;
  settled.epoch = epoch;
  return settled;
}

std::string text_of(const JobRoute& any) {
  if (const auto* hand = std::get_if<HandOn>(&any)) {
    const std::string what(name(hand->message));
    if (hand->to == Recipient::runner) return what + " to the runner";
    if (hand->to == Recipient::cell) return what + " to the cell";
    return what + " to home " + std::to_string(hand->shard);
  }
  if (const auto* begin = std::get_if<BeginHome>(&any)) {
    return "home " + std::to_string(begin->shard) + " begins in epoch " + to_string(begin->epoch) +
           (begin->assign ? " by an Assign" : "");
  }
  if (const auto* end = std::get_if<EndHome>(&any)) return "home " + std::to_string(end->shard) + " ends";
  if (const auto* asked = std::get_if<AskedForWork>(&any)) {
    std::string text = "asked for work, homes";
    for (const std::uint32_t shard : asked->homes) text += " " + std::to_string(shard);
    return text;
  }
  return std::holds_alternative<JobOver>(any) ? "over" : "work came";
}

/// A router that is open, and what it wants done.
struct Router {
  Router() { router.open(); }
  Admission tell(JobMessage message, Life from = leader) {
    const Admission admission = router.on_message(from, std::move(message));
    router.check_invariants();
    return admission;
  }
  std::vector<std::string> routes() {
    std::vector<std::string> texts;
    for (const JobRoute& route : router.take_routes()) texts.push_back(text_of(route));
    return texts;
  }
  JobRouter router{here};
};
using Routes = std::vector<std::string>;

TEST_CASE("a state goes to the runner, then to the homes, then homes begin that it names") {
  Router router;
  router.tell(state_of(1, {{here, first}, {other, first}}));
  CHECK(router.routes() == Routes{"JobState to the runner", "home 0 begins in epoch 1.1"});
  router.tell(state_of(2, {{here, first}, {other, first}}));
  CHECK(router.routes() == Routes{"JobState to the runner", "JobState to home 0"});
  router.tell(state_of(1, {{other, first}, {here, first}}));  // An older one.
  CHECK(router.routes().empty());
}

TEST_CASE("a first home begins by whichever state names this process first") {
  Router router;
  router.tell(state_of(1, {{Life{}, first}}));
  CHECK(router.routes() == Routes{"JobState to the runner"});
  router.tell(state_of(2, {{here, first}}));
  CHECK(router.routes() == Routes{"JobState to the runner", "home 0 begins in epoch 1.1"});
}

TEST_CASE("a home ends when its shard goes to another process") {
  Router router;
  router.tell(state_of(1, {{here, first}, {here, first}}));
  router.routes();
  router.tell(state_of(2, {{other, second}, {here, first}}));
  CHECK(router.routes() == Routes{"home 0 ends", "JobState to the runner", "JobState to home 1"});
  CHECK(router.tell(settled_of(0, second)) == Admission::drop);
}

TEST_CASE("an Assign of a newer epoch replaces the home that is here") {
  Router router;
  router.tell(state_of(1, {{here, first}}));
  router.tell(state_of(2, {{here, second}}));
  router.routes();
  router.tell(assign_of(0, second));
  CHECK(router.routes() == Routes{"home 0 ends", "home 0 begins in epoch 1.2 by an Assign"});
  router.tell(assign_of(0, second));  // Repeated.
  CHECK(router.routes().empty());
}

TEST_CASE("an Assign is not believed against the state") {
  Router router;
  router.tell(state_of(1, {{other, second}}));
  router.routes();
  router.tell(assign_of(0, second));
  CHECK(router.routes().empty());
}

TEST_CASE("messages for a home that is on its way follow its beginning at once, in their order") {
  Router router;
  CHECK(router.tell(settled_of(0, second)) == Admission::wait);  // The job has no state.
  CHECK(router.tell(assign_of(0, second)) == Admission::wait);
  CHECK(router.tell(settled_of(0, third)) == Admission::wait);
  router.tell(state_of(1, {{here, second}}));
  CHECK(router.routes() ==
        Routes{"JobState to the runner", "home 0 begins in epoch 1.2 by an Assign", "Settled to home 0"});
  CHECK(router.router.waiting() == 1);
}

TEST_CASE("all messages wait until it is known what the job is") {
  JobRouter router(here);
  CHECK(router.on_message(leader, state_of(1, {{here, first}})) == Admission::wait);
  CHECK(router.on_message(leader, settled_of(0, first)) == Admission::wait);
  CHECK(router.take_routes().empty());
  router.open();
  CHECK(router.take_routes().size() == 3);
}

TEST_CASE("homes are asked for work in turn") {
  Router router;
  router.tell(state_of(1, {{here, first}, {here, first}}));
  router.routes();
  router.tell(message::StealRequest{{}, 2}, other);
  router.tell(message::StealRequest{{}, 2}, other);
  CHECK(router.routes() == Routes{"asked for work, homes 0 1", "asked for work, homes 1 0"});
}

// A home that began would run the tasks of a job that was stopped.
TEST_CASE("no home begins by a state that says that the job has ended") {
  Router router;
  message::JobState stopped = state_of(1, {{here, first}});
  stopped.ended = true;
  router.tell(stopped);
  CHECK(router.routes() == Routes{"JobState to the runner"});
  CHECK(router.tell(settled_of(0, first)) == Admission::drop);
}

TEST_CASE("when nobody takes part here any more all homes end, and nothing is let in") {
  Router router;
  router.tell(state_of(1, {{here, first}}));
  router.tell(settled_of(0, second));
  router.routes();
  message::JobState over = state_of(2, {{here, first}});
  over.lives.clear();
  over.ended = true;
  router.tell(over);
  CHECK(router.routes() == Routes{"JobState to the runner", "JobState to home 0", "home 0 ends", "over"});
  CHECK(router.router.is_over());
  CHECK(router.tell(state_of(3, {{here, first}})) == Admission::drop);
}

}  // namespace
}  // namespace dag
