// Where a node keeps its journal that keeps nothing else.
#include "nodes/journal/journal_home.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/support/temporary_directory.hpp"

using namespace dag;
using namespace dag::test;
namespace fs = std::filesystem;

TEST_CASE("the journal of a node that is gone makes room for that of the next one") {
  const TemporaryDirectory directory;
  const std::string state = directory.path().string();
  {
    const auto home = JournalHome::open(state);
    REQUIRE(home);
    CHECK(home->directory() == state + "/journal");
    for (const char* name : {"journal-1", "journal-7", "rings-65539-1"})
      std::ofstream(home->directory() + "/" + name) << "x";
    // The directory has an owner.
    const auto other = JournalHome::open(state);
    REQUIRE_FALSE(other);
    CHECK_THAT(other.error().what, Catch::Contains("another node has it"));
    CHECK(fs::exists(home->directory() + "/journal-7"));
  }
  CHECK(fs::exists(state + "/journal/journal-7"));
  const auto next = JournalHome::open(state);
  REQUIRE(next);
  for (const auto& entry : fs::directory_iterator(next->directory()))
    CHECK(entry.path().filename() == "lock");
}

TEST_CASE("what a data directory has is not touched") {
  const TemporaryDirectory directory;
  const std::string state = directory.path().string();
  fs::create_directories(state + "/journal");
  std::ofstream(state + "/node") << "0 1\n";
  std::ofstream(state + "/journal/journal-3") << "x";
  const auto home = JournalHome::open(state);
  REQUIRE_FALSE(home);
  CHECK_THAT(home.error().what, Catch::Contains("data directory"));
  CHECK(fs::exists(state + "/journal/journal-3"));
}
