// Acceptance of jobs, their processes, and messages to their clients.

#include <catch2/catch.hpp>
#include <limits>

#include "tests/unit/gateway/desk.hpp"

using namespace dag;
using namespace dag::test;

TEST_CASE("a job begins when every node has answered") {
  Desk desk;
  const JobId job = desk.submit();
  CHECK(desk.told<client::Answer>().back().job == job);
  CHECK(desk.ordered<keeper::StartWorker>().size() == 2);
  const Life one = desk.up(job, first, 1);
  CHECK(desk.done<BeginJob>().empty());
  const Life two = desk.up(job, second, 1);
  REQUIRE(desk.done<BeginJob>().size() == 1);
  const BeginJob begin = desk.done<BeginJob>().front();
  CHECK(begin.lives == std::vector<Life>{one, two});
  CHECK(begin.plan->shards == 2);
  CHECK(desk.ordered<keeper::Begin>().size() == 2);
  CHECK(desk.ordered<keeper::Begin>().front().second.others.size() == 1);
}

TEST_CASE("a job is run in the representation that its client asked for") {
  const bool supervised = GENERATE(true, false);
  Desk desk;
  const JobId job = desk.submit(chain(), supervised);
  desk.up(job, first, 1);
  desk.up(job, second, 1);
  REQUIRE(desk.done<BeginJob>().size() == 1);
  CHECK(desk.done<BeginJob>().front().plan->representation ==
        (supervised ? Representation::supervised : Representation::as_needed));
}

TEST_CASE("a node that cannot start a process does not keep the job from running") {
  Desk desk;
  const JobId job = desk.submit();
  desk.hear(second, keeper::WorkerRefused{job, 1, {ErrorCode::program_invalid, "no"}});
  CHECK(desk.done<BeginJob>().empty());
  desk.up(job, first, 1);
  REQUIRE(desk.done<BeginJob>().size() == 1);
  CHECK(desk.done<BeginJob>().front().lives.size() == 1);
}

TEST_CASE("a job that no node can start is lost, with the reason") {
  Desk desk;
  const JobId job = desk.submit();
  for (const Life host : {first, second}) {
    desk.hear(host, keeper::WorkerRefused{job, 1, {ErrorCode::program_invalid, "it is no ELF file"}});
  }
  REQUIRE(desk.told<client::JobLost>().size() == 1);
  CHECK(desk.told<client::JobLost>().front().why.what == "it is no ELF file");
}

TEST_CASE("a submission that comes again joins the job") {
  Desk desk;
  const JobId job = desk.submit();
  desk.say(client::AskSubmit{3, job, "chain", chain(), {program, "build", {"job"}, "/"}, false});
  CHECK(desk.told<client::Answer>().back().job == job);
  CHECK(desk.ordered<keeper::StartWorker>().size() == 2);
}

TEST_CASE("a program that is not here is asked for once, and a refused one refuses the submission") {
  Desk desk;
  desk.say(client::AskHandle{1});
  const JobId job = *desk.told<client::Answer>().back().job;
  desk.say(client::AskSubmit{2, job, "chain", chain(), {program, "build", {"job"}, "/"}, false});
  CHECK(desk.told<client::Answer>().back().wants_program);
  CHECK(desk.ordered<keeper::StartWorker>().empty());
  desk.gateway.on_program(program, Error{ErrorCode::program_invalid, "another hash"}, desk.now);
  desk.take();
  REQUIRE(desk.told<client::Answer>().back().error);
  CHECK(desk.told<client::Answer>().back().number == 2);
  CHECK(desk.told<client::Answer>().back().error->what == "another hash");
}

TEST_CASE("numbers of jobs end, and none is given twice") {
  constexpr std::uint32_t last = std::numeric_limits<std::uint32_t>::max();
  Desk desk;
  desk.hear(first, keeper::JobsGiven{last - 1});
  desk.say(client::AskHandle{1});
  CHECK(desk.told<client::Answer>().back().job == JobId{last});
  desk.say(client::AskHandle{2});
  const client::Answer refused = desk.told<client::Answer>().back();
  CHECK_FALSE(refused.job);
  REQUIRE(refused.error);
  CHECK_THAT(refused.error->hint, Catch::Contains("submit to another node"));
}

TEST_CASE("needs that no node has are refused at submission, naming the nodes") {
  Desk desk;
  desk.submit(chain({.cpus = 64}));
  const auto answer = desk.told<client::Answer>().back();
  REQUIRE(answer.error);
  CHECK(answer.error->code == ErrorCode::needs_impossible);
  CHECK_THAT(answer.error->message(),
             Catch::Contains("'two'") && Catch::Contains("n0") && Catch::Contains("n1"));
}

