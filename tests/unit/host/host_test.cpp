// Worker processes of a node: messages about them, and their receivers.

#include "libdag/host/host.hpp"

#include <catch2/catch.hpp>
#include <set>

using namespace dag;
using namespace std::chrono_literals;

namespace {

const Life self{{1}, {7}}, cell{{0}, {5}};
const Launch launch{{1, 2, 3}, "build", {"job"}, "/"};
const JobId job{42};

template <class Effect>
std::vector<Effect> only(const std::vector<HostEffect>& effects) {
  std::vector<Effect> found;
  for (const HostEffect& effect : effects) {
    if (const auto* one = std::get_if<Effect>(&effect)) found.push_back(*one);
  }
  return found;
}
template <class Message>
std::vector<Message> said(const std::vector<HostEffect>& effects) {
  std::vector<Message> found;
  for (const SendToKeeper& sent : only<SendToKeeper>(effects)) {
    CHECK(sent.to == cell);
    if (const auto* message = std::get_if<Message>(&sent.message)) found.push_back(*message);
  }
  return found;
}

/// A host that knows the program, and has been asked for a process.
struct Started {
  HostMachine host{self};
  Instant now{1s};
  Life life;
  Started() {
    host.on_program(launch.program, std::nullopt, now);
    host.on_message(cell, keeper::StartWorker{job, 1, 0, launch}, now);
    const auto starts = only<StartProcess>(host.take_effects());
    REQUIRE(starts.size() == 1);
    CHECK(starts.front().cell == cell);
    life = starts.front().life;
    host.on_started(life, 99);
  }
};

}  // namespace

TEST_CASE("a program that is not here is fetched before a process starts") {
  HostMachine host(self);
  host.on_message(cell, keeper::StartWorker{job, 1, 0, launch}, {});
  auto effects = host.take_effects();
  CHECK(said<keeper::WantProgram>(effects).size() == 1);
  CHECK(only<StartProcess>(effects).empty());
  host.on_program(launch.program, std::nullopt, {});
  CHECK(only<StartProcess>(host.take_effects()).size() == 1);
}

TEST_CASE("a program that cannot be had refuses the process") {
  HostMachine host(self);
  host.on_message(cell, keeper::StartWorker{job, 1, 0, launch}, {});
  host.take_effects();
  host.on_program(launch.program, Error{ErrorCode::program_invalid, "no"}, {});
  CHECK(said<keeper::WorkerRefused>(host.take_effects()).size() == 1);
  CHECK(host.empty());
}

TEST_CASE("a program that the leader does not have is asked of the others, one after the other") {
  HostMachine host(self);
  const Life third{{2}, {8}};
  std::vector<Claim> nodes(3);
  nodes[0].life = cell;
  nodes[1].life = self;
  nodes[2].life = third;
  host.on_nodes(nodes);
  host.on_message(cell, keeper::StartWorker{job, 1, 0, launch}, {});
  host.take_effects();
  host.on_program_missing(cell, launch.program, {});
  const auto asked = only<SendToKeeper>(host.take_effects());
  REQUIRE(asked.size() == 1);
  CHECK(asked.front().to == third);
  CHECK(std::get<keeper::WantProgram>(asked.front().message).program == launch.program);
  SECTION("one has it") {
    host.on_program(launch.program, std::nullopt, {});
    CHECK(only<StartProcess>(host.take_effects()).size() == 1);
  }
  SECTION("none has it") {
    host.on_program_missing(third, launch.program, {});
    CHECK(said<keeper::WorkerRefused>(host.take_effects()).size() == 1);
    CHECK(host.empty());
  }
}

TEST_CASE("one process of a job is told to end, the others are not") {
  Started started;
  started.host.on_message(cell, keeper::StartWorker{job, 2, 0, launch}, started.now);
  started.host.take_effects();
  started.host.on_message(cell, keeper::StopWorker{job, 3}, started.now);
  started.host.on_message(cell, keeper::StopWorker{JobId{43}, 1}, started.now);
  CHECK(started.host.take_effects().empty());
  started.host.on_message(cell, keeper::StopWorker{job, 1}, started.now);
  const auto stopped = only<StopProcess>(started.host.take_effects());
  REQUIRE(stopped.size() == 1);
  CHECK(stopped.front().life == started.life);
}

