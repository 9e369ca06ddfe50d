// A single machine, spoken to by hand.
#include <catch2/catch.hpp>

#include "libdag/membership/membership_machine.hpp"

using namespace dag;
using namespace std::chrono_literals;
using namespace dag::membership;

namespace {

Life life(std::uint32_t process, std::uint32_t incarnation = 1) {
  return {ProcessId{process}, {incarnation}};
}

Claim claim_of(Life who, std::uint64_t beat, MemberState state = MemberState::alive) {
  const std::string port = std::to_string(who.process.value);
  return {.life = who, .state = state, .beat = beat, .endpoint = {"h:" + port, "h:1" + port}};
}

template <class Effect>
std::vector<Effect> only(const MembershipEffects& effects) {
  std::vector<Effect> result;
  for (const auto& effect : effects) {
    if (const auto* wanted = std::get_if<Effect>(&effect)) result.push_back(*wanted);
  }
  return result;
}

template <class Message>
std::vector<std::pair<std::string, Message>> sent(const MembershipEffects& effects) {
  std::vector<std::pair<std::string, Message>> result;
  for (const auto& send : only<SendMembership>(effects)) {
    if (const auto* message = std::get_if<Message>(&send.message))
      result.emplace_back(send.address, *message);
  }
  return result;
}

/// Process 1 and a clock; the others are what the test says.
struct Bench {
  explicit Bench(MembershipOptions options = {})
      : machine(life(1), {"h:1", "h:11"}, std::move(options), Random(1), now) {
    machine.on_tick(now);
  }
  MembershipEffects hear(Life from, std::uint64_t beat) {
    return machine.on_message(from, Gossip{{claim_of(from, beat)}}, now);
  }
  MembershipEffects hear(Life from, MembershipMessage message) {
    return machine.on_message(from, message, now);
  }
  /// Ticks when the machine asks for it.
  MembershipEffects until(Instant end) {
    MembershipEffects all;
    while (machine.wake_at() <= end) {
      now = machine.wake_at();
      MembershipEffects effects = machine.on_tick(now);
      for (const auto& [address, ping] : sent<Ping>(effects)) {
        for (const Life who : answering) {
          if (claim_of(who, 0).endpoint.control != address) continue;
          machine.on_message(who, Ack{ping.number, {claim_of(who, ++answers)}}, now);
        }
      }
      for (auto& effect : effects) all.push_back(std::move(effect));
    }
    now = end;
    return all;
  }
  MembershipEffects wait(Duration span) { return until(now + span); }

  Instant now{10s};
  MembershipMachine machine;
  /// Lets the members answer pings, while `until` runs.
  std::vector<Life> answering = {};
  std::uint64_t answers = 1;
};

MemberState state_of(const Bench& bench, std::uint32_t process) {
  return bench.machine.members().at(ProcessId{process}).claim.state;
}

}  // namespace

TEST_CASE("alone, it asks its seeds again and again, but never itself") {
  Bench bench({.seeds = {"h:1", "h:2"}});
  const auto joins = sent<Join>(bench.wait(450ms));
  REQUIRE(joins.size() == 4);
  for (const auto& [address, join] : joins) {
    CHECK(address == "h:2");
    CHECK(join.address == "h:2");
    CHECK(join.claims.front().life == life(1));
  }
}

TEST_CASE("its own address by another name is found out") {
  Bench bench({.seeds = {"localhost:1"}});
  bench.hear(life(1), Join{"localhost:1", {claim_of(life(1), 1)}});
  CHECK(sent<Join>(bench.wait(3s)).empty());
}

TEST_CASE("who asks to join is welcomed with all that is known") {
  Bench bench;
  bench.hear(life(2), 1);
  const auto effects = bench.hear(life(3), Join{"x:1", {claim_of(life(3), 7)}});
  CHECK(only<MemberUp>(effects) == std::vector{MemberUp{life(3), {"h:3", "h:13"}}});
  const auto welcomes = sent<Welcome>(effects);
  REQUIRE(welcomes.size() == 1);
  CHECK(welcomes[0].first == "h:3");
  CHECK(welcomes[0].second.address == "x:1");
  REQUIRE(welcomes[0].second.claims.size() == 3);
}

