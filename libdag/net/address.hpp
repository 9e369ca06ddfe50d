#pragma once
// An address as people write it. Checks its form only; use shows whether a process listens there.

#include <cstdint>
#include <string>
#include <string_view>

#include "libdag/base/result.hpp"

namespace dag::net {

/// The port when none is given.
inline constexpr std::uint16_t default_port = 7117;

struct Address {
  /// A name, an IPv4 address, or an IPv6 address without its brackets.
  std::string host;
  std::uint16_t port = 0;
  auto operator<=>(const Address&) const = default;
};

/// HOST:PORT; [HOST]:PORT for IPv6.
std::string to_string(const Address& address);

/// HOST[:PORT], with `port_default` where no port is given. address_invalid names the fault and the right
/// form.
Result<Address> parse_address(std::string_view text, std::uint16_t port_default = default_port);

/// True: certainly only reachable from this machine. Names are not, except localhost.
bool is_loopback(const Address& address);

}  // namespace dag::net
