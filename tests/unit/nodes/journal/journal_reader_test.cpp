// Clients read a journal: all that it has of their job, a file at a time, while it is written.
#include "nodes/journal/journal_reader.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <future>

#include "tests/support/temporary_directory.hpp"

using namespace dag;
using namespace dag::test;

namespace {

JournalEvent settled(JobId job, std::uint32_t task) {
  return {
      Instant{Duration(task)}, {{3}}, job, {0, task}, {{1, 1}, 1}, event::Settled{Outcome::finished, "step"}};
}
std::vector<JournalEvent> records_in(const JournalPage& page) {
  std::vector<JournalEvent> records;
  if (!page.bytes) return records;
  const auto read =
      read_journal(page.bytes.bytes(), [&](const JournalEvent& record) { records.push_back(record); });
  REQUIRE(read);
  CHECK(read->head.process == Life{{3}, {7}});
  return records;
}
std::vector<std::uint32_t> all_of(const std::string& directory, std::optional<JobId> job) {
  std::vector<std::uint32_t> tasks;
  for (JournalPlace read;;) {
    const JournalPage page = read_journal_page(directory, {1, job, read});
    for (const JournalEvent& record : records_in(page)) tasks.push_back(record.task.index);
    if (page.read.file == 0) return tasks;
    read = page.read;
  }
}

}  // namespace

TEST_CASE(
    "of many files, each page has what one of them has of the job, and no record is missed or doubled") {
  const TemporaryDirectory directory;
  JournalLimits limits;
  limits.file_bytes = 300;
  std::vector<std::uint32_t> of_job;
  {
    Journal journal(
        directory.path().string(), {{3}, {7}}, [](const std::string& line) { FAIL(line); }, files_of_host(),
        limits);
    for (std::uint32_t task = 0; task < 200; ++task) {
      journal.record(settled(JobId{task < 120 && task % 7 == 0 ? 7u : 8u}, task));
      if (task < 120 && task % 7 == 0) of_job.push_back(task);
      journal.flush();
    }
  }
  const std::string path = directory.path().string();
  CHECK(all_of(path, JobId{7}) == of_job);
  CHECK(all_of(path, JobId{8}).size() == 200 - of_job.size());
  CHECK(all_of(path, JobId{9}).empty());
  CHECK(all_of(path + "/no-such", JobId{7}).empty());
}

TEST_CASE("of all jobs it is said when they began and ended") {
  const TemporaryDirectory directory;
  {
    Journal journal(directory.path().string(), {{3}, {7}}, [](const std::string& line) { FAIL(line); });
    journal.record({Instant{}, {{3}}, {7}, {}, {}, event::JobBegan{"train", 2}});
    journal.record(settled({7}, 1));
    journal.record({Instant{}, {{3}}, {7}, {}, {}, event::JobOver{2, 0, 0, 0, {}}});
  }
  const JournalPage page = read_journal_page(directory.path().string(), {});
  const std::vector<JournalEvent> records = records_in(page);
  REQUIRE(records.size() == 2);
  CHECK(std::get<event::JobBegan>(records[0].what).name == "train");
  CHECK(std::get<event::JobOver>(records[1].what).finished == 2);
}

TEST_CASE("a file that is damaged is told of, and so is what to make room") {
  const TemporaryDirectory directory;
  {
    Journal journal(directory.path().string(), {{3}, {7}}, [](const std::string& line) { FAIL(line); });
    journal.record(settled({7}, 1));
  }
  std::filesystem::rename(directory.path() / "journal-1", directory.path() / "journal-5");
  std::ofstream(directory.path() / "journal-6") << "not a journal";
  const auto behind = [&](JournalPlace read) {
    return read_journal_page(directory.path().string(), {1, JobId{7}, read});
  };
  const JournalPage page = behind({});
  CHECK(page.read.file == 5);
  REQUIRE(page.notices.size() == 1);
  CHECK_THAT(page.notices[0], Catch::Contains("to make room"));
  const JournalPage next = behind(page.read);
  CHECK(next.read.file == 6);
  REQUIRE(next.notices.size() == 1);
  CHECK_THAT(next.notices[0], Catch::Contains("journal-6 is left out"));
  CHECK(behind(next.read).read.file == 0);
  // A place of another life of the node, or before files that are there now.
  for (const JournalPlace gone : {JournalPlace{9, 100, 7}, JournalPlace{5, page.read.bytes, 6}}) {
    const JournalPage anew = behind(gone);
    CHECK(anew.read.file == 5);
    REQUIRE(anew.notices.size() == 2);
    CHECK_THAT(anew.notices[0], Catch::Contains("started again"));
  }
  const JournalPage later = behind({4, 100, 7});  // The lost file may have had more.
  CHECK(later.read.file == 5);
  REQUIRE(later.notices.size() == 1);
  CHECK_THAT(later.notices[0], Catch::Contains("to make room"));
}

