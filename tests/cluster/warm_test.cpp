// Worker processes stay for the next job of the same Session, and only for one that they fit.

#include <set>
#include <thread>

#include "tests/cluster/nodes.hpp"

using cluster::at;
using cluster::bin;
using cluster::Nodes;
using cluster::Process;

namespace {

/// The answer of a kernel of cluster_warm about its process.
struct Served {
  std::string word;
  pid_t process = 0;
  int jobs = 0;
  std::string setting;
};

std::vector<Served> served(const Nodes& nodes, const std::vector<std::string>& words,
                           const std::map<std::string, std::string>& environment = {}) {
  std::vector<std::string> all{bin("cluster_warm")};
  all.insert(all.end(), words.begin(), words.end());
  Process job(at(nodes, all), environment);
  const auto ended = job.ends();
  INFO(job.err());
  REQUIRE(ended == 0);
  std::vector<Served> found;
  std::istringstream lines(job.out());
  for (Served one; lines >> one.word >> one.process >> one.jobs >> one.setting;) found.push_back(one);
  REQUIRE(found.size() == words.size());
  return found;
}

/// Processes that the nodes have started for jobs, as they say.
int started(Nodes& nodes) {
  nodes.end_all();
  const std::string all = nodes.logs(), mark = " is process ";
  std::set<std::string> ids;
  for (auto from = all.find(mark); from != std::string::npos; from = all.find(mark, from + 1)) {
    const auto begins = from + mark.size();
    ids.insert(all.substr(begins, all.find('\n', begins) - begins));
  }
  return static_cast<int>(ids.size());
}

}  // namespace

TEST_CASE("jobs of one session are served by the same processes, one after the other") {
  Nodes nodes(3, false, {}, {}, {"--keep-warm", "600"});
  nodes.gather();
  const auto jobs = served(nodes, std::vector<std::string>(12, "plain"));
  std::map<pid_t, int> by_process;
  for (const Served& one : jobs) CHECK(one.jobs == ++by_process[one.process]);
  CHECK(by_process.size() <= 3);
  CHECK(started(nodes) <= 3);
}

TEST_CASE("a job with another environment is served by another process") {
  Nodes nodes(1, false, {}, {}, {"--keep-warm", "600"});
  const auto jobs = served(nodes, {"plain", "plain", "changed", "plain"}, {{"MY_SETTING", "one"}});
  CHECK(jobs[1].process == jobs[0].process);
  CHECK(jobs[1].setting == "one");
  CHECK(jobs[2].process != jobs[0].process);
  CHECK(jobs[2].setting == "another");
  CHECK(jobs[2].jobs == 1);
  CHECK(jobs[3].process == jobs[2].process);
}

TEST_CASE("jobs of two sessions share no process") {
  Nodes nodes(1, false, {}, {}, {"--keep-warm", "600"});
  const auto first = served(nodes, {"plain"}), second = served(nodes, {"plain"});
  CHECK(second[0].process != first[0].process);
  CHECK(second[0].jobs == 1);
}

TEST_CASE("a process that a kernel has crashed or left another one in serves no more jobs") {
  const std::string word = GENERATE("child", "crash");
  Nodes nodes(1, false, {}, {}, {"--keep-warm", "600"});
  const auto jobs = served(nodes, {word, "plain", "plain"});
  if (word == "child") CHECK(jobs[1].process != jobs[0].process);
  CHECK(jobs[2].process == jobs[1].process);
}

TEST_CASE("a node that keeps no process warm starts one for each job") {
  Nodes nodes(1, false, {}, {}, {"--keep-warm", "0"});
  const auto jobs = served(nodes, {"plain", "plain"});
  CHECK(jobs[1].process != jobs[0].process);
  CHECK(jobs[1].jobs == 1);
}

TEST_CASE("a warm process ends when no job comes") {
  Nodes nodes(1, false, {}, {}, {"--keep-warm", "1"});
  const pid_t process = served(nodes, {"plain"})[0].process;
  CHECK(cluster::is_gone_soon(process));
}
