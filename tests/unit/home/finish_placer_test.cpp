// Where the home's placer puts attempts, and that whatever it says about random graphs, they end as they
// should.
#include "libdag/home/finish_placer.hpp"

#include <catch2/catch.hpp>

#include "actors/timed_placement.hpp"
#include "tests/unit/home/local_job.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t mebibyte = 1u << 20;

Life life(std::uint32_t process, std::uint32_t incarnation = 1) {
  return {ProcessId{process}, Incarnation{incarnation}};
}

/// Four lanes of a host; all are busy when anything waits.
LifeLoad load(Life of, std::uint32_t tasks_ready = 0) {
  const std::uint32_t free = tasks_ready == 0 ? 4 : 0;
  return {of,
          {of.process, {{"cpu", {4, 0, 8ull << 30}, {free, 0, 8ull << 30}}}},
          4,
          {.lanes_free = free, .tasks_ready = tasks_ready},
          Duration{0}};
}

/// Process 1 asks, of 1, 2 and 3.
struct Asked {
  FinishPlacer placer{7};
  std::string name = "mul";
  Policy policy;
  std::vector<PlacementInput> inputs;
  std::vector<Life> lives{life(1), life(2), life(3)};

  PlacedAttempt place() { return placer.place_attempt({TaskId{0, 5}, name, policy, inputs}, lives, life(1)); }
};

}  // namespace

TEST_CASE("a large input pulls a task to who holds it") {
  Asked asked;
  asked.placer.on_loads({load(life(1)), load(life(2)), load(life(3))});
  asked.inputs = {{64 * mebibyte, {ProcessId{3}}}, {mebibyte, {ProcessId{1}}}};
  const PlacedAttempt placed = asked.place();
  CHECK(placed.at == life(3));
  REQUIRE(placed.why);
  CHECK(placed.why->chosen == ProcessId{3});
  CHECK(placed.why->rule == "earliest finish");
  REQUIRE(placed.why->candidates.size() == 3);
  CHECK(placed.why->candidates[0].process == ProcessId{1});
  CHECK(placed.why->candidates[0].transfer > 50ms);
}

TEST_CASE("where nobody wants to know why, the choice is the same and has no reasons") {
  Asked asked;
  asked.placer.on_loads({load(life(1)), load(life(2)), load(life(3))});
  asked.inputs = {{64 * mebibyte, {ProcessId{3}}}};
  const PlacedAttempt placed = asked.placer.place_attempt(
      {TaskId{0, 5}, asked.name, asked.policy, asked.inputs, false}, asked.lives, life(1));
  CHECK(placed.at == life(3));
  CHECK_FALSE(placed.why);
}

TEST_CASE("a short task stays, whatever it has to fetch") {
  Asked asked;
  asked.placer.on_loads({load(life(1), 100), load(life(2)), load(life(3))});
  asked.inputs = {{64 * mebibyte, {ProcessId{3}}}};
  asked.placer.ran("mul", 100us);
  const PlacedAttempt placed = asked.place();
  CHECK(placed.at == life(1));
  REQUIRE(placed.why);
  CHECK(placed.why->rule == "short");
  CHECK(placed.why->candidates.empty());
}

TEST_CASE("what the user says of a task counts until one of its name has run") {
  Asked asked;
  asked.placer.on_loads({load(life(1), 100), load(life(2)), load(life(3))});
  asked.policy.takes = 100us;
  CHECK(asked.place().why->rule == "short");
  CHECK_FALSE(asked.placer.wants_to_place("mul", asked.policy, true));
  asked.placer.ran("mul", 10ms);
  CHECK(asked.place().why->rule == "earliest finish");
  CHECK(asked.placer.wants_to_place("mul", asked.policy, true));
}

TEST_CASE("choices between several processes are timed, and are what they would be") {
  Asked asked;
  asked.placer.on_loads({load(life(1)), load(life(2)), load(life(3))});
  asked.inputs = {{64 * mebibyte, {ProcessId{3}}}};
  auto placer = std::make_unique<FinishPlacer>(7);
  placer->on_loads({load(life(1)), load(life(2)), load(life(3))});
  Instant now;
  std::vector<Duration> took;
  TimedPlacement timed(
      std::move(placer), [&] { return now = now + 5us; }, [&](Duration one) { took.push_back(one); });
  const AttemptToPlace attempt{TaskId{0, 5}, asked.name, asked.policy, asked.inputs};
  CHECK(timed.place_attempt(attempt, asked.lives, life(1)).at == life(3));
  CHECK(took == std::vector<Duration>{5us});
  CHECK(timed.place_attempt(attempt, {life(1)}, life(1)).at == life(1));
  CHECK(took.size() == 1);
  timed.ran("mul", 2s, false);
  CHECK(timed.usual("mul", {}) == 2s);
}

