// Large outputs in memory that other processes read, and what they may not do to each other by it.
#include "libdag/outputs/arena.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

#include "libdag/outputs/borrowed.hpp"

using namespace dag;

namespace {

constexpr std::size_t large = Blob::large_bytes_min;
const Life owner{{1}, {1}};

struct Begun {
  explicit Begun(ArenaLimits limits = {}) { arena::begin(5, limits); }
  ~Begun() { arena::end(); }
};

Blob filled(std::size_t size_bytes, char with) {
  return Blob::make(size_bytes, [&](std::byte* to) { std::fill_n(to, size_bytes, std::byte(with)); });
}
bool all(const Blob& blob, char wanted) {
  return std::all_of(blob.bytes().begin(), blob.bytes().end(),
                     [&](std::byte one) { return one == std::byte(wanted); });
}

}  // namespace

TEST_CASE("large Blobs lie where others can read them, small ones and those of others do not") {
  CHECK_FALSE(arena::find(filled(large, 'a')));
  const Begun begun;
  const Blob blob = filled(large + 5, 'b');
  const auto where = arena::find(blob);
  REQUIRE(where);
  CHECK(where->size_bytes == large + 5);
  CHECK(where->capacity_bytes >= where->size_bytes);
  CHECK(reinterpret_cast<std::uintptr_t>(blob.bytes().data()) % 64 == 0);
  CHECK_FALSE(arena::find(filled(large - 1, 'c')));
  CHECK_FALSE(arena::find(Blob(std::vector<std::byte>(large))));  // A copy is for this process alone.

  Borrowed borrowed;
  int backs = 0;
  Blob read = borrowed.open(owner, *where, [&] { ++backs; }).value_or_throw();
  CHECK(read.same_bytes(blob));
  CHECK(read.bytes().data() != blob.bytes().data());
  CHECK_FALSE(arena::find(read));
  Blob copy = read;
  read = {};
  CHECK(backs == 0);
  copy = {};
  CHECK(backs == 1);
}

TEST_CASE("a segment is used again, and stays mapped where it was") {
  const Begun begun;
  Borrowed borrowed;
  std::set<std::uint64_t> nonces;
  for (const char with : {'a', 'b', 'c'}) {
    const Blob blob = filled(4 * large + static_cast<std::size_t>(with), with);
    const auto where = arena::find(blob);
    REQUIRE(where);
    nonces.insert(where->nonce);
    CHECK(all(borrowed.open(owner, *where, [] {}).value_or_throw(), with));
  }
  CHECK(nonces.size() == 1);
  CHECK(borrowed.mapped() == 1);
  CHECK(arena::use().waiting == 1);
  borrowed.forget(owner);
  CHECK(borrowed.mapped() == 0);
}

TEST_CASE("there are so many segments and no more, then the heap has to do") {
  const Begun begun({.segments_max = 2, .waiting_bytes_max = 2 * large});
  std::vector<Blob> held = {filled(large, 'a'), filled(large, 'b'), filled(large, 'c')};
  CHECK(arena::find(held[1]));
  CHECK_FALSE(arena::find(held[2]));
  CHECK(all(held[2], 'c'));
  held.clear();
  CHECK(arena::use().waiting == 2);
  // A waiting chunk makes room for one of another size.
  held.push_back(filled(2 * large, 'd'));
  CHECK(arena::find(held[0]));
  held.clear();
  CHECK(arena::use().waiting_bytes <= 2 * large);
  // Larger ones are not kept waiting.
  held.push_back(filled(16 * large, 'e'));
  held.clear();
  CHECK(arena::use().waiting_bytes <= 2 * large);
}

TEST_CASE("nothing waits after the end, and what is held stays") {
  Blob held;
  {
    const Begun begun;
    held = filled(large, 'a');
    filled(large, 'b');
    CHECK(arena::use().waiting == 1);
  }
  CHECK(arena::use().waiting == 0);
  CHECK(all(held, 'a'));
  held = {};
  CHECK(arena::use().segments == 0);
}

TEST_CASE("what others say of their memory is looked at") {
  const Begun begun;
  const Blob blob = filled(large, 'a');
  const ring::SharedBytes truth = *arena::find(blob);
  Borrowed borrowed;
  const auto refused = [&](ring::SharedBytes said) {
    bool back = false;
    const bool failed = !borrowed.open(owner, said, [&] { back = true; });
    return failed && !back;  // There is nothing to give back.
  };
  ring::SharedBytes said = truth;
  CHECK_FALSE(refused(said));
  Borrowed().forget(owner);
  borrowed.forget(owner);
  CHECK(refused({truth.process, truth.file, truth.nonce + 1, truth.capacity_bytes, truth.size_bytes}));
  CHECK(refused({truth.process, truth.file, truth.nonce, truth.capacity_bytes * 2, truth.size_bytes}));
  CHECK(refused({truth.process, truth.file, truth.nonce, truth.capacity_bytes, truth.capacity_bytes + 1}));
  CHECK(refused({truth.process, truth.file, truth.nonce, std::uint64_t{1} << 40, truth.size_bytes}));
  CHECK(refused({truth.process, truth.file, truth.nonce, truth.capacity_bytes, 5}));
  CHECK(refused({truth.process, STDIN_FILENO, truth.nonce, truth.capacity_bytes, truth.size_bytes}));
  CHECK(refused({truth.process, 9999, truth.nonce, truth.capacity_bytes, truth.size_bytes}));
  CHECK(refused({-1, truth.file, truth.nonce, truth.capacity_bytes, truth.size_bytes}));
}

TEST_CASE("threads take and give back as they like") {
  const Begun begun({.segments_max = 8, .waiting_bytes_max = 4 * large});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (const char with : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&wrong, with] {
      for (int i = 0; i < 50; ++i) {
        const Blob one = filled(large + static_cast<std::size_t>(i % 3) * large, with);
        const Blob two = filled(large, static_cast<char>(with + 1));
        wrong += all(one, with) && all(two, static_cast<char>(with + 1)) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(arena::use().segments == arena::use().waiting);
}

TEST_CASE("another process reads it, and goes on reading when its owner is killed") {
  int numbers[2];
  REQUIRE(pipe(numbers) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    arena::begin(6);
    const Blob blob = filled(8 * large, 'x');
    const ring::SharedBytes where = *arena::find(blob);
    if (write(numbers[1], &where, sizeof where) != sizeof where) _exit(1);
    for (;;) pause();
  }
  ring::SharedBytes where;
  REQUIRE(read(numbers[0], &where, sizeof where) == sizeof where);
  CHECK(where.process == child);
  Borrowed borrowed;
  const Blob blob = borrowed.open(owner, where, [] {}).value_or_throw();
  CHECK(all(blob, 'x'));
  kill(child, SIGKILL);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK(all(blob, 'x'));
  CHECK_FALSE(borrowed.open({{2}, {1}}, where, [] {}));
  close(numbers[0]);
  close(numbers[1]);
}
