// Jobs that have ended and are kept cost a gateway memory, and nothing else.

#include <catch2/catch.hpp>

#include "tests/unit/gateway/desk.hpp"

using namespace dag;
using namespace dag::test;

namespace {

struct BusyDesk : Desk {
  const std::shared_ptr<const detail::Fragment> graph = chain();

  /// Its result is here, its client keeps the handle, and its processes have ended.
  JobId at_rest() {
    const JobId job = submit(graph);
    const Life one = up(job, first, 1), two = up(job, second, 1);
    gateway.on_ended(job, std::nullopt, {0, 2}, now);
    gateway.on_settled(job, {job, 1, Outcome::finished, {}, {}});
    pass(GatewayMachine::asks_within);
    for (const auto& [host, life] : {std::pair(first, one), std::pair(second, two)})
      hear(host, keeper::WorkerDown{job, 1, life, ProcessEnd::stopped_by_us, {}, {}, std::nullopt});
    return job;
  }
  void pass(Duration time) {
    now = now + time;
    gateway.on_time(now);
    take();
  }
  std::size_t awake() const { return gateway.jobs().awake().size(); }
};

}  // namespace

TEST_CASE("jobs at rest are not looked at, whatever happens to others") {
  BusyDesk desk;
  std::vector<JobId> jobs;
  for (int i = 0; i < 100; ++i) {
    jobs.push_back(desk.at_rest());
    CHECK(desk.awake() == 0);
  }
  CHECK_FALSE(desk.gateway.wake_at());
  const JobId runs = desk.submit(desk.graph);
  CHECK(desk.gateway.jobs().awake() == std::set{runs});
  desk.gateway.on_nodes({node(first), node(second)}, desk.now);
  desk.take();
  CHECK(desk.awake() == 1);
  desk.say(client::Want{jobs.front(), 1});
  CHECK(desk.told<client::TaskSettled>().size() == 1);
  CHECK(desk.awake() == 1);
}

TEST_CASE("a job at rest is closed when its client lets go of it, or goes") {
  BusyDesk desk;
  const JobId one = desk.at_rest(), two = desk.at_rest();
  desk.say(client::ForgetJob{one});
  REQUIRE(desk.done<CloseJob>().size() == 1);
  CHECK(desk.done<CloseJob>().front().job == one);
  desk.gateway.on_client_gone(someone, desk.now);
  desk.take();
  REQUIRE(desk.done<CloseJob>().size() == 2);
  CHECK(desk.done<CloseJob>().back().job == two);
  CHECK(desk.awake() == 0);
}

TEST_CASE("a detached job at rest is closed when its time is over") {
  BusyDesk desk;
  desk.say(client::AskHandle{1});
  const JobId job = *desk.told<client::Answer>().back().job;
  desk.gateway.on_program(program, std::nullopt, desk.now);
  desk.say(client::AskSubmit{2, job, "chain", desk.graph, {program, "build", {"job"}, "/"}, true});
  const Life life = desk.up(job, first, 1);
  desk.hear(second, keeper::WorkerRefused{job, 1, {ErrorCode::program_invalid, "no", {}}});
  desk.gateway.on_ended(job, std::nullopt, {0, 2}, desk.now);
  desk.gateway.on_settled(job, {job, 1, Outcome::finished, {}, {}});
  desk.take();
  CHECK(desk.awake() == 1);  // Its process is still there.
  desk.hear(first, keeper::WorkerDown{job, 1, life, ProcessEnd::stopped_by_us, {}, {}, std::nullopt});
  CHECK(desk.awake() == 0);
  const Instant until = desk.now + ResultLimits{}.kept_for;
  REQUIRE(desk.gateway.wake_at() == until);
  desk.now = until;
  desk.gateway.on_time(desk.now);
  desk.take();
  CHECK(desk.done<CloseJob>().size() == 1);
  CHECK_FALSE(desk.gateway.wake_at());
}

TEST_CASE("the oldest jobs that nobody follows are forgotten, those of a client are not") {
  BusyDesk desk;
  const JobId kept = desk.at_rest();
  const JobId let_go = desk.at_rest();
  desk.say(client::ForgetJob{let_go});
  for (std::size_t i = 0; i < GatewayMachine::ended_jobs_max; ++i) {
    CHECK(desk.gateway.jobs().peek(let_go) != nullptr);
    desk.say(client::ForgetJob{desk.at_rest()});
    desk.effects.clear();
  }
  CHECK(desk.gateway.jobs().peek(let_go) == nullptr);
  CHECK(desk.gateway.jobs().peek(kept) != nullptr);
  CHECK(desk.gateway.jobs().all().size() == GatewayMachine::ended_jobs_max + 1);
}
