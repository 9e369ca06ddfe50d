// Segments are kept for jobs, and the oldest entries are written again in time: the log stays short, and most
// of the writing is not repetition.
#include "libdag/log/retention_machine.hpp"

#include <catch2/catch.hpp>

#include "libdag/base/random.hpp"

using namespace dag;
using namespace dag::log;

namespace {

constexpr LogOptions options{1000, 200, 3000};
constexpr JobId idle{1}, busy{2}, other{3};
using Jobs = std::vector<JobId>;

}  // namespace

TEST_CASE("a job that says nothing for long is written again, and the oldest segment can go") {
  RetentionMachine machine(options);
  CHECK_FALSE(machine.oldest());
  CHECK(machine.take_to_write_again(100).empty());
  machine.on_size(idle, 400);
  machine.on_needed(idle, 1);
  machine.on_size(busy, 100);
  machine.on_needed(busy, 4);
  CHECK(machine.oldest() == 1);
  // The slack, and twice 500.
  CHECK(machine.take_to_write_again(5).empty());
  CHECK(machine.take_to_write_again(6) == Jobs{idle});
  machine.on_needed(idle, 6);
  CHECK(machine.oldest() == 4);
  CHECK(machine.take_to_write_again(8).empty());
  machine.on_needed(busy, 8);
  CHECK(machine.oldest() == 6);
  machine.on_unneeded(idle);
  machine.on_unneeded(busy);
  CHECK_FALSE(machine.oldest());
}

TEST_CASE("no more is written again until what was is on the disk: a batch, or one large job") {
  RetentionMachine machine(options);
  for (std::uint64_t job = 1; job <= 6; ++job) {
    machine.on_size(JobId{job}, job == 6 ? 900 : 100);
    machine.on_needed(JobId{job}, job == 6 ? 2 : 1);
  }
  CHECK(machine.take_to_write_again(50) == Jobs{JobId{1}, JobId{2}});
  CHECK(machine.take_to_write_again(50).empty());
  machine.on_needed(JobId{1}, 50);
  CHECK(machine.take_to_write_again(50).empty());
  machine.on_needed(JobId{2}, 50);
  CHECK(machine.take_to_write_again(50) == Jobs{JobId{3}, JobId{4}});
  machine.on_needed(JobId{3}, 50);
  machine.on_needed(JobId{4}, 50);
  // Only those that hold the oldest: it goes before the next one is asked for.
  CHECK(machine.take_to_write_again(50) == Jobs{JobId{5}});
  machine.on_needed(JobId{5}, 50);
  CHECK(machine.take_to_write_again(50) == Jobs{JobId{6}});
}

TEST_CASE("the more there is to keep, the longer the log may be") {
  RetentionMachine machine(options);
  machine.on_size(idle, 100);
  machine.on_needed(idle, 1);
  machine.on_size(busy, 10'000);
  machine.on_needed(busy, 20);
  CHECK(machine.take_to_write_again(24).empty());
  machine.on_more(busy, 1000);
  CHECK(machine.take_to_write_again(26).empty());
  machine.on_size(busy, 100);  // The job made a snapshot.
  CHECK(machine.take_to_write_again(26) == Jobs{idle});
}

TEST_CASE("a job that is being forgotten is not written again, and keeps its segment until it is") {
  RetentionMachine machine(options);
  machine.on_size(idle, 100);
  machine.on_needed(idle, 1);
  machine.on_size(other, 100);
  machine.on_needed(other, 1);
  machine.on_forgotten(idle);
  CHECK(machine.take_to_write_again(50) == Jobs{other});
  machine.on_needed(other, 50);
  CHECK(machine.oldest() == 1);
  machine.on_unneeded(idle);
  CHECK(machine.oldest() == 50);
  // A job that was given out, and forgotten before it was on the disk, does not stop the others.
  CHECK(machine.take_to_write_again(90) == Jobs{other});
  machine.on_forgotten(other);
  machine.on_unneeded(other);
  machine.on_size(busy, 10);
  machine.on_needed(busy, 50);
  CHECK(machine.take_to_write_again(90) == Jobs{busy});
}

TEST_CASE("whatever jobs do, the log stays short, and less than half of it was written again") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    RetentionMachine machine(options);
    std::map<JobId, std::size_t> sizes;
    std::size_t end = 0, handed_over = 0, again = 0, all = 0, most = 0;
    const auto last = [&] { return 1 + end / options.segment_bytes; };
    const auto write_whole = [&](JobId job) {
      const std::uint64_t segment = last();
      end += sizes[job];
      machine.on_needed(job, segment);
    };
    for (int step = 0; step < 5000; ++step) {
      // A few speak all the time, and the others hardly ever.
      const JobId job{random.chance(0.98) ? 1 + random.below(3) : 1 + random.below(40)};
      std::size_t& size = sizes[job];
      all -= size;
      const std::size_t more = 10 + random.below(90);
      if (size == 0 || size > 800) {
        size = more;
        machine.on_size(job, size);
        write_whole(job);
      } else {
        size += more;
        machine.on_more(job, more);
        end += more;
      }
      handed_over += more;
      all += size;
      most = std::max(most, all);
      for (const JobId held : machine.take_to_write_again(last())) {
        again += sizes[held];
        write_whole(held);
      }
      REQUIRE((last() - *machine.oldest()) * options.segment_bytes <=
              3 * most + options.slack_bytes + 2 * options.segment_bytes);
    }
    CHECK(end > 100 * options.segment_bytes);
    CHECK(again > 0);
    CHECK(again <= handed_over);
  }
}
