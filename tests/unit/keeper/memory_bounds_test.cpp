// Whether there is memory for a job, decided from numbers alone.
#include "libdag/keeper/memory_bounds.hpp"

#include <catch2/catch.hpp>

#include "dag/dag.hpp"
#include "libdag/keeper/admission.hpp"
#include "libdag/membership/claim.hpp"

using namespace dag;

namespace {

constexpr std::uint64_t mebi = 1 << 20;

MemoryBound bound(std::uint64_t limit, std::uint64_t used) { return {"this machine's memory", limit, used}; }

}  // namespace

TEST_CASE("the tightest limit says how much memory is left, less what is kept free") {
  CHECK(memory_left({bound(3200 * mebi, 1000 * mebi)}) == 2100 * mebi);
  CHECK(memory_left({bound(3200 * mebi, 1000 * mebi), bound(1600 * mebi, 0)}) == 1550 * mebi);
  CHECK(memory_left({bound(64 * 1024 * mebi, 0)}) == (64 * 1024 - 256) * mebi);  // never keeps more
  CHECK(memory_left({bound(3200 * mebi, 3150 * mebi)}) == 0);
}

TEST_CASE("a process without limits has room for everything") {
  CHECK(fits({}, std::uint64_t{1} << 60));
  CHECK_FALSE(refusal({}, std::uint64_t{1} << 60));
  CHECK_FALSE(shortage({}));
}

TEST_CASE("what does not fit is refused with the limit that it meets") {
  const std::vector<MemoryBound> bounds{bound(3200 * mebi, 1000 * mebi)};
  CHECK_FALSE(refusal(bounds, 2100 * mebi));
  const auto why = refusal(bounds, 2101 * mebi);
  REQUIRE(why);
  CHECK(why->code == ErrorCode::memory_exhausted);
  CHECK(why->what ==
        "the job needs at least 2.1 GiB, and 2.1 GiB of the 3.1 GiB of this machine's memory are free");
}

TEST_CASE("memory is short when only what is kept free is left") {
  CHECK_FALSE(shortage({bound(3200 * mebi, 3099 * mebi)}));
  const auto why = shortage({bound(3200 * mebi, 3100 * mebi)});
  REQUIRE(why);
  CHECK(why->code == ErrorCode::memory_exhausted);
}

TEST_CASE("a family takes as much as tasks that are written out, since both are rows") {
  Graph written("written"), family("family");
  for (int i = 0; i < 1000; ++i) written.task("one", [] { return 1; });
  family.family("many", Range{1, 1000}, [](Point) { return 1; }, {});
  const JobMemory one_by_one = memory_of_job(*written.builder().seal());
  const JobMemory at_once = memory_of_job(*family.builder().seal());
  CHECK(one_by_one.least == 64'000);
  CHECK(at_once.least == one_by_one.least);
  CHECK(one_by_one.most == at_once.most);
}

TEST_CASE("a graph whose rows alone are more than the memory of all nodes is not admitted") {
  LoadSummary load;
  load.devices.push_back({"cpu", 2, 2, 100'000, 100'000, Duration{0}});
  Graph graph("large");
  for (int i = 0; i < 2000; ++i) graph.task("one", [] { return 1; });
  const auto fragment = graph.builder().seal();
  const Status refused = admit(*fragment, {devices_of(ProcessId{1}, load)});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::memory_exhausted);
  CHECK(admit(*fragment, {devices_of(ProcessId{1}, load), devices_of(ProcessId{2}, load)}));
}
