// Leaders that let another copy lead, and copies that should not.
#include <catch2/catch.hpp>

#include "tests/unit/consensus/box.hpp"

using namespace dag;
using namespace dag::consensus;
using namespace dag::consensus::test;

TEST_CASE("a leader hands over to who has all, and takes nothing meanwhile") {
  Box box = leader_of({a, b, c});
  box.hear(on_disk(b, 1, 1));
  box.sent.clear();
  box.replica.transfer(b.node, box.now);
  box.take();
  CHECK(box.said<TakeOver>().size() == 1);
  CHECK_FALSE(box.replica.propose(text("x"), box.now));
}

TEST_CASE("who lacks something gets it before it is told to take over") {
  Box box = leader_of({a, b, c});
  box.hear(on_disk(b, 1, 1));
  REQUIRE(box.replica.propose(text("x"), box.now));
  box.take();
  box.sent.clear();
  box.replica.transfer(c.node, box.now);
  box.take();
  CHECK(box.said<TakeOver>().empty());
  box.hear(on_disk(c, 1, 1));
  CHECK(box.said<TakeOver>().empty());
  box.hear(on_disk(c, 1, 2));
  CHECK(box.said<TakeOver>().size() == 1);
}

TEST_CASE("a successor that does not come is given up after an election timeout, and not replaced before") {
  Box box = leader_of({a, b, c});
  box.hear(on_disk(b, 1, 1));
  box.hear(on_disk(c, 1, 1));
  const Instant until = box.now + Box::options(a).election_timeout;
  box.replica.transfer(b.node, box.now);
  box.take();
  box.sent.clear();
  box.replica.transfer(c.node, box.now);
  box.take();
  CHECK(box.said<TakeOver>().empty());
  while (box.now < until) {
    CHECK_FALSE(box.replica.propose(text("x"), box.now));
    box.wait_until_due();
    box.hear(on_disk(b, 1, 1));
    box.hear(on_disk(c, 1, 1));
  }
  CHECK(box.replica.propose(text("x"), box.now));
}

TEST_CASE("nothing is handed to itself, to a learner or to a stranger") {
  Box box = leader_of({a, b});
  box.write();
  box.hear(on_disk(b, 1, 1));
  REQUIRE(box.replica.change({{a, b}, {c}}, box.now));
  for (const ProcessId to : {a.node, c.node, ProcessId{9}}) box.replica.transfer(to, box.now);
  CHECK(box.replica.propose(text("x"), box.now));
}

TEST_CASE("who is told to take over asks for votes at once, in the next term, though it heard its leader") {
  Box box(b);
  box.begin({a, b, c});
  box.follow(a);
  box.write();
  box.sent.clear();
  box.hear(TakeOver{a, 0});  // From an older term.
  CHECK(box.replica.role() == Replica::Role::follower);
  box.hear(TakeOver{a, 1});
  CHECK(box.replica.role() == Replica::Role::candidate);
  CHECK(box.said<AskVote>().empty());  // Its own vote is not on the disk.
  box.write();
  const auto asked = box.said<AskVote>();
  REQUIRE(asked.size() == 2);
  CHECK((asked[0].term == 2 && asked[0].transfer && !asked[0].pre));
  box.hear(TakeOver{a, 1});  // Said again.
  CHECK(box.said<AskVote>().empty());

  Box other(c);
  other.begin({a, b, c});
  other.follow(a);
  other.write();
  other.sent.clear();
  other.hear(asked[1]);
  other.write();
  CHECK(other.said<VoteAnswer>().at(0).granted);
}

TEST_CASE("a leader whose disk is full hands over to each in turn, and takes commands in between") {
  Box box = leader_of({a, b, c});
  box.hear(on_disk(b, 1, 1));
  box.hear(on_disk(c, 1, 1));
  box.sent.clear();
  box.replica.on_disk_full(true, box.now);
  box.take();
  const auto told = [&] {
    std::vector<ProcessId> who;
    for (const Send& one : box.sent) {
      if (std::holds_alternative<TakeOver>(one.message)) who.push_back(one.to);
    }
    box.sent.clear();
    return who;
  };
  const auto pass = [&](Duration time) {
    for (const Instant until = box.now + time; box.now < until;) {
      box.wait_until_due();
      for (const Seat& one : {b, c}) box.hear(on_disk(one, 1, box.replica.last_index()));
    }
  };
  const Duration timeout = Box::options(a).election_timeout;
  CHECK(told() == std::vector{b.node});
  pass(timeout);
  CHECK(told().back() == c.node);
  CHECK_FALSE(box.replica.propose(text("x"), box.now));
  pass(timeout);
  told();
  CHECK(box.replica.propose(text("y"), box.now));  // Two other disks are a majority.
  pass(timeout);
  CHECK(told().empty());
  pass(4 * timeout);
  CHECK_FALSE(told().empty());
  pass(2 * timeout);
  told();
  box.replica.on_disk_full(false, box.now);
  pass(6 * timeout);
  CHECK(told().empty());
}

TEST_CASE("who cannot write asks for no votes, and says that it is alone") {
  Box box(a);
  box.begin({a, b, c});
  box.replica.on_disk_full(true, box.now);
  box.wait_until_due();
  CHECK(box.said<AskVote>().empty());
  CHECK(box.replica.without_majority());
  box.follow(b);
  CHECK_FALSE(box.replica.without_majority());
  box.hear(TakeOver{b, 1});
  CHECK(box.said<AskVote>().empty());
  box.replica.on_disk_full(false, box.now);
  box.wait_until_due();
  CHECK(box.said<AskVote>().size() == 2);
}

TEST_CASE("who is leaving asks for votes later than others, and hands over what it comes to lead") {
  Box box(a);
  box.begin({a, b, c});
  box.follow(b);
  box.write();
  box.replica.on_leaving(true, box.now);
  box.follow(b);
  CHECK(box.replica.due() >= box.now + 2 * Box::options(a).election_timeout);
  const Instant due = box.replica.due();
  box.replica.on_process_down(b.node, box.now);
  CHECK(box.replica.due() == due);
  box.be_elected_by(c);
  box.hear(on_disk(c, 2, 1));  // Its noop is settled: it has begun.
  box.sent.clear();
  box.wait_until_due();
  CHECK(box.said<TakeOver>().size() == 1);
}
