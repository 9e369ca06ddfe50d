// More jobs and clients at once than a node may have files open: they wait, and end well.

#include "tests/cluster/gate.hpp"

using cluster::at;
using cluster::bin;
using cluster::Gate;
using cluster::Nodes;
using cluster::Process;
using cluster::said;
using cluster::submitted;

namespace {

/// dagd raises its soft limit, so the hard one is lowered, too.
std::vector<std::string> with_files(int count) {
  return {"sh", "-c", "ulimit -n " + std::to_string(count) + "; exec \"$@\"", "sh"};
}

bool has_ended_well(const Nodes& nodes, const std::string& job) {
  return said(nodes, {"wait", job}).find("finished") != std::string::npos;
}

}  // namespace

TEST_CASE("many clients with a job each, at few open files: all end well, and no node dies") {
  Nodes nodes(3, false, {}, {}, {}, with_files(256));
  nodes.gather();
  std::vector<std::unique_ptr<Process>> clients;
  for (int i = 0; i < 24; ++i)
    clients.push_back(std::make_unique<Process>(at(nodes, {bin("cluster_leaving")})));
  for (const auto& client : clients) {
    const auto ended = client->ends();
    INFO(client->err());
    CHECK(ended == 0);
    CHECK(client->out() == "42\n");
  }
  const std::string list = said(nodes, {"node", "list", "--json"});
  std::size_t alive = 0;
  for (auto found = list.find("\"alive\""); found != std::string::npos;
       found = list.find("\"alive\"", found + 1))
    ++alive;
  CHECK(alive == 3);
  nodes.end_all();
  INFO(nodes.logs());
  CHECK_THAT(nodes.logs(), Catch::Contains("a client waits to be served"));
}

TEST_CASE("jobs that no node has files for wait, say so, and start in turn") {
  Nodes nodes(1, false, {}, {}, {}, with_files(128));
  Gate gate;
  std::vector<std::string> jobs;
  for (int i = 0; i < 8; ++i) jobs.push_back(submitted(nodes, "cluster_gate", {gate.path()}));
  const std::string last = jobs.back();
  REQUIRE(cluster::comes_true([&] {
    return said(nodes, {"show", last}).find("limit_reached") != std::string::npos;
  }));
  CHECK_THAT(said(nodes, {"show", last}),
             Catch::Contains("starting") && Catch::Contains("128 open files (ulimit -n)"));
  gate.open();
  for (const std::string& job : jobs) CHECK(has_ended_well(nodes, job));
}

TEST_CASE("the doctor says what limits there are, and how many jobs and clients fit") {
  Process doctor({"sh", "-c", "ulimit -n 1024; exec \"$@\"", "sh", bin("dag"), "doctor"});
  doctor.ends();
  CHECK_THAT(doctor.out(), Catch::Contains("files: 1024 open files") && Catch::Contains("processes: ") &&
                               Catch::Contains("runs 48 jobs (1024 open files (ulimit -n))") &&
                               Catch::Contains("serves 64 clients"));
}
