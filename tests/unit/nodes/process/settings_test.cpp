// Which setting wins, what is valid, and what people read when it is not.
#include "nodes/process/settings.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace dag;

namespace {

Settings settings(const SettingsSources& sources) {
  auto parsed = parse_settings(sources);
  if (!parsed) FAIL(parsed.error().message());
  return *parsed;
}

SettingsSources file(std::string text) { return {{}, {}, {{"dag.toml", std::move(text)}}, "/run/dag"}; }

Error refused(const SettingsSources& sources) {
  const auto parsed = parse_settings(sources);
  return parsed ? Error{ErrorCode::internal, "nothing is wrong"} : parsed.error();
}

std::string example() {
  const char* tests = std::getenv("DAG_TEST_SOURCE");
  std::ifstream in(std::string(tests == nullptr ? "tests" : tests) + "/../config/dagd.toml");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the record of a job has an odd number of copies") {
  CHECK(settings(file("[node]\nid = 3\nreplicas = 5\n")).replicas.value == 5);
  for (const char* no : {"0", "2", "4", "9"}) {
    CHECK_THAT(refused(file("[node]\nid = 3\nreplicas = " + std::string(no) + "\n")).what,
               Catch::Contains("must be 1, 3, 5 or 7"));
  }
}

TEST_CASE("how long results are kept, and how many, is said by flag, variable or file") {
  const Settings no_word = settings({{}, {}, {}, "/run/dag"});
  CHECK(no_word.results_kept_for.value == 3600);
  CHECK(no_word.results_mib.value == 512);
  CHECK(settings(file("[node]\nresults_kept_for = 60\n")).results_kept_for.value == 60);
  CHECK(settings({{{"results-mib", "0"}}, {}, {}, "/run/dag"}).results_mib.value == 0);
  CHECK(settings({{}, {{"DAG_RESULTS_KEPT_FOR", "5"}}, {}, "/run/dag"}).results_kept_for.value == 5);
  CHECK_THAT(refused(file("[node]\nresults_kept_for = -1\n")).what, Catch::Contains("number of seconds"));
  CHECK_THAT(refused({{{"results-mib", "many"}}, {}, {}, "/run/dag"}).what, Catch::Contains("number of MiB"));
}

TEST_CASE("where nobody says anything, defaults count") {
  const Settings got = settings({{}, {}, {}, "/run/dag"});
  CHECK(got.id.value == 0);
  CHECK(got.listen.value == net::Address{"127.0.0.1", 0});
  CHECK(got.peers.value.empty());
  CHECK(got.lanes.value == 0);
  CHECK(got.niceness.value == 0);
  CHECK(got.spawn_tasks.value == 65536);
  CHECK(got.spawn_bytes.value == 67108864);
  CHECK(got.keep_warm.value == 3);
  CHECK(got.replicas.value == 3);
  CHECK(got.share.value.rank == 0);
  CHECK(got.share.value.size == 1);
  CHECK(got.log.value == "warn");
  CHECK(got.state_dir.value == "/run/dag");
  CHECK(got.cluster.value == ClusterId{});
  CHECK(got.state_dir.origin == "default");
}

TEST_CASE("a file says everything") {
  const Settings got =
      settings(file("[node]\nid = 3\nlisten = '[::1]:7000'\npeers = ['a:1', 'b']\nlanes = 4\nshare = [1, 2]\n"
                    "log = 'debug'\nstate_dir = '/x'\ncluster = '00c0ffee'\n"));
  CHECK(got.id.value == 3);
  CHECK(got.listen.value == net::Address{"::1", 7000});
  CHECK(got.peers.value == std::vector<std::string>{"a:1", "b:7117"});
  CHECK(got.lanes.value == 4);
  CHECK(got.share.value.rank == 1);
  CHECK(got.share.value.size == 2);
  CHECK(got.log.value == "debug");
  CHECK(got.state_dir.value == "/x");
  CHECK(got.cluster.value == ClusterId{0xC0FFEE});
  CHECK(got.id.origin == "dag.toml:2");
  CHECK(got.cluster.origin == "dag.toml:9");
}

TEST_CASE("so do variables, and so do flags") {
  const std::map<std::string, std::string> values{
      {"id", "3"},          {"listen", "h:1"},    {"peers", "a:1,b"},        {"lanes", "4"},
      {"share", "1/2"},     {"log", "off"},       {"witness", "true"},       {"state-dir", "x"},
      {"cluster", "ff"},    {"journal", "false"}, {"journal-runs", "false"}, {"niceness", "19"},
      {"spawn-tasks", "5"}, {"spawn-bytes", "6"}, {"keep-warm", "9"}};
  SettingsSources by_flag{{values.begin(), values.end()}, {}, {}, "/run/dag"}, by_variable;
  for (const auto& [name, value] : values) {
    std::string variable = "DAG_";
    for (const char c : name) variable += c == '-' ? '_' : static_cast<char>(std::toupper(c));
    by_variable.environment[variable] = value;
  }
  for (const auto& sources : {by_flag, by_variable}) {
    const Settings got = settings(sources);
    CHECK(got.id.value == 3);
    CHECK(got.listen.value == net::Address{"h", 1});
    CHECK(got.peers.value == std::vector<std::string>{"a:1", "b:7117"});
    CHECK(got.lanes.value == 4);
    CHECK(got.share.value.rank == 1);
    CHECK(got.share.value.size == 2);
    CHECK(got.log.value == "off");
    CHECK(got.witness.value);
    CHECK(got.niceness.value == 19);
    CHECK(got.spawn_tasks.value == 5);
    CHECK(got.spawn_bytes.value == 6);
    CHECK(got.keep_warm.value == 9);
    CHECK_FALSE(got.journal.value);
    CHECK_FALSE(got.journal_runs.value);
    CHECK(got.state_dir.value == "x");
    CHECK(got.cluster.value == ClusterId{0xFF});
  }
  CHECK(settings(by_flag).state_dir.origin == "--state-dir");
  CHECK(settings(by_variable).state_dir.origin == "DAG_STATE_DIR");
}

TEST_CASE("the nearest says what counts, for each key by itself") {
  SettingsSources sources{{{"id", "1"}},
                          {{"DAG_ID", "2"}, {"DAG_LANES", "2"}},
                          {{"near", "[node]\nid = 3\nlanes = 3\nlog = 'info'"},
                           {"far", "[node]\nid = 4\nlanes = 4\nlog = 'debug'\nshare = [0, 4]"}},
                          "/run/dag"};
  const Settings got = settings(sources);
  CHECK(got.id.value == 1);
  CHECK(got.id.origin == "--id");
  CHECK(got.lanes.value == 2);
  CHECK(got.lanes.origin == "DAG_LANES");
  CHECK(got.log.value == "info");
  CHECK(got.log.origin == "near:4");
  CHECK(got.share.value.size == 4);
  CHECK(got.share.origin == "far:5");
}

TEST_CASE("an empty variable says nothing") {
  CHECK(settings({{}, {{"DAG_ID", ""}}, {}, ""}).id.origin == "default");
}

TEST_CASE("a key that there is not is named, with the one that was meant") {
  const Error lane = refused(file("[node]\nid = 1\n  lane = 4\n"));
  CHECK(lane.code == ErrorCode::configuration_invalid);
  CHECK(lane.what == "dag.toml:3:3: [node] has no key 'lane'");
  CHECK(lane.hint == "did you mean 'lanes'?");
  CHECK(refused(file("[node]\ncolour = 1")).hint == "config/dagd.toml has all keys");
  const Error table = refused(file("[nod]\nid = 1"));
  CHECK(table.what == "dag.toml:1:2: there is no 'nod' here");
  CHECK(table.hint == "did you mean 'node'?");
  CHECK(refused(file("lanes = 1")).hint == "write it below [node]");
  CHECK_THAT(refused(file("node = 1")).what, Catch::Contains("node is a whole number, but must be a table"));
}

TEST_CASE("a value of the wrong kind says which one was wanted") {
  CHECK(refused(file("[node]\nlanes = 'four'")).what ==
        "dag.toml:2:9: lanes is a string, but must be a whole number from 0 to 1024");
  CHECK(refused(file("[node]\nlanes = 2.5")).what ==
        "dag.toml:2:9: lanes is a number with a point, but must be a whole number from 0 to 1024");
  CHECK(refused(file("[node]\npeers = 'a:1'")).what ==
        "dag.toml:2:9: peers is a string, but must be a list of addresses HOST:PORT");
  CHECK_THAT(refused(file("[node]\npeers = ['a:1', 2]")).what, Catch::Contains("peers is a list, but"));
  CHECK_THAT(refused(file("[node]\nshare = [1, 2, 3]")).what, Catch::Contains("share is a list, but"));
  CHECK_THAT(refused(file("[node]\nlisten = 7117")).what,
             Catch::Contains("listen is a whole number, but must be an address HOST:PORT"));
}

TEST_CASE("a value that cannot be is refused, from wherever it comes") {
  const auto [key, bad] = GENERATE(table<std::string, std::string>({{"id", "65535"},
                                                                    {"id", "-1"},
                                                                    {"id", "1x"},
                                                                    {"lanes", "1025"},
                                                                    {"share", "2/2"},
                                                                    {"share", "1"},
                                                                    {"share", "/2"},
                                                                    {"log", "loud"},
                                                                    {"cluster", "xyz"},
                                                                    {"listen", "host:x"},
                                                                    {"peers", "a:1,"},
                                                                    {"peers", "a b"},
                                                                    {"listen", "::1"},
                                                                    {"cluster", "1ffffffffffffffff"}}));
  INFO(key << " = " << bad);
  if (key == "peers" && bad == "a:1,") {
    CHECK(settings({{{key, bad}}, {}, {}, ""}).peers.value.size() == 1);  // The last comma ends the list.
    return;
  }
  const Error by_flag = refused({{{key, bad}}, {}, {}, ""});
  CHECK(by_flag.code == ErrorCode::usage);
  CHECK_THAT(by_flag.what, Catch::StartsWith("--" + key + " is '" + bad + "', but must be "));
}

TEST_CASE("messages name the variable, and why an address is none") {
  const Error lanes = refused({{}, {{"DAG_LANES", "eight"}}, {}, ""});
  CHECK(lanes.code == ErrorCode::configuration_invalid);
  CHECK(lanes.what == "DAG_LANES is 'eight', but must be a whole number from 0 to 1024");
  const Error listen = refused(file("[node]\nlisten = 'host:70000'"));
  CHECK(listen.what == "dag.toml:2:10: listen is 'host:70000', but must be an address HOST:PORT");
  CHECK(listen.cause == "'host:70000' has a port above 65535");
}

TEST_CASE("what is not TOML says where it stops being") {
  const Error error = refused(file("[node]\nid = \n"));
  CHECK(error.code == ErrorCode::configuration_invalid);
  CHECK_THAT(error.what, Catch::StartsWith("dag.toml:2:"));
  // A mistake in a farther file is not hidden by a nearer one.
  CHECK_THAT(refused({{}, {}, {{"near", "[node]\nid = 1"}, {"far", "[node]\nid = 'x'"}}, ""}).what,
             Catch::StartsWith("far:2:6: "));
}

TEST_CASE("flags are taken with a space or an equals sign") {
  const auto flags = parse_flags({"--id", "3", "--state-dir=/x=y", "--peers", ""});
  REQUIRE(flags);
  CHECK(*flags == Flags{{"id", "3"}, {"state-dir", "/x=y"}, {"peers", ""}});
  CHECK(parse_flags({})->empty());
  CHECK(parse_flags({"-h"})->contains("help"));
  CHECK(settings_help().find("--state-dir DIR") != std::string::npos);
}

TEST_CASE("a flag that is wrong says what is right") {
  CHECK(parse_flags({"--lane", "3"}).error().what == "there is no flag --lane");
  CHECK(parse_flags({"--lane", "3"}).error().hint == "did you mean --lanes?");
  CHECK(parse_flags({"--id"}).error().what == "--id needs a value");
  CHECK(parse_flags({"--id", "1", "--id", "2"}).error().what == "--id is given twice");
  CHECK(parse_flags({"up"}).error().what == "'up' is not a flag");
  CHECK(parse_flags({"up"}).error().code == ErrorCode::usage);
}

TEST_CASE("the example is valid, and so is each of its comments") {
  const std::string text = example();
  REQUIRE_FALSE(text.empty());
  CHECK(settings({{}, {}, {{"dagd.toml", text}}, "/run/dag"}).id.origin == "default");
  // Whatever looks like a setting is one once it is no comment any more.
  std::string uncommented;
  std::istringstream lines(text);
  int found = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto equals = line.find(" = ");
    if (line.starts_with("# ") && equals != std::string::npos && line.find(' ', 2) == equals) {
      line.erase(0, 2);
      ++found;
    }
    uncommented += line + "\n";
  }
  CHECK(found == 21);
  const Settings got = settings({{}, {}, {{"dagd.toml", uncommented}}, "/run/dag"});
  CHECK(got.cluster.origin.starts_with("dagd.toml:"));
  CHECK(got.peers.value.size() == 2);
}

