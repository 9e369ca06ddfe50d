#include "nodes/process/refreshed.hpp"

#include <catch2/catch.hpp>

namespace dag {
namespace {

using namespace std::chrono_literals;

TEST_CASE("refreshed: what is asked for twenty times a second is read once a second") {
  int reads = 0;
  Refreshed<int> memory(1s, [&reads] { return ++reads; });
  Instant now;
  for (int asked = 0; asked < 200; ++asked, now = now + 50ms) CHECK(memory.at(now) == asked / 20 + 1);
  CHECK(reads == 10);
}

}  // namespace
}  // namespace dag
