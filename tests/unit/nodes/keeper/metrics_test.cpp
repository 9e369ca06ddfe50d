// Text of a node for Prometheus. Promtool checks in tests/cluster that Prometheus can read it.

#include "nodes/http/metrics_text.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "nodes/keeper/node_metrics.hpp"

using namespace dag;
using web::MetricsText;

namespace {

JobInfo running(std::uint64_t number) {
  JobInfo job;
  job.job = JobId{number};
  job.phase = JobPhase::running;
  return job;
}

}  // namespace

TEST_CASE("a family has its values, and one without values is left out") {
  MetricsText text;
  text.gauge("a", "What a is.");
  text.add(1.5);
  text.gauge("none", "There are none.");
  text.counter("b_total", "What b is.");
  text.add(12345678901, {{"x", "y"}, {"z", ""}});
  text.add(0, {{"x", "w"}});
  CHECK(text.text() ==
        "# HELP a What a is.\n# TYPE a gauge\na 1.5\n"
        "# HELP b_total What b is.\n# TYPE b_total counter\nb_total{x=\"y\",z=\"\"} "
        "12345678901\nb_total{x=\"w\"} 0\n");
}

TEST_CASE("labels may be anything") {
  MetricsText text;
  text.gauge("a", "Of a.");
  text.add(1, {{"x", "\"quoted\" \\ line\nnext \xff\x01 é"}});
  CHECK_THAT(text.text(), Catch::Contains("a{x=\"\\\"quoted\\\" \\\\ line next \xEF\xBF\xBD  é\"} 1\n"));
}

TEST_CASE("numbers that are none are written as Prometheus does") {
  MetricsText text;
  text.gauge("a", "Of a.");
  text.add(std::numeric_limits<double>::quiet_NaN());
  text.add(-std::numeric_limits<double>::infinity());
  CHECK_THAT(text.text(), Catch::Contains("a NaN\na -Inf\n"));
}

TEST_CASE("a histogram counts what lies below each bound") {
  MetricsText text;
  const std::array<double, 2> bounds{0.001, 1};
  const std::array<std::uint64_t, 3> counts{5, 0, 2};
  text.histogram("d_seconds", "How long.", bounds, counts, 7.5);
  CHECK_THAT(text.text(),
             Catch::EndsWith("d_seconds_bucket{le=\"0.001\"} 5\nd_seconds_bucket{le=\"1\"} 5\n"
                             "d_seconds_bucket{le=\"+Inf\"} 7\nd_seconds_sum 7.5\nd_seconds_count 7\n"));
}

TEST_CASE("a node shows what it measures") {
  NodeMeasures measures;
  measures.run.by_duration[3] = 4;
  measures.run.busy = {Duration{0}, std::chrono::milliseconds(1500)};
  measures.run.stolen = 9;
  measures.run.stolen_host = 4;
  measures.run.stolen_cluster = 2;
  measures.run.queue = {4, std::chrono::seconds(2)};
  measures.run.transfer = {2, std::chrono::milliseconds(30)};
  measures.run.transfer_bytes = 4096;
  measures.workers.processes = 1;
  measures.workers.lane_time = std::chrono::seconds(8);
  measures.workers.busy = std::chrono::seconds(6);
  measures.run.placement = {5, std::chrono::microseconds(20)};
  measures.jobs[JobId{1}] = {1000, PathLeft{std::chrono::seconds(3), 7, {}}};
  measures.jobs[JobId{2}] = {24, std::nullopt};
  measures.settled[static_cast<std::size_t>(Outcome::failed)] = 3;
  measures.tasks[JobId{1}].classes = {{"train", {2, 1, 0, 0, 0}}};
  measures.tasks[JobId{2}].classes = {{"train", {0, 5, 1, 0, 0}}};
  NodeInfo self{{ProcessId{1}, {}}, MemberState::alive, {}, {}, 0, 0, {"its disk is full"}};
  NodeInfo other{{ProcessId{2}, {}}, MemberState::suspect, {}, {}, 0, 0, {}};
  other.heard = HeardOf{std::chrono::milliseconds(250), std::chrono::milliseconds(5)};
  const std::string text = metrics_of(measures, {self, other}, {running(1), running(2)});
  for (const char* line : {"dag_nodes{state=\"alive\"} 1\n",
                           "dag_nodes{state=\"suspect\"} 1\n",
                           "dag_heartbeat_round_trip_seconds{node=\"n2\"} 0.005\n",
                           "dag_node_ready 0\n",
                           "dag_heartbeat_age_seconds{node=\"n2\"} 0.25\n",
                           "dag_jobs{phase=\"running\"} 2\n",
                           "dag_tasks{state=\"open\",class=\"train\"} 2\n",
                           "dag_tasks{state=\"finished\",class=\"train\"} 6\n",
                           "dag_tasks_finished_total{outcome=\"failed\"} 3\n",
                           "dag_task_duration_seconds_count 4\n",
                           "dag_task_duration_seconds_sum 1.5\n",
                           "dag_device_busy_seconds_total{device=\"cpu1\",kind=\"cpu\"} 1.5\n",
                           "dag_steals_total{distance=\"process\",result=\"taken\"} 9\n",
                           "dag_steals_total{distance=\"host\",result=\"taken\"} 4\n",
                           "dag_steals_total{distance=\"cluster\",result=\"taken\"} 2\n",
                           "dag_worker_processes 1\n",
                           "dag_transfer_bytes_total 4096\n",
                           "dag_task_wait_seconds_sum{cause=\"queue\"} 2\n",
                           "dag_task_wait_seconds_count{cause=\"queue\"} 4\n",
                           "dag_task_wait_seconds_sum{cause=\"transfer\"} 0.03\n",
                           "dag_task_wait_seconds_count{cause=\"transfer\"} 2\n",
                           "dag_task_wait_seconds_count{cause=\"retry\"} 0\n",
                           "dag_output_bytes{tier=\"memory\"} 1024\n",
                           "dag_critical_path_seconds 3\n",
                           "dag_pipeline_bubble_ratio 0.25\n",
                           "dag_placement_seconds_sum 2e-05\n",
                           "dag_placement_seconds_count 5\n"}) {
    CHECK_THAT(text, Catch::Contains(line));
  }
  CHECK_THAT(text, !Catch::Contains("dag_log_lag"));  // No disk.
}