TEST_CASE("a program is needed as long as a process of it is here") {
  Started started;
  CHECK(started.host.needed_programs() == std::set<ProgramId>{launch.program});
  started.host.on_greeted(started.life, {"a", "b"}, "build");
  started.host.on_message(cell, keeper::StopWorkers{job}, started.now);
  CHECK(started.host.needed_programs().size() == 1);
  started.host.on_ended(started.life, ProcessEnd::stopped_by_us, "", {}, std::nullopt);
  CHECK(started.host.needed_programs().empty());
  started.host.on_program_gone(launch.program);
  started.host.take_effects();
  started.host.on_message(cell, keeper::StartWorker{job, 2, 0, launch}, started.now);
  CHECK(said<keeper::WantProgram>(started.host.take_effects()).size() == 1);
}

TEST_CASE("a node is asked to keep a program: it gets it, and says when it has it") {
  HostMachine host(self);
  const auto keep = [&] {
    host.on_message(cell, keeper::KeepProgram{launch.program}, {});
    return host.take_effects();
  };
  auto effects = keep();
  CHECK(said<keeper::WantProgram>(effects).size() == 1);
  CHECK(said<keeper::HaveProgram>(effects).empty());
  CHECK(keep().empty());  // The process is on its way.
  SECTION("it comes") {
    host.on_program(launch.program, std::nullopt, {});
    CHECK(said<keeper::HaveProgram>(host.take_effects()).size() == 1);
    CHECK(said<keeper::HaveProgram>(keep()).size() == 1);
  }
  SECTION("it cannot be kept") {
    host.on_program(launch.program, Error{ErrorCode::disk_full, "no room"}, {});
    CHECK(host.take_effects().empty());
    CHECK(said<keeper::WantProgram>(keep()).size() == 1);  // There may be room by now.
  }
}

TEST_CASE("an order that comes again starts nothing again") {
  Started started;
  started.host.on_message(cell, keeper::StartWorker{job, 1, 0, launch}, started.now);
  CHECK(only<StartProcess>(started.host.take_effects()).empty());
}

TEST_CASE("a process is up when it has said Hello with the right build, and down once") {
  Started started;
  started.host.on_greeted(started.life, {"a", "b"}, "build");
  auto up = said<keeper::WorkerUp>(started.host.take_effects());
  REQUIRE(up.size() == 1);
  CHECK(up.front().life == started.life);
  CHECK(up.front().pid == 99);
  started.host.on_greeted(started.life, {"a", "b"}, "build");
  CHECK(said<keeper::WorkerUp>(started.host.take_effects()).empty());
  started.host.on_ended(started.life, ProcessEnd::faulted, "signal 11", {{{0, 3}, {}, 0, 0}}, 0);
  auto down = said<keeper::WorkerDown>(started.host.take_effects());
  REQUIRE(down.size() == 1);
  CHECK(down.front().running.size() == 1);
  CHECK(down.front().guilty_lane == 0u);
  started.host.on_ended(started.life, ProcessEnd::faulted, "signal 11", {}, {});
  CHECK(started.host.take_effects().empty());
}

TEST_CASE("another build is refused, and its process ended") {
  Started started;
  started.host.on_greeted(started.life, {"a", "b"}, "other");
  auto effects = started.host.take_effects();
  auto refused = said<keeper::WorkerRefused>(effects);
  REQUIRE(refused.size() == 1);
  CHECK(refused.front().why.code == ErrorCode::binary_mismatch);
  CHECK_THAT(refused.front().why.what, Catch::Contains("other") && Catch::Contains("build build"));
  CHECK(only<StopProcess>(effects).size() == 1);
  started.host.on_ended(started.life, ProcessEnd::stopped_by_us, "signal 15", {}, {});
  CHECK(said<keeper::WorkerDown>(started.host.take_effects()).empty());
}

