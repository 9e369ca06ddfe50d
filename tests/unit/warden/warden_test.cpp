// The warden: whatever a process starts ends with it, and nobody says so before.

#include "libdag/warden/warden.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "libdag/warden/control_group.hpp"
#include "libdag/warden/group.hpp"

using namespace dag;

namespace {

/// A pipe whose writing end all of a process's descendants have: it ends when the last of them has.
class Held {
 public:
  Held() { REQUIRE(pipe2(ends_, O_CLOEXEC) == 0); }
  ~Held() {
    close(ends_[0]);
    let_go();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  int file() const { return ends_[1]; }
  void let_go() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  /// The next line from the other end; empty when all have closed it.
  std::string line() {
    std::string line;
    for (char c = 0; read(ends_[0], &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  bool nobody_has_it() {
    let_go();
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    ssize_t got = 1;
    for (char c = 0; got > 0;) got = read(ends_[0], &c, 1);  // Words from before the end.
    return got == 0;
  }

 private:
  int ends_[2] = {-1, -1};
};

warden::Call shell(const std::string& script, const Held& held) {
  warden::Call call{{"sh", "-c", script}, warden::environment_with({})};
  call.output = held.file();
  return call;
}

/// The directories of the control groups of this warden.
std::vector<std::string> groups_of(pid_t warden) {
  std::vector<std::string> found;
  const std::string above = writable_control_group(), ending = "-" + std::to_string(warden);
  if (above.empty()) return found;
  for (const auto& entry : std::filesystem::directory_iterator(above)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("dag-") && name.ends_with(ending)) found.push_back(name);
  }
  return found;
}

}  // namespace

TEST_CASE("a process ends as itself, and what it left is gone by then") {
  Held held;
  // The shell has another session and another parent: nothing in common with the process that started it.
  const warden::Started started = warden::start(
      shell("setsid sh -c 'trap \"\" TERM HUP; echo up; sleep 1000' & read x < /dev/zero; exit 7", held));
  REQUIRE(started.failed == 0);
  REQUIRE(held.line() == "up");
  SECTION("its own end") {
    kill(started.process, SIGKILL);
    const int status = warden::wait(started.warden);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  }
  SECTION("all of them") {
    warden::end_now(started.warden);
    const int status = warden::wait(started.warden);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  }
  SECTION("told to end") {
    kill(started.warden, SIGTERM);
    const int status = warden::wait(started.warden);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM));
  }
  CHECK(held.nobody_has_it());
}

TEST_CASE("a status is the process's") {
  Held held;
  const warden::Started started = warden::start(shell("exit 7", held));
  const int status = warden::wait(started.warden);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
  CHECK_THROWS_AS(warden::wait(started.warden),
                  std::system_error);  // Unknown by now, so no success.
}

TEST_CASE("when whoever started it is killed, all end") {
  Held held;
  const pid_t starter = fork();
  if (starter == 0) {
    warden::Call call = shell(
        "trap '' TERM; (trap '' TERM; setsid sleep 1000) & echo up; while :; do sleep 1000; done", held);
    call.grace_of_orphans = std::chrono::milliseconds(1);
    try {
      warden::start(call);
    } catch (...) {
      _exit(1);
    }
    for (;;) pause();
  }
  held.let_go();
  CHECK(held.line() == "up");
  kill(starter, SIGKILL);
  int status = 0;
  REQUIRE(waitpid(starter, &status, 0) == starter);
  REQUIRE(WIFSIGNALED(status));
  CHECK(held.line().empty());  // Returns when the last of them is gone.
}

TEST_CASE("what cannot start says why") {
  Held held;
  warden::Call call = shell("true", held);
  SECTION("no such program") {
    call.words = {"no-such-program"};
    call.says_why_it_did_not_start = false;
  }
  SECTION("no such directory") {
    call.directory = "/no/such/directory";
    call.errors = held.file();
  }
  const warden::Started started = warden::start(call);
  CHECK(started.failed == ENOENT);
  const int status = warden::wait(started.warden);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 127));
}

TEST_CASE("it has the files that it is given, and no others") {
  Held held;
  const int lock = open("/dev/null", O_RDONLY), given = open("/dev/null", O_RDONLY | O_CLOEXEC);
  REQUIRE((lock >= 0 && given >= 0));
  warden::Call call = shell("[ ! -e /proc/self/fd/" + std::to_string(lock) + " ] && [ -e /proc/self/fd/" +
                                std::to_string(given) + " ] && ls /proc/self/fd | wc -l",
                            held);
  call.only_these_files = true;
  call.inherits = {given};
  const warden::Started started = warden::start(call);
  CHECK(warden::wait(started.warden) == 0);
  CHECK(std::stoi(held.line()) == 5);  // 0 to 2, what it was given, and what `ls` reads.
  close(lock);
  close(given);
}

