// `dag exec`: commands as tasks, and what is said when they fail.

#include <catch2/catch.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cluster/processes.hpp"
#include "tests/support/file_text.hpp"

using cluster::bin;
using cluster::Directory;
using cluster::is_gone_soon;
using cluster::Process;

namespace {

std::vector<std::string> exec(std::vector<std::string> options, const std::vector<std::string>& command) {
  std::vector<std::string> words{bin("dag"), "exec"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

std::vector<std::string> sorted_lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

TEST_CASE("words in brackets are words of the command") {
  Process run(exec({}, {"echo", "[a,b]", "[ c ]", "[[d]]"}));
  CHECK(run.ends() == 0);
  CHECK(run.out() == "[a,b] [ c ] [[d]]\n");
}

TEST_CASE("a command's output and status are those of the command") {
  Process run(exec({}, {"echo", "two words", "--flag"}));
  CHECK(run.ends() == 0);
  CHECK(run.out() == "two words --flag\n");
  CHECK(run.err() == "");
}

TEST_CASE("an array runs the command once per number") {
  Process run(exec({"--array", "1-3,7"}, shell("echo line $DAG_TASK_ID")));
  CHECK(run.ends() == 0);
  CHECK(sorted_lines(run.out()) == std::vector<std::string>{"line 1", "line 2", "line 3", "line 7"});
}

TEST_CASE("lines of commands that run at once do not mix") {
  Process run(exec({"--array", "1-8", "--lanes", "4"},
                   shell("i=0; while [ $i -lt 300 ]; do echo $DAG_TASK_ID; i=$((i + 1)); done")));
  CHECK(run.ends() == 0);
  std::istringstream in(run.out());
  std::vector<std::string> blocks;
  std::size_t lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    if (blocks.empty() || blocks.back() != line) blocks.push_back(line);
  }
  CHECK(lines == 8 * 300);
  CHECK(blocks.size() == 8);
}

/// Runs the line on a terminal of its own.
static std::string on_a_terminal(const std::string& line, std::map<std::string, std::string> environment) {
  environment.try_emplace("NO_COLOR", "");
  Process run({"script", "-qec", "'" + bin("dag") + "' exec " + line, "/dev/null"}, std::move(environment));
  CHECK(run.ends() == 0);
  return run.out();
}

TEST_CASE("a progress line counts, and output takes its place on a terminal") {
  // The first task ends as soon as its output is read, so the line is drawn between the two.
  const std::string said = on_a_terminal(
      "--array 1-2 --lanes 1 -- sh -c 'sleep 0.4; printf \"said $DAG_TASK_ID\"'", {{"TERM", "xterm"}});
  CHECK_THAT(said, Catch::Contains("1 of 2 tasks"));
  for (const char* line : {"\r\x1b[Ksaid 1\r\n", "\r\x1b[Ksaid 2\r\n"})
    CHECK_THAT(said, Catch::Contains(line));
}

TEST_CASE("no progress line with NO_COLOR, nor on a terminal that cannot write over a line") {
  const auto environment = GENERATE(values<std::map<std::string, std::string>>(
      {{{"TERM", "xterm"}, {"NO_COLOR", "1"}}, {{"TERM", "dumb"}}, {{"TERM", ""}}}));
  const std::string said = on_a_terminal("-- sh -c 'sleep 0.4; echo said'", environment);
  CHECK(said == "said\r\n");
}

TEST_CASE("a command that fails shows its status and the end of its stderr, and the others run") {
  Process run(exec({"--array", "1-3"},
                   shell("[ $DAG_TASK_ID != 2 ] && exit 0; i=0; while [ $i -lt 40 ]; do echo line $i >&2; "
                         "i=$((i + 1)); done; exit 7")));
  CHECK(run.ends() == 1);
  CHECK_THAT(run.err(),
             Catch::Contains("task '2' (1) failed: exit status 7; its stderr ends with\n    line 30\n") &&
                 Catch::Contains("    line 39\n") && !Catch::Contains("line 29") &&
                 Catch::Contains("2 of 3 tasks finished, 1 failed, 0 were not run"));
}

TEST_CASE("signals, programs that there are not and stderr of good commands") {
  Process killed(exec({}, shell("kill -KILL $$")));
  CHECK(killed.ends() == 1);
  CHECK_THAT(killed.err(), Catch::Contains("failed: ended by signal 9 (Killed); it said nothing on stderr"));
  Process missing(exec({}, {"no-such-program"}));
  CHECK(missing.ends() == 1);
  CHECK_THAT(missing.err(), Catch::Contains("exit status 127") &&
                                Catch::Contains("cannot start 'no-such-program': No such file or directory"));
  Process good(exec({}, shell("echo aside >&2")));
  CHECK(good.ends() == 0);
  CHECK(good.err() == "aside\n");
}

TEST_CASE("a failing command is tried again when that is asked for") {
  Process run(exec({"--attempts", "3", "--json"}, shell("echo try $DAG_ATTEMPT; [ $DAG_ATTEMPT = 3 ]")));
  CHECK(run.ends() == 0);
  CHECK(sorted_lines(run.err()) == std::vector<std::string>{"try 1", "try 2", "try 3"});
  const auto json = nlohmann::json::parse(run.out());
  CHECK(json["finished"] == 1);
  REQUIRE(json["tasks"].size() == 1);
  CHECK(json["tasks"][0]["attempt"] == 3);
  CHECK(json["tasks"][0]["outcome"] == "finished");
}

TEST_CASE("a command that runs too long is ended, and tried again only when it is gone, unless it is pure") {
  const Directory directory("effects");
  const std::string script = "cd " + directory / "." +
                             "; trap 'sleep 0.4; echo gone >> ledger; exit 1' TERM; echo begin >> ledger; "
                             "while :; do sleep 0.01; done";
  Process run(exec({"--timeout", "300ms", "--attempts", "2", "--effects", "exclusive", "--lanes", "2"},
                   shell(script)));
  CHECK(run.ends() == 1);
  CHECK_THAT(run.err(), Catch::Contains("its timeout of 0.3"));
  CHECK(dag::test::text_of(directory / "ledger") == "begin\ngone\nbegin\ngone\n");
  Process once(exec({"--attempts", "2", "--effects", "at_most_once"}, shell("true")));
  CHECK(once.ends() == 2);
  CHECK_THAT(once.err(), Catch::Contains("may run only once, and has several attempts"));
  Process unknown(exec({"--effects", "none"}, shell("true")));
  CHECK(unknown.ends() == 2);
}

TEST_CASE("what commands print lies in files where that is asked for, and is printed, too") {
  const Directory directory("files");
  Process run(exec(
      {"--array", "1-2", "--attempts", "2", "--lanes", "1", "--output", directory / "of/{job}", "--directory",
       directory / "."},
      shell("echo try $DAG_ATTEMPT of $DAG_TASK_ID; echo aside >&2; pwd >> where; [ $DAG_ATTEMPT = 2 ]")));
  CHECK(run.ends() == 0);
  CHECK(sorted_lines(run.out()) ==
        std::vector<std::string>{"try 1 of 1", "try 1 of 2", "try 2 of 1", "try 2 of 2"});
  CHECK(dag::test::text_of(directory / "of/job1/1.out") == "try 1 of 1\ntry 2 of 1\n");
  CHECK(dag::test::text_of(directory / "of/job1/2.err") == "aside\naside\n");
  CHECK(sorted_lines(dag::test::text_of(directory / "where")).size() == 4);
}

TEST_CASE("the largest number there is ends a range") {
  Process run(exec({"--array", "18446744073709551614-18446744073709551615"}, shell("echo $DAG_TASK_ID")));
  CHECK(run.ends() == 0);
  CHECK(sorted_lines(run.out()) == std::vector<std::string>{"18446744073709551614", "18446744073709551615"});
}

TEST_CASE("an array that is none is refused") {
  const std::string array =
      GENERATE("", "x", "5-1", "1-", "1,,2", "1-99999999999", "0-18446744073709551615", "-3");
  Process run(exec({"--array=" + array}, {"true"}));
  if (array.empty()) return;  // As if it were not there.
  CHECK(run.ends() == 2);
  CHECK_THAT(run.err(), Catch::Contains("--array cannot be '" + array + "'"));
}

TEST_CASE("Ctrl-C ends running commands and what they started") {
  Process run(exec({"--array", "1-20", "--lanes", "2"}, shell("echo up >&2; tail -f /dev/null & wait")));
  // Commands' output comes when they end, so the test looks at what they leave.
  const Directory directory("exec");
  Process touching(
      exec({"--array", "1-20", "--lanes", "2"},
           shell("mkfifo " + (directory / "$DAG_TASK_ID") + "; read x < " + (directory / "$DAG_TASK_ID"))));
  const auto begun = [&] {
    return std::distance(std::filesystem::directory_iterator(directory.path),
                         std::filesystem::directory_iterator{});
  };
  REQUIRE(cluster::comes_true([&] { return begun() == 2; }));
  touching.kill(SIGINT);
  CHECK(touching.ends() == 130);
  CHECK_THAT(touching.err(), Catch::Contains("interrupted; stopping running commands"));
  CHECK(begun() == 2);
  run.kill(SIGTERM);
  CHECK(run.ends() == 130);  // Its pipes are closed, so all processes that had them are gone.
}

namespace {

/// The number that the command wrote into a file, as soon as there is a line.
pid_t number_in(const std::string& file) {
  pid_t number = 0;
  REQUIRE(cluster::comes_true([&] {
    std::ifstream in(file);
    std::string end;
    return in >> number && std::getline(in, end) && !in.eof();
  }));
  return number;
}

}  // namespace

TEST_CASE("a command that does not end when it is told to is dead before dag is") {
  const Directory directory("stubborn");
  const std::string file = directory / "pid";
  const std::string stubborn = "trap '' TERM; setsid sh -c \"trap '' TERM; sleep 1000\" & echo $! > " + file +
                               "; while :; do sleep 1000; done";
  SECTION("out of time") {
    std::ofstream(directory / "s.toml")
        << "[task.stubborn]\ncommand = \"\"\"" << stubborn << "\"\"\"\ntimeout_seconds = 1\n";
    Process run({bin("dag"), "flow", directory / "s.toml"});
    CHECK(run.ends() == 1);
    CHECK(cluster::parent_of(number_in(file)) == 0);
  }
  SECTION("interrupted, told to end, and a terminal that is closed") {
    const int number = GENERATE(SIGINT, SIGTERM, SIGHUP, SIGQUIT);
    Process run(exec({}, shell(stubborn)));
    const pid_t left = number_in(file);
    run.kill(number);
    CHECK(run.ends() == 130);
    CHECK(cluster::parent_of(left) == 0);
  }
  SECTION("dag is killed") {
    Process run(exec({}, shell(stubborn)));
    const pid_t left = number_in(file);
    run.kill(SIGKILL);
    CHECK(run.ends() == 128 + SIGKILL);
    CHECK(is_gone_soon(left));
  }
}

TEST_CASE("what a command leaves behind ends with it") {
  const Directory directory("left");
  Process run(exec({}, shell("setsid sleep 1000 & echo $! > " + (directory / "pid"))));
  CHECK(run.ends() == 0);
  CHECK(cluster::parent_of(number_in(directory / "pid")) == 0);
}
