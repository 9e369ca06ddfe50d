// A replica reads back the state that it wrote: by way of records, whatever else the node's log holds.
#include "libdag/consensus/records.hpp"

#include <catch2/catch.hpp>
#include <numeric>

#include "libdag/base/random.hpp"
#include "tests/support/same_stored.hpp"

using namespace dag;
using namespace dag::consensus;
using dag::test::same;

namespace {

Blob bytes_of(std::uint64_t number) { return Blob(std::as_bytes(std::span(&number, 1))); }

struct Kept {
  log::Record record;
  std::vector<std::byte> payload;
};
/// The records of a change that is put into the log.
std::vector<Kept> records_of(JobId job, Stored& log, const StoredChange& change) {
  log.put(change);
  std::vector<Kept> kept;
  each_record(job, change, log, [&](const log::Record& record) {
    kept.push_back({record, {record.payload.begin(), record.payload.end()}});
  });
  for (Kept& one : kept) one.record.payload = one.payload;
  return kept;
}

Configuration some_configuration(Random& random) {
  Configuration some;
  for (std::uint32_t i = 0; i < 5; ++i) {
    const Seat seat{ProcessId{i}, random.next()};
    if (i == 0 || random.chance(0.5)) {
      some.voters.push_back(seat);
    } else if (random.chance(0.3)) {
      some.learners.push_back(seat);
    }
  }
  return some;
}

}  // namespace

TEST_CASE("what was put into several logs is read again from their records") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    std::map<JobId, Stored> logs;
    StoredLogs read;
    for (std::uint32_t job = 1; job <= 3; ++job) {
      const Snapshot genesis{0, 0, some_configuration(random), bytes_of(job)};
      for (const Kept& one : records_of(JobId{job}, logs[JobId{job}], genesis))
        REQUIRE(read.take(one.record));
    }
    for (int step = 0; step < 60; ++step) {
      const JobId job{1 + random.below(3)};
      Stored& log = logs[job];
      StoredChange change = Vote{static_cast<Term>(random.below(9)), std::nullopt};
      if (random.chance(0.1)) {
        std::get<Vote>(change).candidate = ProcessId{static_cast<std::uint32_t>(random.below(9))};
      } else if (random.chance(0.1)) {
        const Index index = log.snapshot->index + random.below(log.entries.size() + 3);
        change = Snapshot{index, static_cast<Term>(random.below(3)), some_configuration(random), bytes_of(7)};
      } else if (random.chance(0.9)) {
        StoredEntries more{log.snapshot->index + 1 + random.below(log.entries.size() + 1), {}};
        for (std::uint64_t i = 0; i <= random.below(3); ++i) {
          Entry entry{static_cast<Term>(random.below(3)), EntryType::command, bytes_of(random.next())};
          if (random.chance(0.2)) entry = {entry.term, EntryType::noop};
          if (random.chance(0.2))
            entry = {entry.term, EntryType::configuration, {}, some_configuration(random)};
          more.entries.push_back(std::move(entry));
        }
        change = std::move(more);
      }
      for (const Kept& one : records_of(job, log, change)) REQUIRE(read.take(one.record));
    }
    const std::map<JobId, Stored> found = read.release().value();
    REQUIRE(found.size() == 3);
    for (const auto& [job, log] : logs) CHECK(same(found.at(job), log));
  }
}

TEST_CASE("records that cannot be are refused, and leave what was there") {
  Random random(7);
  StoredLogs logs;
  const JobId job{4};
  const auto refused = [&](const log::Record& record) {
    const Status taken = logs.take(record);
    return !taken && taken.error().code == ErrorCode::log_damaged;
  };
  const std::byte few[3]{};
  CHECK(refused({job, 1, 0, 4, few}));      // half a vote
  CHECK(refused({job, 1, 0, 5, few}));      // half a snapshot
  CHECK(refused({job, 1, 0, 6, few}));      // a tombstone has nothing to say
  CHECK(refused({JobId{}, 0, 0, 7, few}));  // half a list of what was forgotten
  CHECK(refused({job, 1, 0, 99, {}}));      // no such kind
  Stored log, older;
  for (const Kept& one : records_of(job, log, Snapshot{5, 2, some_configuration(random), {}}))
    CHECK(logs.take(one.record));
  CHECK(refused({job, 2, 5, 3, {}}));  // covered by the snapshot
  CHECK(refused({job, 2, 7, 3, {}}));  // with a gap
  CHECK(logs.take({job, 2, 6, 3, {}}));
  for (const Kept& one : records_of(job, older, Snapshot{3, 1, some_configuration(random), {}}))
    CHECK(refused(one.record));
  CHECK(logs.release()->at(job).entries.size() == 1);
}

