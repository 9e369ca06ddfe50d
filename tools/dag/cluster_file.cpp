#include "tools/dag/cluster_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "dag/error.hpp"
#include "libdag/client/state_dir.hpp"

namespace dag::tool {
namespace {

constexpr std::uint32_t node_max = 65534;

Failure cannot(const std::string& what, const std::string& file) {
  return Failure({ErrorCode::configuration_invalid, "cannot " + what + " " + file + ": " + strerror(errno),
                  "--state-dir or DAG_STATE_DIR names another directory"});
}

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

}  // namespace

std::string cluster_file_of(const std::string& state_dir) { return state_dir + "/cluster.json"; }

std::string cluster_text(const StartedNodes& nodes) {
  auto list = nlohmann::json::array();
  for (const StartedNode& node : nodes) {
    list.push_back({{"id", node.id}, {"address", node.address}, {"pid", node.pid}});
  }
  return nlohmann::json{{"nodes", std::move(list)}}.dump() + "\n";
}

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
  std::error_code none;
  std::string program =
      std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", none).filename().string();
  if (const auto deleted = program.find(" (deleted)"); deleted != std::string::npos) program.resize(deleted);
  return program == "dagd";
}

StartedNodes running_nodes(const std::string& state_dir) {
  const std::string name = cluster_file_of(state_dir);
  std::ifstream file(name);
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    throw cannot("read", name);
  }
  std::ostringstream text;
  text << file.rdbuf();
  StartedNodes nodes = parse_cluster(text.str(), name);
  std::erase_if(nodes, [](const StartedNode& node) { return !is_dagd(node.pid); });
  return nodes;
}

void write_cluster(const std::string& state_dir, const StartedNodes& nodes) {
  const std::string name = cluster_file_of(state_dir), draft = name + ".new";
  std::ofstream file(draft, std::ios::trunc);
  file << cluster_text(nodes);
  file.close();
  if (!file || std::rename(draft.c_str(), name.c_str()) != 0) throw cannot("write", name);
}

namespace {

/// Below a state directory: nI.log of nodes' own, nI/ of their worker processes.
void remove_what_nodes_wrote(const std::string& state_dir, const std::string& but) {
  const std::regex of_node("n[0-9]+(\\.log)?");
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(state_dir, failed)) {
    if (!std::regex_match(entry.path().filename().string(), of_node)) continue;
    if (entry.is_directory(failed)) {
      for (const auto& inside : std::filesystem::directory_iterator(entry, failed)) {
        if (inside.path().filename() != but) std::filesystem::remove_all(inside, failed);
      }
    }
    std::filesystem::remove(entry, failed);  // Not when something lies there.
  }
}

}  // namespace

void remove_cluster(const std::string& state_dir) {
  const std::string name = cluster_file_of(state_dir);
  if (unlink(name.c_str()) != 0 && errno != ENOENT) throw cannot("remove", name);
  remove_what_nodes_wrote(state_dir, "journal");
}

void remove_history(const std::string& state_dir) { remove_what_nodes_wrote(state_dir, {}); }

ClusterLock::ClusterLock(const std::string& state_dir) : state_dir_(state_dir) {
  detail::make_state_dir(state_dir).value_or_throw();
  const std::string name = state_dir + "/lock";
  for (;;) {
    file_ = open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file_ < 0 || flock(file_, LOCK_EX) != 0) throw cannot("lock", name);
    // Who had it before us may have removed it: then another file is the lock now.
    struct stat ours {
    }, named{};
    if (fstat(file_, &ours) == 0 && stat(name.c_str(), &named) == 0 && ours.st_ino == named.st_ino) return;
    close(file_);
    detail::make_state_dir(state_dir).value_or_throw();
  }
}

ClusterLock::~ClusterLock() {
  unlink((state_dir_ + "/lock").c_str());
  rmdir(state_dir_.c_str());  // Not when something lies there.
  close(file_);
}

}  // namespace dag::tool
