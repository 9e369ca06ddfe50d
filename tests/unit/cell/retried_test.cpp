// The start of a job that retries another: tasks that are done, and the cell made of them.
#include "libdag/cell/retried.hpp"

#include <catch2/catch.hpp>

#include "libdag/cell/cell.hpp"
#include "tests/support/small_graph.hpp"

using namespace dag;

namespace {

constexpr Instant now{};
constexpr Life life(std::uint32_t process) { return {ProcessId{process}, Incarnation{1}}; }
constexpr Epoch epoch{1, 2};

/// A job of one shard that has ended.
struct PastJob {
  detail::Builder builder;
  CellSnapshot record;

  std::uint32_t task(const char* name, const std::vector<std::uint32_t>& reads = {}) {
    const std::uint32_t added = test::add(builder, name);
    for (const std::uint32_t before : reads) builder.add_input(before);
    return added;
  }
  void policy(std::uint32_t task, const std::function<void(Policy&)>& change) {
    builder.change_policy(task, change);
  }
  void seal() {
    auto plan = std::make_shared<JobPlan>();
    plan->job = JobId{7};
    plan->graph = std::make_shared<const detail::Fragment>(builder.sealed());
    plan->shard_of.resize(plan->graph->size());
    record = genesis_of(plan, false, 1);
    record.state.version = 9;
    record.state.homes = {{life(1), epoch}};
  }
  OutcomeRecord& ended(TaskId task, Outcome outcome) {
    OutcomeRecord one;
    one.task = task;
    one.attempt = {epoch, 1};
    one.outcome = outcome;
    one.has_output = outcome == Outcome::finished;
    one.digest = 5;
    return record.shards[0].settled.emplace_back(SettledOutcome{one, life(1)}).record;
  }
  OutcomeRecord& ended(std::uint32_t task, Outcome outcome) { return ended(TaskId{0, task}, outcome); }
  void left(std::uint32_t task, std::uint64_t value) {
    ended(task, Outcome::finished).value = detail::to_blob(value);
  }
  std::vector<bool> done(const OutputsHeld& held = {}) const { return retried(record, JobId{8}, held).done; }
};

using Bits = std::vector<bool>;

}  // namespace

TEST_CASE("what finished is done, with its output; what failed and rests on it is not") {
  PastJob job;
  const auto a = job.task("a");
  const auto b = job.task("b", {a});
  const auto c = job.task("c", {b});
  const auto d = job.task("d", {a});
  job.seal();
  job.left(a, 3);
  job.ended(b, Outcome::failed);
  job.ended(c, Outcome::skipped);
  job.record.first_try = {{epoch, {message::bit_of({0, d})}}};
  const Retried again = retried(job.record, JobId{8}, {});
  CHECK(again.done == Bits{true, false, false, true});
  CHECK(again.genesis.plan->job == JobId{8});
  CHECK(again.genesis.retries == JobId{7});
  CHECK(again.genesis.state.version == 0);
  CHECK(again.genesis.counts.finished == 2);
  CHECK(again.genesis.counts.open == 2);
  REQUIRE(again.genesis.shards[0].settled.size() == 1);
  CHECK(again.genesis.shards[0].settled[0].record.value);
  CHECK(again.genesis.shards[0].settled[0].home == Life{});
  CHECK(again.genesis.first_try.at(0).tasks.at(0).bits == std::uint64_t{1} << d);
}

TEST_CASE("what finished after a tolerated failure runs again, too; what a condition skipped is done") {
  PastJob job;
  const auto bad = job.task("bad"), good = job.task("good");
  const auto summary = job.task("summary");
  job.builder.add_edge(bad, summary, detail::EdgeKind::weak);
  const auto other = job.task("other", {good});
  job.seal();
  job.ended(bad, Outcome::failed);
  job.left(good, 1);
  job.left(summary, 2);
  job.ended(other, Outcome::skipped);
  CHECK(job.done() == Bits{false, true, false, true});
}

