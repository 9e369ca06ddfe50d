// Journals of several nodes as one story, and what is said of what cannot be read of them.
#include "libdag/story/journal_view.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "libdag/client/explain.hpp"
#include "libdag/journal/journal.hpp"
#include "tests/support/graph_records.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;
using namespace dag::detail;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// Its clock began so many seconds after 1970.
void write(const fs::path& file, std::uint32_t node, std::int64_t began_s,
           const std::vector<JournalEvent>& records, std::uint64_t dropped = 0) {
  fs::create_directories(file.parent_path());
  JournalWriter writer;
  for (const JournalEvent& record : records) writer.add(record);
  std::ofstream out(file, std::ios::binary);
  for (const auto& bytes :
       {encode_head({{{node}, {1}}, began_s * 1'000'000'000}), writer.take_block(dropped)})
    out.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

JournalEvent at(Duration time, TaskId task, EventWhat what) {
  return {Instant{time}, {{0}}, {7}, task, {}, std::move(what)};
}
JournalEvent settled(Duration time, std::uint32_t task, Outcome outcome = Outcome::finished) {
  return at(time, {0, task}, event::Settled{outcome, "step" + std::to_string(task)});
}

std::vector<std::string> all_of(JournalView& view) {
  std::vector<std::string> lines;
  while (const auto entry = view.next()) {
    const JournalLine line = line_of(*entry);
    lines.push_back(to_string(line.node.process) + " " + std::to_string(line.unix_ns / 1'000'000'000) + " " +
                    line.kind + " " + line.name + (line.failed ? "!" : ""));
  }
  return lines;
}

}  // namespace

TEST_CASE("journals of several nodes are told in the order of time") {
  const test::TemporaryDirectory directory;
  // A process that started later has a clock that began later.
  write(directory.path() / "n0/journal/journal-1", 0, 100, {settled(5s, 1), settled(1s, 0)});
  write(directory.path() / "n0/journal/journal-2", 0, 200, {settled(1s, 4)});
  write(directory.path() / "n1/journal/journal-1", 1, 102,
        {settled(1s, 2, Outcome::failed), at(9s, {}, event::HomeGiven{0, {{1}, {1}}, {1, 1}})});
  fs::create_directories(directory.path() / "n2/journal");
  JournalView view({directory.path().string()});
  CHECK(all_of(view) == std::vector<std::string>{"n0 101 settled step0", "n1 103 settled step2!",
                                                 "n0 105 settled step1", "n1 111 home_given ",
                                                 "n0 201 settled step4"});
  CHECK(view.notices().empty());
  JournalView one({(directory.path() / "n1").string()}),
      file({(directory.path() / "n0/journal/journal-2").string()});
  CHECK(all_of(one).size() == 2);
  CHECK(all_of(file).size() == 1);
  JournalView empty({(directory.path() / "n2").string()});
  CHECK(all_of(empty).empty());
  CHECK_THROWS_WITH(JournalView({(directory.path() / "n3").string()}),
                    Catch::Contains("there is no journal in"));
}

TEST_CASE("lines are found by the names of their tasks, which the graph says, and by their numbers") {
  const test::TemporaryDirectory directory;
  // Names of another job are none of ours.
  std::vector<JournalEvent> records = test::graph_records({8}, {{}, {}}, {}, {}, "train");
  for (JournalEvent& record : test::graph_records({7}, {{}, {}}, {}, {}, "load")) records.push_back(record);
  for (JournalEvent& record : test::graph_records({7}, {{}, {}}, {0, 2}, {}, "train"))
    records.push_back(record);
  for (std::uint32_t task = 0; task < 4; ++task) records.push_back(at(1s, {0, task}, event::Started{}));
  records.push_back(at(2s, {0, 3}, event::Settled{Outcome::failed, "train"}));
  write(directory.path() / "journal/journal-1", 0, 100, records);
  const auto found = [&](const std::string& tasks, bool failed = false) {
    JournalView view({directory.path().string()});
    LineSearch search(view, {JobId{7}, selector_of(tasks, failed)});
    std::string lines;
    while (const auto line = search.next()) lines += line->kind + to_string(*line->task) + line->name + " ";
    return lines;
  };
  CHECK(found("train") == "started2train started3train settled3train ");
  CHECK(found("load") == "started0load started1load ");
  CHECK(found("1-2") == "started1 started2 ");
  CHECK(found("train/1-2") == "started2train ");
  CHECK(found("3") == "started3 settled3train ");
  CHECK(found("", true) == "settled3train ");
  CHECK(found("load", true).empty());
}

TEST_CASE("what a node leaves out of its journal makes no difference to who looks for lines of some tasks") {
  const test::TemporaryDirectory directory;
  std::vector<JournalEvent> records;
  for (const char* name : {"load", "train"}) {
    const TaskId first{0, static_cast<std::uint32_t>(records.size() > 0 ? 70 : 0)};
    for (JournalEvent& record :
         test::graph_records({7}, std::vector<std::vector<std::uint32_t>>(70), first, {}, name))
      records.push_back(std::move(record));
  }
  records.push_back(at(1s, {}, event::JobBegan{"big", 140}));
  std::mt19937 random(7);
  const auto some_task = [&] {
    const auto origin = static_cast<std::uint32_t>(
        random() % 3);  // The others are spawned, and the graph does not name them.
    return TaskId{origin, static_cast<std::uint32_t>(random() % (origin == 0 ? 140 : 10))};
  };
  const auto name_of = [](TaskId task) {
    return task.origin > 0 ? "train" : task.index < 70 ? "load" : "train";
  };
  for (int i = 0; i < 400; ++i) {
    const TaskId task = some_task();
    const Duration when = std::chrono::milliseconds(2000 + i);
    switch (random() % 4) {
      case 0:
        records.push_back(at(when, task, event::Started{}));
        break;
      case 1:
        records.push_back(at(when, task, event::Crashed{1, "signal 11"}));
        break;
      case 2: {
        const Outcome outcome = random() % 2 == 0 ? Outcome::failed : Outcome::finished;
        records.push_back(at(when, task, event::Settled{outcome, name_of(task)}));
        break;
      }
      case 3: {
        JournalEvent many = at(when, {0, 64}, event::FinishedTasks{});
        auto& finished = std::get<event::FinishedTasks>(many.what);
        finished.bits = std::uint64_t{1} << random() % 64 | std::uint64_t{1} << random() % 64;
        records.push_back(std::move(many));
        break;
      }
    }
  }
  write(directory.path() / "all/journal-1", 0, 100, records);
  const auto found = [&](const std::string& where, const TaskSelector& which) {
    JournalView view({(directory.path() / where / "journal-1").string()});
    LineSearch search(view, {JobId{7}, which});
    std::string lines;
    while (const auto line = search.next())
      lines += std::to_string(line->unix_ns) + line->kind + (line->task ? to_string(*line->task) : "") +
               line->name + " ";
    return lines;
  };
  std::size_t kept = 0, cases = 0;
  for (const char* text :
       {"", "train", "load", "71", "s1/3", "60-80", "train/60-80", "s2/1-4", "nobody", "train/0-9"}) {
    for (const bool failed : {false, true}) {
      const TaskSelector which = selector_of(text, failed);
      std::vector<JournalEvent> some;
      for (const JournalEvent& record : records) {
        if (may_matter(record, which)) some.push_back(record);
      }
      const std::string name = "some" + std::to_string(++cases);
      write(directory.path() / name / "journal-1", 0, 100, some);
      INFO(text << (failed ? " failed" : ""));
      CHECK(found(name, which) == found("all", which));
      kept += some.size();
    }
  }
  CHECK(kept < records.size() * cases / 2);  // And it is worth it.
}

TEST_CASE(
    "a journal that is cut off, damaged or foreign is told as far as it can be read, and that is said") {
  const test::TemporaryDirectory directory;
  const fs::path journal = directory.path() / "journal";
  for (const std::uint32_t number : {9u, 10u, 11u, 12u})
    write(journal / ("journal-" + std::to_string(number)), 0, number, {settled(0s, number)},
          number == 9 ? 3 : 0);
  std::ofstream(journal / "journal-10", std::ios::binary | std::ios::app) << "dblk, and no more";
  std::ofstream(journal / "journal-11", std::ios::binary) << "something else";
  std::ofstream(journal / "other") << "no journal";
  JournalView view({directory.path().string()});
  CHECK(all_of(view) ==
        std::vector<std::string>{"n0 9 settled step9", "n0 10 settled step10", "n0 12 settled step12"});
  REQUIRE(view.notices().size() == 4);
  CHECK_THAT(view.notices()[0], Catch::Contains("journal-9 is the oldest"));
  CHECK_THAT(view.notices()[1], Catch::Contains("3 records were dropped"));
  CHECK_THAT(view.notices()[2], Catch::Contains("its last 17 bytes cannot be read"));
  CHECK_THAT(view.notices()[3], Catch::Contains("journal-11 is left out"));
}

TEST_CASE("who waits for journals to be read is told how far that is, by what was told of all of them") {
  const test::TemporaryDirectory directory;
  for (std::uint32_t file = 0; file < 10; ++file) {
    std::vector<JournalEvent> records;
    for (std::uint32_t i = 0; i < 2'000; ++i) {
      const std::uint32_t task = 2'000 * file + i;
      records.push_back(settled(1ms * task, task));
    }
    for (const std::uint32_t node : {0U, 1U}) {
      write(directory.path() / ("n" + std::to_string(node)) / "journal" /
                ("journal-" + std::to_string(file + 1)),
            node, 100 * (node + 1), records);
    }
  }
  std::vector<double> parts;
  const OnProgress on_progress = [&](std::string_view doing, double part) {
    CHECK(doing == "reading the journals");
    parts.push_back(part);
  };
  JournalView view({{directory.path().string()}, on_progress});
  while (view.next()) {
  }
  CHECK(view.notices().empty());
  // Records of one node are told after those of the other: half of it when 20,000 of 40,000 were.
  REQUIRE(parts.size() == 5);
  for (std::size_t i = 0; i < parts.size(); ++i)
    CHECK(parts[i] == Approx(0.25 * static_cast<double>(i)).margin(0.01));
  std::string words;
  const JournalPaths renamed = JournalPaths({directory.path().string()}, [&](std::string_view doing, double) {
                                 words = doing;
                               }).doing("drawing");
  CHECK(JournalView(renamed).next());
  CHECK(words == "drawing");
}
