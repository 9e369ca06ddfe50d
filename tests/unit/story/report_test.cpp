// Where the time of a job went: held against what a reader of the same records works out by hand.
#include "libdag/story/report.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "libdag/base/random.hpp"
#include "tests/support/graph_records.hpp"
#include "tests/support/journal_file.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;
using namespace dag::detail;
using namespace std::chrono_literals;

namespace {

constexpr JobId job{7};

JournalEvent ran(Duration end, std::uint32_t process, std::uint32_t lane, std::uint32_t task, Duration span,
                 Outcome outcome = Outcome::finished) {
  return {Instant{end}, {{process}, lane}, job, {0, task}, {{1, 1}, 1}, event::Ran{outcome, span, {}}};
}
JournalEvent settled(std::uint32_t task, std::string name, Outcome outcome = Outcome::finished) {
  return {Instant{1h}, {{0}}, job, {0, task}, {}, event::Settled{outcome, std::move(name)}};
}
JobReport report(const std::filesystem::path& directory) {
  std::vector<std::string> notices;
  const JobReport made = make_report({directory.string()}, job, notices);
  CHECK(notices.empty());
  return made;
}

}  // namespace

TEST_CASE("a straggler is named, with its lane, and what its like took") {
  const test::TemporaryDirectory directory;
  std::vector<JournalEvent> records;
  for (std::uint32_t task = 0; task < 20; ++task) {
    records.push_back(ran(10ms * (task + 1), 65536, task % 2, task, task == 13 ? 900ms : 10ms));
    records.push_back(settled(task, "step"));
  }
  records.push_back(ran(300ms, 65536, 0, 20, 500ms));  // Nothing is like it.
  records.push_back(settled(20, "sum"));
  test::write_journal(directory.path() / "journal-1", 0, records);
  const JobReport made = report(directory.path());
  REQUIRE(made.stragglers.size() == 1);
  CHECK(made.stragglers[0].task == TaskId{0, 13});
  CHECK(made.stragglers[0].name == "step");
  CHECK(made.stragglers[0].ran == 900ms);
  CHECK(made.stragglers[0].median == 10ms);
  CHECK(made.stragglers[0].place == EventPlace{{65536}, 1});
  REQUIRE(made.classes.size() == 2);
  CHECK(made.classes[0].name == "step");
  CHECK(made.classes[0].longest == 900ms);
}

TEST_CASE("a run that failed, and one of a task that had come back, are work done again") {
  const test::TemporaryDirectory directory;
  test::write_journal(directory.path() / "journal-1", 0,
                      {ran(1ms, 65536, 0, 0, 1ms, Outcome::failed),
                       ran(4ms, 65536, 0, 0, 2ms),
                       ran(9ms, 65537, 0, 0, 4ms),
                       ran(20ms, 65536, 0, 1, 8ms),
                       settled(0, "a"),
                       settled(1, "b"),
                       settled(2, "elsewhere"),
                       settled(3, "other", Outcome::skipped),
                       settled(4, "other", Outcome::cancelled),
                       {Instant{5ms}, {{0}}, job, {0, 0}, {{1, 1}, 2}, event::Lost{"its process is gone"}},
                       {Instant{5ms}, {{0}}, job, {0, 0}, {{1, 1}, 1}, event::Retried{1ms, true}},
                       {Instant{5ms}, {{0}}, {8}, {0, 0}, {{1, 1}, 1}, event::Retried{1ms, true}}});
  const JobReport made = report(directory.path());
  CHECK(made.runs == 4);
  CHECK(made.tasks == 2);
  CHECK(made.settled == 5);
  CHECK(made.unrun == Unrun{.finished = 1, .others = 2});
  CHECK(made.again == 5ms);
  CHECK(made.losses == 1);
  CHECK(made.retries == 1);
  CHECK(made.busy == 15ms);
  CHECK(made.span == 20ms);
}

