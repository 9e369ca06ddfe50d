// A log on a real disk: started again after every kind of end.
#include "nodes/disk/segment_files.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "libdag/base/random.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;
using namespace dag::log;
using dag::test::TemporaryDirectory;

namespace {

constexpr LogOptions small{head_bytes + 4096, 1 << 16};

Record record_of(std::uint64_t index, const std::string& payload) {
  return {JobId{1}, 1, index, 1, std::as_bytes(std::span(payload))};
}
std::string payload_of(std::uint64_t index) { return "entry " + std::to_string(index * 7919); }

/// The indices that a start reads, each with its own payload.
struct Started {
  explicit Started(const std::filesystem::path& directory)
      : files(SegmentFiles::open(directory, small, [this](const Record& record, std::uint64_t) {
          const std::string payload(reinterpret_cast<const char*>(record.payload.data()),
                                    record.payload.size());
          CHECK(payload == payload_of(record.index));
          read.push_back(record.index);
        })) {
    if (files) machine.emplace((*files)->identity(), small, (*files)->end());
  }
  /// Appends a record, which is on the disk when this returns.
  Status append(std::uint64_t index) {
    const std::string payload = payload_of(index);
    machine->append(record_of(index, payload));
    while (const auto batch = machine->next_batch()) {
      if (const Status written = (*files)->write(*batch); !written) {
        machine->on_full();
        return written;
      }
      machine->on_written();
    }
    return Done{};
  }
  std::vector<std::uint64_t> read;
  Result<std::unique_ptr<SegmentFiles>> files;
  std::optional<LogMachine> machine;
};

std::vector<std::uint64_t> up_to(std::uint64_t last, std::uint64_t first = 1) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t index = first; index <= last; ++index) all.push_back(index);
  return all;
}

}  // namespace

TEST_CASE("a log is read again, goes on, and gives the files of old records another use") {
  const TemporaryDirectory directory;
  for (std::uint64_t start = 0; start < 4; ++start) {
    Started log(directory.path());
    REQUIRE(log.files);
    CHECK(log.read == up_to(start * 100));
    for (std::uint64_t index = start * 100 + 1; index <= start * 100 + 100; ++index)
      REQUIRE(log.append(index));
  }
  std::uint64_t first_kept = 0;
  {
    Started log(directory.path());
    const std::size_t before = (*log.files)->segments();
    REQUIRE(before > 4);
    (*log.files)->release_before(before - 1);
    CHECK((*log.files)->segments() == 2);
    for (std::uint64_t index = 401; index <= 600; ++index) REQUIRE(log.append(index));
  }
  Started log(directory.path());
  REQUIRE(log.files);
  REQUIRE_FALSE(log.read.empty());
  first_kept = log.read.front();
  CHECK(first_kept > 200);
  CHECK(log.read == up_to(600, first_kept));
}

TEST_CASE("a segment that has rotted is refused, with its name") {
  const TemporaryDirectory directory;
  {
    Started log(directory.path());
    for (std::uint64_t index = 1; index <= 200; ++index) REQUIRE(log.append(index));
  }
  const std::string name = (directory.path() / "segment-1").string();
  {
    std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(head_bytes + 200);
    file.put('\xFF');
  }
  const Started log(directory.path());
  REQUIRE_FALSE(log.files);
  CHECK(log.files.error().code == ErrorCode::log_damaged);
  CHECK(log.files.error().what.find("segment 1") != std::string::npos);
}

TEST_CASE("what a torn batch left behind the end never comes back") {
  const TemporaryDirectory directory;
  {
    Started log(directory.path());
    REQUIRE(log.append(1));
    for (const std::uint64_t index : {2u, 3u}) log.machine->append(record_of(index, payload_of(index)));
    const auto batch = log.machine->next_batch();  // both, and the process dies while they are written
    REQUIRE((*log.files)->write(*batch));
  }
  {
    // The second reached the disk only with its beginning; the third as a whole.
    std::fstream file(directory.path() / "segment-1", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(head_bytes + record_bytes(payload_of(1).size()) + 8));
    file.write("\0\0\0\0\0\0\0\0", 8);
  }
  {
    Started log(directory.path());
    REQUIRE(log.files);
    CHECK(log.read == up_to(1));
    REQUIRE(log.append(2));  // As it was written before.
  }
  Started log(directory.path());
  REQUIRE(log.files);
  CHECK(log.read == up_to(2));
}

TEST_CASE("a process that is killed keeps all that it was told is on the disk") {
  const TemporaryDirectory directory;
  Random random(3);
  std::uint64_t acknowledged = 0;
  for (int cycle = 0; cycle < 20; ++cycle) {
    int pipe_ends[2];
    REQUIRE(pipe(pipe_ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
      Started log(directory.path());
      for (std::uint64_t index = log.read.size() + 1; log.append(index); ++index) {
        if (write(pipe_ends[1], &index, sizeof index) != sizeof index) _exit(1);
      }
      _exit(1);
    }
    close(pipe_ends[1]);
    // After so many, in the middle of whatever it does.
    const std::uint64_t enough = acknowledged + 1 + random.below(50);
    std::uint64_t index = 0;
    while (read(pipe_ends[0], &index, sizeof index) == sizeof index) {
      acknowledged = std::max(acknowledged, index);
      if (index == enough) kill(child, SIGKILL);
    }
    close(pipe_ends[0]);
    waitpid(child, nullptr, 0);
    const Started log(directory.path());
    REQUIRE(log.files);
    CHECK(log.read.size() >= acknowledged);
    CHECK(log.read == up_to(log.read.size()));
  }
}

TEST_CASE("a full disk is said, loses nothing, and the log goes on when there is room") {
  const TemporaryDirectory directory;
  if (mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    WARN("no file system of our own: this needs root");
    return;
  }
  {
    const std::string ballast = (directory.path() / "ballast").string();
    std::ofstream(ballast) << std::string(32 * 1024, 'x');
    Started log(directory.path());
    REQUIRE(log.files);
    std::uint64_t index = 1;
    Status written = log.append(index);
    while (written) written = log.append(++index);
    CHECK(written.error().code == ErrorCode::disk_full);
    {
      const Started other(directory.path());
      REQUIRE(other.files);
      CHECK(other.read == up_to(index - 1));
    }
    std::filesystem::remove(ballast);
    REQUIRE(log.append(index + 1));
    const Started other(directory.path());
    CHECK(other.read == up_to(index + 1));
  }
  umount(directory.path().c_str());
}
