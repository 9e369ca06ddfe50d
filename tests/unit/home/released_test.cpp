// A client that asks late for what a task has left: it gets that, or is refused, and nothing runs for it.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;

namespace {

/// `read` reads what `made` left. Home at process 1, attempts run at 2; values are too large for records.
struct Read {
  Read() {
    made = graph.task("made"), read = graph.task("read", {made});
    const auto leave = [](const KernelCall&) {
      AttemptEnd ended;
      ended.output =
          Blob::make_on_heap(size_bytes, [](std::byte* to) { std::fill_n(to, size_bytes, std::byte{}); });
      return ended;
    };
    script.special = {{"made", leave}, {"read", leave}};
    options = home_at_1(Representation::supervised);
    options.processes = 3;
    options.place = 2;
    options.inline_bytes_max = 0;
    options.released_bytes_max = 0;
  }
  static constexpr std::size_t size_bytes = 1000;
  Names graph;
  TaskId made, read;
  Script script;
  LocalJobOptions options;
};

}  // namespace

TEST_CASE("nothing runs again for a client that asks for what was released") {
  Read some;
  const bool kept = GENERATE(false, true), room = GENERATE(false, true);
  if (kept) some.graph.policy(some.made, [](Policy& policy) { policy.keep = true; });
  if (room) some.options.released_bytes_max = Read::size_bytes;
  LocalJob job(some.graph.builder.sealed(), some.script.kernel(), some.options);
  job.run();
  job.settle_down();
  job.fetch(some.made);
  job.run_until([&] { return job.brought.contains(some.made); });
  const auto& brought = job.brought.at(some.made);
  CHECK(job.runs("made") == 1);
  if (kept || room) {
    CHECK_FALSE(brought.lost);
    CHECK(brought.bytes.size_bytes() == Read::size_bytes);
  } else {
    REQUIRE(brought.lost);
    CHECK(brought.lost->code == ErrorCode::output_released);
    CHECK_THAT(brought.lost->hint, Catch::Contains(".keep()"));
  }
}

TEST_CASE("what has stayed for longest after its readers goes to make room") {
  Read some;
  some.options.released_bytes_max = Read::size_bytes;
  const TaskId later = some.graph.task("later", {some.read}), last = some.graph.task("last", {later});
  some.script.special["later"] = some.script.special["last"] = some.script.special["read"];
  LocalJob job(some.graph.builder.sealed(), some.script.kernel(), some.options);
  job.run();
  job.settle_down();
  for (const TaskId task : {some.made, later, last}) {
    job.fetch(task);
    job.run_until([&] { return job.brought.contains(task); });
  }
  CHECK(job.brought.at(some.made).lost);
  CHECK_FALSE(job.brought.at(later).lost);
  CHECK_FALSE(job.brought.at(last).lost);
  CHECK(job.runs("made") == 1);
}
