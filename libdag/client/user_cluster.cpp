#include "libdag/client/user_cluster.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "dag/error.hpp"
#include "libdag/client/state_dir.hpp"

namespace dag::detail {
namespace {

constexpr std::uint32_t node_max = 65534;

std::optional<StartedNode> node_of(const nlohmann::json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto id = json.find("id"), address = json.find("address"), pid = json.find("pid");
  if (id == json.end() || address == json.end() || pid == json.end()) return std::nullopt;
  if (!id->is_number_unsigned() || !address->is_string() || !pid->is_number_unsigned()) return std::nullopt;
  const auto id_value = id->get<std::uint64_t>(), pid_value = pid->get<std::uint64_t>();
  if (id_value > node_max || pid_value < 2 || pid_value > 0x7FFFFFFF) return std::nullopt;
  return StartedNode{static_cast<std::uint32_t>(id_value), address->get<std::string>(),
                     static_cast<pid_t>(pid_value)};
}

/// The file is trusted, so no other user may have written it.
bool is_of_this_user(const std::string& file) {
  struct stat status {};
  return stat(file.c_str(), &status) == 0 && status.st_uid == geteuid();
}

std::string variable_or_empty(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string cluster_file_of(const std::string& state_dir) { return state_dir + "/cluster.json"; }

StartedNodes parse_cluster(const std::string& text, const std::string& file) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  StartedNodes nodes;
  bool good = json.is_object() && json.contains("nodes") && json["nodes"].is_array();
  if (good) {
    for (const auto& one : json["nodes"]) {
      const auto node = node_of(one);
      good = good && node;
      if (node) nodes.push_back(*node);
    }
  }
  if (good) return nodes;
  throw Failure({ErrorCode::configuration_invalid, file + " does not list the nodes of a cluster",
                 "remove it when no cluster of yours is up on this host"});
}

bool is_dagd(pid_t pid) {
  std::error_code failed;
  std::string program =
      std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", failed).filename().string();
  if (const auto deleted = program.find(" (deleted)"); deleted != std::string::npos) program.resize(deleted);
  return program == "dagd";
}

StartedNodes running_nodes(const std::string& state_dir) {
  const std::string name = cluster_file_of(state_dir);
  if (!is_of_this_user(name)) return {};
  std::ifstream file(name);
  if (!file) {
    throw Failure({ErrorCode::configuration_invalid, "cannot read " + name + ": " + strerror(errno),
                   "--state-dir or DAG_STATE_DIR names another directory"});
  }
  std::ostringstream text;
  text << file.rdbuf();
  StartedNodes nodes = parse_cluster(text.str(), name);
  std::erase_if(nodes, [](const StartedNode& node) { return !is_dagd(node.pid); });
  return nodes;
}

std::string state_dir_of_user() {
  const std::string set = variable_or_empty("DAG_STATE_DIR");
  return set.empty() ? state_dir_default() : set;
}

std::optional<FoundAddress> choose_address(const std::string& flag, const std::string& environment,
                                           const StartedNodes& running, const std::string& file) {
  if (!flag.empty()) return FoundAddress{flag, "--address"};
  if (!environment.empty()) return FoundAddress{environment, "DAG_ADDRESS"};
  if (!running.empty()) return FoundAddress{running.front().address, file};
  return std::nullopt;
}

std::optional<FoundAddress> find_cluster(const std::string& flag, const std::string& state_dir) {
  const std::string environment = variable_or_empty("DAG_ADDRESS");
  const bool said = !flag.empty() || !environment.empty();
  return choose_address(flag, environment, said ? StartedNodes{} : running_nodes(state_dir),
                        cluster_file_of(state_dir));
}

std::string found_text(const FoundAddress& found) {
  return "cluster at " + found.address + ", by " + found.origin;
}

}  // namespace dag::detail
