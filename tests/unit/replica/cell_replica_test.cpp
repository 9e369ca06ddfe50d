// Replicas of a job's cell: what leaves which of them, and what a new leader knows and says. What faults do
// to them is the simulator's to find (tools/sim/world_replicas.cpp).
#include "libdag/replica/cell_replica.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "libdag/wire/cell_log.hpp"
#include "tests/support/small_graph.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

constexpr Life life(std::uint32_t process) { return {ProcessId{process}, Incarnation{1}}; }
/// Where the code of small graphs is.
const wire::CodeMap codes({{reinterpret_cast<std::uintptr_t>(&test::code_place), 1}});

/// 0 -> 1, each in a shard of its own.
std::shared_ptr<const JobPlan> plan_of_two() {
  detail::Builder builder;
  test::add(builder, "a");
  test::add(builder, "b");
  test::strong(builder, 0, 1);
  auto plan = std::make_shared<JobPlan>();
  plan->job = JobId{7};
  plan->graph = std::make_shared<const detail::Fragment>(builder.sealed());
  plan->shard_of = {0, 1};
  plan->shards = 2;
  return plan;
}

/// Journal records, and jobs that went on from a record.
struct Records final : EventSink {
  void record(const JournalEvent& record) override { said.push_back(record); }
  void goes_on(const JobSoFar& job) override { so_far.push_back(job); }
  template <class What>
  std::vector<What> all() const {
    std::vector<What> found;
    for (const JournalEvent& record : said) {
      if (const auto* what = std::get_if<What>(&record.what)) found.push_back(*what);
    }
    return found;
  }
  std::vector<JournalEvent> said;
  std::vector<JobSoFar> so_far;
};

struct Box {
  explicit Box(std::uint32_t number, Instant at, const CellReplicaOptions& more)
      : self(life(number)), options(more) {
    options.self = self;
    options.log.self = {ProcessId{number}, 1};
    options.log.seed = number;
    options.codes = &codes;
    replica = std::make_unique<CellReplica>(options, consensus::Stored{}, records, at);
  }
  template <class M>
  std::vector<M> said_to(Life to) const {
    std::vector<M> found;
    for (const SendMessage& one : said) {
      const auto* wanted = std::get_if<M>(&one.message);
      if (wanted != nullptr && one.to == to) found.push_back(*wanted);
    }
    return found;
  }
  Life self;
  CellReplicaOptions options;
  Records records;
  std::unique_ptr<CellReplica> replica;  ///< null: dead
  std::vector<SendMessage> said;
  std::vector<TellClient> told;
  std::vector<JobIsOver> ended;
};

