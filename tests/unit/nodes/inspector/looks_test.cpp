// Events of a cluster, or of a job, that is larger than a page.
#include "nodes/inspector/looks.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "libdag/keeper/job_story.hpp"
#include "nodes/http/http_server.hpp"

using namespace dag;
using nlohmann::json;

namespace {

constexpr std::size_t rows_max = inspector::rows_in_event_max;

/// Each node has four lanes, one of them busy, and leads one job of those that run.
detail::Seen cluster_of(std::uint32_t nodes, std::size_t jobs) {
  detail::Seen seen;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    NodeInfo& node = seen.nodes.emplace_back();
    node.life = {ProcessId{i}, {}};
    node.load.devices = {{"cpu", 4, 3, 0, 0, Duration{0}}};
  }
  for (std::size_t i = 0; i < jobs; ++i) {
    JobInfo& job = seen.jobs.emplace_back();
    job.job = JobId{static_cast<std::uint32_t>(i + 1)};
    job.phase = i < nodes ? JobPhase::running : JobPhase::finished;
    seen.leaders[job.job] = ProcessId{static_cast<std::uint32_t>(i % nodes)};
  }
  return seen;
}

json said_of(const detail::Seen& seen) { return json::parse(inspector::cluster_json(seen, "n0", 0)); }

std::vector<std::string> names_of(const json& nodes) {
  std::vector<std::string> names;
  for (const json& node : nodes) names.push_back(node.at("node"));
  return names;
}

/// The length of the longest list in it, at any depth.
std::size_t longest_list(const json& of) {
  std::size_t longest = of.is_array() ? of.size() : 0;
  if (!of.is_structured()) return 0;
  for (const json& part : of) longest = std::max(longest, longest_list(part));
  return longest;
}

}  // namespace

TEST_CASE("an event of a small cluster has all of it") {
  const json said = said_of(cluster_of(3, 5));
  CHECK(names_of(said.at("nodes")) == std::vector<std::string>{"n0", "n1", "n2"});
  CHECK(said.at("jobs").size() == 5);
  CHECK(said.at("jobs_open") == 3);
  CHECK(said.at("nodes_alive") == 3);
  CHECK(said.at("lanes") == 12);
  CHECK(said.at("lanes_busy") == 3);
  for (const char* beyond : {"nodes_beyond", "jobs_beyond", "links_beyond", "missing_beyond"})
    CHECK(said.at(beyond) == 0);
}

TEST_CASE("an event of a cluster of any size has so many rows, and counts the rest") {
  detail::Seen seen = cluster_of(1'000, 1'500);
  for (int i = 0; i < 700; ++i) seen.missing.push_back("n" + std::to_string(i) + ": silent");
  seen.links.resize(detail::links_seen_max);
  seen.links_beyond = 17;
  const json said = said_of(seen);
  CHECK(longest_list(said) == rows_max);
  // So many a second, as looks.hpp and the page's README say.
  const auto events_per_second = static_cast<std::size_t>(std::chrono::seconds(1) / web::HttpOptions{}.pause);
  CHECK(rows_max * events_per_second == 400);
  CHECK(said.at("nodes").size() == rows_max);
  CHECK(said.at("nodes_beyond") == 1'000 - rows_max);
  CHECK(said.at("jobs").size() == rows_max);
  CHECK(said.at("jobs_beyond") == 1'500 - rows_max);
  CHECK(said.at("missing").size() == rows_max);
  CHECK(said.at("missing_beyond") == 700 - rows_max);
  CHECK(said.at("links_beyond") == 17);
  // Counted are all of them.
  CHECK(said.at("nodes_alive") == 1'000);
  CHECK(said.at("lanes") == 4'000);
  CHECK(said.at("lanes_busy") == 1'000);
  CHECK(said.at("jobs_open") == 1'000);
}

TEST_CASE("of many nodes those in trouble are among the rows") {
  detail::Seen seen = cluster_of(1'000, 0);
  seen.nodes[500].state = MemberState::suspect;
  seen.nodes[700].not_ready = {"its disk is full"};
  seen.nodes[999].state = MemberState::dead;
  const json said = said_of(seen);
  std::vector<std::string> expected;  // In the order of their numbers, as in a cluster of few.
  for (std::size_t i = 0; i < rows_max - 3; ++i) expected.push_back("n" + std::to_string(i));
  for (const char* name : {"n500", "n700", "n999"}) expected.emplace_back(name);
  CHECK(names_of(said.at("nodes")) == expected);
  CHECK(said.at("nodes_alive") == 998);
  CHECK(said.at("lanes") == 4 * 998);
  // More of them than there are rows: the first.
  for (NodeInfo& node : seen.nodes) node.state = MemberState::suspect;
  CHECK(names_of(said_of(seen).at("nodes")).back() == "n" + std::to_string(rows_max - 1));
}

TEST_CASE("an event of a job of any size has so many rows, and counts the rest") {
  JobInfo job;
  job.job = JobId{7};
  job.workers.resize(900);
  job.details.emplace();
  job.details->tasks.resize(JobStory::tasks_max);
  job.details->classes.resize(JobStory::classes_max);
  const json said = json::parse(inspector::job_json(job));
  CHECK(longest_list(said) == rows_max);
  CHECK(said.at("workers").size() == rows_max);
  CHECK(said.at("workers_beyond") == 900 - rows_max);
  job.workers.resize(3);
  const json small = json::parse(inspector::job_json(job));
  CHECK(small.at("workers").size() == 3);
  CHECK(small.at("workers_beyond") == 0);
}
