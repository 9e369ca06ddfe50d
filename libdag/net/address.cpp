#include "libdag/net/address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace dag::net {
namespace {

constexpr std::size_t host_bytes_max = 253;  // The longest name DNS has.

Error invalid(std::string_view text, std::string why, std::string hint) {
  return {ErrorCode::address_invalid, "'" + std::string(text) + "' " + std::move(why), std::move(hint)};
}

bool is_ipv4(const std::string& host) {
  in_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}
bool is_ipv6(const std::string& host) {
  in6_addr address;
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool only(std::string_view text, std::string_view also) {
  return std::all_of(text.begin(), text.end(), [also](char c) {
    return (c >= '0' && c <= '9') || also.find(c) != std::string_view::npos ||
           (also.size() > 1 && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')));
  });
}

Status check_host(std::string_view text, const std::string& host, bool bracketed) {
  if (host.empty()) return invalid(text, "has no host", "write HOST or HOST:PORT, such as node7:7117");
  if (host.size() > host_bytes_max) return invalid(text, "has a host of more than 253 characters", {});
  if (bracketed) {
    if (is_ipv6(host)) return Done{};
    return invalid(text, "has no IPv6 address between its brackets", "such as [::1]:7117");
  }
  if (only(host, ".")) {
    if (is_ipv4(host)) return Done{};
    return invalid(text, "is not an IPv4 address", "four numbers from 0 to 255, such as 127.0.0.1");
  }
  if (only(host, ".-_")) return Done{};
  return invalid(text, "has a character that no host name has", "letters, digits, '.', '-'");
}

Result<std::uint16_t> parse_port(std::string_view text, std::string_view digits) {
  unsigned port = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || end != digits.data() + digits.size() || problem == std::errc::invalid_argument) {
    return invalid(text, "has a port that is not a number", "write HOST:PORT, such as node7:7117");
  }
  if (problem == std::errc::result_out_of_range || port > 65535) {
    return invalid(text, "has a port above 65535", {});
  }
  return static_cast<std::uint16_t>(port);
}

}  // namespace

std::string to_string(const Address& address) {
  const bool brackets = address.host.find(':') != std::string::npos;
  return (brackets ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

Result<Address> parse_address(std::string_view text, std::uint16_t port_default) {
  if (const auto scheme = text.find("://"); scheme != std::string_view::npos) {
    return invalid(text, "begins with a scheme",
                   "leave out '" + std::string(text.substr(0, scheme + 3)) + "'");
  }
  Address address{{}, port_default};
  std::string_view rest;
  const bool bracketed = !text.empty() && text[0] == '[';
  if (bracketed) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return invalid(text, "has no closing bracket", "such as [::1]:7117");
    address.host = text.substr(1, close - 1);
    rest = text.substr(close + 1);
    if (!rest.empty() && rest[0] != ':')
      return invalid(text, "goes on after its bracket", "such as [::1]:7117");
  } else {
    if (std::count(text.begin(), text.end(), ':') > 1) {
      return invalid(text, "has several colons", "put an IPv6 address into brackets: [::1]:7117");
    }
    address.host = text.substr(0, text.find(':'));
    rest = text.substr(address.host.size());
  }
  if (const Status host = check_host(text, address.host, bracketed); !host) return host.error();
  if (!rest.empty()) {
    const auto port = parse_port(text, rest.substr(1));
    if (!port) return port.error();
    address.port = *port;
  }
  return address;
}

bool is_loopback(const Address& address) {
  if (address.host == "localhost" || address.host == "::1") return true;
  return is_ipv4(address.host) && address.host.starts_with("127.");
}

}  // namespace dag::net
