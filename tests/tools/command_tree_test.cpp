// What is made of the tree of commands: completion, tried in the shells that are there, and manual pages.

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/cluster/processes.hpp"

using cluster::bin;
using cluster::Directory;
using cluster::Process;

namespace {

std::string printed(const std::vector<std::string>& words) {
  Process process(words);
  CHECK(process.ends() == 0);
  CHECK(process.err() == "");
  return process.out();
}

bool is_there(const std::string& program) {
  return Process({"/bin/sh", "-c", "command -v " + program}).ends() == 0;
}

std::string file_with(const Directory& directory, const std::string& name, const std::string& text) {
  std::ofstream(directory / name) << text;
  return directory / name;
}

/// What bash offers when tab is typed behind these words, the last of which is being typed.
std::set<std::string> offered(const std::string& script, const std::vector<std::string>& words) {
  std::string typed;
  for (const std::string& word : words) typed += " '" + word + "'";
  const std::string all = printed({"bash", "-c",
                                   "source '" + script + "'; COMP_WORDS=(" + typed +
                                       "); COMP_CWORD=" + std::to_string(words.size() - 1) +
                                       "; _dag; printf '%s\\n' \"${COMPREPLY[@]}\""});
  std::istringstream lines(all);
  std::set<std::string> answer;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) answer.insert(line);
  }
  return answer;
}

}  // namespace

TEST_CASE("bash completes commands, those below them, and their flags") {
  const Directory directory("completes");
  const std::string script = file_with(directory, "bash", printed({bin("dag"), "completion", "bash"}));
  CHECK(offered(script, {"dag", "sub"}) == std::set<std::string>{"submit"});
  CHECK(offered(script, {"dag", ""}).contains("node"));
  CHECK(offered(script, {"dag", "node", ""}).contains("list"));
  CHECK_FALSE(offered(script, {"dag", "node", ""}).contains("submit"));
  CHECK(offered(script, {"dag", "node", "list", "--js"}) == std::set<std::string>{"--json"});
  // A flag before, and its value, are not commands.
  CHECK(offered(script, {"dag", "show", "--address", "node", "7", "--js"}) ==
        std::set<std::string>{"--json"});
  CHECK(offered(script, {"dag", "submit", "--", "job", "--js"}).empty());
}

TEST_CASE("a file name is completed where a flag wants a value") {
  const Directory directory("values");
  const std::string script = file_with(directory, "bash", printed({bin("dag"), "completion", "bash"}));
  Process completing(
      {"bash", "-c",
       "source '" + script +
           "'; COMP_WORDS=(dag ls --state-dir ''); COMP_CWORD=3; _dag; echo $? ${#COMPREPLY[@]}"});
  CHECK(completing.ends() == 0);
  CHECK(completing.out() == "1 0\n");  // Then bash does what it does by default.
}

TEST_CASE("zsh and fish accept their scripts") {
  const Directory directory("shells");
  for (const std::string shell : {"zsh", "fish"}) {
    const std::string script = file_with(directory, shell, printed({bin("dag"), "completion", shell}));
    if (!is_there(shell)) {
      WARN(shell << " is not installed, so it is not asked");
      continue;
    }
    Process reading({shell, "-n", script});
    CHECK(reading.ends() == 0);
    CHECK(reading.err() == "");
  }
}

TEST_CASE("an unknown shell is refused") {
  Process asking({bin("dag"), "completion", "tcsh"});
  CHECK(asking.ends() == 2);
  CHECK_THAT(asking.err(), Catch::Contains("bash"));
}

TEST_CASE("there is a manual page of each command, which roff reads without complaint") {
  const Directory directory("pages");
  CHECK(printed({bin("dag"), "man", directory / "man"}) == "");
  std::set<std::string> pages;
  for (const auto& file : std::filesystem::directory_iterator(directory / "man"))
    pages.insert(file.path().filename().string());
  for (const char* page : {"dag.1", "dag-submit.1", "dag-node.1", "dag-node-drain.1"})
    CHECK(pages.contains(page));
  std::ostringstream text;
  text << std::ifstream(directory / "man/dag-node-list.1").rdbuf();
  CHECK_THAT(text.str(), Catch::Contains("\\-\\-json"));
  if (!is_there("groff")) {
    WARN("groff is not installed, so it is not asked");
    return;
  }
  for (const std::string& page : pages) {
    CAPTURE(page);
    Process reading({"groff", "-man", "-ww", "-z", directory / ("man/" + page)});
    CHECK(reading.ends() == 0);
    CHECK(reading.err() == "");
  }
}
