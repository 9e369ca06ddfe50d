// What a replica wrote is what it finds: by way of records, whatever else the node's log holds.
#include "libdag/consensus/records.hpp"

#include <catch2/catch.hpp>

#include "libdag/base/random.hpp"

using namespace dag;
using namespace dag::consensus;

namespace {

Blob bytes_of(std::uint64_t number) { return Blob(std::as_bytes(std::span(&number, 1))); }

bool same(const Blob& one, const Blob& other) { return std::ranges::equal(one.bytes(), other.bytes()); }
bool same(const Entry& one, const Entry& other) {
  return one.term == other.term && one.type == other.type && same(one.command, other.command) &&
         one.configuration == other.configuration;
}

struct Kept {
  log::Record record;
  std::vector<std::byte> payload;
};
std::vector<Kept> records_of(JobId job, const StoredChange& change) {
  std::vector<Kept> kept;
  each_record(job, change, [&](const log::Record& record) {
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
      logs[JobId{job}].put(Snapshot{0, 0, some_configuration(random), bytes_of(job)});
      for (const Kept& one : records_of(JobId{job}, *logs[JobId{job}].snapshot))
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
      log.put(change);
      for (const Kept& one : records_of(job, change)) REQUIRE(read.take(one.record));
    }
    const std::map<JobId, Stored> found = read.release();
    REQUIRE(found.size() == 3);
    for (const auto& [job, log] : logs) {
      const Stored& other = found.at(job);
      CHECK(other.vote == log.vote);
      CHECK(other.snapshot->index == log.snapshot->index);
      CHECK(other.snapshot->configuration == log.snapshot->configuration);
      CHECK(same(other.snapshot->state, log.snapshot->state));
      REQUIRE(other.entries.size() == log.entries.size());
      for (std::size_t i = 0; i < log.entries.size(); ++i) CHECK(same(other.entries[i], log.entries[i]));
    }
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
  CHECK(refused({job, 1, 1, 3, {}}));   // an entry before any snapshot
  CHECK(refused({job, 1, 0, 4, few}));  // half a vote
  CHECK(refused({job, 1, 0, 5, few}));  // half a snapshot
  CHECK(refused({job, 1, 0, 99, {}}));  // no such kind
  for (const Kept& one : records_of(job, Snapshot{5, 2, some_configuration(random), {}}))
    CHECK(logs.take(one.record));
  CHECK(refused({job, 2, 5, 3, {}}));  // covered by the snapshot
  CHECK(refused({job, 2, 7, 3, {}}));  // with a gap
  CHECK(logs.take({job, 2, 6, 3, {}}));
  for (const Kept& one : records_of(job, Snapshot{3, 1, some_configuration(random), {}}))
    CHECK(refused(one.record));
  CHECK(logs.release().at(job).entries.size() == 1);
}
