#include "tools/bench/cluster.hpp"

#include <stdlib.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tools/bench/child.hpp"
#include "tools/bench/runner.hpp"

namespace dag::bench {
namespace {

std::string launcher() { return program_folder() + "/dag"; }

}  // namespace

Cluster::Cluster(int nodes, int replicas, bool durable, const std::vector<std::string>& variables) {
  std::string directory = (std::filesystem::temp_directory_path() / "dag-bench-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) throw std::runtime_error("no temporary directory");
  down_.emplace(R"(timeout 30 "$1" down --state-dir "$2"; rm -rf "$2")", std::vector{launcher(), directory});
  std::vector<std::string> words = {"/usr/bin/env"};
  words.insert(words.end(), variables.begin(), variables.end());
  words.insert(words.end(), {launcher(), "up", "--nodes", std::to_string(nodes), "--state-dir", directory,
                             "--replicas", std::to_string(replicas), "--json"});
  if (durable) words.insert(words.end(), {"--data", directory + "/data"});
  const Ended ended = run_child(words, std::chrono::seconds(60));
  const nlohmann::json up = nlohmann::json::parse(ended.output, nullptr, false);
  if (ended.status != 0 || !up.is_object()) throw std::runtime_error("dag up: " + ended.messages);
  address_ = up.at("address").get<std::string>();
  for (const auto& node : up.at("nodes")) processes_.push_back(node.at("pid").get<pid_t>());
}

}  // namespace dag::bench
