// Ends that turn out not to count: what homes are told of rows elsewhere changes, or is taken back, and what
// rests on it is undone, withdrawn from the record, and made anew.
#include "tests/unit/home/one_home.hpp"

using namespace dag;
using namespace dag::test;

TEST_CASE("an edge is satisfied once, by whichever news of its predecessor comes first") {
  const Representation representation = both();
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    OneHome one(representation);
    Random random(seed);
    std::vector<JobMessage> news;
    std::vector<TaskId> about;
    for (const TaskId task : {one.a, one.b}) {
      for (std::uint64_t copies = 1 + random.below(3); copies > 0; --copies) {
        news.emplace_back(one.ended(task, first, task.index + 1, 5));
        about.push_back(task);
      }
      if (random.chance(0.5)) {
        news.emplace_back(one.settled(task, first, 5));
        about.push_back(task);
      }
    }
    std::vector<std::size_t> order(news.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    std::set<TaskId> spoken_of, surely_known;
    for (const std::size_t i : order) {
      one.tell(news[i]);
      spoken_of.insert(about[i]);
      // A Settled waits for those before it.
      if (std::holds_alternative<message::PredecessorEnded>(news[i])) surely_known.insert(about[i]);
      CAPTURE(seed);
      REQUIRE(one.starts() <= (spoken_of.size() == 2 ? 1 : 0));
      REQUIRE(one.starts() >= (surely_known.size() == 2 ? 1 : 0));
    }
    REQUIRE(one.starts() == 1);
  }
}

TEST_CASE(
    "an input that does not count after all: what used it is void, and runs anew with the one that counts") {
  OneHome one(both());
  one.tell(one.ended(one.a, first, 1, 5));
  one.tell(one.ended(one.b, first, 2, 6));
  REQUIRE(one.starts() == 1);
  const RowIndex row = one.table->find(one.c);
  const bool bare = one.made_ready == 1;
  if (bare) REQUIRE(one.table->apply(row, Claimed{}).what == Do::run);
  // The other home died before a was settled, and its successor ran a again, with another value.
  one.state.version = 2;
  one.state.homes[0].epoch = {1, 2};
  one.home->on_state(one.state, one.now);
  one.look();
  const bool ended_before = GENERATE(false, true);
  const auto end_first = [&] {
    AttemptEnd ended;
    ended.task = one.c;
    ended.id = {{1, 1}, 1};
    ended.output = detail::to_blob(std::uint64_t{56});
    if (!bare) {
      one.home->on_ended(ended, one.now);
    } else {
      LaneReport report;
      report.slow.push_back({row, 1, ended});
      one.home->on_lanes(report, one.now);
    }
    one.look();
  };
  if (ended_before) {
    end_first();
    CHECK(one.table->word(row).state == RowState::ended);
  }
  CHECK(one.records_sent() == 0);  // The end rests on an unsettled one.
  one.tell(one.ended(one.a, of_new_home, 1, 7));
  REQUIRE(one.starts() == 2);
  if (!bare && !ended_before) CHECK(one.stopped == std::vector<OutputName>{{one.c, {{1, 1}, 1}}});
  if (!ended_before) end_first();  // Late: it changes nothing.
  CHECK(one.table->word(row).state != RowState::ended);
  CHECK(one.table->word(row).attempt == 2);
  one.tell(one.ended(one.a, first, 1, 5));  // So does what the old home said.
  CHECK(one.starts() == 2);

  if (bare) REQUIRE(one.table->apply(row, Claimed{}).what == Do::run);
  AttemptEnd ended;
  ended.task = one.c;
  ended.id = {{1, 1}, 2};
  ended.output = detail::to_blob(std::uint64_t{76});
  if (bare) {
    LaneReport report;
    report.slow.push_back({row, 2, ended});
    one.home->on_lanes(report, one.now);
  } else {
    REQUIRE(one.started.back().blobs.size() == 2);
    CHECK(detail::from_blob<std::uint64_t>(one.started.back().blobs[0]) == 7);
    one.home->on_ended(ended, one.now);
  }
  one.look();
  CHECK(one.records_sent() == 0);  // The cell has not answered yet.
  one.tell(one.settled(one.b, first, 6));
  REQUIRE(one.records_sent() == 1);
  const message::Outcomes& cut = one.sent.back();
  const OutcomeRecord& said = cut.records.at(0);
  CHECK(said.attempt == AttemptId{{1, 1}, 2});
  CHECK(said.inputs == std::vector<OutputName>{{one.a, of_new_home}, {one.b, first}});
  CHECK(cut.first_step == 0);
  CHECK(cut.needs_first == std::vector<message::NeededFirst>{{{1, 2}, message::bit_of(one.a)},
                                                             {{1, 1}, message::bit_of(one.b)}});
  CHECK(cut.needs.empty());
}

