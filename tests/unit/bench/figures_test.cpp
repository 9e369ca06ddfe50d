// Results from measured figures: summaries, METG, ratios, verdicts, and their JSON.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/bench/metg.hpp"
#include "tools/bench/peers/rounds.hpp"
#include "tools/bench/report.hpp"

using namespace dag::bench;

TEST_CASE("a summary has the middle and the quartiles between neighbours") {
  const Summary odd = summarise({5, 1, 3, 2, 4});
  CHECK(odd.minimum == 1);
  CHECK(odd.lower_quartile == 2);
  CHECK(odd.median == 3);
  CHECK(odd.upper_quartile == 4);
  CHECK(odd.maximum == 5);
  CHECK(summarise({1, 2, 3, 4}).median == 2.5);
  CHECK(summarise({7}).upper_quartile == 7);
  CHECK_THROWS(summarise({}));
}

TEST_CASE("of several rounds in one process the median and the least are told, and the warm-up is not") {
  Request request("peer", "overhead");
  request.options = {{"shape", "chain"}, {"tasks", "200000"}, {"rounds", "4"}};
  std::vector<double> took = {1, 9, 5, 3, 7};
  std::vector<std::uint32_t> sizes;
  const Figures figures = over_rounds(request, [&](const Shape& shape) {
    Figures round;
    round.numbers["total"] = took[sizes.size()];
    round.numbers["build"] = 10 - took[sizes.size()];
    sizes.push_back(shape.size());
    return round;
  });
  CHECK(sizes == std::vector<std::uint32_t>{100'000, 200'000, 200'000, 200'000, 200'000});
  CHECK(figures.numbers.at("total") == 6);
  CHECK(figures.numbers.at("least total") == 3);
  CHECK(figures.numbers.at("least build") == 1);
}

TEST_CASE("METG of a runtime that costs a fixed time per task is that time, doubled") {
  // A task of n iterations takes n + 100 ns, one core; the best rate is one iteration per ns. Half of it is
  // useful at n = 100, where a task takes 200 ns.
  const SweepGraph graph{1000, 1};
  std::vector<SweepPoint> points;
  for (const double n : {1024., 512., 256., 128., 64., 32., 16.})
    points.push_back({n, 1000 * (n + 100) * 1e-9});
  const Metg found = metg(points, graph, 1e9);
  CHECK(found.reached);
  CHECK(found.seconds == Approx(200e-9).epsilon(0.05));
  SECTION("with a point there, it is exact") {
    points.push_back({100, 1000 * 200e-9});
    CHECK(metg(points, graph, 1e9).seconds == Approx(200e-9).epsilon(1e-6));
  }
  SECTION("on two cores that take as long, it is twice that: granularity counts both") {
    CHECK(metg(points, {1000, 2}, 1e9).seconds == Approx(2 * found.seconds));
  }
}

TEST_CASE("METG says when the half is never reached, and ends at the shortest tasks when it always is") {
  const std::vector<SweepPoint> points = {{64, 64e-9}, {16, 16e-9}};
  const Metg always = metg(points, {1, 1}, 1e9);
  CHECK(always.reached);
  CHECK(always.seconds == Approx(16e-9));
  const Metg never = metg(points, {1, 1}, 1e10);
  CHECK_FALSE(never.reached);
  CHECK(never.seconds == Approx(64e-9));
}

TEST_CASE("a disturbed long run does not hide that shorter tasks reach the half") {
  CHECK(metg({{64, 500e-9}, {16, 20e-9}, {4, 9e-9}}, {1, 1}, 1e9).seconds < 20e-9);
}

namespace {

Row row_of(double libdag, double other) {
  return {"chain", "ns", {{"libdag", {libdag - 1, libdag, libdag + 1}}, {"tbb", {other, other, other * 10}}}};
}

}  // namespace

TEST_CASE("ratios are of medians, and none is made up") {
  const Row row = row_of(30, 100);
  CHECK(row.ratio("libdag", "tbb") == Approx(0.3));
  CHECK(row.ratio("tbb", "libdag") == Approx(100. / 30));
  CHECK_FALSE(row.ratio("libdag", "floor"));
  Row bound = row;
  bound.series[1].lower_bound = true;
  CHECK_FALSE(bound.ratio("libdag", "tbb"));
}

TEST_CASE("a goal is met or missed by the ratio, and not judged without the peer") {
  Section section{"overhead", ""};
  section.judge_ratio("G1", row_of(30, 100), "tbb", 0.4);
  section.judge_ratio("G1", row_of(50, 100), "tbb", 0.4);
  section.judge_ratio("G1", row_of(30, 100), "floor", 5);
  REQUIRE(section.verdicts.size() == 2);
  CHECK(section.verdicts[0].met());
  CHECK_FALSE(section.verdicts[1].met());
  CHECK_FALSE(Verdict{"G6", "", "", 5, 4.9, false}.met());
  CHECK(Verdict{"G6", "", "", 5, 5.1, false}.met());
}

TEST_CASE("of a lower bound only a miss is certain") {
  Section section{"metg", ""};
  Row row = row_of(30, 100);
  row.series[0].lower_bound = true;
  section.judge_ratio("G2", row, "tbb", 2);
  CHECK(section.verdicts.empty());
  section.judge_ratio("G2", row, "tbb", 0.1);
  REQUIRE(section.verdicts.size() == 1);
  CHECK_FALSE(section.verdicts[0].met());
}

TEST_CASE("the report says the same as JSON and as a table") {
  Report report;
  report.machine = this_machine();
  report.machine.load = report.machine.cores;
  report.threads = 2;
  report.skipped = {{"starpu", "libstarpu-dev"}};
  Section section{"overhead", "How it was done."};
  section.rows = {row_of(30, 100)};
  section.rows[0].series[0].parts = {{"build", {10, 11, 12}}};
  section.rows[0].series[0].least = {28, 21.5, 27};
  section.judge_ratio("G1", section.rows[0], "tbb", 0.4);
  report.sections = {section};

  const nlohmann::json json = to_json(report);
  CHECK(json["machine"]["cores"] == report.machine.cores);
  CHECK(json["skipped"][0]["package"] == "libstarpu-dev");
  const auto& runner = json["sections"][0]["rows"][0]["runners"][0];
  CHECK(runner["median"] == 30);
  CHECK(runner["min"] == 21.5);
  CHECK(json["sections"][0]["rows"][0]["runners"][1]["min"] == 100);
  CHECK(runner["values"].size() == 3);
  CHECK(runner["parts"]["build"]["median"] == 11);
  CHECK(runner["ratio"]["tbb"].get<double>() == Approx(0.3));
  CHECK(json["sections"][0]["verdicts"][0]["met"] == true);

  std::ostringstream text;
  print(text, report);
  for (const char* part : {"install libstarpu-dev", "0.300 ×", "≤ 0.400 × tbb", "met", "build 11.0", "21.5",
                           "How it was done.", "the machine was busy"}) {
    CAPTURE(part);
    CHECK(text.str().find(part) != std::string::npos);
  }
}
