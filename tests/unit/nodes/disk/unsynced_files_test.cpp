// The files of a machine that loses its power.
#include "nodes/disk/unsynced_files.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/support/file_text.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;
using dag::test::bytes_of;
using dag::test::TemporaryDirectory;
using dag::test::text_of;

namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename().string());
  return names;
}

/// A data directory; writes that can be lost are noted beside it.
struct Data {
  Data() { fs::create_directory(place.path() / "data"); }
  std::string path() const { return (place.path() / "data").string(); }
  TemporaryDirectory place;
};

}  // namespace

TEST_CASE("of what was written any sectors may be there, and all of what was synced") {
  const std::string first(8 * 512, 'a'), second(8 * 512, 'b');
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Data data;
    const std::string name = data.path() + "/file";
    {
      UnsyncedFiles files(data.path(), seed);
      const OwnedFile file = files.make(name);
      REQUIRE((files.write(file, bytes_of(first), 0) && files.sync(file)));
      CHECK(text_of(name) == first);
      REQUIRE(files.sync_directory(data.path()));
      REQUIRE(files.write(file, bytes_of(second), 0));
    }
    const std::string left = text_of(name);
    REQUIRE(left.size() == first.size());
    std::string sectors;
    for (std::size_t at = 0; at < left.size(); at += 512) {
      CHECK(left.substr(at, 512) == std::string(512, left[at]));
      sectors += left[at];
    }
    seen.insert(sectors);
  }
  CHECK(seen.contains("aaaaaaaa"));
  CHECK(seen.size() > 20);
}

TEST_CASE("names that were not synced are there up to some moment") {
  std::set<std::pair<std::set<std::string>, std::string>> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Data data;
    const std::string directory = data.path();
    {
      UnsyncedFiles files(directory, seed);
      for (const char* name : {"/old", "/gone"}) {
        const OwnedFile file = files.make(directory + name);
        REQUIRE((files.write(file, bytes_of("old"), 0) && files.sync(file)));
      }
      REQUIRE(files.sync_directory(directory));
      const OwnedFile file = files.make(directory + "/new");
      REQUIRE((files.write(file, bytes_of("new"), 0) && files.sync(file)));
      REQUIRE(files.rename(directory + "/new", directory + "/old"));
      REQUIRE(files.remove(directory + "/gone"));
      CHECK(names_in(directory) == std::set<std::string>{"old"});
    }
    const UnsyncedFiles next(directory, seed);
    seen.emplace(names_in(directory), text_of(directory + "/old"));
  }
  CHECK(seen == std::set<std::pair<std::set<std::string>, std::string>>{{{"gone", "old"}, "old"},
                                                                        {{"gone", "new", "old"}, "old"},
                                                                        {{"gone", "old"}, "new"},
                                                                        {{"old"}, "new"}});
}
