#include "actors/lanes/running_page.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <new>
#include <thread>

using namespace dag;

namespace {

/// A page that a child process shares, as the node shares one with each worker process.
struct SharedPage {
  RunningPage* page;

  SharedPage() {
    void* memory =
        mmap(nullptr, sizeof(RunningPage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    page = new (memory) RunningPage;
  }
  ~SharedPage() { munmap(page, sizeof(RunningPage)); }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
};

/// How a child ended that noted its faults in the page and ran `body` on the thread of lane 3.
template <class Body>
int child_with_lane_3(RunningPage& page, Body body) {
  const pid_t child = fork();
  if (child == 0) {
    // Catch2 has handlers, which would be asked next.
    for (const int fault : {SIGSEGV, SIGFPE, SIGABRT}) std::signal(fault, SIG_DFL);
    note_faults(page);
    std::thread([&] {
      watch_this_lane(3);
      body();
    }).join();
    _exit(0);
  }
  int status = 0;
  REQUIRE(child > 0);
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

int deeper(volatile int* above) {
  volatile int here[256] = {*above};
  return *above < 0 ? 0 : deeper(here) + here[1];
}

}  // namespace

TEST_CASE("a page names the attempt for which its process ended, on no lane that runs another one") {
  const SharedPage shared;
  shared.page->begin(0, {0, 1}, {{1, 1}, 1}, 0);
  CHECK(!shared.page->ended_for());
  shared.page->end_for({0, 2}, {{1, 1}, 3});
  const auto attempt = shared.page->ended_for();
  REQUIRE(attempt);
  CHECK(attempt->task == TaskId{0, 2});
  CHECK(attempt->attempt == AttemptId{{1, 1}, 3});
  CHECK(attempt->lane == RunningPage::lanes_max);
  CHECK(shared.page->running().size() == 1);
}

TEST_CASE("a lane's thread ends in peace though it had a stack for signals") {
  SharedPage shared;
  int status = -1;
  SECTION("its own") {
    status = child_with_lane_3(*shared.page, [] {});
  }
  SECTION("asked for twice") {
    status = child_with_lane_3(*shared.page, [] { watch_this_lane(4); });
  }
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK_FALSE(shared.page->faulted_lane());
}

TEST_CASE("the lane whose thread faulted is noted, and the process dies of that fault") {
  SharedPage shared;
  int status = 0;
  int signal = 0;
  SECTION("its stack is used up") {
    signal = SIGSEGV;
    status = child_with_lane_3(*shared.page, [] {
      volatile int zero = 0;
      deeper(&zero);
    });
  }
  SECTION("it aborts") {
    signal = SIGABRT;
    status = child_with_lane_3(*shared.page, [] { std::abort(); });
  }
  SECTION("somebody raised it") {
    signal = SIGFPE;
    status = child_with_lane_3(*shared.page, [] { std::raise(SIGFPE); });
  }
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == signal);
  CHECK(shared.page->faulted_lane() == 3u);
  CHECK(shared.page->fault() == RunningPage::Fault{3, signal});
}

TEST_CASE("a lane whose kernel calls exit() is noted, and the process ends with that status") {
  SharedPage shared;
  const int status = child_with_lane_3(*shared.page, [] { std::exit(7); });
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(shared.page->fault() == RunningPage::Fault{3, 0});
}

TEST_CASE("who had a handler of his own has it yet, and the lane is noted all the same") {
  SharedPage shared;
  const pid_t child = fork();
  if (child == 0) {
    // Not address 0, which UBSan itself looks for.
    auto* const forbidden =
        static_cast<volatile int*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    struct sigaction mine {};
    mine.sa_handler = [](int) { _exit(42); };
    sigaction(SIGSEGV, &mine, nullptr);
    note_faults(*shared.page);
    std::thread([forbidden] {
      watch_this_lane(3);
      *forbidden = 1;
    }).join();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 42);
  CHECK(shared.page->fault() == RunningPage::Fault{3, SIGSEGV});
}

TEST_CASE("a fault of a thread that is no lane is nobody's") {
  SharedPage shared;
  const int status = child_with_lane_3(*shared.page, [] { std::thread([] { std::abort(); }).join(); });
  CHECK(WIFSIGNALED(status));
  CHECK_FALSE(shared.page->faulted_lane());
}

TEST_CASE("what lanes have run is counted, lane by lane, and outlives who ran it") {
  using namespace std::chrono_literals;
  SharedPage shared;
  child_with_lane_3(*shared.page, [&] {
    RunningPage& page = *shared.page;
    page.begin(3, {0, 1}, {}, 0);
    page.end(3, false, 1us);  // A bound belongs to what is below it.
    page.begin(3, {0, 2}, {}, 0);
    page.end(3, true, 5ms);
    page.begin(1, {0, 4}, {}, 0);
    page.end(1, false, 2000s);
    page.stole(3);
    page.stolen(5, true);
    page.stolen(2, false);
    page.queue(2, Instant{10s});
    page.queue(5, Instant{11s});
    page.queue(17, Instant{13s});
    page.queue(4, Instant{12s});   // By another thread, which had looked before.
    page.begin(3, {0, 3}, {}, 0);  // Still running.
    page.end(RunningPage::lanes_max, false, 1s);
  });
  const RunTotals totals = shared.page->totals();
  RunTotals expected;
  expected.by_duration[0] = 1;
  expected.by_duration[4] = 1;
  expected.by_duration[RunTotals::bounds.size()] = 1;
  CHECK(totals.by_duration == expected.by_duration);
  CHECK(totals.failed == 1);
  CHECK(totals.stolen == 1);
  CHECK(totals.stolen_host == 5);
  CHECK(totals.stolen_cluster == 2);
  CHECK(totals.busy == std::vector<Duration>{0s, 2000s, 0s, 5ms + 1us});
  CHECK(shared.page->queued() == 17);
  CHECK(totals.queue.count == 3);
  CHECK(totals.queue.total == 2 * 1s + 5 * 2s);
  CHECK(shared.page->running().size() == 1);

  RunTotals both = totals;
  both += RunTotals{};
  both += totals;
  CHECK(both.by_duration[4] == 2);
  CHECK(both.busy == std::vector<Duration>{0s, 4000s, 0s, 10ms + 2us});
}

TEST_CASE("a signal that a process sent itself is told from one that another process sent") {
  SharedPage shared;
  const int signal = GENERATE(SIGTERM, SIGHUP, SIGSEGV, SIGABRT);
  const bool from_outside = GENERATE(true, false);
  const pid_t child = fork();
  if (child == 0) {
    for (const int one : {SIGSEGV, SIGABRT, SIGTERM, SIGHUP, SIGINT, SIGQUIT}) std::signal(one, SIG_DFL);
    note_faults(*shared.page);
    note_ends();
    std::atomic<bool> begun = false;
    std::thread lane([&] {
      watch_this_lane(3);
      begun.wait(false);
      if (!from_outside) std::raise(signal);
      for (;;) pause();
    });
    // The signal finds the child ready: TSan does not outlive one that comes while it makes a thread.
    shared.page->begin(0, {0, 1}, {}, 1);
    begun = true;
    begun.notify_one();
    lane.join();
  }
  REQUIRE(child > 0);
  while (shared.page->running().empty()) std::this_thread::yield();
  if (from_outside) kill(child, signal);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == signal);
  CHECK(shared.page->was_sent_from_outside(signal) == from_outside);
  CHECK_FALSE(shared.page->was_sent_from_outside(SIGUSR1));
  CHECK(shared.page->faulted_lane() == (from_outside ? std::nullopt : std::optional(3U)));
}
