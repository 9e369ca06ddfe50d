// The range of a snapshot, and its way to a replica without a log.
#include <catch2/catch.hpp>

#include "libdag/base/check.hpp"
#include "tests/unit/consensus/box.hpp"

using namespace dag;
using namespace dag::consensus;
using namespace dag::consensus::test;

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

TEST_CASE("who has no log gets it as a snapshot, in pieces") {
  Box leader = leader_of({a, b, c});
  Box fresh(c);
  fresh.follow(a);
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
  CHECK(hear(4, 2) == 0);  // A part too many: it is sent again.
  CHECK(hear(2, 2) == 0);
  CHECK(hear(0, 2) == 4);
  CHECK(hear(0, 2) == 4);
  CHECK_FALSE(fresh.replica.snapshot());
  CHECK_FALSE(hear(4, 2));
  fresh.write();
  REQUIRE(fresh.replica.snapshot());
  CHECK(text_of(fresh.replica.snapshot()->state) == state);
}
