// Permission to link, and the answer without it.
#include "libdag/link/handshake.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace dag::link;

namespace {
Hello hello(std::uint32_t process, VersionRange versions, std::uint64_t cluster, std::string build) {
  return {ClusterId{cluster}, versions,         Life{ProcessId{process}, Incarnation{1}},
          std::move(build),   "127.0.0.1:4000", "127.0.0.1:4001"};
}
}  // namespace

TEST_CASE("the highest version that both speak is chosen") {
  const auto welcome = answer(hello(1, {2, 4}, 7, "aa"), hello(2, {3, 9}, 7, "aa"));
  REQUIRE(welcome);
  CHECK(welcome->version == 4);
  CHECK(welcome->from.process == ProcessId{1});
  CHECK(welcome->cluster == ClusterId{7});
}

TEST_CASE("versions without overlap are refused, naming both, whatever else differs") {
  const auto older = answer(hello(1, {2, 4}, 7, "aa"), hello(2, {1, 1}, 8, "bb"));
  REQUIRE_FALSE(older);
  CHECK(older.error().code == ErrorCode::peer_version);
  CHECK(older.error().what == "n2.1 speaks version 1 of the protocol, n1.1 speaks versions 2 to 4");
  const auto newer = answer(hello(1, {2, 4}, 7, "aa"), hello(2, {5, 6}, 7, "aa"));
  REQUIRE_FALSE(newer);
  CHECK(newer.error().code == ErrorCode::peer_version);
}

TEST_CASE("different builds are refused, naming both; a process without kernels links with any") {
  const auto mixed = answer(hello(1, {1, 1}, 7, "aa11"), hello(2, {1, 1}, 7, "bb22"));
  REQUIRE_FALSE(mixed);
  CHECK(mixed.error().code == ErrorCode::binary_mismatch);
  CHECK(mixed.error().what == "n2.1 runs build bb22, n1.1 runs build aa11");
  CHECK(answer(hello(1, {1, 1}, 7, ""), hello(2, {1, 1}, 7, "bb22")));
  CHECK(answer(hello(1, {1, 1}, 7, "aa11"), hello(2, {1, 1}, 7, "")));
}

TEST_CASE("a foreign cluster is refused; who knows only the address is told the cluster") {
  CHECK_FALSE(answer(hello(1, {1, 1}, 7, ""), hello(2, {1, 1}, 8, "")));
  const auto welcome = answer(hello(1, {1, 1}, 7, ""), hello(2, {1, 1}, 0, ""));
  REQUIRE(welcome);
  CHECK(welcome->cluster == ClusterId{7});
}

TEST_CASE("a refusal keeps its meaning on the way") {
  const Error error{ErrorCode::binary_mismatch, "what", "hint"};
  CHECK(error_of(refused(Life{}, error)) == error);
}
