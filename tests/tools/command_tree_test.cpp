// Products of the tree of commands: completion, tried in the shells that are there, and manual pages.

#include <catch2/catch.hpp>
#include <cstdlib>

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
  // Completion asks `dag` itself which jobs and nodes there are.
  Process process(words, {{"PATH", cluster::bin(".") + ":" + std::getenv("PATH")}});
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

/// The script that completes in this shell, in a file.
std::string completion_for(const std::string& shell, const Directory& directory) {
  return file_with(directory, shell, printed({bin("dag"), "completion", shell}));
}

std::set<std::string> lines_of(const std::string& text) {
  std::istringstream lines(text);
  std::set<std::string> answer;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) answer.insert(line);
  }
  return answer;
}

/// The offers of bash when tab is typed behind these words, the last of which is being typed.
std::set<std::string> offered(const std::string& script, const std::vector<std::string>& words) {
  std::string typed;
  for (const std::string& word : words) typed += " '" + word + "'";
  const std::string all = printed({"bash", "-c",
                                   "source '" + script + "'; COMP_WORDS=(" + typed +
                                       "); COMP_CWORD=" + std::to_string(words.size() - 1) +
                                       "; _dag; printf '%s\\n' \"${COMPREPLY[@]}\""});
  return lines_of(all);
}

}  // namespace

TEST_CASE("bash completes commands, those below them, and their flags") {
  const Directory directory("completes");
  const std::string script = completion_for("bash", directory);
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
  const std::string script = completion_for("bash", directory);
  Process completing(
      {"bash", "-c",
       "source '" + script +
           "'; COMP_WORDS=(dag ls --state-dir ''); COMP_CWORD=3; _dag; echo $? ${#COMPREPLY[@]}"});
  CHECK(completing.ends() == 0);
  CHECK(completing.out() == "1 0\n");  // Then bash does what it does by default.
}

TEST_CASE("fish completes commands, those below them, and their flags") {
  if (!is_there("fish")) {
    WARN("fish is not installed, so it is not asked");
    return;
  }
  const Directory directory("fish");
  const std::string script = completion_for("fish", directory);
  // Each word with what it is, behind a tab.
  const auto offers = [&](const std::string& line) {
    std::set<std::string> words;
    for (const std::string& one :
         lines_of(printed({"env", "HOME=" + (directory / "."), "fish", "--no-config", "-c",
                           "source '" + script + "'; complete -C '" + line + "'"})))
      words.insert(one.substr(0, one.find('\t')));
    return words;
  };
  CHECK(offers("dag sub") == std::set<std::string>{"submit"});
  CHECK(offers("dag node ").contains("list"));
  CHECK_FALSE(offers("dag node ").contains("submit"));
  CHECK(offers("dag node list --js") == std::set<std::string>{"--json"});
  CHECK(offers("dag show --address node 7 --js") == std::set<std::string>{"--json"});
  CHECK(offers("dag submit -- job --js").empty());
}

TEST_CASE("zsh completes commands, those below them, and their flags") {
  if (!is_there("zsh")) {
    WARN("zsh is not installed, so it is not asked");
    return;
  }
  const Directory directory("zsh");
  const std::string script = completion_for("zsh", directory);
  // The words handed to zsh, which picks those that begin as the last word does.
  const auto hands_over = [&](const std::string& words) {
    return lines_of(
        printed({"zsh", "-f", "-c",
                 "compdef() { :; }; _files() { print files; }; compadd() { shift; print -l -- $@; }; "
                 "source '" +
                     script + "'; words=(" + words + "); CURRENT=${#words}; _dag"}));
  };
  CHECK(hands_over("dag sub").contains("submit"));
  CHECK(hands_over("dag node ''").contains("list"));
  CHECK_FALSE(hands_over("dag node ''").contains("submit"));
  CHECK(hands_over("dag node list --js").contains("--json"));
  CHECK_FALSE(hands_over("dag node list --js").contains("list"));
  CHECK(hands_over("dag show --address node 7 --js").contains("--json"));
  CHECK(hands_over("dag ls --state-dir ''") == std::set<std::string>{"files"});
  CHECK(hands_over("dag submit -- job --js") == std::set<std::string>{"files"});
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

TEST_CASE("every manual page has examples, and these name options that there are") {
  const Directory directory("examples");
  CHECK(printed({bin("dag"), "man", directory / "man"}) == "");
  for (const auto& file : std::filesystem::directory_iterator(directory / "man")) {
    CAPTURE(file.path().filename());
    std::ostringstream text;
    text << std::ifstream(file.path()).rdbuf();
    CHECK_THAT(text.str(), Catch::Contains(".SH EXAMPLES"));
  }
}

TEST_CASE("completion knows phases, and asks a cluster for jobs and nodes") {
  const Directory directory("known");
  const std::string script = completion_for("bash", directory);
  const std::string dag = bin("dag");
  CHECK(offered(script, {dag, "ls", "--phase", "fin"}) == std::set<std::string>{"finished"});
  // Without a cluster there are none, and nothing is said of that.
  CHECK(offered(script, {dag, "show", "job"}).empty());
  const std::set<std::string> asked = lines_of(printed({dag, "completion", "--words", "phases"}));
  CHECK(asked.contains("running"));
  Process nodes({"env", "-u", "DAG_ADDRESS", dag, "completion", "--words", "nodes"});
  CHECK(nodes.ends() == 3);
}