TEST_CASE("a process that is lost is replaced on its node, and the job hears of both") {
  Desk desk;
  const JobId job = desk.submit();
  const Life one = desk.up(job, first, 1);
  desk.up(job, second, 1);
  desk.hear(first, keeper::WorkerDown{job, 1, one, ProcessEnd::faulted, "signal 11", {}, {}});
  REQUIRE(desk.done<JobLifeDown>().size() == 1);
  CHECK(desk.done<JobLifeDown>().front().down.life == one);
  const auto starts = desk.ordered<keeper::StartWorker>();
  REQUIRE(starts.size() == 3);
  CHECK(starts.back().first == first);
  CHECK(starts.back().second.number == 2);
  const Life again = desk.up(job, first, 2);
  REQUIRE(desk.done<JobLivesUp>().size() == 1);
  CHECK(desk.done<JobLivesUp>().front().lives == std::vector{again});
}

TEST_CASE("processes that crash without end stop the job") {
  Desk desk;
  const JobId job = desk.submit();
  Life one = desk.up(job, first, 1);
  desk.up(job, second, 1);
  for (std::uint32_t number = 1; desk.done<StopJob>().empty() && number < 100; ++number) {
    desk.hear(first, keeper::WorkerDown{job, number, one, ProcessEnd::faulted, "signal 11", {}, {}});
    desk.now = desk.now + 10ms;
    one = desk.up(job, first, number + 1);
  }
  REQUIRE(desk.done<StopJob>().size() == 1);
  CHECK(desk.done<StopJob>().front().why.code == ErrorCode::process_crashed);
  CHECK(desk.ordered<keeper::StartWorker>().size() == 2 + GatewayMachine::crashes.restarts);
}

TEST_CASE("crashes that are charged to tasks do not stop the job, however many there are") {
  const auto end = GENERATE(ProcessEnd::faulted, ProcessEnd::killed, ProcessEnd::out_of_memory);
  Desk desk;
  const JobId job = desk.submit();
  Life one = desk.up(job, first, 1);
  desk.up(job, second, 1);
  for (std::uint32_t number = 1; number < 100; ++number) {
    const RunningAttempt attempt{{0, 1}, {{1, 1}, number}, 0, 0};
    desk.hear(first, keeper::WorkerDown{job, number, one, end, "signal", {attempt}, {}});
    one = desk.up(job, first, number + 1);
  }
  CHECK(desk.done<StopJob>().empty());
  CHECK(desk.done<JobLifeDown>().size() == 99);
  CHECK(desk.ordered<keeper::StartWorker>().size() == 2 + 99);
}

TEST_CASE("a node that goes takes its process along; one that comes gets one") {
  Desk desk;
  const JobId job = desk.submit();
  desk.up(job, first, 1);
  const Life two = desk.up(job, second, 1);
  desk.gateway.on_nodes({node(first)}, desk.now);
  desk.take();
  REQUIRE(desk.done<JobLifeDown>().size() == 1);
  CHECK(desk.done<JobLifeDown>().front().down.life == two);
  CHECK(desk.ordered<keeper::StartWorker>().size() == 2);
  const Life third{{2}, {8}};
  desk.gateway.on_nodes({node(first), node(third)}, desk.now);
  desk.take();
  REQUIRE(desk.ordered<keeper::StartWorker>().size() == 3);
  CHECK(desk.ordered<keeper::StartWorker>().back().first == third);
}