/// Several, whose disks take no time, and whose messages arrive one after the other.
struct Cluster {
  explicit Cluster(std::uint32_t count, std::uint64_t compact_every = 4096,
                   std::size_t compact_bytes = std::size_t{16} << 20) {
    CellReplicaOptions options;
    options.compact_every = compact_every;
    options.compact_bytes = compact_bytes;
    options.command_bytes_max = 4096;
    for (std::uint32_t i = 0; i < count; ++i) boxes.push_back(std::make_unique<Box>(i, now, options));
    for (const auto& box : boxes) {
      std::vector<consensus::Candidate> seats;
      for (std::uint32_t other = 0; other < count; ++other) {
        seats.push_back({{ProcessId{other}, 1}});
        if (life(other) != box->self) box->replica->on_life_up(life(other), now);
      }
      box->replica->on_seats(seats, {}, now);
    }
  }
  /// On all of `voters`; the first leads.
  void begin(std::uint32_t voters) {
    consensus::Configuration who;
    for (std::uint32_t i = 0; i < voters; ++i) who.voters.push_back({ProcessId{i}, 1});
    for (std::uint32_t i = 0; i < voters; ++i) {
      boxes[i]->replica->begin(who, genesis_of(plan_of_two(), true, voters), i == 0, now);
    }
    settle();
    pass(150ms);
  }
  Box& operator[](std::uint32_t number) { return *boxes[number]; }
  void settle() {
    for (bool again = true; again;) {
      again = false;
      for (const auto& box : boxes) {
        if (!box->replica) continue;
        for (CellReplicaEffect& any : box->replica->take_effects()) {
          again = true;
          if (auto* one = std::get_if<SendToReplica>(&any)) {
            Box& to = *boxes[one->to.value];
            if (to.replica) to.replica->on_replica_message(one->message, now);
          } else if (auto* change = std::get_if<WriteToLog>(&any)) {
            if (const auto* more = std::get_if<consensus::StoredEntries>(&change->change)) {
              for (const consensus::Entry& entry : more->entries)
                REQUIRE(entry.command.size_bytes() <= box->options.command_bytes_max);
            }
            box->replica->on_written(change->number, now);
          } else if (auto* message = std::get_if<SendMessage>(&any)) {
            box->said.push_back(std::move(*message));
          } else if (auto* tell = std::get_if<TellClient>(&any)) {
            box->told.push_back(std::move(*tell));
          } else if (auto* end = std::get_if<JobIsOver>(&any)) {
            box->ended.push_back(std::move(*end));
          }
        }
      }
    }
  }
  void pass(Duration time) {
    for (const Instant end = now + time; now < end;) {
      now = now + 10ms;
      for (const auto& box : boxes) {
        if (box->replica && box->replica->due() <= now) box->replica->on_time(now);
      }
      settle();
    }
  }
  void die(std::uint32_t number) {
    boxes[number]->replica.reset();
    for (const auto& box : boxes) {
      if (box->replica) box->replica->on_life_down(life(number), now);
    }
    settle();
  }
  Box* leading() {
    for (const auto& box : boxes) {
      if (box->replica && box->replica->leads()) return box.get();
    }
    return nullptr;
  }
  enum class Answers { arrive, lost };
  /// The home of `shard` says that its only task finished. `lost`: the copies get it, and no answer of theirs
  /// arrives.
  bool say(Box& to, std::uint32_t shard, std::uint64_t number = 1, Answers answers = Answers::arrive) {
    const message::ShardHome home = to.replica->cell()->state().homes[shard];
    message::Outcomes outcomes;
    outcomes.job = JobId{7};
    outcomes.shard = shard;
    outcomes.epoch = home.epoch;
    outcomes.number = number;
    OutcomeRecord record;
    record.task = {0, shard};
    record.attempt = {home.epoch, 1};
    record.outcome = Outcome::finished;
    record.value = detail::to_blob(std::uint64_t{shard});
    outcomes.records = {record};
    const bool taken = to.replica->on_message(home.home, outcomes, now);
    answers == Answers::arrive ? settle() : send_to_copies(to);
    return taken;
  }
  void send_to_copies(Box& from) {
    for (CellReplicaEffect& any : from.replica->take_effects()) {
      if (const auto* one = std::get_if<SendToReplica>(&any)) {
        boxes[one->to.value]->replica->on_replica_message(one->message, now);
        for (CellReplicaEffect& written : boxes[one->to.value]->replica->take_effects()) {
          if (const auto* change = std::get_if<WriteToLog>(&written))
            boxes[one->to.value]->replica->on_written(change->number, now);
        }
      }
    }
  }
  Instant now;
  std::vector<std::unique_ptr<Box>> boxes;
};

}  // namespace

TEST_CASE("who begins a cell leads it, and only he speaks") {
  Cluster cluster(3);
  cluster.begin(3);
  REQUIRE(cluster.leading() == &cluster[0]);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(cluster[0].said_to<message::JobCreate>(life(i)).size() == 1);
    CHECK(cluster[i].replica->cell()->state().cell == life(0));
    CHECK(cluster[i].replica->cell()->state().replicas == 3);
    if (i > 0) CHECK(cluster[i].said.empty());
    if (i > 0) CHECK_FALSE(cluster[i].replica->keep({{0, 0}}, cluster.now));
  }
  CHECK_FALSE(cluster[0].records.said.empty());
  CHECK(cluster[1].records.said.empty());

  REQUIRE(cluster[0].replica->follow(ClientId{1}, {}, cluster.now));
  CHECK(cluster.say(cluster[0], 0));
  REQUIRE(cluster[0].told.size() == 1);
  CHECK(cluster[0].told[0].record.task == TaskId{0, 0});
  CHECK(cluster[1].told.empty());
  CHECK_FALSE(cluster.say(cluster[0], 0));  // Said before.
}

