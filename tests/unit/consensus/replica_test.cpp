// A copy of a log, step by step: its messages, and their time. The simulator tests several copies under
// faults (tools/sim/log_world).
#include <catch2/catch.hpp>
#include <limits>

#include "tests/unit/consensus/box.hpp"

using namespace dag;
using namespace dag::consensus;
using namespace dag::consensus::test;

TEST_CASE("a copy that is alone leads as soon as its vote is on the disk") {
  Box box(a);
  box.begin({a});
  box.wait_until_due();
  CHECK(box.replica.role() == Replica::Role::candidate);
  box.write();
  CHECK(box.replica.role() == Replica::Role::leader);
  const auto index = box.replica.propose(text("one"), box.now);
  REQUIRE(index == 2);  // behind its noop
  box.take();
  CHECK(box.applied.size() == 1);
  box.write();
  REQUIRE(box.applied.size() == 2);
  CHECK(text_of(box.applied[1].entry.command) == "one");
}

TEST_CASE("terms end: nobody is elected behind the last one, and none comes again") {
  constexpr Term last = std::numeric_limits<Term>::max();
  Box before(a);
  before.begin({a});
  Stored stored = before.disk;
  stored.vote = {last - 1, std::nullopt};
  Box box(a, stored);
  box.wait_until_due();
  box.write();
  CHECK(box.replica.role() == Replica::Role::leader);
  CHECK(box.replica.term() == last);
  Box behind(a, box.disk);
  for (int i = 0; i < 3; ++i) {
    behind.wait_until_due();
    behind.write();
  }
  CHECK(behind.replica.role() == Replica::Role::follower);
  CHECK(behind.replica.term() == last);
}

// A training whose record had large entries changed leaders once a second, because each message that overtook
// one of those made its leader send it again. (dag-chaos train --steps 400)
TEST_CASE("who lacks what is on its way to it is not sent that again") {
  Box box = leader_of({a, b, c});
  for (const char* command : {"one", "two", "three"}) box.replica.propose(text(command), box.now);
  box.take();
  box.said<Append>();
  const auto again = [&](Index has) {
    box.hear(AppendAnswer{b, box.replica.term(), false, has, false, 0});
    const auto sent = box.said<Append>();
    return !sent.empty() && !sent[0].entries.empty() ? std::optional(sent[0].previous_index) : std::nullopt;
  };
  CHECK(again(2) == 2);
  CHECK_FALSE(again(2));
  CHECK_FALSE(again(3));
  CHECK(again(1) == 1);  // The follower lacks more than it was sent.
  CHECK_FALSE(again(2));
  box.now = box.now + ReplicaOptions{}.election_timeout;  // The message was lost.
  CHECK(again(2) == 2);
  box.hear(on_disk(b, box.replica.term(), 4));
  CHECK_FALSE(again(3));  // An old word: it has all.
}

// A copy whose disk was slow, and did something all the time, got all that the others settled, and held it in
// memory.
TEST_CASE("who is slow to write is sent no more than it may hold, and goes on as it writes") {
  const Blob large = Blob::make_on_heap(std::size_t{1} << 20, [](std::byte* data) { *data = {}; });
  Box box = leader_of({a, b, c});
  for (int i = 0; i < 20; ++i) box.replica.propose(large, box.now);
  box.take();
  const auto sent_to_b = [&] {
    std::vector<Append> sent;
    for (Send& one : std::exchange(box.sent, {})) {
      auto* append = std::get_if<Append>(&one.message);
      if (append != nullptr && one.to == b.node) sent.push_back(std::move(*append));
    }
    return sent;
  };
  CHECK(sent_to_b().size() == 16);
  box.wait_until_due();
  const auto beat = sent_to_b();
  REQUIRE(beat.size() == 1);
  CHECK(beat[0].entries.empty());
  CHECK(beat[0].previous_index == 17);
  box.hear(on_disk(b, box.replica.term(), 17 - 16));
  CHECK(sent_to_b().empty());
  for (Index index = 2; index <= 5; ++index) box.hear(on_disk(b, box.replica.term(), index));
  CHECK(sent_to_b().size() == 4);
  // The follower got none of them: a lost message is not on its way.
  box.hear(AppendAnswer{b, box.replica.term(), false, 5, false, 0});
  const auto again = sent_to_b();
  REQUIRE(again.size() == 1);
  CHECK(again[0].previous_index == 5);
  CHECK(again[0].entries.size() == 1);
}

