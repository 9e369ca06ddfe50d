// A job whose record has several copies: its leader asks hosts for processes, and clients ask the leader.

#include <catch2/catch.hpp>

#include "libdag/host/program_shelf.hpp"
#include "tests/unit/gateway/desk.hpp"

using namespace dag;
using namespace dag::test;

namespace {

RecordLed led(JobId job, bool leads, std::optional<ProcessId> leader, std::uint32_t term = 1) {
  auto plan = std::make_shared<JobPlan>();
  plan->job = job;
  plan->name = "chain";
  plan->graph = chain();
  plan->shard_of = {0, 1};
  plan->shards = 2;
  RecordLed news;
  news.plan = std::move(plan);
  news.submission.launch = {program, "build", {"job"}, "/"};
  news.leads = leads;
  news.leader = leader;
  news.term = term;
  return news;
}

/// A gateway that has come to lead a job which began elsewhere, on two nodes.
struct Heir : Desk {
  const JobId job = job_of_node(ProcessId{2}, 7);
  const Life of_first{worker_process(first.process, 3), first.incarnation};
  const Life of_dead{worker_process({2}, 1), {5}};
  const Life of_unseen{worker_process({3}, 1), {5}};

  Heir() : Desk(true) {
    gateway.on_nodes({node(first), node(second), node({{2}, {5}})}, now);
    gateway.on_nodes({node(first), node(second)}, now);
    RecordLed news = led(job, true, first.process, 2);
    news.begun = true;
    news.lives = {of_first, of_dead, of_unseen};
    gateway.on_led(std::move(news), now);
    take();
  }
};

}  // namespace

TEST_CASE("a submission waits until a loss of this node leaves one that has its binary") {
  Desk desk(true, 3);
  const Life third{{2}, {5}}, fourth{{3}, {5}};
  desk.gateway.on_nodes({node(first), node(second), node(third)}, desk.now);
  const JobId job = desk.submit();
  CHECK(desk.done<RecordJob>().empty());
  REQUIRE(desk.ordered<keeper::KeepProgram>().size() == 2);
  CHECK(desk.ordered<keeper::KeepProgram>().front().second.program == program);
  SECTION("another one has it") {
    desk.hear(fourth, keeper::HaveProgram{program});  // Not a node that was asked.
    CHECK(desk.done<RecordJob>().empty());
    desk.hear(third, keeper::HaveProgram{program});
    REQUIRE(desk.done<RecordJob>().size() == 1);
    desk.submit();  // The handle is there already.
    CHECK(desk.done<RecordJob>().size() == 2);
    desk.gateway.on_nodes({node(first), node(second), node({{2}, {6}})}, desk.now);  // A new life.
    desk.submit();
    CHECK(desk.done<RecordJob>().size() == 2);
  }
  SECTION("another one had it long ago, and may have let it go since") {
    desk.hear(third, keeper::HaveProgram{program});
    desk.now = desk.now + GatewayMachine::believed_for;
    static_assert(2 * GatewayMachine::believed_for < ProgramShelf::held_for);
    desk.submit();
    CHECK(desk.done<RecordJob>().size() == 1);
    CHECK(desk.ordered<keeper::KeepProgram>().size() == 4);
    desk.hear(third, keeper::HaveProgram{program});
    CHECK(desk.done<RecordJob>().size() == 2);
  }
  SECTION("there is none but this one after all") {
    desk.gateway.on_nodes({node(first)}, desk.now);
    desk.take();
    CHECK(desk.done<RecordJob>().size() == 1);
  }
  SECTION("a node that comes is asked, too") {
    desk.gateway.on_nodes({node(first), node(second), node(third), node(fourth)}, desk.now);
    desk.take();
    CHECK(desk.ordered<keeper::KeepProgram>().back().first == fourth);
  }
  SECTION("none gets it") {
    REQUIRE(desk.gateway.wake_at() == desk.now + GatewayMachine::accept_within);
    desk.gateway.on_time(desk.now + GatewayMachine::accept_within);
    desk.take();
    REQUIRE(desk.told<client::Answer>().back().error);
    CHECK(desk.told<client::Answer>().back().error->code == ErrorCode::no_quorum);
    CHECK_FALSE(desk.gateway.wake_at());
    CHECK(desk.done<RecordJob>().empty());
  }
  SECTION("the client goes away") {
    desk.gateway.on_client_gone(someone, desk.now);
    desk.hear(second, keeper::HaveProgram{program});
    CHECK(desk.done<RecordJob>().empty());
  }
  CHECK(to_string(job) == "job1");
}

