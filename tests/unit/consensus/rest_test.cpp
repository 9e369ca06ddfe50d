// A log of which nothing more is expected has rare signs of life.

#include "tests/unit/consensus/box.hpp"

using namespace dag;
using namespace dag::consensus;
using namespace dag::consensus::test;

namespace {

const ReplicaOptions defaults;

/// Leads, and expects nothing more; the others have all of it.
Box resting_leader() {
  Box box = leader_of({a, b, c});
  box.replica.on_quiet(true);
  box.hear(on_disk(b, 1, 1));
  box.hear(on_disk(c, 1, 1));
  box.wait_until_due();
  REQUIRE(box.replica.rests());
  return box;
}
/// Follows `b`, which has said that the log rests.
Box resting_follower() {
  Box box(a);
  box.begin({a, b, c});
  box.follow(b);
  box.hear(Append{b, 1, 0, 0, {}, 0, 0, true});
  box.sent.clear();
  REQUIRE(box.replica.rests());
  return box;
}

}  // namespace

TEST_CASE("a quiet log rests when all voters have all of it, and says so") {
  Box box = leader_of({a, b, c});
  box.replica.on_quiet(true);
  box.hear(on_disk(b, 1, 1));
  box.wait_until_due();
  CHECK_FALSE(box.replica.rests());  // A voter lacks an entry.
  for (const Append& append : box.said<Append>()) CHECK_FALSE(append.rests);
  box.hear(on_disk(c, 1, 1));
  box.said<Append>();
  box.wait_until_due();
  CHECK(box.replica.rests());
  const auto said = box.said<Append>();
  REQUIRE(said.size() == 2);
  for (const Append& append : said) {
    CHECK(append.rests);
    CHECK(append.settled == 1);
  }
  CHECK(box.replica.due() == box.now + defaults.rest_heartbeat);
}

TEST_CASE("a log of which more is expected does not rest") {
  Box box = leader_of({a, b, c});
  box.hear(on_disk(b, 1, 1));
  box.hear(on_disk(c, 1, 1));
  box.wait_until_due();
  CHECK_FALSE(box.replica.rests());
  CHECK(box.replica.due() == box.now + defaults.heartbeat);
}

TEST_CASE("a leader at rest goes on leading without signs of life of others") {
  Box box = resting_leader();
  box.now = box.now + 10 * defaults.election_timeout;
  box.replica.on_time(box.now);
  CHECK(box.replica.role() == Replica::Role::leader);
  box.now = box.now + defaults.rest_timeout;
  box.replica.on_time(box.now);
  CHECK(box.replica.role() == Replica::Role::follower);
}

TEST_CASE("what is said to a leader at rest ends the rest") {
  Box box = resting_leader();
  box.sent.clear();
  box.now = box.now + std::chrono::seconds(20);
  SECTION("a command") {
    REQUIRE(box.replica.propose(text("more"), box.now));
    box.take();
    for (const Append& append : box.said<Append>()) {
      CHECK(append.entries.size() == 1);
      CHECK_FALSE(append.rests);
    }
  }
  SECTION("a question") { REQUIRE(box.replica.read(1, box.now)); }
  SECTION("who missed it asks for votes") {
    box.hear(AskVote{b, 2, 1, 1, true, false});
    CHECK_FALSE(box.said<VoteAnswer>().front().granted);
  }
  SECTION("nodes come or go") { box.replica.stir(box.now); }
  SECTION("it is to go") { box.replica.on_leaving(true, box.now); }
  CHECK_FALSE(box.replica.rests());
  CHECK(box.replica.due() <= box.now + defaults.heartbeat);
  box.wait_until_due();
  CHECK(box.replica.role() == Replica::Role::leader);  // The others have as long to answer as ever.
}

TEST_CASE(
    "a voter that says nothing for long does not keep a log from its rest, and ends it when it is back") {
  Box box = leader_of({a, b, c});
  box.replica.on_quiet(true);
  const Instant until = box.now + defaults.given_up_after;
  while (box.now < until) {
    box.hear(on_disk(b, 1, 1));
    box.wait_until_due();
  }
  CHECK(box.replica.rests());
  box.hear(AppendAnswer{c, 1, false, 0, false, 0});
  CHECK_FALSE(box.replica.rests());
}

TEST_CASE("a follower of a log at rest bears the silence of its leader, and votes for nobody meanwhile") {
  Box box = resting_follower();
  CHECK(box.replica.due() >= box.now + defaults.rest_timeout);
  box.now = box.now + std::chrono::seconds(20);
  box.hear(AskVote{c, 2, 0, 0, true, false});
  CHECK_FALSE(box.said<VoteAnswer>().front().granted);
  box.hear(Append{b, 1, 0, 0, {}, 0, 0});
  CHECK_FALSE(box.replica.rests());
  CHECK(box.replica.due() <= box.now + 2 * defaults.election_timeout);
}

TEST_CASE("a follower of a log at rest asks for votes soon when its leader is gone") {
  Box box = resting_follower();
  box.now = box.now + std::chrono::seconds(20);
  box.replica.on_process_down(b.node, box.now);
  CHECK(box.replica.due() <= box.now + defaults.heartbeat);
  box.hear(AskVote{c, 2, 0, 0, true, false});
  CHECK(box.said<VoteAnswer>().front().granted);
}

TEST_CASE("a leader of a later term ends the rest of who followed an earlier one") {
  Box box = resting_follower();
  box.hear(AskVote{c, 2, 0, 0, false, true});
  CHECK_FALSE(box.replica.rests());
  CHECK(box.replica.due() <= box.now + 2 * defaults.election_timeout);
}
