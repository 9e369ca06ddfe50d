// A journal is read as it was written; damage costs no more than the blocks it lies
// in.
#include "libdag/journal/journal.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "libdag/base/random.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

const JournalHead head{{{3}, {7}}, 1'795'000'000'000'000'000};

/// A record of each kind, as far as a home or a cell would write it.
std::vector<JournalEvent> one_of_each() {
  const Error error{ErrorCode::task_failed, "it threw", "look", "why"};
  const EventWhat all[] = {
      event::Ready{},
      event::Placed{{2}, "earliest finish", {{{2}, 1ms, 2us, 3s, ""}, {{4}, 0s, 0s, 0s, "no gpu"}}},
      event::Lent{{2}},
      event::Returned{"full"},
      event::Stolen{{{2}, 1}},
      event::Started{},
      event::Ended{Outcome::failed, 1500us, "it threw"},
      event::Lost{"n2 is gone"},
      event::Retried{10ms, true},
      event::Cancelled{"by its user"},
      event::Settled{Outcome::failed, "train", 3, error, 2s},
      event::OutputLost{1},
      event::Spawned{{1, 5}, {{1, 2}, 3}},
      event::Member{{{2}, {9}}, event::MemberChange::down, "its process died"},
      event::Ran{Outcome::finished, 7ms, ""},
      event::Became{{2, 8}, 1ms},
      event::StartedOver{"its input is another"},
      event::RolledBack{4, "its process is gone"},
      event::Restored{},
      event::Crashed{2, "signal 11"},
      event::HomeGiven{3, {{2}, {9}}, {1, 4}},
      event::Recounted{3, {1, 4}},
      event::TasksKnown{true, {{"train", 100}, {"a\nb", 2}}},
      event::JobBegan{"train", 102},
      event::JobOver{99, 1, 1, 1, error},
      event::FinishedTasks{0x8000'0000'0000'0005, {"train", "a\nb"}, {0, 1, 0}},
      event::GraphPart{{"train", "a\nb"}, {0, 0, 1, 3, 0x81, 7, 0}, TaskId{1, 2}},
      event::Said{"train", "loss 0.5"},
      event::Printed{"step 1\nstep 2\n", 17},
      event::InputsCame{4096, 3ms},
      event::Saved{1 << 20, 0},
      event::Leads{7},
      event::JobVerdict{3, true},
  };
  static_assert(std::size(all) == std::variant_size_v<EventWhat>, "one that is new is missing here");
  std::vector<JournalEvent> records;
  for (const EventWhat& what : all) {
    const auto number = static_cast<std::uint32_t>(records.size());
    records.push_back(
        {Instant{1s + number * 1us}, {{3}, number % 2}, {7}, {0, number}, {{1, 1}, number}, what});
  }
  return records;
}

JournalEvent settled(std::uint32_t task) {
  return {
      Instant{task * 10us}, {{3}}, {7}, {0, task}, {{1, 1}, 1}, event::Settled{Outcome::finished, "step"}};
}

std::vector<std::byte> journal_of(const std::vector<std::vector<JournalEvent>>& blocks) {
  std::vector<std::byte> file = encode_head(head);
  JournalWriter writer;
  for (const auto& records : blocks) {
    for (const JournalEvent& record : records) CHECK_FALSE(writer.add(record));
    const auto block = writer.take_block();
    file.insert(file.end(), block.begin(), block.end());
  }
  return file;
}

struct Seen {
  JournalRead read;
  std::vector<JournalEvent> records;
};
Seen seen_in(std::span<const std::byte> file) {
  Seen seen;
  seen.read = read_journal(file, [&](const JournalEvent& record) {
                seen.records.push_back(record);
              }).value_or_throw();
  CHECK(seen.read.records == seen.records.size());
  return seen;
}

}  // namespace

TEST_CASE("records are read from a journal as they were written") {
  const std::vector<JournalEvent> records = one_of_each();
  const Seen seen = seen_in(journal_of({records, {settled(1)}, {}, {settled(2), settled(3)}}));
  CHECK(seen.read.head == head);
  CHECK(seen.read.gaps.empty());
  CHECK(seen.read.torn_bytes == 0);
  REQUIRE(seen.records.size() == records.size() + 3);
  CHECK(std::equal(records.begin(), records.end(), seen.records.begin()));
  CHECK(seen.records.back() == settled(3));
}

