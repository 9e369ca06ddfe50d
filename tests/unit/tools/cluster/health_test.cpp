// The doctor's verdict on its findings.
#include "tools/dag/cluster/health.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace dag::tool;
using namespace std::chrono_literals;

namespace {

MachineFacts fit() {
  MachineFacts machine;
  machine.cores = 8;
  machine.memory_bytes = std::uint64_t{32} << 30;
  machine.files_max = machine.files_hard_max = 65536;
  machine.disk = MachineFacts::Disk{"/data", "", false, std::uint64_t{100} << 30, 1ms, 3ms};
  return machine;
}

Finding of(const std::vector<Finding>& all, const std::string& about) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Finding& one) { return one.about == about; });
  REQUIRE(found != all.end());
  return *found;
}

NodeInfo node(std::uint32_t number) {
  NodeInfo info;
  info.life = {ProcessId{number}, {1}};
  info.load.disk = number + 1;
  return info;
}

}  // namespace

TEST_CASE("a machine that is fit has nothing but good findings, and no hints") {
  for (const Finding& one : findings(fit())) {
    INFO(one.about);
    CHECK(one.health == Health::good);
    CHECK(one.hint.empty());
  }
}

TEST_CASE("how descendants end is said, and is good either way") {
  MachineFacts machine = fit();
  CHECK_THAT(of(findings(machine), "descendants").what, Catch::Contains("cgroup.kill"));
  machine.control_groups = false;
  CHECK(of(findings(machine), "descendants").health == Health::good);
  CHECK_THAT(of(findings(machine), "descendants").what, Catch::Contains("/proc"));
}

TEST_CASE("what is wrong with a machine is named, with what to do about it") {
  MachineFacts machine = fit();
  std::string about;
  Health health = Health::bad;
  SECTION("a control group gives it less time") {
    machine.cpu_limit = 1.5;
    about = "cpu";
    health = Health::doubtful;
    CHECK_THAT(of(findings(machine), about).what, Catch::Contains("the time of 1.5"));
  }
  SECTION("few files, which can be raised") {
    machine.files_max = 1024;
    about = "files";
    health = Health::doubtful;
  }
  SECTION("few files") {
    machine.files_max = machine.files_hard_max = 1024;
    about = "files";
  }
  SECTION("few processes") {
    machine.processes = {{"processes (ulimit -u)", 1000, 400}};
    about = "processes";
    health = Health::doubtful;
    CHECK(of(findings(machine), about).what == "400 of 1000 processes (ulimit -u) are in use");
  }
  SECTION("room for few jobs and clients") {
    machine.files_max = machine.files_hard_max = 1024;
    about = "room";
    health = Health::doubtful;
    CHECK(of(findings(machine), about).what ==
          "a single node runs 48 jobs (1024 open files (ulimit -n)) and serves 64 clients (1024 open "
          "files (ulimit -n)) at a time");
  }
  SECTION("no shared memory") {
    machine.shared_memory = false;
    about = "shared memory";
  }
  SECTION("no barriers") {
    machine.barriers = false;
    about = "barriers";
    health = Health::doubtful;
  }
  SECTION("a disk that is none") {
    machine.disk->in_memory = true;
    about = "disk";
  }
  SECTION("a full disk") {
    machine.disk->free_bytes = 1000;
    about = "disk";
  }
  SECTION("a disk that cannot be written") {
    machine.disk->problem = "cannot be written: Permission denied";
    about = "disk";
  }
  SECTION("a slow disk") {
    machine.disk->sync_median = 80ms;
    about = "disk";
    health = Health::doubtful;
  }
  SECTION("no disk was named") {
    machine.disk.reset();
    about = "disk";
    health = Health::doubtful;
  }
  const Finding found = of(findings(machine), about);
  CHECK(found.health == health);
  CHECK_FALSE(found.hint.empty());
}

TEST_CASE("a cluster is as fit as its nodes, and as there are copies") {
  ClusterFacts cluster{"127.0.0.1:7117", "", {node(0), node(1), node(2)}};
  CHECK(findings(cluster).size() == 1);
  CHECK(findings(cluster)[0].health == Health::good);
  SECTION("it does not answer") {
    cluster.problem = "nobody answers";
    CHECK(of(findings(cluster), "cluster").health == Health::bad);
  }
  SECTION("two nodes") {
    cluster.nodes.pop_back();
    const Finding found = of(findings(cluster), "cluster");
    CHECK(found.health == Health::doubtful);
    CHECK_THAT(found.what, Catch::EndsWith("the record of a job has one copy"));
  }
  SECTION("a witness alone") {
    cluster.nodes = {node(0)};
    cluster.nodes[0].load.witness = true;
    CHECK(of(findings(cluster), "cluster").health == Health::bad);
  }
  SECTION("a node that is silent") {
    cluster.nodes[1].state = MemberState::suspect;
    CHECK(of(findings(cluster), "n1").health == Health::bad);
  }
  SECTION("a full disk") {
    cluster.nodes[1].load.disk_full = true;
    CHECK(of(findings(cluster), "n1").health == Health::bad);
  }
  SECTION("a node that is to go") {
    cluster.nodes[2].load.draining = true;
    CHECK(of(findings(cluster), "n2").health == Health::doubtful);
    CHECK_THAT(of(findings(cluster), "cluster").what, Catch::Contains("2 that run jobs"));
  }
}
