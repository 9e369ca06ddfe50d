// A client's knowledge of its job, and the calls that wait for it.
#include "libdag/client/job_state.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>

#include "dag/session.hpp"
#include "libdag/client/client.hpp"

using namespace dag;

namespace {

/// Counts what it is asked.
class Asked final : public detail::Client {
 public:
  Status submit(std::shared_ptr<const detail::Fragment>, std::shared_ptr<detail::JobState>) override {
    return Done{};
  }
  void want(JobId, std::uint32_t task) override { ++wants[task]; }
  void cancel(JobId) override {}
  void forget(JobId) override {}
  void on_event(std::function<void(const JobEvent&)>) override {}

  std::map<std::uint32_t, int> wants;
};

}  // namespace

TEST_CASE("outputs come as they are settled, and each is asked for once, however many there are") {
  Asked client;
  const auto job = std::make_shared<detail::JobState>();
  job->client = &client;
  std::vector<std::uint32_t> tasks(2000);
  std::iota(tasks.begin(), tasks.end(), 10u);
  tasks.push_back(12);  // Twice.
  detail::InOrderOfEnds ends(job, tasks);
  CHECK(client.wants.size() == 2000);
  job->settle(5, {});  // Another caller waits for this one.
  std::vector<std::size_t> places;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    job->settle(2009 - i, {});
    places.push_back(*ends.next());
    if (2009 - i == 12) places.push_back(*ends.next());
    if (i == 100) job->wait_for(2009);
  }
  CHECK_FALSE(ends.next());
  CHECK(places.size() == tasks.size());
  CHECK(std::erase(places, std::size_t{2000}) == 1);
  CHECK(std::is_sorted(places.rbegin(), places.rend()));
  for (const auto& [task, times] : client.wants) CHECK(times == 1);
}

TEST_CASE("who waits for more than there will ever be is told so, after what there was") {
  Asked client;
  const auto job = std::make_shared<detail::JobState>();
  job->client = &client;
  detail::InOrderOfEnds ends(job, {1, 2});
  job->settle(2, {});
  job->lose({ErrorCode::cluster_lost, "gone"});
  CHECK(ends.next() == 1u);
  CHECK_THROWS_AS(ends.next(), Failure);
}

TEST_CASE("who waits for an output may say for how long, and ask again later") {
  Asked client;
  const auto job = std::make_shared<detail::JobState>();
  job->client = &client;
  CHECK_FALSE(job->wait_for(3, Duration(0)));
  CHECK_FALSE(job->wait_for(3, std::chrono::microseconds(1)));
  CHECK(client.wants == std::map<std::uint32_t, int>{{3, 1}});
  job->settle(3, {Outcome::failed, {}, {}});
  CHECK(job->wait_for(3, Duration(0))->outcome == Outcome::failed);
  CHECK(job->wait_for(3)->outcome == Outcome::failed);
  job->lose({ErrorCode::cluster_lost, "gone"});
  CHECK(job->wait_for(3, Duration(0)));
  CHECK_THROWS_AS(job->wait_for(4, Duration(0)), Failure);
}
