// Questions about tasks: the processes of the job are asked, and the client gets what they say.

#include <catch2/catch.hpp>

#include "tests/unit/gateway/desk.hpp"

using namespace dag;
using namespace dag::test;

namespace {

keeper::Explained explained(JobId job, std::uint64_t question, Life life, const std::string& why) {
  keeper::Explained said{job, question, {}};
  said.process.life = life;
  said.process.tasks.emplace_back().why = why;
  return said;
}

}  // namespace

TEST_CASE("who asks why gets what all processes of the job say, together") {
  Desk desk;
  const JobId job = desk.submit();
  const Life here = desk.up(job, first, 1), there = desk.up(job, second, 1);
  desk.say(client::AskExplain{7, job, {"two", {}}});
  const auto asked = desk.ordered<keeper::Explain>();
  REQUIRE(asked.size() == 2);
  CHECK(asked[0].first == here);
  CHECK(asked[1].first == there);
  CHECK(asked[0].second.what.name == "two");
  const std::uint64_t question = asked[0].second.question;
  const std::size_t answers = desk.told<client::Answer>().size();
  desk.hear(here, explained(job, question, here, "runs here"));
  desk.hear(here, explained(job, question, here, "said again"));  // Counts once.
  desk.hear({{9}, {9}}, explained(job, question, {{9}, {9}}, "nobody asked"));
  desk.hear(there, explained(job, question + 1, there, "of another question"));
  CHECK(desk.told<client::Answer>().size() == answers);
  desk.hear(there, explained(job, question, there, "is not of this shard"));
  REQUIRE(desk.told<client::Answer>().size() == answers + 1);
  const client::Answer answer = desk.told<client::Answer>().back();
  CHECK(answer.number == 7);
  CHECK(!answer.error);
  CHECK(answer.silent.empty());
  REQUIRE(answer.explained.size() == 2);
  CHECK(answer.explained[0].tasks[0].why == "runs here");
  CHECK(answer.explained[1].life == there);
}

TEST_CASE("a process that does not answer is named after two seconds, and the others' words are there") {
  Desk desk;
  const JobId job = desk.submit();
  const Life here = desk.up(job, first, 1), there = desk.up(job, second, 1);
  desk.say(client::AskExplain{7, job, {}});
  const std::uint64_t question = desk.ordered<keeper::Explain>().front().second.question;
  desk.hear(here, explained(job, question, here, "waits"));
  REQUIRE(desk.gateway.wake_at());
  CHECK(*desk.gateway.wake_at() <= desk.now + Explaining::within);
  const std::size_t answers = desk.told<client::Answer>().size();
  desk.now = desk.now + Explaining::within;
  desk.gateway.on_time(desk.now);
  desk.take();
  REQUIRE(desk.told<client::Answer>().size() == answers + 1);
  const client::Answer answer = desk.told<client::Answer>().back();
  CHECK(answer.silent == std::vector<Life>{there});
  CHECK(answer.explained.size() == 1);
  desk.hear(there, explained(job, question, there, "too late"));
  CHECK(desk.told<client::Answer>().size() == answers + 1);
}

TEST_CASE("nobody is asked about a job that is not there, or has no process, and that is answered at once") {
  Desk desk;
  desk.say(client::AskExplain{7, JobId{99}, {}});
  REQUIRE(desk.told<client::Answer>().size() == 1);
  REQUIRE(desk.told<client::Answer>().back().error);
  CHECK(desk.told<client::Answer>().back().error->code == ErrorCode::job_unknown);
  const JobId job = desk.submit();
  const std::size_t answers = desk.told<client::Answer>().size();
  desk.say(client::AskExplain{8, job, {}});
  CHECK(desk.ordered<keeper::Explain>().empty());
  REQUIRE(desk.told<client::Answer>().size() == answers + 1);
  CHECK(!desk.told<client::Answer>().back().error);
  CHECK(desk.told<client::Answer>().back().explained.empty());
}

TEST_CASE("a client that has gone waits for nothing") {
  Desk desk;
  const JobId job = desk.submit();
  const Life here = desk.up(job, first, 1);
  desk.up(job, second, 1);
  desk.say(client::AskExplain{7, job, {}});
  const std::uint64_t question = desk.ordered<keeper::Explain>().front().second.question;
  const std::size_t answers = desk.told<client::Answer>().size();
  desk.gateway.on_client_gone(someone, desk.now);
  desk.hear(here, explained(job, question, here, "waits"));
  desk.now = desk.now + Explaining::within;
  desk.gateway.on_time(desk.now);
  desk.take();
  CHECK(desk.told<client::Answer>().size() == answers);
}

TEST_CASE("what a journal has is for whoever has the journal to say") {
  Desk desk;
  desk.say(client::AskJournal{7, JobId{42}, {3, 5, 7}});
  REQUIRE(desk.done<ReadJournal>().size() == 1);
  const ReadJournal read = desk.done<ReadJournal>().front();
  CHECK(read.client == someone);
  CHECK(read.what.number == 7);
  CHECK(read.what.read == JournalPlace{3, 5, 7});
}
