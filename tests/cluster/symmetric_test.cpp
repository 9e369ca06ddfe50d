// `dag run -n N JOB`: real processes and sockets, processes that die, ports that are taken, peers that do not
// belong.

#include <catch2/catch.hpp>

#include "tests/cluster/processes.hpp"

using cluster::bin;
using cluster::place;
using cluster::Process;
using cluster::result_in;

namespace {

std::vector<std::string> dag_run(int count, const std::string& job, std::vector<std::string> arguments = {}) {
  std::vector<std::string> words{bin("dag"), "run", "-n", std::to_string(count), bin(job), "--"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::string embedded_result(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{bin("cluster_mixture")};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Process alone(words);
  CHECK(alone.ends() == 0);
  return result_in(alone.out());
}

}  // namespace

TEST_CASE("hello runs as one, two and three processes") {
  const int count = GENERATE(1, 2, 3);
  Process run(dag_run(count, "hello"));
  CHECK(run.ends() == 0);
  CHECK(run.out() == "5\n");
  CHECK(run.err() == "");
}

TEST_CASE("a graph with actors and spawned tasks gives the same result in three processes as in one") {
  Process run(dag_run(3, "cluster_mixture"));
  CHECK(run.ends() == 0);
  INFO(run.err());
  CHECK(result_in(run.out()) == embedded_result({}));
}

TEST_CASE("a process that is killed in the middle changes nothing") {
  const std::string first = cluster::free_address();
  const std::vector<std::string> job{bin("cluster_mixture"), "90", "3000"};
  Process zero(job, place(0, 3, first)), one(job, place(1, 3, first)), two(job, place(2, 3, first));
  REQUIRE(zero.says("quarter"));
  two.kill(SIGKILL);
  CHECK(zero.ends() == 0);
  INFO(zero.err());
  CHECK(result_in(zero.out()) == embedded_result({"90", "3000"}));
  CHECK(one.ends() == 0);
}

TEST_CASE("without process 0 the others end and say so") {
  const std::string first = cluster::free_address();
  const std::vector<std::string> job{bin("cluster_mixture"), "400", "10000"};
  Process zero(job, place(0, 3, first)), one(job, place(1, 3, first)), two(job, place(2, 3, first));
  REQUIRE(zero.says("quarter"));
  zero.kill(SIGKILL);
  for (Process* other : {&one, &two}) {
    CHECK(other->ends() == 8);
    CHECK_THAT(other->err(), Catch::Contains("cluster_lost"));
  }
}

TEST_CASE("processes of two binaries are not one run: both builds are named") {
  const std::string first = cluster::free_address();
  Process zero({bin("hello")}, place(0, 2, first)), one({bin("cluster_mixture")}, place(1, 2, first));
  CHECK(one.ends() == 4);
  CHECK_THAT(one.err(), Catch::Contains("binary_mismatch") && Catch::Contains("n1.1 runs build ") &&
                            Catch::Contains("n0.1 runs build "));
  CHECK(zero.ends() != 0);
  CHECK_THAT(zero.err(), Catch::Contains("binary_mismatch"));
}

TEST_CASE("a port that is taken is named") {
  const std::string first = cluster::free_address();
  const std::vector<std::string> job{bin("cluster_mixture"), "400", "10000"};
  Process zero(job, place(0, 2, first)), one(job, place(1, 2, first));
  REQUIRE(zero.says("quarter"));
  Process late({bin("hello")}, place(0, 2, first));
  CHECK(late.ends() != 0);
  CHECK_THAT(late.err(),
             Catch::Contains("address_in_use") && Catch::Contains(first.substr(first.find(':') + 1)));
}

TEST_CASE("garbage at the port is refused and the job goes on") {
  const std::string first = cluster::free_address();
  const std::vector<std::string> job{bin("cluster_mixture"), "90", "3000"};
  Process zero(job, place(0, 2, first)), one(job, place(1, 2, first));
  REQUIRE(zero.says("quarter"));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(first.substr(first.find(':') + 1))));
  for (int i = 0; i < 10; ++i) {
    const int stranger = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(connect(stranger, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    const std::string garbage(static_cast<std::size_t>(1000 * i + 1), static_cast<char>(i * 37));
    CHECK(send(stranger, garbage.data(), garbage.size(), MSG_NOSIGNAL) > 0);
    close(stranger);
  }
  CHECK(zero.ends() == 0);
  CHECK(result_in(zero.out()) == embedded_result({"90", "3000"}));
}

TEST_CASE("Ctrl-C leaves no process") {
  Process run(dag_run(3, "cluster_mixture", {"400", "10000"}));
  REQUIRE(run.says("quarter"));
  run.kill(SIGINT);
  CHECK(run.ends() == 130);  // Its pipes are closed, so all who had them are gone.
}

TEST_CASE("large values cross processes in pieces, also after the job has ended") {
  Process alone({bin("cluster_bulky"), "40"});
  CHECK(alone.ends() == 0);
  Process run(dag_run(3, "cluster_bulky", {"40"}));
  CHECK(run.ends() == 0);
  INFO(run.err());
  CHECK(result_in(run.out()) == result_in(alone.out()));
}
