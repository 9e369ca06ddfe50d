// Entries of a cell's log are read as they were written, and all other bytes are refused.
#include "libdag/wire/cell_log.hpp"

#include <catch2/catch.hpp>
#include <dag/dag.hpp>

#include "libdag/graph/written_bytes.hpp"
#include "tests/support/samples.hpp"
#include "tests/support/small_graph.hpp"

using namespace dag;
using namespace dag::wire;

namespace {

constexpr Life life(std::uint32_t process) { return {ProcessId{process}, Incarnation{3}}; }
/// Where the code of small graphs is.
const CodeMap codes({{reinterpret_cast<std::uintptr_t>(&test::code_place), 1}});

std::vector<std::byte> bytes_of(const Blob& blob) { return {blob.bytes().begin(), blob.bytes().end()}; }

message::Outcomes outcomes() {
  message::Outcomes said;
  said.job = JobId{7};
  said.shard = 1;
  said.epoch = {1, 2};
  said.number = 4;
  said.first_step = 9;
  said.steps = {{1, 0, 1, 0, 1, 3}};
  said.first_try = {{{0, 64}, 5}};
  said.needs = {{{0, 3}, {{1, 1}, 2}}};
  OutcomeRecord record;
  record.task = {0, 2};
  record.attempt = {{1, 2}, 1};
  record.outcome = Outcome::failed;
  record.error = Error{ErrorCode::task_failed, "it threw", "look"};
  said.records = {record};
  said.rows_open = 6;
  return said;
}

std::vector<CellCommand> written_commands() {
  const LifeEnd how{ProcessEnd::killed, "signal 9", {{{0, 4}, {{1, 1}, 2}, 3, 1}}, 3};
  return {command::Lead{life(1), {life(1), life(2)}, {life(4)}},
          command::Said{life(2), outcomes()},
          command::Said{life(2), message::JobFailed{JobId{7}, 1, {1, 2}, {ErrorCode::internal, "no", ""}}},
          command::LivesUp{{life(3), life(5)}},
          command::LifeDown{life(3), how},
          command::Keep{{{0, 1}, {2, 5}}},
          command::Cancel{},
          command::Cancel{{{0, 1}}},
          command::Stop{{ErrorCode::memory_exhausted, "full", "less"}},
          command::Close{}};
}

Submission written_submission() {
  return {{{1, 2, 3}, "4f1de2", {"train", "--epochs", "3"}, "/home"},
          true,
          1'795'000'000'000'000'000,
          0,
          JobId{4}};
}

/// Sets fields that neither the value nor a sample of a message sets.
template <class T>
T filled(T value) {
  test::SaidFields fields = samples::said();
  fields.look(value);
  fields.fill(value);
  return value;
}
std::vector<CellCommand> commands() { return filled(written_commands()); }
Submission submission() { return filled(written_submission()); }

CellSnapshot written_snapshot() {
  detail::Builder builder;
  for (const char* name : {"a", "b", "c"}) test::add(builder, name);
  test::strong(builder, 0, 1);
  auto plan = std::make_shared<JobPlan>();
  plan->job = JobId{7};
  plan->graph = std::make_shared<const detail::Fragment>(builder.sealed());
  plan->shard_of = {0, 1, 1};
  plan->shards = 2;
  CellSnapshot whole = genesis_of(plan, false, 3);
  whole.state.job = plan->job;
  whole.state.version = 8;
  whole.state.lives = {life(1), life(2)};
  whole.state.homes = {{life(1), {1, 1}}, {life(2), {1, 2}}};
  whole.state.cell = life(1);
  whole.state.term = 5;
  whole.state.replicas = 3;
  whole.state.recorders = {life(1)};
  OutcomeRecord record;
  record.task = {0, 0};
  record.attempt = {{1, 1}, 1};
  record.outcome = Outcome::finished;
  whole.shards[0] = {3, 2, 0, true, 2, {}, {{record, life(1)}}};
  whole.shards[1] = {1, 1, 6, true, 9, {outcomes()}, {}};
  whole.first_try = {{{1, 2}, {{{0, 0}, 4}}}};
  whole.tried = {{{0, 1}, 2}};
  whole.state.suspects = {{{0, 2}, 1, "signal 9"}};
  whole.kept = {{0, 2}};
  whole.cancelled = {{0, 1}};
  whole.gone = {life(4)};
  whole.counts = {2, 6, 2, 0, 0, 0};
  whole.attached = encode(submission());
  whole.retries = JobId{4};
  return whole;
}
CellSnapshot snapshot() { return filled(written_snapshot()); }

}  // namespace

TEST_CASE("every field of what a log says is set here") {
  test::SaidFields fields = samples::said();
  fields.look(commands());
  fields.look(submission());
  fields.look(snapshot());
  CHECK(fields.left() == std::vector<std::string>{});
}

TEST_CASE("each command is read as it was written") {
  for (const CellCommand& command : commands()) {
    CAPTURE(command.index());
    const Blob bytes = encode(command);
    const auto read = decode_command(bytes.bytes());
    REQUIRE(read);
    CHECK(test::same(*read, command));
    CHECK(bytes_of(encode(*read, codes)) == bytes_of(bytes));
  }
  const auto said = decode_command(encode(commands()[1]).bytes()).value_or_throw();
  const auto& arrived = std::get<message::Outcomes>(std::get<command::Said>(said).message);
  CHECK(arrived.epoch == Epoch{1, 2});
  CHECK(arrived.needs == outcomes().needs);
  CHECK(arrived.records.at(0).error->what == "it threw");
}

