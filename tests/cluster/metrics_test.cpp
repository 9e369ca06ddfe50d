// HTTP answers of nodes for those who watch over them: people, probes, and a real Prometheus.

#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cluster/metrics.hpp"
#include "tests/cluster/running.hpp"
#include "tests/support/file_text.hpp"
#include "tests/support/http_client.hpp"

using cluster::at;
using cluster::bin;
using cluster::comes_true;
using cluster::Nodes;
using cluster::Process;
using cluster::Running;
using cluster::sum_of;
using cluster::web_port;
using dag::test::get;

namespace {

/// Sum over all nodes.
double sum_of(Nodes& nodes, const std::string& begin) {
  double sum = 0;
  for (std::size_t node = 0; node < nodes.count(); ++node)
    sum += cluster::sum_of(get(web_port(nodes, node), "/metrics").body, begin);
  return sum;
}

/// Where tools/dev/unpack_packages puts it, or in the path; empty: nowhere.
std::string prometheus_program(const std::string& name) {
  std::string folders = bin("../../unpacked/prometheus/usr/bin");
  if (const char* path = std::getenv("PATH")) folders += ":" + std::string(path);
  std::istringstream list(folders);
  for (std::string folder; std::getline(list, folder, ':');) {
    if (std::filesystem::exists(folder + "/" + name)) return folder + "/" + name;
  }
  WARN("there is no " << name << ": tools/dev/unpack_packages");
  return {};
}

std::string config_text(const std::string& name) {
  const char* source = std::getenv("DAG_TEST_SOURCE");
  const std::string text =
      dag::test::text_of(std::string(source == nullptr ? "tests" : source) + "/../config/" + name);
  REQUIRE_FALSE(text.empty());
  return text;
}

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const auto found = text.find(what);
  REQUIRE(found != std::string::npos);
  return text.replace(found, what.size(), instead);
}

void write(const std::string& name, const std::string& text) { std::ofstream(name) << text; }

/// The queries of the board, in the order of its panels.
std::vector<std::string> board_queries() {
  std::vector<std::string> queries;
  const auto board = nlohmann::json::parse(config_text("grafana.json"));
  for (const auto& panel : board["panels"]) {
    for (const auto& target : panel["targets"]) {
      queries.push_back(
          std::regex_replace(target["expr"].get<std::string>(), std::regex("\\$__rate_interval"), "10s"));
    }
  }
  return queries;
}

std::string encoded(const std::string& query) {
  std::string all;
  char digits[4];
  for (const char c : query) {
    std::snprintf(digits, sizeof digits, "%%%02X", static_cast<unsigned char>(c));
    all += digits;
  }
  return all;
}

}  // namespace

TEST_CASE("nodes show what they ran, and whether they are ready") {
  Running running(3, true, 400);
  Nodes& nodes = running.nodes;
  CHECK(comes_true([&] {
    return sum_of(nodes, "dag_critical_path_seconds") > 0 &&
           sum_of(nodes, "dag_output_bytes{tier=\"memory\"}") > 0;
  }));
  for (std::size_t node = 0; node < nodes.count(); ++node) {
    const std::uint16_t port = web_port(nodes, node);
    CHECK(get(port, "/healthz").body == "ok\n");
    // Where a compiler runs beside, a node may have been late at first.
    CHECK(comes_true([&] { return get(port, "/readyz").body == "ready\n"; }));
    const auto nothing = get(port, "/nothing");
    CHECK(nothing.status == 404);
    CHECK_THAT(nothing.body, Catch::Contains("/metrics"));  // The page lists the paths.
    CHECK(sum_of(get(port, "/metrics").body, "dag_nodes{state=\"alive\"}") == 3);
  }
  CHECK(sum_of(nodes, "dag_jobs{phase=\"running\"}") == 1);
  CHECK(sum_of(nodes, "dag_worker_processes ") == 3);
  running.check_end();
  CHECK(sum_of(nodes, "dag_tasks_finished_total{outcome=\"finished\"}") >= 400);
  CHECK(sum_of(nodes, "dag_tasks_finished_total{outcome=\"failed\"}") == 0);
  CHECK(sum_of(nodes, "dag_jobs{phase=\"finished\"}") == 1);
  // Tasks of its processes are still counted when the processes have gone.
  CHECK(comes_true([&] { return sum_of(nodes, "dag_worker_processes ") == 0; }));
  const double ran = sum_of(nodes, "dag_task_duration_seconds_count");
  CHECK(ran >= 400);
  CHECK(ran == sum_of(nodes, "dag_task_duration_seconds_bucket{le=\"+Inf\"}"));
  CHECK(sum_of(nodes, "dag_device_busy_seconds_total") > 0);
  CHECK(sum_of(nodes, "dag_device_lanes_running") == 0);
  CHECK(sum_of(nodes, "dag_pipeline_bubble_ratio") == 0);
  CHECK(sum_of(nodes, "dag_critical_path_seconds") == 0);
}

