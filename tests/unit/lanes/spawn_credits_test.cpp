// Lanes wait for credit, and for nothing else.
#include "actors/lanes/spawn_credits.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

using namespace dag;

namespace {

constexpr JobId job{7}, other{8};
const auto never = [] { return false; };

/// A lane that takes credit for so much, on a thread of its own.
class Taker {
 public:
  Taker(const std::shared_ptr<SpawnCredits>& credits, SpawnLoad load)
      : thread_([this, credits, load] {
          credit_ = credits->take(
              job, load, [this] { waits_ = true; }, [this] { return stopped_.load(); });
          done_ = true;
        }) {}
  ~Taker() {
    stopped_ = true;
    thread_.join();
  }
  void until_it_waits() const {
    while (!waits_) std::this_thread::yield();
  }
  void until_done() const {
    while (!done_) std::this_thread::yield();
  }
  bool done() const { return done_; }
  void stop() { stopped_ = true; }

 private:
  std::atomic<bool> waits_{false}, done_{false}, stopped_{false};
  std::shared_ptr<const void> credit_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a lane without credit waits until what was told is taken in") {
  const auto credits = std::make_shared<SpawnCredits>(SpawnCredit{10, 1000});
  std::shared_ptr<const void> first;
  SECTION("for tasks") {
    first = credits->take(
        job, {10, 1}, [] {}, never);
  }
  SECTION("for bytes") {
    first = credits->take(
        job, {1, 1000}, [] {}, never);
  }
  SECTION("more than all goes while there is any") {
    first = credits->take(
        job, {1'000'000, 1}, [] {}, never);
  }
  Taker taker(credits, {1, 1});
  taker.until_it_waits();
  CHECK_FALSE(taker.done());
  // Another job has credit of its own.
  CHECK(credits->take(
      other, {1, 1}, [] { FAIL("it need not wait"); }, never));
  first.reset();
  taker.until_done();
  CHECK(credits->in_flight_now(job) == SpawnLoad{1, 1});
}

TEST_CASE("a lane without credit waits until the record has caught up with the homes") {
  const auto credits = std::make_shared<SpawnCredits>(SpawnCredit{10, 1000});
  credits->change(job, {}, {12, 5});
  Taker taker(credits, {1, 1});
  taker.until_it_waits();
  credits->change(job, {12, 5}, {9, 4});
  taker.until_done();
}

TEST_CASE("a lane whose attempt is stopped waits no more") {
  const auto credits = std::make_shared<SpawnCredits>(SpawnCredit{10, 1000});
  credits->change(job, {}, {12, 5});
  Taker taker(credits, {1, 1});
  taker.until_it_waits();
  taker.stop();
  taker.until_done();
}

TEST_CASE("credit that is given back after its lanes are gone harms nobody") {
  auto credits = std::make_shared<SpawnCredits>(SpawnCredit{10, 1000});
  auto taken = credits->take(
      job, {1, 1}, [] {}, never);
  const std::weak_ptr<SpawnCredits> still = credits;
  credits.reset();
  CHECK_FALSE(still.expired());
  taken.reset();
  CHECK(still.expired());
}