TEST_CASE("a job that has ended keeps its results and lets its processes go") {
  Desk desk;
  const JobId job = desk.submit();
  const Life one = desk.up(job, first, 1);
  desk.up(job, second, 1);
  desk.gateway.on_ended(job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
  desk.take();
  // The second of the two tasks reads the output of the first.
  REQUIRE(desk.done<WantOutput>().size() == 1);
  CHECK(desk.done<WantOutput>().front().task == 1);
  CHECK(desk.ordered<keeper::StopWorkers>().empty());
  desk.gateway.on_settled(job, {job, 1, Outcome::finished, detail::to_blob(2), {}});
  desk.take();
  // Its client may have waited for the end, and ask now for what the second has read.
  CHECK(desk.ordered<keeper::StopWorkers>().empty());
  CHECK(desk.gateway.wake_at() == desk.now + GatewayMachine::asks_within);
  desk.now = desk.now + GatewayMachine::asks_within;
  desk.gateway.on_time(desk.now);
  desk.take();
  CHECK(desk.ordered<keeper::StopWorkers>().size() == 2);
  CHECK(desk.done<CloseJob>().empty());

  SECTION("a process that ends then is not replaced, nor does a new node get one") {
    desk.hear(first, keeper::WorkerDown{job, 1, one, ProcessEnd::stopped_by_us, "", {}, {}});
    desk.gateway.on_nodes({node(first), node(second), node({{2}, {7}})}, desk.now);
    desk.take();
    CHECK(desk.ordered<keeper::StartWorker>().size() == 2);
    CHECK(desk.done<StopJob>().empty());
    CHECK(desk.done<JobLifeDown>().size() == 1);
  }
  SECTION("the client gets the result without a process") {
    const std::size_t told = desk.told<client::TaskSettled>().size();
    desk.say(client::Want{job, 1});
    REQUIRE(desk.told<client::TaskSettled>().size() == told + 1);
    CHECK(desk.told<client::TaskSettled>().back().outcome == Outcome::finished);
    CHECK(desk.ordered<keeper::StartWorker>().size() == 2);
  }
  SECTION("for another output no process starts: there is what the record has") {
    desk.say(client::Want{job, 0});
    CHECK(desk.ordered<keeper::StartWorker>().size() == 2);
    REQUIRE(desk.done<WantOutput>().size() == 2);
    CHECK(desk.done<WantOutput>().back().at_rest);
    desk.gateway.on_settled(
        job, {job, 0, Outcome::finished, {}, Error{ErrorCode::output_released, "it was released"}});
    desk.take();
    REQUIRE(desk.told<client::TaskSettled>().size() == 1);
    CHECK(desk.told<client::TaskSettled>().back().error->code == ErrorCode::output_released);
  }
  SECTION("nothing is left to stop when the client forgets it") {
    desk.say(client::ForgetJob{job});
    CHECK(desk.done<CloseJob>().size() == 1);
    CHECK(desk.ordered<keeper::StopWorkers>().size() == 2);
  }
}

TEST_CASE("who attaches to a job is told what it asks for, and who submitted it stays its client") {
  Desk desk;
  const JobId job = desk.submit();
  desk.up(job, first, 1);
  desk.up(job, second, 1);
  const Life visitor{client_process(4), {9}};
  const auto ask = [&](ClientMessage message) {
    desk.gateway.on_client_message(visitor, std::move(message), desk.now);
    desk.take();
  };
  const auto sent_to = [&](Life who, auto kind) {
    std::size_t count = 0;
    for (const SendToClient& sent : desk.done<SendToClient>())
      count += sent.to == who && std::holds_alternative<decltype(kind)>(sent.message);
    return count;
  };
  ask(client::AskFollow{1, job, {}, 0, true});
  ask(client::AskOutputs{2, job, "two"});
  REQUIRE(desk.told<client::Answer>().back().outputs == std::vector<OutputInfo>{{1, "two"}});
  ask(client::AskOutputs{3, job, ""});
  CHECK(desk.told<client::Answer>().back().outputs == std::vector<OutputInfo>{{1, "two"}});
  ask(client::Want{job, 1});
  REQUIRE(desk.done<WantOutput>().size() == 1);
  desk.gateway.on_settled(job, {job, 1, Outcome::finished, detail::to_blob(2), {}});
  desk.take();
  CHECK(sent_to(visitor, client::TaskSettled{}) == 1);
  CHECK(sent_to(someone, client::TaskSettled{}) == 0);  // Nobody asked.
  desk.gateway.on_ended(job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
  desk.take();
  CHECK(sent_to(visitor, client::JobEnded{}) == 1);
  CHECK(sent_to(someone, client::JobEnded{}) == 1);
  desk.say(client::ForgetJob{job});
  CHECK(desk.done<CloseJob>().empty());  // A client is left that may ask.
  ask(client::ForgetJob{job});
  CHECK(desk.done<CloseJob>().size() == 1);
}

TEST_CASE("what a job has left that nobody waited for is kept for an hour") {
  Desk desk;
  desk.say(client::AskHandle{1});
  const JobId job = *desk.told<client::Answer>().back().job;
  desk.gateway.on_program(program, std::nullopt, desk.now);
  desk.say(client::AskSubmit{2, job, "chain", chain(), {program, "build", {"job"}, "/"}, true});
  desk.up(job, first, 1);
  desk.up(job, second, 1);
  desk.gateway.on_ended(job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
  desk.take();
  REQUIRE(desk.done<WantOutput>().size() == 1);
  desk.gateway.on_settled(job, {job, 1, Outcome::finished, detail::to_blob(2), {}});
  desk.take();
  CHECK(desk.ordered<keeper::StopWorkers>().size() == 2);
  CHECK(desk.done<CloseJob>().empty());
  desk.say(client::AskFollow{3, job, {1}, 0, true});
  REQUIRE(desk.told<client::TaskSettled>().size() == 1);
  desk.say(client::ForgetJob{job});
  CHECK(desk.done<CloseJob>().empty());
  CHECK(desk.gateway.wake_at() == desk.now + ResultLimits{}.kept_for);
  desk.now = desk.now + ResultLimits{}.kept_for;
  desk.gateway.on_time(desk.now);
  desk.take();
  CHECK(desk.done<CloseJob>().size() == 1);
  desk.say(client::AskOutputs{4, job, ""});
  REQUIRE(desk.told<client::Answer>().back().error);
  CHECK(desk.told<client::Answer>().back().error->code == ErrorCode::output_released);
}

TEST_CASE(
    "results that are larger than a node keeps stay with processes for a client, and are released else") {
  constexpr std::size_t most = ResultLimits{}.bytes_max / 2 + 1;
  const auto large = [] { return Blob::make_on_heap(most, [](std::byte*) {}); };
  const bool detached = GENERATE(false, true);
  Desk desk;
  Graph graph("wide");
  for (int i = 0; i < 6; ++i) graph.task("t", [] { return 1; });
  desk.say(client::AskHandle{1});
  const JobId job = *desk.told<client::Answer>().back().job;
  desk.gateway.on_program(program, std::nullopt, desk.now);
  desk.say(client::AskSubmit{2,
                             job,
                             "wide",
                             std::make_shared<const detail::Fragment>(graph.builder().sealed()),
                             {program, "build", {"job"}, "/"},
                             detached});
  desk.up(job, first, 1);
  desk.up(job, second, 1);
  desk.gateway.on_ended(job, std::nullopt, {0, 6, 0, 0, 0}, desk.now);
  desk.take();
  CHECK(desk.done<WantOutput>().size() == GatewayMachine::results_coming_max);
  desk.gateway.on_settled(job, {job, 0, Outcome::finished, large(), {}});
  desk.gateway.on_settled(job, {job, 1, Outcome::finished, large(), {}});
  for (std::uint32_t task = 2; task < 6; ++task)
    desk.gateway.on_settled(job, {job, task, Outcome::finished, detail::to_blob(1), {}});
  desk.take();
  CHECK(desk.done<WantOutput>().size() == (detached ? 6 : 5));
  CHECK(desk.ordered<keeper::StopWorkers>().size() == (detached ? 2 : 0));
  if (!detached) return;
  desk.say(client::AskFollow{3, job, {0, 1, 5}, 0, true});
  const auto told = desk.told<client::TaskSettled>();
  REQUIRE(told.size() == 3);
  CHECK(told[0].output.size_bytes() == most);
  REQUIRE(told[1].error);
  CHECK(told[1].error->code == ErrorCode::output_released);
  CHECK(told[2].output);
}

TEST_CASE("processes stay until the results are here, or the client forgets the job") {
  Desk desk;
  const JobId job = desk.submit();
  desk.up(job, first, 1);
  desk.up(job, second, 1);
  desk.gateway.on_ended(job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
  desk.take();
  REQUIRE(desk.told<client::JobEnded>().size() == 1);
  CHECK(desk.done<CloseJob>().empty());
  desk.say(client::ForgetJob{job});
  CHECK(desk.done<CloseJob>().size() == 1);
  CHECK(desk.ordered<keeper::StopWorkers>().size() == 2);
}

TEST_CASE("a process that is lost when its job has ended is replaced as long as outputs may be asked for") {
  Desk desk;
  const JobId job = desk.submit();
  const Life one = desk.up(job, first, 1), two = desk.up(job, second, 1);
  desk.gateway.on_ended(job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
  desk.hear(first, keeper::WorkerDown{job, 1, one, ProcessEnd::killed, "signal 9", {}, {}});
  REQUIRE(desk.done<JobLifeDown>().size() == 1);  // Outputs that lay there are made again.
  CHECK(desk.ordered<keeper::StartWorker>().size() == 3);
  desk.up(job, first, 2);
  CHECK(desk.done<JobLivesUp>().size() == 1);
  CHECK(desk.ordered<keeper::StopWorkers>().empty());
  desk.gateway.on_nodes({node(first)}, desk.now);
  desk.take();
  REQUIRE(desk.done<JobLifeDown>().size() == 2);
  CHECK(desk.done<JobLifeDown>().back().down.life == two);
  desk.say(client::ForgetJob{job});
  CHECK(desk.ordered<keeper::StopWorkers>().size() == 1);
}

TEST_CASE("a job that has ended and can have no process any more is stopped, and stays ended well") {
  Desk desk;
  const JobId job = desk.submit();
  const Life one = desk.up(job, first, 1);
  desk.up(job, second, 1);
  desk.gateway.on_ended(job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
  desk.gateway.on_nodes({node(first)}, desk.now);
  desk.hear(first, keeper::WorkerDown{job, 1, one, ProcessEnd::killed, "signal 9", {}, {}});
  desk.hear(first, keeper::WorkerRefused{job, 2, {ErrorCode::program_invalid, "no", {}}});
  CHECK(desk.done<StopJob>().size() == 1);
  desk.say(client::AskJobs{5, job});
  const JobInfo info = desk.told<client::Answer>().back().jobs.front();
  CHECK(info.phase == JobPhase::finished);
  CHECK_FALSE(info.error);
}

TEST_CASE("a job goes on without its client, and ends with its processes") {
  Desk desk;
  const JobId job = desk.submit();
  desk.up(job, first, 1);
  desk.up(job, second, 1);
  desk.gateway.on_client_gone(someone, desk.now);
  desk.take();
  CHECK(desk.done<CloseJob>().empty());
  desk.gateway.on_ended(job, std::nullopt, {0, 1, 1, 0, 0}, desk.now);
  desk.take();
  CHECK(desk.done<CloseJob>().size() == 1);
  desk.say(client::AskJobs{5, job});
  REQUIRE(desk.told<client::Answer>().back().jobs.size() == 1);
  CHECK(desk.told<client::Answer>().back().jobs.front().phase == JobPhase::failed);
}

TEST_CASE("a job finishes with failures that are tolerated, and one that was cancelled is cancelled") {
  struct Case {
    JobCounts counts;
    bool cancel;
    JobPhase phase;
  };
  const auto one = GENERATE(values<Case>({{{0, 4, 3, 0, 0, 3}, false, JobPhase::finished},
                                          {{0, 4, 3, 0, 0, 2}, false, JobPhase::failed},
                                          {{0, 4, 1, 0, 2, 0}, true, JobPhase::cancelled},
                                          {{0, 4, 0, 0, 0, 0}, true, JobPhase::finished}}));
  Desk desk;
  const JobId job = desk.submit();
  desk.up(job, first, 1);
  desk.up(job, second, 1);
  if (one.cancel) desk.say(client::AskCancel{4, job});
  desk.gateway.on_ended(job, std::nullopt, one.counts, desk.now);
  desk.take();
  desk.say(client::AskJobs{5, job});
  const JobInfo info = desk.told<client::Answer>().back().jobs.front();
  CHECK(info.phase == one.phase);
  CHECK(phase_text(info.phase, info.counts) ==
        std::string(name(one.phase)) + (one.counts.tolerated == 3 ? ", 3 tolerated failures" : ""));
}

TEST_CASE(
    "followers hear that a job was cancelled when its kernels have had their last words, or their time is "
    "over") {
  Desk desk;
  const JobId job = desk.submit();
  const Life one = desk.up(job, first, 1), two = desk.up(job, second, 1);
  desk.say(client::AskCancel{4, job});
  desk.gateway.on_ended(job, std::nullopt, {0, 1, 0, 0, 1}, desk.now);
  desk.take();
  CHECK(desk.ordered<keeper::Explain>().size() == 2);
  CHECK(desk.told<client::JobEnded>().empty());
  keeper::Explained idle{job, 0, {}}, busy = idle;
  busy.process.running.push_back({});
  desk.hear(one, idle);
  desk.hear(two, busy);
  CHECK(desk.told<client::JobEnded>().empty());
  SECTION("the last kernel has returned") {
    desk.now = *desk.gateway.wake_at();
    desk.gateway.on_time(desk.now);
    desk.take();
    REQUIRE(desk.ordered<keeper::Explain>().size() == 3);
    CHECK(desk.ordered<keeper::Explain>().back().first == two);
    desk.hear(two, idle);
  }
  SECTION("its lane was given up") {
    busy.process.running.back().given_up = true;
    desk.hear(two, busy);
  }
  SECTION("its process has ended") {
    desk.hear(second, keeper::WorkerDown{job, 1, two, ProcessEnd::stopped_by_us, "", {}, std::nullopt});
  }
  SECTION("it does not return") {
    desk.now = desk.now + GatewayMachine::last_words_within;
    desk.gateway.on_time(desk.now);
    desk.take();
    desk.hear(two, idle);
  }
  CHECK(desk.told<client::JobEnded>().size() == 1);
}

TEST_CASE("who waits for a job's end is answered at its end, or at once when it has ended") {
  Desk desk;
  const JobId job = desk.submit();
  desk.up(job, first, 1);
  desk.up(job, second, 1);
  const std::size_t before = desk.told<client::Answer>().size();
  desk.say(client::AskEnd{8, job});
  CHECK(desk.told<client::Answer>().size() == before);
  desk.gateway.on_ended(job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
  desk.take();
  REQUIRE(desk.told<client::Answer>().size() == before + 1);
  CHECK(desk.told<client::Answer>().back().number == 8);
  desk.say(client::AskEnd{9, job});
  CHECK(desk.told<client::Answer>().back().number == 9);
}

TEST_CASE("an output that is wanted before the job begins is asked for when it does") {
  Desk desk;
  const JobId job = desk.submit();
  desk.say(client::Want{job, 1});
  CHECK(desk.done<WantOutput>().empty());
  desk.up(job, first, 1);
  desk.up(job, second, 1);
  REQUIRE(desk.done<WantOutput>().size() == 1);
  CHECK(desk.done<WantOutput>().front().task == 1);
}

TEST_CASE("a job that is cancelled before it begins never does") {
  Desk desk;
  const JobId job = desk.submit();
  desk.say(client::AskCancel{4, job});
  CHECK(desk.told<client::JobLost>().size() == 1);
  desk.up(job, first, 1);
  desk.up(job, second, 1);
  CHECK(desk.done<BeginJob>().empty());
  CHECK(desk.ordered<keeper::StopWorkers>().size() >= 2);
}

TEST_CASE("questions about jobs nobody knows are answered so") {
  Desk desk;
  desk.say(client::AskJobs{5, JobId{77}});
  REQUIRE(desk.told<client::Answer>().back().error);
  CHECK(desk.told<client::Answer>().back().error->code == ErrorCode::job_unknown);
}

TEST_CASE("what the records say of a job is told where that job is asked for, and not in the list of all") {
  Desk desk;
  const JobId job = desk.submit();
  desk.up(job, first, 1);
  desk.up(job, second, 1);
  CHECK(desk.done<BeginJob>().front().submitted == Instant{1s});
  desk.say(client::AskJobs{5, job});
  CHECK_FALSE(desk.told<client::Answer>().back().jobs.at(0).details);
  JobDetails details;
  details.tasks_beyond = 3;
  desk.gateway.on_details(job, details);
  desk.gateway.on_details(JobId{77}, details);  // Forgotten meanwhile.
  desk.say(client::AskJobs{6, job});
  CHECK(desk.told<client::Answer>().back().jobs.at(0).details == details);
  desk.say(client::AskJobs{7, std::nullopt});
  CHECK_FALSE(desk.told<client::Answer>().back().jobs.at(0).details);
  desk.say(client::AskEnd{8, job});
  desk.gateway.on_ended(job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
  desk.take();
  CHECK(desk.told<client::Answer>().back().number == 8);
  CHECK(desk.told<client::Answer>().back().jobs.at(0).details == details);
}

TEST_CASE("how far kernels are is told with their job while they run, in processes that are up") {
  Desk desk;
  const JobId job = desk.submit();
  const Life one = desk.up(job, first, 1), other = desk.up(job, second, 1);
  desk.gateway.on_details(job, {});
  const auto told = [&] {
    desk.say(client::AskJobs{5, job});
    std::vector<double> fractions;
    const client::Answer answer = desk.told<client::Answer>().back();
    for (const TaskProgress& said : answer.jobs.at(0).details->progress) fractions.push_back(said.fraction);
    return fractions;
  };
  desk.gateway.on_progress(job, other, "n1/w1/cpu0", TaskProgress{{0, 2}, "b", 1, "n1/w1/cpu0", 0.2, ""});
  desk.gateway.on_progress(job, one, "n0/w1/cpu0", TaskProgress{{0, 1}, "a", 1, "n0/w1/cpu0", 0.1, ""});
  desk.gateway.on_progress(job, one, "n0/w1/cpu1", TaskProgress{{0, 3}, "c", 1, "n0/w1/cpu1", 0.3, ""});
  CHECK(told() == std::vector{0.1, 0.2, 0.3});
  desk.gateway.on_progress(job, one, "n0/w1/cpu0", TaskProgress{{0, 1}, "a", 1, "n0/w1/cpu0", 0.9, ""});
  desk.gateway.on_progress(job, one, "n0/w1/cpu1", std::nullopt);
  CHECK(told() == std::vector{0.9, 0.2});
  desk.hear(second, keeper::WorkerDown{job, 1, other, ProcessEnd::killed, "signal 9", {}, {}});
  CHECK(told() == std::vector{0.9});
  desk.gateway.on_ended(job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
  CHECK(told().empty());
}

TEST_CASE("a crash that a home tells again is no news") {
  Desk desk;
  const JobId job = desk.submit();
  CHECK(desk.gateway.is_new_crash(job, {0, 1}, 1));
  CHECK_FALSE(desk.gateway.is_new_crash(job, {0, 1}, 1));
  CHECK(desk.gateway.is_new_crash(job, {0, 2}, 1));
  CHECK(desk.gateway.is_new_crash(job, {0, 1}, 2));
}

TEST_CASE("a job that states its total is told with it") {
  Graph graph("stated");
  graph.task("one", [] { return 1; });
  graph.total(1000);
  Desk desk;
  const JobId job = desk.submit(std::make_shared<const detail::Fragment>(graph.builder().sealed()));
  desk.say(client::AskJobs{5, job});
  const JobInfo told = desk.told<client::Answer>().back().jobs.at(0);
  CHECK(told.total == 1000);
  CHECK(counts_of_whole(told).open == 1000);
}

TEST_CASE("who asks a node that has just started for its nodes hears of that one at least") {
  GatewayMachine gateway(first, 100, false, {}, 1);
  gateway.on_client_message(someone, client::AskNodes{5}, Instant{1s});
  CHECK(gateway.take_effects().empty());
  gateway.on_nodes({node(first)}, Instant{1s});
  const std::vector<GatewayEffect> effects = gateway.take_effects();
  REQUIRE(effects.size() == 1);
  const auto& answer = std::get<client::Answer>(std::get<SendToClient>(effects[0]).message);
  CHECK(answer.number == 5);
  REQUIRE(answer.nodes.size() == 1);
  CHECK(answer.nodes[0].life == first);
  CHECK(answer.nodes[0].pid == 100);
}

// (tests/cluster/witness_test.cpp, once in a while)
TEST_CASE("a witness that has just started waits to say who takes jobs until it knows") {
  GatewayMachine gateway(first, 100, true, {}, 3, true);
  Claim witness = node(first);
  witness.load.witness = true;
  const auto answer = [&]() -> std::optional<client::Answer> {
    for (const GatewayEffect& effect : gateway.take_effects()) {
      const auto* sent = std::get_if<SendToClient>(&effect);
      if (sent != nullptr) return std::get<client::Answer>(sent->message);
    }
    return std::nullopt;
  };
  gateway.on_client_message(someone, client::AskHandle{1}, Instant{1s});
  CHECK_FALSE(answer());
  gateway.on_nodes({witness}, Instant{1s});
  CHECK_FALSE(answer());
  const bool comes = GENERATE(true, false);
  if (comes) {
    gateway.on_nodes({witness, node(second)}, Instant{2s});
  } else {
    gateway.on_time(Instant{1s} + GatewayMachine::meets_peers_within);
  }
  const auto told = answer();
  REQUIRE(told);
  REQUIRE(told->error);
  CHECK(told->error->code == ErrorCode::job_elsewhere);
  CHECK(told->elsewhere == (comes ? node(second).endpoint.control : ""));
}

TEST_CASE("a job that is submitted to a node that has just started waits until it knows who runs it") {
  const bool expects_peers = GENERATE(false, true);
  GatewayMachine gateway(first, 100, true, {}, 3, expects_peers);
  gateway.on_program(program, std::nullopt, Instant{1s});
  const auto refused_or_taken = [&]() -> std::string {
    for (const GatewayEffect& effect : gateway.take_effects()) {
      if (std::holds_alternative<RecordJob>(effect)) return "taken";
      const auto* sent = std::get_if<SendToClient>(&effect);
      const auto* answer = sent == nullptr ? nullptr : std::get_if<client::Answer>(&sent->message);
      if (answer != nullptr && answer->error) return answer->error->what;
    }
    return "waits";
  };
  gateway.on_client_message(someone, client::AskHandle{1}, Instant{1s});
  const JobId job = job_of_node(first.process, 1);
  gateway.take_effects();
  gateway.on_client_message(
      someone, client::AskSubmit{2, job, "chain", chain(), {program, "build", {"job"}, "/"}, false},
      Instant{1s});
  CHECK(refused_or_taken() == "waits");
  gateway.on_nodes({node(first)}, Instant{1s});
  if (!expects_peers) {
    CHECK(refused_or_taken() == "taken");
    return;
  }
  CHECK(refused_or_taken() == "waits");
  CHECK(gateway.wake_at() == Instant{1s} + GatewayMachine::meets_peers_within);
  SECTION("and who else is there") {
    gateway.on_nodes({node(first), node(second)}, Instant{2s});
    // A single copy of the program survives the loss of no node.
    CHECK(refused_or_taken() == "taken");
  }
  SECTION("for a moment: the others may be gone") {
    gateway.on_time(Instant{1s} + GatewayMachine::meets_peers_within - 1ms);
    CHECK(refused_or_taken() == "waits");
    gateway.on_time(*gateway.wake_at());
    CHECK(refused_or_taken() == "taken");
    CHECK_FALSE(gateway.wake_at() == Instant{1s} + GatewayMachine::meets_peers_within);
  }
  SECTION("unless its client is gone") {
    gateway.on_client_gone(someone, Instant{2s});
    CHECK_FALSE(gateway.wake_at());
    gateway.on_nodes({node(first), node(second)}, Instant{2s});
    CHECK(refused_or_taken() == "waits");
  }
}

TEST_CASE("a node says how it hears each other one, and nothing of itself") {
  Desk desk;
  desk.gateway.on_nodes({node(first), node(second)}, desk.now, {{second.process, {desk.now - 30ms, 200us}}});
  desk.now = desk.now + 20ms;
  desk.say(client::AskNodes{1});
  const auto answers = desk.told<client::Answer>();
  REQUIRE(answers.size() == 1);
  REQUIRE(answers[0].nodes.size() == 2);
  CHECK_FALSE(answers[0].nodes[0].heard);
  CHECK(answers[0].nodes[1].heard == HeardOf{50ms, 200us});
}

TEST_CASE("of a list of jobs those are given that were asked for, and it is said how many more there are") {
  std::vector<JobInfo> six(6);
  for (std::size_t i = 0; i < six.size(); ++i) {
    six[i].job = JobId{i + 1};
    six[i].name = i % 2 == 0 ? "train-" + std::to_string(i) : "load";
    six[i].phase = i < 4 ? JobPhase::finished : JobPhase::running;
  }
  six[1].counts.failed = 1;
  six[2].phase = JobPhase::failed;
  const auto chosen = [&](const JobFilter& which, std::uint64_t beyond = 0) {
    std::vector<JobInfo> jobs = six;
    CHECK(which.choose(jobs) == beyond);
    std::string ids;
    for (const JobInfo& job : jobs) ids += std::to_string(job.job.value);
    return ids;
  };
  CHECK(chosen({}) == "123456");
  CHECK(chosen({"train", {}, false, 0}) == "135");
  CHECK(chosen({"", JobPhase::running, false, 0}) == "56");
  CHECK(chosen({"", {}, true, 0}) == "23");
  CHECK(chosen({"", {}, false, 3}, 3) == "654");
  CHECK(chosen({"", {}, false, 6}) == "123456");
  CHECK(chosen({"load", {}, false, 1}, 2) == "6");

  Desk desk;
  const JobId one = desk.submit();
  desk.say(client::AskJobs{1, std::nullopt, {"no such", {}, false, 0}});
  CHECK(desk.told<client::Answer>().back().jobs.empty());
  desk.say(client::AskJobs{2, std::nullopt, {}});
  REQUIRE(desk.told<client::Answer>().back().jobs.size() == 1);
  CHECK(desk.told<client::Answer>().back().jobs[0].job == one);
}

TEST_CASE("a job whose record is still to be read from the disk is not unknown") {
  Desk desk(true);
  const JobId job = job_of_node(first.process, 1), other = job_of_node(first.process, 2);
  const auto answer_about = [&](JobId asked) {
    desk.say(client::AskEnd{5, asked});
    return desk.told<client::Answer>().back().error.value().code;
  };
  desk.gateway.on_found({job});
  CHECK(answer_about(job) == ErrorCode::job_elsewhere);
  CHECK(answer_about(other) == ErrorCode::job_unknown);
  CHECK_FALSE(desk.gateway.has_read_all());
  desk.gateway.on_record_over(job, desk.now);  // The job had ended: nothing is left of it.
  CHECK(answer_about(job) == ErrorCode::job_unknown);
  CHECK(desk.gateway.has_read_all());
}
