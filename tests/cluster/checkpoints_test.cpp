// Saves of job actors on the disk of the node that has a job's record: a real dagd, a real training. And what
// tasks save while they run.

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "nodes/disk/checkpoint_files.hpp"
#include "tests/cluster/nodes.hpp"
#include "tests/support/temporary_directory.hpp"

using cluster::bin;
using cluster::Process;

namespace {

std::vector<std::string> small_training(const std::string& address, const std::string& steps) {
  return {bin("train_gpt"),
          "--layers",
          "2",
          "--width",
          "32",
          "--heads",
          "2",
          "--context",
          "16",
          "--batch",
          "2",
          "--stages",
          "2",
          "--evaluate-every",
          "1000000",
          "--checkpoint-every",
          "3",
          "--steps",
          steps,
          "--address",
          address};
}

std::vector<std::filesystem::path> in(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory, none))
    found.push_back(entry.path());
  return found;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t times = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++times;
  return times;
}

/// Whether this node has a whole save.
bool has_save(const cluster::Nodes& nodes, std::uint32_t id) {
  std::error_code gone;  // Saves come and go meanwhile.
  const std::string data = nodes.folder_of(id) + "/data/checkpoints";
  for (std::filesystem::recursive_directory_iterator at(data, gone), end; !gone && at != end;
       at.increment(gone)) {
    if (at->path().filename() == "MANIFEST") return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a node with a data directory keeps the two newest saves, until the job has ended well") {
  const dag::test::TemporaryDirectory data;
  const std::filesystem::path checkpoints = data.path() / "n0" / "checkpoints";
  const std::vector<std::string> dagd{
      bin("dagd"), "--data", data.path() / "n0", "--state-dir", data.path() / "state", "--log", "info"};
  const auto address_of = [](Process& node) {
    REQUIRE(node.says("listens on "));
    REQUIRE(node.says("\n"));
    const std::string said = node.out();
    const std::size_t at = said.find("listens on ") + 11;
    return said.substr(at, said.find('\n', at) - at);
  };
  std::filesystem::path group;
  {
    Process node(dagd);
    const std::string address = address_of(node);
    Process well(small_training(address, "60"));
    CHECK(well.ends() == 0);
    INFO(well.err());
    REQUIRE(node.says(" of job1 train_gpt, group 0, is on the disk"));
    Process endless(small_training(address, "1000000"));
    // Where the disk is slow some are left out.
    REQUIRE(node.read_until(
        [&] { return count(node.err(), " of job2 train_gpt, group 0, is on the disk") >= 3; }));
    // The first job's are gone: its end came before anything of the second.
    REQUIRE(in(checkpoints).size() == 1);
    Process cancel({bin("dag"), "cancel", "job2", "--address", address});
    CHECK(cancel.ends() == 0);
    CHECK(endless.ends() != 0);
    REQUIRE(node.says("job2 did not end well: its saves stay in"));
    REQUIRE(in(in(checkpoints).front()).size() == 1);
    group = in(in(checkpoints).front()).front();
    // The end of its record comes behind that. A node that is stopped between the two has the job still open;
    // this one has taken another job and brought it to its end meanwhile.
    Process next({bin("hello"), "--address", address});
    CHECK(next.ends() == 0);
    node.kill(SIGTERM);
    CHECK(node.ends() == 0);
  }
  const std::vector<std::uint32_t> saves = dag::saves_in(group);
  REQUIRE(saves.size() == 2);
  for (const std::uint32_t save : saves) {
    const auto read = dag::read_checkpoint(dag::save_path(group, save));
    REQUIRE(read);
    CHECK(read->number == save);
    REQUIRE(read->chunks.size() == 2);  // The two stages, which save as one group.
    for (const auto& chunk : read->chunks) CHECK(chunk.state.size_bytes() > 1000);
  }
  CHECK(dag::read_checkpoint(dag::save_path(group, saves[1]))->previous == saves[0]);
  const std::filesystem::path newest = dag::save_path(group, saves[1]);
  std::filesystem::resize_file(newest / "c1", std::filesystem::file_size(newest / "c1") - 1);
  const auto damaged = dag::read_checkpoint(newest);
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code == dag::ErrorCode::checkpoint_damaged);
  CHECK_THAT(damaged.error().what, Catch::Contains("c1 is truncated"));
  Process again(dagd);
  CHECK(again.says("an earlier start left a checkpoint that cannot be used: " + (newest / "c1").string()));
  again.kill(SIGTERM);
  CHECK(again.ends() == 0);
}