TEST_CASE("a process that ends before its Session is refused with how it ended") {
  Started started;
  started.host.on_ended(started.life, ProcessEnd::faulted, "ended with status 2", {}, {});
  auto refused = said<keeper::WorkerRefused>(started.host.take_effects());
  REQUIRE(refused.size() == 1);
  CHECK_THAT(refused.front().why.what, Catch::Contains("ended with status 2"));
}

TEST_CASE("a process that never makes its Session is stopped in time") {
  Started started;
  REQUIRE(started.host.wake_at());
  started.host.on_time(*started.host.wake_at());
  auto effects = started.host.take_effects();
  CHECK(said<keeper::WorkerRefused>(effects).size() == 1);
  CHECK(only<StopProcess>(effects).size() == 1);
  CHECK(!started.host.wake_at());
}

TEST_CASE("processes end with their job, and with the keeper of its record") {
  for (const bool keeper_dies : {false, true}) {
    Started started;
    started.host.on_greeted(started.life, {"a", "b"}, "build");
    started.host.take_effects();
    if (keeper_dies) {
      started.host.on_keeper_down(cell, started.now);
    } else {
      started.host.on_message(cell, keeper::StopWorkers{job}, started.now);
    }
    CHECK(only<StopProcess>(started.host.take_effects()).size() == 1);
    started.host.on_ended(started.life, ProcessEnd::killed, "signal 15", {}, {});
    auto down = said<keeper::WorkerDown>(started.host.take_effects());
    REQUIRE(down.size() == 1);
    CHECK(down.front().end == ProcessEnd::stopped_by_us);
    CHECK(started.host.empty());
  }
}

TEST_CASE("processes wait for another node to lead the record of their job, and it is told of them") {
  const Life other{{2}, {6}};
  HostMachine host{self};
  Instant now{1s};
  host.on_program(launch.program, std::nullopt, now);
  std::vector<Life> lives;
  for (const std::uint32_t number : {1u, 2u}) {
    host.on_message(cell, keeper::StartWorker{job, number, 1, launch}, now);
    lives.push_back(only<StartProcess>(host.take_effects()).at(0).life);
    host.on_greeted(lives.back(), {"a", "b"}, "build");
  }
  host.on_ended(lives[0], ProcessEnd::faulted, "signal 11", {}, {});
  host.take_effects();
  if (const bool leader_lives = GENERATE(true, false); leader_lives) {
    host.on_message(other, keeper::AnotherLeads{job}, now);  // The job was never led here.
    CHECK_FALSE(host.wake_at());
    host.on_message(cell, keeper::AnotherLeads{JobId{4711}}, now);
    host.on_message(cell, keeper::AnotherLeads{job}, now);
  } else {
    host.on_keeper_down(cell, now);
  }
  CHECK(host.take_effects().empty());
  REQUIRE(host.wake_at());
  SECTION("one comes") {
    host.on_message(other, keeper::StartWorker{job, 1, 2, launch}, now);
    const auto effects = host.take_effects();
    REQUIRE(effects.size() == 2);
    const auto& down = std::get<SendToKeeper>(effects[0]);
    CHECK(down.to == other);
    CHECK(std::get<keeper::WorkerDown>(down.message).life == lives[0]);
    CHECK(std::get<keeper::WorkerUp>(std::get<SendToKeeper>(effects[1]).message).life == lives[1]);
    CHECK_FALSE(host.wake_at());
    host.on_message(cell, keeper::StartWorker{job, 3, 1, launch}, now);  // From an older term.
    CHECK(host.take_effects().empty());
  }
  SECTION("none comes") {
    host.on_time(*host.wake_at());
    CHECK(only<StopProcess>(host.take_effects()).size() == 1);
  }
}