namespace {

/// A job with a vote, a small snapshot at 2 and entries up to 8; then one at 5 that takes four pieces.
struct Large {
  Large() {
    const Configuration alone{{{ProcessId{1}, 1}}, {}};
    add(Snapshot{2, 1, alone, bytes_of(2)});
    StoredEntries more{3, {}};
    for (std::uint64_t i = 3; i <= 8; ++i) more.entries.push_back({1, EntryType::command, bytes_of(i), {}});
    add(more);
    add(Vote{3, ProcessId{4}});
    stored_before = log;
    std::vector<std::byte> state(3 * snapshot_piece_bytes + 17);
    Random random(5);
    for (std::byte& one : state) one = static_cast<std::byte>(random.next());
    pieces = records_of(job, log, Snapshot{5, 1, alone, Blob(state)});
  }
  Large(const Large&) = delete;
  Large& operator=(const Large&) = delete;
  /// Moved, so that payloads stay where they are.
  void add(const StoredChange& change) {
    for (Kept& one : records_of(job, log, change)) before.push_back(std::move(one));
  }

  const JobId job{7};
  Stored log, stored_before;
  std::vector<Kept> before, pieces;
};

}  // namespace

TEST_CASE("a large snapshot lies in several records, with other jobs' between, and needs nothing before it") {
  const Large large;
  REQUIRE(large.pieces.size() == 4);
  for (const Kept& one : large.pieces) CHECK(one.payload.size() <= snapshot_piece_bytes + 64);
  const bool whole = GENERATE(true, false);
  StoredLogs logs;
  if (whole) {
    for (const Kept& one : large.before) REQUIRE(logs.take(one.record, 1));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(logs.take(large.pieces[i].record, 2 + i));
    Stored other;
    for (const Kept& one : records_of(JobId{8}, other, Vote{i + 1 == 4 ? 9u : 1u, std::nullopt}))
      REQUIRE(logs.take(one.record, 2 + i));
  }
  CHECK(logs.segments_needed() == std::map<JobId, std::uint64_t>{{large.job, 2}, {JobId{8}, 5}});
  const auto found = logs.release().value();
  CHECK(found.at(JobId{8}).vote.term == 9);
  CHECK(found.at(large.job).entries.size() == 3);
  CHECK(same(found.at(large.job), large.log));
}

TEST_CASE("a snapshot of any size is read again, with what lies behind it, wherever its pieces end") {
  std::vector<std::size_t> sizes(17);
  std::iota(sizes.begin(), sizes.end(), 0);
  for (std::size_t i = 0; i < 140; ++i) sizes.push_back(snapshot_piece_bytes - 139 + i);
  for (const std::size_t size : sizes) {
    const std::vector<std::byte> state(size, std::byte{7});
    Configuration alone;
    alone.voters.push_back({ProcessId{1}, 5});
    Stored log;
    log.put(Snapshot{0, 0, alone, bytes_of(1)});
    log.put(StoredEntries{1, {Entry{1, EntryType::command, bytes_of(2)}, Entry{1, EntryType::command, {}}}});
    StoredLogs logs;
    std::size_t taken = 0;
    for (const Kept& one : records_of(JobId{7}, log, Snapshot{1, 1, alone, Blob(std::span(state))})) {
      REQUIRE(logs.take(one.record));
      taken += one.payload.size();
    }
    CHECK(taken > size);
    CHECK(log.entries.size() == 1);
    CHECK(same(logs.release().value().at(JobId{7}), log));
  }
}

TEST_CASE("a snapshot whose last pieces were torn off changes nothing, whatever is written behind it") {
  const Large large;
  for (std::size_t there = 0; there < 4; ++there) {
    const auto read = [&] {
      auto logs = std::make_unique<StoredLogs>();
      for (const Kept& one : large.before) REQUIRE(logs->take(one.record, 1));
      for (std::size_t i = 0; i < there; ++i) REQUIRE(logs->take(large.pieces[i].record, 2));
      return logs;
    };
    const auto torn = read();
    CHECK(torn->segments_needed().at(large.job) == 1);
    CHECK(same(torn->release()->at(large.job), large.stored_before));
    const auto goes_on = read();
    REQUIRE(goes_on->take({large.job, 2, 9, 3, {}}));
    CHECK(goes_on->release()->at(large.job).entries.size() == 7);
    const auto again = read();
    for (const Kept& one : large.pieces) REQUIRE(again->take(one.record, 3));
    CHECK(same(again->release()->at(large.job), large.log));
  }
}