TEST_CASE("lanes are in fragments as far as the free ones are at different nodes") {
  const auto node = [](std::uint32_t number, std::uint32_t free, MemberState state = MemberState::alive) {
    NodeInfo info{{ProcessId{number}, {}}, state, {}, {}, 0, 0, {}};
    info.load.devices = {{"cpu", 8, free, 0, 0, Duration{0}}, {"gpu", 1, 0, 0, 0, Duration{0}}};
    return info;
  };
  const std::string text =
      metrics_of({}, {node(0, 6), node(1, 1), node(2, 1), node(3, 8, MemberState::dead)}, {});
  CHECK_THAT(text, Catch::Contains("dag_fragmentation_ratio{device_kind=\"cpu\"} 0.25\n"));
  CHECK_THAT(text, Catch::Contains("dag_fragmentation_ratio{device_kind=\"gpu\"} 0\n"));
}

TEST_CASE("tasks of a job that others lead now, or that has ended, are not counted here") {
  NodeMeasures measures;
  measures.tasks[JobId{1}].classes = measures.tasks[JobId{2}].classes = {{"train", {2, 1, 0, 0, 0}}};
  JobInfo over = running(2);
  over.phase = JobPhase::finished;
  CHECK_THAT(metrics_of(measures, {}, {over}), !Catch::Contains("dag_tasks{"));
}

TEST_CASE("names of tasks are bounded, whatever jobs call theirs") {
  NodeMeasures measures;
  for (std::uint64_t job = 1; job <= 10; ++job) {
    for (int i = 0; i < 100; ++i)
      measures.tasks[JobId{job}].classes.push_back(
          {"job" + std::to_string(job) + "-" + std::to_string(i), {1, 0, 0, 0, 0}});
  }
  std::vector<JobInfo> jobs;
  for (std::uint64_t job = 1; job <= 10; ++job) jobs.push_back(running(job));
  const std::string text = metrics_of(measures, {}, jobs);
  std::size_t lines = 0;
  for (auto at = text.find("dag_tasks{"); at != std::string::npos; at = text.find("dag_tasks{", at + 1))
    ++lines;
  CHECK(lines == 5 * 201);
  CHECK_THAT(text, Catch::Contains("dag_tasks{state=\"open\",class=\"(others)\"} 800\n"));
}

TEST_CASE("a process knows what it uses") {
  const ProcessUse use = use_of_this_process();
  CHECK(use.cpu > Duration{0});
  CHECK(use.resident_bytes > 1'000'000);
  CHECK(use.open_files >= 3);
  CHECK(use.started_unix_s > 1.7e9);
  CHECK(use.started_unix_s <= static_cast<double>(time(nullptr)) + 1);
}
