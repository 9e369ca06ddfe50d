// The journal of a node: within its bounds, in the order of its records, and through a disk that takes
// nothing for a while.
#include "nodes/journal/journal.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "libdag/journal/event_bytes.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;
using namespace dag::test;

namespace {

constexpr Life self{{3}, {7}};

JournalEvent settled(std::uint32_t task) {
  return {
      Instant{Duration(task)}, {{3}}, {7}, {0, task}, {{1, 1}, 1}, event::Settled{Outcome::finished, "step"}};
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) files.push_back(entry.path());
  const auto number = [](const std::filesystem::path& file) {
    return std::stoul(file.filename().string().substr(std::string("journal-").size()));
  };
  std::sort(files.begin(), files.end(), [&](const auto& a, const auto& b) { return number(a) < number(b); });
  return files;
}

struct Kept {
  std::vector<std::uint32_t> tasks;
  std::uint64_t dropped = 0;
};
Kept kept_in(const std::filesystem::path& directory) {
  Kept kept;
  for (const auto& file : files_in(directory)) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto read = read_journal(std::as_bytes(std::span(text)), [&](const JournalEvent& record) {
                        kept.tasks.push_back(record.task.index);
                      }).value_or_throw();
    CHECK(read.head.process == self);
    CHECK(read.head.clock_began_unix_ns > 1'700'000'000'000'000'000);
    CHECK(read.gaps.empty());
    CHECK(read.torn_bytes == 0);
    kept.dropped += read.dropped;
  }
  return kept;
}

/// A disk that takes nothing as long as it is full.
struct FullDisk : Files {
  std::atomic<bool> full{false};
  bool write(const OwnedFile& file, std::span<const std::byte> bytes, std::size_t offset) override {
    errno = ENOSPC;
    return !full && Files::write(file, bytes, offset);
  }
};

const auto nobody = [](const std::string& line) { FAIL(line); };

}  // namespace

TEST_CASE("a journal is gone on with at the next start, in another file") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "data" / "journal";
  for (std::uint32_t start = 0; start < 3; ++start) {
    Journal journal(path.string(), self, nobody);
    journal.record(settled(2 * start));
    journal.flush();
    CHECK(kept_in(path).tasks.back() == 2 * start);
    journal.record(settled(2 * start + 1));
  }
  CHECK(kept_in(path).tasks == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
  CHECK(files_in(path).size() == 3);
}

TEST_CASE("the oldest files go when there are too many") {
  const TemporaryDirectory directory;
  JournalLimits limits;
  limits.file_bytes = 4096;
  limits.all_bytes = 5 * 4096;
  std::uint32_t task = 0;
  {
    Journal journal(directory.path().string(), self, nobody, files_of_host(), limits);
    for (int block = 0; block < 200; ++block) {
      for (int i = 0; i < 10; ++i) journal.record(settled(task++));
      journal.flush();
    }
  }
  const Kept kept = kept_in(directory.path());
  REQUIRE_FALSE(kept.tasks.empty());
  CHECK(kept.tasks.size() < 2000);
  for (std::size_t i = 0; i < kept.tasks.size(); ++i)
    CHECK(kept.tasks[i] == task - kept.tasks.size() + i);  // The newest, without a gap.
  std::size_t bytes = 0;
  for (const auto& file : files_in(directory.path())) bytes += std::filesystem::file_size(file);
  CHECK(bytes <= limits.all_bytes);
}

TEST_CASE("more than may wait is dropped, and the journal says how much") {
  const TemporaryDirectory directory;
  JournalLimits limits;
  Writer one;
  write_record(one, settled(0));
  limits.waiting_bytes_max = 10 * (sizeof(std::uint64_t) + one.bytes().size());
  limits.write_every = std::chrono::hours(1);
  {
    Journal journal(directory.path().string(), self, nobody, files_of_host(), limits);
    for (std::uint32_t task = 0; task < 25; ++task) journal.record(settled(task));
  }
  const Kept kept = kept_in(directory.path());
  CHECK(kept.tasks.size() == 10);
  CHECK(kept.dropped == 15);
}

TEST_CASE("a disk that takes nothing costs what was to be written, which is counted; then it goes on") {
  const TemporaryDirectory directory;
  FullDisk disk;
  std::vector<std::string> said;
  {
    Journal journal(
        directory.path().string(), self, [&](const std::string& line) { said.push_back(line); }, disk);
    journal.record(settled(0));
    journal.flush();
    disk.full = true;
    for (std::uint32_t task = 1; task < 4; ++task) {
      journal.record(settled(task));
      journal.flush();
    }
    disk.full = false;
    journal.record(settled(4));
  }
  REQUIRE(said.size() == 2);
  CHECK_THAT(said[0], Catch::Contains("cannot be written: No space left"));
  CHECK_THAT(said[1], Catch::Contains("is written again"));
  std::vector<std::uint32_t> tasks;
  std::uint64_t dropped = 0;
  for (const auto& file : files_in(directory.path())) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto read = read_journal(std::as_bytes(std::span(text)),
                                   [&](const JournalEvent& record) { tasks.push_back(record.task.index); });
    if (read) dropped += read->dropped;
  }
  CHECK(tasks == std::vector<std::uint32_t>{0, 4});
  CHECK(dropped == 3);
}
