#pragma once
// The cluster of a user who gives no address, or gives it by the environment: the nodes that `dag up` and
// `dag join` started for this user on this host, by the address file that they leave.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dag::detail {

struct StartedNode {
  std::uint32_t id = 0;
  std::string address;  ///< HOST:PORT
  pid_t pid = 0;
  bool operator==(const StartedNode&) const = default;
};
using StartedNodes = std::vector<StartedNode>;

std::string cluster_file_of(const std::string& state_dir);
/// Throws Failure(configuration_invalid) naming the file, when its text was not written by libdag.
StartedNodes parse_cluster(const std::string& text, const std::string& file);

/// True: the process runs and is `dagd`. A node's number may belong to another process after its end.
bool is_dagd(pid_t pid);

/// Nodes of the address file that still run. Empty: this user has no such file, or no node runs.
StartedNodes running_nodes(const std::string& state_dir);

/// DAG_STATE_DIR, or the default.
std::string state_dir_of_user();

/// Address of a cluster, and where it was found.
struct FoundAddress {
  std::string address;
  std::string origin;
};
/// --address, then DAG_ADDRESS, then the first running node of the address file. Empty: none is given.
std::optional<FoundAddress> choose_address(const std::string& flag, const std::string& environment,
                                           const StartedNodes& running, const std::string& file);
/// The address for this process. Throws as parse_cluster does.
std::optional<FoundAddress> find_cluster(const std::string& flag, const std::string& state_dir);

/// "cluster at 127.0.0.1:4001, by DAG_ADDRESS": printed once, before the first job runs there.
std::string found_text(const FoundAddress& found);

}  // namespace dag::detail
