// A node that is to go: what is asked of its processes and of its clients, and when.

#include <catch2/catch.hpp>

#include "tests/unit/gateway/desk.hpp"

using namespace dag;
using namespace dag::test;

namespace {

Claim draining(Life life) {
  Claim claim = node(life);
  claim.load.draining = true;
  return claim;
}

const Launch launch{program, "build", {"job"}, "/"};

/// A host with a process, led by `first`.
struct Host {
  HostMachine host{second};
  Instant now{1s};
  const JobId job{42};
  Life life;
  std::vector<HostEffect> effects;

  explicit Host(bool up) {
    host.on_program(program, std::nullopt, now);
    host.on_message(first, keeper::StartWorker{job, 1, 1, launch}, now);
    take();
    life = std::get<StartProcess>(effects.back()).life;
    host.on_started(life, 99);
    if (up) host.on_greeted(life, {"here:1", "here:2"}, "build");
    take();
    effects.clear();
  }
  void take() {
    for (HostEffect& effect : host.take_effects()) effects.push_back(std::move(effect));
  }
  void hear(Life from, const KeeperMessage& message) {
    host.on_message(from, message, now);
    take();
  }
  template <class Message>
  std::vector<std::pair<Life, Message>> said() {
    std::vector<std::pair<Life, Message>> found;
    for (const HostEffect& effect : effects) {
      const auto* sent = std::get_if<SendToKeeper>(&effect);
      if (sent == nullptr) continue;
      if (const auto* message = std::get_if<Message>(&sent->message)) found.emplace_back(sent->to, *message);
    }
    return found;
  }
  bool stopped() const {
    return std::any_of(effects.begin(), effects.end(),
                       [](const HostEffect& one) { return std::holds_alternative<StopProcess>(one); });
  }
};

}  // namespace

TEST_CASE("processes of a node that is to go end when another node has one, and are not replaced there") {
  Desk desk;
  const JobId job = desk.submit();
  const Life going = desk.up(job, second, 1);
  desk.gateway.on_nodes({node(first), draining(second)}, desk.now);
  desk.take();
  CHECK(desk.ordered<keeper::StopWorkers>().empty());
  desk.up(job, first, 1);
  REQUIRE(desk.ordered<keeper::StopWorkers>().size() == 1);
  CHECK(desk.ordered<keeper::StopWorkers>().front().first == second);
  desk.gateway.on_nodes({node(first), draining(second)}, desk.now);
  desk.take();
  CHECK(desk.ordered<keeper::StopWorkers>().size() == 1);
  const std::size_t ordered = desk.ordered<keeper::StartWorker>().size();
  desk.hear(second, keeper::WorkerDown{job, 1, going, ProcessEnd::stopped_by_us, "", {}, {}});
  CHECK(desk.done<JobLifeDown>().size() == 1);
  CHECK(desk.ordered<keeper::StartWorker>().size() == ordered);
  SECTION("it stays after all") {
    desk.gateway.on_nodes({node(first), node(second)}, desk.now);
    desk.take();
    CHECK(desk.ordered<keeper::StartWorker>().back().first == second);
    CHECK(desk.ordered<keeper::StartWorker>().back().second.number == 2);
  }
  SECTION("a node that comes and is to go at once gets none") {
    desk.gateway.on_nodes({node(first), draining(second), draining({{2}, {7}})}, desk.now);
    desk.take();
    CHECK(desk.ordered<keeper::StartWorker>().size() == ordered);
  }
}

TEST_CASE("a node that stays after all keeps the process that it has") {
  Desk desk;
  const JobId job = desk.submit();
  desk.up(job, second, 1);
  desk.gateway.on_nodes({node(first), draining(second)}, desk.now);
  const bool told = GENERATE(true, false);
  if (told) desk.up(job, first, 1);
  const std::size_t ordered = desk.ordered<keeper::StartWorker>().size();
  desk.gateway.on_nodes({node(first), node(second)}, desk.now);
  desk.take();
  CHECK(desk.ordered<keeper::StartWorker>().size() == ordered);
  if (!told) return;  // The process ends, and is replaced then.
  const Life life{worker_process(second.process, 1), second.incarnation};
  desk.hear(second, keeper::WorkerDown{job, 1, life, ProcessEnd::stopped_by_us, "", {}, {}});
  CHECK(desk.ordered<keeper::StartWorker>().size() == ordered + 1);
}

