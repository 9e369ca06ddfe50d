#pragma once
// An address as people write it. Decides what is one; whether anybody is there shows when it is used.

#include <cstdint>
#include <string>
#include <string_view>

#include "libdag/base/result.hpp"

namespace dag::net {

/// Where a process listens when nobody says otherwise.
inline constexpr std::uint16_t default_port = 7117;

struct Address {
  /// A name, an IPv4 address, or an IPv6 address without its brackets.
  std::string host;
  std::uint16_t port = 0;
  auto operator<=>(const Address&) const = default;
};

/// HOST:PORT; [HOST]:PORT for IPv6.
std::string to_string(const Address& address);

/// HOST[:PORT], with `port_default` where no port is given. address_invalid says what is wrong and how it is
/// written.
Result<Address> parse_address(std::string_view text, std::uint16_t port_default = default_port);

/// Certainly only reachable from this machine. A name is not, except localhost.
bool is_loopback(const Address& address);

}  // namespace dag::net
