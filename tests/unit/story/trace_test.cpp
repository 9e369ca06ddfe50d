// Traces made of journals: every attempt that came back is a slice on its lane, none overlaps another one,
// and the text is JSON whatever tasks are called.
#include "libdag/story/trace.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "dag/error.hpp"
#include "tests/support/graph_records.hpp"
#include "tests/support/journal_file.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;
using namespace dag::detail;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr JobId job{7};

JournalEvent ran(Duration end, std::uint32_t process, std::uint32_t lane, std::uint32_t task, Duration span,
                 std::string error = {}, JobId of = job) {
  const Outcome outcome = error.empty() ? Outcome::finished : Outcome::failed;
  return {Instant{end}, {{process}, lane}, of,
          {0, task},    {{1, 1}, 1},       event::Ran{outcome, span, std::move(error)}};
}
JournalEvent settled(Duration at, std::uint32_t task, std::string name) {
  return {Instant{at}, {{0}}, job, {0, task}, {}, event::Settled{Outcome::finished, std::move(name)}};
}

}  // namespace

TEST_CASE("each attempt is a slice on its lane, with the name that its task settled under") {
  const test::TemporaryDirectory directory;
  test::write_journal(
      directory.path() / "n0/journal/journal-1", 0,
      {ran(10us, 65536, 0, 0, 6us), ran(16us, 65536, 0, 1, 6us), ran(15'999ns, 65536, 1, 2, 5us),
       ran(18us, 65536, 0, 4, 5us), settled(20us, 0, "first"), settled(21us, 1, "a \"b\"\n\x01\xff\\"),
       settled(22us, 3, "elsewhere"), ran(30us, 65536, 0, 9, 1us, "", JobId{8})});
  test::write_journal(directory.path() / "n1/journal/journal-1", 1,
                      {ran(11us, 65537, 0, 2, 2us, "no such shard"),
                       {Instant{12us}, {{1}}, job, {0, 2}, {{1, 1}, 1}, event::Crashed{1, "signal 11"}}});
  std::ostringstream out;
  std::vector<std::string> notices;
  const TraceCounts counts = write_trace({directory.path().string()}, job, out, notices);
  CHECK(notices.empty());
  CHECK(counts.slices == 5);
  CHECK(counts.lanes == 3);
  CHECK(counts.marks == 1);
  CHECK(counts.tasks_run == 4);
  CHECK(counts.unrun == Unrun{.finished = 1, .others = 0});
  const json trace = json::parse(out.str());
  CHECK(trace.at("otherData").at("began_unix_ns") == "1000000004000");
  std::map<std::pair<int, int>, double> ended;
  std::map<std::string, json> slices;
  std::size_t names = 0, marks = 0;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M") ++names;
    if (event.at("ph") == "i") ++marks;
    if (event.at("ph") != "X") continue;
    double& last = ended[{event.at("pid").get<int>(), event.at("tid").get<int>()}];
    CHECK(event.at("ts").get<double>() >= last);
    last = event.at("ts").get<double>() + event.at("dur").get<double>();
    slices[event.at("args").at("task").get<std::string>() +
           event.at("args").at("outcome").get<std::string>()] = event;
  }
  CHECK(names == 3 + 3);
  CHECK(marks == 1);
  CHECK(slices.at("0finished").at("name") == "first");
  CHECK(slices.at("0finished").at("ts") == 0.0);
  CHECK(slices.at("0finished").at("dur") == 6.0);
  CHECK_FALSE(slices.at("0finished").at("args").contains("ran_us"));
  CHECK(slices.at("4finished").at("dur") == 2.0);  // The clock was read late for the one before.
  CHECK(slices.at("4finished").at("args").at("ran_us") == 5.0);
  CHECK(slices.at("1finished").at("name").get<std::string>().starts_with("a \"b\""));
  CHECK(slices.at("2failed").at("name") == "2");  // Not settled.
  CHECK(slices.at("2failed").at("args").at("error") == "no such shard");
}

TEST_CASE("a job of which no lane says anything has a trace without slices") {
  const test::TemporaryDirectory directory;
  test::write_journal(directory.path() / "journal/journal-1", 0, {settled(1us, 0, "first")});
  std::ostringstream out;
  std::vector<std::string> notices;
  const TraceCounts counts = write_trace({directory.path().string()}, job, out, notices);
  CHECK(counts.slices == 0);
  CHECK(counts.unrun == Unrun{.finished = 1, .others = 0});
  CHECK(json::parse(out.str()).at("traceEvents").empty());
  CHECK_THROWS_AS(write_trace({(directory.path() / "none").string()}, job, out, notices), Failure);
}

