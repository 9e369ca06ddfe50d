// Checkpoints on a real disk: what is written is read, damage is noticed and costs one checkpoint, a full
// disk costs nothing that was there.
#include "examples/train_gpt/checkpoint_files.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <functional>

#include "tests/unit/train_gpt/helpers.hpp"

using namespace gpt;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

Checkpoint make(std::uint64_t step, std::size_t chunk_bytes = 1000) {
  Checkpoint checkpoint{"train_gpt", step, {{"model", "layers 4, width 128"}, {"seed", "1"}}, {}};
  for (std::uint64_t chunk = 0; chunk < 3; ++chunk) {
    std::vector<std::uint8_t> bytes(chunk_bytes + chunk);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::uint8_t>(bits({step, chunk, i}));
    checkpoint.chunks.push_back(std::move(bytes));
  }
  return checkpoint;
}

void flip_byte(const fs::path& path, std::size_t at) {
  std::string text = test::read_text_file(path);
  text.at(at) = static_cast<char>(text[at] ^ 4);
  test::write_text_file(path, text);
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const CheckpointError& error) {
    return error.what();
  }
  return "";
}

/// Runs `act` in a child process, which may change limits and mounts; returns what it says.
std::string in_child(const std::function<std::string()>& act) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string said = act();
    const ssize_t written = ::write(ends[1], said.data(), said.size());
    ::_exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string said;
  char buffer[512];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    said.append(buffer, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? said : "the child ended with status " + std::to_string(status);
}

}  // namespace

TEST_CASE("train_gpt: a checkpoint is read as it was written, the two newest are kept") {
  const test::TemporaryDirectory temporary;
  const fs::path directory = temporary.path() / "deep" / "checkpoints";
  for (const std::uint64_t step : {5U, 10U, 15U, 20U})
    CHECK(write_checkpoint(directory, make(step)) == checkpoint_path(directory, step));
  CHECK(checkpoint_steps(directory) == std::vector<std::uint64_t>{15, 20});
  const Newest newest = read_newest_checkpoint(directory, "train_gpt");
  CHECK(newest.checkpoint == make(20));
  CHECK(newest.skipped.empty());
  CHECK(read_checkpoint(directory / "step-15") == make(15));
  CHECK_FALSE(fs::exists(directory / "step-20" / "MANIFEST.tmp"));
  const std::string manifest = test::read_text_file(directory / "step-20" / "MANIFEST");
  CHECK_THAT(manifest, Contains("step 20\n") && Contains("previous 15\n") && Contains("chunks 3\n"));

  SECTION("the same one again stays as it is") {
    const auto written = fs::last_write_time(directory / "step-20" / "c0");
    write_checkpoint(directory, make(20));
    CHECK(fs::last_write_time(directory / "step-20" / "c0") == written);
    CHECK(checkpoint_steps(directory) == std::vector<std::uint64_t>{15, 20});
  }
  SECTION("one that comes late deletes nothing newer") {
    write_checkpoint(directory, make(17));
    CHECK(checkpoint_steps(directory) == std::vector<std::uint64_t>{17, 20});
    write_checkpoint(directory, make(3));
    CHECK(checkpoint_steps(directory) == std::vector<std::uint64_t>{17, 20});
  }
  SECTION("no chunks and empty chunks") {
    Checkpoint none = make(21);
    none.chunks.clear();
    none.notes.clear();
    write_checkpoint(directory, none);
    CHECK(read_newest_checkpoint(directory, "train_gpt").checkpoint == none);
    none.step = 22;
    none.chunks.resize(2);
    write_checkpoint(directory, none);
    CHECK(read_newest_checkpoint(directory, "train_gpt").checkpoint == none);
  }
  SECTION("directories of others keep their files") {
    fs::create_directory(directory / "step-1");
    test::write_text_file(directory / "step-1" / "thesis.tex", "years of work");
    test::write_text_file(directory / "step-by-step.txt", "a manual");
    write_checkpoint(directory, make(25));
    CHECK(fs::exists(directory / "step-1" / "thesis.tex"));
    CHECK(fs::exists(directory / "step-by-step.txt"));
  }
}