TEST_CASE("an output that is gone is made again by its home, unless another value would be another job") {
  PastJob job;
  const auto a = job.task("a");
  const auto b = job.task("b", {a});
  const auto fails = job.task("fails", {a});
  std::function<void(Policy&)> change = [](Policy&) {};
  bool again = true;
  SECTION("a pure task") { again = false; }
  SECTION("it varies") {
    change = [](Policy& policy) { policy.varying = true; };
  }
  SECTION("it may run once") {
    change = [](Policy& policy) { policy.effects = Effects::at_most_once; };
  }
  job.policy(a, change);
  job.seal();
  job.ended(a, Outcome::finished);
  job.left(b, 1);
  job.ended(fails, Outcome::failed);
  CHECK(job.done() == Bits{!again, !again, false});
  const Retried with_output = retried(job.record, JobId{8}, {{a, detail::to_blob(std::uint64_t{4})}});
  CHECK(with_output.done == Bits{true, true, false});
  CHECK(with_output.genesis.shards[0].settled.at(0).record.value);
  CHECK(with_output.genesis.shards[0].settled.at(0).record.digest == 5);
  if (!again) CHECK(retried(job.record, JobId{8}, {}).genesis.shards[0].settled.at(0).record.digest == 0);
}

TEST_CASE(
    "an output that is too large for the record is held beside it, also of a task that was only named") {
  PastJob job;
  const auto a = job.task("a");
  const auto fails = job.task("fails", {a});
  job.seal();
  job.record.first_try = {{epoch, {message::bit_of({0, a})}}};
  job.ended(fails, Outcome::failed);
  const Blob large = Blob::make_on_heap(5000, [](std::byte* to) { std::fill_n(to, 5000, std::byte{1}); });
  const Retried again = retried(job.record, JobId{8}, {{a, large}});
  CHECK(again.genesis.first_try.empty());
  REQUIRE(again.held.size() == 1);
  CHECK(again.held[0].record.name() == OutputName{{0, a}, {epoch, 1}});
  CHECK(again.held[0].record.digest != 0);
  CHECK(again.held[0].bytes.size_bytes() == 5000);
  CHECK(again.genesis.shards[0].settled.at(0).record.digest == again.held[0].record.digest);
  CHECK_FALSE(again.genesis.shards[0].settled.at(0).record.value);
  CHECK(again.genesis.counts.finished == 1);
}

TEST_CASE("a task is done with all that it spawned, or runs again") {
  PastJob job;
  const auto parent = job.task("parent");
  const auto reader = job.task("reader", {parent});
  job.seal();
  detail::Builder spawned;
  test::add(spawned, "child");
  test::add(spawned, "tail");
  const TaskId first{1, 256};
  OutcomeRecord& growth = job.ended(parent, Outcome::none);
  growth.spawned = std::make_shared<const detail::Fragment>(spawned.sealed());
  growth.first_spawned = first;
  growth.becomes = 1;
  const Outcome child = GENERATE(Outcome::finished, Outcome::failed, Outcome::none);
  if (child != Outcome::none) job.ended(first, child);
  job.ended({first.origin, first.index + 1}, Outcome::finished).value = detail::to_blob(std::uint64_t{1});
  job.ended(parent, Outcome::finished);
  job.ended(reader, Outcome::failed);
  const Retried again = retried(job.record, JobId{8}, {});
  const bool well = child == Outcome::finished;
  CHECK(again.done == Bits{well, false});
  CHECK(again.genesis.shards[0].settled.size() == (well ? 4 : 0));
  CHECK(again.genesis.counts.finished == (well ? 3 : 0));
}