namespace {

/// A job that says in which process it has got a quarter further, through a pipe with a name.
class Quarters {
 public:
  explicit Quarters(const dag::test::TemporaryDirectory& directory)
      : name_(directory.path().string() + "/quarters") {
    REQUIRE(mkfifo(name_.c_str(), 0600) == 0);
    pipe_ = open(name_.c_str(), O_RDWR | O_CLOEXEC);  // Both, so that it never ends.
    REQUIRE(pipe_ >= 0);
  }
  ~Quarters() { close(pipe_); }
  Quarters(const Quarters&) = delete;
  Quarters& operator=(const Quarters&) = delete;
  const std::string& name() const { return name_; }
  /// 0: not in time.
  pid_t next() const {
    pollfd waits{pipe_, POLLIN, 0};
    char line[32] = {};
    if (poll(&waits, 1, dag::test::patient_ms(std::chrono::minutes(1))) != 1 ||
        read(pipe_, line, sizeof line - 1) <= 0)
      return 0;
    return std::stoi(line);
  }

 private:
  std::string name_;
  int pipe_ = -1;
};

}  // namespace

TEST_CASE("a long task goes on from what it saved, when its process is killed and when its node is") {
  const dag::test::TemporaryDirectory directory;
  const std::string ledger = directory.path().string() + "/ledger";
  constexpr long steps = 200;
  cluster::Nodes nodes(3);
  nodes.gather();
  const Quarters quarters(directory);
  Process job(cluster::at(nodes, {bin("cluster_saving"), ledger, std::to_string(steps), quarters.name()}));
  const pid_t first = quarters.next();
  REQUIRE(first > 0);
  kill(first, SIGKILL);
  const pid_t second = quarters.next();
  REQUIRE(second > 0);
  CHECK(second != first);
  const pid_t its_node = cluster::node_of(second);
  std::size_t killed = 0, left = 0;
  for (std::size_t node = 0; node < nodes.count(); ++node) {
    if (nodes.node(node).id() == its_node) {
      nodes.node(node).kill(SIGKILL);
      ++killed;
    } else {
      left = node;
    }
  }
  REQUIRE(killed == 1);
  CHECK(job.ends() == 0);
  INFO(job.err());
  const std::string begin = "sum " + std::to_string(steps * (steps - 1) / 2) + " from ";
  REQUIRE(job.out().rfind(begin, 0) == 0);
  // Each attempt got a quarter further before it was lost, and saved that.
  CHECK(std::stoi(job.out().substr(begin.size())) > steps / 4);
  // The nodes that are left tell that afterwards.
  Process history(cluster::at(nodes, {bin("dag"), "history", "last"}, left));
  CHECK(history.ends() == 0);
  CHECK_THAT(history.out(), Catch::Contains("  saved ") && Catch::Contains("  restored"));
}

TEST_CASE("all nodes are killed at once: a long task and a job actor go on from what is on the disks") {
  const std::uint32_t count = GENERATE(1u, 3u);
  const auto job_of = GENERATE(values<std::vector<std::string>>(
      {{"cluster_counting"}, {"cluster_counting", "when due"}, {"cluster_saving"}}));
  const dag::test::TemporaryDirectory directory;
  const std::string ledger = directory.path().string() + "/ledger";
  constexpr std::size_t steps = 200;
  cluster::Nodes nodes(count, true);
  nodes.gather();
  const Quarters quarters(directory);
  std::vector<std::string> command{bin(job_of.front()), ledger, std::to_string(steps), quarters.name()};
  command.insert(command.end(), job_of.begin() + 1, job_of.end());
  Process job(cluster::at(nodes, command));
  REQUIRE(quarters.next() > 0);
  REQUIRE(quarters.next() > 0);
  // Saves are written behind the job, and a leader after the start has only those on its own disk.
  const auto lines = [&] {
    std::ifstream file(ledger);
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  };
  for (std::uint32_t id = 0; id < count; ++id) {
    CHECK(cluster::comes_true([&] { return has_save(nodes, id) || lines() == steps; }));
  }
  const std::size_t before = lines();
  nodes.kill_all();
  nodes.start_all();
  CHECK(job.ends() == 0);
  INFO(nodes.logs());
  INFO(job.err());
  CHECK_THAT(job.out(), Catch::StartsWith("sum " + std::to_string(steps * (steps - 1) / 2)));
  const std::size_t times = lines();
  CHECK(times >= steps);
  CHECK(times < steps + before);  // From the beginning it would be all of those again.
}
