// Files of a node after a loss of power, following each single change of a file.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "nodes/disk/checkpoint_files.hpp"
#include "nodes/disk/data_directory.hpp"
#include "nodes/disk/durable_file.hpp"
#include "nodes/disk/segment_files.hpp"
#include "nodes/disk/unsynced_files.hpp"
#include "tests/support/file_text.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;
using dag::test::bytes_of;
using dag::test::TemporaryDirectory;
using dag::test::text_of;

namespace {

namespace fs = std::filesystem;

struct PowerLost {};
/// REQUIRE would take the loss of power for a failure.
template <class Result>
void succeeds(const Result& result) {
  if (!result) FAIL("it failed");
}

/// The power goes when so many things have been done.
class CutFiles : public UnsyncedFiles {
 public:
  CutFiles(const fs::path& directory, std::uint64_t seed, std::uint64_t left)
      : UnsyncedFiles(directory.string(), seed), left_(left) {}
  OwnedFile make(const std::string& name) override { return cut(), UnsyncedFiles::make(name); }
  bool write(const OwnedFile& file, std::span<const std::byte> bytes, std::size_t offset) override {
    return cut(), UnsyncedFiles::write(file, bytes, offset);
  }
  bool sync(const OwnedFile& file) override { return cut(), UnsyncedFiles::sync(file); }
  bool rename(const std::string& from, const std::string& to) override {
    return cut(), UnsyncedFiles::rename(from, to);
  }
  bool remove(const std::string& name) override { return cut(), UnsyncedFiles::remove(name); }
  bool make_directory(const std::string& name) override { return cut(), UnsyncedFiles::make_directory(name); }
  bool sync_directory(const std::string& name) override { return cut(), UnsyncedFiles::sync_directory(name); }

 private:
  void cut() {
    if (left_-- == 0) throw PowerLost{};
  }
  std::uint64_t left_;
};

/// `work` is cut off after 0, 1, 2, ... changes, until it comes to its end; `check` sees what is left, with
/// other files.
template <class Work, class Check>
void cut_everywhere(Work&& work, Check&& check) {
  bool cut = true;
  for (std::uint64_t left = 0; cut; ++left) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const TemporaryDirectory place;
      const fs::path data = place.path() / "data";
      CAPTURE(left, seed);
      cut = false;
      try {
        CutFiles files(data, seed, left);
        work(data, files);
      } catch (const PowerLost&) {
        cut = true;
      }
      UnsyncedFiles files(data.string(), seed);
      check(data, files, !cut);
    }
  }
}

}  // namespace

TEST_CASE("a file that is written whole is there whole or as it was, wherever the power goes") {
  const std::string before(700, 'a'), after(3000, 'b');
  cut_everywhere(
      [&](const fs::path& data, Files& files) {
        fs::create_directories(data);
        REQUIRE(write_whole(files_of_host(), (data / "file").string(), bytes_of(before)));
        succeeds(write_whole(files, (data / "file").string(), bytes_of(after)));
      },
      [&](const fs::path& data, Files&, bool whole) {
        const std::string left = text_of(data / "file");
        CHECK((left == after || (!whole && left == before)));
      });
}

TEST_CASE("what a log has said is on the disk is there, wherever the power goes") {
  constexpr log::LogOptions small{log::head_bytes + 2048, 1 << 16};
  std::uint64_t said = 0, released = 0;
  const auto payload = [](std::uint64_t index) { return std::string(50 + index * 37 % 900, 'x'); };
  cut_everywhere(
      [&](const fs::path& data, Files& files) {
        said = released = 0;
        auto opened = SegmentFiles::open(
            data, small, [](const log::Record&, std::uint64_t) {}, files);
        REQUIRE(opened);
        log::LogMachine machine((*opened)->identity(), small, (*opened)->end());
        std::map<std::uint64_t, std::uint64_t> first_in;
        for (std::uint64_t index = 1; index <= 24;) {
          for (std::uint64_t more = 0; more <= index % 3; ++more, ++index)
            machine.append({JobId{1}, 1, index, 1, bytes_of(payload(index))});
          while (const auto batch = machine.next_batch()) {
            succeeds((*opened)->write(*batch));
            first_in.try_emplace(batch->segment, said + 1);
            said = machine.on_written();
          }
          if (first_in.size() <= 3) continue;
          first_in.erase(first_in.begin());
          released = first_in.begin()->second - 1;
          (*opened)->release_before(first_in.begin()->first);
        }
      },
      [&](const fs::path& data, Files& files, bool) {
        std::uint64_t next = 0;
        const auto opened = SegmentFiles::open(
            data, small,
            [&](const log::Record& record, std::uint64_t) {
              CHECK((next == 0 || record.index == next));
              if (next == 0) CHECK(record.index <= released + 1);
              CHECK(record.payload.size() == payload(record.index).size());
              next = record.index + 1;
            },
            files);
        REQUIRE(opened);
        CHECK((said == 0 || next > said));
      });
}

