// A job that has ended is submitted once more.

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/unit/gateway/desk.hpp"

using namespace dag;
using namespace dag::test;

namespace {

struct RetryDesk : Desk {
  const Launch launch{program, "build", {"job", "--flag"}, "/here", {"A=1"}};

  JobId submit_kept(bool detached, bool kept) {
    say(client::AskHandle{1});
    const JobId job = *told<client::Answer>().back().job;
    gateway.on_program(program, std::nullopt, now);
    client::AskSubmit submission{2, job, "chain", chain(), launch, detached};
    submission.kept = kept;
    say(submission);
    up(job, first, 1);
    up(job, second, 1);
    return job;
  }
  void end(JobId job) {
    gateway.on_ended(job, std::nullopt, {0, 1, 1, 0, 0}, now);
    take();
  }
  client::Answer retry(JobId job, bool only_unfinished = false) {
    say(client::AskRetry{7, job, only_unfinished});
    return told<client::Answer>().back();
  }
};

}  // namespace

TEST_CASE(
    "a job that nobody waited for, or a command has kept, is retried with all that it was started with") {
  RetryDesk desk;
  const bool kept = GENERATE(false, true);
  const JobId job = desk.submit_kept(!kept, kept);
  CHECK(desk.retry(job).error->code == ErrorCode::usage);  // The job has not ended.
  desk.end(job);
  const std::size_t before = desk.ordered<keeper::StartWorker>().size();
  const client::Answer answer = desk.retry(job);
  REQUIRE_FALSE(answer.error);
  REQUIRE(answer.job);
  CHECK(answer.number == 7);
  CHECK(*answer.job != job);
  const auto starts = desk.ordered<keeper::StartWorker>();
  REQUIRE(starts.size() == before + 2);
  CHECK(starts.back().second.job == *answer.job);
  CHECK(starts.back().second.launch == desk.launch);
  desk.say(client::AskJobs{8, *answer.job, {}});
  CHECK(desk.told<client::Answer>().back().jobs.front().name == "chain");
  CHECK(desk.told<client::Answer>().back().jobs.front().counts.open == 2);
}

TEST_CASE("a job whose own program submitted it is not retried, nor one that is not kept any more") {
  RetryDesk desk;
  SECTION("its program waits") {
    const JobId job = desk.submit_kept(false, false);
    desk.end(job);
    const client::Answer answer = desk.retry(job);
    REQUIRE(answer.error);
    CHECK(answer.error->code == ErrorCode::usage);
    CHECK_THAT(answer.error->what, Catch::Contains("its program submitted it"));
  }
  SECTION("it was kept for its time") {
    const JobId job = desk.submit_kept(true, false);
    desk.end(job);
    desk.gateway.on_settled(job, {job, 1, Outcome::finished, detail::to_blob(2), {}});
    desk.now = desk.now + ResultLimits{}.kept_for;
    desk.gateway.on_time(desk.now);
    desk.take();
    const client::Answer answer = desk.retry(job);
    REQUIRE(answer.error);
    CHECK(answer.error->code == ErrorCode::output_released);
  }
  SECTION("it is unknown") { CHECK(desk.retry(JobId{99}).error->code == ErrorCode::job_unknown); }
}

TEST_CASE("what did not finish is retried on the outputs that are held, those that it had read among them") {
  RetryDesk desk;
  const JobId job = desk.submit_kept(true, false);
  const std::size_t begun = desk.done<BeginJob>().size();
  desk.gateway.on_unread(job, {0});
  desk.end(job);
  const auto wanted = desk.done<WantOutput>();
  REQUIRE(wanted.size() == 2);
  CHECK(wanted.back().task == 0);
  desk.gateway.on_settled(job, {job, 0, Outcome::finished, detail::to_blob(1), {}});
  desk.say(client::AskRetry{7, job, true});
  CHECK(desk.told<client::Answer>().back().number != 7);  // The other output is still to come.
  desk.gateway.on_settled(job, {job, 1, Outcome::failed, {}, {}});
  desk.now = *desk.gateway.wake_at();
  desk.gateway.on_time(desk.now);
  desk.take();
  const client::Answer answer = desk.told<client::Answer>().back();
  CHECK(answer.number == 7);
  REQUIRE(answer.job);
  desk.up(*answer.job, first, 1);
  desk.up(*answer.job, second, 1);
  const auto begins = desk.done<BeginJob>();
  REQUIRE(begins.size() == begun + 1);
  REQUIRE(begins.back().retry);
  CHECK(begins.back().retry->job == job);
  REQUIRE(begins.back().retry->outputs.size() == 2);
  CHECK(begins.back().retry->outputs[0].task == 0);
  desk.say(client::AskJobs{8, *answer.job, {}});
  CHECK(desk.told<client::Answer>().back().jobs.front().retries == job);
}