TEST_CASE("who follows a journal gets what was written since, and of that what is said and printed alone") {
  const TemporaryDirectory directory;
  const std::string path = directory.path().string();
  Journal journal(path, {{3}, {7}}, [](const std::string& line) { FAIL(line); });
  client::AskJournal ask{1, JobId{7}, {}, true};
  CHECK(read_journal_page(path, ask).read.file == 0);
  for (std::uint32_t task = 0; task < 5; ++task) {
    journal.record(settled({7}, task));
    journal.record({Instant{}, {{3}, 1}, {7}, {0, task}, {{1, 1}, 1}, event::Said{"step", "a line"}});
    journal.record({Instant{}, {{3}}, {8}, {}, {}, event::Printed{"of another job\n"}});
    journal.flush();
    const JournalPage page = read_journal_page(path, ask);
    const std::vector<JournalEvent> records = records_in(page);
    REQUIRE(records.size() == 1);
    CHECK(records[0].task.index == task);
    CHECK(page.read.bytes > ask.read.bytes);
    ask.read = page.read;
    CHECK(read_journal_page(path, ask).read.file == 0);
  }
  // A block that is being written.
  std::ofstream(path + "/journal-1", std::ios::binary | std::ios::app) << "block";
  CHECK(read_journal_page(path, ask).read.file == 0);
}

TEST_CASE("of what is said and printed, only what the tasks said that were asked for") {
  const TemporaryDirectory directory;
  {
    Journal journal(directory.path().string(), {{3}, {7}}, [](const std::string& line) { FAIL(line); });
    for (std::uint32_t task = 0; task < 6; ++task) {
      const std::string name = task % 2 == 0 ? "even" : "odd";
      journal.record({Instant{}, {{3}, 1}, {7}, {0, task}, {{1, 1}, 1}, event::Said{name, "a line"}});
      journal.record({Instant{}, {{3}, 1}, {7}, {}, {}, event::Printed{"of no task\n"}});
    }
  }
  const auto tasks_of = [&](const TaskSelector& which) {
    std::vector<std::uint32_t> tasks;
    for (const JournalEvent& record :
         records_in(read_journal_page(directory.path().string(), {1, JobId{7}, {}, true, which})))
      tasks.push_back(record.task.index);
    return tasks;
  };
  CHECK(tasks_of({}).size() == 12);
  CHECK(tasks_of({"odd", {}}) == std::vector<std::uint32_t>{1, 3, 5});
  CHECK(tasks_of({"", {{0, 4}}}) == std::vector<std::uint32_t>{4});
  CHECK(tasks_of({"no such", {}}).empty());
}

TEST_CASE("what was recorded before the question is in the answer") {
  const TemporaryDirectory directory;
  Journal journal(directory.path().string(), {{3}, {7}}, [](const std::string& line) { FAIL(line); });
  JournalReader reader(journal, directory.path().string());
  for (std::uint32_t task = 0; task < 20; ++task) {
    journal.record(settled({7}, task));
    std::promise<client::Answer> answered;
    reader.read({task, JobId{7}, {}}, [&](client::Answer answer) { answered.set_value(std::move(answer)); });
    const client::Answer answer = answered.get_future().get();
    CHECK(answer.number == task);
    REQUIRE(answer.journal);
    CHECK(records_in(*answer.journal).size() == task + 1);
  }
}
