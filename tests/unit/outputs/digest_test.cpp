// A digest is the same however it is taken.
#include "libdag/outputs/digest.hpp"

#include <catch2/catch.hpp>

using namespace dag;

TEST_CASE("a digest taken in pieces is that of the whole") {
  const std::size_t size = GENERATE(0u, 1u, 9u, 300u, 4096u, 100'001u);
  const std::size_t piece = GENERATE(1u, 7u, 256u, 4096u, 1'000'000u);
  const Blob blob = Blob::make(size, [&](std::byte* to) {
    for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<std::byte>(i * 31 + i / 255);
  });
  DigestInPieces digest(blob);
  std::uint64_t taken = 0;
  std::size_t pieces = 0;
  while (taken == 0) {
    taken = digest.read(piece);
    ++pieces;
  }
  CHECK(taken == digest_of(blob));
  CHECK(pieces == std::max<std::size_t>(1, (size + piece - 1) / piece));
}