TEST_CASE("a seed that answered is asked again only when it is gone") {
  Bench bench({.seeds = {"seed:2"}});
  bench.hear(life(2), Welcome{"seed:2", {claim_of(life(2), 1)}});
  CHECK(sent<Join>(bench.wait(500ms)).empty());
  bench.hear(life(2), Gossip{{claim_of(life(2), 2, MemberState::left)}});
  CHECK(sent<Join>(bench.wait(2s)).size() >= 2);
}

TEST_CASE("seeds that are named later are asked in the place of the first ones") {
  Bench bench({.seeds = {"seed:2", "seed:3"}});
  bench.hear(life(2), Welcome{"seed:2", {claim_of(life(2), 1)}});
  bench.answering = {life(2)};
  bench.machine.on_seeds({"seed:2", "seed:4"});
  const auto joins = sent<Join>(bench.wait(3s));
  REQUIRE(joins.size() >= 2);
  for (const auto& [address, join] : joins) CHECK(address == "seed:4");
}

TEST_CASE("a ping is answered, with the same number") {
  Bench bench;
  const auto acks = sent<Ack>(bench.hear(life(2), Ping{42, {claim_of(life(2), 1)}}));
  REQUIRE(acks.size() == 1);
  CHECK(acks[0].second.number == 42);
}

TEST_CASE("beats fall together: a ping in the last quarter of a heartbeat calls the next one") {
  Bench bench;
  bench.hear(life(2), 1);
  bench.answering = {life(2)};
  bench.until(bench.machine.wake_at());
  const Instant before = bench.now;
  const auto pinged = [&](Duration after) {
    bench.now = before + after;
    return sent<Ping>(bench.hear(life(2), Ping{42, {claim_of(life(2), ++bench.answers)}})).size();
  };
  CHECK(pinged(74ms) == 0);
  CHECK(bench.machine.wake_at() == before + 100ms);
  CHECK(pinged(75ms) == 1);
  CHECK(bench.machine.wake_at() == before + 175ms);
  CHECK(pinged(76ms) == 0);
}

TEST_CASE("a silent process is suspected, then dead, within the budget") {
  Bench bench;
  bench.hear(life(2), 1);
  const Instant last = bench.now;
  CHECK(only<MemberSuspected>(bench.until(last + 799ms)).empty());
  CHECK(only<MemberSuspected>(bench.until(last + 950ms)) == std::vector{MemberSuspected{life(2)}});
  CHECK(only<MemberDown>(bench.until(last + 1200ms)) == std::vector{MemberDown{life(2), DownWhy::silent}});
  CHECK(bench.machine.up_count() == 0);
}

TEST_CASE("any later beat refutes a suspicion, from whomever it comes") {
  Bench bench;
  bench.hear(life(2), 1);
  bench.hear(life(3), 1);
  bench.answering = {life(3)};
  bench.wait(900ms);
  REQUIRE(state_of(bench, 2) == MemberState::suspect);
  // The same beat again is no news.
  bench.hear(life(3), Gossip{{claim_of(life(3), 90), claim_of(life(2), 1)}});
  CHECK(state_of(bench, 2) == MemberState::suspect);
  const auto effects = bench.hear(life(3), Gossip{{claim_of(life(3), 90), claim_of(life(2), 2)}});
  CHECK(only<MemberTrusted>(effects) == std::vector{MemberTrusted{life(2)}});
}

TEST_CASE("helpers are asked about a suspect, and an answer they forward saves it") {
  Bench bench;
  for (std::uint32_t process = 2; process <= 6; ++process) bench.hear(life(process), 1);
  bench.answering = {life(3), life(4), life(5), life(6)};
  const auto requests = sent<PingRequest>(bench.wait(900ms));
  REQUIRE(requests.size() == 3);
  CHECK(requests[0].second.target == life(2));
  bench.hear(life(3), Ack{requests[0].second.number, {claim_of(life(3), 90), claim_of(life(2), 2)}});
  CHECK(state_of(bench, 2) == MemberState::alive);
}

TEST_CASE("a helper pings for the asker and forwards the answer, or says that there was none") {
  Bench bench;
  bench.hear(life(2), 1);
  bench.hear(life(3), 1);
  const auto pings = sent<Ping>(bench.hear(life(2), PingRequest{77, life(3), {claim_of(life(2), 2)}}));
  REQUIRE(pings.size() == 1);
  CHECK(pings[0].first == "h:3");
  SECTION("answered") {
    const auto acks = sent<Ack>(bench.hear(life(3), Ack{pings[0].second.number, {claim_of(life(3), 5)}}));
    REQUIRE(acks.size() == 1);
    CHECK(acks[0].first == "h:2");
    CHECK(acks[0].second.number == 77);
    CHECK(sent<Nack>(bench.wait(300ms)).empty());
  }
  SECTION("not answered") {
    const auto nacks = sent<Nack>(bench.wait(150ms));
    REQUIRE(nacks.size() == 1);
    CHECK(nacks[0].first == "h:2");
    CHECK(nacks[0].second.number == 77);
  }
  SECTION("about somebody it does not know") {
    CHECK(sent<Nack>(bench.hear(life(2), PingRequest{78, life(9), {claim_of(life(2), 2)}})).size() == 1);
  }
}