// The command was proposed, the store of each copy checked it and ended its record, and the next leader was
// told the same.
TEST_CASE("what is larger than a log can hold stops the job, and is written by nobody") {
  Cluster cluster(3);
  cluster.begin(3);
  Box& leader = cluster[0];
  const message::ShardHome home = leader.replica->cell()->state().homes[0];
  message::Outcomes outcomes;
  outcomes.job = JobId{7};
  outcomes.epoch = home.epoch;
  outcomes.number = 1;
  OutcomeRecord record;
  record.task = {0, 0};
  record.attempt = {home.epoch, 1};
  record.outcome = Outcome::finished;
  record.inputs.resize(1000, {{0, 0}, record.attempt});
  outcomes.records = {record};
  CHECK(leader.replica->on_message(home.home, outcomes, cluster.now));
  cluster.settle();
  REQUIRE(leader.ended.size() == 1);
  REQUIRE(leader.ended[0].stopped);
  CHECK_THAT(leader.ended[0].stopped->what, Catch::Contains("in the job's record, which takes 4096 at most"));
  CHECK_FALSE(leader.ended[0].stopped->hint.empty());
  cluster.pass(100ms);
  for (std::uint32_t i = 0; i < 3; ++i) CHECK(cluster[i].replica->cell()->state().stopped);
  cluster.die(0);
  cluster.pass(2s);
  REQUIRE(cluster.leading() != nullptr);
  CHECK(cluster.leading()->replica->cell()->state().stopped);
}

TEST_CASE("what a client asks for again and again lies in the log once") {
  Cluster cluster(3);
  cluster.begin(3);
  const auto length = [&] { return cluster[0].replica->log().last_index(); };
  const consensus::Index before = length();
  for (int i = 0; i < 3; ++i) CHECK(cluster[0].replica->keep({{0, 0}}, cluster.now));
  CHECK(length() == before + 1);
  cluster.settle();
  CHECK(cluster[0].replica->keep({{0, 0}, {0, 1}}, cluster.now));
  CHECK(length() == before + 2);
}

TEST_CASE("who does not know what the job is asks who leads, and no new leader tells it to all again") {
  Cluster cluster(3);
  cluster.begin(3);
  CHECK_FALSE(cluster[1].replica->on_message(life(2), message::AskPlan{JobId{7}}, cluster.now));
  cluster.die(0);
  cluster.pass(3s);
  Box* leader = cluster.leading();
  REQUIRE(leader != nullptr);
  const Life other = leader == &cluster[1] ? life(2) : life(1);
  CHECK_FALSE(leader->said_to<message::JobState>(other).empty());
  CHECK(leader->said_to<message::JobCreate>(other).empty());
  CHECK(leader->replica->on_message(other, message::AskPlan{JobId{7}}, cluster.now));
  cluster.settle();
  REQUIRE(leader->said_to<message::JobCreate>(other).size() == 1);
  CHECK(leader->said_to<message::JobCreate>(other)[0].plan->graph->size() == 2);
}

TEST_CASE("a lease is renewed by who leads, when it is known that nobody else does, for who takes part") {
  Cluster cluster(3);
  cluster.begin(3);
  const auto renewed = [&](std::uint32_t process) {
    return cluster[0].said_to<message::LeaseRenewed>(life(process)).size();
  };
  CHECK(cluster[0].replica->on_message(life(1), message::RenewLease{JobId{7}, 5}, cluster.now));
  CHECK(renewed(1) == 0);  // The replica asks the others first.
  cluster.settle();
  REQUIRE(renewed(1) == 1);
  CHECK(cluster[0].said_to<message::LeaseRenewed>(life(1)).front().number == 5);
  SECTION("others do not") {
    CHECK_FALSE(cluster[1].replica->on_message(life(1), message::RenewLease{JobId{7}, 6}, cluster.now));
  }
  SECTION("not for who is taken for dead") {
    cluster.die(2);
    cluster.pass(100ms);
    CHECK_FALSE(cluster[0].replica->on_message(life(2), message::RenewLease{JobId{7}, 6}, cluster.now));
    cluster.settle();
    CHECK(renewed(2) == 0);
  }
  SECTION("not without a majority, and not when one comes later") {
    cluster[1].replica.reset();
    cluster[2].replica.reset();
    cluster[0].replica->on_message(life(1), message::RenewLease{JobId{7}, 6}, cluster.now);
    cluster.pass(3s);
    CHECK(renewed(1) == 1);
  }
}

