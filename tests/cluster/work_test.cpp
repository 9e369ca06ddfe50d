// Commands as tasks of a cluster: `dag exec` and `dag flow` where there is one, and how they, and jobs, find
// it.

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cluster/nodes.hpp"
#include "tests/support/file_text.hpp"

using cluster::at;
using cluster::bin;
using cluster::Directory;
using cluster::Nodes;
using cluster::Process;

namespace {

/// `dag WORDS`, started there.
std::vector<std::string> dag_in(const Directory& directory, const std::vector<std::string>& words) {
  std::vector<std::string> all{"env", "-C", directory / ".", bin("dag")};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

/// A state directory whose address file names this cluster.
void write_address_file(const Directory& state, Nodes& nodes) {
  const nlohmann::json file{
      {"nodes", {{{"id", 0}, {"address", nodes.address()}, {"pid", nodes.node(0).id()}}}}};
  std::ofstream(state / "cluster.json") << file.dump();
}

}  // namespace

TEST_CASE("dag exec runs commands in a cluster: what they print is here, in files and in the job's log") {
  Nodes nodes(2);
  nodes.gather();
  const Directory directory("exec");
  Process run(dag_in(directory, {"exec", "--address", nodes.address(), "--array", "1-3", "--", "/bin/sh",
                                 "-c", "echo line $DAG_TASK_ID of $MY_TOKEN; echo aside >&2; printf end"}),
              {{"MY_TOKEN", "abc"}});
  const auto ended = run.ends();
  INFO(run.err());
  CHECK(ended == 0);
  const std::string out = run.out();
  for (const int number : {1, 2, 3}) {
    const std::string all = "line " + std::to_string(number) + " of abc\nend";
    CHECK(out.find(all) != std::string::npos);
    CHECK(dag::test::text_of(directory / ("dag-job1/" + std::to_string(number) + ".out")) == all);
    CHECK(dag::test::text_of(directory / ("dag-job1/" + std::to_string(number) + ".err")) == "aside\n");
  }
  CHECK_THAT(run.err(), Catch::Contains("dag-job1 and in `dag logs job1`") && Catch::Contains("aside\n"));
  const std::string logs = cluster::said(nodes, {"logs", "job1"});
  for (const char* line : {"line 1 of abc", "line 2 of abc", "line 3 of abc", "aside", "end"})
    CHECK_THAT(logs, Catch::Contains(line));
  CHECK_THAT(logs, !Catch::Contains("ran 0"));
}

TEST_CASE("a command in a cluster is tried again, and what came of it is said") {
  Nodes nodes(1);
  const Directory directory("retry");
  Process run(
      dag_in(directory, {"exec", "--address", nodes.address(), "--attempts", "2", "--json", "--output",
                         "here/{job}", "--", "sh", "-c", "echo try $DAG_ATTEMPT; [ $DAG_ATTEMPT = 2 ]"}));
  const auto ended = run.ends();
  INFO(run.err());
  CHECK(ended == 0);
  const auto json = nlohmann::json::parse(run.out());
  CHECK(json["job"] == "job1");
  CHECK(json["tasks"][0]["attempt"] == 2);
  CHECK(json["tasks"][0]["stdout"] == (directory.path / "here/job1/sh.out").string());
  CHECK(dag::test::text_of(directory / "here/job1/sh.out") == "try 1\ntry 2\n");
  CHECK_THAT(run.err(), Catch::Contains("try 1\n") && Catch::Contains("try 2\n"));
  Process failing(
      dag_in(directory, {"exec", "--address", nodes.address(), "--", "sh", "-c", "echo why >&2; exit 7"}));
  CHECK(failing.ends() == 1);
  CHECK_THAT(failing.err(), Catch::Contains("exit status 7; its stderr ends with\n    why"));
}

TEST_CASE("dag flow runs in a cluster, in the directories and with the files that it names") {
  Nodes nodes(2);
  nodes.gather();
  const Directory directory("flow");
  std::filesystem::create_directory(directory / "work");
  std::ofstream(directory / "flow.toml") << "[task.write]\n"
                                            "command = \"echo $GREETING > made.txt; pwd\"\n"
                                            "directory = \"work\"\n"
                                            "environment = { GREETING = \"hello\" }\n"
                                            "outputs = \"made.txt\"\n"
                                            "[task.read]\n"
                                            "command = [\"cat\", \"work/made.txt\"]\n"
                                            "inputs = \"work/made.txt\"\n";
  Process run(dag_in(directory, {"flow", "--address", nodes.address(), "flow.toml"}));
  const auto ended = run.ends();
  INFO(run.err());
  CHECK(ended == 0);
  CHECK_THAT(run.out(),
             Catch::Contains((directory.path / "work").string() + "\n") && Catch::Contains("hello\n"));
  CHECK(dag::test::text_of(directory / "dag-job1/read.out") == "hello\n");
}

TEST_CASE("Ctrl-C ends the commands that a cluster runs") {
  Nodes nodes(1);
  const Directory directory("interrupted");
  Process run(dag_in(directory,
                     {"exec", "--address", nodes.address(), "--", "sh", "-c",
                      "trap 'echo told > told; exit 1' TERM; echo up > up; while :; do sleep 0.01; done"}));
  const auto wait_for = [&](const char* file) {
    INFO(file);
    REQUIRE(cluster::comes_true([&] { return std::filesystem::exists(directory / file); }));
  };
  wait_for("up");
  run.kill(SIGINT);
  CHECK(run.ends() == 130);
  wait_for("told");
}

TEST_CASE("commands and jobs find the cluster of their user, and say so once") {
  Nodes nodes(1);
  const Directory state("found");
  write_address_file(state, nodes);
  const std::map<std::string, std::string> user{{"DAG_STATE_DIR", state / "."}, {"DAG_ADDRESS", ""}};
  const std::string found = "cluster at " + nodes.address() + ", by " + (state / "./cluster.json");
  Process command(dag_in(state, {"exec", "--", "echo", "said"}), user);
  CHECK(command.ends() == 0);
  CHECK_THAT(command.err(), Catch::StartsWith("dag: " + found + "; --local runs commands here\n"));
  CHECK(command.out() == "said\n");
  Process local(dag_in(state, {"exec", "--local", "--", "echo", "said"}), user);
  CHECK(local.ends() == 0);
  CHECK(local.err() == "");
  Process too_many(dag_in(state, {"exec", "--lanes", "2", "--", "true"}), user);
  CHECK(too_many.ends() == 2);
  CHECK_THAT(too_many.err(), Catch::Contains("add --local"));

  Process job({bin("cluster_where")}, user);
  CHECK(job.ends() == 0);
  CHECK(job.err() == "cluster_where: " + found + "; --dag-local runs jobs here\n");
  CHECK_THAT(job.out(), Catch::StartsWith("in a worker process"));
  for (const auto& words : {std::vector{bin("cluster_where"), std::string("--dag-local")},
                            std::vector{bin("dag"), std::string("run"), bin("cluster_where")}}) {
    Process here(words, user);
    CHECK(here.ends() == 0);
    CHECK(here.err() == "");
    CHECK_THAT(here.out(), Catch::StartsWith("in a process of the run"));
  }
  Process named({bin("cluster_where")}, {{"DAG_ADDRESS", nodes.address()}});
  CHECK(named.ends() == 0);
  CHECK_THAT(named.err(),
             Catch::StartsWith("cluster_where: cluster at " + nodes.address() + ", by DAG_ADDRESS;"));
  nodes.kill_all();
  Process alone({bin("cluster_where")}, user);  // The file names no running node.
  CHECK(alone.ends() == 0);
  CHECK(alone.err() == "");
}
