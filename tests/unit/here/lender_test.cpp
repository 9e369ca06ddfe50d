// A process with two homes of a job, whose only lane is busy; another one asks it for work.
#include "libdag/here/lender.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <utility>

#include "libdag/here/job_here.hpp"
#include "libdag/stealing/thief.hpp"
#include "tests/support/small_graph.hpp"

using namespace std::chrono_literals;

namespace dag {
namespace {

constexpr Life leader{ProcessId{0}, {1}}, self{ProcessId{1}, {1}}, thief{ProcessId{2}, {1}},
    other{ProcessId{3}, {1}};
constexpr Instant start{10s};

/// Tasks a and b of shard 0, c and d of shard 1, of which d reads c; e and f of shard 2, which is elsewhere.
std::shared_ptr<const JobPlan> six_tasks() {
  detail::Builder builder;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) test::add(builder, name);
  test::strong(builder, 2, 3);
  auto plan = std::make_shared<JobPlan>();
  plan->job = JobId{7};
  plan->graph = std::make_shared<const detail::Fragment>(builder.sealed());
  plan->shards = 3;
  plan->shard_of = {0, 0, 1, 1, 2, 2};
  return plan;
}

/// Says, if it is told to, that each row starts sooner here.
struct Keeping final : HomePlacement {
  explicit Keeping(const bool& all) : keeps_all(all) {}
  Life place_actor(std::uint32_t, const std::vector<Life>&, const std::vector<std::uint32_t>&,
                   const Policy&) override {
    return self;
  }
  PlacedAttempt place_attempt(const AttemptToPlace&, const std::vector<Life>&, Life) override {
    return {self};
  }
  bool keeps(const std::vector<PlacementInput>&, Life, Life) override { return keeps_all; }
  const bool& keeps_all;
};

/// How the rows of a shard are.
struct Rows {
  bool start_sooner_here = false;
  std::optional<Duration> take = 1s;
};

struct TimedHome final : HomeHere {
  TimedHome(const HomeOptions& options, const std::shared_ptr<const JobPlan>& plan, EventSink& records,
            const Rows& told)
      : HomeHere(options, plan, std::make_shared<SharedRows>(plan->representation, 0), records,
                 std::make_unique<Keeping>(told.start_sooner_here)),
        rows(told) {}
  std::optional<Duration> mean_run() const override { return rows.take; }
  const Rows& rows;
};

/// Tasks, by the processes that got them.
using Lent = std::vector<std::pair<Life, std::string>>;

struct Victim : JobPorts {
  Victim() {
    job.open();
    message::JobState state;
    state.job = JobId{7};
    state.version = 1;
    state.cell = leader;
    state.lives = {leader, self, thief, other};
    state.homes = {{self, {1, 1}}, {self, {1, 1}}, {other, {1, 1}}};
    tell(leader, state);
  }

  std::unique_ptr<HomeHere> make_home(const BeginHome& which) override {
    HomeOptions options;
    options.shard = which.shard;
    options.epoch = which.epoch;
    options.self = self;
    options.several_processes = true;
    return std::make_unique<TimedHome>(options, plan, records, of_shard.at(which.shard));
  }
  void end_home(std::unique_ptr<HomeHere>) override {}
  Waiting waiting(std::optional<Duration> mean_run) override {
    return {static_cast<std::uint32_t>(rows.size() + attempts.size()), 1, 0, mean_run};
  }
  std::vector<RowIndex> take_rows(std::uint32_t shard, std::uint32_t most) override {
    std::vector<RowIndex> taken;
    std::erase_if(rows, [&](const OfferRow& row) {
      if (row.shard != shard || taken.size() == most) return false;
      taken.push_back(row.row);
      return true;
    });
    times_looked += taken.empty() ? 0 : 1;
    return taken;
  }
  std::vector<OutputName> take_attempts(std::uint32_t most,
                                        const std::function<bool(const OutputName&)>& may_go) override {
    std::vector<OutputName> taken;
    std::erase_if(attempts, [&](const OutputName& name) {
      if (taken.size() == most || !may_go(name)) return false;
      taken.push_back(name);
      return true;
    });
    return taken;
  }