TEST_CASE("nothing is told before a majority has it on the disk") {
  Cluster cluster(3);
  cluster.begin(3);
  REQUIRE(cluster[0].replica->follow(ClientId{1}, {}, cluster.now));
  cluster[1].replica.reset();
  cluster[2].replica.reset();
  cluster.say(cluster[0], 0);
  CHECK(cluster[0].told.empty());
  CHECK(cluster[0].said_to<message::Settled>(life(0)).empty());
  cluster.pass(2s);
  CHECK_FALSE(cluster[0].replica->leads());
  CHECK(cluster[0].replica->without_majority());
  CHECK(cluster[0].told.empty());
}

TEST_CASE("a cancel is recorded when a majority has it, once, and every later leader knows") {
  Cluster cluster(3);
  cluster.begin(3);
  CHECK_FALSE(cluster[1].replica->cancel({}, cluster.now));  // Replica 1 does not lead.
  CHECK(cluster[0].replica->cancel({}, cluster.now));
  CHECK_FALSE(cluster[0].replica->is_cancelled());
  SECTION("a majority gets it") {
    cluster.settle();
    CHECK(cluster[0].replica->is_cancelled());
    const consensus::Index length = cluster[0].replica->log().last_index();
    CHECK(cluster[0].replica->cancel({}, cluster.now));
    CHECK(cluster[0].replica->log().last_index() == length);
    cluster.die(0);
    cluster.pass(300ms);
    REQUIRE(cluster.leading() != nullptr);
    CHECK(cluster.leading()->replica->is_cancelled());
  }
  SECTION("its leader dies before anybody else gets it") {
    cluster.die(0);
    cluster.pass(300ms);
    REQUIRE(cluster.leading() != nullptr);
    CHECK_FALSE(cluster.leading()->replica->is_cancelled());
    CHECK(cluster.leading()->replica->cancel({}, cluster.now));
    cluster.settle();
    CHECK(cluster.leading()->replica->is_cancelled());
  }
  SECTION("there is no majority") {
    cluster[1].replica.reset();
    cluster[2].replica.reset();
    cluster.pass(3s);
    CHECK_FALSE(cluster[0].replica->is_cancelled());
    CHECK_FALSE(cluster[0].replica->leads());
  }
}

TEST_CASE("another replica goes on where the leader died, and says again what may have been lost") {
  Cluster cluster(3);
  cluster.begin(3);
  REQUIRE(cluster[0].replica->follow(ClientId{1}, {}, cluster.now));
  cluster.say(cluster[0], 1);
  const OutcomeRecord told = cluster[0].told.at(0).record;
  const std::uint32_t term = cluster[0].replica->cell()->state().term;
  cluster.die(0);
  cluster.pass(300ms);  // Its death was seen: nobody waits for an election timeout.
  Box* leader = cluster.leading();
  REQUIRE(leader != nullptr);
  const message::JobState& state = leader->replica->cell()->state();
  CHECK(state.cell == leader->self);
  CHECK(state.term > term);
  CHECK(state.lives == std::vector{life(1), life(2)});
  CHECK(state.homes[0].home != life(0));
  CHECK(state.homes[0].epoch == Epoch{1, 2});
  CHECK(leader->said_to<message::Assign>(state.homes[0].home).size() == 1);
  const auto again = leader->said_to<message::Settled>(state.homes[1].home);
  REQUIRE_FALSE(again.empty());
  CHECK(again[0].from == 0);
  CHECK(again[0].to == 1);
  CHECK(again[0].outcomes == 1);
  CHECK(again[0].steps == 1);

  REQUIRE(leader->replica->follow(ClientId{1}, {}, cluster.now));
  cluster.settle();
  REQUIRE(leader->told.size() == 1);
  CHECK(leader->told[0].record.attempt == told.attempt);
  cluster.say(*leader, 0);
  REQUIRE(leader->ended.size() == 1);

  SECTION("also that the job has ended") {
    cluster.boxes.push_back(
        std::make_unique<Box>(3, cluster.now, CellReplicaOptions{}));  // A majority has to be left.
    cluster.pass(1s);
    for (const auto& box : cluster.boxes) {
      if (box->replica)
        box->replica->on_seats({{{ProcessId{1}, 1}}, {{ProcessId{2}, 1}}, {{ProcessId{3}, 1}}}, {},
                               cluster.now);
    }
    cluster.pass(2s);
    const std::uint32_t number = leader->self.process.value;
    REQUIRE(leader->replica->log().configuration().votes({ProcessId{3}, 1}));
    cluster.die(number);
    cluster.pass(2s);
    Box* next = cluster.leading();
    REQUIRE(next != nullptr);
    CHECK(next->ended.size() == 1);
  }
}