TEST_CASE("calls of a job actor are done together or run again together, and so is a group") {
  PastJob job;
  const std::uint32_t actor = test::add_actor(job.builder, "actor");
  test::add_call(job.builder, actor, "first");
  const auto second = test::add_call(job.builder, actor, "second");
  const auto apart = job.task("apart");
  const bool all_start = GENERATE(true, false);
  const auto group =
      job.builder.add_group("gang", all_start ? Strategy::one_for_all : Strategy::one_for_one, Intensity{});
  const auto one = job.task("one"), two = job.task("two");
  for (const auto member : {one, two}) job.policy(member, [&](Policy& policy) { policy.group = group; });
  job.seal();
  for (std::uint32_t task = 0; task < job.record.plan->graph->size(); ++task) {
    if (task != second && task != two) job.ended(task, Outcome::finished);
  }
  job.ended(second, Outcome::failed);
  job.ended(two, Outcome::failed);
  const Bits done = job.done();
  CHECK(done == Bits{false, false, false, true, !all_start, false});
  CHECK(done[apart]);
}

TEST_CASE("a cell that begins with what is done has its homes count, says it once, and ends with the rest") {
  PastJob job;
  const auto a = job.task("a");
  const auto b = job.task("b", {a});
  job.seal();
  job.left(a, 3);
  job.ended(b, Outcome::failed);
  CollectingEventSink records;
  CellSnapshot genesis = retried(job.record, JobId{8}, {}).genesis;
  Cell cell({life(9), 1, false}, genesis, records);
  CHECK(cell.snapshot().state.homes.at(0).epoch == epoch);
  cell.begin({life(9), life(2)}, {}, now);
  std::vector<message::Assign> assigned;
  for (CellEffect& effect : cell.take_effects()) {
    auto* sent = std::get_if<SendMessage>(&effect);
    if (sent == nullptr) continue;
    if (const auto* assign = std::get_if<message::Assign>(&sent->message)) assigned.push_back(*assign);
  }
  REQUIRE(assigned.size() == 1);
  CHECK(assigned[0].job == JobId{8});
  CHECK(assigned[0].epoch == Epoch{1, 3});
  REQUIRE(assigned[0].settled.size() == 1);
  CHECK(assigned[0].settled[0].task == TaskId{0, a});
  std::size_t settled = 0;
  for (const JournalEvent& record : records.records()) {
    settled += std::holds_alternative<event::Settled>(record.what) ? 1 : 0;
    if (const auto* began = std::get_if<event::JobBegan>(&record.what)) {
      CHECK(began->retries == JobId{7});
      CHECK(began->done == 1);
    }
  }
  CHECK(settled == 1);

  message::Outcomes outcomes;
  outcomes.job = JobId{8};
  outcomes.epoch = {1, 3};
  outcomes.number = 1;
  OutcomeRecord& last = outcomes.records.emplace_back();
  last.task = {0, b};
  last.attempt = {{1, 3}, 1};
  last.outcome = Outcome::finished;
  cell.on_message(life(2), outcomes, now);
  CHECK(cell.ended());
  CHECK(cell.counts().finished == 2);
  CHECK(cell.counts().failed == 0);
}

TEST_CASE(
    "what a task has read that did not finish stays in the record, and is named where it is not there") {
  PastJob job;
  const auto small = job.task("small"), large = job.task("large");
  const auto fails = job.task("fails", {small, large});
  const auto read = job.task("read");
  job.task("fine", {read});
  job.seal();
  CollectingEventSink records;
  Cell cell({life(9), 1, false}, genesis_of(job.record.plan, false, 1), records);
  cell.begin({life(9), life(2)}, {}, now);
  message::Outcomes outcomes;
  outcomes.job = JobId{7};
  outcomes.epoch = {1, 1};
  outcomes.number = 1;
  for (const auto task : {small, read, fails}) {
    OutcomeRecord& record = outcomes.records.emplace_back();
    record.task = {0, task};
    record.attempt = {{1, 1}, 1};
    record.outcome = task == fails ? Outcome::failed : Outcome::finished;
    record.has_output = true;
    if (task != fails) record.value = detail::to_blob(std::uint64_t{1});
  }
  outcomes.first_try = {message::bit_of({0, large})};
  outcomes.freed = {{0, small}, {0, read}};
  cell.on_message(life(2), outcomes, now);
  CHECK(cell.settled({0, small})->value);
  CHECK_FALSE(cell.settled({0, read})->value);
  CHECK(cell.unread() == std::vector<std::uint32_t>{large});
}
