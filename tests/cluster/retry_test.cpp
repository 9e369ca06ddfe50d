// `dag retry`: a job that has ended is submitted once more, as it was.

#include <algorithm>
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

/// How often the task of that name ran.
std::ptrdiff_t runs_of(const Directory& directory, const std::string& task) {
  const std::string text = text_of(directory / task);
  return std::count(text.begin(), text.end(), '\n');
}

/// Runs the job until its end, in which a task fails; then once more what did not finish. The new job.
std::string retried_unfinished(Nodes& nodes, const Directory& directory, const std::string& what) {
  const std::string job = submitted(nodes, "cluster_retried", {directory / "", what});
  said(nodes, {"wait", job}, 1);
  std::ofstream(directory / "good") << "";
  const std::string again = first_line(said(nodes, {"retry", "--failed", job}));
  said(nodes, {"wait", again});
  CHECK_THAT(said(nodes, {"show", again}), Catch::Contains("retries   " + job));
  CHECK_THAT(said(nodes, {"history", again}), Catch::Contains(" finished in " + job));
  CHECK_THAT(said(nodes, {"retry", "--failed", again}, 2), Catch::Contains("no task that failed"));
  return again;
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
  CHECK_THAT(said(nodes, {"retry", "--failed", "job1"}, 2), Catch::Contains("its program submitted it"));
  CHECK_THAT(said(nodes, {"retry", "job99"}, 5), Catch::Contains("job99"));
}

TEST_CASE("of a retried job only what did not finish runs, on what finished tasks had left") {
  const bool recorded = GENERATE(true, false);
  Nodes nodes(recorded ? 3 : 1, recorded);
  nodes.gather();
  const Directory directory("retried");
  const std::string again = retried_unfinished(nodes, directory, "chain");
  const json job = json::parse(said(nodes, {"show", again, "--json"}));
  CHECK(job.at("phase") == "finished");
  CHECK(job.at("counts").at("finished") == 6);
  CHECK(job.at("counts").at("open") == 0);
  for (const char* task : {"alone", "kept", "after"}) {
    CAPTURE(task);
    CHECK_FALSE(said(nodes, {"result", again + "/" + task}).empty());
  }
  for (const char* once : {"small", "kept", "large", "after", "alone"}) {
    CAPTURE(once);
    CHECK(runs_of(directory, once) == 1);
  }
  CHECK(runs_of(directory, "broken") == 2);
}

TEST_CASE("a finished task of a retried job runs again when its output went with the job's leader") {
  Nodes nodes(3, true);
  nodes.gather();
  const Directory directory("retried");
  const std::string job = submitted(nodes, "cluster_retried", {directory / "", "chain"});
  said(nodes, {"wait", job}, 1);
  std::ofstream(directory / "good") << "";
  nodes.node(0).kill(SIGKILL);
  nodes.node(0).ends();
  Process retry(at(nodes, {bin("dag"), "retry", "--failed", job}, 1));
  const auto ended = retry.ends();
  INFO(retry.err());
  REQUIRE(ended == 0);
  Process wait(at(nodes, {bin("dag"), "wait", first_line(retry.out())}, 1));
  CHECK(wait.ends() == 0);
  CHECK(runs_of(directory, "large") == 2);
  CHECK(runs_of(directory, "broken") == 2);
  CHECK(runs_of(directory, "after") == 1);
  CHECK(runs_of(directory, "alone") == 1);
}

TEST_CASE("calls of a job actor run again together, from its creation") {
  Nodes nodes(1);
  const Directory directory("retried");
  retried_unfinished(nodes, directory, "actor");
  CHECK(runs_of(directory, "create") == 2);
  CHECK(runs_of(directory, "first") == 2);
  CHECK(runs_of(directory, "second") == 2);
}

TEST_CASE("a task runs again with what it spawned, unless all of that finished") {
  Nodes nodes(1);
  const Directory directory("retried");
  retried_unfinished(nodes, directory, "spawned");
  CHECK(runs_of(directory, "well") == 1);
  CHECK(runs_of(directory, "child_of_well") == 1);
  CHECK(runs_of(directory, "ill") == 2);
  CHECK(runs_of(directory, "child_of_ill") == 2);
}
