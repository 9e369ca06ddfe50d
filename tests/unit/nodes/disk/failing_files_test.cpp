// Files that fail: each single change of one, once, with each error that a disk has. The store goes on, or
// ends its process and says why; what it said is on the disk is there afterwards.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <set>

#include "nodes/disk/checkpoint_files.hpp"
#include "tests/support/file_text.hpp"
#include "tests/support/same_stored.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/unit/nodes/disk/store_world.hpp"

using namespace dag;
using namespace dag::test;

namespace {

namespace fs = std::filesystem;

/// A change fails after this many. Nothing is synced: no power is lost here.
class FailingFiles : public Files {
 public:
  FailingFiles(std::uint64_t left, int error) : left_(left), error_(error) {}
  OwnedFile make(const std::string& name) override { return fails() ? OwnedFile() : Files::make(name); }
  bool write(const OwnedFile& file, std::span<const std::byte> bytes, std::size_t offset) override {
    // Half of it may have come to the disk.
    if (fails()) return Files::write(file, bytes.first(bytes.size() / 2), offset), failed();
    return Files::write(file, bytes, offset);
  }
  bool sync(const OwnedFile&) override { return !fails(); }
  bool rename(const std::string& from, const std::string& to) override {
    return !fails() && Files::rename(from, to);
  }
  bool remove(const std::string& name) override { return !fails() && Files::remove(name); }
  bool make_directory(const std::string& name) override { return !fails() && Files::make_directory(name); }
  bool sync_directory(const std::string&) override { return !fails(); }

  bool has_failed() const { return has_failed_; }

 private:
  bool fails() {
    if (left_-- != 0) return false;
    has_failed_ = true;
    return !failed();
  }
  bool failed() const {
    errno = error_;
    return false;
  }
  std::atomic<std::uint64_t> left_;
  const int error_;
  std::atomic<bool> has_failed_ = false;
};

constexpr int went_on = 0, not_opened = 1, wrong_error = 2;
/// More entries than the furthest fault of the sweep needs.
constexpr Index entries_max = 400;

/// Says through the pipe which entries the store said are on the disk; ends some of them after the fault.
[[noreturn]] void write_on(const fs::path& directory, std::uint64_t left, int error, int pipe_end) {
  signal(SIGABRT, SIG_DFL);  // The tests' own handler would report it.
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nothing, STDERR_FILENO);
  FailingFiles files(left, error);
  {
    auto opened = Store::open(directory, small, {}, files);
    if (!opened) {
      const ErrorCode code = opened.error().code;
      _exit(code == (error == ENOSPC ? ErrorCode::disk_full : ErrorCode::configuration_invalid)
                ? not_opened
                : wrong_error);
    }
    Store& store = **opened;
    write_and_wait(store, one, snapshot_of(0));
    Index last = entries_max;
    for (Index index = 1; index <= last; ++index) {
      write_and_wait(store, one, entries_of(index, index));
      if (::write(pipe_end, &index, sizeof index) != sizeof index) _exit(wrong_error);
      // So that segments are given back and used again.
      if (index % 40 == 0) write_and_wait(store, one, snapshot_of(index - 3));
      if (files.has_failed()) last = std::min(last, index + 50);
    }
  }
  _exit(files.has_failed() ? went_on : wrong_error);
}

struct Child {
  TemporaryDirectory place;
  std::uint64_t left = 0;
  pid_t process = 0;
  int pipe_end = -1;
};

/// Checks the files after the child has ended.
int check_end(const Child& child) {
  Index said = 0;
  for (Index index = 0; read(child.pipe_end, &index, sizeof index) == sizeof index;) said = index;
  close(child.pipe_end);
  int status = 0;
  waitpid(child.process, &status, 0);
  CAPTURE(child.left, status, said);
  const bool ended =
      WIFEXITED(status) && (WEXITSTATUS(status) == went_on || WEXITSTATUS(status) == not_opened);
  CHECK((ended || (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)));
  auto store = Store::open(child.place.path() / "log", small);
  INFO((store ? std::string() : store.error().message()));
  REQUIRE(store);
  const auto found = (*store)->take_logs();
  if (said == 0) return status;
  REQUIRE(found.contains(one));
  const Stored& log = found.at(one);
  CHECK(same(*log.snapshot, snapshot_of(log.snapshot->index)));
  CHECK(log.snapshot->index + log.entries.size() >= said);
  for (std::size_t i = 0; i < log.entries.size(); ++i)
    CHECK(same(log.entries[i], entry_of(log.snapshot->index + i + 1)));
  return status;
}

}  // namespace

