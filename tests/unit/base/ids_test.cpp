// Each id prints one way everywhere; what people write as a job is understood, and nothing else is.
#include "libdag/base/ids.hpp"

#include <catch2/catch.hpp>

#include "libdag/base/spawned.hpp"

using namespace dag;

namespace {

constexpr JobId job(std::uint64_t node, std::uint32_t count) { return {node << 32 | count}; }

}  // namespace

TEST_CASE("a job names its node, unless that is node 0") {
  CHECK(to_string(job(0, 7)) == "job7");
  CHECK(to_string(job(2, 7)) == "job2.7");
  CHECK(to_string(job(65534, 4294967295)) == "job65534.4294967295");
  CHECK(job(2, 7).node() == 2);
  CHECK(job(2, 7).count() == 7);
}

TEST_CASE("a job is read as it is printed, and shorter") {
  CHECK(parse_job_id("7") == job(0, 7));
  CHECK(parse_job_id("job7") == job(0, 7));
  CHECK(parse_job_id("2.7") == job(2, 7));
  CHECK(parse_job_id("job2.7") == job(2, 7));
  for (const JobId id : {job(0, 0), job(0, 4294967295), job(3, 1), job(65534, 12)}) {
    CHECK(parse_job_id(to_string(id)) == id);
  }
}

TEST_CASE("what is no job is not taken for one") {
  const auto* text =
      GENERATE("", "job", "job.", "job2.", ".7", "job-7", "-7", "+7", " 7", "7 ", "7x", "job7/train", "Job7",
               "2.7.1", "0x7", "jobjob7", "4294967296", "1.4294967296", "4294967296.1");
  INFO(text);
  CHECK_FALSE(parse_job_id(text));
}

TEST_CASE("a process says what it is: a node, a worker process of one, a client") {
  CHECK(to_string(ProcessId{0}) == "n0");
  CHECK(to_string(ProcessId{65534}) == "n65534");
  CHECK(to_string(ProcessId{3u << 16 | 1}) == "n1/w3");
  CHECK(to_string(ProcessId{1u << 16}) == "n0/w1");
  CHECK(to_string(ProcessId{65535u << 16 | 65534}) == "n65534/w65535");
  CHECK(to_string(ProcessId{3u << 16 | 0xFFFF}) == "client3");
  CHECK(to_string(ProcessId{0xFFFF}) == "client0");
  CHECK(to_string(Life{ProcessId{3u << 16 | 1}, Incarnation{2}}) == "n1/w3.2");
}

TEST_CASE(
    "what is spawned in each count of each shard has a block of numbers of its own, later ones greater") {
  const std::uint32_t shard = GENERATE(0u, 5u, limits::shards_max - 1);
  TaskId before{0, UINT32_MAX};
  for (const std::uint32_t count : {0u, 1u, 2u, 255u, 256u, 257u, 511u, 512u, 100'000u, epochs_max - 1}) {
    const TaskId first = first_spawned_of(shard, {1, count});
    CHECK(before < first);
    if (before.origin == first.origin) CHECK(first.index - before.index >= 1u << spawned_block_bits);
    CHECK(shard_of_origin(first.origin) == shard);
    before = first;
  }
  CHECK(first_spawned_of(5, {1, 255}) == TaskId{6, 255u << 24});
}

TEST_CASE("tasks and attempts are read as they are written") {
  for (const TaskId id :
       {TaskId{0, 41}, TaskId{1, 0}, TaskId{7, UINT32_MAX}, TaskId{limits::shards_max, 1},
        TaskId{limits::shards_max + 7, 3}, first_spawned_of(limits::shards_max - 1, {1, epochs_max - 1})}) {
    CHECK(parse_task_id(to_string(id)) == id);
  }
  CHECK(to_string(TaskId{7, 3}) == "s6/3");
  CHECK(to_string(TaskId{limits::shards_max + 7, 3}) == "s6/4294967299");
  const AttemptId attempt{{3, 70}, 1u << 31};
  CHECK(parse_attempt_id(to_string(attempt)) == attempt);
  for (const char* text :
       {"", "s", "s1", "s1/", "x4", "4 ", "s-1/4", "4294967296", "s65536/0", "s0/281474976710655"})
    CHECK_FALSE(parse_task_id(text));
  for (const char* text : {"", "#", "#1.2", "1.2.3", "#1.2.3.4", "#1..3", "#1.2.x"})
    CHECK_FALSE(parse_attempt_id(text));
}