TEST_CASE("a broken link shortens the wait") {
  Bench bench;
  bench.hear(life(2), 1);
  bench.wait(30ms);
  const auto pings = sent<Ping>(bench.machine.on_disconnected(life(2), bench.now));
  REQUIRE(pings.size() == 1);
  SECTION("a refused connection ends it") {
    const auto effects = bench.machine.on_refused(life(2), bench.now + 1ms);
    CHECK(only<MemberDown>(effects) == std::vector{MemberDown{life(2), DownWhy::process_died}});
  }
  SECTION("no answer in time ends it") {
    CHECK(only<MemberDown>(bench.wait(49ms)).empty());
    CHECK(only<MemberDown>(bench.wait(1ms)) == std::vector{MemberDown{life(2), DownWhy::process_died}});
  }
  SECTION("its last words do not save it") {
    bench.hear(life(2), 2);
    CHECK(only<MemberDown>(bench.wait(50ms)).size() == 1);
  }
  SECTION("an answer to the new ping does") {
    bench.hear(life(2), Ack{pings[0].second.number, {claim_of(life(2), 2)}});
    CHECK(only<MemberDown>(bench.wait(500ms)).empty());
  }
}

TEST_CASE("a refusal before any break, or about another life, kills nobody") {
  Bench bench;
  bench.hear(life(2, 5), 1);
  CHECK(bench.machine.on_refused(life(2, 4), bench.now).empty());
  CHECK(bench.machine.on_disconnected(life(9), bench.now).empty());
  const auto effects = bench.machine.on_refused(life(2, 5), bench.now);
  CHECK(only<MemberDown>(effects).empty());
  const auto pings = sent<Ping>(effects);
  REQUIRE(pings.size() == 1);
  bench.hear(life(2, 5), Ack{pings[0].second.number, {claim_of(life(2, 5), 2)}});
  CHECK(only<MemberDown>(bench.wait(500ms)).empty());
}

TEST_CASE("a new incarnation takes the place of the old one") {
  Bench bench;
  bench.hear(life(2, 1), 50);
  const auto effects = bench.hear(life(2, 2), 1);
  CHECK(only<MemberDown>(effects) == std::vector{MemberDown{life(2, 1), DownWhy::superseded}});
  CHECK(only<MemberUp>(effects).size() == 1);
  // The old one is told, and not believed.
  const auto late = bench.hear(life(2, 1), 51);
  CHECK(only<MemberUp>(late).empty());
  const auto obituaries = sent<Obituary>(late);
  REQUIRE(obituaries.size() == 1);
  CHECK(obituaries[0].second.deceased.life == life(2, 2));
}

TEST_CASE("the dead are told that they are dead, and cannot kill the living") {
  Bench bench;
  bench.hear(life(2), 1);
  bench.hear(life(3), Gossip{{claim_of(life(3), 1), claim_of(life(2), 1, MemberState::dead)}});
  REQUIRE(state_of(bench, 2) == MemberState::dead);
  const auto effects =
      bench.hear(life(2), Gossip{{claim_of(life(2), 9), claim_of(life(3), 9, MemberState::dead),
                                  claim_of(life(1), 9, MemberState::dead)}});
  CHECK(only<ComeBackAs>(effects).empty());
  CHECK(state_of(bench, 3) == MemberState::alive);
  const auto obituaries = sent<Obituary>(effects);
  REQUIRE(obituaries.size() == 1);
  CHECK(obituaries[0].first == "h:2");
  CHECK(obituaries[0].second.deceased.state == MemberState::dead);
  CHECK(obituaries[0].second.members_up == 2);
}

