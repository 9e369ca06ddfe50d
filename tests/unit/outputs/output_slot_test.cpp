// Where a row keeps its output: references are counted, and threads may look while the home clears.
#include "libdag/outputs/output_slot.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "dag/codec.hpp"

using namespace dag;

TEST_CASE("a slot holds what was stored last, or nothing") {
  OutputSlot slot;
  CHECK_FALSE(slot.load());
  slot.store(detail::to_blob(std::uint64_t{5}));
  REQUIRE(slot.load());
  CHECK(detail::from_blob<std::uint64_t>(slot.load()) == 5);
  slot.store(detail::to_blob(std::uint64_t{6}));
  CHECK(detail::from_blob<std::uint64_t>(slot.load()) == 6);
  slot.clear();
  CHECK_FALSE(slot.load());
  slot.clear();
  CHECK_FALSE(slot.load());
}

TEST_CASE("what was loaded outlives the slot and its clearing") {
  Blob copy;
  {
    OutputSlot slot;
    slot.store(detail::to_blob(std::uint64_t{7}));
    copy = slot.load();
    slot.store(detail::to_blob(std::uint64_t{8}));
    CHECK(detail::from_blob<std::uint64_t>(copy) == 7);
  }
  CHECK(detail::from_blob<std::uint64_t>(copy) == 7);
}

TEST_CASE("no bytes are copied") {
  OutputSlot slot;
  const Blob blob = detail::to_blob(std::uint64_t{9});
  slot.store(blob);
  CHECK(slot.load().bytes().data() == blob.bytes().data());
}

TEST_CASE("readers see one of the stored values whole, or nothing, while others store and clear") {
  OutputSlot slot;
  constexpr std::uint64_t rounds = 20'000;
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> wrong{0}, seen{0};
  const auto read = [&] {
    while (!done.load()) {
      const Blob blob = slot.load();
      if (!blob) continue;
      const auto value = detail::from_blob<std::uint64_t>(blob);
      if (value == 0 || value > 2 * rounds) ++wrong;
      ++seen;
    }
  };
  const auto write = [&](std::uint64_t base) {
    for (std::uint64_t i = 1; i <= rounds; ++i) {
      slot.store(detail::to_blob(base + i));
      if (i % 7 == 0) slot.clear();
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) readers.emplace_back(read);
  std::thread first(write, 0), second(write, rounds);
  first.join();
  second.join();
  while (seen.load() == 0) {  // A slow start: there must be something to see.
    slot.store(detail::to_blob(std::uint64_t{1}));
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == 0);
}
