// Memory cost of an ended job while its handle is kept.

#include <malloc.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <dag/dag.hpp>
#include <thread>
#include <vector>

#include "tests/support/test_session.hpp"

namespace {

std::size_t bytes_in_use() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

}  // namespace

TEST_CASE("a kept handle of a job that has ended costs its result, its graph and little more") {
  dag::test::TestSession session(false);
  constexpr int first = 200, jobs = 2000;
  std::vector<dag::Job> kept;
  const auto submit = [&](int more) {
    for (int i = 0; i < more; ++i) {
      dag::Graph graph("small");
      const auto one = graph.task("one", [] { return 1; });
      kept.push_back(session->submit(graph));
      kept.back().wait();
      if (i % 100 == 0) CHECK(kept.back().get(one) == 1);
    }
  };
  kept.reserve(first + jobs);
  submit(first);  // Buffers that grow once have grown.
  const std::size_t before = bytes_in_use();
  submit(jobs);
  // Releases that are under way take a moment.
  constexpr double most = 3072;  // 67 KiB when its actors stayed.
  double each = 1e9;
  for (int tries = 0; tries < 1'000'000 && each > most; ++tries) {
    std::this_thread::yield();
    each = static_cast<double>(bytes_in_use() - before) / jobs;
  }
  CHECK(each < most);
}
