// What happened is in the journals of nodes, however nodes and processes of jobs have ended.

#include <nlohmann/json.hpp>
#include <set>

#include "tests/cluster/running.hpp"
#include "tests/support/file_text.hpp"

using cluster::bin;
using cluster::Nodes;
using cluster::Process;
using cluster::Running;

TEST_CASE("all nodes are killed at once: where each task ran before that is known when they are back") {
  Running running(3, true, 200);
  Nodes& nodes = running.nodes;
  nodes.kill_all();
  nodes.start_all();
  running.check_end();
  std::vector<std::string> words{bin("dag"), "trace", "1", "-o", running.ledger + ".json", "--from"};
  for (std::uint32_t id = 0; id < nodes.count(); ++id) {
    nodes.node(id).kill(SIGTERM);
    CHECK(nodes.node(id).ends() == 0);
    words.push_back(nodes.folder_of(id) + "/data");
  }
  Process traced(words);
  CHECK(traced.ends() == 0);
  INFO(traced.err());
  const auto trace = nlohmann::json::parse(dag::test::text_of(running.ledger + ".json"));
  std::set<std::string> tasks, processes;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == "X") tasks.insert(event.at("args").at("task").get<std::string>());
    if (event.at("name") == "process_name") processes.insert(event.at("args").at("name").get<std::string>());
  }
  CHECK(tasks.size() == 201);  // And the sum of them.
  for (const char* worker : {"n0/w1", "n1/w1", "n2/w1"}) CHECK(processes.contains(worker));
}
