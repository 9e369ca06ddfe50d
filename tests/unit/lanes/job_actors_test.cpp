// Which object of a job actor counts, when several makings of it meet in one process.
#include "actors/lanes/job_actors.hpp"

#include <catch2/catch.hpp>

using namespace dag;

namespace {

int destroyed = 0;
void destroy_thunk(detail::Call& call) {
  ++destroyed;
  delete static_cast<int*>(call.self);
}
const detail::Code destroy{reinterpret_cast<const void*>(destroy_thunk), nullptr};
constexpr JobId job{7};
constexpr AttemptId first{{1, 1}, 5}, second{{1, 1}, 6}, later_home{{1, 2}, 1};

int value(const JobActors& actors, AttemptId generation) {
  const std::shared_ptr<void> object = actors.find(job, 3, generation);
  return object == nullptr ? 0 : *static_cast<int*>(object.get());
}

}  // namespace

TEST_CASE("a call finds the making that it means, or nothing") {
  JobActors actors;
  CHECK(value(actors, first) == 0);
  actors.put(job, 3, first, new int(1), destroy);
  CHECK(value(actors, first) == 1);
  CHECK(value(actors, second) == 0);
  actors.put(job, 3, second, new int(2), destroy);
  CHECK(value(actors, first) == 0);
  CHECK(value(actors, second) == 2);
  actors.put(job, 3, later_home, new int(3), destroy);
  CHECK(value(actors, later_home) == 3);
}

TEST_CASE("an object that is made too late does not replace a newer one") {
  destroyed = 0;
  JobActors actors;
  actors.put(job, 3, second, new int(2), destroy);
  actors.put(job, 3, first, new int(1), destroy);
  CHECK(destroyed == 1);
  CHECK(value(actors, second) == 2);
  actors.forget_job(job);
  CHECK(destroyed == 2);
  CHECK(value(actors, second) == 0);
}
