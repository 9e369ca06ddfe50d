// One copy of a log, step by step: what leaves it, and when. What several of them come to under faults is the
// simulator's to find (tools/sim/log_world).
#include "libdag/consensus/replica.hpp"

#include <catch2/catch.hpp>

#include "libdag/base/check.hpp"

using namespace dag;
using namespace dag::consensus;
using namespace std::chrono_literals;

namespace {

const Seat a{ProcessId{0}, 10}, b{ProcessId{1}, 11}, c{ProcessId{2}, 12};

Blob text(const char* letters) { return Blob(std::as_bytes(std::span(letters, std::strlen(letters)))); }
std::string text_of(const Blob& blob) {
  const auto bytes = blob.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A replica, and what it asked for, by kind.
struct Box {
  explicit Box(Seat self, Stored stored = {}) : Box(options(self), std::move(stored)) {}
  explicit Box(const ReplicaOptions& all, Stored stored = {})
      : replica(all, stored, now), disk(std::move(stored)) {
    take();
  }
  static ReplicaOptions options(Seat self) {
    ReplicaOptions options;
    options.self = self;
    return options;
  }
  void take() {
    for (Effect& effect : replica.take_effects()) {
      if (auto* one = std::get_if<Send>(&effect)) sent.push_back(std::move(*one));
      if (auto* one = std::get_if<Write>(&effect)) waiting.push_back(std::move(*one));
      if (auto* one = std::get_if<Apply>(&effect)) applied.push_back(std::move(*one));
      if (auto* one = std::get_if<Readable>(&effect)) readable.push_back(*one);
    }
  }
  void begin(std::vector<Seat> voters) {
    replica.begin({std::move(voters), {}}, text("genesis"), now);
    take();
    write();
  }
  void write() {
    while (!waiting.empty()) {
      const std::uint64_t last = waiting.back().number;
      for (Write& one : waiting) disk.put(one.change);
      waiting.clear();
      replica.on_written(last, now);
      take();
    }
  }
  void hear(const Message& message) {
    replica.on_message(message, now);
    take();
  }
  void wait_until_due() {
    now = replica.due();
    replica.on_time(now);
    take();
  }
  /// Asks for votes, and gets that of `voter` each time.
  void be_elected_by(Seat voter) {
    wait_until_due();
    hear(VoteAnswer{voter, replica.term() + 1, true, true});
    write();
    hear(VoteAnswer{voter, replica.term(), true, false});
    write();
    REQUIRE(replica.role() == Replica::Role::leader);
    sent.clear();
  }
  template <class Kind>
  std::vector<Kind> said() {
    std::vector<Kind> found;
    for (const Send& one : sent) {
      if (const auto* message = std::get_if<Kind>(&one.message)) found.push_back(*message);
    }
    sent.clear();
    return found;
  }

  Instant now{1s};
  Replica replica;
  Stored disk;
  std::vector<Send> sent;
  std::vector<Write> waiting;
  std::vector<Apply> applied;
  std::vector<Readable> readable;
};

AppendAnswer on_disk(Seat who, Term term, Index index, std::uint64_t beat = 0) {
  return {who, term, true, index, false, beat};
}

}  // namespace

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

// A training whose record had large entries changed leaders once a second, because each message that overtook
// one of those made its leader send it again. (dag-chaos train --steps 400)
TEST_CASE("who lacks what is on its way to it is not sent that again") {
  Box box(a);
  box.begin({a, b, c});
  box.be_elected_by(b);
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
  CHECK(again(1) == 1);  // It lacks more than it was sent.
  CHECK_FALSE(again(2));
  box.now = box.now + ReplicaOptions{}.election_timeout;  // It was lost.
  CHECK(again(2) == 2);
  box.hear(on_disk(b, box.replica.term(), 4));
  CHECK_FALSE(again(3));  // An old word: it has all.
}

// A copy whose disk was slow, and did something all the time, got all that the others settled, and held it in
// memory.
TEST_CASE("who is slow to write is sent no more than it may hold, and goes on as it writes") {
  const Blob large = Blob::make_on_heap(std::size_t{1} << 20, [](std::byte* data) { *data = {}; });
  Box box(a);
  box.begin({a, b, c});
  box.be_elected_by(b);
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
  // It got none of them: what is lost is not on its way.
  box.hear(AppendAnswer{b, box.replica.term(), false, 5, false, 0});
  const auto again = sent_to_b();
  REQUIRE(again.size() == 1);
  CHECK(again[0].previous_index == 5);
  CHECK(again[0].entries.size() == 1);
}

TEST_CASE("entries that a snapshot covers are kept for others while they are not too large") {
  const std::size_t large_bytes = std::size_t{1} << 20;
  const Blob large = Blob::make_on_heap(large_bytes, [](std::byte* data) { *data = {}; });
  Box box(a);
  box.begin({a});
  box.wait_until_due();
  box.write();
  for (int i = 0; i < 40; ++i) box.replica.propose(large, box.now);
  box.take();
  box.write();
  REQUIRE(box.replica.settled() == 41);
  box.replica.compact(40, text("state"));
  CHECK(box.replica.entry(41).command.size_bytes() == large_bytes);
  CHECK(box.replica.entry(26).command.size_bytes() == large_bytes);
  CHECK_THROWS_AS(box.replica.entry(25), Bug);
  box.take();
  box.write();
  CHECK(box.disk.entries.size() == 1);
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

  Box again(a, box.disk);  // It remembers.
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
  box.hear(Append{b, 1, 0, 0, {}, 0, 0});
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
  auto answers = box.said<AppendAnswer>();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].index == 0);  // a sign of life
  CHECK(answers[0].beat == 7);
  CHECK(box.applied.size() == 1);
  box.write();
  answers = box.said<AppendAnswer>();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].index == 2);
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
  Box box(a);
  box.begin({a, b, c});
  box.be_elected_by(b);
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
  Box box(a);
  box.begin({a, b, c});
  box.be_elected_by(b);
  for (int i = 0; i < 20 && box.replica.role() == Replica::Role::leader; ++i) box.wait_until_due();
  CHECK(box.replica.role() == Replica::Role::follower);
  CHECK(box.replica.without_majority() == box.now);
  CHECK_FALSE(box.replica.propose(text("x"), box.now));
}

