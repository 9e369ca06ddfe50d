// `dag flow`: workflows of commands, what is said about files that are none, and replays: in each graph that
// others recorded, no task begins before those it waits for have ended.

#include <catch2/catch.hpp>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cluster/processes.hpp"
#include "tests/support/file_text.hpp"

using cluster::bin;
using cluster::Directory;
using cluster::Process;

namespace {

std::vector<std::string> flow(const std::string& file, const std::vector<std::string>& options = {}) {
  std::vector<std::string> words{bin("dag"), "flow", file};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

/// The same, started there.
std::vector<std::string> flow_in(const Directory& directory, const std::string& file,
                                 const std::vector<std::string>& options) {
  std::vector<std::string> words{"env", "-C", directory / "."};
  const std::vector<std::string> command = flow(file, options);
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

struct Span {
  double began = 0, ended = 0;
};
std::map<std::string, Span> spans_in(const std::string& text) {
  std::map<std::string, Span> spans;
  const auto json = nlohmann::json::parse(text);
  for (const auto& task : json["tasks"]) {
    INFO(task.dump());
    REQUIRE(task["outcome"] == "finished");
    REQUIRE(spans.emplace(task["id"], Span{task["began_seconds"], task["ended_seconds"]}).second);
  }
  return spans;
}

/// The parents of each task, read here from the format's own words: parents by name or id, and files.
std::map<std::string, std::set<std::string>> parents_in(const nlohmann::json& file) {
  const auto& workflow = file["workflow"];
  const auto& tasks =
      workflow.contains("specification") ? workflow["specification"]["tasks"] : workflow["tasks"];
  std::map<std::string, std::string> by_name;
  for (const auto& task : tasks) {
    const std::string id = task.value("id", task["name"].get<std::string>());
    by_name[task["name"]] = id;
    by_name[id] = id;
  }
  std::map<std::string, std::set<std::string>> parents;
  for (const auto& task : tasks) {
    const std::string id = task.value("id", task["name"].get<std::string>());
    auto& mine = parents[id];
    for (const auto& parent : task["parents"]) mine.insert(by_name.at(parent));
  }
  return parents;
}

}  // namespace

TEST_CASE("every WfCommons original is replayed to its end, every edge respected") {
  const char* data = std::getenv("DAG_TEST_DATA");
  if (data == nullptr || !std::filesystem::exists(std::string(data) + "/dags/originals")) return;
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(data) + "/dags/originals")) {
    const std::string path = entry.path().string();
    if (path.find(".wfformat.json") == std::string::npos) continue;
    ++seen;
    std::ifstream stream(path);
    const auto parents = parents_in(nlohmann::json::parse(stream));
    Process run(flow(path, {"--scale", "0.0005", "--lanes", "4", "--json"}));
    REQUIRE(run.ends() == 0);
    INFO(path << run.err());
    const auto spans = spans_in(run.out());
    REQUIRE(spans.size() == parents.size());
    std::size_t edges = 0;
    for (const auto& [id, before] : parents) {
      for (const std::string& parent : before) {
        INFO(parent << " -> " << id);
        CHECK(spans.at(parent).ended <= spans.at(id).began);
        ++edges;
      }
    }
    CHECK(edges > 0);
  }
  CHECK(seen >= 3);
}

TEST_CASE("a task of a replay takes its recorded time, scaled") {
  const Directory directory("replay");
  std::ofstream(directory / "two.stg") << "2\n0 0 0\n1 40 1 0\n2 20 1 1\n3 0 1 2\n";
  const std::vector<std::string> options =
      GENERATE(std::vector<std::string>{}, std::vector<std::string>{"--burn"});
  std::vector<std::string> words{"--json", "--scale", "2"};
  words.insert(words.end(), options.begin(), options.end());
  Process run(flow(directory / "two.stg", words));
  REQUIRE(run.ends() == 0);
  double longest = 0, together = 0;
  for (const auto& [id, span] : spans_in(run.out())) {
    longest = std::max(longest, span.ended - span.began);
    together += span.ended - span.began;
  }
  CHECK(longest >= 0.080);
  CHECK(together >= 0.120);
}

