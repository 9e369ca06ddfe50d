// The parts of a client's world that its kernels have anywhere: environment, limits, libraries.

#include <nlohmann/json.hpp>

#include "tests/cluster/nodes.hpp"

using cluster::at;
using cluster::bin;
using cluster::Nodes;
using cluster::Process;

namespace {

const std::map<std::string, std::string> world{{"MY_TOKEN", "abc"},
                                               {"EMPTY", ""},
                                               {"OMP_NUM_THREADS", "3"},
                                               {"DAG_MY_SETTING", "x"},
                                               {"LD_LIBRARY_PATH", "/no/where"},
                                               {"DAG_TASK_ID", "7"},
                                               {"PATH", "/bin:/usr/bin"}};

/// With soft limits of its own.
std::vector<std::string> limited(std::vector<std::string> words) {
  words.insert(words.begin(),
               {"/bin/sh", "-c", "ulimit -S -c 77 && ulimit -S -t 54321 && exec \"$@\"", "sh"});
  return words;
}

std::vector<std::string> with_names(std::vector<std::string> words) {
  for (const auto& [name, value] : world) words.push_back(name);
  words.push_back("OPENBLAS_NUM_THREADS");
  return words;
}

/// The output of the kernel.
std::string said_by_kernel(const std::vector<std::string>& words,
                           const std::map<std::string, std::string>& environment = world) {
  Process job(limited(words), environment);
  const auto ended = job.ends();
  INFO(job.err());
  CHECK(ended == 0);
  return job.out();
}

}  // namespace

TEST_CASE("kernels have the environment and the limits of who submits, in every form") {
  Nodes nodes(2);
  nodes.gather();
  const std::string job = bin("cluster_world"), dag = bin("dag");
  const std::string embedded = said_by_kernel(with_names({job}));
  CHECK_THAT(embedded, Catch::Contains("DAG_MY_SETTING=x\n") && Catch::Contains("EMPTY=\n") &&
                           Catch::Contains("limit 39424\nlimit 54321\n") &&
                           Catch::Contains("OPENBLAS_NUM_THREADS is not set\n"));
  CHECK(said_by_kernel(with_names({job, "--dag-isolate"})) == embedded);
  CHECK(said_by_kernel(with_names({dag, "run", "-n", "2", job, "--"})) == embedded);
  CHECK(said_by_kernel(with_names({dag, "run", "-n", "2", "--isolate", job, "--"})) == embedded);
  CHECK(said_by_kernel(with_names({job, "--address", nodes.address()})) == embedded);
  CHECK(said_by_kernel(with_names({dag, "submit", "--watch", "--address", nodes.address(), job, "--"})) ==
        embedded);
}

TEST_CASE("libraries have one thread in a kernel where the user says nothing of it") {
  Nodes nodes(1);
  const std::string said = said_by_kernel(
      {bin("cluster_world"), "--address", nodes.address(), "OMP_NUM_THREADS", "MKL_NUM_THREADS"},
      {{"MKL_NUM_THREADS", "2"}});
  CHECK_THAT(said, Catch::StartsWith("OMP_NUM_THREADS=1\nMKL_NUM_THREADS=2\n"));
}

TEST_CASE("what means something in one session or to libdag alone does not travel") {
  Nodes nodes(1);
  const std::string said =
      said_by_kernel({bin("cluster_world"), "--address", nodes.address(), "SSH_AUTH_SOCK", "DAG_HTTP_TOKEN",
                      "DAG_WORKER", "DAG_DETACH"},
                     {{"SSH_AUTH_SOCK", "/of/the/client"}, {"DAG_HTTP_TOKEN", "a-secret-of-a-node"}});
  CHECK_THAT(said, !Catch::Contains("/of/the/client") && Catch::Contains("DAG_HTTP_TOKEN is not set\n") &&
                       Catch::Contains("DAG_WORKER is not set\n"));
}

TEST_CASE("an environment that is too large is refused, and it is said how large it may be") {
  Nodes nodes(1);
  std::map<std::string, std::string> large;
  for (int i = 0; i < 10; ++i) large["LARGE_" + std::to_string(i)] = std::string(120'000, 'x');
  Process job(at(nodes, {bin("cluster_world")}), large);
  CHECK(job.ends() == 2);
  CHECK_THAT(job.err(), Catch::Contains("the environment has ") && Catch::Contains("1048576 bytes"));
}

TEST_CASE("a job finds the libraries beside it when a node starts it from memory") {
  Nodes nodes(2);
  nodes.gather();
  for (const auto& words : {std::vector{bin("cluster_relocatable")},
                            std::vector{bin("cluster_relocatable"), std::string("--dag-isolate")},
                            at(nodes, {bin("cluster_relocatable")})}) {
    Process job(words);
    CHECK(job.ends() == 0);
    INFO(job.err());
    CHECK(job.out() == "42\n");
  }
}