// dag-sim chaos --world cells --seed 831165: what used it was settled as made from another attempt.
TEST_CASE(
    "an end that is settled keeps the name of its attempt, whatever comes late of others of its value") {
  OneHome one(both());
  const AttemptId second{{1, 1}, 2};
  one.tell(one.settled(one.a, second, 5));
  one.tell(one.ended(one.a, first, 1, 5));
  message::PredecessorEnded again = one.ended(one.a, second, 2, 5);
  if (GENERATE(true, false)) again.record.digest = 0;  // The digest is taken later.
  one.tell(again);
  one.tell(one.ended(one.b, first, 3, 6));
  REQUIRE(one.starts() == 1);
  one.end_c(1, 56);
  const message::Outcomes& cut = one.sent.back();
  CHECK(cut.records.at(0).inputs == std::vector<OutputName>{{one.a, second}, {one.b, first}});
  CHECK(cut.needs_first == std::vector<message::NeededFirst>{{{1, 1}, message::bit_of(one.b)}});
  CHECK(cut.needs.empty());
}

TEST_CASE("a row that a client cancels is said at once: that rests on nothing") {
  OneHome one(both());
  one.tell(one.heard(1));
  one.state.version = 2;
  one.state.cancelled = true;
  one.home->on_state(one.state, one.now);
  one.look();
  CHECK(one.table->word(one.table->find(one.c)).outcome == Outcome::cancelled);
  REQUIRE(one.records_sent() == 1);
  CHECK(one.sent.back().needs.empty());
  CHECK(one.sent.back().needs_first.empty());
  // Ends of its predecessors change nothing.
  one.tell(one.ended(one.a, first, 1, 5));
  one.tell(one.ended(one.a, of_new_home, 1, 7));
  one.tell(one.heard(2));
  CHECK(one.records_sent() == 1);
}

TEST_CASE("what was said and rests on what does not count is withdrawn, and said anew") {
  OneHome one(Representation::supervised);
  one.tell(one.heard(1));
  one.tell(one.ended(one.a, first, 1, 5));
  one.tell(one.ended(one.b, first, 2, 6));
  const auto end = [&](std::uint32_t attempt) {
    AttemptEnd ended;
    ended.task = one.c;
    ended.id = {{1, 1}, attempt};
    ended.output = detail::to_blob(std::uint64_t{56});
    one.home->on_ended(ended, one.now);
    one.look();
  };
  end(1);
  REQUIRE(one.records_sent() == 1);
  CHECK(one.sent.back().number == 2);
  CHECK(one.sent.back().first_step == 0);
  CHECK(one.sent.back().steps.size() == 1);
  CHECK(one.sent.back().rows_open == 0);
  one.state.version = 2;
  one.state.homes[0].epoch = {1, 2};
  one.home->on_state(one.state, one.now);
  SECTION("with another value it runs again") {
    one.tell(one.ended(one.a, of_new_home, 1, 7));
    one.tell(one.heard(2));
    CHECK(one.sent.back().number == 3);
    CHECK(one.sent.back().first_step == 0);
    CHECK(one.sent.back().steps.empty());
    CHECK(one.sent.back().rows_open == 1);
    one.tell(one.heard(3));
    end(2);
    CHECK(one.sent.back().records.at(0).attempt == AttemptId{{1, 1}, 2});
  }
  SECTION("with the same value it only names another attempt") {
    one.tell(one.ended(one.a, of_new_home, 1, 5));
    one.tell(one.heard(2));
    CHECK(one.starts() == 1);
    CHECK(one.sent.back().records.at(0).attempt == AttemptId{{1, 1}, 1});
  }
  CHECK(one.sent.back().first_step == 0);
  CHECK(one.sent.back().rows_open == 0);
  CHECK(one.sent.back().needs_first == std::vector<message::NeededFirst>{{{1, 2}, message::bit_of(one.a)},
                                                                         {{1, 1}, message::bit_of(one.b)}});
}

TEST_CASE("another attempt with the same value makes nothing void") {
  OneHome one(both());
  one.tell(one.ended(one.a, first, 1, 5));
  one.tell(one.ended(one.b, first, 2, 6));
  one.tell(one.ended(one.a, of_new_home, 1, 5));
  CHECK(one.starts() == 1);
  CHECK(one.stopped.empty());
}

TEST_CASE(
    "news of another attempt of what is settled withdraw nothing: the cell may have recorded it already") {
  OneHome one(Representation::supervised);
  one.tell(one.heard(1));
  one.tell(one.settled(one.a, first, 5));
  one.tell(one.settled(one.b, first, 6));
  one.end_c(1, 56);
  REQUIRE(one.records_sent() == 1);
  CHECK(one.sent.back().needs_first.empty());
  // By a home that died before that was settled, or the one after it, which made the value again.
  one.tell(one.ended(one.a, of_new_home, 1, 5));
  message::Settled recorded = one.heard(2);
  recorded.steps = 1;
  one.tell(recorded);
  CHECK(one.sent.back().number == 2);
  CHECK(one.home->counts().settled == 1);
}