TEST_CASE("whichever change of a file fails for want of room or by an error: what was said to be there is") {
  constexpr std::uint64_t changes = 500;
  // Most calls wait for the disk to have room again.
  constexpr std::size_t at_once = 16;
  const int error = GENERATE(ENOSPC, EIO);
  std::deque<Child> children;
  std::uint64_t ended_well = 0, aborted = 0;
  const auto end_first = [&] {
    const int status = check_end(children.front());
    ++(WIFEXITED(status) ? ended_well : aborted);
    children.pop_front();
  };
  for (std::uint64_t left = 0; left < changes; ++left) {
    if (children.size() == at_once) end_first();
    Child& child = children.emplace_back();
    child.left = left;
    int pipe_ends[2];
    REQUIRE(pipe2(pipe_ends, O_CLOEXEC) == 0);
    child.process = fork();
    if (child.process == 0) write_on(child.place.path() / "log", left, error, pipe_ends[1]);
    close(pipe_ends[1]);
    child.pipe_end = pipe_ends[0];
  }
  while (!children.empty()) end_first();
  CHECK(ended_well > 0);
  CHECK(aborted > 0);  // Syncs are among them.
}

TEST_CASE("a sync that fails ends the process, which says why") {
  struct Unsyncable : Files {
    bool sync(const OwnedFile&) override {
      errno = EIO;
      return false;
    }
  };
  const TemporaryDirectory place;
  int pipe_ends[2];
  REQUIRE(pipe2(pipe_ends, O_CLOEXEC) == 0);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    dup2(pipe_ends[1], STDERR_FILENO);
    Unsyncable files;
    auto store = Store::open(place.path(), small, {}, files);
    write_and_wait(**store, one, snapshot_of(0));
    _exit(0);  // The record was acknowledged.
  }
  close(pipe_ends[1]);
  std::string said;
  char piece[256];
  for (ssize_t got = 0; (got = read(pipe_ends[0], piece, sizeof piece)) > 0;)
    said.append(piece, static_cast<std::size_t>(got));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  CHECK_THAT(said,
             Catch::Contains("cannot be synced: Input/output error") && Catch::Contains("this process ends"));
}

TEST_CASE("segments that cannot be given back stay, with all behind them, until they can") {
  struct Stubborn : Files {
    bool rename(const std::string& from, const std::string& to) override {
      return !(stubborn && from.find("segment-") != from.npos) && Files::rename(from, to);
    }
    bool remove(const std::string& name) override { return !stubborn && Files::remove(name); }
    std::atomic<bool> stubborn = false;
  } files;
  const TemporaryDirectory place;
  Index last = 0;
  const auto go_on = [&](Store& store) {
    for (const Index end = last + 200; last < end;) {
      ++last;
      write_and_wait(store, one, entries_of(last, last));
      if (last % 50 == 0) write_and_wait(store, one, snapshot_of(last));
    }
  };
  {
    const auto store = Store::open(place.path(), small, {}, files).value_or_throw();
    write_and_wait(*store, one, snapshot_of(0));
    go_on(*store);
    files.stubborn = true;
    go_on(*store);
    CHECK(segments_in(place.path()) > 3);
  }
  const auto store = Store::open(place.path(), small, {}, files).value_or_throw();
  CHECK(store->take_logs().at(one).snapshot->index == last);
  files.stubborn = false;
  go_on(*store);
  CHECK(segments_in(place.path()) <= 3);
}

TEST_CASE("whichever change of a file fails: a save that was said to be written is there and intact") {
  const int error = GENERATE(ENOSPC, EIO);
  const auto save = [](std::uint32_t number) {
    return Checkpoint{
        "job1 test", 0, number, number - 1, {{"actor", {{0, 41}, {{1, 1}, 2}}, {}, bytes_of(number, 2000)}}};
  };
  bool failed = true;
  for (std::uint64_t left = 0; failed; ++left) {
    CAPTURE(left);
    const TemporaryDirectory place;
    FailingFiles files(left, error);
    std::set<std::uint32_t> written;
    for (std::uint32_t number = 1; number <= 4; ++number) {
      const Status status = write_checkpoint(place.path() / "group", save(number), files);
      if (status) {
        written.insert(number);
        continue;
      }
      CHECK(status.error().code ==
            (error == ENOSPC ? ErrorCode::disk_full : ErrorCode::configuration_invalid));
      CHECK_FALSE(fs::exists(save_path(place.path() / "group", number)));
    }
    failed = files.has_failed();
    CHECK(written.size() == (failed ? 3 : 4));
    const auto there = saves_in(place.path() / "group");
    CHECK(there == std::vector<std::uint32_t>{*std::prev(written.end(), 2), *written.rbegin()});
    for (const std::uint32_t number : there)
      CHECK(read_checkpoint(save_path(place.path() / "group", number)));
  }
}
