// Rows that a home tells and settles by words, next to those of which there is more to say.
#include <algorithm>

#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;

namespace {

/// A chain of tasks, whose home is the only one; the test plays the lanes and the cell.
struct Chain {
  explicit Chain(std::uint32_t length, bool returns = false) {
    detail::Builder builder;
    for (std::uint32_t task = 0; task < length; ++task) {
      builder.add_task("link", {&place, nullptr}, returns, Effects::pure);
      if (task > 0) builder.add_edge(task - 1, task, detail::EdgeKind::strong, {});
    }
    auto plan = std::make_shared<JobPlan>();
    plan->job = JobId{7};
    plan->graph = std::make_shared<const detail::Fragment>(builder.sealed());
    plan->shards = 1;
    plan->shard_of.resize(length, 0);
    message::JobState state;
    state.job = JobId{7};
    state.version = 1;
    state.lives = {self};
    state.homes = {{self, {1, 1}}};
    state.cell = self;
    HomeOptions options;
    options.epoch = {1, 1};
    options.self = self;
    home.emplace(options, plan, table, gate, records);
    home->begin(state, now);
    look();
    REQUIRE(told.size() == 1);  // The home is there.
  }
  /// A lane runs the next row.
  QuickEnd run() {
    const RowIndex row = next++;
    REQUIRE(table.apply(row, Claimed{}).what == Do::run);
    REQUIRE(table.apply(row, AttemptEnded{1, Outcome::finished}).what == Do::tell);
    if (table.kind_of(table[row]).returns) table[row].output.store(detail::to_blob(std::uint64_t{row}));
    table.satisfy_local_strong(
        row, [](RowIndex) {}, [](RowIndex) {});
    return {row, 1, Duration{0}};
  }
  std::vector<QuickEnd> run(std::uint32_t count) {
    std::vector<QuickEnd> ends;
    for (std::uint32_t i = 0; i < count; ++i) ends.push_back(run());
    return ends;
  }
  void report(std::vector<QuickEnd> ends) {
    LaneReport report;
    report.quick = std::move(ends);
    home->on_lanes(std::move(report), now);
    look();
  }
  void tell(const JobMessage& message) {
    home->on_message(self, message, now);
    look();
  }
  /// The cell has recorded all that it was told.
  void settle() {
    const message::Outcomes& last = told.back();
    message::Settled news;
    news.job = JobId{7};
    news.epoch = {1, 1};
    news.from = position;
    news.to = ++position;
    news.outcomes = last.number;
    news.steps = last.first_step + last.steps.size();
    tell(news);
  }
  void wait() {
    now = now + std::chrono::seconds(1);
    home->on_time(now);
    look();
  }
  void keep(std::uint32_t task) {
    message::Keep keep;
    keep.job = JobId{7};
    keep.epoch = {1, 1};
    keep.tasks = {TaskId{0, task}};
    tell(keep);
  }
  void look() {
    for (HomeEffect& effect : home->take_effects()) {
      if (auto* send = std::get_if<SendMessage>(&effect)) {
        if (auto* outcomes = std::get_if<message::Outcomes>(&send->message)) told.push_back(*outcomes);
      }
    }
    home->check_invariants();
  }
  /// Tasks that the cell was told of by name alone, in the order of telling.
  std::vector<std::uint32_t> named() const {
    std::vector<std::uint32_t> tasks;
    for (const message::Outcomes& outcomes : told) {
      for (const message::TaskBits& some : outcomes.first_try)
        some.each([&](TaskId task) { tasks.push_back(task.index); });
    }
    return tasks;
  }

  static inline const char place = 0;
  const Life self{ProcessId{1}, Incarnation{1}};
  Instant now{};
  NullEventSink records;
  Gate gate{0};
  RowTable table;
  std::optional<Home> home;
  RowIndex next = 0;
  std::uint64_t position = 0;
  std::vector<message::Outcomes> told;
};

std::vector<std::uint32_t> up_to(std::uint32_t count) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t task = 0; task < count; ++task) all.push_back(task);
  return all;
}

}  // namespace

TEST_CASE("rows of which there is nothing to say are told as words") {
  Chain chain(130);
  chain.settle();
  chain.report(chain.run(130));
  REQUIRE(chain.told.size() == 2);
  const message::Outcomes& cut = chain.told.back();
  CHECK(cut.first_try == std::vector<message::TaskBits>{
                             {{0, 0}, ~std::uint64_t{0}}, {{0, 64}, ~std::uint64_t{0}}, {{0, 128}, 3}});
  CHECK(cut.records.empty());
  CHECK(cut.rows_open == 0);
  REQUIRE(cut.steps.size() == 1);
  CHECK(cut.steps[0].rows == 130);
  CHECK(chain.home->counts().settled == 0);
  chain.settle();
  CHECK(chain.home->counts().settled == 130);
  CHECK(chain.home->counts().ended == 130);
}

TEST_CASE("no row is told before those that it rests on, whichever lane reports first") {
  Chain chain(100);
  chain.settle();
  std::vector<QuickEnd> first = chain.run(40), second = chain.run(30);
  const bool all = GENERATE(true, false);
  if (!all) first.resize(20);  // The rest of it comes later.
  chain.report(second);
  chain.report(first);
  chain.wait();
  REQUIRE(chain.told.size() == 2);
  CHECK(chain.named() == up_to(70));
  CHECK(chain.home->counts().ended == 70);
  chain.settle();
  chain.report(chain.run(30));
  CHECK(chain.named() == up_to(100));
}

TEST_CASE("an end that is reported twice counts once") {
  Chain chain(3);
  chain.settle();
  const QuickEnd first = chain.run(), second = chain.run();
  chain.report({first, second, first});
  chain.report({second});
  chain.wait();
  CHECK(chain.home->counts().ended == 2);
  CHECK(chain.told.back().rows_open == 1);
}

TEST_CASE("a row that a client asks for after its end was noted gets a record of its own") {
  Chain chain(70, true);
  chain.report(chain.run(69));  // The cut before is under way.
  chain.keep(5);
  chain.settle();
  REQUIRE(chain.told.size() == 2);
  const message::Outcomes& cut = chain.told.back();
  REQUIRE(cut.records.size() == 1);
  CHECK(cut.records[0].task == TaskId{0, 5});
  CHECK(detail::from_blob<std::uint64_t>(cut.records[0].value) == 5);
  std::vector<std::uint32_t> others = up_to(69);
  others.erase(others.begin() + 5);
  CHECK(chain.named() == others);
  CHECK(cut.steps.at(0).rows == 69);
  chain.settle();
  CHECK(chain.home->counts().settled == 69);
}

TEST_CASE("a row that a client asks for while it is being settled keeps its output") {
  Chain chain(70, true);
  chain.settle();
  chain.report(chain.run(70));
  REQUIRE(chain.told.size() == 2);
  chain.keep(5);
  chain.settle();
  CHECK(chain.home->counts().settled == 70);
  for (RowIndex row = 0; row < 70; ++row) {
    const bool stays = row == 5 || row == 69;  // No task reads the last one's.
    CHECK(static_cast<bool>(chain.table[row].output.load()) == stays);
  }
}

TEST_CASE("an output that was settled stays until its reader has settled") {
  Chain chain(3, true);
  chain.settle();
  chain.report(chain.run(1));
  chain.wait();
  chain.settle();
  CHECK(chain.table[0].output.load());
  chain.report(chain.run(1));
  chain.wait();
  CHECK(chain.table[0].output.load());
  chain.settle();
  CHECK_FALSE(chain.table[0].output.load());
  CHECK(chain.table[1].output.load());
}
