#pragma once
// Ports that a node got when it was told to take any: with a data directory it takes them again at its next
// start, so that bookmarks, scrape targets and `join` lines stay true. What somebody else has by then is left
// to them, and any other one is taken.

#include <string>

#include "libdag/net/address.hpp"

namespace dag {

struct NodePorts {
  net::Address listen;
  net::Address http;  ///< port 0: it serves nothing there
};

/// As the node's last start left them in its data directory. Ports are 0 where nothing is known, or what is
/// there cannot be read.
NodePorts kept_ports(const std::string& data_directory);
/// Best effort: a node without them only gets other ones.
void keep_ports(const std::string& data_directory, const NodePorts& ports);

/// The kept one, if any port of that host is asked for and it is free; else what is asked for.
net::Address again(const net::Address& asked, const net::Address& kept);

}  // namespace dag
