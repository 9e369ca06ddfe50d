#pragma once
// A cluster of libdag on this machine for as long as it is measured.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/bench/child.hpp"

namespace dag::bench {

/// `dag up` in a directory of its own, and `dag down` at the end, also when that is the end of this process.
class Cluster {
 public:
  /// With `replicas` copies of each job's record, in memory or, with `durable`, on the disk. Its nodes also
  /// get `variables`: NAME=VALUE.
  explicit Cluster(int nodes, int replicas = 3, bool durable = false,
                   const std::vector<std::string>& variables = {});

  const std::string& address() const { return address_; }
  const std::vector<pid_t>& processes() const { return processes_; }

 private:
  std::optional<Afterwards> down_;
  std::string address_;
  std::vector<pid_t> processes_;
};

}  // namespace dag::bench
