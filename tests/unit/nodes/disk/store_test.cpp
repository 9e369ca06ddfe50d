// The store of a node: what is written through it is there at the next start, and what nobody needs is not.
#include "nodes/disk/store.hpp"

#include <fstream>
#include <future>

#include "libdag/consensus/records.hpp"
#include "tests/support/same_stored.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/unit/nodes/disk/store_world.hpp"

using namespace dag;
using namespace dag::test;

namespace {

/// As the file has it now; for a log of one segment.
std::size_t records_in(const std::filesystem::path& directory) {
  std::ifstream file(directory / "segment-1", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto bytes = std::as_bytes(std::span(text));
  std::size_t count = 0;
  log::scan(log::read_head(bytes).value(), bytes, [&](const log::Record&) { ++count; });
  return count;
}

/// A possible next write of a replica, or nothing: the job is forgotten.
std::optional<StoredChange> something(const Stored& log, Random& random) {
  const auto term = static_cast<Term>(random.below(4));
  if (!log.snapshot) {
    if (random.chance(0.3)) return Vote{term + 1, ProcessId{2}};
    return snapshot_of(random.below(5));
  }
  const Index base = log.snapshot->index, last = base + log.entries.size();
  if (random.chance(0.02)) return std::nullopt;
  if (random.chance(0.2)) return Vote{term, std::nullopt};
  if (random.chance(0.1)) {
    const Index index = base + random.below(log.entries.size() + 3);
    Snapshot next = snapshot_of(index, random.below(2000));
    const bool goes_on = next.index > base && next.index <= last && random.chance(0.9);
    next.term = goes_on ? log.entries[next.index - base - 1].term : term;
    return next;
  }
  StoredEntries more = entries_of(last + 1, last + 1 + random.below(3));
  if (random.chance(0.1)) more.from = base + 1 + random.below(log.entries.size() + 1);
  for (Entry& entry : more.entries) entry.term = term;
  if (random.chance(0.1)) more.entries.front() = {term, EntryType::configuration, {}, alone};
  return more;
}

}  // namespace

TEST_CASE("a start finds of each job what was written, however often there was one") {
  // A snapshot lies in one record with the entries behind it. Without slack jobs are written again all the
  // time.
  const std::size_t slack_bytes = GENERATE(std::size_t{64} << 20, std::size_t{0});
  const log::LogOptions options{log::head_bytes + 65'536, 1024, slack_bytes};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const TemporaryDirectory directory;
    std::map<JobId, Stored> model;
    for (int life = 0; life < 8; ++life) {
      const auto store = open_store(directory.path(), options);
      const auto found = store->take_logs();
      REQUIRE(found.size() == model.size());
      for (const auto& [job, log] : model) {
        CAPTURE(job.value, life);
        REQUIRE(found.contains(job));
        REQUIRE(same(found.at(job), log));
      }
      for (std::uint64_t step = random.below(150); step > 0; --step) {
        const JobId job{1 + random.below(3)};
        const auto change = something(model[job], random);
        if (change) {
          model[job].put(*change);
          store->write(job, *change, {});
        } else {
          store->forget(job);
          model.erase(job);
        }
      }
      std::erase_if(model, [](const auto& job) { return same(job.second, Stored{}); });
    }
  }
}

TEST_CASE("what comes for a job that was just forgotten is not written, and costs nothing") {
  const TemporaryDirectory directory;
  {
    const auto store = open_store(directory.path());
    store->write(one, snapshot_of(0), {});
    store->write(two, snapshot_of(0), {});
    store->forget(one);
    store->write(one, entries_of(1, 3), [] { FAIL("nobody waits for it"); });
    Told told;
    store->write(two, entries_of(1, 1), told.one_more());
    told.wait(1);
    CHECK(store->waiting_bytes() == 0);
  }
  const auto found = open_store(directory.path())->take_logs();
  CHECK(found.size() == 1);
  CHECK(found.contains(two));
}

TEST_CASE("several threads write; each job's changes are said to be written in their order, and are") {
  const TemporaryDirectory directory;
  constexpr std::uint64_t threads = 4, changes = 300;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> said;  // by the store's thread
  {
    const auto store = open_store(directory.path());
    std::vector<std::thread> writers;
    for (std::uint64_t job = 1; job <= threads; ++job) {
      writers.emplace_back([&, job] {
        store->write(JobId{job}, snapshot_of(0), [&, job] { said.emplace_back(job, 0); });
        for (std::uint64_t index = 1; index <= changes; ++index) {
          store->write(JobId{job}, entries_of(index, index),
                       [&, job, index] { said.emplace_back(job, index); });
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
  }
  CHECK(said.size() == threads * (changes + 1));
  std::map<std::uint64_t, std::uint64_t> next;
  for (const auto& [job, index] : said) REQUIRE(next[job]++ == index);
  const auto found = open_store(directory.path())->take_logs();
  Stored expected;
  expected.put(snapshot_of(0));
  expected.put(entries_of(1, changes));
  for (std::uint64_t job = 1; job <= threads; ++job) CHECK(same(found.at(JobId{job}), expected));
}

TEST_CASE("what is handed over while the disk is busy is written at once, and said in its order") {
  const TemporaryDirectory directory;
  const auto store = open_store(directory.path(), {std::size_t{1} << 20, std::size_t{1} << 20});
  write_and_wait(*store, one, snapshot_of(0));
  write_and_wait(*store, two, snapshot_of(0));
  CHECK(store->waiting_bytes() == 0);
  std::promise<void> busy, go_on;
  store->write(one, entries_of(1, 1), [&] {
    busy.set_value();
    go_on.get_future().wait();
  });
  busy.get_future().wait();
  Told told;
  std::vector<int> order;
  std::size_t there = 0;  // records, when the first of these changes was said to be
  for (int i = 0; i < 40; ++i) {
    const Index index = static_cast<Index>(i) / 2 + (i % 2 == 0 ? 2 : 1);
    store->write(i % 2 == 0 ? one : two, entries_of(index, index), [&, i, more = told.one_more()] {
      if (order.empty()) there = records_in(directory.path());
      order.push_back(i);
      more();
    });
  }
  CHECK(store->waiting_bytes() >= 40 * log::record_bytes(8));
  CHECK(told.count() == 0);
  go_on.set_value();
  told.wait(40);
  CHECK(there == 43);
  CHECK(std::ranges::is_sorted(order));
}

TEST_CASE("a disk that takes nothing for seconds is stuck, until it does") {
  struct Slow : Files {
    bool sync(const OwnedFile& file) override {
      if (slow.exchange(false)) go_on.get_future().wait();
      return Files::sync(file);
    }
    std::atomic<bool> slow{false};
    std::promise<void> go_on;
  } files;
  const TemporaryDirectory directory;
  const auto store = Store::open(directory.path(), {}, {}, files).value_or_throw();
  write_and_wait(*store, one, snapshot_of(0));
  CHECK_FALSE(store->stuck());
  CHECK(store->lag() == Duration{0});
  store->take_longest_lag();
  files.slow = true;
  Told told;
  store->write(one, entries_of(1, 1), told.one_more());
  while (!store->stuck()) REQUIRE(told.count() == 0);
  files.go_on.set_value();
  told.wait(1);
  write_and_wait(*store, one, entries_of(2, 2));
  CHECK_FALSE(store->stuck());
  CHECK(store->take_longest_lag() > Store::stuck_after);
  CHECK(store->take_longest_lag() < Store::stuck_after);
}

TEST_CASE("segments go when no job needs them: not before each has a snapshot") {
  const TemporaryDirectory directory;
  std::map<JobId, Stored> model;
  const auto put = [&](Store& store, JobId job, const StoredChange& change) {
    model[job].put(change);
    write_and_wait(store, job, change);
  };
  {
    const auto store = open_store(directory.path());
    for (const JobId job : {one, two}) put(*store, job, Vote{3, ProcessId{1}});
    for (const JobId job : {one, two}) put(*store, job, snapshot_of(0));
    for (Index index = 1; index <= 200; ++index) {
      for (const JobId job : {one, two}) put(*store, job, entries_of(index, index));
    }
    const std::size_t before = segments_in(directory.path());
    REQUIRE(before > 5);
    put(*store, one, snapshot_of(190));
    CHECK(segments_in(directory.path()) >= before);
    put(*store, two, snapshot_of(195));
    CHECK(segments_in(directory.path()) <= 2);
  }
  {
    const auto store = open_store(directory.path());
    const auto found = store->take_logs();
    for (const auto& [job, log] : model) CHECK(same(found.at(job), log));
    CHECK(found.at(one).entries.size() == 10);
    // Found entries count as written: one job's snapshot does not let the other's go.
    for (Index index = 201; index <= 400; ++index) put(*store, one, entries_of(index, index));
    put(*store, one, snapshot_of(400));
    CHECK(segments_in(directory.path()) > 2);
    Told told;
    store->forget(two);
    store->write(one, Vote{9, {}}, told.one_more());
    told.wait(1);
    CHECK(segments_in(directory.path()) <= 2);
  }
  CHECK(same(open_store(directory.path())->take_logs().at(one), [&] {
    model[one].put(Vote{9, {}});
    return model[one];
  }()));
}

TEST_CASE("a job that says nothing for long does not keep the segments of one that says much") {
  constexpr log::LogOptions tight{small.segment_bytes, small.batch_bytes_max, 2 * small.segment_bytes};
  constexpr JobId voted{3};
  const TemporaryDirectory directory;
  std::map<JobId, Stored> model;
  const auto put = [&](Store& store, JobId job, const StoredChange& change) {
    model[job].put(change);
    write_and_wait(store, job, change);
  };
  for (Index life = 0; life < 3; ++life) {
    const auto store = open_store(directory.path(), tight);
    const auto found = store->take_logs();
    REQUIRE(found.size() == model.size());
    for (const auto& [job, log] : model) CHECK(same(found.at(job), log));
    if (life == 0) {
      put(*store, voted, Vote{7, ProcessId{2}});
      put(*store, one, Vote{3, ProcessId{1}});
      put(*store, one, snapshot_of(0));
      put(*store, one, entries_of(1, 5));
      put(*store, two, snapshot_of(0));
    }
    if (life == 2) put(*store, one, entries_of(6, 6));  // The log continues where it was.
    std::size_t most = 0;
    for (Index index = life * 2000 + 1; index <= (life + 1) * 2000; index += 10) {
      put(*store, two, entries_of(index, index + 9));
      if (index % 20 == 1) put(*store, two, snapshot_of(index + 9));
      most = std::max(most, segments_in(directory.path()));
    }
    CHECK(most <= 6);
  }
  const auto store = open_store(directory.path(), tight);
  CHECK(store->forgotten().empty());
  const auto found = store->take_logs();
  CHECK(found.size() == 3);
  for (const auto& [job, log] : model) CHECK(same(found.at(job), log));
}

TEST_CASE("a job that has only voted needs its newest vote") {
  const TemporaryDirectory directory;
  {
    const auto store = open_store(directory.path());
    write_and_wait(*store, two, Vote{1, ProcessId{1}});
    write_and_wait(*store, one, snapshot_of(0));
    for (Index index = 1; index <= 200; ++index) write_and_wait(*store, one, entries_of(index, index));
    write_and_wait(*store, one, snapshot_of(200));
    CHECK(segments_in(directory.path()) > 2);
    write_and_wait(*store, two, Vote{2, ProcessId{1}});
    CHECK(segments_in(directory.path()) <= 2);
    for (Index index = 201; index <= 400; ++index) write_and_wait(*store, one, entries_of(index, index));
    write_and_wait(*store, one, snapshot_of(400));
  }
  const auto found = open_store(directory.path())->take_logs();
  CHECK(found.at(two).vote == Vote{2, ProcessId{1}});
}

TEST_CASE("segments that a life before did not come to give back go at the start") {
  const TemporaryDirectory directory;
  Stored log;
  {
    auto files =
        SegmentFiles::open(directory.path(), small, [](const log::Record&, std::uint64_t) {}).value();
    log::LogMachine machine(files->identity(), small, files->end());
    for (const StoredChange& change :
         std::vector<StoredChange>{snapshot_of(0), entries_of(1, 200), snapshot_of(195)}) {
      log.put(change);
      each_record(one, change, log, [&](const log::Record& record) { machine.append(record); });
    }
    while (const auto batch = machine.next_batch()) {
      REQUIRE(files->write(*batch));
      machine.on_written();
    }
  }
  REQUIRE(segments_in(directory.path()) > 2);
  for (int life = 0; life < 2; ++life) CHECK(same(open_store(directory.path())->take_logs().at(one), log));
  CHECK(segments_in(directory.path()) <= 2);
}

TEST_CASE("a job that was forgotten is not there at the next start, and can be begun again") {
  const TemporaryDirectory directory;
  {
    const auto store = open_store(directory.path());
    for (const JobId job : {one, two}) {
      store->write(job, Vote{5, ProcessId{1}}, {});
      store->write(job, snapshot_of(0), {});
      store->write(job, entries_of(1, 3), {});
    }
    store->forget(one);
  }
  {
    const auto store = open_store(directory.path());
    const auto found = store->take_logs();
    CHECK_FALSE(found.contains(one));
    CHECK(found.at(two).entries.size() == 3);
    store->write(one, snapshot_of(7), {});
    store->forget(two);
  }
  const auto found = open_store(directory.path())->take_logs();
  CHECK_FALSE(found.contains(two));
  CHECK(found.at(one).snapshot->index == 7);
  CHECK(found.at(one).vote == Vote{});
}

TEST_CASE("which jobs were forgotten stays known when their segments are used again") {
  const TemporaryDirectory directory;
  constexpr std::uint64_t jobs = 300;
  const auto forgot_all = [&](const IdSet& said) {
    return said.ranges() == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{10, 10 + jobs - 1}};
  };
  {
    const auto store = open_store(directory.path());
    CHECK(store->forgotten().empty());
    for (std::uint64_t job = 10; job < 10 + jobs; ++job) {
      write_and_wait(*store, JobId{job}, snapshot_of(0));
      store->forget(JobId{job});
    }
    // Nothing else is needed, so all segments but the last have gone, and the tombstones with them.
    write_and_wait(*store, one, Vote{1, {}});
    write_and_wait(*store, one, Vote{2, {}});
    CHECK(segments_in(directory.path()) <= 2);
  }
  for (int life = 0; life < 2; ++life) {
    const auto store = open_store(directory.path());
    CHECK(forgot_all(store->forgotten()));
    CHECK(store->take_logs().size() == 1);
    for (std::uint64_t term = 3; term < 300; ++term) write_and_wait(*store, one, Vote{3, {}});
    CHECK(segments_in(directory.path()) <= 2);
  }
  CHECK(forgot_all(open_store(directory.path())->forgotten()));
}
