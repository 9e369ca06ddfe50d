// A node that is a witness: no process of a job is started there, and nobody gets a handle from it.

#include <catch2/catch.hpp>

#include "tests/unit/gateway/desk.hpp"

using namespace dag;
using namespace dag::test;

namespace {

Claim witness(Life life) {
  Claim claim = node(life);
  claim.load.witness = true;
  claim.load.devices.clear();
  return claim;
}

}  // namespace

TEST_CASE("no process of a job is started at a witness, whenever it comes") {
  Desk desk;
  desk.gateway.on_nodes({node(first), witness(second)}, desk.now);
  const JobId job = desk.submit();
  REQUIRE(desk.ordered<keeper::StartWorker>().size() == 1);
  CHECK(desk.ordered<keeper::StartWorker>().front().first == first);
  desk.up(job, first, 1);
  CHECK(desk.done<BeginJob>().size() == 1);
  desk.gateway.on_nodes({node(first), witness(second), witness({{2}, {7}})}, desk.now);
  desk.take();
  CHECK(desk.ordered<keeper::StartWorker>().size() == 1);
}

TEST_CASE("what only a witness would have room for is impossible") {
  Desk desk;
  Claim large = node(second, 64);
  large.load.witness = true;
  desk.gateway.on_nodes({node(first), large}, desk.now);
  desk.submit(chain(Needs{.cpus = 32}));
  REQUIRE(desk.told<client::Answer>().back().error);
  CHECK(desk.told<client::Answer>().back().error->code == ErrorCode::needs_impossible);
}

TEST_CASE("a witness gives out no handles, and says who does") {
  Desk desk;
  desk.gateway.on_nodes({witness(first), node(second)}, desk.now);
  desk.say(client::AskHandle{1});
  const client::Answer answer = desk.told<client::Answer>().back();
  REQUIRE(answer.error);
  CHECK(answer.error->code == ErrorCode::job_elsewhere);
  CHECK(answer.error->what == "n0 is a witness: it accepts no jobs");
  CHECK(answer.elsewhere == node(second).endpoint.control);
}