TEST_CASE("a binary is needed until nothing more can come of any job that names it") {
  Desk desk(true, 3);
  const auto is_needed = [&] { return desk.gateway.needed_programs() == std::set<ProgramId>{program}; };
  CHECK(desk.gateway.needed_programs().empty());
  SECTION("of a job that is led here") {
    const JobId job = desk.submit();  // The binary is copied to another node.
    CHECK(is_needed());
    desk.hear(second, keeper::HaveProgram{program});
    desk.gateway.on_led(led(job, true, first.process, 1), desk.now);
    for (const Life host : {first, second}) desk.up(job, host, 1);
    CHECK(is_needed());
    desk.gateway.on_ended(job, std::nullopt, {}, desk.now);
    CHECK(is_needed());  // Outputs may have to be made again.
    desk.say(client::ForgetJob{job});
    CHECK(desk.gateway.needed_programs().empty());
  }
  SECTION("of a job whose record has a copy here") {
    const JobId job = job_of_node(second.process, 1);
    desk.gateway.on_led(led(job, false, second.process, 1), desk.now);
    CHECK(desk.gateway.needed_programs().size() == 1);
    desk.gateway.on_record_over(job, desk.now);
    CHECK(desk.gateway.needed_programs().empty());
  }
  SECTION("of one that ended here and went on elsewhere") {
    const JobId job = desk.submit();
    desk.hear(second, keeper::HaveProgram{program});
    desk.gateway.on_led(led(job, true, first.process, 1), desk.now);
    for (const Life host : {first, second}) desk.up(job, host, 1);
    desk.gateway.on_ended(job, std::nullopt, {}, desk.now);
    desk.gateway.on_led(led(job, false, second.process, 2), desk.now);
    CHECK(is_needed());
    desk.gateway.on_record_over(job, desk.now);
    CHECK(desk.gateway.needed_programs().empty());
  }
  SECTION("of a client that is about to send it") {
    desk.say(client::AskHandle{1});
    const JobId job = *desk.told<client::Answer>().back().job;
    desk.say(client::AskSubmit{2, job, "chain", chain(), {program, "build", {"job"}, "/"}, false});
    CHECK(is_needed());
    desk.gateway.on_client_gone(someone, desk.now);
    CHECK(desk.gateway.needed_programs().empty());
  }
}

TEST_CASE("a client is asked again for a binary that has gone") {
  Desk desk;
  const JobId job = desk.submit();
  desk.gateway.on_ended(job, std::nullopt, {}, desk.now);
  desk.gateway.on_program_gone(program);
  desk.say(client::AskHandle{1});
  const JobId next = *desk.told<client::Answer>().back().job;
  desk.say(client::AskSubmit{2, next, "chain", chain(), {program, "build", {"job"}, "/"}, false});
  CHECK(desk.told<client::Answer>().back().wants_program);
}

TEST_CASE("a submission is accepted when its record has its copies, and processes start then") {
  Desk desk(true);
  const JobId job = desk.submit();
  REQUIRE(desk.done<RecordJob>().size() == 1);
  CHECK(desk.done<RecordJob>().front().plan->shards == 2);
  CHECK(desk.told<client::Answer>().size() == 1);  // The handle.
  CHECK(desk.ordered<keeper::StartWorker>().empty());
  desk.gateway.on_led(led(job, true, first.process), desk.now);
  desk.take();
  CHECK(desk.told<client::Answer>().back().job == job);
  REQUIRE(desk.ordered<keeper::StartWorker>().size() == 2);
  CHECK(desk.ordered<keeper::StartWorker>().front().second.term == 1);
  const Life one = desk.up(job, first, 1), two = desk.up(job, second, 1);
  REQUIRE(desk.done<JobLivesUp>().size() == 1);
  CHECK(desk.done<JobLivesUp>().front().lives == std::vector{one, two});
  CHECK(desk.done<BeginJob>().empty());
}