TEST_CASE("who leads next records how a job began of which nothing is settled, or goes on from what is") {
  const bool settled = GENERATE(true, false);
  Cluster cluster(3);
  cluster.begin(3);
  if (settled) cluster.say(cluster[0], 1);
  cluster.pass(100ms);  // The copies hear that it is settled.
  CHECK(cluster[0].records.so_far.empty());
  CHECK(cluster[1].records.said.empty());
  cluster.die(0);
  cluster.pass(300ms);
  Box* leader = cluster.leading();
  REQUIRE(leader != nullptr);
  const event::TasksKnown known{true, {{"a", 1}, {"b", 1}}};
  const Records& records = leader->records;
  CHECK(records.all<event::Settled>().empty());
  CHECK(records.all<event::JobBegan>().size() == (settled ? 0 : 1));
  CHECK(records.all<event::TasksKnown>().size() == (settled ? 0 : 1));
  REQUIRE(records.so_far.size() == (settled ? 1 : 0));
  if (!settled) return;
  CHECK(records.so_far[0].job == JobId{7});
  CHECK(records.so_far[0].finished == std::map<std::string, std::uint64_t>{{"b", 1}});
  REQUIRE(records.so_far[0].records.size() == 1);
  CHECK(records.so_far[0].records[0].what == EventWhat(known));
}

TEST_CASE(
    "who leads next records what the leader before it put into the copies, and did not live to record") {
  Cluster cluster(3);
  cluster.begin(3);
  cluster.say(cluster[0], 1);
  REQUIRE(cluster[0].records.all<event::Settled>().size() == 1);
  cluster.say(cluster[0], 0, 1, Cluster::Answers::lost);
  CHECK(cluster[0].records.all<event::Settled>().size() == 1);
  cluster.die(0);
  cluster.pass(300ms);
  Box* leader = cluster.leading();
  REQUIRE(leader != nullptr);
  const auto settled = leader->records.all<event::Settled>();
  REQUIRE(settled.size() == 1);
  CHECK(settled[0].name == "a");
  REQUIRE(leader->records.so_far.size() == 1);
  CHECK(leader->records.so_far[0].finished == std::map<std::string, std::uint64_t>{{"a", 1}, {"b", 1}});
}

TEST_CASE("how a life ended is charged by the leader that comes after the one that did not live to say so") {
  Cluster cluster(4);
  cluster.begin(3);
  LifeEnd how{ProcessEnd::faulted, "signal 11", {{{0, 1}, {{1, 1}, 1}, 0}}, 0};
  cluster[1].replica->on_life_down(life(3), cluster.now, how);
  cluster[2].replica->on_life_down(life(3), cluster.now, how);
  cluster.die(0);
  cluster.pass(300ms);
  REQUIRE(cluster.leading() != nullptr);
  const message::JobState& state = cluster.leading()->replica->cell()->state();
  CHECK(state.lives == std::vector{life(1), life(2)});
  REQUIRE(state.crashed.size() == 1);
  CHECK(state.crashed[0].task == TaskId{0, 1});
  CHECK(state.crashed[0].times == 1);
}

TEST_CASE(
    "who hears that a life is over that it has not heard of knows that the one before it is over, too") {
  Cluster cluster(4);
  cluster.begin(3);
  CellReplica& leader = *cluster[0].replica;
  leader.on_life_down({ProcessId{3}, Incarnation{2}}, cluster.now);
  leader.check_invariants();
  cluster.pass(200ms);
  CHECK(leader.cell()->state().lives == std::vector{life(0), life(1), life(2)});
}

