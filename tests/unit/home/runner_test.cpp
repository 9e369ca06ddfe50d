// When a runner tells the ends of what it was lent: together, as long as there is more to do meanwhile.
#include "libdag/runner/runner.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;
using namespace std::chrono_literals;

namespace {

const Life self{ProcessId{1}, {1}}, home{ProcessId{0}, {1}};
constexpr Instant start{10s};

/// A runner of so many lanes in process 1; the home of all is in process 0, and played by the test.
struct Lent {
  explicit Lent(std::uint32_t lanes) : runner(options(lanes), plan(), records) {
    runner.on_state(state(1, {1, 1}), start);
    look();
  }
  static RunnerOptions options(std::uint32_t lanes) {
    RunnerOptions options{self};
    options.lanes = lanes;
    return options;
  }
  static std::shared_ptr<const JobPlan> plan() {
    auto made = std::make_shared<JobPlan>();
    made->job = JobId{7};
    made->shard_of = {0, 0, 0, 0};
    return made;
  }
  /// Attempts that the home counts in this epoch.
  static message::JobState state(std::uint64_t version, Epoch epoch) {
    message::JobState state;
    state.job = JobId{7};
    state.version = version;
    state.lives = {home, self};
    state.homes = {{home, epoch}};
    state.cell = home;
    return state;
  }
  void lend(std::uint32_t task, detail::CallKind call = detail::CallKind::ordinary) {
    message::Lend lend;
    lend.job = JobId{7};
    lend.epoch = {1, 1};
    lend.attempt.job = JobId{7};
    lend.attempt.task = {0, task};
    lend.attempt.id = {{1, 1}, 1};
    lend.attempt.call = call;
    if (call != detail::CallKind::ordinary) lend.attempt.actor = 0;
    runner.on_message(home, lend, start);
    look();
  }
  void end(std::uint32_t task, Instant now) {
    AttemptEnd ended;
    ended.task = {0, task};
    ended.id = {{1, 1}, 1};
    REQUIRE(runner.on_ended(ended, now));
    look();
  }
  void look() {
    for (const RunnerEffect& effect : runner.take_effects()) {
      const auto* sent = std::get_if<SendMessage>(&effect);
      if (sent == nullptr) continue;
      if (const auto* ending = std::get_if<message::Ended>(&sent->message))
        told.push_back(ending->record.task.index);
    }
  }

  NullEventSink records;
  Runner runner;
  std::vector<std::uint32_t> told;  ///< the tasks whose ends the home heard of
};

}  // namespace

TEST_CASE("ends of lent rows go together while each lane has another") {
  Lent lent(2);
  for (std::uint32_t task = 0; task < 4; ++task) lent.lend(task);
  lent.end(0, start);
  CHECK(lent.told.empty());
  CHECK(lent.runner.wake_at() == start + 500us);
  SECTION("until a lane has none") {
    lent.end(2, start + 100us);
    CHECK(lent.told.empty());
    lent.end(1, start + 200us);
    CHECK(lent.told == std::vector<std::uint32_t>{0, 2, 1});
    CHECK_FALSE(lent.runner.wake_at());
  }
  SECTION("until the first has waited long enough") {
    lent.end(1, start + 300us);
    lent.runner.on_time(start + 499us);
    lent.look();
    CHECK(lent.told.empty());
    lent.runner.on_time(start + 500us);
    lent.look();
    CHECK(lent.told == std::vector<std::uint32_t>{0, 1});
  }
  SECTION("until something else is said, which does not overtake them") {
    lent.runner.on_message(home, message::Fetch{JobId{7}, {{0, 9}, {{1, 1}, 1}}}, start);
    lent.look();
    CHECK(lent.told == std::vector<std::uint32_t>{0});
  }
}

TEST_CASE("the end of a job actor's call does not wait: its next call does") {
  Lent lent(1);
  lent.lend(0, detail::CallKind::create);
  lent.lend(1);
  lent.lend(2);
  lent.end(0, start);
  CHECK(lent.told == std::vector<std::uint32_t>{0});
}