TEST_CASE("commands of a workflow run in their order, where and with what they are told") {
  const Directory directory("flow");
  std::ofstream(directory / "nightly.toml")
      << "name = \"nightly\"\n"
         "[task.last]\n"
         "command = \"cat one two > all\"\n"
         "after = [\"one\", \"two\"]\n"
         "directory = \"" +
             directory.path.string() +
             "\"\n"
             "[task.one]\n"
             "command = [\"/bin/sh\", \"-c\", \"echo $WHAT > one\"]\n"
             "environment = { WHAT = \"1\" }\n"
             "directory = \"" +
             directory.path.string() +
             "\"\n"
             "[task.two]\n"
             "command = \"test $DAG_ATTEMPT = 2 && echo $DAG_TASK_ID > two\"\n"
             "attempts = 2\n"
             "after = \"one\"\n"
             "directory = \"" +
             directory.path.string() + "\"\n";
  Process run(flow(directory / "nightly.toml", {"--json"}));
  CHECK(run.ends() == 0);
  INFO(run.err());
  std::ifstream all(directory / "all");
  CHECK(std::string(std::istreambuf_iterator<char>(all), {}) == "1\ntwo\n");
  const auto json = nlohmann::json::parse(run.out());
  CHECK(json["name"] == "nightly");
  CHECK(json["tasks"][0]["id"] == "last");  // In the order of the file.
}

TEST_CASE("what needs a command that failed is not run, the rest is") {
  const Directory directory("failing");
  std::ofstream(directory / "w.toml")
      << "[task.bad]\ncommand = \"echo why >&2; exit 3\"\n"
         "[task.needs]\ncommand = \"echo never\"\nafter = \"bad\"\n"
         "[task.slow]\ncommand = \"tail -f /dev/null\"\ntimeout_seconds = 0.1\n"
         "[task.good]\ncommand = \"echo good\"\n";
  Process run(flow(directory / "w.toml"));
  CHECK(run.ends() == 1);
  CHECK(run.out() == "good\n");
  CHECK_THAT(run.err(),
             Catch::Contains("task 'bad' (0) failed: exit status 3; its stderr ends with\n    why") &&
                 Catch::Contains("task 'slow'") &&
                 Catch::Contains("1 of 4 tasks finished, 2 failed, 1 were not run"));
}

TEST_CASE("a command that waits for a lane is not late") {
  const Directory directory("queue");
  std::ofstream(directory / "w.toml") << R"(
[task.late]
command = "trap 'touch told; exit 1' TERM; while :; do sleep 0.01; done"
timeout_seconds = 0.6
[task.blocker]
command = "until [ -e told ]; do sleep 0.01; done"
[task.waiter]
command = "echo ran"
timeout_seconds = 0.3
)";
  Process run(flow_in(directory, "w.toml", {"--lanes", "2"}));
  CHECK(run.ends() == 1);
  CHECK(run.out() == "ran\n");
  CHECK_THAT(run.err(), Catch::Contains("2 of 3 tasks finished, 1 failed"));
}

TEST_CASE("a command that is told to end has ended before it is tried again") {
  const Directory directory("again");
  std::ofstream(directory / "w.toml") << R"(
[task.slow]
command = "trap 'sleep 0.5; echo gone $DAG_ATTEMPT >> ledger; exit 1' TERM; echo begin $DAG_ATTEMPT >> ledger; while :; do sleep 0.01; done"
timeout_seconds = 0.3
attempts = 2
effects = "exclusive"
)";
  Process run(flow_in(directory, "w.toml", {"--lanes", "2"}));
  CHECK(run.ends() == 1);
  CHECK(dag::test::text_of(directory / "ledger") == "begin 1\ngone 1\nbegin 2\ngone 2\n");
}