TEST_CASE("a vote leaves when it is on the disk, and no second one in its term") {
  Box box(a);
  box.begin({a, b, c});
  box.hear(AskVote{b, 1, 0, 0, false, false});
  CHECK(box.said<VoteAnswer>().empty());
  box.write();
  const auto votes = box.said<VoteAnswer>();
  REQUIRE(votes.size() == 1);
  CHECK(votes[0].granted);

  Box again(a, box.disk);  // The same disk: the replica remembers.
  again.hear(AskVote{c, 1, 9, 0, false, false});
  again.write();
  const auto second = again.said<VoteAnswer>();
  REQUIRE(second.size() == 1);
  CHECK_FALSE(second[0].granted);
}

TEST_CASE("asking whether one would be voted for changes nothing") {
  Box box(a);
  box.begin({a, b, c});
  box.hear(AskVote{b, 5, 0, 0, true, false});
  CHECK(box.waiting.empty());
  CHECK(box.replica.term() == 0);
  CHECK(box.said<VoteAnswer>().at(0).granted);
}

TEST_CASE("who hears its leader helps nobody else to lead") {
  Box box(a);
  box.begin({a, b, c});
  box.follow(b);
  box.sent.clear();
  box.hear(AskVote{c, 2, 9, 1, true, false});
  CHECK_FALSE(box.said<VoteAnswer>().at(0).granted);
  box.hear(AskVote{c, 2, 9, 1, false, false});
  CHECK(box.replica.term() == 1);
  box.hear(AskVote{c, 2, 9, 1, false, true});  // The leader wants it.
  box.write();
  CHECK(box.said<VoteAnswer>().at(0).granted);
}

TEST_CASE("entries are acknowledged when they are on the disk, and applied when they are settled") {
  Box box(a);
  box.begin({a, b, c});
  box.hear(Append{b, 1, 0, 0, {{1, EntryType::noop}, {1, EntryType::command, text("x")}}, 1, 7});
  CHECK(box.said<AppendAnswer>().empty());
  CHECK(box.applied.size() == 1);
  box.hear(Append{b, 1, 0, 0, {}, 1, 8});
  auto answers = box.said<AppendAnswer>();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].index == 0);  // a sign of life
  CHECK(answers[0].beat == 8);
  box.write();
  answers = box.said<AppendAnswer>();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].index == 2);
  CHECK(answers[0].beat == 7);
}

TEST_CASE("what another leader wrote instead replaces what was not settled") {
  Box box(a);
  box.begin({a, b, c});
  box.hear(Append{b, 1, 0, 0, {{1, EntryType::noop}, {1, EntryType::command, text("lost")}}, 1, 0});
  box.write();
  box.sent.clear();
  box.hear(Append{c, 2, 2, 2, {}, 1, 0});
  const auto answers = box.said<AppendAnswer>();
  REQUIRE(answers.size() == 1);
  CHECK_FALSE(answers[0].matches);
  CHECK(answers[0].index == 1);
  box.hear(Append{c, 2, 1, 1, {{2, EntryType::noop}, {2, EntryType::command, text("won")}}, 3, 0});
  box.write();
  CHECK(box.replica.last_index() == 3);
  REQUIRE(box.applied.size() == 3);
  CHECK(text_of(box.applied[2].entry.command) == "won");
  CHECK(box.disk.entries.size() == 3);
}

TEST_CASE("a leader settles what a majority has on the disk, its own among them") {
  Box box = leader_of({a, b, c});
  REQUIRE(box.replica.propose(text("x"), box.now));
  box.take();
  box.hear(on_disk(b, 1, 2));
  CHECK(box.applied.size() == 1);  // Its own copy of the second is not there yet.
  box.write();
  CHECK(box.applied.size() == 2);
}

TEST_CASE("entries of an earlier term are settled only with one of the leader's own") {
  Stored stored;
  stored.put(Snapshot{0, 0, {{a, b, c}, {}}, {}});
  stored.put(StoredEntries{1, {{1, EntryType::noop}, {1, EntryType::command, text("old")}}});
  Box box(a, stored);
  box.be_elected_by(b);
  CHECK(box.replica.term() == 2);
  box.hear(on_disk(b, 2, 2));
  CHECK(box.applied.empty());
  box.hear(on_disk(b, 2, 3));
  CHECK(box.applied.size() == 3);
}

TEST_CASE("a leader that nobody answers lets go, and says since when") {
  Box box = leader_of({a, b, c});
  for (int i = 0; i < 20 && box.replica.role() == Replica::Role::leader; ++i) box.wait_until_due();
  CHECK(box.replica.role() == Replica::Role::follower);
  CHECK(box.replica.without_majority() == box.now);
  CHECK_FALSE(box.replica.propose(text("x"), box.now));
}