TEST_CASE("of two that hold each other dead, the one that sees fewer members yields") {
  struct Row {
    std::uint32_t their_id, their_members_up;
    bool we_yield;
  };
  const auto row = GENERATE(Row{9, 1, false}, Row{9, 2, false}, Row{9, 3, true}, Row{0, 1, false},
                            Row{0, 2, true}, Row{0, 3, true});
  Bench bench;  // We see ourselves and process 3.
  bench.hear(life(3), Gossip{{claim_of(life(3), 1), claim_of(life(row.their_id), 1, MemberState::dead)}});
  const auto effects = bench.hear(life(row.their_id), Obituary{claim_of(life(1), 1, MemberState::dead),
                                                               row.their_members_up,
                                                               {claim_of(life(row.their_id), 5)}});
  CHECK(only<ComeBackAs>(effects).size() == (row.we_yield ? 1 : 0));
  CHECK(sent<Obituary>(effects).size() == (row.we_yield ? 0 : 1));
}

TEST_CASE("an obituary from a member that is up is simply believed") {
  Bench bench;
  bench.hear(life(2), 1);
  const auto effects =
      bench.hear(life(2), Obituary{claim_of(life(1), 1, MemberState::dead), 1, {claim_of(life(2), 2)}});
  CHECK(only<ComeBackAs>(effects) == std::vector{ComeBackAs{{2}}});
}

TEST_CASE("who learns of its own death comes back as the next incarnation, and says nothing more") {
  struct Row {
    Claim about_us;
    std::uint32_t incarnation;
    bool began_too_low;
  };
  Claim elsewhere = claim_of(life(1, 7), 1, MemberState::alive);
  elsewhere.endpoint.control = "another:1";
  const auto row =
      GENERATE_COPY(Row{claim_of(life(1, 1), 1, MemberState::dead), 2, false},
                    Row{claim_of(life(1, 7), 1, MemberState::dead), 8, true},
                    // Nobody else can listen where we do.
                    Row{claim_of(life(1, 7), 1, MemberState::alive), 8, true}, Row{elsewhere, 8, false});
  Bench bench;
  const auto effects = bench.hear(life(2), Gossip{{claim_of(life(2), 1), row.about_us}});
  CHECK(only<ComeBackAs>(effects) == std::vector{ComeBackAs{{row.incarnation}, row.began_too_low}});
  CHECK(bench.machine.is_over());
  CHECK(bench.machine.on_tick(bench.now + 1s).empty());
  CHECK(bench.hear(life(2), 2).empty());
}

TEST_CASE("an older death of ours is no news") {
  Bench bench;
  MembershipMachine machine(life(1, 5), {"h:1", ""}, {}, Random(1), bench.now);
  machine.on_tick(bench.now);
  machine.on_message(life(2), Gossip{{claim_of(life(2), 1), claim_of(life(1, 4), 1, MemberState::dead)}},
                     bench.now);
  CHECK_FALSE(machine.is_over());
}

TEST_CASE("suspected, it answers with a later beat at once and doubts itself") {
  Bench bench;
  bench.hear(life(2), 1);
  const auto effects =
      bench.hear(life(2), Gossip{{claim_of(life(2), 2), claim_of(life(1), 99, MemberState::suspect)}});
  const auto news = sent<Gossip>(effects);
  REQUIRE(news.size() == 1);
  CHECK(news[0].second.claims.front().beat == 100);
  CHECK(bench.machine.patience_multiplier() == 2);
}

TEST_CASE("after a long sleep it accuses nobody before somebody has answered") {
  Bench bench;
  bench.hear(life(2), 1);
  bench.hear(life(3), 1);
  bench.wait(190ms);
  bench.now = bench.now + 5s;
  auto effects = bench.machine.on_tick(bench.now);
  CHECK(only<ViewStale>(effects).size() == 1);
  CHECK(only<MemberSuspected>(effects).empty());
  CHECK_FALSE(bench.machine.is_fresh());
  const auto pings = sent<Ping>(effects);
  REQUIRE(pings.size() >= 2);
  CHECK(only<MemberSuspected>(bench.wait(100ms)).empty());
  SECTION("an answer to a ping of before the sleep does not count") {
    bench.hear(life(2), Ack{1, {claim_of(life(2), 2)}});
    CHECK_FALSE(bench.machine.is_fresh());
  }
  SECTION("an answer does") {
    effects = bench.hear(life(2), Ack{pings[0].second.number, {claim_of(life(2), 2)}});
    CHECK(only<ViewFresh>(effects).size() == 1);
  }
  SECTION("and if nobody answers it goes on, slowly") {
    effects = bench.wait(20s);
    CHECK(only<ViewFresh>(effects).size() == 1);
    CHECK(only<MemberDown>(effects).size() == 2);
  }
}