TEST_CASE("a read waits until a majority has said that nobody else leads") {
  Box box(a);
  box.begin({a, b, c});
  box.be_elected_by(b);
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
  Box box(a);
  box.begin({a, b});
  box.be_elected_by(b);
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
  Box box(a);
  box.begin({a, b, c});
  box.be_elected_by(b);
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
  box.hear(VoteAnswer{other_b, 1, true, true});
  CHECK(box.replica.role() == Replica::Role::precandidate);
  box.hear(VoteAnswer{c, 1, true, true});
  CHECK(box.replica.role() == Replica::Role::candidate);
}

TEST_CASE("who has no log gets it as a snapshot, in pieces") {
  Box leader(a);
  leader.begin({a, b, c});
  leader.be_elected_by(b);
  Box fresh(c);
  fresh.hear(Append{a, 1, 0, 0, {}, 0, 0});
  const auto answers = fresh.said<AppendAnswer>();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].empty);
  leader.hear(answers[0]);
  const auto pieces = leader.said<SnapshotPiece>();
  REQUIRE(pieces.size() == 1);
  SnapshotPiece first = pieces[0], second = pieces[0];
  first.bytes = Blob(pieces[0].bytes.bytes().first(3));
  second.offset = 3;
  second.bytes = Blob(pieces[0].bytes.bytes().subspan(3));
  fresh.hear(first);
  CHECK(fresh.said<SnapshotAnswer>().at(0).received_bytes == 3);
  fresh.hear(second);
  fresh.write();
  REQUIRE(fresh.replica.snapshot());
  CHECK(text_of(fresh.replica.snapshot()->state) == "genesis");
  CHECK(fresh.replica.configuration().quorum() == 2);
}

TEST_CASE(
    "some pieces of a snapshot are on their way at a time, and lost ones are sent again when nothing comes") {
  ReplicaOptions options = Box::options(a);
  options.snapshot_piece_bytes = 2;
  options.snapshot_pieces_in_flight = 3;
  Box leader(options);
  leader.begin({a, b, c});  // with a state of 7 bytes
  leader.be_elected_by(b);
  using Pieces = std::vector<std::pair<std::uint64_t, std::size_t>>;
  const auto pieces = [&] {
    Pieces said;
    for (const SnapshotPiece& piece : leader.said<SnapshotPiece>())
      said.emplace_back(piece.offset, piece.bytes.size_bytes());
    return said;
  };
  const auto has = [&](std::uint64_t bytes) {
    leader.hear(SnapshotAnswer{c, leader.replica.term(), 0, bytes, 0});
  };
  leader.hear(AppendAnswer{c, leader.replica.term(), false, 0, true, 0});
  CHECK(pieces() == Pieces{{0, 2}, {2, 2}, {4, 2}});
  has(2);
  CHECK(pieces() == Pieces{{6, 1}});
  has(2);
  CHECK(pieces().empty());
  // The majority that keeps it leading.
  const auto beat = [&] {
    leader.hear(on_disk(b, leader.replica.term(), 1));
    leader.wait_until_due();
    return pieces();
  };
  for (int i = 0; i < 4; ++i) CHECK(beat() == Pieces{{2, 0}});
  CHECK(beat() == Pieces{{2, 2}, {4, 2}, {6, 1}});
  CHECK(beat() == Pieces{{2, 0}});
  // Less than before: nothing is sent for it at once. That was overtaken, if more comes; else it has begun
  // anew.
  has(0);
  CHECK(pieces().empty());
  for (int i = 0; i < 3; ++i) CHECK(beat() == Pieces{{2, 0}});
  CHECK(beat() == Pieces{{0, 2}, {2, 2}, {4, 2}});
  has(4);
  CHECK(pieces() == Pieces{{6, 1}});
  has(2);
  CHECK(pieces().empty());
  has(7);
  CHECK(pieces().empty());
}

