// Workflows of other programs: small ones by hand, damaged ones, and the originals of the graphs we measure
// with.

#include "libdag/workflows/workflow.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <numeric>
#include <sstream>

#include "libdag/base/random.hpp"
#include "libdag/graph/check.hpp"
#include "libdag/graph/rank.hpp"
#include "tests/support/dag_file.hpp"

using namespace dag;
using namespace dag::test;
using namespace std::chrono_literals;

namespace {

Workflow read(const std::string& text) {
  Result<Workflow> workflow = read_workflow(text);
  if (!workflow) FAIL(workflow.error().message());
  return std::move(workflow).value();
}

std::string error_of(const std::string& text) {
  const Result<Workflow> workflow = read_workflow(text);
  REQUIRE_FALSE(workflow);
  CHECK(workflow.error().code == ErrorCode::configuration_invalid);
  CHECK_FALSE(workflow.error().hint.empty());
  return workflow.error().what;
}

const std::string wf15 = R"({"name": "tiny", "schemaVersion": "1.5", "workflow": {
  "specification": {
    "tasks": [
      {"name": "load_ID0000001", "id": "load_ID0000001", "children": ["sum_ID0000002"], "parents": [],
       "inputFiles": ["in"], "outputFiles": ["a", "b"]},
      {"name": "sum_ID0000002", "id": "sum_ID0000002", "children": [], "parents": ["load_ID0000001"],
       "inputFiles": ["a", "b", "in"], "outputFiles": []}],
    "files": [{"id": "in", "sizeInBytes": 7}, {"id": "a", "sizeInBytes": 20}, {"id": "b", "sizeInBytes": 3}]},
  "execution": {"tasks": [
      {"id": "sum_ID0000002", "runtimeInSeconds": 0.25, "coreCount": 2, "memoryInBytes": 1000},
      {"id": "load_ID0000001", "runtimeInSeconds": 1.5, "command": {"program": "cat", "arguments": ["in", "-n"]}}]}}})";

const std::string wf14 = R"({"name": "tiny", "schemaVersion": "1.4", "workflow": {"tasks": [
  {"name": "load_ID0000001", "id": "ID0000001", "category": "loader", "runtimeInSeconds": 1.5, "parents": [],
   "files": [{"link": "output", "name": "a", "sizeInBytes": 20}, {"link": "output", "name": "b", "sizeInBytes": 3}]},
  {"name": "sum_ID0000002", "id": "ID0000002", "runtime": 0.25, "cores": 2, "parents": ["load_ID0000001"],
   "files": [{"link": "input", "name": "a", "sizeInBytes": 20}, {"link": "input", "name": "b", "sizeInBytes": 3}]}
]}})";

const std::string dax = R"(<?xml version="1.0"?>
<!-- a <job> in a comment -->
<adag name="tiny" version="2.1">
  <job id="ID1" name="load" runtime="1.5"><uses file="a&amp;b" link="output" size="23"/></job>
  <job id="ID2" name='sum' runtime=".25">
    <argument>&lt;none <filename file="a"/></argument>
    <uses name="a&amp;b" link="input" size="23" />
  </job>
  <child ref="ID2"><parent ref="ID1"/><parent ref="ID1"/></child>
</adag>
)";

}  // namespace

TEST_CASE("workflow: WfFormat 1.5", "[workflow]") {
  const Workflow workflow = read(wf15);
  CHECK(workflow.name == "tiny");
  REQUIRE(workflow.tasks.size() == 2);
  CHECK(workflow.tasks[0].id == "load_ID0000001");
  CHECK(workflow.tasks[0].name == "load");
  CHECK(workflow.tasks[0].takes == 1500ms);
  CHECK(workflow.tasks[0].program == "cat");
  CHECK(workflow.tasks[0].arguments == std::vector<std::string>{"in", "-n"});
  CHECK(workflow.tasks[1].takes == 250ms);
  CHECK(workflow.tasks[1].cpus == 2);
  CHECK(workflow.tasks[1].memory_bytes == 1000);
  REQUIRE(workflow.edges.size() == 1);
  CHECK(workflow.edges[0].from == 0);
  CHECK(workflow.edges[0].to == 1);
  CHECK(workflow.edges[0].size_bytes == 23);
}