// Packed bytes may differ from one zstd to the next, so they are read, and not written again.
TEST_CASE("a journal is read that was once written") {
  const char* source = std::getenv("DAG_TEST_SOURCE");
  const std::string name = std::string(source == nullptr ? "tests" : source) + "/golden/journals/v2";
  if (const char* bless = std::getenv("DAG_BLESS"); bless != nullptr && std::string_view(bless) == "1") {
    const auto file = journal_of({one_of_each()});
    std::ofstream(name, std::ios::binary).write(reinterpret_cast<const char*>(file.data()), std::ssize(file));
  }
  INFO(name
       << ": where JournalEvent has changed, head_magic changes with it, and DAG_BLESS=1 writes a new file");
  std::ifstream in(name, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK(seen_in(std::as_bytes(std::span(text))).records == one_of_each());
}

TEST_CASE("the beginning of a job that retries another says which, and what was done there") {
  JournalEvent record;
  record.what = event::JobBegan{"train", 102, {6}, 40};
  CHECK(seen_in(journal_of({{record}})).records == std::vector{record});
  CHECK(to_string(record.what) == "began: train, 102 tasks, 40 finished in job6");
}

TEST_CASE("a block says what was dropped, and what is too large for one is dropped") {
  JournalWriter writer;
  CHECK(writer.take_block().empty());
  JournalEvent large = settled(1);
  std::get<event::Settled>(large.what).name.assign(JournalWriter::block_bytes, 'x');
  CHECK_FALSE(writer.add(large));
  CHECK_FALSE(writer.add(settled(2)));
  std::vector<std::byte> file = encode_head(head);
  for (const auto& block : {writer.take_block(5), writer.take_block(2)})
    file.insert(file.end(), block.begin(), block.end());
  const Seen seen = seen_in(file);
  CHECK(seen.records == std::vector{settled(2)});
  CHECK(seen.read.dropped == 8);
}

TEST_CASE("a settled task takes few bytes") {
  JournalWriter writer;
  Random random(1);
  std::size_t bytes = 0, records = 0;
  for (bool full = false; !full; ++records) {
    JournalEvent record = settled(static_cast<std::uint32_t>(random.below(1'000'000)));
    record.at = Instant{Duration(random.below(1'000'000'000))};
    std::get<event::Settled>(record.what).name = "stage" + std::to_string(random.below(50));
    full = writer.add(record);
  }
  bytes = writer.take_block().size();
  CHECK(bytes / records < 24);
}

TEST_CASE("of a journal that is cut off anywhere the whole blocks before are read") {
  const auto file = journal_of({one_of_each(), {settled(1)}, {settled(2)}});
  std::size_t most = 0;
  for (std::size_t cut = encode_head(head).size(); cut < file.size(); ++cut) {
    const Seen seen = seen_in(std::span(file).first(cut));
    CHECK(seen.read.gaps.empty());
    CHECK(seen.records.size() >= most);
    most = std::max(most, seen.records.size());
  }
  CHECK(most == one_of_each().size() + 1);
  for (std::size_t cut = 0; cut < encode_head(head).size(); ++cut)
    CHECK_FALSE(read_journal(std::span(file).first(cut), [](const JournalEvent&) {}));
}

TEST_CASE("a bit that turned over costs the block that it lies in, and no other") {
  auto file = journal_of({{settled(1), settled(2)}, {settled(3)}, {settled(4)}});
  for (std::size_t bit = encode_head(head).size() * 8; bit < file.size() * 8; ++bit) {
    file[bit / 8] ^= std::byte{1} << bit % 8;
    const Seen seen = seen_in(file);
    const auto has = [&](std::uint32_t task) {
      return std::find(seen.records.begin(), seen.records.end(), settled(task)) != seen.records.end();
    };
    CHECK(has(1) == has(2));
    CHECK(int{has(1)} + int{has(3)} + int{has(4)} == 2);
    CHECK(seen.read.gaps.size() + (seen.read.torn_bytes > 0 ? 1 : 0) == 1);
    file[bit / 8] ^= std::byte{1} << bit % 8;
  }
  for (std::size_t bit = 0; bit < encode_head(head).size() * 8; ++bit) {
    file[bit / 8] ^= std::byte{1} << bit % 8;
    CHECK_FALSE(read_journal(file, [](const JournalEvent&) {}));
    file[bit / 8] ^= std::byte{1} << bit % 8;
  }
}
