#include "libdag/ring/ring.hpp"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "libdag/base/random.hpp"
#include "libdag/ring/offer.hpp"

using namespace dag;
using namespace dag::ring;

namespace {

struct Ring {
  Positions<std::atomic> positions;
  std::vector<std::atomic<std::uint64_t>> words;
  explicit Ring(std::uint64_t capacity_bytes) : words(capacity_bytes / word_bytes) {}
  View<std::atomic> view() { return {&positions, words.data(), words.size() * word_bytes}; }
};

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string text_in(const Record& record) {
  return {reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size()};
}

std::uint64_t head_word(std::uint32_t size_bytes, std::uint16_t zero = 0) {
  return std::bit_cast<std::uint64_t>(RecordHead{size_bytes, 1, zero});
}

}  // namespace

TEST_CASE("records of all sizes come out as they went in, however they lie in the ring") {
  Ring ring(256);
  RingWriter<std::atomic> writer(ring.view());
  RingReader<std::atomic> reader(ring.view());
  for (std::size_t round = 0; round < 200; ++round) {
    const std::size_t size = round % (record_bytes_max(256) + 1);
    std::string text(size, 'a');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (round + i) % 26);
    const std::size_t cut = size / 16 * 8;  // A head of whole words, then a value.
    REQUIRE(writer.write(static_cast<std::uint16_t>(round), bytes_of(text).first(cut),
                         bytes_of(text).subspan(cut)) == Wrote::written);
    Record record;
    REQUIRE(reader.take(record) == Took::empty);  // Not before it is published.
    REQUIRE(writer.publish());
    REQUIRE_FALSE(writer.publish());
    REQUIRE(reader.has_news());
    REQUIRE(reader.take(record) == Took::record);
    REQUIRE(record.kind == round);
    REQUIRE(text_in(record) == text);
    REQUIRE(reader.take(record) == Took::empty);
    REQUIRE_FALSE(reader.has_news());
    REQUIRE_FALSE(reader.release());
  }
}

TEST_CASE("a ring whose reader stops takes what it holds and no more; what was written stays") {
  Ring ring(1024);
  RingWriter<std::atomic> writer(ring.view());
  RingReader<std::atomic> reader(ring.view());
  const std::string text(24, 'x');
  std::size_t written = 0;
  while (writer.write(1, bytes_of(text)) == Wrote::written) ++written;
  CHECK(written == 1024 / 32);
  CHECK(writer.write(1, bytes_of(text)) == Wrote::full);
  writer.publish();
  CHECK_FALSE(writer.want_space());
  Record record;
  for (std::size_t i = 0; i < written; ++i) REQUIRE(reader.take(record) == Took::record);
  CHECK(writer.write(1, bytes_of(text)) == Wrote::full);  // Taken, not released yet.
  CHECK(reader.release());                                // The writer waits, and is to be rung ...
  CHECK_FALSE(reader.release());                          // ... once.
  CHECK(writer.write(1, bytes_of(text)) == Wrote::written);
  writer.publish();
  CHECK(reader.take(record) == Took::record);
  CHECK_FALSE(reader.release());
}

TEST_CASE("a reader that has moved meanwhile is seen by who wants space") {
  Ring ring(64);
  RingWriter<std::atomic> writer(ring.view());
  RingReader<std::atomic> reader(ring.view());
  while (writer.write(1, bytes_of("12345678")) == Wrote::written) {
  }
  writer.publish();
  Record record;
  REQUIRE(reader.take(record) == Took::record);
  reader.release();
  CHECK(writer.want_space());
}

