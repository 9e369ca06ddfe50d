#pragma once
// Hosts on one switch that may be deaf to each other: each in a network namespace of its own, with this
// process at the switch, where it reaches all of them. Needs root, `ip` and `nft`.
//
// The namespaces have no names. The kernel takes them away, with all that is in them, when the last process
// and file that hold them are gone: so nothing is left behind, however this process ends (those that it
// starts end with it). The network of the machine is not touched.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/chaos/cuts.hpp"

namespace dag::chaos {

/// Why there cannot be one here.
struct NoNetwork : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Network {
 public:
  /// By a process of one thread: those that it starts later are at the switch as well. Throws NoNetwork.
  Network(std::filesystem::path directory, std::uint32_t hosts);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Its namespace, as a file.
  int file(std::uint32_t host) const { return hosts_[host]; }
  std::string address(std::uint32_t host) const;
  void cut(const Deaf& deaf) const;
  void heal() const { cut({}); }

 private:
  void make(std::uint32_t hosts);
  void run(const std::string& tool, const std::string& flag, const std::string& commands, int space) const;

  const std::filesystem::path directory_;  ///< for the tools' input and output
  std::vector<int> hosts_;                 ///< files
};

}  // namespace dag::chaos