TEST_CASE("pieces that do not belong together are refused") {
  const Large large;
  const auto refused = [&](std::size_t first, log::Record then) {
    StoredLogs logs;
    for (std::size_t i = 0; i < first; ++i) REQUIRE(logs.take(large.pieces[i].record));
    const Status taken = logs.take(then);
    return !taken && taken.error().code == ErrorCode::log_damaged;
  };
  CHECK_FALSE(refused(2, large.pieces[2].record));
  CHECK(refused(2, large.pieces[1].record));  // twice
  CHECK(refused(1, large.pieces[2].record));  // one is missing
  CHECK(refused(4, large.pieces[3].record));  // it is whole already
  log::Record other = large.pieces[1].record;
  other.index = 6;
  CHECK(refused(1, other));
  other = large.pieces[1].record;
  other.term = 2;
  CHECK(refused(1, other));
  std::vector<std::byte> longer = large.pieces[1].payload;
  longer[8] ^= std::byte{1};  // what all pieces take together
  other = large.pieces[1].record;
  other.payload = longer;
  CHECK(refused(1, other));
  StoredLogs logs;  // Not a piece whose beginning is gone: the vote was written before that beginning was.
  REQUIRE(logs.take(large.pieces[0].record));
  REQUIRE(logs.take(large.before.back().record));
  CHECK_FALSE(logs.take(large.pieces[1].record));
}

TEST_CASE("what lies behind the beginning of a log that is gone counts when a snapshot follows") {
  const Large large;
  // Ends of a snapshot, then entries: their beginning is in a segment that nobody needed.
  const auto begin = [&](StoredLogs& logs) {
    for (std::size_t i = 2; i < 4; ++i) REQUIRE(logs.take(large.pieces[i].record));
    REQUIRE(logs.take({large.job, 1, 9, 3, {}}));
    REQUIRE(logs.take({large.job, 1, 12, 3, {}}));
  };
  StoredLogs followed, alone, forgotten;
  begin(followed);
  for (const Kept& one : large.pieces) REQUIRE(followed.take(one.record));
  CHECK(same(followed.release()->at(large.job), large.log));
  begin(alone);
  const auto lost = alone.release();
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == ErrorCode::log_damaged);
  begin(forgotten);
  REQUIRE(forgotten.take(tombstone(large.job)));
  CHECK(forgotten.release()->empty());
}

TEST_CASE("a job that was forgotten is not there, until it is begun again") {
  const Large large;
  StoredLogs logs;
  for (const Kept& one : large.before) REQUIRE(logs.take(one.record, 1));
  REQUIRE(logs.take(large.pieces[0].record, 2));
  REQUIRE(logs.take(tombstone(large.job), 2));
  CHECK(logs.segments_needed().empty());
  SECTION("for good") { CHECK(logs.release()->empty()); }
  SECTION("begun again") {
    Stored again;
    for (const Kept& one : records_of(large.job, again, Snapshot{0, 0, {{{ProcessId{2}, 2}}, {}}, {}}))
      REQUIRE(logs.take(one.record, 3));
    CHECK(logs.segments_needed().at(large.job) == 3);
    const auto found = logs.release().value();
    CHECK(found.at(large.job).vote == Vote{});
    CHECK(same(found.at(large.job), again));
  }
}

TEST_CASE("what tombstones said is said again by one record, from which on they are not needed") {
  IdSet forgotten;
  StoredLogs logs;
  CHECK_FALSE(logs.forgotten_segment());
  for (const std::uint64_t job : {3u, 4u, 9u}) {
    REQUIRE(logs.take(tombstone(JobId{job}), job));
    forgotten.insert(job);
  }
  CHECK(logs.forgotten() == forgotten);
  CHECK(logs.forgotten_segment() == 3);
  StoredLogs later;
  forgotten_record(forgotten, [&](const log::Record& record) {
    REQUIRE(logs.take(record, 10));
    REQUIRE(later.take(record, 10));
  });
  REQUIRE(later.take(tombstone(JobId{5}), 11));
  CHECK(logs.forgotten_segment() == 10);
  CHECK(later.forgotten_segment() == 10);
  forgotten.insert(5);
  CHECK(later.forgotten() == forgotten);
}
