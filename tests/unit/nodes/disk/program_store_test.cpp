// Binaries of jobs, and processes started from them.

#include "nodes/disk/program_store.hpp"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <filesystem>
#include <fstream>

#include "nodes/workers/worker_processes.hpp"
#include "nodes/workers/worker_seat.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;

namespace {

Blob file_bytes(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(!text.empty());
  return Blob(std::as_bytes(std::span(text)));
}

Blob text(const std::string& what) { return Blob(std::as_bytes(std::span(what))); }

/// Messages heard from one process.
struct Heard {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Error> refused;
  std::optional<ProcessEnd> end;
  std::string text;

  WorkerEvents events() {
    WorkerEvents told;
    told.started = [](Life, std::uint32_t) {};
    told.not_started = [this](Life, Error why) {
      const std::lock_guard lock(mutex);
      refused = std::move(why);
      changed.notify_all();
    };
    told.ended = [this](Life, ProcessEnd how, std::string said, std::vector<RunningAttempt>,
                        std::optional<std::uint32_t>) {
      const std::lock_guard lock(mutex);
      end = how;
      text = std::move(said);
      changed.notify_all();
    };
    return told;
  }
  void wait() {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, dag::test::patient(std::chrono::seconds(60)),
                             [this] { return end || refused; }));
  }
};

const Life life{worker_process({0}, 1), {1}};

}  // namespace

TEST_CASE("a program is kept under its hash, and comes back as it was") {
  ProgramStore store;
  const Blob program = file_bytes("/bin/sh");
  const ProgramId id = identify(program.bytes());
  CHECK(!store.descriptor(id));
  REQUIRE(store.put(id, program));
  CHECK(store.put(id, program));
  CHECK(store.bytes(id).same_bytes(program));
  CHECK(store.descriptor(id));
}

TEST_CASE("a program that was dropped is not here, and can come again") {
  ProgramStore store;
  const Blob program = file_bytes("/bin/sh");
  const ProgramId id = identify(program.bytes());
  REQUIRE(store.put(id, program));
  store.drop(id);
  CHECK(!store.descriptor(id));
  CHECK(!store.bytes(id));
  CHECK(store.ids().empty());
  store.drop(id);
  REQUIRE(store.put(id, program));
  CHECK(store.bytes(id).same_bytes(program));
}

TEST_CASE("a binary with another hash is refused") {
  ProgramStore store;
  ProgramId id = identify(file_bytes("/bin/sh").bytes());
  ++id.hash_low;
  const Status put = store.put(id, file_bytes("/bin/sh"));
  REQUIRE(!put);
  CHECK(put.error().code == ErrorCode::program_invalid);
  CHECK_THAT(put.error().what, Catch::Contains("another hash"));
}

TEST_CASE("what is no program is refused") {
  ProgramStore store;
  for (const Blob& bytes :
       {text("#!/bin/sh\necho a script is not a job, but it is long enough for a header\n"), text("x")}) {
    const Status put = store.put(identify(bytes.bytes()), bytes);
    REQUIRE(!put);
    CHECK(put.error().code == ErrorCode::program_invalid);
    CHECK_THAT(put.error().what, Catch::Contains("not a program"));
  }
}

TEST_CASE("a process is started from the store, and its end is told") {
  const test::TemporaryDirectory logs;
  ProgramStore store;
  const Blob shell = file_bytes("/bin/sh");
  const ProgramId id = identify(shell.bytes());
  REQUIRE(store.put(id, shell));
  struct Case {
    std::string script;
    ProcessEnd end;
    std::string text;
  };
  for (const Case& one :
       {Case{"echo said; exit 3", ProcessEnd::faulted, "ended with status 3"},
        Case{"exit " + std::to_string(status_of_cut_off), ProcessEnd::stopped_by_us, "took it for dead"},
        Case{"kill -SEGV $$", ProcessEnd::faulted, "signal 11"},
        Case{"kill -KILL $$", ProcessEnd::killed, "signal 9"},
        Case{"test -n \"$DAG_WORKER\" && test -z \"$DAG_ADDRESS\" && kill -TERM $$", ProcessEnd::killed,
             "signal 15"}}) {
    Heard heard;
    WorkerProcesses processes({"127.0.0.1:1", {}, 0, logs.path().string()}, store, heard.events());
    processes.start({life, {7}, {{0}, {1}}, {id, "", {"sh", "-c", one.script}, "/"}}, {1});
    heard.wait();
    CHECK(heard.end == one.end);
    CHECK_THAT(heard.text, Catch::Contains(one.text));
  }
}

TEST_CASE("a process that does not listen is killed when it is stopped") {
  const test::TemporaryDirectory logs;
  ProgramStore store;
  const Blob shell = file_bytes("/bin/sh");
  const ProgramId id = identify(shell.bytes());
  REQUIRE(store.put(id, shell));
  Heard heard;
  WorkerProcesses processes({"127.0.0.1:1", {}, 0, logs.path().string()}, store, heard.events());
  processes.start({life,
                   {7},
                   {{0}, {1}},
                   {id, "", {"sh", "-c", "trap '' TERM; while :; do read x </dev/zero; done"}, "/"}},
                  {1});
  processes.stop(life);
  heard.wait();
  CHECK(heard.end == ProcessEnd::stopped_by_us);
}

TEST_CASE("a program that is not in the store starts nothing") {
  const test::TemporaryDirectory logs;
  const ProgramStore store;
  Heard heard;
  WorkerProcesses processes({"127.0.0.1:1", {}, 0, logs.path().string()}, store, heard.events());
  processes.start({life, {7}, {{0}, {1}}, {{1, 2, 3}, "", {"sh"}, "/"}}, {1});
  heard.wait();
  REQUIRE(heard.refused);
  CHECK(heard.refused->code == ErrorCode::program_invalid);
}

TEST_CASE("a worker process reads the seat that its node wrote") {
  const WorkerSeat seat{life, {7}, {{2}, {5}}, "127.0.0.1:4711", {99}, {1, 3}, 2, 12, 13, 19, {7, 8}, 14};
  setenv(worker_seat_variable, to_text(seat).c_str(), 1);
  const auto read = seat_from_environment();
  REQUIRE(read);
  REQUIRE(*read);
  CHECK((*read)->self == seat.self);
  CHECK((*read)->cell == seat.cell);
  CHECK((*read)->node_address == seat.node_address);
  CHECK((*read)->page == 12);
  CHECK((*read)->records == 13);
  CHECK((*read)->niceness == 19);
  CHECK((*read)->spawn_credit.tasks == 7);
  CHECK((*read)->spawn_credit.bytes == 8);
  CHECK((*read)->door == 14);
  setenv(worker_seat_variable, "1 2 x", 1);
  REQUIRE(!seat_from_environment());
  CHECK_THAT(seat_from_environment().error().what, Catch::Contains("DAG_WORKER"));
  unsetenv(worker_seat_variable);
  CHECK(!*seat_from_environment());
}
