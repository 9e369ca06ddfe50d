// Outputs and reports of a job, for clients that did not submit it.

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cluster/nodes.hpp"

using cluster::at;
using cluster::bin;
using cluster::Directory;
using cluster::Nodes;
using cluster::Process;
using cluster::said;
using cluster::submitted;

TEST_CASE("what a submitted job has left is had by another program and by dag result, from any node") {
  Nodes nodes(3);
  nodes.gather();
  const std::string job = submitted(nodes, "cluster_leaving");
  // A node that does not lead the job.
  Process attached({bin("cluster_leaving"), "--address", nodes.address(2), "attach", job});
  const auto ended = attached.ends();
  INFO(attached.err());
  CHECK(ended == 0);
  CHECK_THAT(attached.out(), Catch::StartsWith("42 20\n") && Catch::EndsWith("well\n"));
  const auto json = nlohmann::json::parse(said(nodes, {"result", job, "--json"}));
  REQUIRE(json.at("results").size() == 2);
  CHECK(json.at("results").at(1).at("name") == "sum");
  CHECK(json.at("results").at(1).at("hex") == "2a000000");

  const Directory directory("results");
  CHECK(said(nodes, {"result", job + "/kept", "-o", directory / "kept"}) == "");
  std::ifstream file(directory / "kept", std::ios::binary);
  int kept = 0;
  file.read(reinterpret_cast<char*>(&kept), sizeof kept);
  CHECK(kept == 20);

  // Its processes have ended, and it costs none.
  CHECK(cluster::comes_true([&] {
    return said(nodes, {"show", job, "--json"}).find("\"up\":true") == std::string::npos;
  }));
}

TEST_CASE("what is asked for in vain is said") {
  Nodes nodes(1);
  Process none(at(nodes, {bin("dag"), "result", "job99"}));
  CHECK(none.ends() != 0);
  CHECK_THAT(none.err(), Catch::Contains("job99"));
  const std::string job = submitted(nodes, "cluster_leaving");
  Process unknown(at(nodes, {bin("dag"), "result", job + "/nothing"}));
  CHECK(unknown.ends() == 5);
  CHECK_THAT(unknown.err(), Catch::Contains("has no task 'nothing'"));
  Process alone({bin("cluster_leaving"), "attach", "job7"});
  CHECK(alone.ends() == 2);
  CHECK_THAT(alone.err(), Catch::Contains("--address"));
}

TEST_CASE("a job whose handle is kept holds no process when it has ended") {
  Nodes nodes(2);
  nodes.gather();
  Process job(at(nodes, {bin("cluster_leaving")}));
  CHECK(job.ends() == 0);
  CHECK(job.out() == "42\n");
}

TEST_CASE("results beyond the memory for them are had from the disk, and are released where there is none") {
  const bool has_disk = GENERATE(true, false);
  Nodes nodes(1, has_disk, {}, {}, {"--results-mib", "0"});
  const std::string job = submitted(nodes, "cluster_leaving");
  said(nodes, {"wait", job});
  Process result(at(nodes, {bin("dag"), "result", job, "--json"}));
  CHECK(result.ends() == (has_disk ? 0 : 1));
  const auto json = nlohmann::json::parse(result.out());
  CHECK(json.at("results").at(1).at("name") == "sum");
  CHECK(json.at("results").at(1).contains("hex") == has_disk);
  CHECK(json.at("results").at(1).contains("error") != has_disk);
}

TEST_CASE("what a submitted job has left goes when its time is over") {
  Nodes nodes(1, false, {}, {}, {"--results-kept-for", "1"});
  const std::string job = submitted(nodes, "cluster_leaving");
  REQUIRE(cluster::comes_true([&] {
    Process result(at(nodes, {bin("dag"), "result", job}));
    if (result.ends() == 0) return false;
    CHECK_THAT(result.err(), Catch::Contains("not kept any more"));
    return true;
  }));
  Process again(at(nodes, {bin("dag"), "retry", job}));
  CHECK(again.ends() == 1);
  CHECK_THAT(again.err(), Catch::Contains("output_released"));
}
