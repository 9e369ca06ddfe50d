// Saves of job actors on the disk of the node that has a job's record: a real dagd, a real training.

#include <catch2/catch.hpp>

#include "nodes/checkpoint_files.hpp"
#include "tests/cluster/processes.hpp"
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
    REQUIRE(node.says("save 3 of job2 train_gpt, group 0, is on the disk"));
    // The first job's are gone: its end came before anything of the second.
    REQUIRE(in(checkpoints).size() == 1);
    Process cancel({bin("dag"), "cancel", "job2", "--address", address});
    CHECK(cancel.ends() == 0);
    CHECK(endless.ends() != 0);
    REQUIRE(node.says("job2 did not end well: its saves stay in"));
    REQUIRE(in(in(checkpoints).front()).size() == 1);
    group = in(in(checkpoints).front()).front();
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
