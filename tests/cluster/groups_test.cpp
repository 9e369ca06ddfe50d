// A group of tasks over real processes, one of which is killed.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "tests/cluster/nodes.hpp"
#include "tests/support/temporary_directory.hpp"

using cluster::bin;
using cluster::Process;

namespace {

/// Lines that kernels write by ledger::enter, one after the other.
class Entries {
 public:
  explicit Entries(std::string name) : name_(std::move(name)) {
    REQUIRE(mkfifo(name_.c_str(), 0600) == 0);
    pipe_ = open(name_.c_str(), O_RDWR | O_CLOEXEC);  // Both, so that it never ends.
    REQUIRE(pipe_ >= 0);
  }
  ~Entries() { close(pipe_); }
  Entries(const Entries&) = delete;
  Entries& operator=(const Entries&) = delete;
  const std::string& name() const { return name_; }
  /// 0: not in time.
  int next() const {
    std::string line;
    for (char c = 0; c != '\n'; line += c) {
      pollfd waits{pipe_, POLLIN, 0};
      if (poll(&waits, 1, dag::test::patient_ms(std::chrono::minutes(1))) != 1 || read(pipe_, &c, 1) != 1)
        return 0;
    }
    return std::stoi(line);
  }

 private:
  std::string name_;
  int pipe_ = -1;
};

}  // namespace

TEST_CASE("a member's worker process is killed: all members of its gang start again, and the job ends well") {
  const dag::test::TemporaryDirectory directory;
  const Entries entries(directory.path().string() + "/entries");
  const std::string go = directory.path().string() + "/go";
  cluster::Nodes nodes(3);
  nodes.gather();
  Process job(cluster::at(nodes, {bin("cluster_gang"), entries.name(), go}));
  constexpr int rank_unit = 10'000'000;
  pid_t of_second = 0;
  for (int member = 0; member < 3; ++member) {
    const int entry = entries.next();
    REQUIRE(entry > 0);
    if (entry / rank_unit == 2) of_second = entry % rank_unit;
  }
  REQUIRE(of_second > 0);
  kill(of_second, SIGKILL);
  // Some may wait for a lane that another one has, which ends only when all may.
  std::set<int> again;
  while (again.size() < 3) {
    const int entry = entries.next();
    REQUIRE(entry > 0);
    CHECK(entry % rank_unit != of_second);
    if (again.empty()) std::ofstream(go) << "go";
    again.insert(entry / rank_unit);
  }
  CHECK(job.ends() == 0);
  INFO(job.err());
  CHECK(job.out() == "sum 6\n");
}
