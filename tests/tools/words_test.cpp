// Answers of `dag` to unknown words and requests for help, and its format of durations.

#include <catch2/catch.hpp>

#include <fstream>

#include "tests/cluster/processes.hpp"

using cluster::bin;
using cluster::Process;

namespace {

struct Said {
  std::optional<int> status;
  std::string out, err;
};
Said said_by(std::vector<std::string> words) {
  words.insert(words.begin(), bin("dag"));
  Process process(words);
  const auto status = process.ends();
  return {status, process.out(), process.err()};
}

}  // namespace

TEST_CASE("an unknown word is named at each level, with what was meant") {
  struct Row {
    std::vector<std::string> words;
    std::string said;
  };
  const Row row = GENERATE(values<Row>(
      {{{"submti"}, "dag: there is no command 'submti'; did you mean 'dag submit'?"},
       {{"frobnicate"}, "dag: there is no command 'frobnicate'"},
       {{"node", "lst"}, "dag node: there is no command 'lst'; did you mean 'dag node list'?"},
       {{"node", "frobnicate"}, "dag node: there is no command 'frobnicate'; it has list, show"},
       {{"node"}, "dag node needs a command: list, show"},
       {{"--jsn", "ls"}, "dag: there is no option '--jsn'"},
       {{"ls", "--jsn"}, "dag ls: there is no option '--jsn'; did you mean '--json'?"},
       {{"ls", "--jsn=1"}, "dag ls: there is no option '--jsn'; did you mean '--json'?"},
       {{"node", "list", "--jsno"}, "dag node list: there is no option '--jsno'; did you mean '--json'?"},
       {{"submit", "--wacht", "job"}, "did you mean '--watch'?"},
       {{"ls", "--name", "--jsn", "foo"}, "dag ls takes no argument beside its options: what is 'foo'?"},
       {{"wait", "1", "2"}, "dag wait takes one argument: what is '2'?"},
       {{"wait"}, "dag wait: job is required"},
       {{"help", "nod"}, "dag: there is no command 'nod'; did you mean 'dag node'?"},
       {{"help", "node", "lsit"}, "did you mean 'dag node list'?"}}));
  const Said said = said_by(row.words);
  CAPTURE(row.words);
  CHECK(said.status == 2);
  CHECK(said.out == "");
  CHECK_THAT(said.err, Catch::Contains(row.said));
}

TEST_CASE("a flag takes no value, so the message is about what is wrong") {
  Process run({bin("dag"), "history", "last", "--nodes", "--address", "127.0.0.1:1"});
  CHECK(run.ends() == 2);
  CHECK_THAT(run.err(), Catch::Contains("neither a job nor --save"));
}

TEST_CASE("dag alone, dag help and --help say the same, and so they do of a command") {
  const Said alone = said_by({});
  CHECK(alone.status == 0);
  CHECK_THAT(alone.out, Catch::Contains("submit"));
  CHECK(said_by({"help"}).out == alone.out);
  CHECK(said_by({"--help"}).out == alone.out);
  const Said list = said_by({"help", "node", "list"});
  CHECK(list.status == 0);
  CHECK_THAT(list.out, Catch::Contains("dag node list"));
  CHECK(said_by({"node", "list", "--help"}).out == list.out);
}

TEST_CASE("the version is a flag, too") {
  const Said flag = said_by({"--version"});
  CHECK(flag.status == 0);
  CHECK(flag.out == said_by({"version"}).out);
}

TEST_CASE("a program that submits nothing is no job") {
  const std::string command = GENERATE("submit", "run", "graph");
  Said said = said_by({command, "/bin/true"});
  if (command == "submit") said = said_by({command, "--dry-run", "/bin/true"});
  CAPTURE(command);
  CHECK(said.status == 2);
  CHECK_THAT(said.err, Catch::Contains("'/bin/true' ended without submitting a job"));
  CHECK(said_by({"run", bin("hello")}).err == "");
  CHECK(said_by({"graph", bin("hello")}).status == 0);
  CHECK(said_by({"submit", "--dry-run", bin("hello")}).status == 0);
}

TEST_CASE("what is no duration is refused, with how one is written") {
  const std::string text = GENERATE("x", "30 s", "5q", "-1s", "s", "1h30", "nan", "inf", "1e99", "");
  const Said said = said_by({"wait", "1", "--timeout=" + text});
  CAPTURE(text);
  CHECK(said.status == 2);
  if (!text.empty()) CHECK_THAT(said.err, Catch::Contains("--timeout") && Catch::Contains("write 30s, 5m"));
}

TEST_CASE("what is no number, or one beyond all bounds, is named with the option that does not take it") {
  const std::string text = GENERATE("-1", "x", "1.5", "99999999999999999999");
  const Said said = said_by({"ls", "--limit=" + text});
  CHECK(said.status == 2);
  CHECK_THAT(said.err, Catch::StartsWith("dag ls: --limit does not take '" + text + "': it is no number"));
}

TEST_CASE("a file that cannot be written is told by its reason, and only a full disk as one") {
  const Said said = said_by({"graph", "-o", "/no/such/directory/graph.dot", bin("hello")});
  CHECK(said.status == 2);
  CHECK_THAT(said.err,
             Catch::StartsWith("dag: usage (502): cannot write /no/such/directory/graph.dot: No such") &&
                 Catch::Contains("hint: name a file in an existing directory"));
}

TEST_CASE("dag-inspect has what changes nothing") {
  const auto said = [](std::vector<std::string> words) {
    words.insert(words.begin(), bin("dag-inspect"));
    Process process(words);
    const auto status = process.ends();
    return Said{status, process.out(), process.err()};
  };
  CHECK_THAT(said({"help"}).out, Catch::Contains("\n  explain ") && !Catch::Contains("\n  submit "));
  CHECK(said({"cancel", "1"}).status == 2);
  CHECK_THAT(said({"node", "stop", "n1"}).err, Catch::Contains("there is no command 'stop'"));
}

TEST_CASE("a file is checked without running anything") {
  const cluster::Directory directory("checks");
  const auto file = [&](const std::string& name, const std::string& text) {
    std::ofstream(directory / name) << text;
    return directory / name;
  };
  const Said flow = said_by({"check", file("flow.toml", "[task.a]\ncommand = \"exit 1\"\n")});
  CHECK(flow.status == 0);
  CHECK_THAT(flow.out, Catch::Contains("1 task"));
  const Said misspelt = said_by({"check", file("bad.toml", "[task.a]\ncomand = \"true\"\n")});
  CHECK(misspelt.status == 4);
  CHECK_THAT(misspelt.err, Catch::Contains(":2:1: unknown key 'comand'"));
  CHECK(said_by({"check", file("node.toml", "[node]\nlanes = 2\n")}).status == 0);
  CHECK(said_by({"check", file("wrong.toml", "[node]\nlane = 2\n")}).status == 4);
  CHECK_THAT(said_by({"check", bin("hello")}).out, Catch::Contains("hello: 2 tasks"));
  CHECK(said_by({"check", "/bin/true"}).status == 2);
  CHECK(said_by({"check", directory / "none"}).status == 5);
}