TEST_CASE("sums and quantiles are those of all runs, whichever journal they lie in") {
  const test::TemporaryDirectory directory;
  Random random(7);
  std::map<std::string, std::vector<Duration>> by_hand;
  std::vector<std::vector<JournalEvent>> of_node(3);
  for (std::uint32_t task = 0; task < 3000; ++task) {
    const std::string name = "stage" + std::to_string(random.below(5));
    const Duration span{static_cast<Duration::rep>(1 + random.below(1'000'000))};
    const auto node = static_cast<std::uint32_t>(random.below(3));
    by_hand[name].push_back(span);
    of_node[node].push_back(ran(1s + 10us * task, 65536 + node, task % 4, task, span));
    of_node[random.below(3)].push_back(settled(task, name));
  }
  for (std::uint32_t node = 0; node < 3; ++node)
    test::write_journal(directory.path() / ("n" + std::to_string(node)) / "journal/journal-1", node,
                        of_node[node]);
  const JobReport made = report(directory.path());
  CHECK(made.lanes.size() == 12);
  REQUIRE(made.classes.size() == by_hand.size());
  Duration busy{0};
  for (const ClassReport& one : made.classes) {
    std::vector<Duration>& spans = by_hand.at(one.name);
    std::sort(spans.begin(), spans.end());
    CHECK(one.runs == spans.size());
    CHECK(one.longest == spans.back());
    const auto above = [&](Duration bound) {
      return static_cast<double>(
                 std::count_if(spans.begin(), spans.end(), [&](Duration span) { return span > bound; })) /
             static_cast<double>(spans.size());
    };
    CHECK(above(one.median) == Approx(0.5).margin(0.01));
    CHECK(above(one.p99) == Approx(0.01).margin(0.01));
    Duration total{0};
    for (const Duration span : spans) total += span;
    CHECK(one.total == total);
    busy += total;
  }
  CHECK(made.busy == busy);
}

TEST_CASE("the critical path is the chain that took longest, and delays are what tasks waited for a lane") {
  const test::TemporaryDirectory directory;
  // 0 and 1 are needed by 2, 2 by 3; 4 needs nothing. One lane each.
  std::vector<JournalEvent> records = test::graph_records(job, {{}, {}, {0, 1}, {2}, {}});
  for (const JournalEvent& one :
       {ran(5ms, 65536, 0, 0, 5ms), ran(9ms, 65536, 1, 1, 9ms), ran(13ms, 65536, 0, 2, 1ms),
        ran(20ms, 65536, 0, 3, 6ms), ran(12ms, 65536, 2, 4, 12ms)})
    records.push_back(one);
  for (const char* name : {"a", "b", "c", "d", "e"})
    records.push_back(settled(static_cast<std::uint32_t>(*name - 'a'), name));
  test::write_journal(directory.path() / "journal-1", 0, records);
  const JobReport made = report(directory.path());
  REQUIRE(made.path);
  CHECK(made.path->length == 16ms);  // 1, 2, 3.
  CHECK(made.path->tasks == 3);
  CHECK(made.path->span == 20ms);
  REQUIRE(made.path->classes.size() == 1);  // As the graph names them, before they settle.
  CHECK(made.path->classes[0].name == "t");
  CHECK(made.path->classes[0].tasks == 3);
  CHECK(made.path->classes[0].total == 16ms);
  CHECK(made.delays == 2);
  CHECK(made.delay_total == 3ms + 1ms);  // 2 could begin at 9 and began at 12, 3 at 13 and began at 14.
  CHECK(made.delay_p99 == 3ms);
}

TEST_CASE("without a word of what waited for what there is no critical path") {
  const test::TemporaryDirectory directory;
  test::write_journal(directory.path() / "journal-1", 0, {ran(5ms, 65536, 0, 0, 5ms), settled(0, "a")});
  CHECK_FALSE(report(directory.path()).path);
}
