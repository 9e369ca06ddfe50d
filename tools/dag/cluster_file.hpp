#pragma once
// The address file of this user: the nodes that `dag up` and `dag join` started on this host. Written whole,
// by one `dag` at a time.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dag::tool {

struct StartedNode {
  std::uint32_t id = 0;
  std::string address;  ///< HOST:PORT
  pid_t pid = 0;
  bool operator==(const StartedNode&) const = default;
};
using StartedNodes = std::vector<StartedNode>;

std::string cluster_file_of(const std::string& state_dir);
std::string cluster_text(const StartedNodes& nodes);
/// Throws Failure(configuration_invalid) naming the file, when it says nothing that we would have written.
StartedNodes parse_cluster(const std::string& text, const std::string& file);

/// Of processes that run and are `dagd`; others have ended, and their number may be somebody else's.
bool is_dagd(pid_t pid);

/// Those of the file that still run. Empty: no such file, or none runs.
StartedNodes running_nodes(const std::string& state_dir);
void write_cluster(const std::string& state_dir, const StartedNodes& nodes);
/// And what its nodes wrote, but for their journals: people want to know what happened.
void remove_cluster(const std::string& state_dir);
/// Those, too, for another cluster.
void remove_history(const std::string& state_dir);

/// Keeps other `dag up`, `join` and `down` of this user waiting. Makes the directory when it is missing.
class ClusterLock {
 public:
  explicit ClusterLock(const std::string& state_dir);
  /// Leaves no lock, and no state directory that is empty.
  ~ClusterLock();
  ClusterLock(const ClusterLock&) = delete;
  ClusterLock& operator=(const ClusterLock&) = delete;

 private:
  int file_ = -1;
  std::string state_dir_;
};

}  // namespace dag::tool