TEST_CASE("an end that its home takes back: what used it is void at once, and runs when it has ended again") {
  OneHome one(both());
  one.tell(one.heard(1));
  one.tell(one.ended(one.a, first, 1, 5));
  one.tell(one.ended(one.b, first, 2, 6));
  REQUIRE(one.starts() == 1);
  const RowIndex row = one.table->find(one.c), ghost = one.table->find(one.a);
  const bool bare = one.made_ready == 1;
  const bool ended_before = GENERATE(false, true);
  if (ended_before) {
    one.end_c(1, 56);
    REQUIRE(one.records_sent() == 1);
  }
  one.state.version = 2;
  one.state.homes[0].epoch = {1, 2};
  one.home->on_state(one.state, one.now);
  one.look();
  one.tell(one.not_ended(one.a, {1, 2}, 4));
  CHECK(one.table->word(row).state == RowState::waiting);
  CHECK(one.table->word(ghost).state == RowState::waiting);
  if (!ended_before && !bare) CHECK(one.stopped == std::vector<OutputName>{{one.c, {{1, 1}, 1}}});
  if (ended_before) {
    one.tell(one.heard(2));
    CHECK(one.sent.back().first_step == 0);  // Withdrawn, and nothing said instead.
    CHECK(one.sent.back().steps.empty());
    CHECK(one.sent.back().rows_open == 1);
  }
  // News from before it was taken back, by that home or its lanes, or by the former one, comes too late.
  one.tell(one.ended(one.a, first, 9, 5));
  one.tell(one.ended(one.a, of_new_home, 3, 5));
  one.tell(one.ended(one.a, of_new_home, 0, 5));
  CHECK(one.table->word(ghost).state == RowState::waiting);
  CHECK((*one.table)[ghost].told_by_home);
  CHECK(one.starts() == 1);
  one.tell(one.ended(one.a, of_new_home, 5, 5));
  CHECK(one.starts() == 2);
  CHECK(one.table->word(row).attempt == 2);
  one.tell(one.not_ended(one.a, {1, 2}, 4));  // Repeated.
  CHECK(one.table->word(ghost).state == RowState::ended);
  one.end_c(2, 76);
  one.tell(one.heard(ended_before ? 3 : 2));
  CHECK(one.sent.back().records.at(0).attempt == AttemptId{{1, 1}, 2});
  CHECK(one.sent.back().rows_open == 0);
}

// dag-sim chaos --world cells --seed 2174614: a task with one try ran twice.
TEST_CASE("a void attempt that takes its process down leaves no try for the one that is out") {
  OneHome one(both());
  one.tell(one.ended(one.a, first, 1, 5));
  one.tell(one.ended(one.b, first, 2, 6));
  one.state.version = 2;
  one.state.homes[0].epoch = {1, 2};
  one.home->on_state(one.state, one.now);
  one.look();
  one.tell(one.ended(one.a, of_new_home, 1, 7));
  REQUIRE(one.starts() == 2);
  const RowIndex row = one.table->find(one.c);
  const bool bare = one.made_ready == 2;
  if (bare && GENERATE(true, false)) REQUIRE(one.table->apply(row, Claimed{}).what == Do::run);
  // The runner had not heard that the attempt was void, and names it in the end of that process.
  one.state.version = 3;
  one.state.crashed = {{one.c, 1, "signal 11"}};
  one.home->on_state(one.state, one.now);
  one.look();
  CHECK(one.table->word(row).state == RowState::ended);
  if (!bare) CHECK(one.stopped.back() == OutputName{one.c, {{1, 1}, 2}});
  one.tell(one.heard(1));
  REQUIRE(one.records_sent() == 1);
  const OutcomeRecord& said = one.sent.back().records.at(0);
  CHECK(said.outcome == Outcome::failed);
  CHECK(said.error->what == "task 'c' (2) crashed its process: signal 11");
  CHECK(one.starts() == 2);
}

