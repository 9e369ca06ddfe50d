#include "libdag/warden/control_group.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>

namespace dag {
namespace {

std::string own_path() {
  std::ifstream of_self("/proc/self/cgroup");
  for (std::string line; std::getline(of_self, line);) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return {};
}

bool may_change(const std::string& directory) {
  return access(directory.c_str(), W_OK) == 0 && access((directory + "/cgroup.procs").c_str(), W_OK) == 0;
}

}  // namespace

std::string writable_control_group() {
  const std::string path = own_path();
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; !path.empty() && std::getline(mounts, line);) {
    // NUMBER PARENT DEVICE ROOT MOUNT-POINT ..., and the type first behind " - ".
    const std::size_t type = line.find(" - cgroup2 ");
    if (type == std::string::npos) continue;
    std::istringstream words(line);
    std::string skipped, root, point;
    words >> skipped >> skipped >> skipped >> root >> point;
    if (root == "/") root.clear();
    if (!path.starts_with(root)) continue;
    std::string directory = point + path.substr(root.size());
    while (directory.ends_with('/')) directory.pop_back();
    if (may_change(directory)) return directory;
  }
  return {};
}

}  // namespace dag
