// What a job that has ended costs when its handle is kept.

#include <malloc.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <dag/dag.hpp>
#include <vector>

namespace {

std::size_t bytes_in_use() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

}  // namespace

TEST_CASE("a kept handle of a job that has ended costs less than 1 KiB beside its output") {
  dag::Session session;
  constexpr int first = 200, jobs = 2000;
  std::vector<dag::Job> kept;
  std::vector<dag::Output<int>> outputs;
  const auto submit = [&](int count) {
    for (int i = 0; i < count; ++i) {
      dag::Graph graph("small");
      outputs.push_back(graph.task("one", [] { return 1; }));
      kept.push_back(session.submit(graph));
      kept.back().wait();
    }
  };
  kept.reserve(first + jobs);
  outputs.reserve(first + jobs);
  submit(first);  // What grows once has grown.
  const std::size_t before = bytes_in_use();
  submit(jobs);
  // What is on its way to be released takes a moment.
  double each = 1e9;
  for (int tries = 0; tries < 1000 && each > 1024; ++tries) {
    usleep(10'000);
    each = static_cast<double>(bytes_in_use() - before) / jobs;
  }
  CHECK(each < 1024);
  for (std::size_t i = 0; i < kept.size(); i += 100) CHECK(kept[i].get(outputs[i]) == 1);
}
