// Two real processes with rings between them: how they get them, how they sleep, and what a kill leaves.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include "libdag/ring/ring_carrier.hpp"
#include "tests/support/patience.hpp"

using namespace dag;
using namespace dag::ring;

namespace {

using Clock = std::chrono::steady_clock;
using Clock = std::chrono::steady_clock;
const Duration patience = dag::test::patient(std::chrono::seconds(60));
/// A wait may end for nothing, and a wake may be swallowed by a peer: each waiter looks again.
constexpr Duration nap = std::chrono::milliseconds(100);

/// The numbers of an offer, as the control message would carry them; both processes are of one host.
struct OfferNumbers {
  std::int32_t process, inbox_file, doorbell_file;
  std::uint64_t inbox_nonce, doorbell_nonce, capacity_bytes;
};

/// A process of the two: its doorbell, its carrier to the other.
struct End {
  Doorbell bell;
  RingCarrier carrier;

  /// Over a socket both say what they offer, and accept.
  static std::unique_ptr<End> meet(int socket, std::uint64_t nonce, std::uint64_t capacity_bytes) {
    Doorbell bell = Doorbell::create(nonce).value_or_throw();
    RingMemory inbox = RingMemory::create(nonce + 1, capacity_bytes).value_or_throw();
    Offer mine = offer(inbox, bell).value_or_throw();
    const OfferNumbers out{mine.process,     mine.inbox_file,     mine.doorbell_file,
                           mine.inbox_nonce, mine.doorbell_nonce, mine.capacity_bytes};
    OfferNumbers in{};
    if (write(socket, &out, sizeof out) != sizeof out || read(socket, &in, sizeof in) != sizeof in)
      return nullptr;
    Offer theirs{mine.host,      in.process,        in.inbox_file,    in.doorbell_file,
                 in.inbox_nonce, in.doorbell_nonce, in.capacity_bytes};
    Outbound outbound = accept(theirs).value_or_throw();
    // Both have opened what the other keeps open before either goes on.
    char ready = 'r';
    if (write(socket, &ready, 1) != 1 || read(socket, &ready, 1) != 1) return nullptr;
    return std::unique_ptr<End>(new End{std::move(bell), {std::move(inbox), std::move(outbound)}});
  }

  /// Polls until `done`, asleep where there is nothing. False: nothing came in time.
  template <class Handle, class Finished>
  bool serve(Handle&& handle, Finished&& done) {
    Clock::time_point until = Clock::now() + patience;
    while (!done()) {
      const Polled polled = carrier.poll(256, handle);
      if (polled == Polled::broken) return false;
      if (polled != Polled::nothing) {
        until = Clock::now() + patience;
        continue;
      }
      bell.prepare_wait();
      if (carrier.has_news()) {
        bell.cancel_wait();
      } else if (!bell.wait(nap) && Clock::now() > until) {
        return false;
      }
    }
    return true;
  }

