// The graph of a job as journals have it: its tasks under the ids that all else calls them by, what became of
// them, and by which edges data went along.
#include "libdag/story/past_graph.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "libdag/drawing/drawing.hpp"
#include "libdag/journal/graph_part.hpp"
#include "tests/support/journal_file.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

constexpr JobId job{7};
constexpr auto strong = static_cast<std::uint8_t>(detail::EdgeKind::strong);
constexpr auto weak = static_cast<std::uint8_t>(detail::EdgeKind::weak);

/// `read` fed `train` and had to be over before `check`; that one waited for `train`, whatever became of it,
/// and spawned `more`.
std::vector<JournalEvent> records() {
  std::vector<JournalEvent> records;
  const auto keep = [&](std::optional<TaskId> parent) {
    return [&records, parent](TaskId from, event::GraphPart part) {
      part.parent = parent;
      records.push_back({Instant{1us}, {{0}}, job, from, {}, std::move(part)});
    };
  };
  GraphPartWriter submitted({}, keep({}));
  submitted.task("read");
  submitted.task("train");
  submitted.waits_for(0, strong, true);
  submitted.task("check");
  submitted.waits_for(0, strong, false);
  submitted.waits_for(1, weak, true);
  submitted.finish();
  GraphPartWriter spawned({3, 5}, keep(TaskId{0, 2}));
  spawned.task("more");
  spawned.finish();
  const auto settled = [&](TaskId task, Outcome outcome) {
    records.push_back({Instant{9us}, {{0}}, job, task, {{1, 1}, 1}, event::Settled{outcome}});
  };
  settled({0, 0}, Outcome::finished);
  settled({0, 1}, Outcome::failed);
  records.push_back({Instant{8us},
                     {{65536}, 0},
                     job,
                     {0, 1},
                     {{1, 1}, 1},
                     event::Ran{Outcome::failed, 5us, "out of paper"}});
  return records;
}

}  // namespace

TEST_CASE("a graph of the past says what went along with its edges, and what became of its tasks") {
  const test::TemporaryDirectory directory;
  test::write_journal(directory.path() / "journal/journal-1", 0, records());
  std::vector<std::string> notices;
  const detail::PastGraph graph = detail::read_graph({directory.path().string()}, job, notices);
  CHECK(notices.empty());
  REQUIRE(graph.tasks == std::vector<TaskId>{{0, 0}, {0, 1}, {0, 2}, {3, 5}});

  const Became became{{"0", "1", "2", "s2/5"}, {"finished", "failed", "", ""}, graph.ran};
  const nlohmann::json read = nlohmann::json::parse(json(graph.fragment, "night", &became));
  std::set<std::string> edges;
  for (const nlohmann::json& edge : read.at("edges")) {
    edges.insert(edge.at("from").dump() + edge.at("to").dump() + " " + edge.at("kind").get<std::string>() +
                 (edge.at("data").get<bool>() ? " data" : ""));
  }
  CHECK(edges == std::set<std::string>{"01 strong data", "02 strong", "12 weak data", "23 strong"});
  CHECK(read.at("tasks").at(3).at("task") == "s2/5");
  CHECK_FALSE(read.at("tasks").at(3).contains("outcome"));
  CHECK(read.at("tasks").at(1).at("outcome") == "failed");
  CHECK(read.at("tasks").at(1).at("ran_ns") == 5000);

  std::vector<std::string> labels;
  for (const DrawnNode& node : detail::picture_of(graph).drawing.nodes) labels.push_back(node.label);
  CHECK(labels == std::vector<std::string>{"read#0", "train#1", "check#2", "more#s2/5"});
}
