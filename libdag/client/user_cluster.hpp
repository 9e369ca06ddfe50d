#pragma once
// Which cluster a user means who names none, or says so in the environment: the nodes that `dag up` and
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
/// Throws Failure(configuration_invalid) naming the file, when it says nothing that we would have written.
StartedNodes parse_cluster(const std::string& text, const std::string& file);

/// Of processes that run and are `dagd`; others have ended, and their number may be somebody else's.
bool is_dagd(pid_t pid);

/// Those of the file that still run. Empty: no such file of this user, or none runs.
StartedNodes running_nodes(const std::string& state_dir);

/// DAG_STATE_DIR, or the default.
std::string state_dir_of_user();

/// Where a cluster is, and who said so.
struct FoundAddress {
  std::string address;
  std::string origin;
};
/// --address, then DAG_ADDRESS, then the first node of the address file that runs. Empty: nobody says.
std::optional<FoundAddress> choose_address(const std::string& flag, const std::string& environment,
                                           const StartedNodes& running, const std::string& file);
/// The same, of this process. Throws as parse_cluster does.
std::optional<FoundAddress> find_cluster(const std::string& flag, const std::string& state_dir);

/// "cluster at 127.0.0.1:4001, by DAG_ADDRESS": for people, once, before anything runs there.
std::string found_text(const FoundAddress& found);

}  // namespace dag::detail