TEST_CASE("a submission whose record gets no copies is refused, and nothing comes of it later") {
  Desk desk(true);
  const JobId job = desk.submit();
  REQUIRE(desk.gateway.wake_at());
  desk.gateway.on_time(*desk.gateway.wake_at());
  desk.take();
  REQUIRE(desk.told<client::Answer>().back().error);
  CHECK(desk.told<client::Answer>().back().error->code == ErrorCode::no_quorum);
  CHECK_FALSE(desk.gateway.wake_at());
  desk.gateway.on_led(led(job, true, first.process), desk.now);
  desk.take();
  CHECK(desk.ordered<keeper::StartWorker>().empty());
  CHECK(desk.done<CloseJob>().size() == 1);
}

TEST_CASE("a new leader asks every host, and takes over the processes that are there") {
  Heir desk;
  CHECK(desk.ordered<keeper::StartWorker>().size() == 2);
  REQUIRE(desk.done<JobLifeDown>().size() == 1);  // Its node has gone; one that was never here may come.
  CHECK(desk.done<JobLifeDown>().front().down.life == desk.of_dead);
  CHECK(desk.up(desk.job, first, 3) == desk.of_first);
  REQUIRE(desk.done<JobLivesUp>().size() == 1);
  CHECK(desk.done<JobLivesUp>().front().lives == std::vector{desk.of_first});
  CHECK(desk.ordered<keeper::Begin>().back().second.cell == first);
  desk.hear(first, keeper::WorkerDown{desk.job, 3, desk.of_first, ProcessEnd::faulted, "signal 11", {}, {}});
  CHECK(desk.ordered<keeper::StartWorker>().back().second.number == 4);
}

TEST_CASE("a host that goes before it could tell a new leader of a process takes that along") {
  Heir desk;
  const bool told = GENERATE(true, false);
  if (told) desk.up(desk.job, first, 3);
  desk.gateway.on_nodes({node(second), node({first.process, {first.incarnation.value + 1}})}, desk.now);
  desk.take();
  REQUIRE(desk.done<JobLifeDown>().size() == 2);
  CHECK(desk.done<JobLifeDown>().back().down.life == desk.of_first);
}

TEST_CASE("a new leader hears how processes ended before its time, and replaces them") {
  Heir desk;
  const Life gone{worker_process(first.process, 1), first.incarnation};
  desk.hear(first, keeper::WorkerDown{desk.job, 1, gone, ProcessEnd::faulted, "signal 11", {}, {}});
  CHECK(desk.done<JobLifeDown>().back().down.life == gone);
  CHECK(desk.ordered<keeper::StartWorker>().back().second.number == 2);
  desk.up(desk.job, first, 2);
  CHECK(desk.done<JobLivesUp>().size() == 1);
}

TEST_CASE("a client goes on at the new leader; elsewhere it is told where that is") {
  Heir desk;
  desk.say(client::AskFollow{4, desk.job, {0, 1}});
  CHECK_FALSE(desk.told<client::Answer>().back().error);
  CHECK(desk.done<WantOutput>().size() == 2);
  desk.say(client::AskEnd{5, desk.job});
  desk.gateway.on_led(led(desk.job, false, second.process, 3), desk.now);
  desk.take();
  CHECK(desk.told<client::JobMoved>().size() == 1);
  const client::Answer end = desk.told<client::Answer>().back();
  REQUIRE(end.error);
  CHECK(end.number == 5);
  CHECK(end.error->code == ErrorCode::job_elsewhere);
  desk.say(client::AskFollow{6, desk.job, {}});
  CHECK(desk.told<client::Answer>().back().elsewhere == node(second).endpoint.control);
  desk.say(client::AskFollow{7, job_of_node(second.process, 99), {}});
  CHECK(desk.told<client::Answer>().back().error->code == ErrorCode::job_unknown);
}

