// Bytes of an enemy: whatever arrives, decode gives a value or an Error. Run under ASan to mean anything. The
// fuzzer (tests/fuzz/envelope.cpp) searches further; this one is the same on every machine and every day.
#include <catch2/catch.hpp>

#include "libdag/base/random.hpp"
#include "tests/support/samples.hpp"

using namespace dag;
using namespace dag::wire;

namespace {

std::vector<std::byte> mutated(std::vector<std::byte> bytes, Random& random) {
  for (std::uint64_t left = 1 + random.below(4); left > 0; --left) {
    switch (random.below(6)) {
      case 0:  // A bit.
        bytes[random.below(bytes.size())] ^= std::byte{1} << random.below(8);
        break;
      case 1:  // A byte.
        bytes[random.below(bytes.size())] = static_cast<std::byte>(random.next());
        break;
      case 2: {  // A word: pointers are words.
        const std::size_t at = random.below(bytes.size() / 8) * 8;
        for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<std::byte>(random.next());
        break;
      }
      case 3: {  // A word from elsewhere: pointers that cross or form rings.
        const std::size_t from = random.below(bytes.size() / 8) * 8, to = random.below(bytes.size() / 8) * 8;
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), 8,
                    bytes.begin() + static_cast<std::ptrdiff_t>(to));
        break;
      }
      case 4:  // Cut off; with an honest length half of the time, so that the inside is looked at.
        bytes.resize(std::max<std::size_t>(16, random.below(bytes.size())));
        break;
      default:  // Longer.
        bytes.resize(bytes.size() + random.below(100));
    }
    if (bytes.size() % 8 == 0 && random.chance(0.5)) {
      const auto words = static_cast<std::uint32_t>(bytes.size() / 8 - 1);
      for (std::size_t i = 0; i < 4; ++i) bytes[4 + i] = static_cast<std::byte>(words >> 8 * i);
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("twenty thousand broken frames are values or errors") {
  Random random(20'000);
  std::vector<std::vector<std::byte>> frames;
  std::vector<Operation> together;
  for (auto& sample : samples::all()) {
    const Blob frame =
        *encode(samples::envelope_of({sample.operation}), limits::control_frame_bytes_max, samples::codes());
    frames.emplace_back(frame.bytes().begin(), frame.bytes().end());
    together.push_back(std::move(sample.operation));
  }
  const Blob frame =
      *encode(samples::envelope_of(together), limits::control_frame_bytes_max, samples::codes());
  frames.emplace_back(frame.bytes().begin(), frame.bytes().end());

  int values = 0, errors = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto bytes = mutated(frames[random.below(frames.size())], random);
    auto result = decode(bytes, limits::control_frame_bytes_max, samples::codes());
    result ? ++values : ++errors;
    if (!result) continue;
    // An understood frame can be encoded again, unless it has unknown parts.
    bool known = true;
    for (const Operation& operation : result->operations)
      known &= !std::holds_alternative<Unknown>(operation);
    if (known && result->operations.size() < 100)
      static_cast<void>(encode(*result, limits::control_frame_bytes_max, samples::codes()));
  }
  CHECK(values > 1000);
  CHECK(errors > 1000);
}

TEST_CASE("noise of any length is an error") {
  Random random(7);
  for (int round = 0; round < 5'000; ++round) {
    std::vector<std::byte> bytes(random.below(600));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
    CHECK_FALSE(decode(bytes));
  }
}
