#include "nodes/disk/kept_ports.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "nodes/disk/durable_file.hpp"

namespace dag {
namespace {

std::string ports_file(const std::string& data_directory) { return data_directory + "/ports"; }

/// True: we could listen there. Another process may still take the port before we do.
bool is_free_port(const net::Address& address) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found) != 0)
    return false;
  const int probe = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  // As a server does it: connections of our last start may be ending there still.
  const bool bound = probe >= 0 && setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                     bind(probe, found->ai_addr, found->ai_addrlen) == 0 && listen(probe, 1) == 0;
  if (probe >= 0) close(probe);
  freeaddrinfo(found);
  return bound;
}

}  // namespace

NodePorts kept_ports(const std::string& data_directory) {
  NodePorts ports;
  std::ifstream file(ports_file(data_directory));
  std::string what, where;
  while (file >> what >> where) {
    const auto address = net::parse_address(where, 0);
    if (!address) continue;
    if (what == "listen") ports.listen = *address;
    if (what == "http") ports.http = *address;
  }
  return ports;
}

void keep_ports(const std::string& data_directory, const NodePorts& ports) {
  std::string text = "listen " + net::to_string(ports.listen) + "\n";
  if (ports.http.port != 0) text += "http " + net::to_string(ports.http) + "\n";
  static_cast<void>(write_whole(files_of_host(), ports_file(data_directory), std::as_bytes(std::span(text))));
}

net::Address again(const net::Address& asked, const net::Address& kept) {
  const bool same = asked.port == 0 && kept.port != 0 && kept.host == asked.host;
  return same && is_free_port(kept) ? kept : asked;
}

}  // namespace dag
