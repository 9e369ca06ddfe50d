// The report of `dag submit --dry-run` on a graph; the word that was meant; the directory that is believed.
#include "libdag/client/submit_request.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "libdag/client/nearest.hpp"
#include "libdag/client/state_dir.hpp"
#include "tests/support/small_graph.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

/// A chain of so many tasks, t0, t1, ...
detail::Fragment chain(int length) {
  detail::Builder builder;
  for (int i = 0; i < length; ++i) {
    const std::uint32_t task = test::add(builder, "t" + std::to_string(i));
    if (i > 0) test::strong(builder, task - 1, task);
  }
  return builder.sealed();
}

}  // namespace

TEST_CASE("a summary names the critical path where durations are stated") {
  detail::Builder builder;
  const auto read = test::add(builder, "read", 2s), quick = test::add(builder, "quick", 1s);
  const auto slow = test::add(builder, "slow", 2500ms), end = test::add(builder, "end");
  for (const auto& [from, to] : {std::pair{read, quick}, {read, slow}, {quick, end}, {slow, end}}) {
    test::strong(builder, from, to);
  }
  const detail::Fragment graph = builder.sealed();
  CHECK(detail::summary(graph, "job", false) ==
        "job: 4 tasks, 4 edges; critical path 4.5 s (3 tasks): read > slow > end\n"
        "1 task of unstated duration counted as 0\n");
  CHECK(detail::summary(graph, "a \"job\"\n", true) ==
        "{\"name\":\"a \\\"job\\\"\\u000a\",\"tasks\":4,\"edges\":4,\"durations_stated\":3,"
        "\"critical_path\":[\"read\",\"slow\",\"end\"],\"critical_path_seconds\":4.5}\n");
}

TEST_CASE("where no duration is stated it names the longest path, and cuts a long one") {
  CHECK(detail::summary(chain(1), "one", false) == "one: 1 task, 0 edges; longest path (1 task): t0\n");
  CHECK(detail::summary(chain(8), "eight", false) ==
        "eight: 8 tasks, 7 edges; longest path (8 tasks): t0 > t1 > t2 > t3 > t4 > t5 > t6 > t7\n");
  CHECK(
      detail::summary(chain(20), "twenty", false) ==
      "twenty: 20 tasks, 19 edges; longest path (20 tasks): t0 > t1 > t2 > t3 > t4 > t5 > t6 > ... > t19\n");
  CHECK(detail::summary(chain(2), "two", true) ==
        "{\"name\":\"two\",\"tasks\":2,\"edges\":1,\"durations_stated\":0,\"critical_path\":[\"t0\",\"t1\"],"
        "\"critical_path_seconds\":null}\n");
  CHECK(detail::summary({}, "nothing", false) == "nothing: 0 tasks, 0 edges\n");
}

TEST_CASE("a mistyped word is taken for the nearest, and a strange one for none") {
  const std::vector<std::string_view> words{"id", "listen", "lanes", "log", "ls"};
  CHECK(detail::nearest("lane", words) == "lanes");
  CHECK(detail::nearest("lsiten", words) == "listen");
  CHECK(detail::nearest("lg", words) == "log");
  CHECK(detail::nearest("ids", words) == "id");
  CHECK_FALSE(detail::nearest("colour", words));
  CHECK_FALSE(detail::nearest("xy", words));  // Two edits make `id` of anything of two letters.
  CHECK_FALSE(detail::nearest("", words));
  CHECK_FALSE(detail::nearest(std::string(1 << 20, 'l'), words));
}

TEST_CASE("the state directory is this user's alone") {
  const test::TemporaryDirectory directory;
  const std::string base = directory.path();
  const std::string inner = base + "/a/b", open = base + "/open", file = base + "/file";
  CHECK(detail::make_state_dir(inner));
  CHECK(detail::make_state_dir(inner));
  struct stat status {};
  REQUIRE(stat(inner.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);

  REQUIRE(mkdir(open.c_str(), 0700) == 0);
  REQUIRE(chmod(open.c_str(), 0770) == 0);
  CHECK_THAT(detail::make_state_dir(open).error().what, Catch::Contains("may be written by others"));
  std::ofstream(file) << "x";
  CHECK_THAT(detail::make_state_dir(file).error().what, Catch::Contains("is not a directory"));
  // Another user with write access above could have made the link.
  REQUIRE(symlink(inner.c_str(), (base + "/link").c_str()) == 0);
  CHECK_THAT(detail::make_state_dir(base + "/link").error().what, Catch::Contains("is not a directory"));
  // And one with write access above that directory, a link in its place.
  const std::string shared = base + "/shared", below = shared + "/dag";
  REQUIRE(mkdir(shared.c_str(), 0700) == 0);
  REQUIRE(chmod(shared.c_str(), 0777) == 0);
  CHECK_THAT(detail::make_state_dir(below).error().what, Catch::Contains("lies below " + shared));
  REQUIRE(chmod(shared.c_str(), 01777) == 0);  // As /tmp.
  CHECK(detail::make_state_dir(below));
  if (geteuid() != 0) return;
  REQUIRE(chmod(shared.c_str(), 0755) == 0);
  REQUIRE(chown(shared.c_str(), 65534, 65534) == 0);
  CHECK_THAT(detail::make_state_dir(shared + "/other").error().what, Catch::Contains("another user"));
}
