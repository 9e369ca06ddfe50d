#pragma once
// A port for a program that has to be told one before it listens: it may be somebody else's by then.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "dag/error.hpp"

namespace dag::tool {

/// Of loopback, where nobody listens now. Throws Failure (address_in_use).
inline std::uint16_t free_port() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound = probe >= 0 && bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (probe >= 0) close(probe);
  if (!bound) throw Failure({ErrorCode::address_in_use, "no free port on loopback"});
  return ntohs(address.sin_port);
}

/// With it, as HOST:PORT.
inline std::string free_address() { return "127.0.0.1:" + std::to_string(free_port()); }

}  // namespace dag::tool
