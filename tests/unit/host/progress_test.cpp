#include "libdag/host/progress.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace std::chrono_literals;

namespace {

/// A node that looks every 100 ms.
struct Looks {
  Progress progress{500ms};
  Instant now{10s};
  void for_a_while(Duration time, Duration late) {
    for (const Instant until = now + time; now < until; now = now + 100ms) progress.look(late, now);
  }
};

}  // namespace

TEST_CASE("who is late again and again is sick within ten seconds, and well as soon after") {
  Looks looks;
  looks.for_a_while(60s, 500ms);  // At most as late as one may be.
  CHECK_FALSE(looks.progress.sick());
  looks.for_a_while(2s, 700ms);
  CHECK_FALSE(looks.progress.sick());
  looks.for_a_while(3s, 700ms);
  CHECK(looks.progress.sick());
  looks.for_a_while(2s, 0ms);
  CHECK(looks.progress.sick());
  looks.for_a_while(3s, 0ms);
  CHECK_FALSE(looks.progress.sick());
}

TEST_CASE("once late in each second is enough, once in a while is not") {
  Looks looks;
  for (int i = 0; i < 5; ++i) {
    looks.for_a_while(900ms, 0ms);
    looks.for_a_while(100ms, 2s);
  }
  CHECK(looks.progress.sick());
  Looks others;
  for (int i = 0; i < 100; ++i) {
    others.for_a_while(1s, 600ms);
    others.for_a_while(3s, 0ms);
  }
  CHECK_FALSE(others.progress.sick());
}

TEST_CASE("a long pause is one accident") {
  Looks looks;
  looks.for_a_while(5s, 0ms);
  looks.now = looks.now + 30s;
  looks.for_a_while(100ms, 30s);
  looks.for_a_while(10s, 0ms);
  CHECK_FALSE(looks.progress.sick());
}