TEST_CASE("what seems to begin before what it waited for ended has its arrow within a process") {
  const test::TemporaryDirectory directory;
  std::vector<JournalEvent> records = test::graph_records(job, {{}, {0}, {0}});
  // Both begin 300 ns before the first one's end: one in the same process, and one in another.
  for (const JournalEvent& one :
       {ran(5us, 9, 0, 0, 5us), ran(8us, 9, 1, 1, 3300ns), ran(9us, 8, 0, 2, 4300ns)})
    records.push_back(one);
  test::write_journal(directory.path() / "journal/journal-1", 0, records);
  std::ostringstream out;
  std::vector<std::string> notices;
  const TraceCounts counts = write_trace({directory.path().string()}, job, out, notices);
  CHECK(counts.arrows == 1);
  CHECK(counts.arrows_backwards == 1);
  const json trace = json::parse(out.str());
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "s") CHECK(event.at("args").at("to") == "1");
    if (event.at("ph") == "s") CHECK(event.at("ts") == 4.999);
    if (event.at("ph") == "f") CHECK(event.at("ts") == 5.0);
  }
}

TEST_CASE("arrows lead from what a task waited for to it, within the slices") {
  const test::TemporaryDirectory directory;
  std::vector<JournalEvent> records = test::graph_records(job, {{}, {0}, {0, 1}, {2}});
  // The last one's predecessor ran again, after it.
  for (const JournalEvent& one : {ran(5us, 9, 0, 0, 5us), ran(9us, 9, 1, 1, 3us), ran(12us, 9, 0, 2, 2us),
                                  ran(20us, 9, 1, 3, 4us), ran(30us, 9, 0, 2, 2us)})
    records.push_back(one);
  test::write_journal(directory.path() / "journal/journal-1", 0, records);
  std::ostringstream out;
  std::vector<std::string> notices;
  const TraceCounts counts = write_trace({directory.path().string()}, job, out, notices);
  CHECK(counts.arrows == 3);
  CHECK(counts.arrows_backwards == 1);
  CHECK(counts.arrows_beyond == 0);
  for (const std::uint64_t most : {0u, 2u}) {
    std::ostringstream fewer;
    const TraceCounts of_fewer = write_trace({directory.path().string()}, job, fewer, notices, most);
    CHECK(of_fewer.arrows == most);
    CHECK(of_fewer.arrows_beyond == 3 - most);
    CHECK(json::parse(fewer.str()).at("otherData").at("arrows_left_out") == 4 - most);
  }
  std::map<int, std::vector<json>> arrows;
  std::map<double, int> running, ready;
  std::vector<json> slices;
  const json trace = json::parse(out.str());
  for (const json& event : trace.at("traceEvents")) {
    const std::string kind = event.at("ph");
    if (kind == "s" || kind == "f") arrows[event.at("id").get<int>()].push_back(event);
    if (kind == "X") slices.push_back(event);
    if (kind != "C") continue;
    const json& count = event.at("args");
    if (count.contains("running")) running[event.at("ts").get<double>()] = count.at("running").get<int>();
    if (count.contains("ready")) ready[event.at("ts").get<double>()] = count.at("ready").get<int>();
  }
  // From 0 to 5, 6 to 9, 10 to 12, 16 to 20 and 28 to 30.
  CHECK(running == std::map<double, int>{
                       {0, 1}, {5, 0}, {6, 1}, {9, 0}, {10, 1}, {12, 0}, {16, 1}, {20, 0}, {28, 1}, {30, 0}});
  // 1 from 5 to 6, 2 from 9 to 10. What 3 waited for ended, by its newest run, after 3 began.
  CHECK(ready == std::map<double, int>{{5, 1}, {6, 0}, {9, 1}, {10, 0}});
  CHECK(arrows.size() == 3);
  const auto is_within = [&](const json& end, const std::string& task) {
    return std::any_of(slices.begin(), slices.end(), [&](const json& slice) {
      const double at = end.at("ts"), begin = slice.at("ts"), length = slice.at("dur");
      return slice.at("args").at("task") == task && slice.at("tid") == end.at("tid") && at >= begin &&
             at <= begin + length;
    });
  };
  for (const auto& [id, ends] : arrows) {
    REQUIRE(ends.size() == 2);
    CHECK(ends[0].at("ph") == "s");
    CHECK(ends[0].at("name") == "data");
    CHECK(ends[1].at("bp") == "e");
    CHECK(is_within(ends[0], ends[0].at("args").at("from")));
    CHECK(is_within(ends[1], ends[0].at("args").at("to")));
    CHECK(ends[0].at("ts").get<double>() <= ends[1].at("ts").get<double>());
  }
}
