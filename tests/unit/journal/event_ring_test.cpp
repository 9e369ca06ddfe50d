// Records on their way from one thread to another through memory: in their order, none twice, what finds no
// room is counted, and whatever else lies in the memory harms nobody.
#include "libdag/journal/event_ring.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "libdag/base/random.hpp"
#include "libdag/journal/event_bytes.hpp"

using namespace dag;

namespace {

struct Memory {
  explicit Memory(std::size_t size_bytes = 4096) : words((size_bytes + sizeof(Line) - 1) / sizeof(Line)) {
    make_event_ring(bytes());
  }
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::span<std::byte> bytes() { return {words[0].bytes, words.size() * sizeof(Line)}; }
  std::vector<Line> words;
};

JournalEvent ran(std::uint32_t task, std::string error = {}) {
  return {Instant{Duration(task)},
          {{3}, 1},
          {7},
          {0, task},
          {{1, 1}, 1},
          event::Ran{error.empty() ? Outcome::finished : Outcome::failed, Duration(5), error}};
}

/// All that has come, and how many were dropped.
std::uint64_t take(EventRingReader& reader, std::vector<JournalEvent>& into) {
  const std::uint64_t dropped = reader.take([&](std::span<const std::byte> bytes) {
    const auto record = read_record(bytes);
    REQUIRE(record);
    into.push_back(*record);
  });
  reader.done();
  return dropped;
}

}  // namespace

TEST_CASE("that an attempt ran and finished takes 56 bytes, and one that failed what it takes") {
  for (const JournalEvent& record : {ran(7), ran(8, "no")}) {
    Writer bytes;
    write_record(bytes, record);
    const auto& run = std::get<event::Ran>(record.what);
    CHECK((bytes.bytes().size() == 56) == (run.outcome == Outcome::finished && run.error.empty()));
    CHECK(read_record(bytes.bytes()) == record);
    // Which form it has stands before what follows.
    std::vector<std::byte> other(bytes.bytes().begin(), bytes.bytes().end());
    other[44] = std::byte{2};
    CHECK_FALSE(read_record(other));
    other.resize(52);
    CHECK_FALSE(read_record(other));
  }
}

TEST_CASE("records come out as they went in, however they lie at the end of the ring") {
  Memory memory(2048);
  EventRingWriter writer(memory.bytes());
  EventRingReader reader(memory.bytes());
  Random random(1);
  std::vector<JournalEvent> in, out;
  for (std::uint32_t task = 0; task < 10'000; ++task) {
    in.push_back(ran(task, std::string(random.below(200), 'x')));
    writer.put(in.back());
    if (random.chance(0.7)) REQUIRE(take(reader, out) == 0);
    if (in.size() - out.size() > 1) REQUIRE(take(reader, out) == 0);
  }
  CHECK(take(reader, out) == 0);
  CHECK(out == in);
  CHECK_FALSE(reader.broken());
}

TEST_CASE("what finds no room is counted, and what comes later is there") {
  Memory memory(1024);
  EventRingWriter writer(memory.bytes());
  EventRingReader reader(memory.bytes());
  std::uint64_t put = 0, dropped = 0;
  std::vector<JournalEvent> out;
  for (int round = 0; round < 50; ++round) {
    for (std::uint32_t task = 0; task < 20; ++task, ++put) writer.put(ran(task));
    writer.put(ran(99, std::string(5000, 'x')));  // Never fits.
    ++put;
    dropped += take(reader, out);
    CHECK(out.size() + dropped == put);
  }
  CHECK(out.size() > 50 * 5);
  CHECK(dropped > 50 * 5);
  for (const JournalEvent& record : out) CHECK(record.task.index < 20);
}

TEST_CASE("another reader, or writer, goes on where the one before it was") {
  Memory memory;
  std::vector<JournalEvent> out;
  for (std::uint32_t life = 0; life < 100; ++life) {
    EventRingWriter(memory.bytes()).put(ran(life));
    if (life % 3 != 0) continue;
    EventRingReader reader(memory.bytes());
    CHECK(take(reader, out) == 0);
  }
  REQUIRE(out.size() == 100);
  for (std::uint32_t life = 0; life < 100; ++life) CHECK(out[life] == ran(life));
}

TEST_CASE("a reader and a writer on two threads") {
  Memory memory(2048);
  constexpr std::uint32_t tasks = 100'000;
  std::thread writing([&] {
    EventRingWriter writer(memory.bytes());
    for (std::uint32_t task = 0; task < tasks; ++task) writer.put(ran(task));
  });
  EventRingReader reader(memory.bytes());
  std::vector<JournalEvent> out;
  std::uint64_t dropped = 0;
  while (out.size() + dropped < tasks) dropped += take(reader, out);
  writing.join();
  std::uint32_t next = 0;
  for (const JournalEvent& record : out) {
    REQUIRE(record == ran(record.task.index));
    REQUIRE(record.task.index >= next);
    next = record.task.index + 1;
  }
}

TEST_CASE("what a reader took that was killed before it was done is there for the next one") {
  Memory memory(2048);
  EventRingWriter writer(memory.bytes());
  for (std::uint32_t task = 0; task < 5; ++task) writer.put(ran(task));
  {
    EventRingReader killed(memory.bytes());
    std::size_t taken = 0;
    (void)killed.take([&](std::span<const std::byte>) { ++taken; });
    CHECK(taken == 5);
    (void)killed.take([&](std::span<const std::byte>) { ++taken; });
    CHECK(taken == 5);
  }
  std::vector<JournalEvent> records;
  EventRingReader next(memory.bytes());
  (void)take(next, records);
  CHECK(records.size() == 5);
  EventRingReader last(memory.bytes());
  (void)take(last, records);
  CHECK(records.size() == 5);
}

TEST_CASE("a writer that writes what cannot be ends the reading, and nothing else") {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    Random random(seed);
    Memory memory(1024);
    EventRingReader reader(memory.bytes());
    EventRingWriter writer(memory.bytes());
    for (std::uint32_t task = 0; task < 1 + random.below(8); ++task) writer.put(ran(task));
    for (int changes = 0; changes < 3; ++changes) {
      const std::size_t at = random.below(memory.bytes().size() - sizeof(EventRingHead));
      const auto garbage = static_cast<std::uint32_t>(random.next());
      std::memcpy(memory.bytes().data() + sizeof(EventRingHead) + at / 4 * 4, &garbage, sizeof garbage);
    }
    if (random.chance(0.3)) reinterpret_cast<EventRingHead*>(memory.bytes().data())->written += random.next();
    for (int times = 0; times < 2; ++times) {
      (void)reader.take([&](std::span<const std::byte> bytes) {
        REQUIRE(bytes.size() <= memory.bytes().size());
        // A copy: nobody changes it while it is looked at.
        REQUIRE((bytes.data() < memory.bytes().data() ||
                 bytes.data() >= memory.bytes().data() + memory.bytes().size()));
        (void)read_record(bytes);
      });
      reader.done();
    }
  }
  Memory memory;
  std::memset(memory.bytes().data(), 1, 8);
  CHECK_THROWS_AS(EventRingReader(memory.bytes()), Failure);
  CHECK_THROWS_AS(EventRingWriter(memory.bytes()), Failure);
}