TEST_CASE("lives that died before a leader could hear of them are found") {
  Cluster cluster(4);
  cluster.begin(3);
  CHECK(cluster[0].replica->cell()->state().lives.size() == 4);
  // Another one comes to lead in the place of 1, which was told of nobody but those that are there.
  Box& late = cluster[1];
  late.replica = std::make_unique<CellReplica>(late.options, consensus::Stored{}, late.records, cluster.now);
  for (const std::uint32_t there : {0u, 2u}) late.replica->on_life_up(life(there), cluster.now);
  cluster.pass(500ms);
  cluster[0].replica->hand_over(ProcessId{1}, cluster.now);
  cluster.pass(200ms);
  REQUIRE(cluster.leading() == &late);
  CHECK(late.replica->cell()->state().lives.size() == 4);
  SECTION("at once, when there is a later life of their process") {
    late.replica->on_life_up({ProcessId{3}, Incarnation{2}}, cluster.now, false);
    cluster.pass(300ms);
  }
  SECTION("after a while") { cluster.pass(2s); }
  CHECK(late.replica->cell()->state().lives == std::vector{life(0), life(1), life(2)});
}

TEST_CASE("a witness leads no longer than it must") {
  Cluster cluster(3);
  Box& box = cluster[0];
  box.options.witness = true;
  box.replica = std::make_unique<CellReplica>(box.options, consensus::Stored{}, box.records, cluster.now);
  for (const std::uint32_t other : {1u, 2u}) box.replica->on_life_up(life(other), cluster.now);
  box.replica->on_seats({{{ProcessId{0}, 1}}, {{ProcessId{1}, 1}}, {{ProcessId{2}, 1}}}, {}, cluster.now);
  cluster.begin(3);  // The witness leads first.
  cluster.pass(2s);
  REQUIRE(cluster.leading() != nullptr);
  Box* leader = cluster.leading();
  CHECK(leader != &box);
  SECTION("another one of two that are left leads, with its voice") {
    cluster.die(leader->self.process.value);
    cluster.pass(2s);
    REQUIRE(cluster.leading() != nullptr);
    CHECK(cluster.leading() != &box);
  }
  SECTION("it has whatever was settled") {
    cluster.say(*leader, 0);
    cluster.pass(1s);
    CHECK(box.replica->cell()->settled({0, 0}));
    CHECK(box.replica->log().configuration().voters.size() == 3);
  }
}

TEST_CASE("who is sick hands over, and leads again when it is well or nobody else can") {
  Cluster cluster(3);
  cluster.begin(3);
  cluster.pass(2s);
  REQUIRE(cluster.leading() == &cluster[0]);
  cluster[0].replica->on_sick(true, cluster.now);
  cluster.pass(2s);
  REQUIRE(cluster.leading() != nullptr);
  Box& next = *cluster.leading();
  CHECK(&next != &cluster[0]);
  cluster.say(next, 0);
  cluster.pass(1s);
  CHECK(cluster[0].replica->cell()->settled({0, 0}));  // Replica 0 follows as ever.
  SECTION("all are sick: one of them leads") {
    for (const std::uint32_t other : {1u, 2u}) cluster[other].replica->on_sick(true, cluster.now);
    cluster.pass(5s);
    CHECK(cluster.leading() != nullptr);
  }
  SECTION("it is well again, and the one that leads is sick") {
    cluster[0].replica->on_sick(false, cluster.now);
    cluster[3 - next.self.process.value].replica->on_sick(true, cluster.now);
    next.replica->on_sick(true, cluster.now);
    cluster.pass(2s);
    CHECK(cluster.leading() == &cluster[0]);
  }
}