TEST_CASE("what had no choice tells how long its like take, and nothing of how long queues are") {
  FinishPlacer placer{7};
  placer.ran("step", 1s, true);
  CHECK(placer.usual("step", {}) == 1s);
  CHECK(!placer.mean_run());
  placer.ran("step", 1s);
  CHECK(placer.mean_run() == 1s);
}

TEST_CASE("job actors of several homes, which know nothing of each other, are spread over the processes") {
  FinishPlacer placer{7};
  const std::vector<Life> lives{life(1), life(2), life(3)};
  std::map<Life, int> actors;
  // Each home has one of them, so no home knows of an actor anywhere.
  for (std::uint32_t actor = 0; actor < 6; ++actor) ++actors[placer.place_actor(actor, lives, {0, 0, 0}, {})];
  CHECK(actors == std::map<Life, int>{{life(1), 2}, {life(2), 2}, {life(3), 2}});
  CHECK(placer.place_actor(4, lives, {1, 2, 0}, {}) == life(3));
}

TEST_CASE("whether any process could ever run a task") {
  FinishPlacer placer{7};
  Policy policy;
  policy.needs.gpus = 17;
  const std::vector<Life> lives{life(1), life(2)};
  CHECK(placer.possible("greedy", policy, lives));  // Neither has said what it has.
  placer.on_loads({load(life(1))});
  CHECK(placer.possible("greedy", policy, lives));
  placer.on_loads({load(life(1)), load(life(2))});
  const Status possible = placer.possible("greedy", policy, lives);
  REQUIRE_FALSE(possible);
  CHECK(possible.error().code == ErrorCode::needs_impossible);
  CHECK(placer.possible("modest", {}, lives));
}

TEST_CASE("a loaded process is passed over") {
  Asked asked;
  asked.placer.ran("mul", 10ms);
  SECTION("the one that asks: not the lowest id, not a loaded one") {
    asked.placer.on_loads({load(life(1), 100), load(life(2), 50), load(life(3))});
    CHECK(asked.place().at == life(3));
  }
  SECTION("the holder, when all that waits there takes longer than the bytes") {
    asked.inputs = {{mebibyte, {ProcessId{3}}}};
    asked.placer.on_loads({load(life(1)), load(life(2), 100), load(life(3), 100)});
    CHECK(asked.place().at == life(1));
  }
  SECTION("by the backlog that it gossips") {
    LifeLoad two = load(life(2)), three = load(life(3));
    two.backlog = 8s;
    three.backlog = 4s;
    asked.lives = {life(2), life(3)};
    asked.placer.on_loads({load(life(1), 1'000'000), two, three});
    CHECK(asked.place().at == life(3));
  }
}

TEST_CASE("what was placed somewhere counts there, until there is newer news of it") {
  Asked asked;
  asked.placer.ran("mul", 10ms);
  const std::vector<LifeLoad> gossip{load(life(1), 8), load(life(2)), load(life(3))};
  asked.placer.on_loads(gossip);
  std::map<Life, int> placed;
  for (int i = 0; i < 12; ++i) ++placed[asked.place().at];
  CHECK(placed[life(2)] > 4);
  CHECK(placed[life(3)] > 4);
  for (int i = 0; i < 100; ++i) ++placed[asked.place().at];
  CHECK(placed[life(1)] > 20);
  asked.placer.on_queue(life(1), {.lanes_free = 4, .tasks_ready = 0});
  CHECK(asked.place().at == life(1));
  asked.placer.on_loads(gossip);
  CHECK(asked.place().at != life(1));
}

