// Messages of clients and keepers about jobs and processes: every field arrives, absent is not empty, and a
// message that a receiver could not act on is refused.
#include <catch2/catch.hpp>

#include "tests/support/samples.hpp"

using namespace dag;
using namespace dag::wire;

namespace {

constexpr std::size_t limit = 4u << 20;

Result<Envelope> said(Operation operation) {
  const auto frame = encode(samples::envelope_of({std::move(operation)}), limit, samples::codes());
  if (!frame) return frame.error();
  return decode(frame->bytes(), limit, samples::codes());
}

std::string why(const Result<Envelope>& result) { return result ? "nothing is wrong" : result.error().what; }

/// The message as its receiver sees it.
template <class Message>
Message client_side(Message message) {
  auto back = said(ClientMessage{std::move(message)});
  if (!back) FAIL(back.error().message());
  return std::get<Message>(std::get<ClientMessage>(back->operations.at(0)));
}
template <class Message>
Message keeper_side(Message message) {
  auto back = said(KeeperMessage{std::move(message)});
  if (!back) FAIL(back.error().message());
  return std::get<Message>(std::get<KeeperMessage>(back->operations.at(0)));
}

const JobId job{(std::uint64_t{2} << 32) | 7};

std::string why_launch(auto change) {
  Launch launch = samples::launch();
  change(launch);
  return why(said(KeeperMessage{keeper::StartWorker{job, 1, 0, launch}}));
}

}  // namespace

TEST_CASE("a submission arrives whole") {
  const auto got =
      client_side(client::AskSubmit{2, job, "train-eval", samples::graph(), samples::launch(), true});
  CHECK(got.number == 2);
  CHECK(got.job == job);
  CHECK(got.name == "train-eval");
  CHECK(got.launch == samples::launch());
  CHECK(got.detached);
  REQUIRE(got.graph);
  CHECK(got.graph->kinds == samples::graph()->kinds);
  CHECK(got.graph->edges == samples::graph()->edges);
}

TEST_CASE("an answer says what was asked for, and no more") {
  const Claim known = samples::claims()[0];
  const NodeInfo node{known.life, known.state, known.endpoint,         known.load,
                      3,          4710,        {"n1 is draining", ""}, HeardOf{Duration(7), Duration(5)}};
  TaskExplained task;
  task.why = "waits for its next attempt";
  const ProcessExplained process{{{3}, {1}}, {task, task},     {1, 0, 2, 0, 0, 7}, {task}, {}, 4,
                                 9,          {{"load", 2, 10}}};
  const auto full = client_side(client::Answer{9,
                                               samples::error(),
                                               job,
                                               true,
                                               "",
                                               {node, NodeInfo{}},
                                               {samples::job_info(), JobInfo{}},
                                               {process, ProcessExplained{}},
                                               {{{4}, {1}}},
                                               JournalPage{{5, 7, 3}, Blob(), {"torn"}},
                                               17});
  CHECK(full.number == 9);
  CHECK(full.error == samples::error());
  CHECK(full.job == job);
  CHECK(full.wants_program);
  CHECK(full.nodes == std::vector{node, NodeInfo{}});
  CHECK(full.jobs == std::vector{samples::job_info(), JobInfo{}});
  CHECK(full.explained == std::vector{process, ProcessExplained{}});
  CHECK(full.silent == std::vector<Life>{{{4}, {1}}});
  REQUIRE(full.journal);
  CHECK(full.journal->read == JournalPlace{5, 7, 3});
  CHECK(!full.journal->bytes);
  CHECK(full.journal->notices == std::vector<std::string>{"torn"});
  CHECK(full.jobs_beyond == 17);

  const auto bare =
      client_side(client::Answer{10, std::nullopt, std::nullopt, false, "", {}, {}, {}, {}, {}});
  CHECK(bare.number == 10);
  CHECK_FALSE(bare.error);
  CHECK_FALSE(bare.job);
  CHECK_FALSE(bare.wants_program);
  CHECK(bare.nodes.empty());
  CHECK(bare.jobs.empty());
  CHECK(bare.explained.empty());
  CHECK_FALSE(bare.journal);
  // Job 0 is one, too.
  CHECK(client_side(client::Answer{10, std::nullopt, JobId{}, false, "", {}, {}, {}, {}, {}}).job == JobId{});
}

