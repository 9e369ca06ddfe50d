// A node that is there, answers its peers, and gets nowhere: here because its disk takes a second for each
// batch. A debugger's means stop the one thread that writes, so nothing of the node is replaced.

#include <sys/ptrace.h>

#include <nlohmann/json.hpp>

#include "tests/cluster/metrics.hpp"
#include "tests/cluster/running.hpp"
#include "tests/support/file_text.hpp"
#include "tests/support/http_client.hpp"

using cluster::at;
using cluster::bin;
using cluster::comes_true;
using cluster::Nodes;
using cluster::Process;
using cluster::Running;
using cluster::sum_of;

namespace {

pid_t thread_named(pid_t process, const std::string& name) {
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    if (dag::test::text_of(thread.path() / "comm") == name + "\n") return std::stoi(thread.path().filename());
  }
  return 0;
}

/// A thread of a child that the test holds in its tracks. If that is not permitted, it is not `there`.
class Thread {
 public:
  explicit Thread(pid_t thread)
      : thread_(thread), there(ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) == 0) {}
  ~Thread() {
    if (!there) return;
    hold();
    ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  void hold() {
    if (std::exchange(held_, true)) return;
    ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr);
    waitpid(thread_, nullptr, __WALL);
  }
  void let_go() {
    if (std::exchange(held_, false)) ptrace(PTRACE_CONT, thread_, nullptr, nullptr);
  }

 private:
  const pid_t thread_;
  bool held_ = false;

 public:
  const bool there;
};

nlohmann::json first_of(const Nodes& nodes) {
  Process show(at(nodes, {bin("dag"), "node", "show", "n0", "--json"}, 0));
  const auto ended = show.ends();
  INFO(show.err());
  REQUIRE(ended == 0);
  return nlohmann::json::parse(show.out());
}

/// For how long the disk of the first node has done nothing of what waits, in seconds.
double disk_lag(Nodes& nodes) {
  const std::string metrics = dag::test::get(cluster::web_port(nodes, 0), "/metrics").body;
  const std::string name = "dag_log_lag_seconds ";
  REQUIRE_THAT(metrics, Catch::Contains("\n" + name));
  return sum_of(metrics, name);
}

bool is_sick(Nodes& nodes) {
  const std::string why = dag::test::get(cluster::web_port(nodes, 0), "/readyz").body;
  return why.find("n0 is sick") != std::string::npos;
}

}  // namespace

TEST_CASE(
    "a node whose disk is slow hands the jobs that it leads to others, and takes part again when it is "
    "well") {
  Running running(3, true, 3000);
  Nodes& nodes = running.nodes;
  REQUIRE(comes_true([&] { return first_of(nodes)["jobs"] == 1; }));
  std::optional<Thread> disk(std::in_place, thread_named(nodes.node(0).id(), "dag-store"));
  if (!disk->there) {
    WARN("no thread can be held here: this needs ptrace");
    return;
  }
  const auto began = cluster::Clock::now();
  REQUIRE(comes_true([&] {
    disk->hold();
    REQUIRE(comes_true([&] { return disk_lag(nodes) >= 1.2 || is_sick(nodes); }));
    disk->let_go();
    // A batch is written: that disk is slow, and not stuck.
    REQUIRE(comes_true([&] { return disk_lag(nodes) <= 0.3; }));
    return is_sick(nodes);
  }));
  const nlohmann::json first = first_of(nodes);
  disk.reset();  // A process does not end before the tracer of its threads.
  WARN("sick after "
       << std::chrono::duration_cast<std::chrono::milliseconds>(cluster::Clock::now() - began).count()
       << " ms");
  CHECK(first["disk_stuck"] == false);
  CHECK(first["state"] == "alive");
  CHECK(comes_true([&] { return first_of(nodes)["jobs"] == 0; }));
  CHECK(running.job->out().find("sum") == std::string::npos);  // The job was handed over while it ran.
  running.check_end();
  CHECK(comes_true([&] { return first_of(nodes)["sick"] == false; }));
  Process hello(at(nodes, {bin("hello")}));
  CHECK(hello.ends() == 0);
  nodes.end_all();
  CHECK_THAT(nodes.logs(),
             Catch::Contains("this node is sick, so it leads") && Catch::Contains("this node has recovered"));
}