TEST_CASE("who leads no more starts no processes, and does not stop those that another one has") {
  Heir desk;
  desk.gateway.on_led(led(desk.job, false, second.process, 3), desk.now);
  desk.take();
  const std::size_t ordered = desk.ordered<keeper::StartWorker>().size();
  desk.gateway.on_nodes({node(first), node(second), node({{3}, {9}})}, desk.now);
  desk.up(desk.job, first, 3);
  CHECK(desk.ordered<keeper::StartWorker>().size() == ordered);
  CHECK(desk.ordered<keeper::StopWorkers>().empty());
}

// dag-sim chaos --world actors --seed 5101: the next leader ended the job before it had seen one of the
// nodes, and a process waited there for ever for a leader that led no more.
TEST_CASE("who leads no more tells hosts that another one does, as soon as it is known that one does") {
  Heir desk;
  const auto hears = [&](const RecordLed& news) {
    desk.effects.clear();
    desk.gateway.on_led(news, desk.now);
    desk.take();
    std::vector<Life> hosts;
    for (const auto& [host, another] : desk.ordered<keeper::AnotherLeads>()) {
      CHECK(another.job == desk.job);
      hosts.push_back(host);
    }
    return hosts;
  };
  desk.up(desk.job, first, 1);
  CHECK(hears(led(desk.job, false, std::nullopt, 3)).empty());
  CHECK(hears(led(desk.job, false, first.process, 3)).empty());
  CHECK(hears(led(desk.job, false, second.process, 3)) == std::vector{first, second});
  CHECK(hears(led(desk.job, false, std::nullopt, 4)).empty());
  CHECK(hears(led(desk.job, false, second.process, 5)).empty());
  SECTION("a process that comes up later is told of") {
    desk.effects.clear();
    desk.up(desk.job, second, 1);
    CHECK(desk.ordered<keeper::AnotherLeads>().size() == 1);
    CHECK(desk.ordered<keeper::AnotherLeads>().front().first == second);
  }
  SECTION("nobody leads a record that is gone") {
    CHECK(hears(led(desk.job, false, std::nullopt, 5)).empty());
    desk.effects.clear();
    desk.up(desk.job, second, 1);
    CHECK(desk.ordered<keeper::AnotherLeads>().empty());
    desk.gateway.on_record_over(desk.job, desk.now);
    desk.take();
    CHECK(desk.ordered<keeper::AnotherLeads>().size() == 1);
  }
}

