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
  CHECK_FALSE(slot.on_heap());
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

TEST_CASE("no bytes are copied, but for those that fit into a word") {
  OutputSlot slot;
  const Blob blob = detail::to_blob(std::string("more than a word"));
  slot.store(blob);
  CHECK(slot.load().bytes().data() == blob.bytes().data());
  slot.store(detail::to_blob(std::uint64_t{9}));
  const Blob small = slot.load();
  CHECK_FALSE(small.on_heap());
  CHECK(small.bytes().data() == reinterpret_cast<const std::byte*>(&small));
}

TEST_CASE("a Blob of any size holds its bytes, and one without bytes is not nothing") {
  for (std::size_t size = 0; size <= 20; ++size) {
    const std::string bytes(size, 'x');
    const Blob blob(std::as_bytes(std::span(bytes)));
    CHECK(blob);
    CHECK(blob.on_heap() == (size > Blob::inline_bytes_max));
    CHECK(blob.size_bytes() == size);
    Blob copy = blob;
    const Blob moved = std::move(copy);
    CHECK(moved.same_bytes(blob));
    CHECK_FALSE(copy);
    OutputSlot slot;
    slot.store(moved);
    CHECK(slot.on_heap() == blob.on_heap());
    CHECK(slot.load().same_bytes(blob));
    CHECK(std::memcmp(slot.load().bytes().data(), bytes.data(), size) == 0);
  }
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
      std::uint64_t value = 0;
      if (blob.on_heap()) {
        const auto both = detail::from_blob<std::array<std::uint64_t, 2>>(blob);
        value = both[0] == both[1] ? both[0] : 0;
      } else {
        value = detail::from_blob<std::uint64_t>(blob);
      }
      if (value == 0 || value > 2 * rounds) ++wrong;
      ++seen;
    }
  };
  const auto write = [&](std::uint64_t base) {
    for (std::uint64_t i = 1; i <= rounds; ++i) {
      if (i % 2 == 0) {
        slot.store(detail::to_blob(base + i));
      } else {
        slot.store(detail::to_blob(std::array<std::uint64_t, 2>{base + i, base + i}));
      }
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

TEST_CASE("a Blob is its own bytes, as an output and inside of one") {
  const Blob blob = detail::to_blob(std::string("some bytes"));
  CHECK(detail::to_blob(blob).bytes().data() == blob.bytes().data());
  CHECK(detail::from_blob<Blob>(blob).bytes().data() == blob.bytes().data());
  CHECK(detail::to_blob(Blob()));  // An output is never nothing.
  using Inside = std::pair<Blob, std::optional<Blob>>;
  const Inside inside{blob, Blob()};
  const Inside back = detail::from_blob<Inside>(detail::to_blob(inside));
  CHECK(back.first.same_bytes(blob));
  REQUIRE(back.second);
  CHECK_FALSE(*back.second);
}

TEMPLATE_TEST_CASE("a vector is encoded by one copy to the bytes that any writer would write", "",
                   std::uint8_t, double, long double) {
  for (const std::size_t count : {0u, 1u, 3u, 100u}) {
    std::vector<TestType> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<TestType>(i));
    Writer writer;
    dag::encode(writer, values);
    CHECK(detail::to_blob(values).size_bytes() == writer.bytes().size());
    CHECK(detail::from_blob<std::vector<TestType>>(detail::to_blob(values)) == values);
    CHECK(detail::from_blob<std::vector<TestType>>(Blob(writer.bytes())) == values);
  }
}
