// An address as people write it, and what they are told when it is none.
#include "libdag/net/address.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace dag::net;

TEST_CASE("addresses are read and written the same way") {
  using Row = std::tuple<std::string, Address>;
  const auto [text, address] = GENERATE(table<std::string, Address>({
      Row{"127.0.0.1:80", {"127.0.0.1", 80}},
      Row{"node-7.example.org:65535", {"node-7.example.org", 65535}},
      Row{"node_7:0", {"node_7", 0}},
      Row{"[::1]:4000", {"::1", 4000}},
      Row{"[fe80::1]:1", {"fe80::1", 1}},
  }));
  const auto parsed = parse_address(text);
  REQUIRE(parsed);
  CHECK(*parsed == address);
  CHECK(to_string(*parsed) == text);
}

TEST_CASE("a port that is not given is the default one") {
  CHECK(parse_address("node7")->port == default_port);
  CHECK(parse_address("[::1]")->port == default_port);
  CHECK(parse_address("node7", 99)->port == 99);
}

TEST_CASE("what is wrong with an address is said, with a hint") {
  using Row = std::tuple<std::string, std::string>;
  const auto [text, why] = GENERATE(table<std::string, std::string>({
      Row{"", "has no host"},
      Row{":7117", "has no host"},
      Row{"node7:", "has a port that is not a number"},
      Row{"node7:http", "has a port that is not a number"},
      Row{"node7:80x", "has a port that is not a number"},
      Row{"node7:-1", "has a port that is not a number"},
      Row{"node7:65536", "has a port above 65535"},
      Row{"node7:99999999999999999999", "has a port above 65535"},
      Row{"127.0.0.256", "is not an IPv4 address"},
      Row{"1.2.3:80", "is not an IPv4 address"},
      Row{"::1", "has several colons"},
      Row{"::1:80", "has several colons"},
      Row{"[::1", "has no closing bracket"},
      Row{"[::1]80", "goes on after its bracket"},
      Row{"[node7]:80", "has no IPv6 address between its brackets"},
      Row{"tcp://node7:80", "begins with a scheme"},
      Row{"node 7:80", "has a character that no host name has"},
      Row{"node7/x:80", "has a character that no host name has"},
      Row{std::string(254, 'a'), "has a host of more than 253 characters"},
  }));
  INFO(text);
  const auto parsed = parse_address(text);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code == ErrorCode::address_invalid);
  CHECK_THAT(parsed.error().what, Catch::Contains(why));
  CHECK_THAT(parsed.error().what, Catch::Contains("'" + text + "'"));
}

TEST_CASE("only what cannot leave this machine is loopback") {
  for (const char* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"}) CHECK(is_loopback({host, 1}));
  for (const char* host : {"0.0.0.0", "10.0.0.1", "::", "127.evil.org", "node7"})
    CHECK_FALSE(is_loopback({host, 1}));
}