TEST_CASE("a read waits until a majority has said that nobody else leads") {
  Box box = leader_of({a, b, c});
  box.hear(on_disk(b, 1, 1));
  REQUIRE(box.replica.read(41, box.now));
  box.take();
  const auto beats = box.said<Append>();
  REQUIRE_FALSE(beats.empty());
  CHECK(box.readable.empty());
  box.hear(on_disk(c, 1, 0, beats.back().beat));
  REQUIRE(box.readable.size() == 1);
  CHECK(box.readable[0].number == 41);
  CHECK(box.readable[0].index == 1);
}

// Both were found by the simulator, the second in one of thousands of seeds.
TEST_CASE("who has removed itself asks for votes until that is settled, and needs no vote of its own") {
  Box box = leader_of({a, b});
  box.hear(on_disk(b, 1, 1));
  REQUIRE(box.replica.change({{b}, {}}, box.now));
  box.take();
  box.write();
  box.hear(Outdated{b, 2});
  REQUIRE(box.replica.role() == Replica::Role::follower);
  box.sent.clear();
  box.wait_until_due();
  CHECK(box.said<AskVote>().size() == 1);
  CHECK(box.replica.role() == Replica::Role::precandidate);
}

TEST_CASE("a learner asks for votes when nobody leads for long: it may have what no voter has") {
  Stored stored;
  stored.put(Snapshot{0, 0, {{b, c}, {a}}, {}});
  stored.put(StoredEntries{1, {{1, EntryType::noop}}});
  Box box(a, stored);
  CHECK(box.replica.due() - box.now >= 3 * ReplicaOptions{}.election_timeout);
  box.wait_until_due();
  CHECK(box.said<AskVote>().size() == 2);
  box.hear(VoteAnswer{b, 2, true, true});
  CHECK(box.replica.role() == Replica::Role::precandidate);  // Its own vote does not count.
  box.hear(VoteAnswer{c, 2, true, true});
  CHECK(box.replica.role() == Replica::Role::candidate);
}

TEST_CASE("one seat changes at a time, and only when the last change and an own entry are settled") {
  Box box = leader_of({a, b, c});
  const Seat d{ProcessId{3}, 13};
  CHECK_FALSE(box.replica.change({{a, b, c}, {d}}, box.now));  // Its noop is not settled.
  box.hear(on_disk(b, 1, 1));
  CHECK_FALSE(box.replica.change({{a, d}, {}}, box.now));  // three seats at once
  REQUIRE(box.replica.change({{a, b, c}, {d}}, box.now));
  CHECK_FALSE(box.replica.change({{a, b, c, d}, {}}, box.now));
  box.take();
  box.write();
  box.hear(on_disk(b, 1, 2));
  CHECK(box.replica.change({{a, b, c, d}, {}}, box.now));
  CHECK(box.replica.configuration().quorum() == 3);
}

TEST_CASE("a disk that came back empty does not count for the one that was lost") {
  Box box(a);
  box.begin({a, b, c});
  const Seat other_b{b.node, 99};
  box.wait_until_due();
  box.write();
  box.hear(VoteAnswer{other_b, 1, true, false});
  CHECK(box.replica.role() == Replica::Role::candidate);
  box.hear(VoteAnswer{c, 1, true, false});
  CHECK(box.replica.role() == Replica::Role::leader);
}

TEST_CASE(
    "who stands before there was a leader asks for votes at once, later it asks first whether it would get "
    "them") {
  Box box(a);
  box.begin({a, b, c});
  SECTION("nobody has led") {
    box.wait_until_due();
    CHECK(box.replica.role() == Replica::Role::candidate);
    box.write();
    for (const AskVote& ask : box.said<AskVote>()) CHECK_FALSE(ask.pre);
  }
  SECTION("somebody has") {
    box.follow(b);
    box.wait_until_due();
    CHECK(box.replica.role() == Replica::Role::precandidate);
    for (const AskVote& ask : box.said<AskVote>()) CHECK(ask.pre);
  }
}

TEST_CASE("who has just lost its leader asks for votes again soon; later it takes its time") {
  Box box(a);
  box.begin({a, b, c});
  box.follow(b);
  const ReplicaOptions options = Box::options(a);
  const Instant lost = box.now;
  box.replica.on_process_down(b.node, box.now);
  while (box.now < lost + 3 * options.election_timeout) {
    CHECK(box.replica.due() - box.now <= 3 * options.heartbeat);
    box.wait_until_due();
    CHECK(box.said<AskVote>().size() == 2);
  }
  CHECK(box.replica.due() - box.now >= options.election_timeout);
}