TEST_CASE("what a disk has kept is named to a home that counts again, and given to whoever asks") {
  NullEventSink records;
  Runner runner(Lent::options(1), Lent::plan(), records);
  const Blob state = detail::to_blob(std::string("saved"));
  const OutputName of_actor{{0, 1}, {{1, 2}, 1}}, of_task{{0, 2}, {{1, 2}, checkpoint_numbers}};
  const std::vector<OutputName> inputs{{{0, 0}, {{1, 1}, 1}}};
  runner.found({{}, of_actor, {}, state});
  runner.found({{}, of_task, inputs, state});
  runner.on_state(Lent::state(3, {2, 1}), start);
  runner.on_message(home, message::Fetch{JobId{7}, of_task}, start);
  const std::vector<RunnerEffect> effects = runner.take_effects();
  REQUIRE(effects.size() == 2);
  const auto& report = std::get<message::Report>(std::get<SendMessage>(effects[0]).message);
  REQUIRE(report.had.size() == 2);
  for (const message::Report::Had& had : report.had) {
    CHECK(had.bytes);
    CHECK(had.record.digest == digest_of(state));
    CHECK(had.record.inputs == (had.record.name() == of_task ? inputs : std::vector<OutputName>{}));
  }
  const auto& data = std::get<message::Data>(std::get<SendMessage>(effects[1]).message);
  CHECK(data.bytes.bytes().data() == state.bytes().data());
}

TEST_CASE("a copy whose digest nobody said is named to a home that counts again, and its digest is taken") {
  NullEventSink records;
  RunnerOptions options = Lent::options(1);
  options.digest_at_once_bytes_max = GENERATE(std::size_t{0}, std::size_t{4096});
  Runner runner(options, Lent::plan(), records);
  OutcomeRecord copy;
  copy.task = {0, 1};
  copy.attempt = {{1, 1}, 1};
  copy.outcome = Outcome::finished;
  copy.has_output = true;
  const Blob bytes = detail::to_blob(std::string("a copy"));
  copy.size_bytes = bytes.size_bytes();
  runner.publish(copy, bytes);
  runner.on_state(Lent::state(3, {2, 1}), start);
  std::vector<OutputName> taken;
  std::vector<message::Report> reports;
  for (const RunnerEffect& effect : runner.take_effects()) {
    if (const auto* take = std::get_if<TakeDigest>(&effect)) taken.push_back(take->name);
    const auto* sent = std::get_if<SendMessage>(&effect);
    if (sent == nullptr) continue;
    if (const auto* report = std::get_if<message::Report>(&sent->message)) reports.push_back(*report);
  }
  REQUIRE(reports.size() == 1);
  REQUIRE(reports[0].had.size() == 1);
  const OutcomeRecord& said = reports[0].had[0].record;
  CHECK(reports[0].had[0].bytes);
  if (options.digest_at_once_bytes_max > 0) {
    CHECK(said.digest == digest_of(bytes));
    CHECK(taken.empty());
  } else {
    CHECK(said.digest_follows);
    CHECK(taken == std::vector<OutputName>{copy.name()});
  }
}

TEST_CASE("a home from before an attempt was made cannot say that it is superseded") {
  Lent lent(1);
  OutcomeRecord record;
  record.task = {0, 2};
  record.attempt = {{1, 3}, 1};  // From a later home, which this process has not heard of.
  record.outcome = Outcome::finished;
  record.has_output = true;
  lent.runner.bring(5, record, {}, start);
  const auto asked = [&] {
    std::vector<Epoch> homes;
    for (const RunnerEffect& effect : lent.runner.take_effects()) {
      CHECK_FALSE(std::holds_alternative<Brought>(effect));
      const auto* sent = std::get_if<SendMessage>(&effect);
      const auto* need = sent == nullptr ? nullptr : std::get_if<message::Need>(&sent->message);
      if (need != nullptr) homes.push_back(need->epoch);
    }
    return homes;
  };
  CHECK(asked() == std::vector<Epoch>{{1, 1}});
  message::Located located;
  located.job = JobId{7};
  located.epoch = {1, 1};
  located.asked = record.name();
  located.record.attempt = {{1, 1}, 1};
  lent.runner.on_message(home, located, start);
  CHECK(asked().empty());
  lent.runner.on_state(Lent::state(2, {1, 3}), start);
  CHECK(asked() == std::vector<Epoch>{{1, 3}});
  located.epoch = {1, 3};
  lent.runner.on_message(home, located, start);
  const auto effects = lent.runner.take_effects();
  const auto brought = std::find_if(effects.begin(), effects.end(), [](const RunnerEffect& effect) {
    return std::holds_alternative<Brought>(effect);
  });
  REQUIRE(brought != effects.end());
  CHECK(std::get<Brought>(*brought).lost);
}
