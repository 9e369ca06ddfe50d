#pragma once
// The checks of `dag doctor` on a machine and a cluster: facts in, findings out.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libdag/client/cluster.hpp"

namespace dag::tool {

/// Facts of the machine that the command runs on.
struct MachineFacts {
  std::uint32_t cores = 0;  ///< that this process may use
  double cpu_limit = 0;     ///< of its cgroups, in cores; 0: none
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_limit_bytes = 0;               ///< of its cgroups; 0: none
  std::uint64_t files_max = 0;                        ///< open files, as a process begins
  std::uint64_t files_hard_max = 0;                   ///< up to which a process may raise files_max by itself
  std::vector<NodeLimits::Processes> processes = {};  ///< limits of processes and threads
  bool shared_memory = true;                          ///< processes can share memory
  bool barriers = true;                               ///< a process may use membarrier(2)
  bool control_groups = true;                         ///< each started process has a control group of its own
  /// The directory for a node's data; nothing: none was named.
  struct Disk {
    std::string directory;
    std::string problem;     ///< why it cannot be written; empty: it can
    bool in_memory = false;  ///< a tmpfs
    std::uint64_t free_bytes = 0;
    Duration sync_median{0}, sync_longest{0};  ///< until 4 KiB were on it
  };
  std::optional<Disk> disk;
};

/// A cluster as one of its nodes knows it.
struct ClusterFacts {
  std::string address;
  std::string problem;  ///< why it does not answer; empty: it does
  std::vector<NodeInfo> nodes;
};

enum class Health : std::uint8_t { good, doubtful, bad };

struct Finding {
  Health health = Health::good;
  std::string about;
  std::string what;
  std::string hint;  ///< what to do about it; empty when the finding is good
};

/// In the order in which they are printed.
std::vector<Finding> findings(const MachineFacts& machine);
std::vector<Finding> findings(const ClusterFacts& cluster);

}  // namespace dag::tool