TEST_CASE("dag top shows what all nodes do, and how far a job is") {
  Running running(3, false, 400);
  Nodes& nodes = running.nodes;
  const auto look = [&] {
    Process top(at(nodes, {bin("dag"), "top", "--once", "--json"}, 2));
    REQUIRE(top.ends() == 0);
    return nlohmann::json::parse(top.out());
  };
  const auto lanes_busy = [](const nlohmann::json& seen) {
    int busy = 0;
    for (const auto& node : seen["nodes"]) {
      for (const auto& device : node["devices"])
        busy += device["lanes"].get<int>() - device["lanes_free"].get<int>();
    }
    return busy;
  };
  nlohmann::json seen;
  CHECK(comes_true([&] { return lanes_busy(seen = look()) > 0; }));
  CHECK(seen["nodes"].size() == 3);
  REQUIRE(seen["jobs"].size() == 1);
  CHECK(seen["jobs"][0]["details"]["classes"][0]["name"] == "enter");
  running.check_end();
  CHECK(comes_true([&] { return lanes_busy(look()) == 0; }));
  Process text(at(nodes, {bin("dag"), "top", "--once"}));
  CHECK(text.ends() == 0);
  CHECK_THAT(text.out(), Catch::StartsWith("3 nodes, ") && Catch::Contains("401/401") &&
                             Catch::Contains("finished ledger"));
  nodes.kill_all();
  Process gone(at(nodes, {bin("dag"), "top", "--once"}));
  CHECK(gone.ends() == 3);
}

TEST_CASE("a node that is to go is not ready, and says so") {
  Nodes nodes(2);
  nodes.gather();
  const std::uint16_t port = web_port(nodes, 1);
  CHECK(comes_true([&] { return get(port, "/readyz").status == 200; }));
  REQUIRE(Process(at(nodes, {bin("dag"), "node", "drain", "n1"})).ends() == 0);
  CHECK(comes_true([&] { return get(port, "/readyz").status == 503; }));
  CHECK(get(port, "/readyz").body == "n1 is draining: it accepts no new jobs\n");
  Process probe(at(nodes, {bin("dag"), "node", "probe"}));
  CHECK(probe.ends() == 1);
  CHECK_THAT(probe.out(),
             Catch::Contains("n1 is draining: it accepts no new jobs") && Catch::Contains(" ready\n"));
  Process other(at(nodes, {bin("dag"), "node", "probe", "n0", "--json"}));
  CHECK(other.ends() == 0);
  CHECK(nlohmann::json::parse(other.out())["nodes"][0]["answer_seconds"] > 0);
  CHECK(Process(at(nodes, {bin("dag"), "node", "probe", "n7"})).ends() == 5);
  CHECK(get(port, "/healthz").status == 200);
  CHECK(sum_of(get(port, "/metrics").body, "dag_node_ready") == 0);
}