TEST_CASE("snapshots, entries and the disk come to the same cell") {
  Cluster cluster(3, 2);
  cluster.begin(3);
  cluster.say(cluster[0], 0);
  cluster.say(cluster[0], 1);
  cluster[0].replica->keep({{0, 1}}, cluster.now);
  cluster.settle();
  REQUIRE(cluster[0].replica->log().snapshot()->index > 0);
  const auto bytes_of = [](const CellReplica& replica) {
    const Blob bytes = wire::encode(replica.cell()->snapshot(), codes);
    return std::vector<std::byte>(bytes.bytes().begin(), bytes.bytes().end());
  };
  Box& late = cluster[2];
  late.replica = std::make_unique<CellReplica>(late.options, consensus::Stored{}, late.records, cluster.now);
  cluster.pass(1s);
  REQUIRE(late.replica->applied() == cluster[0].replica->applied());
  CHECK(bytes_of(*late.replica) == bytes_of(*cluster[0].replica));
  CHECK(bytes_of(*cluster[1].replica) == bytes_of(*cluster[0].replica));
  CHECK(late.replica->cell()->settled({0, 1})->attempt == AttemptId{{1, 1}, 1});
}

TEST_CASE("a log is made short by who leads and who does not when it is large, however few entries it has") {
  Cluster cluster(3, 4096, 1);
  cluster.begin(3);
  for (std::uint32_t i = 0; i < 60; ++i) {
    cluster[0].replica->on_life_up(life(100 + i), cluster.now);
    cluster.settle();
    for (const auto& box : cluster.boxes) {
      const consensus::Replica& log = box->replica->log();
      std::size_t size_bytes = 0;
      for (consensus::Index index = log.snapshot()->index + 1; index <= box->replica->applied(); ++index)
        size_bytes += consensus::entry_bytes(log.entry(index));
      REQUIRE(size_bytes < log.snapshot()->state.size_bytes());
    }
  }
  cluster.pass(200ms);
  for (const auto& box : cluster.boxes) CHECK(box->replica->log().snapshot()->index > 1);
}

TEST_CASE("while a leader's disk is behind it proposes nothing, and then what waited") {
  Cluster cluster(3);
  cluster.begin(3);
  const auto length = [&] { return cluster[0].replica->log().last_index(); };
  const consensus::Index before = length();
  cluster[0].replica->on_disk_behind(true, cluster.now);
  CHECK(cluster.say(cluster[0], 0));
  CHECK(cluster.say(cluster[0], 0));  // Homes say it again.
  CHECK(cluster[0].replica->keep({{0, 1}}, cluster.now));
  cluster.pass(1s);
  CHECK(length() == before);
  CHECK(cluster.leading() == &cluster[0]);
  cluster[0].replica->on_disk_behind(false, cluster.now);
  cluster.settle();
  CHECK(length() == before + 2);
  CHECK(cluster[0].replica->cell()->settled({0, 0}));

  // A new leader begins, also with a disk that is behind.
  for (const std::uint32_t other : {1u, 2u}) cluster[other].replica->on_disk_behind(true, cluster.now);
  cluster.die(0);
  cluster.pass(5s);
  REQUIRE(cluster.leading() != nullptr);
  CHECK(cluster.leading()->replica->cell()->settled({0, 0}));
}

TEST_CASE("a node that is to go hands the job over; its copy is replaced where there is room for another") {
  const auto seat = [](std::uint32_t node) { return consensus::Seat{ProcessId{node}, 1}; };
  const auto leave = [&](Cluster& cluster, std::uint32_t count) {
    std::vector<consensus::Candidate> staying;
    for (std::uint32_t node = 1; node < count; ++node) staying.push_back({seat(node)});
    for (const auto& box : cluster.boxes) box->replica->on_seats(staying, {seat(0)}, cluster.now);
    cluster.pass(3s);
    REQUIRE(cluster.leading() != nullptr);
    CHECK(cluster.leading() != &cluster[0]);
    return cluster.leading()->replica->log().configuration();
  };
  SECTION("three of three") {
    Cluster cluster(3);
    cluster.begin(3);
    CHECK(leave(cluster, 3) == consensus::Configuration{{seat(0), seat(1), seat(2)}, {}});
  }
  SECTION("three of four") {
    Cluster cluster(4);
    cluster.begin(3);
    CHECK(leave(cluster, 4) == consensus::Configuration{{seat(1), seat(2), seat(3)}, {}});
  }
  SECTION("the only copy of two nodes") {
    Cluster cluster(2);
    cluster.begin(1);
    CHECK(leave(cluster, 2) == consensus::Configuration{{seat(1)}, {}});
  }
}
