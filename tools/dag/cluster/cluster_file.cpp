#include "tools/dag/cluster/cluster_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "dag/error.hpp"
#include "libdag/client/state_dir.hpp"

namespace dag::tool {
namespace {

Failure cannot(const std::string& what, const std::string& file) {
  return Failure({ErrorCode::configuration_invalid, "cannot " + what + " " + file + ": " + strerror(errno),
                  "--state-dir or DAG_STATE_DIR names another directory"});
}

}  // namespace

std::string cluster_text(const StartedNodes& nodes) {
  auto list = nlohmann::json::array();
  for (const StartedNode& node : nodes) {
    list.push_back({{"id", node.id}, {"address", node.address}, {"pid", node.pid}});
  }
  return nlohmann::json{{"nodes", std::move(list)}}.dump() + "\n";
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
    // The last owner may have removed the file: then another file is the lock now.
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