TEST_CASE("a process that was told to end before it was there is not waited for when its node stays") {
  Desk desk;
  const JobId job = desk.submit();
  desk.gateway.on_nodes({node(first), draining(second)}, desk.now);
  desk.up(job, first, 1);
  CHECK(desk.ordered<keeper::StopWorkers>().size() == 1);
  CHECK(desk.done<BeginJob>().empty());
  desk.gateway.on_nodes({node(first), node(second)}, desk.now);
  desk.take();
  CHECK(desk.ordered<keeper::StartWorker>().back().second.number == 2);
  desk.up(job, second, 2);
  CHECK(desk.done<BeginJob>().size() == 1);
}

TEST_CASE("a process that a draining node refused is no reason why a job fails") {
  Desk desk;
  const JobId job = desk.submit();
  desk.up(job, first, 1);
  desk.hear(second, keeper::WorkerRefused{job, 1, {ErrorCode::job_elsewhere, "n1 is draining"}});
  desk.say(client::AskJobs{5, job});
  const JobInfo info = desk.told<client::Answer>().back().jobs.front();
  CHECK(info.phase == JobPhase::running);
  CHECK_FALSE(info.error);
  CHECK(info.copies == std::vector{first.process});
}

TEST_CASE("a node that is to go gives out no handles, and says who does") {
  Desk desk;
  desk.gateway.on_nodes({draining(first), node(second)}, desk.now);
  desk.say(client::AskHandle{1});
  const client::Answer answer = desk.told<client::Answer>().back();
  REQUIRE(answer.error);
  CHECK(answer.error->code == ErrorCode::job_elsewhere);
  CHECK(answer.elsewhere == node(second).endpoint.control);
}

TEST_CASE("a node that is sick, or whose disk is, gives out no handles, and is none to drain to") {
  Desk desk;
  Claim full = node(first);
  const auto [what, code] = GENERATE(std::pair(&LoadSummary::disk_full, ErrorCode::disk_full),
                                     std::pair(&LoadSummary::disk_stuck, ErrorCode::disk_full),
                                     std::pair(&LoadSummary::sick, ErrorCode::job_elsewhere));
  full.load.*what = true;
  desk.gateway.on_nodes({full, node(second)}, desk.now);
  desk.say(client::AskHandle{1});
  CHECK(desk.told<client::Answer>().back().error->code == code);
  CHECK(desk.told<client::Answer>().back().elsewhere == node(second).endpoint.control);
  full.life = second;
  desk.gateway.on_nodes({node(first), full}, desk.now);
  desk.say(client::AskDrain{2, true});
  CHECK(desk.told<client::Answer>().back().error->code == ErrorCode::needs_impossible);
}

TEST_CASE("a sick node takes jobs as long as no other one does") {
  Desk desk;
  Claim sick = node(first), other = node(second);
  sick.load.sick = other.load.sick = true;
  desk.gateway.on_nodes({sick, other}, desk.now);
  desk.say(client::AskHandle{1});
  CHECK_FALSE(desk.told<client::Answer>().back().error);
  CHECK(desk.told<client::Answer>().back().elsewhere.empty());
  sick.load.disk_full = true;
  desk.gateway.on_nodes({sick, other}, desk.now);
  desk.say(client::AskHandle{2});
  CHECK(desk.told<client::Answer>().back().error->code == ErrorCode::disk_full);
}

