// Binaries of jobs: which go, and when.

#include "libdag/host/program_shelf.hpp"

#include <catch2/catch.hpp>

#include "libdag/base/random.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

constexpr Instant at(Duration since_start) { return Instant{since_start}; }
constexpr ProgramId program(std::uint64_t n, std::uint64_t size_bytes = 100) { return {n, n, size_bytes}; }
using Gone = std::vector<ProgramId>;

}  // namespace

TEST_CASE("room is made by what was needed longest ago, and no more of it than is wanted") {
  ProgramShelf shelf(300);
  for (const std::uint64_t n : {2u, 1u, 3u}) shelf.use(program(n), at(1s * n));
  CHECK(shelf.make_room(0, {}, at(20min)).empty());
  CHECK(shelf.make_room(100, {}, at(20min)) == Gone{program(1)});
  CHECK(shelf.make_room(200, {}, at(20min)) == Gone{program(2)});
  CHECK(shelf.has(program(3)));
}

TEST_CASE("what a job needs stays, however old it is, and counts as needed until then") {
  ProgramShelf shelf(200);
  shelf.use(program(1), at(0s));
  shelf.use(program(2), at(1min));
  CHECK(shelf.make_room(200, {program(1)}, at(24h)) == Gone{program(2)});
  CHECK(shelf.make_room(200, {}, at(24h + 9min)).empty());  // Its job has just ended.
  CHECK(shelf.make_room(200, {}, at(24h + 10min)) == Gone{program(1)});
}

TEST_CASE("what another node was told is here stays for a while, even where room is needed") {
  ProgramShelf shelf(100);
  shelf.use(program(1), at(0s));
  CHECK(shelf.make_room(100, {}, at(ProgramShelf::held_for - 1s)).empty());
  shelf.use(program(1), at(ProgramShelf::held_for - 1s));
  CHECK(shelf.make_room(100, {}, at(ProgramShelf::held_for)).empty());
}

TEST_CASE("what nobody has needed for an hour goes unasked") {
  ProgramShelf shelf(1'000'000);
  shelf.use(program(1), at(0s));
  shelf.use(program(2), at(5min));
  CHECK(shelf.make_room(0, {}, at(59min)).empty());
  CHECK(shelf.make_room(0, {}, at(60min)) == Gone{program(1)});
  CHECK(shelf.make_room(0, {}, at(66min)) == Gone{program(2)});
}

TEST_CASE("a node that gets a new binary each minute for days refuses none and loses none in use") {
  Random random(7);
  ProgramShelf shelf(3'000);
  std::map<ProgramId, Instant> open_until;
  for (std::uint64_t n = 1; n < 5'000; ++n) {
    const Instant now = at(1min * n);
    std::erase_if(open_until, [&](const auto& job) { return job.second <= now; });
    std::set<ProgramId> needed;
    for (const auto& [one, until] : open_until) needed.insert(one);
    for (const ProgramId gone : shelf.make_room(100, needed, now)) REQUIRE_FALSE(needed.contains(gone));
    shelf.use(program(n), now);
    std::uint64_t taken = 0;
    for (std::uint64_t m = 1; m <= n; ++m) taken += shelf.has(program(m)) ? 100 : 0;
    REQUIRE(taken <= 3'000);
    for (const auto& [one, until] : open_until) REQUIRE(shelf.has(one));
    if (open_until.size() < 10) open_until[program(n)] = now + 1min * (1 + random.below(300));
  }
}
