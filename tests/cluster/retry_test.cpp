// `dag retry`: a job that has ended is submitted once more, as it was.

#include <nlohmann/json.hpp>

#include "tests/cluster/nodes.hpp"

using cluster::at;
using cluster::bin;
using cluster::Directory;
using cluster::Nodes;
using cluster::Process;
using cluster::said;
using cluster::submitted;
using nlohmann::json;

namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// A command that fails until there is `file`, where it writes $WORD and where it runs.
const char* command = "test -e file && echo $WORD >> file && pwd -P >> file";

}  // namespace

TEST_CASE("a job of dag exec is retried with its arguments, directory and environment") {
  Nodes nodes(3);
  nodes.gather();
  const Directory directory("retry");
  Process exec({"sh", "-c", "cd " + (directory / "") + " && exec \"$@\"", "sh", bin("dag"), "exec",
                "--address", nodes.address(), "--", "sh", "-c", command},
               {{"WORD", "travels"}});
  CHECK(exec.ends() == 1);
  std::ofstream(directory / "file") << "";
  const std::string again = first_line(said(nodes, {"retry", "job1"}));
  CHECK(again == "job2");
  said(nodes, {"wait", again});
  const std::string written = text_of(directory / "file");
  CHECK_THAT(written, Catch::StartsWith("travels\n") && Catch::Contains("retry"));
}

TEST_CASE("a job of dag submit is retried, by another node after its leader's death, and after a restart") {
  Nodes nodes(3, true);
  nodes.gather();
  const std::string job = submitted(nodes, "cluster_failing");
  said(nodes, {"wait", job}, 1);
  nodes.node(0).kill(SIGKILL);
  nodes.node(0).ends();
  Process retry(at(nodes, {bin("dag"), "retry", job, "--json"}, 1));
  const auto ended = retry.ends();
  INFO(retry.err());
  REQUIRE(ended == 0);
  const json answer = json::parse(retry.out());
  CHECK(answer.at("retries") == job);
  const std::string again = answer.at("job");
  CHECK(again != job);
  Process wait(at(nodes, {bin("dag"), "wait", again, "--json"}, 1));
  CHECK(wait.ends() == 1);
  const json counts = json::parse(wait.out()).at("counts");
  CHECK(counts.at("failed") == 1);
  CHECK(counts.at("finished") == 1);
  nodes.kill_all();
  nodes.start_all();
  nodes.gather();
  const std::string third = first_line(said(nodes, {"retry", again}));
  said(nodes, {"wait", third}, 1);
}

TEST_CASE("what cannot be retried is said") {
  Nodes nodes(1);
  Process job(at(nodes, {bin("cluster_leaving")}));
  CHECK(job.ends() == 0);
  CHECK_THAT(said(nodes, {"retry", "job1"}, 2), Catch::Contains("its program submitted it"));
  CHECK_THAT(said(nodes, {"retry", "--failed", "job1"}, 2), Catch::Contains("a job is retried whole"));
  CHECK_THAT(said(nodes, {"retry", "job99"}, 5), Catch::Contains("job99"));
}
