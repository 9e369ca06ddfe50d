// Advice about pages changes no memory; growing in large steps keeps the content.

#include "libdag/base/large_pages.hpp"

#include <catch2/catch.hpp>
#include <cstdint>

using namespace dag;

TEST_CASE("make_room: what was there stays, small vectors grow as ever, large ones seldom") {
  std::vector<std::uint32_t> values;
  const std::size_t large = (std::size_t{4} << 20) / sizeof(std::uint32_t);
  int moves = 0;
  for (std::uint32_t i = 0; i < 9'000'000; ++i) {
    const auto before = values.capacity();
    make_room(values);
    values.push_back(i);
    if (values.capacity() == before) continue;
    if (before < large) CHECK(values.capacity() <= large);
    if (before >= large) ++moves;
  }
  CHECK(moves == 2);  // to 8 and to 64 times `large`
  std::uint32_t expected = 0;
  for (const std::uint32_t value : values) REQUIRE(value == expected++);
}

TEST_CASE("large pages: any range may be named, and nothing in or around it changes") {
  std::vector<unsigned char> memory(std::size_t{9} << 20);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<unsigned char>(i * 7 / 5);
  for (const std::size_t from : {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{3} << 20}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{5} << 20}) {
      use_large_pages(memory.data() + from, size);
    }
  }
  std::size_t changed = 0;
  for (std::size_t i = 0; i < memory.size(); ++i)
    changed += memory[i] != static_cast<unsigned char>(i * 7 / 5);
  CHECK(changed == 0);
}
