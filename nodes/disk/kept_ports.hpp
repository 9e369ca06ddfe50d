#pragma once
// Ports that a node got when it was told to take any: with a data directory it takes them again at its next
// start, so that bookmarks, scrape targets and `join` lines stay true. A port that another process has by
// then is replaced by any other one.

#include <string>

#include "libdag/net/address.hpp"

namespace dag {

struct NodePorts {
  net::Address listen;
  net::Address http;  ///< port 0: it serves nothing there
};

/// The ports of the node's last start, from its data directory. Ports are 0 where nothing is known, or the
/// file cannot be read.
NodePorts kept_ports(const std::string& data_directory);
/// Best effort: a node without kept ports only gets other ones.
void keep_ports(const std::string& data_directory, const NodePorts& ports);

/// The kept address, if any port of that host is asked for and the kept one is free; else the asked one.
net::Address again(const net::Address& asked, const net::Address& kept);

}  // namespace dag