  void tell(Life from, JobMessage message) {
    CHECK(job.on_message(from, std::move(message)) == Admission::deliver);
    go_on();
  }
  void ask(std::uint32_t lanes = 1, Life from = thief) { tell(from, message::StealRequest{JobId{7}, lanes}); }
  void go_on() {
    for (auto effects = job.run(now); !effects.empty(); effects = job.run(now)) {
      for (JobEffect& effect : effects) carry_out(effect);
    }
    job.check_invariants();
  }
  void carry_out(JobEffect& any) {
    if (const auto* ready = std::get_if<OfferRow>(&any)) {
      rows.push_back(*ready);
    } else if (const auto* begun = std::get_if<StartAttempt>(&any)) {
      attempts.push_back({begun->attempt.task, begun->attempt.id});
    } else if (const auto* went = std::get_if<WorkLent>(&any)) {
      tasks_lent[went->thief] += went->tasks;
    } else if (auto* sent = std::get_if<SendMessage>(&any)) {
      if (const auto* lend = std::get_if<message::Lend>(&sent->message))
        lent.emplace_back(sent->to, plan->graph->names[plan->graph->kind(lend->attempt.task.index).name]);
      if (const auto* back = std::get_if<message::Return>(&sent->message)) returned.push_back(*back);
    }
  }
  /// The lane runs the oldest row.
  void run_row() {
    const OfferRow ready = rows.front();
    rows.pop_front();
    HomeHere& here = *job.homes().at(ready.shard);
    const Next claim = here.table.apply(ready.row, Claimed{});
    REQUIRE(claim.what == Do::run);
    LaneReport report;
    report.slow.push_back({ready.row, claim.word.attempt, AttemptEnd{}});
    report.slow.back().ended.task = here.table.id(ready.row);
    report.slow.back().ended.id = {here.home.epoch(), claim.word.attempt};
    job.on_lanes(ready.shard, std::move(report), now);
    go_on();
  }