TEST_CASE(
    "pieces of a snapshot that overtook others are kept until those come, as many as may be on their way") {
  ReplicaOptions options = Box::options(c);
  options.snapshot_pieces_in_flight = 2;
  Box fresh(options);
  const std::string state = "genesis";
  // Returns how much it has then, or nothing when that is all.
  const auto hear = [&](std::uint64_t offset, std::size_t size) -> std::optional<std::uint64_t> {
    fresh.hear(SnapshotPiece{a,
                             1,
                             0,
                             0,
                             {{a, b, c}, {}},
                             state.size(),
                             offset,
                             Blob(std::as_bytes(std::span(state).subspan(offset, size))),
                             0});
    const auto answers = fresh.said<SnapshotAnswer>();
    return answers.empty() ? std::nullopt : std::optional(answers.back().received_bytes);
  };
  CHECK(hear(6, 1) == 0);
  CHECK(hear(2, 2) == 0);
  CHECK(hear(4, 2) == 0);  // One too many: it is sent again.
  CHECK(hear(2, 2) == 0);
  CHECK(hear(0, 2) == 4);
  CHECK(hear(0, 2) == 4);
  CHECK_FALSE(fresh.replica.snapshot());
  CHECK_FALSE(hear(4, 2));
  fresh.write();
  REQUIRE(fresh.replica.snapshot());
  CHECK(text_of(fresh.replica.snapshot()->state) == state);
}

TEST_CASE("a leader hands over to who has all, and takes nothing meanwhile") {
  Box box(a);
  box.begin({a, b, c});
  box.be_elected_by(b);
  box.hear(on_disk(b, 1, 1));
  box.sent.clear();
  box.replica.transfer(b.node, box.now);
  box.take();
  CHECK(box.said<TakeOver>().size() == 1);
  CHECK_FALSE(box.replica.propose(text("x"), box.now));
}

TEST_CASE("who lacks something gets it before it is told to take over") {
  Box box(a);
  box.begin({a, b, c});
  box.be_elected_by(b);
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
  Box box(a);
  box.begin({a, b, c});
  box.be_elected_by(b);
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
  Box box(a);
  box.begin({a, b});
  box.be_elected_by(b);
  box.write();
  box.hear(on_disk(b, 1, 1));
  REQUIRE(box.replica.change({{a, b}, {c}}, box.now));
  for (const ProcessId to : {a.node, c.node, ProcessId{9}}) box.replica.transfer(to, box.now);
  CHECK(box.replica.propose(text("x"), box.now));
}

TEST_CASE("who is told to take over asks for votes at once, in the next term, though it heard its leader") {
  Box box(b);
  box.begin({a, b, c});
  box.hear(Append{a, 1, 0, 0, {}, 0, 0});
  box.write();
  box.sent.clear();
  box.hear(TakeOver{a, 0});  // Of an older term.
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
  other.hear(Append{a, 1, 0, 0, {}, 0, 0});
  other.write();
  other.sent.clear();
  other.hear(asked[1]);
  other.write();
  CHECK(other.said<VoteAnswer>().at(0).granted);
}

TEST_CASE("a leader whose disk is full hands over to each in turn, and takes commands in between") {
  Box box(a);
  box.begin({a, b, c});
  box.be_elected_by(b);
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
  box.hear(Append{b, 1, 0, 0, {}, 0, 0});
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
  box.hear(Append{b, 1, 0, 0, {}, 0, 0});
  box.write();
  box.replica.on_leaving(true, box.now);
  box.hear(Append{b, 1, 0, 0, {}, 0, 0});
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

TEST_CASE("who has just lost its leader asks for votes again soon; later it takes its time") {
  Box box(a);
  box.begin({a, b, c});
  box.hear(Append{b, 1, 0, 0, {}, 0, 0});
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
