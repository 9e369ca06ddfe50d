#pragma once
// Where the nodes of one `dag up` listen: a host, and ports that follow each other.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dag::tool {

struct AddressesAsked {
  std::string listen = "127.0.0.1";  ///< HOST[:PORT]
  std::string http = {};             ///< HOST[:PORT] or off; empty: as the nodes' settings say
  std::optional<std::uint32_t> port_base = {};
};

struct NodeAddresses {
  std::string listen, http;  ///< as dagd takes them; `http` may be empty
  bool operator==(const NodeAddresses&) const = default;
};

/// Addresses of node 0 and those behind it. From a given port each node takes the next one; from a base each
/// takes two, to listen and to serve HTTP. Without either: any ports. Throws Failure(usage) when there are
/// too few.
std::vector<NodeAddresses> addresses_of_nodes(const AddressesAsked& asked, std::uint32_t count);

}  // namespace dag::tool
