// Which jobs there were, out of the journals of several nodes.
#include "libdag/story/history.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/support/journal_file.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;
using namespace dag::detail;
using namespace std::chrono_literals;

namespace {

JournalEvent at(Duration when, JobId job, EventWhat what) {
  return {Instant{when}, {{0}}, job, {}, {}, std::move(what)};
}

}  // namespace

TEST_CASE("a job has begun at one node and is over at another; one that nobody saw end is not over") {
  const test::TemporaryDirectory directory;
  const Error stopped{ErrorCode::memory_exhausted, "no memory is left"};
  test::write_journal(directory.path() / "n0/journal/journal-1", 0,
                      {at(1s, {7}, event::JobBegan{"train", 40}), at(2s, {8}, event::JobBegan{"eval", 3}),
                       at(9s, {6}, event::JobOver{5, 0, 0, 0, stopped})});
  test::write_journal(directory.path() / "n1/journal/journal-1", 1,
                      {at(1500ms, {7}, event::JobBegan{"train", 40}),  // Repeated by its leader then.
                       at(4s, {7}, event::JobOver{39, 1, 0, 0, {}})});
  JournalView view({directory.path().string()});
  const std::vector<PastJob> jobs = read_history(view);
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[0].job == JobId{7});
  CHECK(jobs[0].name == "train");
  CHECK(jobs[0].tasks == 40);
  CHECK(jobs[0].began_unix_ns == 1'001'000'000'000);
  CHECK(jobs[0].over_unix_ns == 1'004'000'000'000);
  REQUIRE(jobs[0].over);
  CHECK(jobs[0].over->failed == 1);
  CHECK(jobs[1].job == JobId{8});
  CHECK(!jobs[1].over);
  CHECK(jobs[2].name.empty());  // Its beginning had to make room.
  REQUIRE(jobs[2].over);
  CHECK(jobs[2].over->stopped->code == ErrorCode::memory_exhausted);
}

TEST_CASE("tolerated failures do not fail a job, and a cancelled job is cancelled") {
  const test::TemporaryDirectory directory;
  test::write_journal(
      directory.path() / "journal-1", 0,
      {at(1s, {7}, event::JobBegan{"tolerant", 1}), at(2s, {7}, event::JobVerdict{3, false}),
       at(2s, {7}, event::JobOver{2, 3, 0, 0, {}}), at(1s, {8}, event::JobBegan{"stopped", 1}),
       at(2s, {8}, event::JobVerdict{0, true}), at(2s, {8}, event::JobOver{2, 1, 0, 4, {}})});
  JournalView view({directory.path().string()});
  const std::vector<PastJob> jobs = read_history(view);
  REQUIRE(jobs.size() == 2);
  CHECK(end_text(jobs[0]) == "finished");
  CHECK(end_text(jobs[1]) == "cancelled");
}

TEST_CASE("a number that is given again is another job") {
  const test::TemporaryDirectory directory;
  test::write_journal(directory.path() / "journal-1", 0,
                      {at(1s, {7}, event::JobBegan{"old", 1}), at(2s, {7}, event::JobOver{1, 0, 0, 0, {}}),
                       at(3s, {7}, event::JobBegan{"new", 2}), at(4s, {7}, event::JobOver{2, 0, 0, 0, {}})});
  JournalView view({directory.path().string()});
  const std::vector<PastJob> jobs = read_history(view);
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].name == "old");
  CHECK(jobs[0].over->finished == 1);
  CHECK(jobs[1].name == "new");
  CHECK(jobs[1].over->finished == 2);
}