TEST_CASE("no life is given to two processes: when the count comes round, the incarnation goes up") {
  HostMachine host(self);
  host.on_program(launch.program, std::nullopt, {});
  std::set<Life> lives;
  std::uint32_t number = 0;
  const auto start = [&] {
    host.on_message(cell, keeper::StartWorker{job, ++number, 0, launch}, {});
    return host.take_effects();
  };
  for (const std::uint64_t given : {std::uint64_t{0}, HostMachine::counts_max - 2,
                                    2 * HostMachine::counts_max - 2, HostMachine::processes_max - 2}) {
    host.given(given);
    for (int i = 0; i < 2; ++i) {
      const auto starts = only<StartProcess>(start());
      REQUIRE(starts.size() == 1);
      const Life life = starts.front().life;
      CHECK(lives.insert(life).second);
      CHECK(node_of(life.process) == self.process);
      CHECK_FALSE(is_node(life.process));
      CHECK_FALSE(is_client(life.process));
      host.on_not_started(life, Error{});
      host.take_effects();
    }
  }
  host.given(HostMachine::counts_max - 1);
  const Life last = only<StartProcess>(start()).front().life, next = only<StartProcess>(start()).front().life;
  CHECK(last == Life{worker_process(self.process, 65'535), self.incarnation});
  CHECK(next == Life{worker_process(self.process, 1), {self.incarnation.value + 1}});
  host.given(HostMachine::processes_max);
  const auto refused = said<keeper::WorkerRefused>(start());
  REQUIRE(refused.size() == 1);
  CHECK_THAT(refused.front().why.hint, Catch::Contains("restart this node"));
}

TEST_CASE("process numbers say what they are") {
  CHECK(node_of(worker_process({3}, 5)) == ProcessId{3});
  CHECK(is_node({3}));
  CHECK(!is_node(worker_process({3}, 5)));
  CHECK(is_client(client_process(0)));
  CHECK(!is_client(worker_process({3}, 5)));
}

TEST_CASE("a host without room refuses a process for now, and has room again when another one has ended") {
  NodeLimits limits;
  limits.files = 100;  // For one job.
  HostMachine host(self, limits);
  host.on_program(launch.program, std::nullopt, {});
  host.on_message(cell, keeper::StartWorker{job, 1, 0, launch}, {});
  const auto starts = only<StartProcess>(host.take_effects());
  REQUIRE(starts.size() == 1);
  const JobId other{43};
  host.on_message(cell, keeper::StartWorker{other, 1, 0, launch}, {});
  auto effects = host.take_effects();
  CHECK(only<StartProcess>(effects).empty());
  const auto refused = said<keeper::WorkerRefused>(effects);
  REQUIRE(refused.size() == 1);
  CHECK(refused.front().why.code == ErrorCode::limit_reached);
  host.on_message(cell, keeper::StopWorkers{job}, {});
  host.on_message(cell, keeper::StartWorker{other, 2, 0, launch}, {});
  CHECK(said<keeper::WorkerRefused>(host.take_effects()).size() == 1);  // The process still runs.
  host.on_ended(starts.front().life, ProcessEnd::stopped_by_us, "", {}, std::nullopt);
  host.take_effects();
  host.on_message(cell, keeper::StartWorker{other, 3, 0, launch}, {});
  CHECK(only<StartProcess>(host.take_effects()).size() == 1);
}

TEST_CASE("a process that was not started because of a limit is asked for again, by whoever leads the job") {
  Started one;
  one.host.on_message(cell, keeper::StartWorker{JobId{43}, 1, 5, launch}, one.now);
  const Life life = only<StartProcess>(one.host.take_effects()).front().life;
  one.host.on_not_started(life, {ErrorCode::limit_reached, "no room", {}});
  CHECK(said<keeper::WorkerRefused>(one.host.take_effects()).size() == 1);
  // A later leader is told of ends, and this is none.
  one.host.on_message(cell, keeper::StartWorker{JobId{43}, 1, 6, launch}, one.now);
  CHECK(said<keeper::WorkerRefused>(one.host.take_effects()).empty());
}