TEST_CASE("a node that hears no majority is not ready, and says of which job") {
  Running running(3, true, 400);
  Nodes& nodes = running.nodes;
  const std::uint16_t port = web_port(nodes, 2);
  for (const std::size_t node : {0u, 1u}) nodes.node(node).kill(SIGKILL);
  const auto says = [&](const std::string& what) {
    return comes_true([&] { return get(port, "/readyz").body.find(what) != std::string::npos; });
  };
  CHECK(says("n2 hears none of the nodes that it knows\n"));
  CHECK(says("has heard no majority of the nodes with the record of job1 for "));
  CHECK(get(port, "/readyz").status == 503);
  CHECK(get(port, "/healthz").status == 200);
}

TEST_CASE("a port for HTTP that is taken, and one that all can reach, are refused at the start") {
  Nodes nodes(1);
  const std::string taken = "127.0.0.1:" + std::to_string(web_port(nodes, 0));
  Process second({bin("dagd"), "--id", "7", "--http", taken});
  CHECK(second.ends() == 4);
  CHECK_THAT(second.err(), Catch::Contains("address_in_use") && Catch::Contains(taken));
  Process open({bin("dagd"), "--id", "7", "--http", "0.0.0.0:0"});
  CHECK(open.ends() == 4);
  CHECK_THAT(open.err(), Catch::Contains("http_token"));
  Process off({bin("dagd"), "--id", "7", "--http", "off"});
  REQUIRE(off.says("listens on"));
  CHECK_THAT(off.out(), !Catch::Contains("serves"));
}

TEST_CASE("promtool finds nothing wrong with the metrics of a node") {
  const std::string promtool = prometheus_program("promtool");
  if (promtool.empty()) return;
  Running running(1, true, 50);
  running.check_end();
  const std::string file = running.directory.path().string() + "/metrics";
  write(file, get(web_port(running.nodes, 0), "/metrics").body);
  Process check({"sh", "-c", "exec \"$0\" check metrics <\"$1\"", promtool, file});
  const auto ended = check.ends();
  INFO(check.err() << check.out());
  CHECK(ended == 0);
  CHECK(check.err().empty());
}

TEST_CASE("Prometheus scrapes nodes, and every query of the board has an answer") {
  const std::string prometheus = prometheus_program("prometheus");
  if (prometheus.empty()) return;
  Running running(2, true, 2000);
  Nodes& nodes = running.nodes;
  const std::string folder = running.directory.path().string();
  const auto target = [&](std::size_t node) {
    return "\"127.0.0.1:" + std::to_string(web_port(nodes, node)) + "\"";
  };
  write(folder + "/prometheus.yml", with(with(config_text("prometheus.yml"), "[\"127.0.0.1:9117\"]",
                                              "[" + target(0) + ", " + target(1) + "]"),
                                         "scrape_interval: 5s", "scrape_interval: 1s"));
  const std::string address = cluster::free_address();
  Process server({prometheus, "--config.file=" + folder + "/prometheus.yml",
                  "--storage.tsdb.path=" + folder + "/tsdb", "--web.listen-address=" + address});
  REQUIRE(server.says("Server is ready to receive web requests"));
  const auto port = static_cast<std::uint16_t>(std::stoul(address.substr(address.find(':') + 1)));
  const auto results = [&](const std::string& query) {
    const auto heard = get(port, "/api/v1/query?query=" + encoded(query));
    INFO(query << "\n" << heard.body);
    REQUIRE(heard.status == 200);
    return nlohmann::json::parse(heard.body)["data"]["result"];
  };
  CHECK(comes_true([&] {
    const auto up = results("sum(up{job=\"dag\"})");
    return !up.empty() && up[0]["value"][1] == "2";
  }));
  const std::vector<std::string> queries = board_queries();
  CHECK(queries.size() > 10);
  for (const std::string& query : queries) {
    INFO(query);
    CHECK(comes_true([&] { return !results(query).empty(); }));
  }
  running.check_end();
}
