// Data that a node keeps between its starts.

#include "nodes/disk/data_directory.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "nodes/disk/incarnation.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;

namespace {

Blob shell() {
  std::ifstream file("/bin/sh", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return Blob(std::as_bytes(std::span(text)));
}

}  // namespace

TEST_CASE("each start of a node has a higher incarnation than all before, whatever the clock says") {
  const test::TemporaryDirectory place;
  Incarnation last{0};
  for (int start = 0; start < 5; ++start) {
    const auto data = DataDirectory::open(place.path().string() + "/n3", {3});
    REQUIRE(data);
    CHECK(data->life().process == ProcessId{3});
    CHECK(data->life().incarnation > last);
    last = data->life().incarnation;
  }
  { std::ofstream(place.path().string() + "/n3/node") << "3 4000000000\n"; }
  CHECK(DataDirectory::open(place.path().string() + "/n3", {3})->life().incarnation ==
        Incarnation{4'000'000'000 + incarnations_apart});
}

TEST_CASE("one directory, one node") {
  const test::TemporaryDirectory place;
  const auto first = DataDirectory::open(place.path().string(), {1});
  REQUIRE(first);
  const auto beside = DataDirectory::open(place.path().string(), {1});
  REQUIRE(!beside);
  CHECK_THAT(beside.error().what, Catch::Contains("another node uses"));
}

TEST_CASE("another node's directory is refused by name") {
  const test::TemporaryDirectory place;
  REQUIRE(DataDirectory::open(place.path().string(), {1}));
  const auto other = DataDirectory::open(place.path().string(), {2});
  REQUIRE(!other);
  CHECK_THAT(other.error().what, Catch::Contains("belongs to n1, this is n2"));
}

TEST_CASE("a damaged identity is not guessed") {
  const test::TemporaryDirectory place;
  std::ofstream(place.path().string() + "/node") << "hello";
  const auto data = DataDirectory::open(place.path().string(), {1});
  REQUIRE(!data);
  CHECK(data.error().code == ErrorCode::configuration_invalid);
}

TEST_CASE("programs are there again after a start; a damaged one is left out and said") {
  const test::TemporaryDirectory place;
  const Blob program = shell();
  const ProgramId id = identify(program.bytes());
  {
    const auto data = DataDirectory::open(place.path().string(), {1});
    REQUIRE(data);
    REQUIRE(data->keep(id, program));
    CHECK(data->keep(id, program));
  }
  std::vector<std::string> said;
  const auto load = [&] {
    ProgramStore store;
    DataDirectory::open(place.path().string(), {1})->load(store, [&](std::string_view line) {
      said.emplace_back(line);
    });
    return store.descriptor(id).has_value();
  };
  CHECK(load());
  CHECK(said.empty());
  SECTION("but not one that nobody needs any more") {
    DataDirectory::open(place.path().string(), {1})->drop(id);
    CHECK(!load());
    CHECK(said.empty());
    return;
  }
  const auto file = *std::filesystem::directory_iterator(place.path().string() + "/programs");
  std::fstream(file.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(1000).put('x');
  CHECK(!load());
  REQUIRE(said.size() == 1);
  CHECK_THAT(said.front(), Catch::Contains("does not contain the program of its name"));
}
