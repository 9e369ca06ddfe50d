// Conditions that a process is started with: signals that are ignored, files that are missing or that it must
// not keep, a directory that is gone; and copies that a kernel makes of it.

#include <sys/stat.h>
#include <catch2/catch.hpp>

#include "tests/cluster/nodes.hpp"

using cluster::at;
using cluster::bin;
using cluster::Directory;
using cluster::Nodes;
using cluster::Process;
using cluster::said;

namespace {

/// Started by a shell that has done this first.
std::vector<std::string> after(const std::string& first, const std::vector<std::string>& words) {
  std::vector<std::string> all{"/bin/sh", "-c", first + "; exec \"$@\"", "sh"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

}  // namespace

TEST_CASE("a starter that ignores SIGCHLD") {
  const std::string ignores = "trap '' CHLD";
  Process fails(after(ignores, {bin("dag"), "exec", "--", "sh", "-c", "exit 1"}));
  CHECK(fails.ends() == 1);
  Process isolated(after(ignores, {bin("cluster_forks"), "exits", "--dag-isolate"}));
  CHECK(isolated.ends() == 0);
  CHECK(isolated.out() == "attempt 3\n");
  Process run(after(ignores, {bin("dag"), "run", "-n", "2", bin("hello")}));
  CHECK(run.ends() == 0);
}

TEST_CASE("a starter that has closed the standard files") {
  const Directory directory("closed");
  const std::string gate = directory / "gate";
  REQUIRE(mkfifo(gate.c_str(), 0600) == 0);
  // Else the first files that the program opens would be its standard files.
  Process closed(after("exec 0<&- 1>&- 2>&-", {bin("dag"), "exec", "--", "sh", "-c", "read x < " + gate}));
  std::ofstream opened(gate);  // When the command reads.
  for (const char* file : {"0", "1", "2"})
    CHECK(std::filesystem::read_symlink("/proc/" + std::to_string(closed.id()) + "/fd/" + file) ==
          "/dev/null");
  opened << "x" << std::endl;
  opened.close();
  CHECK(closed.ends() == 0);
}

TEST_CASE("the soft limit of open files is raised to the hard one") {
  Process limited(after("ulimit -S -n 64",
                        {bin("dag"), "exec", "--", "sh", "-c", "[ $(ulimit -S -n) = $(ulimit -H -n) ]"}));
  CHECK(limited.ends() == 0);
}

TEST_CASE("nodes keep no file of whoever started them") {
  const Directory directory("kept");
  std::filesystem::permissions(directory.path, std::filesystem::perms::owner_all);
  const std::map<std::string, std::string> own{{"XDG_RUNTIME_DIR", directory.path.string()}};
  // The pipe ends when all processes with it do, so only if the node does not have it.
  Process up(
      {"/bin/sh", "-c", "exec 9>&1; exec \"$@\" > /dev/null 2>&1", "sh", bin("dag"), "up", "--nodes", "1"},
      own);
  CHECK(up.ends() == 0);
  Process down({bin("dag"), "down"}, own);
  CHECK(down.ends() == 0);
}

TEST_CASE("a job is submitted from a directory that has been removed") {
  const Directory directory("removed");
  Nodes nodes(1);
  Process job(after("mkdir " + (directory / "gone") + "; cd " + (directory / "gone") + "; rmdir ../gone",
                    {std::filesystem::absolute(bin("hello")).string(), "--address", nodes.address()}));
  CHECK(job.ends() == 0);
}

TEST_CASE("a child that leaves its kernel ends, and says nothing in its parent's name") {
  const std::string how = GENERATE("throws", "returns", "exits", "faults");
  Nodes nodes(1);
  Process job({bin("cluster_forks"), how, "--address", nodes.address()});
  CHECK(job.ends() == 0);
  INFO(how << ": " << job.err());
  CHECK(job.out() == (how == "exits" ? "attempt 3\n" : "attempt 1\n"));
  const std::string history = said(nodes, {"history", "1"});
  CHECK_THAT(history, !Catch::Contains("  failed in "));
  CHECK_THAT(said(nodes, {"logs", "1"}), Catch::Contains("after") && !Catch::Contains("voice"));
}
