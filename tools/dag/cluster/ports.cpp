#include "tools/dag/cluster/ports.hpp"

#include <charconv>

#include "dag/error.hpp"

namespace dag::tool {
namespace {

constexpr std::uint32_t port_max = 65535;

struct HostAndPort {
  std::string host;  ///< in its brackets, if it is IPv6
  std::optional<std::uint32_t> port;
};

[[noreturn]] void refuse(const std::string& option, const std::string& text) {
  throw Failure({ErrorCode::usage, option + " cannot be '" + text + "'",
                 "write HOST or HOST:PORT, such as 127.0.0.1:7100, [::1]:7100 or ::1"});
}

HostAndPort host_and_port(const std::string& option, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  if (colon == std::string::npos || text.ends_with(']')) return {text, std::nullopt};
  if (!bracketed && text.find(':') != colon) return {"[" + text + "]", std::nullopt};  // IPv6 alone.
  std::uint32_t port = 0;
  const char* last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data() + colon + 1, last, port);
  if (problem != std::errc{} || end != last || port > port_max || colon == 0) refuse(option, text);
  return {text.substr(0, colon), port};
}

std::string at(const HostAndPort& where, std::uint32_t node) {
  const std::uint32_t first = where.port.value_or(0);
  return where.host + ":" + std::to_string(first == 0 ? 0 : first + node);
}

void check_last(std::uint32_t last) {
  if (last > port_max) {
    throw Failure({ErrorCode::usage, "the last node would get port " + std::to_string(last),
                   "begin at a lower port: the highest one is " + std::to_string(port_max)});
  }
}

}  // namespace

std::vector<NodeAddresses> addresses_of_nodes(const AddressesAsked& asked, std::uint32_t count) {
  const HostAndPort listen = host_and_port("--listen", asked.listen);
  const bool serves = asked.http != "off";
  HostAndPort http = host_and_port("--http", serves ? asked.http : "");
  if (asked.port_base && (listen.port || http.port)) {
    throw Failure({ErrorCode::usage, "--port-base says all ports", "leave out those of --listen and --http"});
  }
  for (const HostAndPort& where : {listen, http}) check_last(where.port.value_or(0) + count - 1);
  if (asked.port_base) check_last(*asked.port_base + 2 * count - 1);
  if (asked.port_base && http.host.empty()) http.host = "127.0.0.1";  // As dagd has it.
  std::vector<NodeAddresses> all;
  for (std::uint32_t node = 0; node < count; ++node) {
    NodeAddresses one{at(listen, node), http.host.empty() ? "" : at(http, node)};
    if (asked.port_base) {
      one.listen = listen.host + ":" + std::to_string(*asked.port_base + 2 * node);
      one.http = http.host + ":" + std::to_string(*asked.port_base + 2 * node + 1);
    }
    if (!serves) one.http = "off";
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace dag::tool
