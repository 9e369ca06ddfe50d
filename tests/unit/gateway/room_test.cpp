// Jobs that find no room on nodes wait, and start in their order when there is room.

#include <catch2/catch.hpp>

#include "tests/unit/gateway/desk.hpp"

using namespace dag;
using namespace dag::test;

namespace {

struct FullDesk : Desk {
  const Error full{ErrorCode::limit_reached, "no room", {}};

  void refuse(Life host, JobId job) { hear(host, keeper::WorkerRefused{job, newest(host, job), full}); }
  std::uint32_t newest(Life host, JobId job) {
    std::uint32_t number = 0;
    for (const auto& [to, order] : ordered<keeper::StartWorker>()) {
      if (to == host && order.job == job) number = std::max(number, order.number);
    }
    return number;
  }
  void pass(Duration time) {
    now = now + time;
    gateway.on_time(now);
    take();
  }
  JobInfo info(JobId job) {
    say(client::AskJobs{9, job, {}});
    return told<client::Answer>().back().jobs.front();
  }
};

}  // namespace

TEST_CASE("a job that no node has room for waits and says why, and starts when there is room") {
  FullDesk desk;
  const JobId job = desk.submit();
  desk.refuse(first, job);
  desk.refuse(second, job);
  CHECK(desk.told<client::JobLost>().empty());
  CHECK(desk.info(job).phase == JobPhase::starting);
  REQUIRE(desk.info(job).error);
  CHECK(desk.info(job).error->code == ErrorCode::limit_reached);
  CHECK(desk.info(job).workers.empty());
  REQUIRE(desk.gateway.wake_at());
  CHECK(*desk.gateway.wake_at() <= desk.now + GatewayMachine::room_pause);
  desk.pass(GatewayMachine::room_pause);
  CHECK(desk.newest(first, job) == 2);
  CHECK(desk.newest(second, job) == 2);
  desk.refuse(second, job);
  desk.up(job, first, 2);
  CHECK(desk.info(job).phase == JobPhase::running);
  CHECK_FALSE(desk.info(job).error);
}

TEST_CASE("a job that runs elsewhere asks a full node again, but not soon") {
  FullDesk desk;
  const JobId job = desk.submit();
  desk.refuse(first, job);
  desk.up(job, second, 1);
  CHECK(desk.info(job).phase == JobPhase::running);
  desk.pass(
      GatewayMachine::room_pause);  // The client waited before the job ran: once more at once, then seldom.
  desk.refuse(first, job);
  const std::uint32_t asked = desk.newest(first, job);
  desk.pass(GatewayMachine::room_pause);
  CHECK(desk.newest(first, job) == asked);
  desk.pass(GatewayMachine::apart_pause);
  CHECK(desk.newest(first, job) == asked + 1);
}

TEST_CASE("jobs that wait for room ask in the order of their numbers, and a new one behind them") {
  FullDesk desk;
  std::vector<JobId> jobs;
  for (std::size_t i = 0; i < GatewayMachine::room_asked_max + 2; ++i) {
    jobs.push_back(desk.submit());
    if (i > 0) {
      CHECK(desk.newest(first, jobs.back()) == 0);  // Others wait already.
      continue;
    }
    desk.refuse(first, jobs.front());
    desk.refuse(second, jobs.front());
  }
  desk.pass(GatewayMachine::room_pause);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const bool asked = desk.newest(first, jobs[i]) == (i == 0 ? 2u : 1u);
    CHECK(asked == (i < GatewayMachine::room_asked_max / 2));  // Each asks two nodes.
  }
}

TEST_CASE("a job that waits for room can be cancelled") {
  FullDesk desk;
  const JobId job = desk.submit();
  desk.refuse(first, job);
  desk.refuse(second, job);
  desk.say(client::AskCancel{5, job});
  CHECK(desk.info(job).phase == JobPhase::cancelled);
  const std::size_t asked = desk.ordered<keeper::StartWorker>().size();
  desk.pass(2 * GatewayMachine::room_pause);
  CHECK(desk.ordered<keeper::StartWorker>().size() == asked);
}