TEST_CASE("what no writer may write breaks the ring for its reader, for good") {
  Ring ring(256);
  RingReader<std::atomic> reader(ring.view());
  Record record;
  const auto [what, tail, head] = GENERATE(table<std::string, std::uint64_t, std::uint64_t>({
      {"nothing was written", 8, 0},
      {"smaller than its head", 8, head_word(7)},
      {"longer than what was published", 16, head_word(17)},
      {"longer than a record may be", 256, head_word(256 / 2 + 1)},
      {"far longer", 256, head_word(0xffff'ffff)},
      {"bits that have no meaning", 16, head_word(16, 1)},
      {"a tail beyond the capacity", 256 + 8, head_word(8)},
      {"a tail inside of a word", 12, head_word(8)},
      {"a tail before the beginning", ~std::uint64_t{0} - 7, head_word(8)},
  }));
  CAPTURE(what);
  ring.words[0] = head;
  ring.positions.tail = tail;
  CHECK(reader.take(record) == Took::broken);
  ring.words[0] = head_word(8);
  ring.positions.tail = 8;
  CHECK(reader.take(record) == Took::broken);
}

TEST_CASE("a tail that goes back breaks the ring") {
  Ring ring(256);
  RingWriter<std::atomic> writer(ring.view());
  RingReader<std::atomic> reader(ring.view());
  for (int i = 0; i < 3; ++i) writer.write(1, {});
  writer.publish();
  Record record;
  for (int i = 0; i < 3; ++i) REQUIRE(reader.take(record) == Took::record);
  ring.positions.tail = 16;
  CHECK(reader.take(record) == Took::broken);
}

TEST_CASE("what no reader may say breaks the ring for its writer, for good") {
  Ring ring(64);
  RingWriter<std::atomic> writer(ring.view());
  while (writer.write(1, {}) == Wrote::written) {
  }
  writer.publish();
  ring.positions.head = 8;
  REQUIRE(writer.write(1, {}) == Wrote::written);
  const auto [what, head] = GENERATE(table<std::string, std::uint64_t>({
      {"more than was published", 64 + 8},
      {"going back", 0},
      {"inside of a word", 12},
      {"far away", ~std::uint64_t{0} - 7},
  }));
  CAPTURE(what);
  ring.positions.head = head;
  CHECK(writer.write(1, {}) == Wrote::broken);
  ring.positions.head = 64;
  CHECK(writer.broken());
}

TEST_CASE("two threads: a million records arrive whole and in order") {
  Ring ring(4096);
  constexpr std::uint64_t count = 1'000'000;
  std::atomic<bool> writer_said_broken{false};
  std::thread thread([&] {
    RingWriter<std::atomic> writer(ring.view());
    Random random(1);
    std::array<std::uint64_t, 16> payload;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t words = 1 + i % payload.size();
      for (std::size_t w = 0; w < words; ++w) payload[w] = i;
      Wrote wrote;
      while ((wrote = writer.write(static_cast<std::uint16_t>(words),
                                   std::as_bytes(std::span(payload).first(words)))) == Wrote::full) {
        writer.publish();
        std::this_thread::yield();
      }
      if (wrote == Wrote::broken) {
        writer_said_broken = true;
        return;
      }
      if (random.below(8) == 0 || i + 1 == count) writer.publish();
    }
  });
  RingReader<std::atomic> reader(ring.view());
  std::uint64_t next = 0;
  std::uint64_t wrong = 0;
  Took took = Took::empty;
  while (next < count && (took != Took::broken)) {
    Record record;
    while ((took = reader.take(record)) == Took::record) {
      std::array<std::uint64_t, 16> payload;
      std::memcpy(payload.data(), record.bytes.data(), record.bytes.size());
      if (record.bytes.size() != word_bytes * record.kind || record.kind != 1 + next % payload.size())
        ++wrong;
      for (std::size_t w = 0; w < record.kind; ++w) wrong += payload[w] != next ? 1u : 0u;
      ++next;
    }
    reader.release();
    if (took == Took::empty) std::this_thread::yield();
  }
  thread.join();
  CHECK(next == count);
  CHECK(wrong == 0);
  CHECK_FALSE(writer_said_broken);
}

TEST_CASE("a peer that scribbles over all of the memory breaks the ring and nothing else") {
  // Real memory, so that a step outside of it is a fault.
  std::size_t broken_readers = 0;
  std::size_t broken_writers = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Result<RingMemory> memory = RingMemory::create(seed, 4096);
    REQUIRE(memory);
    const View<std::atomic> view = memory->view();
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> scribbles{0};
    std::thread scribbler([&] {
      Random random(seed);
      while (!stop) {
        const std::uint64_t small = random.below(1024) * (random.below(4) == 0 ? 1 : 8);
        const std::uint64_t value = random.below(3) == 0 ? random.next() : small;
        switch (random.below(seed % 2 == 0 ? 16 : 1000)) {
          case 0:
            view.positions->tail = value;
            break;
          case 1:
            view.positions->head = value;
            break;
          case 2:
            view.positions->writer_waits = static_cast<std::uint32_t>(value);
            break;
          default:
            view.words[random.below(view.capacity_bytes / word_bytes)] = value;
        }
        ++scribbles;
      }
    });
    RingWriter<std::atomic> writer(view);
    RingReader<std::atomic> reader(view);
    const std::string text(200, 'x');
    std::uint64_t sum = 0;
    bool reads = true;
    bool writes = true;
    for (std::size_t round = 0; (reads || writes) && (round < 20'000 || scribbles < 1000); ++round) {
      if (writes) writes = writer.write(1, bytes_of(text).first(round % 201)) != Wrote::broken;
      writer.publish();
      Record record;
      Took took = Took::empty;
      while (reads && (took = reader.take(record)) == Took::record) {
        for (const std::byte byte : record.bytes) sum += static_cast<std::uint64_t>(byte);
      }
      if (took == Took::broken) reads = false;
      reader.release();
    }
    stop = true;
    scribbler.join();
    CHECK(sum + 1 > 0);
    broken_readers += reads ? 0u : 1u;
    broken_writers += writes ? 0u : 1u;
  }
  CHECK(broken_readers > 0);
  CHECK(broken_writers > 0);
}
