#include "tools/dag/cluster/ports.hpp"

#include <catch2/catch.hpp>

#include "dag/error.hpp"

using namespace dag::tool;

TEST_CASE("nodes take any ports, those behind the one that is given, or two each from a base") {
  CHECK(addresses_of_nodes({}, 2) == std::vector<NodeAddresses>{{"127.0.0.1:0", ""}, {"127.0.0.1:0", ""}});
  CHECK(addresses_of_nodes({.listen = "host:7100", .http = "[::1]:9000"}, 2) ==
        std::vector<NodeAddresses>{{"host:7100", "[::1]:9000"}, {"host:7101", "[::1]:9001"}});
  CHECK(addresses_of_nodes({.listen = "::1", .http = "off", .port_base = 7100}, 2) ==
        std::vector<NodeAddresses>{{"[::1]:7100", "off"}, {"[::1]:7102", "off"}});
  CHECK(
      addresses_of_nodes({.port_base = 7100}, 2) ==
      std::vector<NodeAddresses>{{"127.0.0.1:7100", "127.0.0.1:7101"}, {"127.0.0.1:7102", "127.0.0.1:7103"}});
}

TEST_CASE("ports that there are not are refused") {
  CHECK_THROWS_AS(addresses_of_nodes({.listen = "host:65535"}, 2), dag::Failure);
  CHECK_THROWS_AS(addresses_of_nodes({.listen = "host:x"}, 1), dag::Failure);
  CHECK_THROWS_AS(addresses_of_nodes({.port_base = 65535}, 1), dag::Failure);
  CHECK_THROWS_AS(addresses_of_nodes({.listen = "host:1", .port_base = 2}, 1), dag::Failure);
}