TEST_CASE("a node says why it is not ready, and others are no reason") {
  GatewayMachine gateway(first, 100, true, {}, 3, true);
  auto not_ready = [&, now = Instant{1s}](std::vector<Claim> nodes) mutable {
    now = now + 10s;
    gateway.on_nodes(std::move(nodes), now);
    gateway.on_client_message(someone, client::AskNodes{1}, now);
    std::vector<std::string> reasons;
    for (const GatewayEffect& effect : gateway.take_effects()) {
      const auto* sent = std::get_if<SendToClient>(&effect);
      if (sent == nullptr) continue;
      const auto& told = std::get<client::Answer>(sent->message).nodes;
      REQUIRE(told.front().life == first);
      reasons = told.front().not_ready;
      for (std::size_t i = 1; i < told.size(); ++i) CHECK(told[i].not_ready.empty());
    }
    return reasons;
  };
  CHECK(not_ready({node(first), node(second)}).empty());
  CHECK(not_ready({node(first), draining(second)}).empty());
  CHECK(not_ready({draining(first), node(second)}) ==
        std::vector<std::string>{"n0 is draining: it accepts no new jobs"});
  Claim witness = node(first);
  witness.load.witness = true;
  CHECK(not_ready({witness, node(second)}).empty());
  Claim full = node(first);
  full.load.disk_full = true;
  CHECK(not_ready({full}) == std::vector<std::string>{"the disk of n0 is full: the node accepts no new jobs",
                                                      "n0 hears none of the nodes that it knows"});
  CHECK(not_ready({node(first), node(second)}).empty());
}

TEST_CASE("the last node that takes jobs cannot be drained") {
  Desk desk;
  const bool alone = GENERATE(true, false);
  desk.gateway.on_nodes(alone ? std::vector{node(first)} : std::vector{node(first), draining(second)},
                        desk.now);
  desk.say(client::AskDrain{1, true});
  REQUIRE(desk.told<client::Answer>().back().error);
  CHECK(desk.told<client::Answer>().back().error->code == ErrorCode::needs_impossible);
  CHECK(desk.done<Drain>().empty());
  desk.gateway.on_nodes({node(first), node(second)}, desk.now);
  desk.say(client::AskDrain{2, true});
  CHECK_FALSE(desk.told<client::Answer>().back().error);
  desk.gateway.on_nodes({draining(first), draining(second)}, desk.now);
  desk.say(client::AskDrain{3, false});
  REQUIRE(desk.done<Drain>().size() == 2);
  CHECK(desk.done<Drain>().front().draining);
  CHECK_FALSE(desk.done<Drain>().back().draining);
}

TEST_CASE("a host that is draining starts nothing, and tells a new leader what it has") {
  Host here(true);
  here.host.drain(true);
  const Life third{{2}, {8}};
  here.hear(third, keeper::StartWorker{here.job, 2, 2, launch});
  REQUIRE(here.said<keeper::WorkerUp>().size() == 1);
  CHECK(here.said<keeper::WorkerUp>().front().first == third);
  REQUIRE(here.said<keeper::WorkerRefused>().size() == 1);
  CHECK(here.said<keeper::WorkerRefused>().front().second.number == 2);
  CHECK_FALSE(here.stopped());
  here.hear(third, keeper::StopWorkers{here.job});
  CHECK(here.stopped());
  here.host.on_ended(here.life, ProcessEnd::killed, "signal 15", {}, {});
  here.take();
  REQUIRE(here.said<keeper::WorkerDown>().size() == 1);
  CHECK(here.said<keeper::WorkerDown>().front().second.end == ProcessEnd::stopped_by_us);
  here.hear(first, keeper::StartWorker{here.job, 1, 3, launch});  // Node `first` leads now.
  CHECK(here.said<keeper::WorkerDown>().back().first == first);
  here.host.drain(false);
  here.hear(first, keeper::StartWorker{here.job, 3, 3, launch});
  CHECK(std::holds_alternative<StartProcess>(here.effects.back()));
}

TEST_CASE("a process that is not up when its node is to go is refused, once") {
  Host here(false);
  here.host.drain(true);
  here.hear(first, keeper::StopWorkers{here.job});
  CHECK(here.said<keeper::WorkerRefused>().size() == 1);
  CHECK(here.stopped());
  here.host.on_ended(here.life, ProcessEnd::killed, "signal 15", {}, {});
  here.take();
  CHECK(here.said<keeper::WorkerRefused>().size() == 1);
  CHECK(here.said<keeper::WorkerDown>().empty());
  CHECK(here.host.empty());
}