TEST_CASE("that a row has not ended may be heard before its end; what is settled stays") {
  OneHome one(both());
  one.tell(one.not_ended(one.a, {1, 2}, 4));
  one.tell(one.ended(one.a, first, 9, 5));
  one.tell(one.ended(one.b, first, 2, 6));
  CHECK(one.starts() == 0);
  one.tell(one.ended(one.a, of_new_home, 5, 5));
  CHECK(one.starts() == 1);
  one.tell(one.settled(one.b, first, 6));
  one.tell(one.not_ended(one.b, {1, 2}, 7));
  CHECK(one.table->word(one.table->find(one.b)).state == RowState::ended);
  one.tell(one.not_ended(one.c, {1, 2}, 8));  // None of that home's.
  auto out_of_range = one.not_ended(one.a, {1, 2}, 9);
  out_of_range.from = 7;
  one.tell(out_of_range);
  CHECK(one.table->word(one.table->find(one.a)).state == RowState::ended);
  CHECK(one.starts() == 1);
}

namespace {

/// `grows` becomes a task that it spawns; `far`, of the other shard, reads it, and `near` that one. Nothing
/// of the first home is settled, and what it grew had no effects; what it grows anew has.
struct Grown {
  Grown() {
    const TaskId harmless = before.task("harmless");
    const TaskId effect = after.task("effect", {}, Effects::idempotent);
    grows = graph.task("grows"), far = graph.task("far", {grows}), near = graph.task("near", {far});
    script.special["grows"] = [this, harmless, effect](const KernelCall&) {
      return grown++ == 0 ? spawning(before, harmless.index) : spawning(after, effect.index);
    };
  }
  LocalJobOptions options(Representation representation) {
    LocalJobOptions options = home_at_1(representation);
    options.shards = 2;
    options.shard_of = {0, 1, 0};
    options.homes = {1, 2};
    return options;
  }
  Names before, after, graph;
  TaskId grows, far, near;
  Script script;
  int grown = 0;
};

}  // namespace

TEST_CASE("what a lost home told of, and nobody can report, is taken back by the next one") {
  Grown grown;
  LocalJob job(grown.graph.builder.sealed(), grown.script.kernel(), grown.options(both()));
  job.hold = is_a<message::Outcomes>;
  job.settle_down();
  REQUIRE(job.runs("near") == 1);
  job.die(1);
  std::erase_if(job.held, [&](const LocalJob::Mail& mail) { return mail.from == job.life(1); });
  job.release_held();
  // Else this waits for ever: 'near' was said before the growth of 'grows', and counts only with 'far', which
  // counts only when 'grows' has ended again; for that 'effect' must run, which waits until the growth is
  // settled.
  job.run();
  CHECK(job.runs("harmless") == 1);
  CHECK(job.runs("effect") == 1);
  CHECK(job.value(grown.near) == value_of("near", {value_of("far", {value_of("effect")})}));
}

TEST_CASE("a home that undoes an end says so to whom it had told it") {
  // `first` (shard 0), `middle` (shard 1, another process) and `last` (shard 2), each reading the one before.
  Names graph;
  const TaskId first_task = graph.task("first"), middle = graph.task("middle", {first_task}),
               last = graph.task("last", {middle});
  Script script;
  int tries = 0;
  script.special["first"] = [&tries](const KernelCall&) {
    AttemptEnd ended;
    ended.output = detail::to_blob(std::uint64_t(++tries));  // Never the same.
    return ended;
  };
  LocalJobOptions options = home_at_1(both());
  options.processes = 4;
  options.shards = 3;
  options.shard_of = {0, 1, 2};
  options.homes = {1, 2, 3};
  LocalJob job(graph.builder.sealed(), script.kernel(), options);
  std::size_t taken_back = 0;
  job.hold = [&](const LocalJob::Mail& mail) {
    const auto* news = std::get_if<message::NotEnded>(&mail.message);
    if (news != nullptr && news->from == 1 && news->shard == 2) ++taken_back;
    return is_a<message::Outcomes>(mail) || is_a<message::Report>(mail);
  };
  job.settle_down();
  REQUIRE(job.runs("last") == 1);
  job.die(1);
  job.settle_down();
  job.paused = {"first"};
  const auto no_outcomes = [&](const LocalJob::Mail& mail) {
    const auto* news = std::get_if<message::NotEnded>(&mail.message);
    if (news != nullptr && news->from == 1 && news->shard == 2) ++taken_back;
    return is_a<message::Outcomes>(mail);
  };
  // The home of 'middle' can report what 'first' was, as it came with its value; but not that it is the
  // present one.
  std::erase_if(job.held, [&](const LocalJob::Mail& mail) { return mail.from == job.life(1); });
  for (LocalJob::Mail& mail : job.held) {
    if (auto* report = std::get_if<message::Report>(&mail.message)) report->had.clear();
  }
  job.release_held();
  job.hold = no_outcomes;
  job.settle_down();
  CHECK(taken_back == 1);
  CHECK(job.table(2).word(job.table(2).find(last)).state == RowState::waiting);
  job.release_held();
  job.paused.clear();
  job.run();
  CHECK(job.value(last) == value_of("last", {value_of("middle", {2})}));
  CHECK(job.runs("last") == 2);
}