TEST_CASE("who a node is stays known, wherever the power goes") {
  std::uint32_t highest = 0;
  cut_everywhere(
      [&](const fs::path& data, Files& files) {
        highest = 0;
        for (int start = 0; start < 3; ++start) {
          const auto opened = DataDirectory::open(data.string(), {7}, files);
          REQUIRE(opened);
          highest = opened->life().incarnation.value;
        }
      },
      [&](const fs::path& data, Files& files, bool) {
        const auto opened = DataDirectory::open(data.string(), {7}, files);
        REQUIRE(opened);
        CHECK(opened->life().incarnation.value > highest);
      });
}

TEST_CASE("a save that was written is there and intact, wherever the power goes") {
  std::uint32_t written = 0;
  const auto save = [](std::uint32_t number) {
    Checkpoint checkpoint;
    checkpoint.job = "job1 test";
    checkpoint.number = number;
    checkpoint.chunks.push_back(
        {"actor", {{0, 41}, {{1, 1}, 2}}, {}, Blob(bytes_of(std::string(2000, 'c')))});
    return checkpoint;
  };
  cut_everywhere(
      [&](const fs::path& data, Files& files) {
        written = 0;
        for (std::uint32_t number = 1; number <= 4; ++number) {
          succeeds(write_checkpoint(data / "job" / "group-0", save(number), files));
          written = number;
        }
      },
      [&](const fs::path& data, Files&, bool) {
        const auto there = saves_in(data / "job" / "group-0");
        CHECK((written == 0 || (!there.empty() && there.back() >= written)));
        if (!there.empty()) CHECK(read_checkpoint(save_path(data / "job" / "group-0", there.back())));
      });
}

namespace {

/// Says what was synced.
class SyncedFiles : public Files {
 public:
  bool sync(const OwnedFile& file) override {
    synced.insert(fs::read_symlink("/proc/self/fd/" + std::to_string(file.number())));
    return Files::sync(file);
  }
  bool sync_directory(const std::string& name) override {
    synced.insert(fs::canonical(name));
    return Files::sync_directory(name);
  }
  std::set<fs::path> synced;
};

}  // namespace

TEST_CASE("what a killed process wrote is on the disk before the next start acts on it") {
  const TemporaryDirectory place;
  const fs::path data = fs::canonical(place.path()) / "data", log = data / "log";
  constexpr log::LogOptions small{log::head_bytes + 2048, 1 << 16};
  const auto ignore = [](const log::Record&, std::uint64_t) {};
  REQUIRE(DataDirectory::open(data.string(), {7}));
  {
    const auto files = SegmentFiles::open(log, small, ignore);
    REQUIRE(files);
    log::LogMachine machine((*files)->identity(), small, (*files)->end());
    machine.append({JobId{1}, 1, 1, 1, bytes_of("record")});
    REQUIRE((*files)->write(*machine.next_batch()));
  }
  SyncedFiles files;
  REQUIRE(DataDirectory::open(data.string(), {7}, files));
  CHECK(files.synced.contains(data.parent_path()));
  CHECK(files.synced.contains(data / "programs"));
  REQUIRE(SegmentFiles::open(log, small, ignore, files));
  CHECK(files.synced.contains(log / "segment-1"));
  CHECK(files.synced.contains(log));
}
