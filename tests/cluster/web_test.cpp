// The HTTP server of a node tells browsers and programs about the whole cluster: the same as `dag`, live, and
// about jobs in depth out of all journals.

#include <nlohmann/json.hpp>

#include "tests/cluster/running.hpp"
#include "tests/support/http_client.hpp"

using cluster::at;
using cluster::bin;
using cluster::Nodes;
using cluster::Process;
using cluster::Running;
using cluster::web_port;
using dag::test::get;
using dag::test::HttpConnection;
using nlohmann::json;

namespace {

json answer_of(Nodes& nodes, std::size_t node, const std::string& path) {
  const auto heard = get(web_port(nodes, node), path);
  INFO(path << "\n" << heard.head << "\n" << heard.body);
  REQUIRE(heard.status == 200);
  CHECK_THAT(heard.head, Catch::Contains("Content-Type: application/json"));
  return json::parse(heard.body);
}

json said_by_dag(Nodes& nodes, std::vector<std::string> words) {
  words.insert(words.begin(), bin("dag"));
  words.push_back("--json");
  Process dag(at(nodes, std::move(words)));
  const auto ended = dag.ends();
  INFO(dag.err());
  REQUIRE(ended == 0);
  return json::parse(dag.out());
}

/// Server-sent events, one after the other.
class Events {
 public:
  Events(std::uint16_t port, const std::string& target) : connection_(port) {
    connection_.send("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  }
  /// The data of the next one of that name that holds.
  template <class Holds>
  json next(const std::string& name, Holds holds) {
    for (;;) {
      const json data = next(name);
      if (holds(data)) return data;
    }
  }
  json next(const std::string& name) {
    const std::string head = "event: " + name + "\ndata: ";
    for (;;) {
      const auto begin = heard_.find(head);
      const auto end = begin == std::string::npos ? begin : heard_.find("\n\n", begin);
      if (end != std::string::npos) {
        const std::string data = heard_.substr(begin + head.size(), end - begin - head.size());
        heard_.erase(0, end);
        return json::parse(data);
      }
      const std::string more = connection_.hear_some();
      REQUIRE_FALSE(more.empty());
      raw_ += more;
      take_chunks();
    }
  }

 private:
  /// HTTP's lengths of pieces, in between.
  void take_chunks() {
    if (!past_head_) {
      const auto end = raw_.find("\r\n\r\n");
      if (end == std::string::npos) return;
      CHECK_THAT(raw_.substr(0, end), Catch::Contains("200 OK") && Catch::Contains("text/event-stream"));
      raw_.erase(0, end + 4);
      past_head_ = true;
    }
    for (;;) {
      const auto line = raw_.find("\r\n");
      if (line == std::string::npos) return;
      const std::size_t length = std::stoul(raw_.substr(0, line), nullptr, 16);
      if (raw_.size() < line + 2 + length + 2) return;
      heard_ += raw_.substr(line + 2, length);
      raw_.erase(0, line + 2 + length + 2);
    }
  }

  HttpConnection connection_;
  std::string raw_, heard_;
  bool past_head_ = false;
};

}  // namespace

TEST_CASE("a browser gets pages that need nothing from elsewhere") {
  Nodes nodes(1);
  const std::uint16_t port = web_port(nodes, 0);
  const auto page = get(port, "/");
  CHECK(page.status == 200);
  CHECK_THAT(page.head,
             Catch::Contains("text/html") && Catch::Contains("Content-Security-Policy: default-src 'self'"));
  CHECK_THAT(page.body, Catch::Contains("app.js") && Catch::Contains("app.css") && !Catch::Contains("http"));
  CHECK_THAT(get(port, "/app.js").head, Catch::Contains("text/javascript"));
  CHECK_THAT(get(port, "/app.css").head, Catch::Contains("text/css"));
  CHECK(get(port, "/app.jsx").status == 404);
}

TEST_CASE("any node tells of all nodes and all jobs, as dag does") {
  constexpr std::size_t tasks = 400;
  Running running(3, true, tasks);
  Nodes& nodes = running.nodes;
  // Any node may be asked.
  for (std::size_t node = 0; node < nodes.count(); ++node) {
    const json cluster = answer_of(nodes, node, "/api/cluster");
    CHECK(cluster["seen_by"] == "n" + std::to_string(node));
    CHECK(cluster["nodes"].size() == 3);
    for (const json& one : cluster["nodes"]) CHECK(one["pid"].get<int>() > 0);  // Each by its own word.
    REQUIRE(cluster["jobs"].size() == 1);
    CHECK(cluster["jobs"][0]["name"] == "ledger");
    CHECK(cluster["jobs"][0]["phase"] == "running");
    CHECK(cluster["missing"].empty());
    CHECK(cluster["nodes_alive"] == 3);
    CHECK(cluster["nodes_beyond"] == 0);
    CHECK(cluster["jobs_open"] == 1);
    const json second = answer_of(nodes, node, "/api/nodes?offset=1&limit=1");
    CHECK(second["total"] == 3);
    REQUIRE(second["nodes"].size() == 1);
    CHECK(second["nodes"][0]["node"] == "n1");
    CHECK(answer_of(nodes, node, "/api/jobs?phase=running")["total"] == 1);
    CHECK(answer_of(nodes, node, "/api/jobs?phase=finished")["total"] == 0);
    CHECK(answer_of(nodes, node, "/api/jobs?name=ledg&limit=1")["jobs"].size() == 1);
    CHECK(answer_of(nodes, node, "/api/jobs?name=other")["jobs"].empty());
    const json why = answer_of(nodes, node, "/api/jobs/job1/explain");
    CHECK(why["counts"]["waiting"].get<int>() + why["counts"]["ready"].get<int>() > 0);
    CHECK_FALSE(why["processes"].empty());
    CHECK(answer_of(nodes, node, "/api/jobs/job1/explain?task=enter")["tasks"][0]["name"] == "enter");
  }
  running.check_end();
  for (std::size_t node = 0; node < nodes.count(); ++node) {
    // Its processes are ending, which may be told between the two.
    json job, shown;
    cluster::comes_true([&] {
      job = answer_of(nodes, node, "/api/jobs/job1");
      shown = said_by_dag(nodes, {"show", "job1"});
      return job == shown;
    });
    CHECK(job == shown);
    CHECK(job["counts"]["finished"] == tasks + 1);
    const json report = answer_of(nodes, node, "/api/jobs/job1/report");
    json said = said_by_dag(nodes, {"report", "job1"});
    said["notices"] = json::array();
    CHECK(report == said);
    CHECK(report["runs"] >= tasks + 1);
    const json timeline = answer_of(nodes, node, "/api/jobs/job1/timeline?columns=50");
    CHECK(timeline["runs"] == report["runs"]);
    CHECK(timeline["slices"].size() == report["runs"]);
    CHECK(timeline["lanes"].size() == report["lanes"].size());
    CHECK(answer_of(nodes, node, "/api/history")["jobs"] == said_by_dag(nodes, {"history"})["jobs"]);
  }
  // A page after the other is all of it.
  std::size_t lines = 0;
  for (json next = 0; !next.is_null();) {
    const json page = answer_of(
        nodes, 0, "/api/jobs/job1/history?limit=300&task=enter&after=" + std::to_string(next.get<int>()));
    lines += page["lines"].size();
    next = page["next"];
  }
  CHECK(lines >= tasks);
}

TEST_CASE("bad questions are refused with a reason, and harm nobody") {
  Nodes nodes(1);
  const std::uint16_t port = web_port(nodes, 0);
  const auto refused = [&](const std::string& path, int status) {
    const auto heard = get(port, path);
    INFO(path << "\n" << heard.body);
    CHECK(heard.status == status);
    return json::parse(heard.body)["error"];
  };
  CHECK(refused("/api/jobs/job7", 404)["code"] == "job_unknown");
  CHECK(refused("/api/jobs/%3Cscript%3E", 400)["code"] == "usage");
  CHECK(refused("/api/jobs/job7/explain", 404)["code"] == "job_unknown");
  CHECK(refused("/api/jobs/job7/timeline", 404)["code"] == "job_unknown");
  CHECK(refused("/events?job=x", 400)["code"] == "usage");
  for (const char* value : {"-1", "x", "1e99", "nan", "1;2"}) {
    CHECK(refused("/api/jobs?offset=" + std::string(value), 400)["code"] == "usage");
    CHECK(refused("/api/nodes?limit=" + std::string(value), 400)["code"] == "usage");
    CHECK(refused("/api/jobs/job7/timeline?columns=" + std::string(value), 400)["code"] == "usage");
  }
  CHECK(get(port, "/api/jobs/job7/nothing").status == 404);
  CHECK(get(port, "/api").status == 404);
  CHECK(answer_of(nodes, 0, "/api/history")["jobs"].empty());
  CHECK(get(port, "/healthz").body == "ok\n");
}

TEST_CASE("who watches hears of what changes, and of a node that was killed") {
  Running running(3, true, 400);
  Nodes& nodes = running.nodes;
  Events events(web_port(nodes, 0), "/events?job=job1");
  const auto finished = [](const json& job) { return job["counts"]["finished"].get<int>(); };
  const json first = events.next("job");
  CHECK(first["workers_beyond"] == 0);
  const int before = finished(first);
  events.next("job", [&](const json& job) { return finished(job) > before; });
  nodes.node(2).kill(SIGKILL);
  events.next("cluster", [](const json& cluster) {
    return std::none_of(cluster["nodes"].begin(), cluster["nodes"].end(),
                        [](const json& node) { return node["node"] == "n2" && node["state"] == "alive"; });
  });
  // The job goes on, and ends while it is watched.
  running.gate.open();
  events.next("job", [](const json& job) { return job["phase"] == "finished"; });
  running.check_end();
}

TEST_CASE("many who watch, and a node that ends while they do") {
  Running running(1, false, 200);
  Nodes& nodes = running.nodes;
  std::vector<std::unique_ptr<Events>> watching;
  for (int i = 0; i < 50; ++i)
    watching.push_back(std::make_unique<Events>(web_port(nodes, 0), "/events?job=job1"));
  for (const auto& one : watching) CHECK(one->next("job")["name"] == "ledger");
  running.check_end();
  for (const auto& one : watching)
    one->next("job", [](const json& job) { return job["phase"] == "finished"; });
  nodes.node(0).kill(SIGTERM);
  CHECK(nodes.node(0).ends() == 0);
}

TEST_CASE("a node that hangs holds up nobody who watches") {
  Running running(3, true, 400);
  Nodes& nodes = running.nodes;
  Events events(web_port(nodes, 0), "/events?job=job1");
  events.next("job");
  nodes.node(2).kill(SIGSTOP);
  // Until the others take it for dead each look waits for it, longer than a job is remembered that was asked
  // for.
  CHECK(cluster::comes_true([&] {
    const json job = answer_of(nodes, 0, "/api/jobs/job1");
    CHECK(job["name"] == "ledger");
    const json seen = answer_of(nodes, 0, "/api/cluster");
    return std::none_of(seen["nodes"].begin(), seen["nodes"].end(),
                        [](const json& node) { return node["node"] == "n2" && node["state"] == "alive"; });
  }));
  CHECK(events.next("job")["name"] == "ledger");
  nodes.node(2).kill(SIGCONT);
  running.check_end();
}
