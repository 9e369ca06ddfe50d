// The warden: whatever a process starts ends with it, and nobody says so before.

#include "libdag/warden/warden.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

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
  /// The next line that somebody says; empty when nobody has it any more.
  std::string line() {
    std::string line;
    for (char c = 0; read(ends_[0], &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  bool nobody_has_it() {
    let_go();
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    ssize_t got = 1;
    for (char c = 0; got > 0;) got = read(ends_[0], &c, 1);  // What was said before the end.
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

}  // namespace

TEST_CASE("a process ends as itself, and what it left is gone by then") {
  Held held;
  // Of another session, and with another parent: it has nothing in common with who started it.
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
                  std::system_error);  // It is known no more, so it is no success.
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
