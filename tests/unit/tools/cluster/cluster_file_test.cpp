// Where the commands of `dag` look for a cluster, and how they start its nodes.
#include "tools/dag/cluster/cluster_file.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "dag/error.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/dag/cluster/dagd.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/options.hpp"

using namespace dag;
using namespace dag::tool;

namespace {

const StartedNodes two{{0, "127.0.0.1:4001", 1234}, {3, "[::1]:4002", 1235}};

}  // namespace

TEST_CASE("the first that says where a cluster is counts") {
  const auto given = choose_address("a:1", "b:2", two, "file");
  CHECK(given->address == "a:1");
  CHECK(given->origin == "--address");
  const auto environment = choose_address("", "b:2", two, "file");
  CHECK(environment->address == "b:2");
  CHECK(environment->origin == "DAG_ADDRESS");
  const auto file = choose_address("", "", two, "file");
  CHECK(file->address == "127.0.0.1:4001");
  CHECK(file->origin == "file");
  CHECK_FALSE(choose_address("", "", {}, "file"));
}

TEST_CASE("the address file is read as it is written") {
  CHECK(parse_cluster(cluster_text(two), "file") == two);
  CHECK(parse_cluster(cluster_text({}), "file").empty());
}

TEST_CASE("an address file that nobody of us wrote is refused, not half believed") {
  const auto* text = GENERATE(
      "", "x", "[]", "{}", R"({"nodes":1})", R"({"nodes":[1]})", R"({"nodes":[{}]})",
      R"({"nodes":[{"id":1,"address":"a:1"}]})", R"({"nodes":[{"id":1,"address":2,"pid":3}]})",
      R"({"nodes":[{"id":-1,"address":"a:1","pid":3}]})",
      R"({"nodes":[{"id":65535,"address":"a:1","pid":3}]})",
      // kill(0), kill(-1) and init are nobody's node.
      R"({"nodes":[{"id":1,"address":"a:1","pid":0}]})", R"({"nodes":[{"id":1,"address":"a:1","pid":1}]})",
      R"({"nodes":[{"id":1,"address":"a:1","pid":-1}]})",
      R"({"nodes":[{"id":1,"address":"a:1","pid":4294967295}]})",
      R"({"nodes":[{"id":1,"address":"a:1","pid":3},{"id":2}]})");
  INFO(text);
  try {
    parse_cluster(text, "/run/cluster.json");
    FAIL("it was believed");
  } catch (const Failure& failure) {
    CHECK(failure.error().code == ErrorCode::configuration_invalid);
    CHECK_THAT(failure.error().what, Catch::StartsWith("/run/cluster.json "));
  }
}

TEST_CASE("a process that is no dagd is not taken for a node") {
  CHECK_FALSE(is_dagd(getpid()));
  const test::TemporaryDirectory directory;
  const std::string base = directory.path();
  CHECK(running_nodes(base).empty());
  const ClusterLock lock(base);
  write_cluster(base, {{0, "127.0.0.1:4001", getpid()}});
  CHECK(std::filesystem::exists(cluster_file_of(base)));
  CHECK(running_nodes(base).empty());
  remove_cluster(base);
  CHECK_FALSE(std::filesystem::exists(cluster_file_of(base)));
  remove_cluster(base);  // Gone already, as wanted.
}

TEST_CASE("of what nodes wrote their journals stay when they end, and go when others begin") {
  const test::TemporaryDirectory directory;
  const std::filesystem::path base = directory.path();
  for (const char* name : {"n0/journal", "n0/other", "n1", "mine", "n2x"})
    std::filesystem::create_directories(base / name);
  for (const char* name : {"n0.log", "n0/job1-1.log", "n0/journal/journal-1", "n1/job1-1.log"})
    std::ofstream(base / name) << "a line\n";
  const auto there = [&] {
    std::set<std::string> names;
    for (const auto& one : std::filesystem::recursive_directory_iterator(base))
      names.insert(one.path().lexically_relative(base).string());
    return names;
  };
  remove_cluster(base);
  CHECK(there() == std::set<std::string>{"mine", "n0", "n0/journal", "n0/journal/journal-1", "n2x"});
  remove_history(base);
  CHECK(there() == std::set<std::string>{"mine", "n2x"});
}

TEST_CASE("a node's command line leaves nothing to files and variables that would make it another node") {
  DagdOrder order;
  order.id = 2;
  order.state_dir = "/run/dag";
  CHECK(dagd_words("/bin/dagd", order) ==
        std::vector<std::string>{"/bin/dagd", "--id", "2", "--listen", "127.0.0.1:0", "--peers", "",
                                 "--share", "0/1", "--cluster", "0", "--state-dir", "/run/dag"});
  order.lanes = "4";
  order.log = "info";
  const auto words = dagd_words("/bin/dagd", order);
  CHECK(std::vector<std::string>(words.end() - 4, words.end()) ==
        std::vector<std::string>{"--lanes", "4", "--log", "info"});
}

TEST_CASE("a node is ready once it has said so, in a whole line") {
  CHECK_FALSE(address_said(""));
  CHECK_FALSE(address_said("dagd n0 listens on 127.0.0.1:40"));
  CHECK(address_said("dagd n0 listens on 127.0.0.1:4001\n") == "127.0.0.1:4001");
  CHECK(address_said("a warning\ndagd n12 listens on [::1]:4001\nmore\n") == "[::1]:4001");
  CHECK_FALSE(address_said("somebody listens on 127.0.0.1:4001\n"));
}

TEST_CASE("a job is understood, or it is said how one is written") {
  CHECK(job_of("job2.7") == JobId{(std::uint64_t{2} << 32) | 7});
  CHECK_THROWS_WITH(job_of("train\n"), Catch::Contains("'train?' is not a job"));
}
