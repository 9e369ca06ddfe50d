// Which steps may be settled: against the definition, tried out over all beginnings of what homes have said.
#include "libdag/cell/said_steps.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "libdag/base/random.hpp"
#include "tests/support/small_graph.hpp"

using namespace dag;

namespace {

constexpr std::uint32_t tasks = 14, shards = 3;

std::shared_ptr<const JobPlan> random_plan(Random& random) {
  detail::Builder builder;
  for (std::uint32_t task = 0; task < tasks; ++task) {
    test::add(builder, "t");
    for (std::uint32_t before = 0; before < task; ++before) {
      if (random.chance(0.25)) test::strong(builder, before, task);
    }
  }
  auto plan = std::make_shared<JobPlan>();
  plan->graph = std::make_shared<const detail::Fragment>(builder.sealed());
  plan->shards = shards;
  for (std::uint32_t task = 0; task < tasks; ++task) {
    plan->shard_of.push_back(static_cast<ShardIndex>(random.below(shards)));
  }
  return plan;
}

struct Recorded final : SettledOutcomes {
  std::uint64_t by_first_try(Epoch epoch, const message::TaskBits& some) const override {
    std::uint64_t found = 0;
    some.each([&](TaskId task) {
      if (names.contains({task, {epoch, 1}})) found |= message::bit_of(task).bits;
    });
    return found;
  }
  bool by(const OutputName& name) const override { return names.contains(name); }
  std::set<OutputName> names;
};

/// Steps of a home, each resting on attempts elsewhere that the home was told of.
struct ModelStep {
  std::vector<OutputName> rows;
  std::vector<OutputName> needs;
};

/// Homes that run a random graph: they end their rows in the order of the tasks, by various attempts.
struct Homes {
  explicit Homes(Random& with)
      : random(with), plan(random_plan(with)), steps(plan), said(shards), next(shards) {
    for (std::uint32_t task = 0; task < tasks; ++task) {
      attempts.push_back({{1, 1}, random.chance(0.7) ? 1u : 2u});
    }
  }

  std::vector<std::uint32_t> rows_of(std::uint32_t shard) const {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t task = 0; task < tasks; ++task) {
      if (plan->shard_of[task] == shard) rows.push_back(task);
    }
    return rows;
  }

  /// The home says up to `count` rows more, in one or two steps; from `keep` steps on it withdraws what it
  /// had said.
  void say(std::uint32_t shard, std::size_t keep, std::size_t count) {
    while (said[shard].size() > keep) {
      next[shard] -= said[shard].back().rows.size();
      said[shard].pop_back();
    }
    message::Outcomes outcomes;
    outcomes.shard = shard;
    outcomes.epoch = {1, 1};
    outcomes.first_step = keep;
    const std::vector<std::uint32_t> rows = rows_of(shard);
    while (count > 0 && next[shard] < rows.size()) {
      ModelStep step;
      message::OutcomeStep ends;
      for (std::size_t left = 1 + random.below(count); left > 0 && next[shard] < rows.size();
           --left, --count) {
        const std::uint32_t task = rows[next[shard]++];
        const OutputName name{{0, task}, attempts[task]};
        step.rows.push_back(name);
        if (name.attempt.number == 1) {
          outcomes.first_try.push_back(message::bit_of(name.task));
        } else if (random.chance(0.5)) {
          outcomes.plain.push_back(name);
        } else {
          outcomes.records.emplace_back();
          outcomes.records.back().task = name.task;
          outcomes.records.back().attempt = name.attempt;
          outcomes.records.back().outcome = Outcome::finished;
        }
        for (const detail::EdgeEnd end : plan->graph->in_edges(task)) {
          if (plan->shard_of[end.task()] == shard) continue;
          const OutputName need{{0, end.task()}, attempts[end.task()]};
          step.needs.push_back(need);
          if (need.attempt.number == 1) {
            outcomes.needs_first.push_back({need.attempt.epoch, message::bit_of(need.task)});
          } else {
            outcomes.needs.push_back(need);
          }
        }
        ++ends.rows;
      }
      const auto size = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
      outcomes.steps.push_back({size(outcomes.first_try), size(outcomes.plain), size(outcomes.records),
                                size(outcomes.needs_first), size(outcomes.needs), ends.rows});
      said[shard].push_back(std::move(step));
    }
    steps.say(outcomes);
  }