TEST_CASE("who leads again ends the processes, too, that it had started before, where it sees no node now") {
  Heir desk;
  desk.up(desk.job, first, 1);
  desk.gateway.on_led(led(desk.job, false, std::nullopt, 3), desk.now);
  desk.gateway.on_nodes({node(first)}, desk.now);
  desk.gateway.on_led(led(desk.job, true, first.process, 4), desk.now);
  desk.gateway.on_ended(desk.job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
  REQUIRE(desk.gateway.wake_at());
  desk.gateway.on_time(*desk.gateway.wake_at());
  desk.take();
  std::vector<Life> hosts;
  for (const auto& [host, stop] : desk.ordered<keeper::StopWorkers>()) hosts.push_back(host);
  CHECK(hosts == std::vector{first, second});
}

TEST_CASE("a copy that fails costs its node the lead, and the job nothing") {
  Heir desk;
  desk.say(client::AskFollow{4, desk.job, {}});
  const bool others = GENERATE(true, false);
  if (others) desk.gateway.on_nodes({node(first), node(second), node({{3}, {9}})}, desk.now);
  desk.gateway.on_lost(desk.job, {ErrorCode::internal, "no", {}}, desk.now);
  desk.take();
  CHECK(desk.told<client::JobMoved>().size() == (others ? 1 : 0));
  CHECK(desk.told<client::JobEnded>().size() == (others ? 0 : 1));
}

TEST_CASE("outputs of a job that ended are kept for a client that may be on its way") {
  Heir desk;
  desk.up(desk.job, first, 3);
  desk.gateway.on_ended(desk.job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
  desk.take();
  CHECK(desk.done<CloseJob>().empty());
  SECTION("it comes") {
    desk.say(client::AskFollow{4, desk.job, {1}});
    CHECK(desk.told<client::JobEnded>().size() == 1);
    CHECK(desk.done<WantOutput>().size() == 1);
    desk.say(client::ForgetJob{desk.job});
    CHECK(desk.done<CloseJob>().size() == 1);
  }
  SECTION("it does not") {
    REQUIRE(desk.gateway.wake_at());
    desk.gateway.on_time(*desk.gateway.wake_at());
    desk.take();
    CHECK(desk.done<CloseJob>().size() == 1);
  }
}

TEST_CASE("a client that waits for outputs of a job that has ended goes on where it is led") {
  Heir desk;
  desk.say(client::AskFollow{4, desk.job, {1}});
  desk.up(desk.job, first, 3);
  desk.gateway.on_ended(desk.job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
  desk.gateway.on_led(led(desk.job, false, second.process, 3), desk.now);
  desk.take();
  CHECK(desk.told<client::JobMoved>().size() == 1);
  desk.say(client::AskFollow{5, desk.job, {1}});
  CHECK(desk.told<client::Answer>().back().elsewhere == node(second).endpoint.control);
  const std::size_t ordered = desk.ordered<keeper::StartWorker>().size();
  RecordLed again = led(desk.job, true, first.process, 4);
  again.begun = true;
  desk.gateway.on_led(std::move(again), desk.now);
  desk.take();
  CHECK(desk.ordered<keeper::StartWorker>().size() == ordered + 2);
  desk.say(client::AskFollow{6, desk.job, {1}});
  CHECK(desk.told<client::JobEnded>().size() == 2);
  CHECK(desk.done<WantOutput>().size() == 2);
}

TEST_CASE("whoever was given a handle that a node gave out again does not follow another client's job") {
  Desk desk(true);
  desk.say(client::AskHandle{1});
  const JobId job = *desk.told<client::Answer>().back().job;
  desk.gateway.on_program(program, std::nullopt, desk.now);
  client::AskSubmit submission{2, job, "chain", chain(), {program, "build", {"job"}, "/"}};
  submission.key = 5;
  desk.say(submission);
  REQUIRE(desk.done<RecordJob>().size() == 1);
  CHECK(desk.done<RecordJob>().front().submission.key == 5);
  RecordLed news = led(job, true, first.process);
  news.submission.key = 5;
  Desk heir(true);
  Desk& leader = GENERATE(false, true) ? heir : desk;
  leader.gateway.on_led(news, desk.now);
  leader.say(client::AskFollow{3, job, {}, 6});
  REQUIRE(leader.told<client::Answer>().back().error);
  CHECK(leader.told<client::Answer>().back().error->code == ErrorCode::job_unknown);
  submission.number = 4;
  submission.key = 6;
  leader.say(submission);
  REQUIRE(leader.told<client::Answer>().back().error);
  CHECK(leader.told<client::Answer>().back().error->code == ErrorCode::job_unknown);
  leader.say(client::AskFollow{5, job, {}, 5});
  CHECK_FALSE(leader.told<client::Answer>().back().error);
}

TEST_CASE("processes of an earlier life of a node are gone when that node is seen again") {
  Heir heir;
  const auto downs = heir.done<JobLifeDown>().size();
  heir.gateway.on_nodes({node(first), node(second), node({{3}, {5}})}, heir.now);
  heir.take();
  CHECK(heir.done<JobLifeDown>().size() == downs);  // The processes are of this life.
  Heir other;
  other.gateway.on_nodes({node(first), node(second), node({{3}, {6}})}, other.now);
  other.take();
  REQUIRE(other.done<JobLifeDown>().size() == downs + 1);
  CHECK(other.done<JobLifeDown>().back().down.life == other.of_unseen);
}

TEST_CASE("a node that comes again does not give out the handles of its earlier lives") {
  Heir desk;
  desk.gateway.on_nodes({node(first), node(second), node({{2}, {9}})}, desk.now);
  desk.take();
  REQUIRE(desk.ordered<keeper::JobsGiven>().size() == 1);
  CHECK(desk.ordered<keeper::JobsGiven>().front().second.count == 7);
  desk.hear(second, keeper::JobsGiven{41});
  desk.say(client::AskHandle{8});
  CHECK(desk.told<client::Answer>().back().job == job_of_node(first.process, 42));
}

TEST_CASE("a submission is accepted, too, when another node leads its record from the start") {
  Desk desk(true);
  const JobId job = desk.submit();
  RecordLed news = led(job, false, second.process);
  desk.gateway.on_led(news, desk.now);
  desk.take();
  CHECK(desk.told<client::Answer>().size() == 1);  // The handle: nobody knows how many have the record.
  news.settled = true;
  desk.gateway.on_led(news, desk.now);
  desk.take();
  REQUIRE(desk.told<client::Answer>().size() == 2);
  CHECK(desk.told<client::Answer>().back().job == job);
  CHECK_FALSE(desk.told<client::Answer>().back().error);
  CHECK(desk.told<client::JobMoved>().size() == 1);
  CHECK(desk.ordered<keeper::StartWorker>().empty());
}

// The client was told that the job had moved, and lost what kernels said before it was back.
TEST_CASE("a submission whose record this node is about to lead keeps its client") {
  Desk desk(true);
  const JobId job = desk.submit();
  RecordLed news = led(job, false, first.process, 0);
  news.settled = true;
  desk.gateway.on_led(news, desk.now);
  CHECK(desk.gateway.client_of(job) == someone);
  desk.gateway.on_led(led(job, true, first.process, 1), desk.now);
  desk.take();
  REQUIRE(desk.told<client::Answer>().size() == 2);
  CHECK(desk.told<client::Answer>().back().job == job);
  CHECK(desk.told<client::JobMoved>().empty());
  CHECK(desk.gateway.client_of(job) == someone);
}

TEST_CASE("a node that hears no majority says so, and since when, and takes it back") {
  Heir desk;
  desk.now = desk.now + std::chrono::seconds(1);
  RecordLed alone = led(desk.job, false, std::nullopt, 2);
  alone.without_majority = desk.now;
  desk.gateway.on_led(alone, desk.now);
  const auto asked = [&](std::optional<JobId> job) {
    desk.gateway.on_client_message(someone, client::AskJobs{9, job}, desk.now);
    desk.take();
    return desk.told<client::Answer>().back();
  };
  const auto not_ready = [&] {
    desk.gateway.on_client_message(someone, client::AskNodes{9}, desk.now);
    desk.take();
    return desk.told<client::Answer>().back().nodes.front().not_ready;
  };
  desk.now = desk.now + std::chrono::seconds(1);
  CHECK(asked(desk.job).error->code == ErrorCode::job_elsewhere);  // Perhaps an election.
  CHECK(not_ready().empty());
  CHECK(asked(std::nullopt).jobs.empty());
  desk.now = desk.now + std::chrono::seconds(11);
  CHECK(asked(desk.job).error->code == ErrorCode::no_quorum);
  CHECK_THAT(asked(desk.job).error->what, Catch::Contains("for 12 s"));
  REQUIRE(asked(std::nullopt).jobs.size() == 1);
  CHECK(asked(std::nullopt).jobs.front().phase == JobPhase::no_quorum);
  CHECK(not_ready() == std::vector<std::string>{asked(desk.job).error->what});
  desk.gateway.on_led(led(desk.job, false, second.process, 3), desk.now);
  CHECK(asked(desk.job).error->code == ErrorCode::job_elsewhere);
  CHECK(asked(std::nullopt).jobs.empty());
  CHECK(not_ready().empty());
}

TEST_CASE("who leads tells the other nodes where a process is, and when it is gone; none of them stops it") {
  Heir heir;
  const Life process = heir.up(heir.job, first, 1);
  REQUIRE(heir.ordered<keeper::WorkerUp>().size() == 1);
  const keeper::WorkerUp up = heir.ordered<keeper::WorkerUp>().front().second;
  CHECK(up.life == process);
  Desk other(true);  // Knows nothing of the job. (A host's own word of such a process has it ended.)
  other.gateway.on_keeper_message(first, up, other.now);
  other.take();
  REQUIRE(other.done<LifeAt>().size() == 1);
  CHECK(other.done<LifeAt>().front().life == process);
  CHECK(other.ordered<keeper::StopWorkers>().empty());
}

// dag-sim chaos --world actors --seed 12570: a home waited for ever for a node that could not tell it what it
// had.
TEST_CASE("a node that comes late is told where the processes of others are") {
  Heir heir;
  const auto asked = heir.ordered<keeper::StartWorker>();
  REQUIRE_FALSE(asked.empty());
  const auto& [host, order] = asked.front();
  const Life there = heir.up(heir.job, host, order.number);
  const Life late{{4}, {5}};
  heir.effects.clear();
  heir.gateway.on_nodes({node(first), node(second), node(late)}, heir.now);
  heir.take();
  std::vector<Life> told;
  for (const auto& [to, news] : heir.ordered<keeper::WorkerUp>()) {
    CHECK(to == late);
    CHECK(news.number == keeper::for_your_knowledge);
    told.push_back(news.life);
  }
  CHECK(told == std::vector{there});
}

// dag-sim chaos --world actors --seed 4337: a process of a job that had ended ran on.
TEST_CASE("who closed a job, and comes to lead it again after another node did, closes it again") {
  Heir desk;
  desk.gateway.on_ended(desk.job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
  REQUIRE(desk.gateway.wake_at());
  desk.gateway.on_time(*desk.gateway.wake_at());
  desk.gateway.on_led(led(desk.job, false, second.process, 3), desk.now);
  desk.take();
  REQUIRE(desk.done<CloseJob>().size() == 1);
  desk.effects.clear();
  desk.gateway.on_led(led(desk.job, true, first.process, 4), desk.now);
  desk.take();
  CHECK(desk.done<CloseJob>().size() == 1);
  CHECK(desk.ordered<keeper::StopWorkers>().size() == 2);
  CHECK(desk.ordered<keeper::StartWorker>().empty());
}

TEST_CASE("a cancel is acknowledged when the record of the job has it, and not before") {
  Heir desk;
  RecordLed news = led(desk.job, true, first.process, 2);
  const auto answers = [&] { return desk.told<client::Answer>(); };
  desk.say(client::AskCancel{4, desk.job});
  CHECK(desk.done<CancelJob>().size() == 1);
  REQUIRE(answers().empty());
  SECTION("it has") {
    news.cancelled = true;
    desk.gateway.on_led(news, desk.now);
    desk.take();
    REQUIRE(answers().size() == 1);
    CHECK(answers().back().number == 4);
    CHECK(answers().back().job == desk.job);
    CHECK_FALSE(answers().back().error);
    CHECK_FALSE(desk.gateway.wake_at() == desk.now + GatewayMachine::cancel_within);
    desk.say(client::AskCancel{5, desk.job});
    REQUIRE(answers().size() == 2);
    CHECK_FALSE(answers().back().error);
    CHECK(desk.done<CancelJob>().size() == 1);
    CHECK(desk.done<CloseJob>().empty());  // The job began: its record says when it has ended.
  }
  SECTION("the job ends before") {
    desk.gateway.on_ended(desk.job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
    desk.take();
    REQUIRE(answers().size() == 1);
    CHECK(answers().back().number == 4);
    CHECK_FALSE(answers().back().error);
    desk.say(client::AskCancel{5, desk.job});
    CHECK(answers().size() == 2);
    CHECK(desk.done<CancelJob>().size() == 1);
  }
  SECTION("this node leads it no more: another one is to be asked") {
    desk.gateway.on_led(led(desk.job, false, second.process, 3), desk.now);
    desk.take();
    REQUIRE(answers().size() == 1);
    CHECK(answers().back().number == 4);
    CHECK(answers().back().error->code == ErrorCode::job_elsewhere);
    CHECK(answers().back().elsewhere == node(second).endpoint.control);
  }
  SECTION("nor has it a copy any more") {
    desk.gateway.on_record_over(desk.job, desk.now);
    desk.take();
    REQUIRE(answers().size() == 1);
    CHECK(answers().back().error->code == ErrorCode::job_elsewhere);
  }
  SECTION("no majority writes") {
    desk.now = desk.now + GatewayMachine::cancel_within;
    CHECK(desk.gateway.wake_at() == desk.now);
    desk.gateway.on_time(desk.now);
    desk.take();
    REQUIRE(answers().size() == 1);
    CHECK(answers().back().number == 4);
    CHECK(answers().back().error->code == ErrorCode::no_quorum);
    desk.say(client::AskCancel{5, desk.job});
    CHECK(desk.done<CancelJob>().size() == 2);
    news.cancelled = true;
    desk.gateway.on_led(news, desk.now);
    desk.take();
    REQUIRE(answers().size() == 2);
    CHECK(answers().back().number == 5);
    CHECK_FALSE(answers().back().error);
  }
  SECTION("the client has gone") {
    desk.gateway.on_client_gone(someone, desk.now);
    news.cancelled = true;
    desk.gateway.on_led(news, desk.now);
    desk.take();
    CHECK(answers().empty());
  }
}

TEST_CASE("a job that is cancelled before it begins has ended when its record has that") {
  Desk desk(true);
  const JobId job = desk.submit();
  RecordLed news = led(job, true, first.process);
  desk.gateway.on_led(news, desk.now);
  desk.say(client::AskCancel{4, job});
  CHECK(desk.done<CancelJob>().size() == 1);
  CHECK(desk.told<client::Answer>().size() == 2);  // The handle, and that it is accepted.
  CHECK(desk.told<client::JobLost>().empty());
  CHECK(desk.done<CloseJob>().empty());
  const bool begins = GENERATE(false, true);
  for (const Life host : {first, second}) {
    if (begins) desk.up(job, host, 1);
  }
  news.cancelled = true;
  desk.gateway.on_led(news, desk.now);
  desk.take();
  CHECK(desk.told<client::Answer>().back().number == 4);
  CHECK_FALSE(desk.told<client::Answer>().back().error);
  CHECK(desk.told<client::JobLost>().size() == (begins ? 0 : 1));
  CHECK(desk.done<CloseJob>().size() == (begins ? 0 : 1));
  CHECK(desk.ordered<keeper::StopWorkers>().size() == (begins ? 0 : 2));
}

TEST_CASE("a job that was cancelled before it began never does, whoever leads its record next") {
  Desk heir(true);
  const JobId job = job_of_node(ProcessId{2}, 7);
  RecordLed news = led(job, true, first.process, 2);
  news.cancelled = true;
  heir.gateway.on_led(news, heir.now);
  heir.take();
  CHECK(heir.ordered<keeper::StartWorker>().empty());
  CHECK(heir.done<CloseJob>().size() == 1);
  CHECK(heir.ordered<keeper::StopWorkers>().size() == 2);  // Some may have been started before its time.
  heir.say(client::AskCancel{4, job});
  CHECK_FALSE(heir.told<client::Answer>().back().error);
  heir.say(client::AskFollow{5, job, {}});
  REQUIRE(heir.told<client::JobEnded>().size() == 1);
  CHECK(heir.told<client::JobEnded>().front().stopped->code == ErrorCode::task_cancelled);
  CHECK(heir.told<client::JobEnded>().front().counts.cancelled == 2);
}
