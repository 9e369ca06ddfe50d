// Rot: of what a node reads at its start, one bit at a time is another. Nothing wrong is ever taken for what
// was written, and nothing ends the process. For logs of entries alone see tests/unit/log/format_test.cpp.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>

#include "libdag/consensus/records.hpp"
#include "nodes/disk/checkpoint_files.hpp"
#include "tests/support/file_text.hpp"
#include "tests/support/same_stored.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/unit/nodes/disk/store_world.hpp"

using namespace dag;
using namespace dag::test;

namespace {

namespace fs = std::filesystem;

constexpr int flips = 100'000;

/// A file of which one bit can be another for a while.
class Bytes {
 public:
  explicit Bytes(fs::path path) : path_(std::move(path)), whole_(text_of(path_)) {}
  std::size_t size_bytes() const { return whole_.size(); }
  /// Bits are counted from the file's beginning.
  void flip(std::size_t bit) const { put(bit / 8, static_cast<char>(whole_.at(bit / 8) ^ (1 << bit % 8))); }
  void restore(std::size_t bit) const { put(bit / 8, whole_.at(bit / 8)); }
  const fs::path& path() const { return path_; }
  const std::string& whole() const { return whole_; }

 private:
  void put(std::size_t at, char byte) const {
    const OwnedFile file(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file || pwrite(file.number(), &byte, 1, static_cast<off_t>(at)) != 1) FAIL(path_);
  }
  fs::path path_;
  std::string whole_;
};

/// Nothing is synced, which would take most of the time.
struct Unsynced : Files {
  bool sync(const OwnedFile&) override { return true; }
  bool sync_directory(const std::string&) override { return true; }
};

/// As a node does when it starts; without the thread that would write.
Result<std::map<JobId, Stored>> start(const fs::path& directory, Files& files) {
  consensus::StoredLogs logs;
  Status sound = Done{};
  const auto opened = SegmentFiles::open(
      directory, small,
      [&](const log::Record& record, std::uint64_t segment) {
        if (sound) sound = logs.take(record, segment);
      },
      files);
  if (!opened) return opened.error();
  if (!sound) return sound.error();
  return logs.release();
}

}  // namespace

TEST_CASE("100,000 flipped bits in a log with a snapshot: a start refuses them, or finds what was written") {
  const TemporaryDirectory place;
  Stored before, after;  // The last batch may be taken for one that was torn.
  {
    const auto store = open_store(place.path());
    for (const StoredChange& change :
         std::vector<StoredChange>{Vote{3, ProcessId{2}}, snapshot_of(7, 6000), entries_of(8, 9)}) {
      before.put(change);
      write_and_wait(*store, one, change);
    }
    after = before;
    after.put(entries_of(10, 10));
    write_and_wait(*store, one, entries_of(10, 10));
  }
  const Bytes segment(place.path() / "segment-1");
  Unsynced files;
  Random random(2);
  int refused = 0, torn = 0, harmless = 0;
  for (int flip = 0; flip < flips; ++flip) {
    const std::size_t bit = random.below(segment.size_bytes() * 8);
    segment.flip(bit);
    const auto found = start(place.path(), files);
    if (!found) {
      if (found.error().code != ErrorCode::log_damaged) FAIL(found.error().message() << " at bit " << bit);
      ++refused;
    } else if (found->contains(one) && same(found->at(one), after)) {
      ++harmless;  // Where nothing lies.
    } else if (found->contains(one) && same(found->at(one), before)) {
      ++torn;
      // The start has wiped the rest of the segment, so it is written again.
      std::ofstream(segment.path(), std::ios::binary | std::ios::trunc) << segment.whole();
    } else {
      FAIL("something else than what was written is read, at bit " << bit);
    }
    segment.restore(bit);
  }
  CHECK(refused > flips / 4);
  CHECK(torn > 0);
  CHECK(harmless > 0);
  CHECK(same(start(place.path(), files).value_or_throw().at(one), after));
}

TEST_CASE("100,000 flipped bits in a save: each is seen, and the save before it is there") {
  const TemporaryDirectory place;
  const auto save = [](std::uint32_t number) {
    return Checkpoint{
        "job7 train",
        2,
        number,
        number - 1,
        {{"stage 0", {{0, 41}, {{1, 1}, 2}}, {}, bytes_of(number, 700)},
         {"stage 1", {{3, 42}, {{1, 1}, 1}}, {{{0, 40}, {{1, 2}, 7}}}, bytes_of(number + 9, 300)}}};
  };
  for (const std::uint32_t number : {1u, 2u}) REQUIRE(write_checkpoint(place.path(), save(number)));
  const fs::path newest = save_path(place.path(), 2);
  std::vector<Bytes> parts;
  for (const char* name : {"MANIFEST", "c0", "c1"}) parts.emplace_back(newest / name);
  Random random(3);
  for (int flip = 0; flip < flips; ++flip) {
    const Bytes& part = parts[random.below(parts.size())];
    const std::size_t bit = random.below(part.size_bytes() * 8);
    part.flip(bit);
    const auto read = read_checkpoint(newest);
    if (read || read.error().code != ErrorCode::checkpoint_damaged)
      FAIL("not seen: bit " << bit << " of " << part.path());
    part.restore(bit);
  }
  CHECK(saves_in(place.path()) == std::vector<std::uint32_t>{1, 2});
  for (const std::uint32_t number : {1u, 2u}) CHECK(read_checkpoint(save_path(place.path(), number)));
}