  bool closed(const std::vector<std::size_t>& limits) const {
    std::set<OutputName> inside = recorded.names;
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      for (std::size_t i = 0; i < limits[shard]; ++i) {
        inside.insert(said[shard][i].rows.begin(), said[shard][i].rows.end());
      }
    }
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      for (std::size_t i = 0; i < limits[shard]; ++i) {
        for (const OutputName& need : said[shard][i].needs) {
          if (!inside.contains(need)) return false;
        }
      }
    }
    return true;
  }

  /// The largest beginnings that are closed. (Of two closed ones, the larger of each is closed, too.)
  std::vector<std::size_t> largest() const {
    std::vector<std::size_t> best(shards, 0), at(shards, 0);
    for (at[0] = 0; at[0] <= said[0].size(); ++at[0]) {
      for (at[1] = 0; at[1] <= said[1].size(); ++at[1]) {
        for (at[2] = 0; at[2] <= said[2].size(); ++at[2]) {
          if (!closed(at)) continue;
          for (std::size_t shard = 0; shard < shards; ++shard) best[shard] = std::max(best[shard], at[shard]);
        }
      }
    }
    return best;
  }

  void take() {
    std::vector<std::size_t> wanted = largest();
    std::set<OutputName> before = recorded.names;
    std::vector<std::vector<OutputName>> rows(shards);
    steps.take(recorded, [&](const RipeStep& step) {
      std::vector<OutputName>& of = rows[step.shard];
      for (const message::TaskBits& some : step.first_try) {
        some.each([&](TaskId task) { of.push_back({task, {{1, 1}, 1}}); });
      }
      of.insert(of.end(), step.plain.begin(), step.plain.end());
      for (const OutcomeRecord& record : step.records) of.push_back(record.name());
    });
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      REQUIRE(steps.taken(shard) == wanted[shard]);
      for (const OutputName& name : rows[shard]) REQUIRE(recorded.names.insert(name).second);
      std::uint64_t waiting = 0;
      for (std::size_t i = 0; i < said[shard].size(); ++i) {
        for (const OutputName& name : said[shard][i].rows) {
          REQUIRE(recorded.names.contains(name) == (i < wanted[shard]));
          waiting += i < wanted[shard] ? 0 : 1;
        }
      }
      REQUIRE(steps.rows_waiting(shard) == waiting);
    }
  }

  Random& random;
  std::shared_ptr<const JobPlan> plan;
  SaidSteps steps;
  Recorded recorded;
  std::vector<AttemptId> attempts;
  std::vector<std::vector<ModelStep>> said;
  std::vector<std::size_t> next;  ///< rows that each home has said
};

}  // namespace

TEST_CASE("the largest closed beginning of what homes have said is settled") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Homes homes(random);
    for (int round = 0; round < 12; ++round) {
      const auto shard = static_cast<std::uint32_t>(random.below(shards));
      std::size_t keep = homes.said[shard].size();
      if (random.chance(0.3)) keep -= random.below(keep - homes.steps.taken(shard) + 1);
      homes.say(shard, keep, random.below(4));
      if (random.chance(0.8)) homes.take();
    }
    // Everything was said: nothing waits, in whatever turns the homes rested on each other.
    for (std::uint32_t shard = 0; shard < shards; ++shard) homes.say(shard, homes.said[shard].size(), tasks);
    homes.take();
    REQUIRE(homes.recorded.names.size() == tasks);
  }
}

TEST_CASE("homes that wait for each other in turn are settled at once, and a lost one holds the other up") {
  // Two columns of a stencil: 0 and 1, then 2 and 3, ...: each rests on both of the row above.
  detail::Builder builder;
  auto plan = std::make_shared<JobPlan>();
  for (std::uint32_t task = 0; task < 20; ++task) {
    test::add(builder, "t");
    plan->shard_of.push_back(static_cast<ShardIndex>(task % 2));
    if (task < 2) continue;
    test::strong(builder, task / 2 * 2 - 2, task);
    test::strong(builder, task / 2 * 2 - 1, task);
  }
  plan->graph = std::make_shared<const detail::Fragment>(builder.sealed());
  plan->shards = 2;
  SaidSteps steps(plan);
  Recorded recorded;
  // Each says all its rows as one step that needs all rows of the other but the last.
  const auto whole = [&](std::uint32_t shard, Epoch epoch, Epoch others) {
    message::Outcomes outcomes;
    outcomes.shard = shard;
    outcomes.epoch = epoch;
    const std::uint64_t mine = shard == 0 ? 0x55555 : 0xAAAAA;
    outcomes.first_try = {{{0, 0}, mine}};
    outcomes.needs_first = {{others, {{0, 0}, ~mine & 0x3FFFF}}};
    return outcomes;
  };
  std::size_t taken = 0;
  const auto take = [&] { steps.take(recorded, [&](const RipeStep&) { ++taken; }); };
  steps.say(whole(0, {1, 1}, {1, 1}));
  take();
  CHECK(taken == 0);
  CHECK(steps.rows_waiting(0) == 10);
  // The steps of the home are gone with it, so the needs of the other home are never met.
  steps.forget(0);
  CHECK(steps.rows_waiting(0) == 0);
  steps.say(whole(1, {1, 1}, {1, 1}));
  steps.say(whole(0, {1, 2}, {1, 1}));
  take();
  CHECK(taken == 0);
  // The step says anew what it used.
  message::Outcomes anew = whole(1, {1, 1}, {1, 2});
  anew.first_step = 0;
  steps.say(anew);
  take();
  CHECK(taken == 2);
  CHECK(steps.rows_waiting(0) + steps.rows_waiting(1) == 0);
}