TEST_CASE("a workflow is recognised by its name in any case, or by what is in it") {
  const Directory directory("names");
  const std::string name = GENERATE("w.TOML", "w", "w.flow");
  std::ofstream(directory / name) << "\xEF\xBB\xBF# a comment\n\n[task.a]\ncommand = \"echo ran\"\n";
  Process run(flow(directory / name));
  CHECK(run.ends() == 0);
  CHECK(run.out() == "ran\n");
}

TEST_CASE("an argument may be empty, and a command may not") {
  const Directory directory("empty");
  std::ofstream(directory / "w.toml") << "[task.a]\ncommand = [\"printf\", \"[%s]\", \"\", \"x\", \"\"]\n";
  Process run(flow(directory / "w.toml"));
  CHECK(run.ends() == 0);
  CHECK(run.out() == "[][x][]");
  const std::string none = GENERATE("\"\"", "\"  \"", "[]", "[\"\"]", "[\"\", \"x\"]");
  std::ofstream(directory / "none.toml") << "[task.a]\ncommand = " + none + "\n";
  Process refused(flow(directory / "none.toml"));
  CHECK(refused.ends() == 4);
  CHECK_THAT(refused.err(), Catch::Contains("task.a.command is empty"));
}

TEST_CASE("a command is looked for in the PATH of its task, beside its directory when that is relative") {
  const Directory directory("path");
  for (const char* folder : {"bin", "work/tools"}) {
    std::filesystem::create_directories(directory.path / folder);
    std::ofstream(directory.path / folder / "mytool") << "#!/bin/sh\necho mytool of " << folder << "\n";
    std::filesystem::permissions(directory.path / folder / "mytool", std::filesystem::perms::owner_all);
  }
  std::ofstream(directory / "w.toml") << "[task.a]\ncommand = [\"mytool\"]\nenvironment = { PATH = \""
                                      << (directory / "bin") << ":/usr/bin:/bin\" }\n"
                                      << "[task.b]\nafter = \"a\"\ncommand = [\"mytool\"]\n"
                                      << "directory = \"work\"\nenvironment = { PATH = \"tools:/bin\" }\n";
  Process run(flow_in(directory, "w.toml", {}));
  CHECK(run.ends() == 0);
  INFO(run.err());
  CHECK(run.out() == "mytool of bin\nmytool of work/tools\n");
}

TEST_CASE("inputs and outputs order commands, and an output appears when its command has succeeded") {
  const Directory directory("files");
  std::ofstream(directory / "w.toml") << R"(
[task.reads]
command = "cat out more > sum"
inputs = ["out", "./more"]
[task.writes]
command = "test ! -e sub/../out && echo half > out && test $DAG_ATTEMPT = 2 && echo whole > out"
attempts = 2
outputs = "sub/../out"
[task.stages]
command = "test ! -e more && echo more > $DAG_OUTPUT_1 && test ! -e more"
outputs = ["more"]
[task.fails]
command = "echo half > bad; exit 1"
outputs = ["bad"]
[task.nothing]
command = "true"
outputs = ["missing"]
)";
  Process run(flow_in(directory, "w.toml", {"--lanes", "2"}));
  CHECK(run.ends() == 1);
  INFO(run.err());
  CHECK(dag::test::text_of(directory / "sum") == "whole\nmore\n");
  CHECK_FALSE(std::filesystem::exists(directory / "bad"));
  CHECK_THAT(run.err(), Catch::Contains("3 of 5 tasks finished, 2 failed") &&
                            Catch::Contains("task 'nothing'") && Catch::Contains("missing' is not a file"));
}

