// Records that processes of jobs write to rings are in the journal of their node, however either ends.
#include "nodes/journal/event_rings.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>

#include "nodes/journal/journal.hpp"
#include "tests/support/file_text.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;
using namespace dag::test;
namespace fs = std::filesystem;

namespace {

constexpr Life self{{3}, {7}};
constexpr Life worker{{0x10003}, {1}};

JournalEvent ran(std::uint32_t task, std::uint32_t lane) {
  return {Instant{Duration(task)},
          {worker.process, lane},
          {7},
          {0, task},
          {{1, 1}, 1},
          event::Ran{Outcome::finished, Duration(5), ""}};
}

/// Where each task ran, as all files of the journal say; none twice.
std::map<std::uint32_t, std::uint32_t> lanes_in(const fs::path& directory, std::int64_t* clock = nullptr) {
  std::map<std::uint32_t, std::uint32_t> lanes;
  for (const auto& entry : fs::directory_iterator(directory)) {
    REQUIRE(journal_file_number(entry.path().filename().string()) > 0);  // No ring is left.
    const std::string text = text_of(entry.path().string());
    const auto read = read_journal(std::as_bytes(std::span(text)), [&](const JournalEvent& record) {
                        CHECK(lanes.emplace(record.task.index, record.place.lane.value_or(99)).second);
                      }).value_or_throw();
    CHECK(read.head.process == self);
    CHECK(read.dropped == 0);
    CHECK(read.unreadable == 0);
    if (clock != nullptr) *clock = read.head.clock_began_unix_ns;
  }
  return lanes;
}

/// As a process does that was given the descriptor.
EventRings opened(int descriptor) { return EventRings::open(OwnedFile(dup(descriptor))).value_or_throw(); }

const auto nobody = [](const std::string& line) { FAIL(line); };

}  // namespace

TEST_CASE(
    "what lanes and others of a process say comes into the journal while it runs, and when it has ended") {
  const TemporaryDirectory directory;
  {
    Journal journal(directory.path().string(), self, nobody);
    const int descriptor = journal.open_rings(worker, 2);
    REQUIRE(descriptor >= 0);
    const EventRings rings = opened(descriptor);
    REQUIRE(rings.count() == 4);
    EventRingWriter first(rings.ring(0)), second(rings.ring(1));
    RingEventSink others(rings.ring(3));
    CHECK(others.enabled());
    CHECK_FALSE(others.wants_runs());
    first.put(ran(0, 0));
    second.put(ran(1, 1));
    others.record(ran(2, 9));
    journal.record(ran(3, 8));
    journal.flush();
    second.put(ran(4, 1));
    journal.close_rings(worker);
    journal.flush();
    CHECK(lanes_in(directory.path()).size() == 5);
    CHECK(journal.open_rings({worker.process, {2}}, 1) >= 0);  // The worker still runs when the node ends.
  }
  CHECK(lanes_in(directory.path()) ==
        std::map<std::uint32_t, std::uint32_t>{{0, 0}, {1, 1}, {2, 9}, {3, 8}, {4, 1}});
}

TEST_CASE(
    "a kernel that cuts or overwrites the rings of its process costs what is said there, and the node "
    "lives") {
  const TemporaryDirectory directory;
  std::vector<std::string> said;
  {
    Journal journal(directory.path().string(), self, [&](const std::string& line) { said.push_back(line); });
    const int descriptor = journal.open_rings(worker, 2);
    REQUIRE(descriptor >= 0);
    const EventRings rings = opened(descriptor);
    EventRingWriter(rings.ring(0)).put(ran(0, 0));
    journal.flush();
    SECTION("cut") { REQUIRE(ftruncate(descriptor, GENERATE(0, 100, 5000)) == 0); }
    SECTION("overwritten") {
      const std::vector<char> noise(EventRings::ring_bytes(rings.count()) * rings.count(), 'x');
      REQUIRE(pwrite(descriptor, noise.data(), noise.size(), 4096) > 0);
    }
    journal.record(ran(1, 0));
    journal.flush();
    journal.close_rings(worker);
    journal.flush();
  }
  CHECK(lanes_in(directory.path()).size() == 2);
  REQUIRE(said.size() == 1);
  CHECK(said.front().find("were overwritten or cut") != std::string::npos);
}

