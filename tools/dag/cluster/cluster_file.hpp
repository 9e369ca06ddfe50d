#pragma once
// The address file of this user: the nodes that `dag up` and `dag join` started on this host. Written whole,
// by one `dag` at a time. libdag/client/user_cluster reads it.

#include <string>

#include "libdag/client/user_cluster.hpp"

namespace dag::tool {

using detail::cluster_file_of;
using detail::is_dagd;
using detail::parse_cluster;
using detail::running_nodes;
using detail::StartedNode;
using detail::StartedNodes;

std::string cluster_text(const StartedNodes& nodes);
void write_cluster(const std::string& state_dir, const StartedNodes& nodes);
/// Removes the address file and the nodes' files, but for their journals: people read those afterwards.
void remove_cluster(const std::string& state_dir);
/// Removes the journals, too, when another cluster starts.
void remove_history(const std::string& state_dir);

/// Makes other `dag up`, `join` and `down` of this user wait. Makes the directory when it is missing.
class ClusterLock {
 public:
  explicit ClusterLock(const std::string& state_dir);
  /// Leaves no lock, and no empty state directory.
  ~ClusterLock();
  ClusterLock(const ClusterLock&) = delete;
  ClusterLock& operator=(const ClusterLock&) = delete;

 private:
  int file_ = -1;
  std::string state_dir_;
};

}  // namespace dag::tool
