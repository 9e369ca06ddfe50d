// Sums of what a process holds.
#include "libdag/job/held_outputs.hpp"

#include <catch2/catch.hpp>

using namespace dag;

TEST_CASE(
    "outputs are summed by name: small ones one by one, large ones once for each place where they lie") {
  HeldSum sum;
  const Blob large = Blob::make(1000, [](std::byte*) {});
  sum.add("large", large);
  sum.add("large", large);
  sum.add("large", Blob::make(500, [](std::byte*) {}));
  for (int i = 0; i < 10; ++i) sum.add("small", Blob::make(4, [](std::byte*) {}));
  sum.add("none", Blob());
  CHECK(sum.take() == std::vector<HeldOutputs>{{"large", 2, 1500}, {"small", 10, 40}});
}