TEST_CASE("a job of which all is done has nothing to retry but the whole") {
  RetryDesk desk;
  const JobId job = desk.submit_kept(true, false);
  desk.gateway.on_ended(job, std::nullopt, {0, 2, 0, 0, 0}, desk.now);
  desk.take();
  const client::Answer answer = desk.retry(job, true);
  REQUIRE(answer.error);
  CHECK(answer.error->code == ErrorCode::usage);
  CHECK_THAT(answer.error->what, Catch::Contains("no task that failed"));
  CHECK_FALSE(desk.retry(job).error);
  CHECK(desk.done<BeginJob>().size() == 1);
}

TEST_CASE("how long results are kept, and how many bytes, are settings") {
  GatewayMachine gateway(first, 100, false, {}, 1, false, {.kept_for = 5s, .bytes_max = 10});
  gateway.on_nodes({node(first)}, Instant{1s});
  gateway.on_program(program, std::nullopt, Instant{1s});
  const JobId job = job_of_node(first.process, 1);
  gateway.on_client_message(someone, client::AskHandle{1}, Instant{1s});
  gateway.on_client_message(
      someone, client::AskSubmit{2, job, "chain", chain(), {program, "build", {"job"}, "/"}, true},
      Instant{1s});
  const Life life{worker_process(first.process, 1), first.incarnation};
  gateway.on_keeper_message(first, keeper::WorkerUp{job, 1, life, {"a", "b"}, 1}, Instant{1s});
  gateway.on_ended(job, std::nullopt, {0, 2, 0, 0, 0}, Instant{2s});
  gateway.on_settled(
      job, {job, 1, Outcome::finished, Blob::make_on_heap(11, [](std::byte* to) { *to = {}; }), {}});
  CHECK(gateway.wake_at() == Instant{7s});
  gateway.take_effects();
  gateway.on_client_message(someone, client::AskFollow{3, job, {1}, 0, true}, Instant{3s});
  std::optional<client::TaskSettled> told;
  for (const GatewayEffect& effect : gateway.take_effects()) {
    const auto* sent = std::get_if<SendToClient>(&effect);
    if (sent == nullptr) continue;
    if (const auto* settled = std::get_if<client::TaskSettled>(&sent->message)) told = *settled;
  }
  REQUIRE(told);
  REQUIRE(told->error);
  CHECK(told->error->code == ErrorCode::output_released);
}

TEST_CASE("results beyond the memory for them go to the disk, and processes stay until they are there") {
  GatewayMachine gateway(first, 100, false, {}, 1, false, {.kept_for = 1h, .bytes_max = 10, .spills = true});
  const Instant now{1s};
  gateway.on_nodes({node(first)}, now);
  gateway.on_program(program, std::nullopt, now);
  const JobId job = job_of_node(first.process, 1);
  gateway.on_client_message(someone, client::AskHandle{1}, now);
  gateway.on_client_message(
      someone, client::AskSubmit{2, job, "chain", chain(), {program, "build", {"job"}, "/"}, true}, now);
  const Life life{worker_process(first.process, 1), first.incarnation};
  gateway.on_keeper_message(first, keeper::WorkerUp{job, 1, life, {"a", "b"}, 1}, now);
  gateway.on_ended(job, std::nullopt, {0, 2, 0, 0, 0}, now);
  gateway.take_effects();
  const Blob large = Blob::make_on_heap(11, [](std::byte* to) { std::memset(to, 7, 11); });
  gateway.on_settled(job, {job, 1, Outcome::finished, large, {}});
  std::optional<client::TaskSettled> to_disk;
  for (GatewayEffect& effect : gateway.take_effects()) {
    if (auto* spill = std::get_if<SpillResult>(&effect)) to_disk = spill->settled;
    CHECK_FALSE(std::holds_alternative<SendToKeeper>(effect));  // Nobody is told to stop.
  }
  REQUIRE(to_disk);
  const bool written = GENERATE(true, false);
  if (!written) to_disk->output = {};
  gateway.on_spilled(*to_disk, written);
  std::size_t stops = 0;
  for (const GatewayEffect& effect : gateway.take_effects()) {
    const auto* sent = std::get_if<SendToKeeper>(&effect);
    stops += sent != nullptr && std::holds_alternative<keeper::StopWorkers>(sent->message) ? 1 : 0;
  }
  CHECK(stops == 1);
  gateway.on_client_message(someone, client::AskFollow{3, job, {1}, 0, true}, now);
  std::optional<client::TaskSettled> told;
  for (const GatewayEffect& effect : gateway.take_effects()) {
    const auto* sent = std::get_if<SendToClient>(&effect);
    if (sent == nullptr) continue;
    if (const auto* settled = std::get_if<client::TaskSettled>(&sent->message)) told = *settled;
  }
  REQUIRE(told);
  CHECK(told->output.size_bytes() == (written ? 11 : 0));
  CHECK(told->error.has_value() == !written);
}