TEST_CASE("what was left when node and process were killed together is there after the next start") {
  const TemporaryDirectory directory;
  const std::string name = (directory.path() / "rings-65539-1").string();
  constexpr std::int64_t clock = 1'600'000'000'000'000'123;  // From an earlier start of the machine.
  {
    const auto rings = EventRings::make(files_of_host(), name, {worker, clock}, 3).value_or_throw();
    EventRingWriter lane(rings.ring(1));
    for (std::uint32_t task = 0; task < 1000; ++task) lane.put(ran(task, 1));
  }
  SECTION("whole") {
    { const Journal journal(directory.path().string(), self, nobody); }
    std::int64_t told = 0;
    CHECK(lanes_in(directory.path(), &told).size() == 1000);
    CHECK(told == clock);
  }
  SECTION("cut off: there is nothing to be had of it") {
    fs::resize_file(name, GENERATE(0u, 100u, 5000u, 2'000'000u));
    { const Journal journal(directory.path().string(), self, nobody); }
    CHECK(lanes_in(directory.path()).empty());
  }
  SECTION("overwritten") {
    std::fstream(name, std::ios::binary | std::ios::in | std::ios::out)
            .seekp(4096 + EventRings::ring_bytes(3))
        << std::string(64, 'x');
    { const Journal journal(directory.path().string(), self, nobody); }
    for (const auto& entry : fs::directory_iterator(directory.path()))
      CHECK_FALSE(entry.path().filename().string().starts_with("rings"));
  }
}

TEST_CASE("what a process prints comes into the journal, line by line") {
  const TemporaryDirectory directory;
  const std::string name = (directory.path() / "job7-1.log").string();
  std::ofstream out(name);
  PrintedOutput printed(name);
  CHECK(printed.take(false).empty());
  out << "one\ntwo\nthr" << std::flush;
  CHECK(printed.take(false) == std::vector<event::Printed>{{"one\ntwo\n", 0}});
  CHECK(printed.take(false).empty());
  out << "ee\nend" << std::flush;
  CHECK(printed.take(false) == std::vector<event::Printed>{{"three\n", 0}});
  CHECK(printed.take(true) == std::vector<event::Printed>{{"end", 0}});

  const std::string long_line(PrintedOutput::piece_bytes_max + 10, 'x');
  out << long_line << std::flush;
  REQUIRE(printed.take(false).size() == 1);  // Its beginning cannot wait for ever.
  CHECK(printed.take(true).size() == 1);

  SECTION("of a flood the newest") {
    const std::string line(1023, 'y');
    constexpr std::uint64_t lines = 40'000;
    for (std::uint64_t i = 0; i < lines; ++i) out << line << '\n';
    out.flush();
    std::uint64_t got = 0, left_out = 0;
    for (;;) {
      const auto pieces = printed.take(true);
      if (pieces.empty()) break;
      for (const event::Printed& piece : pieces) {
        got += piece.text.size();
        left_out += piece.left_out;
        CHECK(piece.text.size() % 1024 == 0);  // Whole lines, also behind what is left out.
      }
    }
    CHECK(got + left_out == lines * 1024);
    CHECK(got == PrintedOutput::behind_bytes_max);
    CHECK(left_out > 0);
    struct stat about {};
    REQUIRE(stat(name.c_str(), &about) == 0);
    CHECK(static_cast<std::uint64_t>(about.st_blocks) * 512 < 2 * PrintedOutput::kept_bytes + (1u << 20));
  }
  SECTION("by way of a journal") {
    const std::string path = (directory.path() / "journal").string();
    {
      Journal journal(path, self, nobody);
      std::ofstream(name) << "a\nb";
      REQUIRE(journal.open_rings(worker, 1, OutputOf{JobId{7}, name}) >= 0);
      journal.flush();
      journal.close_rings(worker);
      journal.flush();
    }
    std::string text;
    std::ifstream in(path + "/journal-1", std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    REQUIRE(read_journal(std::as_bytes(std::span(file)), [&](const JournalEvent& record) {
      CHECK(record.job == JobId{7});
      CHECK(record.place == EventPlace{worker.process});
      text += std::get<event::Printed>(record.what).text;
    }));
    CHECK(text == "a\nb");
  }
  SECTION("a file that is not there says nothing") {
    CHECK(PrintedOutput("/no/such/file").take(true).empty());
  }
}

TEST_CASE("a disk without room for rings costs what happens in that process, and says so") {
  struct NoFiles : Files {
    OwnedFile make(const std::string&) override {
      errno = ENOSPC;
      return {};
    }
  } disk;
  const TemporaryDirectory directory;
  std::vector<std::string> said;
  Journal journal(
      directory.path().string(), self, [&](const std::string& line) { said.push_back(line); }, disk);
  CHECK(journal.open_rings(worker, 2) == -1);
  journal.close_rings(worker);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], Catch::Contains("cannot be made") && Catch::Contains("No space left"));
}
