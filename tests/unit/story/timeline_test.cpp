// The picture of what lanes did: as large as it was asked for, true to the runs that it is made of.
#include "libdag/story/timeline.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "libdag/base/random.hpp"
#include "libdag/client/json.hpp"
#include "tests/support/journal_file.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;
using namespace dag::detail;
using namespace std::chrono_literals;

namespace {

constexpr JobId job{7};

JournalEvent ran(Duration end, std::uint32_t process, std::uint32_t lane, std::uint32_t task, Duration span,
                 JobId of = job) {
  return {Instant{end}, {{process}, lane}, of,
          {0, task},    {{1, 1}, 1},       event::Ran{Outcome::finished, span, {}}};
}
JournalEvent settled(Duration at, std::uint32_t task, std::string name) {
  return {Instant{at}, {{0}}, job, {0, task}, {}, event::Settled{Outcome::finished, std::move(name)}};
}

/// A journal of these records, to be read.
class Journal {
 public:
  explicit Journal(const std::vector<JournalEvent>& records) {
    test::write_journal(directory_.path() / "n0/journal/journal-1", 0, records);
  }
  Timeline timeline(TimelineWindow window) const {
    std::vector<std::string> notices;
    Timeline made = make_timeline({directory_.path().string()}, job, window, notices);
    CHECK(notices.empty());
    return made;
  }

 private:
  test::TemporaryDirectory directory_;
};

}  // namespace

TEST_CASE("columns say how busy a lane was, and with what most") {
  // Lane 0: a from 0 to 4, b from 4 to 5, nothing from 5 to 8, b from 8 to 10. Lane 1: a from 2 to 3.
  const Journal journal({ran(3ms, 9, 1, 3, 1ms), ran(4ms, 9, 0, 0, 4ms), ran(5ms, 9, 0, 1, 1ms),
                         ran(10ms, 9, 0, 2, 2ms), settled(11ms, 0, "a"), settled(11ms, 1, "b"),
                         settled(11ms, 2, "b"), settled(11ms, 3, "a"), ran(12ms, 9, 0, 7, 5ms, JobId{8})});
  const Timeline whole = journal.timeline({.columns = 5});
  CHECK(whole.span == 10ms);
  CHECK(whole.runs == 4);
  REQUIRE(whole.names == std::vector<std::string>{"a", "b", "(unknown)"});
  REQUIRE(whole.lanes.size() == 2);
  CHECK(to_string(whole.lanes[0].place) == to_string(EventPlace{{9}, 0}));
  CHECK(whole.lanes[0].runs == 3);
  CHECK(whole.lanes[0].busy == 7ms);
  CHECK(whole.lanes[0].column_busy == std::vector<double>{1, 1, 0.5, 0, 1});
  CHECK(whole.lanes[0].column_name == std::vector<std::int32_t>{0, 0, 1, -1, 1});
  CHECK(whole.lanes[1].column_busy == std::vector<double>{0, 0.5, 0, 0, 0});
  REQUIRE(whole.slices);
  REQUIRE(whole.slices->size() == 4);
  CHECK((*whole.slices)[1].begin == 0ms);
  CHECK((*whole.slices)[1].ran == 4ms);

  const Timeline part = journal.timeline({.columns = 2, .from = 3ms, .to = 5ms});
  CHECK(part.span == 10ms);
  CHECK(part.lanes[0].column_busy == std::vector<double>{1, 1});
  CHECK(part.lanes[0].column_name == std::vector<std::int32_t>{0, 1});
  CHECK(part.lanes[0].busy == 7ms);  // In the whole job, independent of the window.
  CHECK(part.lanes[1].column_busy == std::vector<double>{0, 0});

  for (const TimelineWindow odd : {TimelineWindow{0, 0ms, 0ms}, TimelineWindow{3, 50ms, 60ms},
                                   TimelineWindow{3, 9ms, 2ms}, TimelineWindow{1'000'000, 0ms, 1h}}) {
    const Timeline made = journal.timeline(odd);
    CHECK(made.window.to > made.window.from);
    CHECK(made.lanes[0].column_busy.size() == made.window.columns);
    CHECK(made.window.columns >= 1);
    CHECK(made.window.columns <= timeline_columns_max);
  }
}

TEST_CASE("columns of any window hold together what the runs in it took") {
  Random random(4711);
  std::vector<JournalEvent> records;
  std::vector<std::pair<Duration, Duration>> runs[3];
  Duration at[3] = {0ms, 0ms, 0ms};
  for (std::uint32_t task = 0; task < 3000; ++task) {
    const auto lane = static_cast<std::uint32_t>(random.below(3));
    const Duration idle(static_cast<Duration::rep>(random.below(300'000)));
    const Duration span(
        static_cast<Duration::rep>(1 + random.below(random.below(100) == 0 ? 90'000'000 : 500'000)));
    at[lane] += idle + span;
    runs[lane].emplace_back(at[lane] - span, at[lane]);
    records.push_back(ran(at[lane], 9, lane, task, span));
  }
  std::sort(records.begin(), records.end(),
            [](const JournalEvent& a, const JournalEvent& b) { return a.at < b.at; });
  for (std::uint32_t task = 0; task < 3000; ++task)
    records.push_back(settled(10h, task, "name" + std::to_string(task % 400)));
  const Journal journal(records);
  Duration first = 1h;
  for (const auto& of_lane : runs) first = std::min(first, of_lane.front().first);
  for (const TimelineWindow window :
       {TimelineWindow{100, 0ms, 0ms}, TimelineWindow{777, 20ms, 400ms}, TimelineWindow{7, 100ms, 101ms}}) {
    const Timeline made = journal.timeline(window);
    CHECK(made.names.size() == timeline_names_max + 2);
    const double width = static_cast<double>((made.window.to - made.window.from).count()) /
                         static_cast<double>(made.window.columns);
    for (std::size_t lane = 0; lane < 3; ++lane) {
      double expected = 0, found = 0;
      for (const auto& [begin, end] : runs[lane]) {
        const Duration from = std::max(begin - first, made.window.from),
                       to = std::min(end - first, made.window.to);
        if (to > from) expected += static_cast<double>((to - from).count());
      }
      for (const double busy : made.lanes[lane].column_busy) {
        CHECK(busy >= 0);
        CHECK(busy <= 1);
        found += busy * width;
      }
      // Each column is told to a thousandth.
      CHECK(std::abs(found - expected) <= 0.001 * width * static_cast<double>(made.window.columns));
    }
    CHECK(made.slices.has_value() == (made.runs <= timeline_slices_max));
  }
}

TEST_CASE("nothing that ran is an empty picture") {
  const Journal journal({settled(1ms, 0, "a")});
  const Timeline made = journal.timeline({});
  CHECK(made.lanes.empty());
  CHECK(made.span == 0ms);
  CHECK(to_json(made, job)["slices"].empty());
}
