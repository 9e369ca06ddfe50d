// Worker processes of a job that do not hear each other although all nodes are there.

#include <catch2/catch.hpp>

#include "tests/unit/gateway/desk.hpp"

using namespace dag;
using namespace dag::test;

namespace {

/// A job that runs on three nodes and is led by the first.
struct Running : Desk {
  const Life third{{2}, {5}};
  JobId job;
  Life at_first, at_second, at_third;

  Running() : Desk(true) {
    gateway.on_nodes({node(first), node(second), node(third)}, now);
    job = submit();
    RecordLed news;
    news.plan = done<RecordJob>().back().plan;
    news.submission.launch = {program, "build", {"job"}, "/"};
    news.leads = true;
    news.leader = first.process;
    news.term = 1;
    gateway.on_led(std::move(news), now);
    take();
    at_first = up(job, first, 1), at_second = up(job, second, 1), at_third = up(job, third, 1);
    effects.clear();
  }
  void pass(Duration time) {
    now = now + time;
    gateway.on_time(now);
    take();
  }
};

}  // namespace

TEST_CASE("of two processes that do not hear each other one ends, and its node gets another one later") {
  Running desk;
  desk.hear(desk.at_second, keeper::Unheard{desk.job, {desk.at_third}});
  CHECK(desk.gateway.wake_at() == desk.now + GatewayMachine::apart_after);
  desk.pass(GatewayMachine::apart_after - 1ms);
  CHECK(desk.done<JobLifeDown>().empty());
  desk.pass(1ms);
  REQUIRE(desk.done<JobLifeDown>().size() == 1);
  CHECK(desk.done<JobLifeDown>().front().down.life == desk.at_third);
  REQUIRE(desk.ordered<keeper::StopWorker>().size() == 1);
  CHECK(desk.ordered<keeper::StopWorker>().front().first == desk.third);
  CHECK(desk.ordered<keeper::StopWorker>().front().second.number == 1);
  CHECK(desk.ordered<keeper::StartWorker>().empty());
  desk.hear(desk.third,
            keeper::WorkerDown{desk.job, 1, desk.at_third, ProcessEnd::stopped_by_us, "", {}, {}});
  CHECK(desk.done<JobLifeDown>().size() == 1);  // Known already.
  desk.pass(GatewayMachine::apart_pause);
  REQUIRE(desk.ordered<keeper::StartWorker>().size() == 1);
  CHECK(desk.ordered<keeper::StartWorker>().front().first == desk.third);
  CHECK(desk.ordered<keeper::StartWorker>().front().second.number == 2);
  desk.up(desk.job, desk.third, 2);
  CHECK(desk.done<JobLivesUp>().size() == 1);
  CHECK_FALSE(desk.gateway.wake_at());
}

TEST_CASE("who is heard again in time stays, and so does who is only silent for the dead") {
  Running desk;
  desk.hear(desk.at_second, keeper::Unheard{desk.job, {desk.at_third}});
  desk.pass(500ms);
  desk.hear(desk.at_second, keeper::Unheard{desk.job, {}});
  desk.pass(10s);
  CHECK(desk.done<JobLifeDown>().empty());
  // The word of one that is gone, or of a stranger, counts for nothing.
  desk.hear(desk.at_third, keeper::Unheard{desk.job, {desk.at_second}});
  desk.hear(desk.third,
            keeper::WorkerDown{desk.job, 1, desk.at_third, ProcessEnd::killed, "signal 9", {}, {}});
  desk.hear({{77}, {1}}, keeper::Unheard{desk.job, {desk.at_second}});
  desk.hear({{77}, {1}}, keeper::Unheard{JobId{4711}, {desk.at_second}});
  CHECK(desk.done<JobLifeDown>().size() == 1);
  desk.pass(10s);
  CHECK(desk.done<JobLifeDown>().size() == 1);
}

TEST_CASE("a process that the leader does not hear ends, whatever it hears itself") {
  Running desk;
  desk.hear(first, keeper::Unheard{{}, {desk.at_second}});
  desk.pass(GatewayMachine::apart_after);
  REQUIRE(desk.done<JobLifeDown>().size() == 1);
  CHECK(desk.done<JobLifeDown>().front().down.life == desk.at_second);
  desk.hear(first, keeper::Unheard{{}, {}});
  desk.pass(1s);
  CHECK(desk.done<JobLifeDown>().size() == 1);
}

TEST_CASE("the last processes that go are not the end of the job") {
  Running desk;
  desk.hear(first, keeper::WorkerDown{desk.job, 1, desk.at_first, ProcessEnd::stopped_by_us, "", {}, {}});
  desk.hear(first, keeper::Unheard{{}, {desk.at_second, desk.at_third}});
  desk.effects.clear();
  desk.gateway.on_nodes({node(second), node(desk.third)}, desk.now);
  desk.pass(GatewayMachine::apart_after);
  CHECK(desk.done<JobLifeDown>().size() == 2);
  CHECK(desk.done<StopJob>().empty());
  desk.pass(GatewayMachine::apart_pause);
  CHECK(desk.ordered<keeper::StartWorker>().size() == 2);
}