TEST_CASE("signals that were ignored or blocked are as ever") {
  Held held;
  signal(SIGUSR2, SIG_IGN);
  const warden::Started started = warden::start(shell("kill -USR2 $$; true; exit 0", held));
  signal(SIGUSR2, SIG_DFL);
  const int status = warden::wait(started.warden);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2));
}

TEST_CASE("what forks again and again is gone when its warden has ended, and so is its control group") {
  Held held;
  // Each runner has lived for a moment when the next one takes its place, in a session of its own.
  const warden::Started started = warden::start(
      shell("r() { r & }; for i in 1 2 3 4 5 6 7 8; do r & done; setsid sh -c 'trap \"\" TERM; sleep "
            "1000' & echo up; read x < /dev/zero",
            held));
  REQUIRE(started.failed == 0);
  REQUIRE(held.line() == "up");
  SECTION("told to end") { kill(started.warden, SIGTERM); }
  SECTION("all of them") { warden::end_now(started.warden); }
  warden::wait(started.warden);
  CHECK(held.nobody_has_it());
  CHECK(groups_of(started.warden).empty());
}

TEST_CASE("a warden that is killed leaves nothing behind where there are control groups") {
  if (!warden::has_control_groups()) {
    WARN("no control group (version 2) can be made here");
    return;
  }
  Held held;
  const warden::Started started = warden::start(
      shell("setsid sh -c 'trap \"\" TERM HUP; echo up; sleep 1000' & read x < /dev/zero", held));
  REQUIRE(held.line() == "up");
  CHECK(groups_of(started.warden).size() == 1);
  kill(started.warden, SIGKILL);
  const int status = warden::wait(started.warden);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  CHECK(held.nobody_has_it());
  CHECK(groups_of(started.warden).empty());
}

TEST_CASE("groups below that of a warden go with it") {
  if (!warden::has_control_groups()) {
    WARN("no control group (version 2) can be made here");
    return;
  }
  Held held;
  const warden::Started started =
      warden::start(shell("g=$(echo " + writable_control_group() +
                              "/dag-*-$PPID); mkdir $g/below && mkdir $g/below/further && "
                              "sh -c 'echo $$ > '$g'/below/further/cgroup.procs; echo up; sleep 1000'",
                          held));
  REQUIRE(held.line() == "up");
  warden::end_now(started.warden);
  warden::wait(started.warden);
  CHECK(held.nobody_has_it());
  CHECK(groups_of(started.warden).empty());
}

TEST_CASE("a group that cannot be made or takes no process is done without, and leaves nothing") {
  using warden_detail::Group;
  const std::string above = writable_control_group() + "/dag-test-" + std::to_string(getpid());
  const bool may = warden::has_control_groups() && mkdir(above.c_str(), 0755) == 0;
  if (!may) WARN("no control group (version 2) can be made here");
  const auto set = [&](const char* file, const char* value) { std::ofstream(above + file) << value; };
  std::string prefix;
  bool is_made = false;
  SECTION("nobody may") {}
  SECTION("there is no such directory") { prefix = "/no/such/directory/dag-"; }
  if (may) {
    SECTION("as many as there may be") {
      set("/cgroup.max.descendants", "0");
      prefix = above + "/dag-";
    }
    SECTION("it takes no processes") {
      set("/cgroup.type", "threaded");
      prefix = above + "/dag-";
      is_made = true;
    }
  }
  Group group(prefix.c_str(), getpid(), Group::As::made);
  CHECK(group.exists() == is_made);
  const pid_t child = group.fork_into();
  if (child == 0) _exit(7);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
  CHECK(!group.exists());
  if (may) CHECK(rmdir(above.c_str()) == 0);
}

TEST_CASE("where no file may be so large as a warden, it is there all the same") {
  Held held;
  const pid_t starter = fork();
  if (starter == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1024, 1024};
    setrlimit(RLIMIT_FSIZE, &small);
    try {
      const warden::Started started = warden::start(
          shell("setsid sh -c 'trap \"\" TERM HUP; echo up; sleep 1000' & read x < /dev/zero", held));
      kill(started.warden, SIGTERM);
      const int status = warden::wait(started.warden);
      _exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? 0 : 1);
    } catch (...) {
      _exit(2);
    }
  }
  held.let_go();
  int status = 0;
  REQUIRE(waitpid(starter, &status, 0) == starter);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK(held.nobody_has_it());
}