TEST_CASE("train_gpt: any damage is found, and the checkpoint before is used") {
  const test::TemporaryDirectory temporary;
  const fs::path& directory = temporary.path();
  write_checkpoint(directory, make(10));
  write_checkpoint(directory, make(20));
  const fs::path newest = directory / "step-20";
  std::string expected;
  SECTION("a flipped bit in a chunk") {
    flip_byte(newest / "c1", 500);
    expected = "c1' is damaged: its checksum does not fit";
  }
  SECTION("a truncated chunk") {
    fs::resize_file(newest / "c2", 900);
    expected = "c2' is truncated: 900 bytes instead of 1002";
  }
  SECTION("a longer chunk") {
    fs::resize_file(newest / "c2", 1100);
    expected = "c2' is too long";
  }
  SECTION("a missing chunk") {
    fs::remove(newest / "c0");
    expected = "No such file";
  }
  SECTION("a chunk that is a directory") {
    fs::remove(newest / "c1");
    fs::create_directory(newest / "c1");
    expected = "c1' is not a regular file";
  }
  SECTION("no MANIFEST: the process died while saving") {
    fs::rename(newest / "MANIFEST", newest / "MANIFEST.tmp");
    expected = "was never finished";
  }
  SECTION("an empty MANIFEST") {
    test::write_text_file(newest / "MANIFEST", "");
    expected = "the file is empty";
  }
  SECTION("a MANIFEST of something else") {
    test::write_text_file(newest / "MANIFEST", "{\"format\": 7}\n");
    expected = "MANIFEST, line 1";
  }
  SECTION("a renamed directory") {
    fs::rename(newest, directory / "step-21");
    expected = "MANIFEST says step 20";
  }
  const Newest found = read_newest_checkpoint(directory, "train_gpt");
  CHECK(found.checkpoint == make(10));
  REQUIRE(found.skipped.size() == 1);
  CHECK_THAT(found.skipped[0], Contains(expected));

  flip_byte(directory / "step-10" / "c0", 1);
  CHECK_THAT(error_of([&] { read_newest_checkpoint(directory, "train_gpt"); }),
             Contains("no usable checkpoint") && Contains(expected) && Contains("step 10 is unusable"));
}

TEST_CASE("train_gpt: every truncation and every flipped bit of a MANIFEST is noticed") {
  const test::TemporaryDirectory temporary;
  write_checkpoint(temporary.path(), make(20, 10));
  const fs::path manifest = temporary.path() / "step-20" / "MANIFEST";
  const std::string good = test::read_text_file(manifest);
  for (std::size_t length = 0; length < good.size(); ++length) {
    test::write_text_file(manifest, good.substr(0, length));
    if (error_of([&] { read_checkpoint(temporary.path() / "step-20"); }).empty())
      FAIL("accepted length " << length);
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    test::write_text_file(manifest, bad);
    if (error_of([&] { read_checkpoint(temporary.path() / "step-20"); }).empty())
      FAIL("accepted a flip at " << at);
  }
  test::write_text_file(manifest, good);
  CHECK(read_checkpoint(temporary.path() / "step-20") == make(20, 10));
}

TEST_CASE("train_gpt: nothing to resume from is said clearly") {
  const test::TemporaryDirectory temporary;
  CHECK_THAT(error_of([&] { read_newest_checkpoint(temporary.path() / "none", "train_gpt"); }),
             Contains("there is no checkpoint directory"));
  CHECK_THAT(error_of([&] { read_newest_checkpoint(temporary.path(), "train_gpt"); }),
             Contains("no step-<n> directories"));
  write_checkpoint(temporary.path(), make(5));
  CHECK_THAT(error_of([&] { read_newest_checkpoint(temporary.path(), "other"); }),
             Contains("belongs to job 'train_gpt', not to 'other'"));
  CHECK_THROWS_AS(write_checkpoint(temporary.path(), Checkpoint{"two\nlines", 1, {}, {}}), CheckpointError);
  CHECK_THROWS_AS(write_checkpoint(temporary.path(), Checkpoint{"job", 1, {{"two words", "x"}}, {}}),
                  CheckpointError);
  test::write_text_file(temporary.path() / "file", "");
  CHECK_THAT(error_of([&] { write_checkpoint(temporary.path() / "file", make(5)); }),
             Contains("cannot create the checkpoint directory"));
}

TEST_CASE("train_gpt: a full disk while saving is an error that leaves the earlier checkpoint intact") {
  const test::TemporaryDirectory temporary;
  const fs::path& directory = temporary.path();
  const auto save_small_then_large = [&] {
    write_checkpoint(directory, make(10));
    write_checkpoint(directory, make(20));
    std::string said = error_of([&] { write_checkpoint(directory, make(30, 100'000)); });
    // Still usable, and nothing of the failed one is left.
    if (read_newest_checkpoint(directory, "train_gpt").checkpoint != make(20)) said += " LOST";
    if (fs::exists(directory / "step-30")) said += " LEFT";
    if (!fs::exists(directory / "step-10")) said += " DELETED TOO EARLY";
    write_checkpoint(directory, make(31));  // There is room again.
    return said;
  };
  const auto check_said = [](const std::string& said, const std::string& reason) {
    CHECK_THAT(said, Contains("cannot save the checkpoint of step 30") && Contains(reason) &&
                         Contains("The checkpoint of step 20 is intact"));
    CHECK_THAT(said, !Contains("LOST") && !Contains("LEFT") && !Contains("TOO EARLY"));
  };
  SECTION("a limit on the size of files") {
    const std::string said = in_child([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{50'000, 50'000};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      return save_small_then_large();
    });
    check_said(said, "File too large");
  }
  SECTION("a small file system") {
    const std::string said = in_child([&]() -> std::string {
      if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount("tmpfs", directory.c_str(), "tmpfs", 0, "size=256k") != 0)
        return "no mount";
      return save_small_then_large();
    });
    if (said == "no mount")
      WARN("skipped: a small file system can be mounted by root only");
    else
      check_said(said, "No space left on device");
  }
}
