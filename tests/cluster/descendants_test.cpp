// Processes that a kernel starts end with it, by whatever means it ends.

#include <catch2/catch.hpp>

#include "libdag/warden/warden.hpp"
#include "tests/cluster/nodes.hpp"

namespace warden = dag::warden;
using cluster::at;
using cluster::bin;
using cluster::Directory;
using cluster::is_gone_soon;
using cluster::Nodes;
using cluster::parent_of;
using cluster::Process;
using cluster::said;

namespace {

/// The numbers of the commands, in the order in which they began.
std::vector<pid_t> commands_in(const std::string& file, std::size_t count) {
  std::vector<pid_t> numbers;
  const bool have_begun = cluster::comes_true([&] {
    numbers.clear();
    std::ifstream in(file);
    for (std::string line; std::getline(in, line) && !in.eof();) numbers.push_back(std::stoi(line));
    return numbers.size() >= count;
  });
  INFO(count << " commands");
  REQUIRE(have_begun);
  return numbers;
}

/// A worker process of this node: what the node's wardens have started.
pid_t ancestor_below(pid_t process, pid_t node) {
  pid_t below = process, above = parent_of(process), two_above = parent_of(above);
  for (; two_above != 0 && two_above != node;
       below = above, above = two_above, two_above = parent_of(above)) {
  }
  return two_above == node ? below : 0;
}

}  // namespace

TEST_CASE("commands of kernels end with the job, with their process, and with the node") {
  const Directory directory("descendants");
  Nodes nodes(1);
  const std::string file = directory / "commands";
  Process job({bin("cluster_child"), file, "--address", nodes.address()});
  const pid_t first = commands_in(file, 1).front();
  SECTION("the job is cancelled") {
    said(nodes, {"cancel", "1"});
    CHECK(job.ends() != 0);
    CHECK(is_gone_soon(first));
  }
  SECTION("its process is killed: the next attempt begins when the command of the first one is gone") {
    kill(ancestor_below(first, nodes.node(0).id()), SIGKILL);
    const pid_t second = commands_in(file, 2).back();
    CHECK(second != first);
    CHECK(parent_of(first) == 0);
    said(nodes, {"cancel", "1"});
    CHECK(is_gone_soon(second));
  }
  SECTION("its warden is killed: likewise, where there are control groups") {
    if (warden::has_control_groups()) {
      kill(parent_of(ancestor_below(first, nodes.node(0).id())), SIGKILL);
      CHECK(commands_in(file, 2).back() != first);
      CHECK(parent_of(first) == 0);
    } else {
      WARN("no control group (version 2) can be made here");
    }
  }
  SECTION("the node is told to end: it ends when the command is gone") {
    nodes.node(0).kill(SIGTERM);
    CHECK(nodes.node(0).ends() == 0);
    CHECK(parent_of(first) == 0);
  }
  SECTION("the node is killed") {
    nodes.node(0).kill(SIGKILL);
    CHECK(is_gone_soon(first));
  }
}

TEST_CASE("commands of kernels end with the isolated client that is killed") {
  const Directory directory("descendants");
  const std::string file = directory / "commands";
  Process job({bin("cluster_child"), file, "--dag-isolate"});
  const pid_t command = commands_in(file, 1).front();
  job.kill(SIGKILL);
  CHECK(is_gone_soon(command));
}

TEST_CASE("a worker process that is told to end from outside is a loss, and no fault of its task") {
  const int number = GENERATE(SIGTERM, SIGHUP);
  const Directory directory("descendants");
  Nodes nodes(1);
  const std::string file = directory / "commands";
  Process job({bin("cluster_child"), file, "--address", nodes.address()});
  std::vector<pid_t> commands = commands_in(file, 1);
  for (std::size_t times = 2; times <= 3; ++times) {
    kill(ancestor_below(commands.back(), nodes.node(0).id()), number);
    commands = commands_in(file, times);
  }
  CHECK_THAT(said(nodes, {"history", "1"}), !Catch::Contains("crashed its process"));
  said(nodes, {"cancel", "1"});
}

TEST_CASE(
    "an exclusive task whose process is killed never overlaps with what an earlier attempt has started") {
  const Directory directory("exclusive");
  Nodes nodes(3);
  nodes.gather();
  const std::string file = directory / "processes";
  Process job(at(nodes, {bin("cluster_exclusive"), file}));
  const auto ended = job.ends();
  INFO(job.err());
  CHECK(ended == 0);
  CHECK_THAT(job.out(), Catch::StartsWith("attempt "));
  std::ifstream in(file);
  std::vector<pid_t> started;
  std::string word;
  for (pid_t number = 0; in >> word >> number;) {
    CHECK(word == "started");
    started.push_back(number);
  }
  CHECK(started.size() >= 3);
  for (const pid_t process : started) CHECK(is_gone_soon(process));
}

TEST_CASE("an exclusive task that is late never overlaps with what an earlier attempt has started") {
  const std::string left = GENERATE("child", "orphan");
  const Directory directory("exclusive");
  Nodes nodes(1);
  const std::string file = directory / "processes";
  Process job(at(nodes, {bin("cluster_exclusive"), file, left}));
  const auto ended = job.ends();
  INFO(job.err());
  CHECK(ended == 0);
  CHECK(job.out() == "attempt 2\n");
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK_THAT(text, Catch::StartsWith("started ") && !Catch::Contains("overlaps"));
  CHECK_THAT(said(nodes, {"history", "1"}), Catch::Contains("left processes behind"));
}

TEST_CASE("an exclusive kernel that does not return ends its process: it is charged, and nobody else") {
  const Directory directory("exclusive");
  Nodes nodes(1, true, {}, {}, {"--lanes", "2"});
  Process job(at(nodes, {bin("cluster_exclusive"), directory / "attempts", "deaf"}));
  const auto ended = job.ends();
  INFO(job.err());
  CHECK(ended == 0);
  CHECK(job.out() == "attempt 2, beside 1\n");
  CHECK_THAT(said(nodes, {"history", "1"}),
             Catch::Contains("does not return: the attempt ran longer than its timeout"));
}

TEST_CASE("a process that is ended from outside is charged to nobody, one that its kernel ends to its task") {
  const Directory directory("ended");
  Nodes nodes(1);
  const std::string file = directory / "processes";
  SECTION("from outside") {
    const int number = GENERATE(SIGTERM, SIGHUP, SIGKILL, SIGSEGV);
    INFO("signal " << number);
#if defined(__SANITIZE_ADDRESS__)
    if (number == SIGSEGV) return;  // ASan's handler makes an exit of it.
#endif
    Process job(at(nodes, {bin("cluster_ended"), file}));
    kill(commands_in(file, 1).front(), number);
    CHECK(job.ends() == 0);
    CHECK(job.out() == "attempt 1\n");
  }
  SECTION("by its kernel") {
    const std::string how = GENERATE("segv", "abort");
    Process job(at(nodes, {bin("cluster_ended"), file, how, "2"}));
    CHECK(job.ends() == 0);
    CHECK(job.out() == "attempt 2\n");
  }
  SECTION("by its kernel, which has no other try") {
    Process job(at(nodes, {bin("cluster_ended"), file, "segv"}));
    CHECK(job.ends() != 0);
    CHECK(commands_in(file, 1).size() == 1);
  }
}
