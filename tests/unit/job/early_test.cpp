// Messages of jobs before the jobs are known.

#include "libdag/job/early.hpp"

#include <catch2/catch.hpp>

using namespace dag;

namespace {

constexpr Life peer{{1}, {1}}, other{{2}, {1}};

JobMessage question(JobId job, std::uint32_t slots) { return message::StealRequest{job, slots}; }

std::vector<std::uint32_t> slots(const EarlyMessages::Messages& messages) {
  std::vector<std::uint32_t> all;
  for (const auto& [from, message] : messages) all.push_back(std::get<message::StealRequest>(message).slots);
  return all;
}

}  // namespace

TEST_CASE("what comes early is given back in its order, once") {
  EarlyMessages early;
  for (const std::uint32_t n : {3u, 1u, 2u}) early.hold(n == 1 ? other : peer, question({7}, n));
  early.hold(peer, question({8}, 9));
  const EarlyMessages::Messages messages = early.take({7});
  CHECK(slots(messages) == std::vector<std::uint32_t>{3, 1, 2});
  CHECK(messages[1].first == other);
  CHECK(early.take({7}).empty());
  CHECK(slots(early.take({8})) == std::vector<std::uint32_t>{9});
  CHECK(early.jobs() == 0);
}

TEST_CASE("no message of a job is lost because many came, of it or of jobs that never began") {
  EarlyMessages early;
  for (std::uint32_t n = 0; n < 30'000; ++n) CHECK_FALSE(early.hold(peer, question({1}, n)));
  for (std::uint32_t n = 0; n < 30'000; ++n) CHECK_FALSE(early.hold(peer, question({2}, n)));
  CHECK(early.take({2}).size() == 30'000);
  CHECK(early.take({1}).size() == 30'000);
}

TEST_CASE("what a job is is asked of each of its leaders, once") {
  EarlyMessages early;
  for (const std::uint64_t job : {7u, 8u}) early.hold(peer, question({job}, 1));
  CHECK(early.asks({7}, 2));
  CHECK_FALSE(early.asks({7}, 2));
  CHECK_FALSE(early.asks({7}, 1));  // An older one's word came late.
  CHECK(early.asks({7}, 5));
  CHECK(early.asks({8}, 0));
  CHECK_FALSE(early.asks({8}, 0));
}

TEST_CASE("of too many jobs that nobody begins the one that waits longest is given up") {
  EarlyMessages early;
  for (std::uint64_t job = EarlyMessages::jobs_max; job > 0; --job)
    CHECK_FALSE(early.hold(peer, question({job}, 1)));
  CHECK_FALSE(early.hold(peer, question({3}, 2)));
  CHECK(early.hold(peer, question({EarlyMessages::jobs_max + 1}, 1)) == JobId{EarlyMessages::jobs_max});
  CHECK(early.jobs() == EarlyMessages::jobs_max);
  CHECK(slots(early.take({3})) == std::vector<std::uint32_t>{1, 2});
}
