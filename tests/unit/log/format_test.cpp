// Torn and damaged logs: what is read is always the beginning of what was written, and what was on the disk
// before the last batch is never lost without a word.
#include "tests/unit/log/log_world.hpp"

using namespace dag;
using namespace dag::log;
using namespace dag::log::test;

TEST_CASE("what was written is read, over several segments, and the log goes on behind it") {
  Written log(100);
  REQUIRE(log.segments.size() > 2);
  const Read first = read(log.segments);
  CHECK_FALSE(first.damaged);
  CHECK(first.records == log.said_all);
  CHECK(first.end == log.machine.position());

  LogMachine later(identity, Written::options(), first.end);
  std::vector<Said> all = log.said_all;
  for (std::uint64_t index = 101; index <= 150; ++index) {
    all.push_back(said(index, 40));
    later.append(record_of(all.back()));
    while (const auto batch = later.next_batch()) {
      write(log.segments, *batch, Written::segment_bytes);
      later.on_written();
    }
  }
  const Read second = read(log.segments);
  CHECK_FALSE(second.damaged);
  CHECK(second.records == all);
}

TEST_CASE("torn at every byte of the last three records") {
  Written log(60);
  // The last three in a batch of their own, and each in one.
  const bool apart = GENERATE(false, true);
  std::vector<Batch> batches;
  const Position before = log.machine.position();
  const std::size_t records_before = log.said_all.size();
  for (std::uint64_t index = 61; index <= 63; ++index) {
    log.said_all.push_back(said(index, 50 + index % 7));
    log.machine.append(record_of(log.said_all.back()));
    if (!apart && index < 63) continue;
    while (const auto batch = log.machine.next_batch()) {
      batches.push_back(*batch);
      log.machine.on_written();
    }
  }
  REQUIRE(batches.size() == (apart ? 3 : 1));
  const Segments clean = log.segments;
  std::vector<std::byte> tail;
  for (const Batch& batch : batches) {
    REQUIRE(batch.segment == before.segment);  // Else the test asks something else.
    tail.insert(tail.end(), batch.bytes.begin(), batch.bytes.end());
  }
  for (const bool garbage : {false, true}) {
    for (std::size_t cut = 0; cut <= tail.size(); ++cut) {
      Segments torn = clean;
      std::vector<std::byte> bytes(tail.begin(), tail.begin() + static_cast<std::ptrdiff_t>(cut));
      if (garbage) bytes.resize(tail.size(), std::byte{0xA5});
      write(torn, {before.segment, before.offset, bytes}, Written::segment_bytes);
      const Read result = read(torn);
      CHECK_FALSE(result.damaged);
      check_prefix(result.records, log.said_all);
      CHECK(result.records.size() >= records_before);
      CHECK((cut == tail.size()) == (result.records.size() == log.said_all.size()));
    }
  }
}

TEST_CASE("pages of the last batch that reached the disk in another order") {
  Random random(GENERATE(range(0u, 300u)));
  Written log(40);
  std::vector<std::byte> batch_bytes;
  const Position before = log.machine.position();
  for (std::uint64_t index = 41; index <= 60; ++index) {
    log.said_all.push_back(said(index, random.below(60)));
    log.machine.append(record_of(log.said_all.back()));
  }
  const Batch batch = log.machine.next_batch().value();
  Segments crashed = log.segments;
  auto& bytes = crashed[batch.segment];
  bytes.resize(Written::segment_bytes);
  // In blocks of 64 bytes, so that there are many.
  constexpr std::size_t block = 64;
  for (std::size_t at = 0; at < batch.bytes.size(); at += block) {
    if (random.chance(0.3)) continue;
    const std::size_t size = std::min(block, batch.bytes.size() - at);
    std::copy_n(batch.bytes.begin() + static_cast<std::ptrdiff_t>(at), size,
                bytes.begin() + static_cast<std::ptrdiff_t>(batch.offset + at));
  }
  const Read result = read(crashed);
  CHECK_FALSE(result.damaged);
  check_prefix(result.records, log.said_all);
  CHECK(result.records.size() >= 40);

  // The log goes on over what is left of it, and that does not come back.
  LogMachine later(identity, Written::options(), result.end.segment == 0 ? before : result.end);
  std::vector<Said> all = result.records;
  all.push_back(said(1000, 30));
  later.append(record_of(all.back()));
  write(crashed, later.next_batch().value(), Written::segment_bytes);
  const Read again = read(crashed);
  CHECK_FALSE(again.damaged);
  CHECK(again.records == all);
}

TEST_CASE("100,000 flipped bits: damage before the last batch is seen, and nothing wrong is ever read") {
  Written log(90);
  Random random(1);
  std::uint64_t seen = 0, cut = 0, harmless = 0;
  for (int flip = 0; flip < 100'000; ++flip) {
    auto segment = log.segments.begin();
    std::advance(segment, static_cast<std::ptrdiff_t>(random.below(log.segments.size())));
    const std::size_t at = random.below(segment->second.size());
    const auto bit = static_cast<std::byte>(1u << random.below(8));
    segment->second[at] ^= bit;
    const Read result = read(log.segments);
    check_prefix(result.records, log.said_all);
    if (result.damaged) {
      ++seen;
    } else if (result.records.size() < log.said_all.size()) {
      CHECK(result.records.size() >= log.before_last);  // As if it had been torn.
      ++cut;
    } else {
      ++harmless;  // Where nothing lies.
    }
    segment->second[at] ^= bit;
  }
  CHECK(seen > 20'000);
  CHECK(cut > 0);
  CHECK(harmless > 0);
}

TEST_CASE("a segment that is missing, of another log, or behind lost records is damage") {
  Written log(100);
  REQUIRE(log.segments.size() >= 4);
  SECTION("missing") { log.segments.erase(2); }
  SECTION("of another disk") {
    Written other(100);
    auto bytes = encode_head({0xA, 0xC, 2, 0});
    std::copy(bytes.begin(), bytes.end(), log.segments[2].begin());
  }
  SECTION("its records gone, as if it had been torn there") {
    std::fill(log.segments[2].begin() + head_bytes, log.segments[2].end(), std::byte{0});
  }
  CHECK(read(log.segments).damaged);
}

TEST_CASE("what was left in a file that is used again is not read") {
  Written old(100);
  Written fresh(0);
  Segments segments;
  segments[1] = old.segments[2];  // Full of good records, of another segment.
  fresh.machine.append(record_of(said(1, 20)));
  write(segments, fresh.machine.next_batch().value(), Written::segment_bytes);
  const Read result = read(segments);
  CHECK_FALSE(result.damaged);
  CHECK(result.records == std::vector{said(1, 20)});
}

TEST_CASE("two batches that were torn at one place do not make a record together") {
  Written log(20);
  const Position at = log.machine.position();
  const Said first = said(21, 40), second = said(22, 40);
  std::vector<std::byte> one, other;
  Position end = at, other_end = at;
  encode(record_of(first), at.offset, end, one);
  encode(record_of(second), at.offset, other_end, other);
  REQUIRE(one.size() == other.size());
  const std::size_t head = one.size() - record_bytes(40) + record_overhead_bytes - sizeof(std::uint64_t);
  std::copy(other.begin() + static_cast<std::ptrdiff_t>(head), other.end(),
            one.begin() + static_cast<std::ptrdiff_t>(head));
  write(log.segments, {at.segment, at.offset, one}, Written::segment_bytes);
  const Read found = read(log.segments);
  CHECK_FALSE(found.damaged);
  CHECK(found.records == log.said_all);
  CHECK(found.end == at);
}
