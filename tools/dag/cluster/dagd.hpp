#pragma once
// Nodes as processes of this host: the `dagd` beside `dag`, started so that it outlives us.

#include <optional>
#include <string>
#include <vector>

#include "tools/dag/cluster/cluster_file.hpp"

namespace dag::tool {

/// The `dagd` that was built or installed with this `dag`.
std::string dagd_program();

struct DagdOrder {
  std::uint32_t id = 0;
  std::string listen = "127.0.0.1:0";
  std::string http;           ///< HOST:PORT or off; empty: as its settings say
  std::string peers;          ///< HOST:PORT, with commas; empty: the first of its cluster
  std::string share = "0/1";  ///< this node's part of the host's cores
  std::string cluster = "0";  ///< as hexadecimal digits; 0: that of its peers
  std::string lanes;          ///< empty: as its settings say
  std::string log;            ///< likewise
  std::string replicas;       ///< likewise
  std::string state_dir;
  std::string data;  ///< directory for data kept between its starts; empty: as its settings say
};

/// Its command line, program first. Names every setting that would otherwise come from elsewhere (a file, a
/// variable) and make it another node.
std::vector<std::string> dagd_words(const std::string& program, const DagdOrder& order);

/// HOST:PORT out of the line that reports a node as ready; empty when there is no such line yet.
std::optional<std::string> address_said(const std::string& log);

std::string dagd_log_of(const DagdOrder& order);

/// Starts the node; `started` has its pid from then on. Returns when the node is ready. Throws Failure with
/// the end of its log when it ends first.
void start_dagd(const DagdOrder& order, StartedNode& started);

}  // namespace dag::tool