TEST_CASE("a sleep of just two heartbeats is not a long one") {
  Bench bench;
  bench.hear(life(2), 1);
  bench.now = bench.now + 200ms;
  CHECK(only<ViewStale>(bench.machine.on_tick(bench.now)).empty());
  bench.now = bench.now + 201ms;
  CHECK(only<ViewStale>(bench.machine.on_tick(bench.now)).size() == 1);
}

TEST_CASE("lateness stretches patience, punctuality restores it") {
  Bench bench;
  for (int step = 0; step < 20; ++step) {
    bench.now = bench.machine.wake_at() + 80ms;
    bench.machine.on_tick(bench.now);
  }
  CHECK(bench.machine.patience_multiplier() == 8);
  bench.wait(2s);
  CHECK(bench.machine.patience_multiplier() == 1);
}

TEST_CASE("goodbye is believed at once and for ever") {
  Bench bench;
  bench.hear(life(2), 1);
  const auto goodbye = bench.machine.leave(bench.now);
  REQUIRE(sent<Gossip>(goodbye).size() == 1);
  CHECK(sent<Gossip>(goodbye)[0].second.claims.front().state == MemberState::left);
  CHECK(bench.machine.is_over());

  Bench other;
  other.hear(life(2), 1);
  const auto effects = other.hear(life(2), Gossip{{claim_of(life(2), 2, MemberState::left)}});
  CHECK(only<MemberDown>(effects) == std::vector{MemberDown{life(2), DownWhy::left}});
  CHECK(only<MemberUp>(other.hear(life(2), 3)).empty());
}

TEST_CASE("malformed messages change nothing") {
  Bench bench;
  const auto message =
      GENERATE(MembershipMessage(Ping{1, {}}), MembershipMessage(Gossip{{claim_of(life(3), 1)}}),
               MembershipMessage(Gossip{std::vector(members_max + 1, claim_of(life(2), 1))}));
  CHECK(bench.machine.on_message(life(2), message, bench.now).empty());
  CHECK(bench.machine.members().empty());
}

TEST_CASE("it knows a bounded number of members and forgets the dead first") {
  Bench bench;
  std::vector<Claim> crowd;
  for (std::uint32_t process = 2; process < 2 + members_max; ++process)
    crowd.push_back(claim_of(life(process), 1));
  bench.hear(life(2), Welcome{"h:2", crowd});
  CHECK(bench.machine.members().size() == members_max);
  bench.hear(life(5000), 1);
  CHECK_FALSE(bench.machine.members().contains(ProcessId{5000}));
  bench.hear(life(7), Gossip{{claim_of(life(7), 2, MemberState::left)}});
  bench.hear(life(5000), 1);
  CHECK(bench.machine.members().contains(ProcessId{5000}));
  CHECK_FALSE(bench.machine.members().contains(ProcessId{7}));
}

TEST_CASE("the round trip is measured by answers to our pings") {
  Bench bench;
  bench.hear(life(2), 1);
  const auto pings = sent<Ping>(bench.wait(100ms));
  REQUIRE(pings.size() == 1);
  bench.now = bench.now + 3ms;
  bench.hear(life(2), Ack{pings[0].second.number, {claim_of(life(2), 2)}});
  CHECK(bench.machine.members().at(ProcessId{2}).round_trip == 3ms);
}

TEST_CASE("a load is told with the next heartbeat") {
  Bench bench;
  bench.hear(life(2), 1);
  bench.machine.on_load({.devices = {}, .tasks_ready = 9});
  const auto pings = sent<Ping>(bench.wait(100ms));
  REQUIRE(pings.size() == 1);
  CHECK(pings[0].second.claims.front().load.tasks_ready == 9);
}

TEST_CASE("who is asked before its first heartbeat says what it has") {
  MembershipMachine machine(life(1), {"h:1", "h:11"}, {}, Random(1), {});
  machine.on_load({.devices = {{"cpu", 4, 4, 0, 0, {}}}, .tasks_ready = 0});
  CHECK(machine.self().load.devices.size() == 1);
  const auto effects = machine.on_message(life(2), Gossip{{claim_of(life(2), 1)}}, {});
  for (const auto& [address, gossip] : sent<Gossip>(effects)) {
    CHECK(gossip.claims.front().load.devices.size() == 1);
  }
}
