#pragma once
// A port for a program that must be told one before it listens. Another program may take it meanwhile.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "dag/error.hpp"

namespace dag {

/// A free port of loopback. Ports from 32768 on are left out: systems assign those to callers that ask for
/// any port or that connect. Concurrent processes mostly get different ports. Throws Failure
/// (address_in_use).
inline std::uint16_t free_port() {
  static std::atomic<unsigned> asked = 0;
  constexpr unsigned first = 10'000, count = 20'000, of_a_process = 16;
  for (unsigned tries = 0; tries < count; ++tries) {
    const unsigned place = static_cast<unsigned>(getpid()) * of_a_process + asked++;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(first + place % count));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool bound = probe >= 0 && bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    if (probe >= 0) close(probe);
    if (bound) return ntohs(address.sin_port);
  }
  throw Failure({ErrorCode::address_in_use, "no free port on loopback"});
}

/// With it, as HOST:PORT.
inline std::string free_address() { return "127.0.0.1:" + std::to_string(free_port()); }

}  // namespace dag
