// A node whose disk is full: others lead what it led, until there is room.

#include <sys/mount.h>

#include <nlohmann/json.hpp>

#include "tests/cluster/running.hpp"
#include "tests/support/http_client.hpp"

using cluster::at;
using cluster::bin;
using cluster::Nodes;
using cluster::Process;
using cluster::Running;

namespace {

/// Not there without root.
struct SmallDisk {
  SmallDisk() : there(mount("tmpfs", path().c_str(), "tmpfs", 0, "size=90m") == 0) {}
  ~SmallDisk() {
    if (there) umount2(path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  std::string path() const { return directory.path().string(); }
  bool grow() const { return mount("tmpfs", path().c_str(), "tmpfs", MS_REMOUNT, "size=400m") == 0; }

  const dag::test::TemporaryDirectory directory;
  const bool there;
};

/// The first node's report on itself.
nlohmann::json first_of(Nodes& nodes) {
  Process show(at(nodes, {bin("dag"), "node", "show", "n0", "--json"}, 1));
  const auto ended = show.ends();
  if (ended != 0) nodes.end_all();
  INFO(nodes.logs());
  INFO(show.err());
  REQUIRE(ended == 0);
  return nlohmann::json::parse(show.out());
}

}  // namespace

TEST_CASE("a node whose disk is full hands the jobs that it leads to others, and takes part again later") {
  const SmallDisk disk;
  if (!disk.there) {
    WARN("no small disk can be mounted here: this needs root");
    return;
  }
  Running running(3, true, 600, disk.path());
  Nodes& nodes = running.nodes;
  REQUIRE(first_of(nodes)["jobs"] == 1);
  const auto is_full = [&] { return first_of(nodes)["disk_full"] == true; };
  while (!is_full()) {  // A segment of the log fits; then there is no room for the next.
    Process ballast(at(nodes, {bin("cluster_ballast"), "8"}));
    REQUIRE(ballast.ends());  // A job that does not fit is refused.
  }
  Process elsewhere(at(nodes, {bin("hello")}));
  CHECK(elsewhere.ends() == 0);  // Another node gives it a handle.
  CHECK(cluster::comes_true([&] {
    REQUIRE(is_full());
    return first_of(nodes)["jobs"] == 0;
  }));
  CHECK(running.job->out().find("sum") == std::string::npos);  // The job was handed over while it ran.
  running.check_end();
  CHECK(is_full());
  const std::string said = dag::test::get(cluster::web_port(nodes, 0), "/readyz").body;
  CHECK_THAT(said, Catch::Contains("the disk of n0 is full: the node accepts no new jobs\n"));
  REQUIRE(disk.grow());
  REQUIRE(nodes.node(0).says("the disk has room again"));
  CHECK(cluster::comes_true([&] { return !is_full(); }));
  Process hello(at(nodes, {bin("hello")}));
  CHECK(hello.ends() == 0);
}
