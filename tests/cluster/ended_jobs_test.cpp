// All nodes tell the same of jobs that have ended, after nodes were killed and started again, too.

#include <nlohmann/json.hpp>

#include "tests/cluster/nodes.hpp"
#include "tests/support/http_client.hpp"

using cluster::at;
using cluster::bin;
using cluster::Nodes;
using cluster::Process;
using cluster::said;
using cluster::submitted;
using nlohmann::json;

namespace {

/// A job as one view has it.
struct Told {
  std::string phase;
  std::uint64_t finished = 0, failed = 0, skipped = 0, cancelled = 0;
  bool operator==(const Told&) const = default;
};
std::ostream& operator<<(std::ostream& to, const Told& told) {
  return to << told.phase << ' ' << told.finished << ' ' << told.failed << ' ' << told.skipped << ' '
            << told.cancelled;
}
using View = std::map<std::string, Told>;

Told told(const json& job, const char* phase) {
  Told told{job.at(phase)};
  if (!job.contains("counts")) return told;
  const json& counts = job.at("counts");
  told.finished = counts.at("finished");
  told.failed = counts.at("failed");
  told.skipped = counts.at("skipped");
  told.cancelled = counts.at("cancelled");
  return told;
}

/// No job is listed twice.
View view_of(const json& jobs, const char* phase) {
  View view;
  for (const json& job : jobs) {
    INFO(jobs);
    CHECK(view.emplace(job.at("job"), told(job, phase)).second);
  }
  return view;
}

json web(Nodes& nodes, std::size_t node, const std::string& path) {
  const dag::test::HttpConnection connection(cluster::web_port(nodes, node));
  connection.send("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  return json::parse(connection.hear().body);
}

/// The answers of all views at that node, by the name of the view.
std::map<std::string, View> views(Nodes& nodes, std::size_t node, const View& expected) {
  std::map<std::string, View> all;
  const auto asked = [&](std::vector<std::string> words) {
    words.insert(words.begin(), bin("dag"));
    words.push_back("--json");
    Process process(at(nodes, words, node));
    INFO(process.err());
    REQUIRE(process.ends() == 0);
    return json::parse(process.out());
  };
  all["ls"] = view_of(asked({"ls"}).at("jobs"), "phase");
  for (const auto& [job, what] : expected) all["show"][job] = told(asked({"show", job}), "phase");
  all["history"] = view_of(asked({"history"}).at("jobs"), "end");
  all["/api/jobs"] = view_of(web(nodes, node, "/api/jobs").at("jobs"), "phase");
  for (const auto& [job, what] : expected)
    all["/api/jobs/"][job] = told(web(nodes, node, "/api/jobs/" + job), "phase");
  all["/api/history"] = view_of(web(nodes, node, "/api/history").at("jobs"), "end");
  return all;
}

/// Waits while records are read or a leader is elected.
void check_all_agree(Nodes& nodes, const std::vector<std::size_t>& up, const View& expected) {
  for (const std::size_t node : up) {
    std::map<std::string, View> all;
    const auto agree = [&] {
      all = views(nodes, node, expected);
      for (const auto& [job, one] : all.at("ls")) {
        const bool known = one.phase == "recovering" || (expected.contains(job) && one == expected.at(job));
        INFO("n" << node << " " << job << ": " << one);
        CHECK(known);
      }
      return std::all_of(all.begin(), all.end(), [&](const auto& one) { return one.second == expected; });
    };
    cluster::comes_true(agree, std::chrono::minutes(1));
    for (const auto& [name, view] : all) {
      for (const auto& [job, what] : expected) {
        INFO("n" << node << " " << name << " " << job);
        REQUIRE(view.contains(job));
        CHECK(view.at(job) == what);
      }
      INFO("n" << node << " " << name);
      CHECK(view.size() == expected.size());
    }
  }
}

}  // namespace

TEST_CASE(
    "all views agree about jobs that have ended, after the leader's death, and after a restart of all") {
  Nodes nodes(3, true);
  nodes.gather();
  View expected;
  const auto ended = [&](const std::string& program) {
    const std::string job = submitted(nodes, program);
    Process wait(at(nodes, {bin("dag"), "wait", job}));
    wait.ends();
    return job;
  };
  expected[ended("cluster_leaving")] = {"finished", 3, 0, 0, 0};
  expected[ended("cluster_failing")] = {"failed", 1, 1, 0, 1};
  Process sleeps({bin("dag"), "exec", "--output", nodes.folder_of(0), "--address", nodes.address(), "--",
                  "sleep", "1000"});
  REQUIRE(sleeps.says("job3"));
  REQUIRE(cluster::comes_true([&] {
    return said(nodes, {"show", "job3"}).find("running") != std::string::npos;
  }));
  said(nodes, {"cancel", "job3"});
  CHECK(sleeps.ends() == 1);
  expected["job3"] = {"cancelled", 0, 0, 0, 1};
  check_all_agree(nodes, {0, 1, 2}, expected);
  nodes.node(0).kill(SIGKILL);
  nodes.node(0).ends();
  check_all_agree(nodes, {1, 2}, expected);
  nodes.start(0);
  check_all_agree(nodes, {0, 1, 2}, expected);
  nodes.kill_all();
  nodes.start_all();
  check_all_agree(nodes, {0, 1, 2}, expected);
}