  bool send(std::uint64_t value, std::size_t words = 1) {
    std::array<std::uint64_t, 32> payload;
    payload.fill(value);
    const Clock::time_point until = Clock::now() + patience;
    for (;;) {
      auto batch = carrier.begin();
      const Wrote wrote = batch.write(1, std::as_bytes(std::span(payload).first(words)));
      if (wrote == Wrote::written) return true;
      if (wrote == Wrote::broken) return false;
      bell.prepare_wait();
      if (batch.want_space()) {
        bell.cancel_wait();
      } else if (!bell.wait(nap) && Clock::now() > until) {
        return false;
      }
    }
  }
};

/// A child that plays the other end; killed at the end if it has not ended.
class Peer {
 public:
  explicit Peer(const std::function<bool(End&)>& play, std::uint64_t capacity_bytes = inbox_capacity_bytes) {
    int sockets[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
    child_ = fork();
    if (child_ == 0) {
      close(sockets[0]);
      int status = 1;
      try {
        const auto end = End::meet(sockets[1], 100, capacity_bytes);
        status = end && play(*end) ? 0 : 2;
      } catch (...) {
      }
      _exit(status);
    }
    close(sockets[1]);
    end_ = End::meet(sockets[0], 200, capacity_bytes);
    close(sockets[0]);
    REQUIRE(end_);
  }
  ~Peer() {
    if (child_ > 0) kill(SIGKILL);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  End& end() { return *end_; }
  void kill(int signal) {
    ::kill(child_, signal);
    wait();
  }
  int wait() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
    return status;
  }

 private:
  pid_t child_ = 0;
  std::unique_ptr<End> end_;
};

std::uint64_t value_in(const Record& record) {
  std::uint64_t value = 0;
  std::memcpy(&value, record.bytes.data(), sizeof value);
  return value;
}

bool echo(End& end, std::uint64_t count) {
  std::uint64_t seen = 0;
  return end.serve([&](const Record& record) { seen = value_in(record), end.send(seen); },
                   [&] { return seen == count; });
}

}  // namespace

TEST_CASE("two processes answer each other through rings, asleep in between") {
  constexpr std::uint64_t count = 2000;
  Peer peer([](End& end) { return echo(end, count); });
  std::uint64_t answered = 0;
  for (std::uint64_t i = 1; i <= count; ++i) {
    REQUIRE(peer.end().send(i));
    REQUIRE(peer.end().serve([&](const Record& record) { answered = value_in(record); },
                             [&] { return answered == i; }));
  }
  CHECK(peer.wait() == 0);
}

TEST_CASE("a reader that is slower than its writer lets it wait, and all arrives in order") {
  constexpr std::uint64_t count = 200'000;
  Peer peer(
      [](End& end) {
        for (std::uint64_t i = 1; i <= count; ++i) {
          if (!end.send(i, 1 + i % 32)) return false;
        }
        return true;
      },
      4096);
  std::uint64_t next = 1;
  bool in_order = true;
  REQUIRE(peer.end().serve(
      [&](const Record& record) {
        in_order =
            in_order && record.bytes.size() == (1 + next % 32) * word_bytes && value_in(record) == next;
        ++next;
      },
      [&] { return next > count; }));
  CHECK(in_order);
  CHECK(peer.wait() == 0);
}

TEST_CASE("threads of one process share a carrier: each one's records arrive once, in its order") {
  constexpr std::uint64_t threads = 3, count = 20'000;
  Peer peer([](End& end) {
    std::array<std::uint64_t, threads> next{};
    std::uint64_t taken = 0;
    bool in_order = true;
    const bool all = end.serve(
        [&](const Record& record) {
          const std::uint64_t value = value_in(record);
          in_order = in_order && value % count == next[value / count]++;
          ++taken;
        },
        [&] { return taken == threads * count; });
    return all && in_order && end.send(1);
  });
  // None sleeps here: a ring that is full is tried again.
  std::vector<std::thread> writers;
  for (std::uint64_t thread = 0; thread < threads; ++thread) {
    writers.emplace_back([&, thread] {
      for (std::uint64_t i = 0; i < count;) {
        const std::uint64_t value = thread * count + i;
        if (peer.end().carrier.begin().write(1, std::as_bytes(std::span(&value, 1))) == Wrote::written) {
          ++i;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  for (auto& writer : writers) writer.join();
  std::uint64_t answer = 0;
  CHECK(peer.end().serve([&](const Record& record) { answer = value_in(record); },
                         [&] { return answer == 1; }));
  CHECK(peer.wait() == 0);
}

TEST_CASE("of a writer that is killed in the middle of a batch only what it published is seen") {
  Peer peer([](End& end) {
    for (std::uint64_t i = 1; i <= 10; ++i) end.send(i);
    auto batch = end.carrier.begin();
    const std::array<std::uint64_t, 4> payload{11, 11, 11, 11};
    batch.write(1, std::as_bytes(std::span(payload)));
    batch.write(1, std::as_bytes(std::span(payload)));
    raise(SIGKILL);
    return false;
  });
  const int status = peer.wait();
  CHECK(WIFSIGNALED(status));
  std::uint64_t last = 0;
  while (peer.end().carrier.poll(4, [&](const Record& record) { last = value_in(record); }) == Polled::some) {
  }
  CHECK(last == 10);
  CHECK_FALSE(peer.end().carrier.broken());
}

TEST_CASE("a writer killed at any time leaves whole records, in order") {
  for (int round = 0; round < 10; ++round) {
    Peer peer(
        [](End& end) {
          for (std::uint64_t i = 1;; ++i) {
            if (!end.send(i, 1 + i % 32)) return false;
          }
        },
        4096);
    std::uint64_t next = 1;
    bool whole = true;
    const auto look = [&](const Record& record) {
      whole = whole && record.bytes.size() == (1 + next % 32) * word_bytes;
      for (std::size_t at = 0; whole && at < record.bytes.size(); at += word_bytes) {
        std::uint64_t value;
        std::memcpy(&value, record.bytes.data() + at, sizeof value);
        whole = value == next;
      }
      ++next;
    };
    const auto enough = static_cast<std::uint64_t>(500 + 337 * round);
    REQUIRE(peer.end().serve(look, [&] { return next > enough; }));
    peer.kill(SIGKILL);
    Polled polled;
    while ((polled = peer.end().carrier.poll(256, look)) == Polled::some) {
    }
    CHECK(polled == Polled::nothing);
    CHECK(whole);
    CHECK(peer.end().send(1) ==
          true);  // Into a ring that nobody reads: it takes what it holds, then says so.
  }
}

TEST_CASE("a doorbell wakes a thread of another process, and a wait in vain ends") {
  Peer peer([](End& end) {
    end.bell.prepare_wait();
    return end.send(1) && end.bell.wait(patience);
  });
  peer.end().bell.prepare_wait();
  if (!peer.end().carrier.has_news()) {
    CHECK(peer.end().bell.wait(patience));
  } else {
    peer.end().bell.cancel_wait();
  }
  peer.end().bell.prepare_wait();
  CHECK_FALSE(peer.end().bell.wait(std::chrono::milliseconds(1)));
  CHECK(peer.end().send(1));  // The child has announced itself before it spoke.
  CHECK(peer.wait() == 0);
}

TEST_CASE("an offer that cannot be what it says is refused") {
  const auto files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const auto files_before = files();
  {
    const Doorbell bell = Doorbell::create(1).value_or_throw();
    const RingMemory inbox = RingMemory::create(2, 4096).value_or_throw();
    const Offer good = offer(inbox, bell).value_or_throw();
    CHECK(accept(good));

    Offer bad = good;
    std::string why;
    const int plain = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const int unsealed = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int pipes[2];
    REQUIRE(pipe2(pipes, O_CLOEXEC) == 0);
    REQUIRE(ftruncate(unsealed, 8192) == 0);
    pid_t gone = fork();
    if (gone == 0) _exit(0);
    waitpid(gone, nullptr, 0);
    SECTION("another boot") { bad.host.boot = "yesterday", why = "not the same host"; }
    SECTION("another namespace") { bad.host.process_namespace += 1, why = "not the same process namespace"; }
    SECTION("a process that is gone") { bad.process = gone, why = "cannot open"; }
    SECTION("no process") { bad.process = 0, why = "an offer of nothing"; }
    SECTION("a descriptor that is not open") { bad.inbox_file = 1'000'000, why = "cannot open"; }
    SECTION("another ring in its place") { bad.inbox_nonce = 3, why = "not the one that was offered"; }
    SECTION("a doorbell in the place of a ring") { bad.inbox_file = bell.file(), why = "in the place of"; }
    SECTION("another doorbell") { bad.doorbell_nonce = 3, why = "not the one that was offered"; }
    SECTION("another size") { bad.capacity_bytes = 8192, why = "bytes in the place of"; }
    SECTION("no size") { bad.capacity_bytes = 0, why = "was offered"; }
    SECTION("a huge size") { bad.capacity_bytes = std::uint64_t{1} << 40, why = "was offered"; }
    SECTION("a size that is no power of two") { bad.capacity_bytes = 5000, why = "was offered"; }
    SECTION("memory that could be truncated") { bad.inbox_file = unsealed, why = "not sealed"; }
    SECTION("a pipe") { bad.inbox_file = pipes[0], why = "no memory"; }
    SECTION("a program") { bad.inbox_file = plain, why = ""; }
    const auto refused = accept(bad);
    if (bad == good) {
      CHECK(refused);
    } else {
      REQUIRE_FALSE(refused);
      CHECK(refused.error().code == ErrorCode::ring_unavailable);
      CHECK_THAT(refused.error().what, Catch::Contains(why));
    }
    for (const int file : {plain, unsealed, pipes[0], pipes[1]}) close(file);
  }
  CHECK(files() == files_before);
}

TEST_CASE("nobody can change the size of shared memory") {
  const RingMemory inbox = RingMemory::create(2, 4096).value_or_throw();
  CHECK(ftruncate(inbox.file(), 0) != 0);
  CHECK(ftruncate(inbox.file(), 1 << 20) != 0);
}

// In chunks, with the median and the best of them: on a machine that others use, only the best says what it
// costs.
TEST_CASE("two processes, spinning: round trip and cost of a message", "[.][bench]") {
  constexpr std::uint64_t chunks = 200, round_trips = 2000, messages = 20'000, batch_size = 64;
  Peer peer([](End& end) {
    std::uint64_t seen = 0;
    while (seen < chunks * round_trips) {
      end.carrier.poll(16, [&](const Record& record) {
        seen = value_in(record);
        end.send(seen);
      });
    }
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
      std::uint64_t count = 0;
      while (count < messages) end.carrier.poll(256, [&](const Record&) { ++count; });
      end.send(chunk + 1);
    }
    return true;
  });
  End& end = peer.end();
  std::uint64_t answered = 0;
  const auto take = [&](const Record& record) { answered = value_in(record); };
  const auto report = [](const std::string& what, std::uint64_t count, auto&& run) {
    std::vector<double> times;
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
      const auto begin = Clock::now();
      run(chunk);
      times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count() /
                      static_cast<double>(count));
    }
    std::sort(times.begin(), times.end());
    std::cout << what << ": median " << times[chunks / 2] << " ns, best " << times[0] << " ns\n";
  };
  report("round trip", round_trips, [&](std::uint64_t chunk) {
    for (std::uint64_t i = chunk * round_trips + 1; i <= (chunk + 1) * round_trips; ++i) {
      end.send(i);
      while (answered != i) end.carrier.poll(16, take);
    }
  });
  answered = 0;
  const std::array<std::uint64_t, 7> payload{};  // With its head 64 bytes.
  report("message of 64 bytes", messages, [&](std::uint64_t chunk) {
    for (std::uint64_t i = 0; i < messages;) {
      auto batch = end.carrier.begin();
      for (std::uint64_t j = 0; j < batch_size && i < messages; ++j) {
        if (batch.write(1, std::as_bytes(std::span(payload))) != Wrote::written) break;
        ++i;
      }
    }
    while (answered != chunk + 1) end.carrier.poll(1, take);
  });
  CHECK(peer.wait() == 0);
}
