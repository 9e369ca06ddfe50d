// With a million tasks nothing is cut: counts, lists, the graph, the trace and the report say the same, and
// it is what the job was. Takes a minute and a half: `tools/test --full` runs it.

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <regex>
#include <string>
#include <vector>

#include "tests/cluster/nodes.hpp"

using cluster::at;
using cluster::bin;
using cluster::Nodes;
using cluster::Process;
using nlohmann::json;

namespace {

/// The job is `layers 1000000 20`: layers of a thousand, in which each task needs the one above it, and that
/// one's neighbour.
constexpr std::size_t tasks = 1'000'000, width = 1000, edges = 2 * (tasks - width);

std::size_t neighbour_above(std::size_t task) { return task - task % width - width + (task + 1) % width; }

/// A `dag` command whose output goes into a file; what it says beside that. It may take longer than others
/// do.
std::string run(const Nodes& nodes, const std::string& name, const std::string& words,
                const std::string& file) {
  Process command(
      {"/bin/sh", "-c",
       "exec " + bin("dag") + " " + name + " --address " + nodes.address() + " " + words + " > " + file});
  std::optional<int> ended;
  for (int patient = 0; !ended && patient < 10; ++patient) ended = command.ends();
  INFO(name << ": " << command.err());
  REQUIRE(ended == 0);
  CHECK_THAT(command.err(), !Catch::Contains("cannot be read") && !Catch::Contains("is missing"));
  return command.err();
}

json json_in(const std::string& file) {
  std::ifstream in(file);
  return json::parse(in);
}

/// Facts of each task in the lines of a file.
struct Seen {
  std::vector<double> took = std::vector<double>(tasks, -1);  ///< as its slice says, in microseconds
  std::vector<std::uint8_t> before = std::vector<std::uint8_t>(tasks);  ///< arrows from what it needs
  std::size_t slices = 0, arrows = 0;
};

/// An event is a line.
Seen read_trace(const std::string& file) {
  Seen seen;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const bool slice = line.find(R"("ph":"X")") != std::string::npos;
    if (!slice && line.find(R"("ph":"s")") == std::string::npos) continue;
    const json event = json::parse(line.substr(0, line.rfind('}') + 1));
    const json& about = event["args"];
    if (slice) {
      ++seen.slices;
      seen.took.at(std::stoul(about["task"].get<std::string>())) =
          about.contains("ran_us") ? about["ran_us"] : event["dur"];
    } else {
      const auto from = std::stoul(about["from"].get<std::string>());
      const auto to = std::stoul(about["to"].get<std::string>());
      const bool known = to >= width && (from == to - width || from == neighbour_above(to));
      if (known) ++seen.before.at(to);
      ++seen.arrows;
    }
  }
  return seen;
}

}  // namespace

TEST_CASE("of a million tasks counts, lists, graph, trace and report agree", "[.][million]") {
  Nodes nodes(3);
  nodes.gather();
  const std::string folder = nodes.folder_of(0) + "/";
  {
    Process job(at(nodes, {bin("cluster_layers"), std::to_string(tasks), "20"}));
    std::optional<int> ended;
    for (int patient = 0; !ended && patient < 10; ++patient) ended = job.ends();
    INFO(job.err());
    REQUIRE(ended == 0);
  }

  // Events come into the journals a moment later.
  json report;
  for (int tries = 0; tries < 10; ++tries) {
    run(nodes, "report", "1 --json", folder + "report");
    report = json_in(folder + "report");
    if (report["settled"] == tasks && report["tasks"] == tasks) break;
  }
  CHECK(report["settled"] == tasks);
  CHECK(report["tasks"] == tasks);
  CHECK(report["runs"] == tasks);

  run(nodes, "show", "1 --json", folder + "show");
  const json shown = json_in(folder + "show");
  CHECK(shown["counts"]["finished"] == tasks);
  std::uint64_t of_classes = 0;
  for (const json& one : shown["details"]["classes"])
    of_classes += one["counts"]["finished"].get<std::uint64_t>();
  CHECK(of_classes == tasks);

  run(nodes, "history", "1", folder + "history");
  std::size_t settled = 0, came_back = 0;
  std::ifstream history(folder + "history");
  for (std::string line; std::getline(history, line);) {
    settled += line.find("  settled: finished") != std::string::npos ? 1 : 0;
    came_back += line.find("  finished in ") != std::string::npos ? 1 : 0;
  }
  CHECK(settled == tasks);
  CHECK(came_back == tasks);

  run(nodes, "graph", "--json 1", folder + "graph");
  std::size_t listed = 0, drawn = 0;
  std::ifstream graph(folder + "graph");
  for (std::string line; std::getline(graph, line);) {
    listed += line.find(R"({"id": )") != std::string::npos ? 1 : 0;
    drawn += line.find(R"({"from": )") != std::string::npos ? 1 : 0;
  }
  CHECK(listed == tasks);
  CHECK(drawn == edges);

  const std::string notices = run(nodes, "trace", "1 --arrows 5000000", folder + "trace");
  const Seen seen = read_trace(folder + "trace");
  CHECK(seen.slices == tasks);
  // Clocks of two processes differ by microseconds: an arrow that would go back in time is left out, and
  // said.
  std::smatch left_out;
  const bool some =
      std::regex_search(notices, left_out, std::regex("([0-9]+) arrows? left out that point back"));
  CHECK(seen.arrows + (some ? std::stoul(left_out[1]) : 0) == edges);
  CHECK(std::accumulate(seen.before.begin(), seen.before.end(), std::size_t{0}) == seen.arrows);
  CHECK(*std::max_element(seen.before.begin(), seen.before.end()) == 2);
  CHECK(std::count_if(seen.took.begin(), seen.took.end(), [](double one) { return one < 0; }) == 0);
  std::vector<double> path = seen.took;
  for (std::size_t task = width; task < tasks; ++task)
    path[task] += std::max(path[task - width], path[neighbour_above(task)]);
  CHECK(report["critical_path"]["seconds"].get<double>() * 1e6 ==
        Approx(*std::max_element(path.begin(), path.end())).epsilon(1e-6));
}