TEST_CASE("workflow: WfFormat 1.4 and older names", "[workflow]") {
  const Workflow workflow = read(wf14);
  REQUIRE(workflow.tasks.size() == 2);
  CHECK(workflow.tasks[0].name == "loader");
  CHECK(workflow.tasks[1].name == "sum");
  CHECK(workflow.tasks[1].takes == 250ms);
  CHECK(workflow.tasks[1].cpus == 2);
  REQUIRE(workflow.edges.size() == 1);
  CHECK(workflow.edges[0].size_bytes == 23);
}

TEST_CASE("workflow: DAX", "[workflow]") {
  const Workflow workflow = read(dax);
  CHECK(workflow.name == "tiny");
  REQUIRE(workflow.tasks.size() == 2);
  CHECK(workflow.tasks[0].takes == 1500ms);
  CHECK(workflow.tasks[1].name == "sum");
  CHECK(workflow.tasks[1].takes == 250ms);
  REQUIRE(workflow.edges.size() == 1);
  CHECK(workflow.edges[0].size_bytes == 23);
}

TEST_CASE("workflow: STG", "[workflow]") {
  const Workflow workflow = read("2\n 0 0 0\n 1 5 1 0  # a comment\n 2 7 2 0 1\n 3 0 1 2\n# the end");
  REQUIRE(workflow.tasks.size() == 4);
  CHECK(workflow.tasks[2].takes == 7ms);
  REQUIRE(workflow.edges.size() == 4);
  CHECK(workflow.edges[1].from == 0);
  CHECK(workflow.edges[1].to == 2);
  CHECK(read("1\n0 3 0").tasks.size() == 1);  // without dummies
  CHECK(read_stg("1 0 3 0", 1s).value().tasks[0].takes == 3s);
}

TEST_CASE("workflow: files alone order tasks, in all formats that have files", "[workflow]") {
  const std::string text = GENERATE(values<std::string>({
      R"(<adag><job id="A"><uses file="f" link="output" size="5"/></job>
               <job id="B"><uses file="f" link="inout"/><uses file="n" link="none"/></job>
               <job id="C"><uses file="n" link="output"/></job></adag>)",
      R"({"workflow": {"tasks": [{"id": "A", "files": [{"link": "output", "name": "f", "size": "5"}]},
                                 {"id": "B", "files": [{"link": "input", "name": "f"}]}, {"id": "C"}]}})",
      R"({"workflow": {"specification": {"tasks": [{"id": "A", "outputFiles": ["f"]}, {"id": "B", "inputFiles": ["f"]},
                                                   {"id": "C"}], "files": [{"id": "f", "sizeInBytes": 5}]}}})"}));
  CAPTURE(text);
  const Workflow workflow = read(text);
  REQUIRE(workflow.tasks.size() == 3);
  REQUIRE(workflow.edges.size() == 1);
  CHECK(workflow.edges[0].from == 0);
  CHECK(workflow.edges[0].to == 1);
  CHECK(workflow.edges[0].size_bytes == 5);
}

TEST_CASE("workflow: files add nothing to an order that is stated", "[workflow]") {
  // Both write and read f; A comes first, and C reads what A wrote, behind B.
  const Workflow workflow = read(
      R"(<adag><job id="A"><uses file="f" link="inout"/></job><job id="B"><uses file="f" link="inout"/></job>
         <job id="C"><uses file="f" link="input"/></job>
         <child ref="B"><parent ref="A"/></child><child ref="C"><parent ref="B"/></child></adag>)");
  CHECK(workflow.edges.size() == 2);
  CHECK(check(fragment_of(workflow)));
}

TEST_CASE("workflow: a name that is another task's id names nobody else", "[workflow]") {
  const Workflow workflow = read(
      R"({"workflow": {"tasks": [{"id": "x", "name": "y"}, {"id": "y", "name": "x"}, {"id": "z", "parents": ["y"]}]}})");
  REQUIRE(workflow.edges.size() == 1);
  CHECK(workflow.edges[0].from == 1);
}