TEST_CASE("a workflow that is none is refused with its line and column") {
  const Directory directory("refused");
  const auto refused = [&](const std::string& text, const std::string& where, const std::string& why) {
    std::ofstream(directory / "w.toml") << text;
    Process run(flow(directory / "w.toml"));
    INFO(text);
    CHECK(run.ends() == 4);
    CHECK(run.out() == "");
    CHECK_THAT(run.err(), Catch::Contains(directory / "w.toml" + where) && Catch::Contains(why));
  };
  refused("[task.a]\ncommand = \"true\n", ":2:", "configuration_invalid");
  refused("[task.a]\ncomand = \"true\"\n", ":2:1: unknown key 'comand'", "did you mean 'command'?");
  refused("tasks = 1\n", ":1:1: unknown key 'tasks'", "did you mean 'task'?");
  refused("[task.a]\ncommand = \"true\"\nretries = 1\n", ":3:1: unknown key 'retries'",
          "keys of a task are command");
  refused("[task.fetch]\ncommand = \"true\"\n[task.b]\ncommand = \"true\"\nafter = [\"fetsh\"]\n",
          ":5:10: ", "task.b is after 'fetsh', which is no task");
  refused("[task.fetch]\ncommand = \"true\"\n[task.b]\ncommand = \"true\"\nafter = \"fetsh\"\n",
          ":5:9: ", "did you mean 'fetch'?");
  refused("[task.a]\ncommand = \"true\"\neffects = \"exclusiv\"\n", ":3:11: ", "did you mean 'exclusive'?");
  refused("[task.a]\ncommand = \"true\"\neffects = \"pure\"\noutputs = \"x\"\n",
          ":3:11: ", "leave its effects out");
  refused("[task.a]\nafter = []\n", ":1:1: ", "task.a has no command");
  refused("[task.a]\ncommand = 7\n", ":2:11: ", "must be a string or a list of strings");
  refused("[task.a]\ncommand = \"true\"\nattempts = 0\n",
          ":3:12: ", "attempts must be a number from 1 to 1000");
  refused("[task.a]\ncommand = \"true\"\ncpus = \"2\"\n", ":3:8: ", "cpus must be a number above 0");
  refused("name = \"empty\"\n", ":1:", "there is no task");
  refused(
      "[task.a]\ncommand = \"true\"\noutputs = \"x\"\n[task.b]\ncommand = \"true\"\noutputs = [\"./x\"]\n",
      ":6:12: ", "'./x' is an output of two tasks");
  refused("[task.a]\ncommand = \"true\"\ninputs = \"x/\"\n", ":3:10: ", "names no file");

  std::ofstream(directory / "w.toml")
      << "[task.a]\ncommand = \"true\"\nafter = \"b\"\n[task.b]\ncommand = \"true\"\nafter = \"a\"\n";
  Process cycle(flow(directory / "w.toml"));
  CHECK(cycle.ends() == 4);
  CHECK_THAT(cycle.err(), Catch::Contains("job_has_cycle"));
  Process missing(flow(directory / "none.toml"));
  CHECK(missing.ends() == 2);
  CHECK_THAT(missing.err(), Catch::Contains("none.toml': it does not exist"));
  std::ofstream(directory / "w.json") << "{\"workflow\": {\n]}";
  Process broken(flow(directory / "w.json"));
  CHECK(broken.ends() == 4);
  CHECK_THAT(broken.err(), Catch::Contains(directory / "w.json") && Catch::Contains("line 2"));
}

TEST_CASE("Ctrl-C ends a replay") {
  const Directory directory("long");
  std::ofstream(directory / "long.stg") << "2\n0 0 0\n1 1 1 0\n2 100000000 1 1\n3 0 1 2\n";
  Process run(flow(directory / "long.stg", {"--json"}));
  // Its lanes are there, so it is past everything that could refuse the file.
  const auto has_lanes = [&] {
    for (const auto& thread :
         std::filesystem::directory_iterator("/proc/" + std::to_string(run.id()) + "/task")) {
      std::string name;
      std::getline(std::ifstream(thread.path() / "comm") >> std::ws, name);
      if (name.starts_with("dag-lane")) return true;
    }
    return false;
  };
  REQUIRE(cluster::comes_true(has_lanes));
  run.kill(GENERATE(SIGINT, SIGTERM));
  CHECK(run.ends() == 130);
  CHECK_THAT(run.err(), Catch::Contains("interrupted"));
  const auto json = nlohmann::json::parse(run.out(), nullptr, false);
  REQUIRE_FALSE(json.is_discarded());
  CHECK(json["tasks"].size() == 4);
  CHECK(json["finished"] < 4);
}
