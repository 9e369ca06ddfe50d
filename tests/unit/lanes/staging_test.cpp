// Files that kernels stage, on a real disk.
#include "actors/lanes/staging.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "dag/error.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;
namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
Blob blob(std::string_view text) { return Blob(std::as_bytes(std::span(text))); }
ErrorCode refused(auto&& what) {
  try {
    what();
  } catch (const Failure& failure) {
    return failure.error().code;
  }
  FAIL("nothing was thrown");
  return {};
}

}  // namespace

TEST_CASE("what is staged lies apart until it is read, and goes with the attempt") {
  const test::TemporaryDirectory directory;
  const std::string place = directory.path().string() + "/model.bin";
  fs::path apart;
  {
    Staging staging;
    apart = staging.stage(place);
    CHECK(apart.filename() == "model.bin");
    CHECK_FALSE(fs::exists(place));
    std::ofstream(apart) << "weights";
    std::ofstream(staging.stage(directory.path().string() + "/x/../other")) << "";
    const auto files = staging.read();
    REQUIRE(files.size() == 2);
    CHECK(files[0].path == place);
    CHECK(files[0].bytes.size_bytes() == 7);
    CHECK(files[1].path == directory.path().string() + "/other");
    CHECK(files[1].bytes.size_bytes() == 0);
    CHECK(refused([&] { staging.stage(place); }) == ErrorCode::usage);
    CHECK(refused([&] { staging.stage(""); }) == ErrorCode::usage);
    CHECK(refused([&] { staging.stage("/tmp/"); }) == ErrorCode::usage);
  }
  CHECK_FALSE(fs::exists(apart));
}

TEST_CASE("what was staged and not written is no end of a task") {
  Staging staging;
  staging.stage("/tmp/never-written");
  CHECK(refused([&] { staging.read(); }) == ErrorCode::task_failed);
}

TEST_CASE("a file is published in one step, again and again, and leftovers of its task go") {
  const test::TemporaryDirectory directory;
  const fs::path place = directory.path() / "out", other = directory.path() / ".out.job7-42.1.part";
  std::ofstream(directory.path() / ".out.job7-41.1.part") << "half";
  std::ofstream(other) << "another task's";
  publish_file(place.string(), blob("first"), "job7-41", "2");
  CHECK(text_of(place) == "first");
  publish_file(place.string(), blob("second, longer"), "job7-41", "3");
  CHECK(text_of(place) == "second, longer");
  CHECK(std::distance(fs::directory_iterator(directory.path()), {}) == 2);
  CHECK(text_of(other) == "another task's");
  CHECK(refused([&] {
          publish_file((directory.path() / "nowhere" / "out").string(), blob("x"), "job7-41", "4");
        }) == ErrorCode::task_failed);
}