TEST_CASE("workflow: what editors and other writers do to a file changes nothing", "[workflow]") {
  CHECK(read("\xEF\xBB\xBF" + wf15).edges.size() == 1);
  CHECK(read("\xEF\xBB\xBF" + dax).edges.size() == 1);
  CHECK(read("# by hand\n1# one\n0 2.5 0").tasks[0].takes == 2500us);
  CHECK(read(R"({"workflow": {"tasks": [{"id": "a", "runtime": "1.5", "cores": "2"}]}})").tasks[0].takes ==
        1500ms);
  const Workflow workflow = read(
      "<?xml version='1.0' note='a > b'?><!-- <job id='no'/> --><adag><job id='&#233;&#x41;' runtime=' +1.5 "
      "'/></adag>");
  REQUIRE(workflow.tasks.size() == 1);
  CHECK(workflow.tasks[0].id ==
        "\xC3\xA9"
        "A");
  CHECK(workflow.tasks[0].takes == 1500ms);
}

TEST_CASE("workflow: a workflow becomes a graph that can be checked", "[workflow]") {
  const detail::Fragment fragment = fragment_of(read(wf15));
  CHECK(check(fragment));
  CHECK(rank(fragment).length == 1750ms);
  CHECK(fragment.policy(1).needs == Needs{.cpus = 2, .memory = 1000});
}

TEST_CASE("workflow: damaged text is refused, saying where", "[workflow]") {
  struct Row {
    std::string text;
    std::string what;
  };
  const Row row = GENERATE(values<Row>({
      {"", "this is no workflow that dag can read"},
      {"hello", "this is no workflow that dag can read"},
      {"{}", "there is no list of tasks under `workflow`"},
      {"{\"a\":\n [1,]}",
       "line 2, column 5: this is not JSON: syntax error while parsing value - unexpected ']'; expected '[', "
       "'{', or a literal"},
      {R"({"workflow": {"tasks": [{}]}})", "a task has neither id nor name"},
      {R"({"workflow": {"tasks": [{"id": "a"}, {"id": "a"}]}})", "two tasks are called 'a'"},
      {R"({"workflow": {"tasks": [{"id": "a", "parents": ["b"]}]}})",
       "task 'a' names 'b' as its parent, which is no task of this workflow"},
      {R"({"workflow": {"tasks": [{"id": "a", "children": ["b"]}]}})",
       "task 'a' names 'b' as its child, which is no task of this workflow"},
      {R"({"workflow": {"tasks": [{"id": "a", "runtime": -1}]}})", "task 'a' has the runtime -1.000000 s"},
      {R"({"workflow": {"specification": {"tasks": []}, "execution": {"tasks": [{"id": "x"}]}}})",
       "`execution` has a task 'x' that `specification` has not"},
      {"<html>", "line 1 of the DAX: it begins with <html>, not with <adag>"},
      {"<!-- nothing -->", "line 1 of the DAX: there is no <adag>"},
      {"<adag>\n<job id='a' runtime='x'/>", "line 2 of the DAX: job 'a' has the runtime 'x'"},
      {"<adag>\n<job id='a", "line 2 of the DAX: the value of id in <job> does not end"},
      {"<adag><job/>", "line 1 of the DAX: a job has no id"},
      {"<adag><job id='a'/><job id='a'/>", "line 1 of the DAX: two jobs are called 'a'"},
      {"<adag><child ref='a'><parent ref='b'/>",
       "task 'a' names 'b' as its parent, which is no task of this workflow"},
      {"<adag><job id='a'/><uses file='f' size='-1'/>", "line 1 of the DAX: file 'f' has the size '-1'"},
      {"<adag><!-- ", "line 1 of the DAX: a comment does not end"},
      {"2\n0 0 0\n2 1 0", "line 3 of the STG graph: expected task 1, not 2"},
      {"2\n0 0 1 0", "line 2 of the STG graph: predecessor 0 does not come before task 0"},
      {"2\n0 x 0", "line 2 of the STG graph: expected a duration"},
      {"2\n0 0 1", "line 2 of the STG graph: expected a predecessor"},
      {"7\n0 0 0", "line 2 of the STG graph: it says 7 tasks and holds 1"},
      {"1\n0 99999999999999999999 0",
       "line 2 of the STG graph: the duration 99999999999999999999 is too long"},
      {"1\n0 -1 0", "line 2 of the STG graph: expected a duration"},
      {"\xFF\xFE{", "this text is UTF-16"},
      {R"({"workflow": {"tasks": [{"id": "a", "runtime": "soon"}]}})",
       "a runtime is 'soon', which is no number"},
      {R"({"workflow": {"tasks": [{"id": "a", "name": "n"}, {"id": "b", "name": "n"}, {"id": "c", "parents": ["n"]}]}})",
       "task 'c' names 'n' as its parent, and several tasks have that name"},
      {"1\n0 18446744073709551615 0",
       "line 2 of the STG graph: the duration 18446744073709551615 is too long"},
  }));
  CAPTURE(row.text);
  CHECK(error_of(row.text) == row.what);
}