TEST_CASE("questions and notes keep their number and job") {
  CHECK(client_side(client::AskHandle{1}).number == 1);
  CHECK(client_side(client::AskNodes{3}).number == 3);
  CHECK_FALSE(client_side(client::AskJobs{4, std::nullopt}).job);
  CHECK(client_side(client::AskJobs{4, job}).job == job);
  CHECK(client_side(client::AskJobs{4, JobId{}}).job == JobId{});
  for (const JobFilter& which :
       {JobFilter{}, JobFilter{"train", JobPhase::no_quorum, true, 20}, JobFilter{"", {}, false, 1}}) {
    const auto asked = client_side(client::AskJobs{4, std::nullopt, which});
    CHECK_FALSE(asked.job);
    CHECK(asked.which == which);
  }
  const TaskSelector tasks{"train", {{0, 4}}, false, TaskRange{"train", {0, 3}, 9}, true, false};
  CHECK(client_side(client::AskJournal{4, job, {}, false, tasks}).which == tasks);
  CHECK(client_side(client::AskJournal{4, job, {}, true, {}}).which == TaskSelector{});
  CHECK(client_side(client::AskEnd{6, job}).job == job);
  CHECK(client_side(client::AskCancel{7, job}).number == 7);
  CHECK(client_side(client::AskShutdown{8}).number == 8);
  CHECK(client_side(client::Want{job, 41}).task == 41);
  CHECK(client_side(client::ForgetJob{job}).job == job);
}

TEST_CASE("what is told of a job arrives, and an output that is absent is not an empty one") {
  const auto settled = client_side(client::TaskSettled{job, 41, Outcome::failed, {}, samples::error()});
  CHECK(settled.task == 41);
  CHECK(settled.outcome == Outcome::failed);
  CHECK_FALSE(settled.output);
  CHECK(settled.error == samples::error());
  const auto empty = client_side(client::TaskSettled{job, 41, Outcome::finished, samples::blob(""), {}});
  CHECK(empty.output);
  CHECK_FALSE(empty.error);

  const auto ended = client_side(client::JobEnded{job, samples::error(), {1, 2, 3, 4, 5}});
  CHECK(ended.stopped == samples::error());
  CHECK(ended.counts == JobCounts{1, 2, 3, 4, 5});
  CHECK_FALSE(client_side(client::JobEnded{job, std::nullopt, {}}).stopped);
  CHECK(client_side(client::JobLost{job, samples::error()}).why == samples::error());
}

TEST_CASE("what keepers say of worker processes arrives") {
  CHECK(keeper_side(keeper::StartWorker{job, 3, 0, samples::launch()}).launch == samples::launch());
  CHECK(keeper_side(keeper::StopWorkers{job}).job == job);
  const auto up = keeper_side(keeper::WorkerUp{job, 3, samples::life(5), {"[::1]:1", "[::1]:2"}, 4711});
  CHECK(up.number == 3);
  CHECK(up.life == samples::life(5));
  CHECK(up.endpoint == Endpoint{"[::1]:1", "[::1]:2"});
  CHECK(up.pid == 4711);
  CHECK(keeper_side(keeper::WorkerRefused{job, 3, samples::error()}).why == samples::error());
  const auto begin =
      keeper_side(keeper::Begin{job, samples::life(2), 0, {{"a:1", "a:2", "a:3"}, {"b:1", ""}}});
  CHECK(begin.cell == samples::life(2));
  CHECK(begin.others == std::vector<Endpoint>{{"a:1", "a:2", "a:3"}, {"b:1", ""}});
}

TEST_CASE("who ran on the lanes of a process that is down arrives; lane 0 may be guilty, and none too") {
  const RunningAttempt running{samples::spawned_task(40), samples::attempt(9), 1, 2};
  keeper::WorkerDown down{job, 3, samples::life(5), ProcessEnd::faulted, "signal 11", {running}, 0};
  const auto got = keeper_side(down);
  CHECK(got.end == ProcessEnd::faulted);
  CHECK(got.text == "signal 11");
  CHECK(got.guilty_lane == 0);
  REQUIRE(got.running.size() == 1);
  CHECK(got.running[0].task == running.task);
  CHECK(got.running[0].attempt == running.attempt);
  CHECK(got.running[0].lane == 1);
  CHECK(got.running[0].suspected == 2);
  down.guilty_lane.reset();
  CHECK_FALSE(keeper_side(down).guilty_lane);
}

TEST_CASE("who does not hear whom arrives, also when that is nobody any more") {
  const std::vector<Life> lives{samples::life(2), samples::life(5)};
  CHECK(keeper_side(keeper::Unheard{job, lives}).lives == lives);
  CHECK(keeper_side(keeper::Unheard{job, lives}).job == job);
  CHECK(keeper_side(keeper::Unheard{job, {}}).lives.empty());
  CHECK(keeper_side(keeper::StopWorker{job, 3}).number == 3);
  CHECK(keeper_side(keeper::AnotherLeads{job}).job == job);
}

TEST_CASE("a program arrives, and one that the sender does not have is not one without bytes") {
  const ProgramId program = samples::launch().program;
  CHECK(keeper_side(keeper::WantProgram{program}).program == program);
  CHECK(keeper_side(keeper::KeepProgram{program}).program == program);
  CHECK(keeper_side(keeper::HaveProgram{program}).program == program);
  const auto got = keeper_side(keeper::ProgramBytes{program, samples::blob("bytes")});
  CHECK(got.program == program);
  CHECK(got.bytes.same_bytes(samples::blob("bytes")));
  CHECK_FALSE(keeper_side(keeper::ProgramBytes{program, {}}).bytes);
  CHECK(keeper_side(keeper::ProgramBytes{program, samples::blob("")}).bytes);
}

