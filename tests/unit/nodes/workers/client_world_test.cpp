// The parts of a client's world that travel, and the start of a worker process with them.
#include "nodes/workers/client_world.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>

#include "tests/support/file_text.hpp"

using namespace dag;

namespace {

Launch launch_with(std::vector<std::string> environment) {
  Launch launch{{}, "", {"job"}, "/"};
  launch.environment = std::move(environment);
  return launch;
}

std::set<std::string> started_with(const Launch& launch) {
  const auto variables = environment_of_worker(launch, "seat");
  return {variables.begin(), variables.end()};
}

/// Variables that a source names, but for those that it makes for the commands and libraries of users.
std::set<std::string> named_in(const std::filesystem::path& folder) {
  const std::set<std::string> of_users{"DAG_TASK_ID", "DAG_ATTEMPT", "DAG_OUTPUT_"};
  std::set<std::string> names;
  const std::regex literal("\"(DAG_[A-Z_0-9]+)\"");
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() != ".cpp" && file.path().extension() != ".hpp") continue;
    const std::string text = test::text_of(file.path());
    for (std::sregex_iterator one(text.begin(), text.end(), literal), end; one != end; ++one) {
      if (!of_users.contains((*one)[1])) names.insert((*one)[1]);
    }
  }
  return names;
}

}  // namespace

TEST_CASE(
    "a user's variables travel, whatever they begin with; libdag's own do not, nor those of a session") {
  for (const char* name : {"DAG_MY_SETTING", "DAG_TASK_ID", "PATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", ""})
    CHECK(travels(name));
  for (const char* name : {"DAG_ADDRESS", "DAG_HTTP_TOKEN", "DAG_WORKER", "LD_PRELOAD", "DISPLAY",
                           "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"})
    CHECK_FALSE(travels(name));
}

TEST_CASE("all variables by which libdag's processes speak to each other stay where they are") {
  const char* given = std::getenv("DAG_TEST_SOURCE");
  const std::filesystem::path sources = given != nullptr ? given : "tests";
  for (const char* folder : {"libdag", "actors", "nodes", "tools/dag"}) {
    for (const std::string& name : named_in(sources.parent_path() / folder)) {
      INFO(name << ", named in " << folder);
      CHECK_FALSE(travels(name));
    }
  }
}

TEST_CASE("a worker process has the client's environment, and of its node's what does not travel") {
  setenv("DISPLAY", ":of-node", 1);
  setenv("ONLY_AT_NODE", "1", 1);
  const auto has = started_with(launch_with({"A=1", "DISPLAY=:of-client", "OMP_NUM_THREADS=3", "EMPTY="}));
  for (const char* one : {"A=1", "EMPTY=", "DISPLAY=:of-node", "OMP_NUM_THREADS=3", "DAG_WORKER=seat"})
    CHECK(has.contains(one));
  for (const char* one : {"ONLY_AT_NODE=1", "DISPLAY=:of-client", "OPENBLAS_NUM_THREADS=1"})
    CHECK_FALSE(has.contains(one));
  unsetenv("DISPLAY");
  unsetenv("ONLY_AT_NODE");
}

TEST_CASE("libraries have one thread each where nothing is said of them") {
  const auto none = started_with(launch_with({}));
  for (const char* one : {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1"})
    CHECK(none.contains(one));
  const auto blas = started_with(launch_with({"OPENBLAS_NUM_THREADS=4"}));
  CHECK(blas.contains("OMP_NUM_THREADS=1"));
  CHECK(blas.contains("OPENBLAS_NUM_THREADS=4"));
  CHECK_FALSE(blas.contains("OPENBLAS_NUM_THREADS=1"));
}

TEST_CASE(
    "a worker process looks for libraries where its client did, and its kernels see what the client did") {
  Launch launch = launch_with({"LD_LIBRARY_PATH=/of/client"});
  launch.library_path = "/of/client:/beside/the/program";
  const char* kept = std::getenv("LD_LIBRARY_PATH");
  const std::string before = kept == nullptr ? "" : kept;
  setenv("LD_LIBRARY_PATH", "/of/node", 1);
  std::string path;
  for (const std::string& one : environment_of_worker(launch, "seat")) {
    if (one.starts_with("LD_LIBRARY_PATH=")) path = one;
  }
  CHECK_THAT(path, Catch::EndsWith("/of/client:/beside/the/program:/of/node"));
  for (const std::string& one : environment_of_worker(launch, "seat")) {
    const auto equals = one.find('=');
    const std::string name = one.substr(0, equals);
    if (name == "LD_LIBRARY_PATH" || name.starts_with("DAG_")) setenv(name.c_str(), &one[equals + 1], 1);
  }
  forget_how_it_was_started();
  CHECK(std::string(std::getenv("LD_LIBRARY_PATH")) == "/of/client");
  CHECK(std::getenv("DAG_WORKER") == nullptr);
  CHECK(std::getenv("DAG_LIBRARY_PATH") == nullptr);
  setenv("LD_LIBRARY_PATH", before.c_str(), 1);
  if (kept == nullptr) unsetenv("LD_LIBRARY_PATH");
}