TEST_CASE("workflow: any damage is survived", "[workflow]") {
  Random random(3);
  for (const std::string& good :
       {wf15, wf14, dax, std::string("2\n 0 0 0\n 1 5 1 0\n 2 7 2 0 1\n 3 0 1 2")}) {
    for (int round = 0; round < 2000; ++round) {
      std::string text = good;
      for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
        const std::size_t at = random.below(text.size());
        switch (random.below(3)) {
          case 0:
            text[at] = static_cast<char>(static_cast<unsigned char>(random.below(256)));
            break;
          case 1:
            text.erase(at, 1 + random.below(5));
            break;
          default:
            text.insert(at, good.substr(random.below(good.size()), random.below(20)));
        }
        if (text.empty()) text = good;
      }
      static_cast<void>(read_workflow(text));  // the sanitizers watch
    }
  }
}

TEST_CASE("workflow: the originals give the graphs we measure with", "[workflow]") {
  const auto folder = test_data();
  if (!folder) {
    WARN("skipped: no test data (DAG_TEST_DATA)");
    return;
  }
  const auto [original, graph] = GENERATE(table<std::string, std::string>({
      {"bacass-dirt02-001.wfformat.json", "wfc-bacass-dirt02-001"},
      {"blast-chameleon-small-001.wfformat.json", "wfc-blast-chameleon-small-001"},
      {"montage-chameleon-2mass-005d-001.wfformat.json", "wfc-montage-chameleon-2mass-005d-001"},
      {"CyberShake_30.dax.xml", "dax-cybershake-30"},
      {"HEFT_paper.dax.xml", "dax-heft-paper"},
      {"fpppp.stg", "stg-fpppp"},
      {"rand0000.stg", "stg-rand0000"},
      {"robot.stg", "stg-robot"},
  }));
  CAPTURE(original);
  std::ifstream file(*folder / "dags" / "originals" / original);
  std::stringstream text;
  text << file.rdbuf();
  const Workflow workflow = read(text.str());
  const DagFile expected = read_dag_file(*folder / "dags" / "public" / (graph + ".dag"));
  CHECK(workflow.tasks.size() == expected.fragment.size());
  CHECK(workflow.edges.size() == expected.fragment.edges.size());
  std::uint64_t size_bytes = 0;
  for (const WorkflowEdge& edge : workflow.edges) size_bytes += edge.size_bytes;
  CHECK(size_bytes ==
        std::accumulate(expected.edge_bytes.begin(), expected.edge_bytes.end(), std::uint64_t{0}));
  const detail::Fragment fragment = fragment_of(workflow);
  REQUIRE(check(fragment));
  const double length = static_cast<double>(rank(fragment).length.count());
  CHECK(length == Approx(static_cast<double>(rank(expected.fragment).length.count())).epsilon(1e-6));
}