TEST_CASE("what no build means is refused, not guessed") {
  client::TaskSettled settled{job, 1, static_cast<Outcome>(5), {}, {}};
  CHECK_THAT(why(said(ClientMessage{settled})), Catch::Contains("TaskSettled.outcome"));
  client::Answer answer{1, {}, {}, false, "", {}, {JobInfo{}}, {}, {}, {}};
  answer.jobs[0].phase = static_cast<JobPhase>(7);
  CHECK_THAT(why(said(ClientMessage{answer})), Catch::Contains("JobInfo.phase"));
  answer.jobs.clear();
  answer.nodes.resize(1);
  answer.nodes[0].state = static_cast<MemberState>(4);
  CHECK_THAT(why(said(ClientMessage{answer})), Catch::Contains("Claim.state"));
  keeper::WorkerDown down;
  down.end = static_cast<ProcessEnd>(5);
  CHECK_THAT(why(said(KeeperMessage{down})), Catch::Contains("WorkerDown.end"));
}

TEST_CASE("a program is started with so much and no more, and its sender learns of it") {
  CHECK(why_launch([](Launch& launch) { launch.arguments.assign(4096, "x"); }) == "nothing is wrong");
  CHECK_THAT(why_launch([](Launch& launch) { launch.arguments.assign(4097, "x"); }),
             Catch::Contains("Launch.arguments has 4097 elements"));
  CHECK(why_launch([](Launch& launch) {
          launch.arguments = {std::string(1 << 19, 'x'), std::string(1 << 19, 'y')};
        }) == "nothing is wrong");
  CHECK_THAT(why_launch([](Launch& launch) {
               launch.arguments = {std::string(1 << 20, 'x'), "y"};
             }),
             Catch::Contains("Launch.arguments have 1048577 bytes"));
  CHECK(why_launch([](Launch& launch) { launch.environment.assign(4096, "X=1"); }) == "nothing is wrong");
  CHECK_THAT(why_launch([](Launch& launch) { launch.environment.assign(4097, "X=1"); }),
             Catch::Contains("Launch.environment has 4097 elements"));
  CHECK_THAT(why_launch([](Launch& launch) {
               launch.environment = {std::string(1 << 20, 'x'), "y"};
             }),
             Catch::Contains("Launch.environment have 1048577 bytes"));
  CHECK_THAT(why_launch([](Launch& launch) { launch.limits.assign(65, 0); }),
             Catch::Contains("Launch.limits has 65 elements"));
  CHECK_THAT(why_launch([](Launch& launch) { launch.library_path.assign((1 << 20) + 1, 'd'); }),
             Catch::Contains("Launch.libraryPath has 1048577 bytes"));
  CHECK(why_launch([](Launch& launch) { launch.directory.assign(4096, 'd'); }) == "nothing is wrong");
  CHECK_THAT(why_launch([](Launch& launch) { launch.directory.assign(4097, 'd'); }),
             Catch::Contains("Launch.directory has 4097 bytes"));
  CHECK(why_launch([](Launch& launch) { launch.program.size_bytes = program_bytes_max; }) ==
        "nothing is wrong");
  CHECK_THAT(why_launch([](Launch& launch) { launch.program.size_bytes = program_bytes_max + 1; }),
             Catch::Contains("ProgramId.sizeBytes"));
}

TEST_CASE("lists of nodes, jobs, processes and endpoints have limits") {
  client::Answer answer;
  answer.nodes.resize(members_max + 1);
  CHECK_THAT(why(said(ClientMessage{answer})), Catch::Contains("Answer.nodes"));
  answer.nodes.clear();
  answer.jobs.resize(jobs_max + 1);
  CHECK_THAT(why(said(ClientMessage{answer})), Catch::Contains("Answer.jobs"));
  answer.jobs.resize(1);
  answer.jobs[0].workers.resize(job_workers_max);
  CHECK(why(said(ClientMessage{answer})) == "nothing is wrong");
  answer.jobs[0].workers.resize(job_workers_max + 1);
  CHECK_THAT(why(said(ClientMessage{answer})), Catch::Contains("JobInfo.workers"));
  answer.jobs[0].workers.clear();
  answer.jobs[0].details.emplace().tasks.resize(job_details_max);
  CHECK(why(said(ClientMessage{answer})) == "nothing is wrong");
  answer.jobs[0].details->tasks.resize(job_details_max + 1);
  CHECK_THAT(why(said(ClientMessage{answer})), Catch::Contains("JobDetails.tasks"));
  answer.jobs[0].details->tasks.clear();
  answer.jobs[0].details->classes.resize(job_details_max + 1);
  CHECK_THAT(why(said(ClientMessage{answer})), Catch::Contains("JobDetails.classes"));
  keeper::Begin begin;
  begin.others.resize(members_max + 1);
  CHECK_THAT(why(said(KeeperMessage{begin})), Catch::Contains("Begin.others"));
}