TEST_CASE("with nobody known it stays, and says nothing") {
  Asked asked;
  asked.inputs = {{64 * mebibyte, {ProcessId{3}}}};
  SECTION("not even ourselves") {}
  SECTION("only ourselves") { asked.placer.on_loads({load(life(1), 100)}); }
  SECTION("others, but not of the job") {
    asked.placer.on_loads({load(life(1), 100), load(life(2)), load(life(3))});
    asked.lives = {life(1)};
  }
  SECTION("only an earlier life of the holder") {
    asked.placer.on_loads({load(life(1), 100), load(life(3))});
    asked.lives = {life(1), life(3, 2)};
  }
  const PlacedAttempt placed = asked.place();
  CHECK(placed.at == life(1));
  CHECK_FALSE(placed.why);
}

TEST_CASE("a task goes where its needs are met") {
  Asked asked;
  asked.policy.needs.cpus = 6;
  LifeLoad large = load(life(2));
  large.devices.devices[0].capacity.cpus = 8;
  asked.placer.on_loads({load(life(1)), large, load(life(3))});
  const PlacedAttempt placed = asked.place();
  CHECK(placed.at == life(2));
  // Nowhere: it stays, and the home says why it cannot run.
  asked.policy.needs.cpus = 60;
  CHECK(asked.place().at == life(1));
}

TEST_CASE("what would be longer under way to a thief than it waits here is kept") {
  FinishPlacer placer{7};
  const std::vector<PlacementInput> large = {{64 * mebibyte, {ProcessId{1}}}}, none;
  const std::vector<PlacementInput> there = {{64 * mebibyte, {ProcessId{1}, ProcessId{2}}}};
  placer.on_loads({load(life(1), 4), load(life(2))});
  placer.ran("mul", 1ms);
  CHECK(placer.keeps(large, life(2), life(1)));
  CHECK_FALSE(placer.keeps(none, life(2), life(1)));
  CHECK_FALSE(placer.keeps(there, life(2), life(1)));
  placer.on_loads({load(life(1), 4000), load(life(2))});
  CHECK_FALSE(placer.keeps(large, life(2), life(1)));
}

TEST_CASE("what waits behind a straggler goes, however short its like are and large its inputs") {
  Duration busy_for = 0s;
  FinishPlacer placer{7, [&] { return busy_for; }};
  const std::vector<PlacementInput> large = {{64 * mebibyte, {ProcessId{1}}}};
  placer.on_loads({load(life(1), 4), load(life(2))});
  placer.ran("mul", 1ms);
  CHECK(placer.keeps(large, life(2), life(1)));
  busy_for = 1s;
  CHECK_FALSE(placer.keeps(large, life(2), life(1)));
}

TEST_CASE("never a life that does not run the job") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    FinishPlacer placer(seed);
    const auto any_life = [&] {
      return life(static_cast<std::uint32_t>(random.below(6)),
                  1 + static_cast<std::uint32_t>(random.below(2)));
    };
    for (int i = 0; i < 20; ++i) {
      std::vector<LifeLoad> loads;
      for (std::uint64_t n = random.below(8); n > 0; --n) {
        loads.push_back(load(any_life(), static_cast<std::uint32_t>(random.below(100))));
      }
      if (random.chance(0.5)) placer.on_loads(loads);
      if (random.chance(0.5)) placer.ran("a", Duration(random.below(1ull << (1 + random.below(40)))));
      const Life self = any_life();
      std::map<ProcessId, Life> running{{self.process, self}};
      for (std::uint64_t n = random.below(5); n > 0; --n) {
        const Life one = any_life();
        running.try_emplace(one.process, one);
      }
      std::vector<Life> lives;
      for (const auto& [process, one] : running) lives.push_back(one);
      std::vector<PlacementInput> inputs;
      for (std::uint64_t n = random.below(4); n > 0; --n) {
        inputs.push_back({random.below(1u << 30), {any_life().process, any_life().process}});
      }
      const std::string name = random.chance(0.5) ? "a" : "b";
      Policy policy;
      policy.needs.cpus = 1 + static_cast<std::uint32_t>(random.below(6));
      const PlacedAttempt placed = placer.place_attempt({TaskId{0, 1}, name, policy, inputs}, lives, self);
      INFO("seed " << seed);
      REQUIRE(std::find(lives.begin(), lives.end(), placed.at) != lives.end());
      if (placed.why) REQUIRE(placed.why->chosen == placed.at.process);
    }
  }
}
