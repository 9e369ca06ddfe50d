// The store of a node, when its process is killed, its disk is full, or has lost something.
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/same_stored.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/unit/nodes/disk/store_world.hpp"

using namespace dag;
using namespace dag::test;

TEST_CASE("the disk keeps its number, and a log that is damaged is said to be") {
  const TemporaryDirectory directory, other;
  std::uint64_t disk = 0;
  {
    const auto store = open_store(directory.path());
    disk = store->disk();
    CHECK(disk != open_store(other.path())->disk());
    write_and_wait(*store, one, snapshot_of(0));
    for (Index index = 1; index <= 100; ++index) write_and_wait(*store, one, entries_of(index, index));
  }
  CHECK(open_store(directory.path())->disk() == disk);
  for (const auto& file : std::filesystem::directory_iterator(directory.path())) {
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(log::head_bytes + 200);
    bytes.write("damaged!", 8);
  }
  const auto damaged = Store::open(directory.path(), small);
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code == ErrorCode::log_damaged);
}

namespace {

/// Removed with all that is in it; not there without root.
struct SmallDisk {
  explicit SmallDisk(const std::filesystem::path& at)
      : path(at), there(mount("tmpfs", at.c_str(), "tmpfs", 0, "size=64k") == 0) {}
  ~SmallDisk() {
    if (there) umount(path.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  const std::filesystem::path path;
  const bool there;
};

constexpr JobId idle{3};

/// Goes on behind what it finds, and says through the pipe which entries are on the disk.
[[noreturn]] void write_until_killed(const std::filesystem::path& directory, const log::LogOptions& options,
                                     std::size_t state_bytes, int pipe_end) {
  auto opened = Store::open(directory, options);
  if (!opened) _exit(1);
  Store& store = **opened;
  auto logs = store.take_logs();
  if (logs[idle].entries.empty()) {
    store.write(idle, snapshot_of(0, state_bytes), {});
    store.write(idle, entries_of(1, 4), {});
  }
  if (!logs[one].snapshot) store.write(one, snapshot_of(0, state_bytes), {});
  const Index last = logs[one].snapshot ? logs[one].snapshot->index + logs[one].entries.size() : 0;
  Told told;
  for (Index index = last + 1;; ++index) {
    if (index > last + 16) told.wait(index - last - 16);
    store.write(one, entries_of(index, index), [index, pipe_end, more = told.one_more()] {
      if (::write(pipe_end, &index, sizeof index) != sizeof index) _exit(1);
      more();
    });
    store.write(two, Vote{static_cast<Term>(index), {}}, {});
    if (index % 7 == 0) store.write(one, Vote{static_cast<Term>(index), {}}, {});
    if (index % 20 == 0) store.write(one, snapshot_of(index - 5, state_bytes), {});
  }
}

}  // namespace

TEST_CASE("a process that is killed has on its disk all that its store said is there") {
  // Without slack jobs are written again all the time.
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  const auto [options, state_bytes] = GENERATE_COPY(
      std::pair<log::LogOptions, std::size_t>(
          {small.segment_bytes, small.batch_bytes_max, 8 * small.segment_bytes}, 300),
      std::pair<log::LogOptions, std::size_t>({small.segment_bytes, small.batch_bytes_max, 0}, 300),
      std::pair<log::LogOptions, std::size_t>({4 * mebibyte, mebibyte, 16 * mebibyte}, 2'500'000));
  const TemporaryDirectory directory;
  Random random(3);
  Index said = 0, snapshot = 0;
  for (int life = 0; life < 15; ++life) {
    int pipe_ends[2];
    REQUIRE(pipe(pipe_ends) == 0);
    const pid_t child = fork();
    if (child == 0) write_until_killed(directory.path(), options, state_bytes, pipe_ends[1]);
    close(pipe_ends[1]);
    const Index before = said;
    // After so many, in the middle of whatever it does.
    const Index enough = said + 1 + random.below(60);
    Index index = 0;
    while (read(pipe_ends[0], &index, sizeof index) == sizeof index) {
      said = std::max(said, index);
      if (index >= enough) kill(child, SIGKILL);
    }
    close(pipe_ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    const auto found = open_store(directory.path(), options)->take_logs();
    const Stored& log = found.at(one);
    CHECK(same(found.at(idle), Stored{{}, snapshot_of(0, state_bytes), entries_of(1, 4).entries}));
    CHECK(same(*log.snapshot, snapshot_of(log.snapshot->index, state_bytes)));
    const Index last = log.snapshot->index + log.entries.size();
    CHECK(last >= said);
    for (Index at = log.snapshot->index + 1; at <= last; ++at)
      CHECK(same(log.entries[at - log.snapshot->index - 1], entry_of(at)));
    CHECK(log.vote.term >= (said - 1) / 7 * 7);
    CHECK((said == 1 || found.at(two).vote.term >= said - 1));
    // A torn snapshot is not written again: the next one comes 20 entries later.
    const Index newest = (said - 1) / 20 * 20;
    CHECK(log.snapshot->index >= (newest > before ? newest - 5 : snapshot));
    snapshot = log.snapshot->index;
    said = last;
  }
  CHECK(segments_in(directory.path()) < 20);
}

TEST_CASE("a full disk loses nothing and is said, and the store goes on by itself when there is room") {
  const TemporaryDirectory directory;
  const SmallDisk disk(directory.path());
  if (!disk.there) {
    WARN("no file system of our own: this needs root");
    return;
  }
  const std::string ballast = (disk.path / "ballast").string();
  std::ofstream(ballast) << std::string(28 * 1024, 'x');
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<bool> said_full;
  const auto on_full = [&](bool full) {
    const std::lock_guard lock(mutex);
    said_full.push_back(full);
    changed.notify_all();
  };
  Index last = 0, said = 0;
  const auto hand_over = [&](Store& store) {
    const Index index = ++last;
    store.write(one, entries_of(index, index), [&, index] {
      const std::lock_guard lock(mutex);
      said = index;
      changed.notify_all();
    });
  };
  const bool is_made_room = GENERATE(true, false);
  {
    const auto store = open_store(disk.path, small, on_full);
    store->write(one, snapshot_of(0), {});
    const auto stuck = [&] {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return said == last || !said_full.empty(); });
      return said < last;
    };
    do {
      REQUIRE(last < 1000);
      hand_over(*store);
    } while (!stuck());
    CHECK(store->full());
    for (int i = 0; i < 3; ++i) hand_over(*store);
    CHECK(store->waiting_bytes() >= 4 * log::record_bytes(8));
    if (is_made_room) {
      std::filesystem::remove(ballast);
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return said == last; });
      CHECK(said_full == std::vector<bool>{true, false});
      CHECK_FALSE(store->full());
    }
  }
  CHECK(said == (is_made_room ? last : last - 4));
  const auto found = open_store(disk.path)->take_logs();
  CHECK(found.at(one).entries.size() == said);
}