  std::shared_ptr<const JobPlan> plan = six_tasks();
  NullEventSink records;
  std::array<Rows, 2> of_shard;
  JobHere job{RunnerOptions{self}, plan, *this, records};
  Instant now = start;
  std::deque<OfferRow> rows;
  std::deque<OutputName> attempts;
  Lent lent;
  std::map<Life, std::size_t> tasks_lent;
  std::vector<message::Return> returned;
  std::uint32_t times_looked = 0;
};

TEST_CASE("homes give rows in turn, each question is answered by one of them") {
  Victim victim;
  REQUIRE(victim.rows.size() == 3);  // a, b and c
  victim.ask();
  CHECK(victim.lent == Lent{{thief, "a"}});
  victim.ask();
  CHECK(victim.lent == Lent{{thief, "a"}, {thief, "c"}});
  CHECK(victim.tasks_lent == std::map<Life, std::size_t>{{thief, 2}});
  CHECK_FALSE(victim.job.asks(thief));
}

TEST_CASE("the next thief gets its part when the oldest question is answered") {
  Victim victim;
  const std::deque<OfferRow> rows = std::exchange(victim.rows, {});  // Lanes have them.
  victim.ask();
  victim.ask(1, other);
  REQUIRE(victim.job.asks(thief));
  victim.rows = {rows[0], rows[2]};
  victim.go_on();
  CHECK(victim.lent == Lent{{thief, "c"}, {other, "a"}});  // Each question begins with another home.
  CHECK(victim.tasks_lent == std::map<Life, std::size_t>{{thief, 1}, {other, 1}});
}

TEST_CASE("a home without rows is passed over") {
  Victim victim;
  victim.run_row();
  victim.run_row();  // a and b
  victim.ask();
  CHECK(victim.lent == Lent{{thief, "c"}});
}

TEST_CASE("a question stays open until there are rows") {
  Victim victim;
  victim.run_row();
  victim.run_row();
  const OfferRow c = victim.rows.front();
  victim.rows.clear();  // A lane has it.
  victim.ask();
  victim.ask(1, other);
  CHECK(victim.lent.empty());
  CHECK(victim.job.asks(thief));
  SECTION("the oldest one is answered first") {
    victim.now = start + 1ms;
    victim.rows.push_back(c);
    victim.run_row();
    CHECK(victim.lent == Lent{{thief, "d"}});
    CHECK(victim.job.asks(other));
  }
  SECTION("or too old") {
    victim.now = start + question_open_for;
    victim.rows.push_back(c);
    victim.run_row();
    CHECK(victim.lent.empty());
    CHECK_FALSE(victim.job.asks(thief));
    CHECK(victim.rows.size() == 1);
  }
}

TEST_CASE("while nobody knows how long rows run here, a thief waits a millisecond") {
  Victim victim;
  for (Rows& rows : victim.of_shard) rows.take.reset();
  victim.ask();
  CHECK(victim.lent.empty());
  REQUIRE(victim.job.wake_at().has_value());
  CHECK(*victim.job.wake_at() <= start + 1ms);
  victim.now = start + 1ms;
  victim.job.on_time(victim.now);
  victim.go_on();
  CHECK(victim.lent == Lent{{thief, "a"}});
  CHECK_FALSE(victim.job.asks(thief));
}

// dag-sim chaos --world actors --seed 16165: an actor woke itself without end.
TEST_CASE("a question that is over wakes nobody") {
  Victim victim;
  for (Rows& rows : victim.of_shard) rows.take.reset();
  victim.ask();
  REQUIRE(victim.job.asks(thief));
  victim.now = start + question_open_for;
  victim.job.on_time(victim.now);
  victim.go_on();
  CHECK(victim.lent.empty());
  CHECK_FALSE(victim.job.asks(thief));
  const std::optional<Instant> wake = victim.job.wake_at();
  CHECK((!wake || *wake > victim.now));
}

// Rows would leave the lanes and come back with each event.
TEST_CASE("rows that start sooner here are looked at once for a question") {
  Victim victim;
  for (Rows& rows : victim.of_shard) rows.start_sooner_here = true;
  victim.ask();
  CHECK(victim.times_looked == 2);  // Each home was asked.
  CHECK(victim.lent.empty());
  CHECK(victim.rows.size() == 3);
  CHECK_FALSE(victim.job.asks(thief));
  victim.run_row();
  CHECK(victim.times_looked == 2);
}

// A home that has run nothing yet was never heard: the one beside it answered first (seed 12793 of `cells`).
TEST_CASE("a home that keeps its rows does not close the question for one that will know more") {
  Victim victim;
  victim.of_shard[0].start_sooner_here = true;
  victim.of_shard[1].take.reset();
  victim.ask();
  CHECK(victim.lent.empty());
  CHECK(victim.times_looked == 1);
  REQUIRE(victim.job.asks(thief));
  victim.now = start + 1ms;
  victim.job.on_time(victim.now);
  victim.go_on();
  CHECK(victim.lent == Lent{{thief, "c"}});
  CHECK(victim.times_looked == 2);
}

TEST_CASE("what a home elsewhere lent goes back to it for the thief, when the homes here have nothing") {
  Victim victim;
  victim.rows.clear();  // Lanes have them.
  message::Lend lend;
  lend.job = JobId{7};
  lend.shard = 2;
  lend.epoch = {1, 1};
  lend.attempt.job = JobId{7};
  lend.attempt.task = {0, 4};
  lend.attempt.id = {{1, 1}, 1};
  victim.tell(other, lend);
  REQUIRE(victim.attempts.size() == 1);
  victim.now = start + 1ms;
  victim.ask();
  victim.now = start + 2ms;  // The runner has run nothing yet.
  victim.job.on_time(victim.now);
  victim.go_on();
  REQUIRE(victim.returned.size() == 1);
  CHECK(victim.returned[0].name.task == TaskId{0, 4});
  CHECK(victim.returned[0].thief == thief);
  CHECK(victim.attempts.empty());
}

}  // namespace
}  // namespace dag