TEST_CASE("a snapshot is read as it was written") {
  const CellSnapshot whole = snapshot();
  const Blob bytes = encode(whole, codes);
  const auto read = decode_snapshot(bytes.bytes(), codes);
  REQUIRE(read);
  CHECK(test::same(*read, whole));
  CHECK(bytes_of(encode(*read, codes)) == bytes_of(bytes));
  CHECK(read->state.term == 5);
  CHECK(read->shards.at(1).waiting.at(0).number == 4);
  CHECK(read->shards.at(0).settled.at(0).home == life(1));
}

TEST_CASE("what a cell keeps of a long job with many losses is read, too") {
  constexpr std::uint32_t many = 5000;  // More than there can be members at a time.
  CellSnapshot whole = written_snapshot();
  for (std::uint32_t i = 0; i < many; ++i) {
    const Life gone{ProcessId{i}, Incarnation{1}};
    whole.gone.push_back(gone);
    whole.closed.push_back(gone);
    OutcomeRecord record;
    record.task = {i + 1, 0};
    record.attempt = {{1, 1}, 1};
    record.outcome = Outcome::finished;
    whole.shards[0].settled.push_back({record, life(1)});
  }
  const auto read = decode_snapshot(encode(whole, codes).bytes(), codes);
  REQUIRE(read);
  CHECK(read->shards.at(0).settled.size() == many + 1);
  CHECK(read->gone.size() == many + 1);
  CHECK(read->closed.size() == many);

  const auto lead = decode_command(encode(command::Lead{life(1), whole.gone, whole.gone}).bytes());
  REQUIRE(lead);
  CHECK(std::get<command::Lead>(*lead).down.size() == many + 1);
}

TEST_CASE("a submission is read as it was written") {
  const auto read = decode_submission(encode(submission()).bytes());
  REQUIRE(read);
  CHECK(*read == submission());
  CHECK_FALSE(decode_submission({}));
}

TEST_CASE("a snapshot that contradicts itself is refused") {
  CellSnapshot whole = snapshot();
  SECTION("a shard is missing") { whole.shards.pop_back(); }
  SECTION("a home is missing") { whole.state.homes.pop_back(); }
  SECTION("a task that there is not") { whole.first_try[0].tasks[0].first.index = 64; }
  const auto read = decode_snapshot(encode(whole, codes).bytes(), codes);
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::log_damaged);
}

TEST_CASE("cut off at every byte, and with every bit turned over, it is read or refused") {
  for (const Blob& whole : {encode(commands()[1]), encode(commands()[4]), encode(snapshot(), codes)}) {
    std::vector<std::byte> bytes = bytes_of(whole);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      const std::span<const std::byte> some(bytes.data(), cut);
      (void)decode_command(some);
      (void)decode_snapshot(some, codes);
    }
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      bytes[bit / 8] ^= std::byte{1} << bit % 8;
      const auto command = decode_command(bytes);
      if (!command) CHECK(command.error().code == ErrorCode::log_damaged);
      (void)decode_snapshot(bytes, codes);
      bytes[bit / 8] ^= std::byte{1} << bit % 8;
    }
  }
  CHECK_FALSE(decode_command({}));
}

namespace {

/// Size of the command in which a home tells of the spawned tasks.
std::size_t bytes_written(const detail::Fragment& graph) {
  message::Outcomes said;
  OutcomeRecord record;
  record.spawned = std::make_shared<const detail::Fragment>(graph);
  said.records = {record};
  return encode(command::Said{life(1), said}, samples::codes()).size_bytes();
}

double cell(Point, std::vector<double> before) { return before.empty() ? 0 : before.front(); }

/// A home's estimate of that size is not less, and not much more.
void check_weight(const detail::Fragment& graph) {
  const std::size_t written = bytes_written(graph), thought = written_bytes(graph);
  CHECK(thought + 512 >= written);
  CHECK(thought <= written + written / 2 + 512);
}

}  // namespace

TEST_CASE("homes know how large what was spawned is where it is written") {
  const detail::Code code{reinterpret_cast<const void*>(0x10'0040), nullptr};
  detail::Builder builder;
  SECTION("one of everything") { check_weight(*samples::graph()); }
  SECTION("nothing") { check_weight(builder.sealed()); }
  SECTION("tasks with literals") {
    const std::size_t size = GENERATE(0u, 1u, 8u, 100u, 100'000u);
    for (int i = 0; i < 1000; ++i) {
      builder.add_task("task", code, true, Effects::pure);
      builder.add_literal(Blob(std::vector<std::byte>(size, std::byte(i))));
    }
    check_weight(builder.sealed());
  }
  SECTION("each of another kind, with many edges, some with a condition") {
    for (std::uint32_t i = 0; i < 300; ++i) {
      builder.add_task("task " + std::to_string(i), code, true, Effects::pure);
      builder.change_policy(i, [&](Policy& policy) { policy.takes = Duration(i); });
      for (std::uint32_t from = 0; from < i; from += 3)
        builder.add_edge(from, i, from % 2 == 0 ? detail::EdgeKind::conditional : detail::EdgeKind::weak,
                         from % 2 == 0 ? code : detail::Code{});
    }
    check_weight(builder.sealed());
  }
  SECTION("a family is its formula") {
    Graph graph("family");
    graph.family("cell", Range{1000, 1000}, cell, {{-1, 0}, {0, -1}});
    const detail::Fragment& formula = *graph.builder().seal();
    CHECK(formula.size() == 1'000'000);
    CHECK(written_bytes(formula) < 10'000);
  }
}
