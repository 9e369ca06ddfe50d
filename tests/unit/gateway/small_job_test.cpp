// A job of one task begins in one process.

#include <catch2/catch.hpp>

#include "tests/unit/gateway/desk.hpp"

using namespace dag;
using namespace dag::test;

namespace {

std::shared_ptr<const detail::Fragment> one_task() {
  Graph graph("one");
  graph.task("one", [] { return 1; });
  return std::make_shared<const detail::Fragment>(graph.builder().sealed());
}

}  // namespace

TEST_CASE("a job of one task begins in one process, and has others when it has not ended soon") {
  Desk desk;
  const JobId job = desk.submit(one_task());
  REQUIRE(desk.ordered<keeper::StartWorker>().size() == 1);
  CHECK(desk.ordered<keeper::StartWorker>().front().first == first);
  desk.up(job, first, 1);
  REQUIRE(desk.done<BeginJob>().size() == 1);
  CHECK(desk.done<BeginJob>().front().lives.size() == 1);
  CHECK(desk.done<BeginJob>().front().plan->shards == 1);
  REQUIRE(desk.gateway.wake_at());
  desk.now = *desk.gateway.wake_at();
  SECTION("it goes on") {
    desk.gateway.on_time(desk.now);
    desk.take();
    REQUIRE(desk.ordered<keeper::StartWorker>().size() == 2);
    CHECK(desk.ordered<keeper::StartWorker>().back().first == second);
  }
  SECTION("it has ended, and has brought its result") {
    desk.gateway.on_ended(job, std::nullopt, {0, 1}, desk.now);
    desk.gateway.on_settled(job, {job, 0, Outcome::finished, {}, {}});
    desk.gateway.on_time(desk.now);
    desk.take();
    CHECK(desk.ordered<keeper::StartWorker>().size() == 1);
  }
}

TEST_CASE("a job of one task goes on elsewhere when its only process is lost with its node") {
  Desk desk;
  const JobId job = desk.submit(one_task());
  desk.gateway.on_nodes({node(second)}, desk.now);
  desk.take();
  CHECK(desk.ordered<keeper::StartWorker>().size() == 1);
  desk.now = *desk.gateway.wake_at();
  desk.gateway.on_time(desk.now);
  desk.take();
  REQUIRE(desk.ordered<keeper::StartWorker>().size() == 2);
  CHECK(desk.ordered<keeper::StartWorker>().back().first == second);
  desk.up(job, second, 1);
  CHECK(desk.done<BeginJob>().size() == 1);
}
