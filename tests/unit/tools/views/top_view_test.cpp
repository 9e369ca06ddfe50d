// The view of a cluster in `dag top`.
#include "tools/dag/views/top_view.hpp"

#include <catch2/catch.hpp>

#include "tools/dag/views/print.hpp"

using namespace dag;
using namespace dag::tool;
using namespace std::chrono_literals;

namespace {

NodeInfo node(std::uint32_t number, std::uint32_t lanes_free) {
  NodeInfo info;
  info.life = {ProcessId{number}, Incarnation{1}};
  info.load.devices = {{"cpu", 4, lanes_free, 2ull << 30, 3ull << 29, Duration{0}}};
  info.load.tasks_ready = 10 * number;
  info.jobs = number;
  return info;
}

JobInfo job(std::uint64_t number, JobPhase phase, std::string name) {
  JobInfo info;
  info.job = JobId{number};
  info.name = std::move(name);
  info.phase = phase;
  info.counts = {50, 45, 5, 0, 0};
  return info;
}

Seen cluster() {
  Seen seen;
  seen.nodes = {node(0, 4), node(1, 1)};
  seen.nodes[1].load.sick = true;
  seen.nodes[1].not_ready = {"n1 is sick, it reacts late: it accepts no new jobs"};
  seen.jobs = {job(1, JobPhase::finished, "hello"), job(2, JobPhase::running, "train")};
  seen.jobs[1].details.emplace();
  seen.jobs[1].details->classes = {{"load", {0, 40, 0, 0, 0}}, {"step", {50, 5, 5, 0, 0}}};
  return seen;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

Paces paces_of(Seen seen) {
  Paces paces;
  for (int second = 0; second < 3; ++second) {
    seen.jobs[1].counts = {100 - 25 * static_cast<std::uint64_t>(second),
                           25 * static_cast<std::uint64_t>(second), 0, 0, 0};
    paces.on_seen(seen, Instant{std::chrono::seconds(second)});
  }
  return paces;
}

}  // namespace

TEST_CASE("a cluster: its nodes, its jobs, and the names of what runs") {
  CHECK(text_of(top_lines(cluster(), paces_of(cluster()), {.columns = 100})) ==
        "2 nodes, 8 lanes: 3 busy, 10 tasks ready; 1 job not ended\n"
        "NODE  BUSY  READY  LEADS  FREE     STATE\n"
        "n0    0/4   0      0      1.5 GiB  alive\n"
        "n1    3/4   10     1      1.5 GiB  alive, sick; n1 is sick, it reacts late: it accepts no new jobs\n"
        "JOB   ENDED   FAILED  PACE  LEFT  NAME\n"
        "job2  50/100  5       25/s  2 s   running train\n"
        "      40/40   0                     load\n"
        "      10/60   5                     step\n"
        "job1  50/100  5                   finished hello\n");
}

TEST_CASE("what nobody knows yet is no number, and what is missing is said") {
  Seen seen = cluster();
  seen.nodes.resize(1);
  seen.jobs.erase(seen.jobs.begin());
  seen.jobs[0].details.reset();
  seen.missing = {"n1: it does not answer"};
  CHECK(text_of(top_lines(seen, {}, {})) ==
        "1 node, 4 lanes: 0 busy, 0 tasks ready; 1 job not ended\n"
        "without n1: it does not answer\n"
        "NODE  BUSY  READY  LEADS  FREE     STATE\n"
        "n0    0/4   0      0      1.5 GiB  alive\n"
        "JOB   ENDED   FAILED  PACE  LEFT  NAME\n"
        "job2  50/100  5       -     -     running train\n"
        "without the stages of 1 job: `dag show JOB`\n");
  seen.jobs.clear();
  CHECK(top_lines(seen, {}, {}).size() == 4);
}

TEST_CASE("where there is less room, what is over goes first, and jobs that go are counted") {
  const auto lines = [](std::size_t rows) {
    return text_of(top_lines(cluster(), {}, {.columns = 60, .rows = rows}));
  };
  CHECK_THAT(lines(10), Catch::Contains("load") && Catch::Contains("step") && Catch::Contains("hello"));
  CHECK_THAT(lines(9), !Catch::Contains("load") && Catch::Contains("step") && !Catch::Contains("hello") &&
                           Catch::EndsWith("and 1 job more: `dag ls`\n"));
  CHECK_THAT(lines(8), !Catch::Contains("step") && Catch::Contains("train") && Catch::Contains("1 job more"));
  CHECK_THAT(lines(7), !Catch::Contains("train") && Catch::Contains("2 jobs more"));
  for (std::size_t rows = 1; rows <= 12; ++rows) {
    for (const std::size_t columns : {1u, 20u, 33u, 80u}) {
      const auto shown = top_lines(cluster(), {}, {.columns = columns, .rows = rows});
      CHECK(shown.size() <= std::max<std::size_t>(rows, 2) - 1);
      for (const std::string& line : shown) CHECK(width(line) <= std::max<std::size_t>(columns, 20));
    }
  }
}

TEST_CASE("for programs all of it is there") {
  const nlohmann::json json = top_json(cluster(), paces_of(cluster()));
  CHECK(json["nodes"].size() == 2);
  CHECK(json["nodes"][1]["sick"] == true);
  CHECK(json["jobs"][1]["job"] == "job2");
  CHECK(json["jobs"][1]["tasks_per_second"] == 25.0);
  CHECK(json["jobs"][0]["tasks_per_second"].is_null());
  CHECK(json["missing"].empty());
}

TEST_CASE("who does not hear whom has a line, and who hears well has none") {
  Seen seen = cluster();
  seen.links = {{ProcessId{1}, ProcessId{0}, std::nullopt, false},
                {ProcessId{0}, ProcessId{1}, HeardOf{20ms, 1ms}, false}};
  const std::string text = text_of(top_lines(seen, {}, {}));
  CHECK_THAT(text, Catch::Contains("\nn1 does not hear n0\n") && !Catch::Contains("n0 has heard"));
  const nlohmann::json json = top_json(seen, {});
  REQUIRE(json["links"].size() == 2);
  CHECK(json["links"][0]["in_trouble"] == true);
  CHECK(json["links"][1]["round_trip_seconds"] == 0.001);
}