TEST_CASE("settings are shown as a file that says the same, with who said so") {
  SettingsSources sources = file("[node]\nid = 3\npeers = [\"a:1\", \"b:2\"]\nwitness = true\n");
  sources.environment["DAG_STATE_DIR"] = "/a \"b\"\\c\n";
  sources.environment["DAG_CLUSTER"] = "7e57";
  sources.flags["share"] = "1/4";
  const Settings said = settings(sources);
  const std::string text = settings_text(said, "toml").value_or_throw();
  CHECK_THAT(text, Catch::Contains("\n# data = \"\"\n") && !Catch::Contains("default"));
  const Settings again = settings(file(text));
  CHECK(settings_text(again, "toml").value_or_throw() == text);
  CHECK(again.state_dir.value == said.state_dir.value);
  CHECK(again.peers.value == said.peers.value);
  CHECK(again.share.value.size == 4);
  CHECK(again.cluster.value == ClusterId{0x7e57});

  const std::string with_origins = settings_text(said, "origin").value_or_throw();
  CHECK(settings_text(settings(file(with_origins)), "toml").value_or_throw() == text);
  for (const char* line : {"\nid = 3                          # dag.toml:2\n", "# --share\n",
                           "# DAG_CLUSTER\n", "\nreplicas = 3                    # default\n"}) {
    CHECK_THAT(with_origins, Catch::Contains(line));
  }
  CHECK_THAT(settings_text(said, "json").value_or_throw(),
             Catch::StartsWith(R"({"node":{"id":{"value":3,"origin":"dag.toml:2"},)") &&
                 Catch::Contains(R"("state_dir":{"value":"/a \"b\"\\c\u000A","origin":"DAG_STATE_DIR"})"));
  CHECK_FALSE(settings_text(said, "yaml"));
}

TEST_CASE("every key that can be set is shown") {
  const std::string text = settings_text(settings({}), "toml").value_or_throw();
  std::istringstream help(settings_help());
  for (std::string line; std::getline(help, line);) {
    if (!line.starts_with("  --")) continue;
    std::string key = line.substr(4, line.find(' ', 4) - 4);
    std::replace(key.begin(), key.end(), '-', '_');
    if (key != "config" && key != "settings" && key != "help")
      CHECK_THAT(text, Catch::Contains("\n" + key + " = ") || Catch::Contains("\n# " + key + " = "));
  }
}
