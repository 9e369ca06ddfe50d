// The model checker itself, then what it says of the ring and the bell. Each property stands beside a planted
// mistake that it finds: a checker that finds nothing has to show that it would.

#include "tests/support/interleavings.hpp"

#include <array>
#include <catch2/catch.hpp>

#include "libdag/ring/bell.hpp"
#include "libdag/ring/ring.hpp"
#include "tests/support/sanitized.hpp"

using namespace dag;
using namespace dag::ring;

namespace {

model::Verdict explore(const std::function<model::Program()>& make, model::Options options = {}) {
  return model::Explorer(options).explore(make);
}

void check_holds(const model::Verdict& verdict) {
  INFO(verdict.violation.value_or("") << " in the order " << verdict.order);
  CHECK_FALSE(verdict.violation);
  CHECK(verdict.orders > 1);
}

}  // namespace

TEST_CASE("the checker visits every order once") {
  // Two threads of two dependent steps each: (2 + 2)! / (2! 2!) orders.
  std::size_t runs = 0;
  const model::Verdict verdict = explore([&] {
    auto counter = std::make_shared<model::Atomic<std::uint32_t>>(0);
    const auto twice = [counter] {
      counter->fetch_add(1);
      counter->fetch_add(1);
    };
    return model::Program{{twice, twice}, [counter, &runs] {
                            ++runs;
                            model::require(counter->load() == 4, "four");
                          }};
  });
  CHECK_FALSE(verdict.violation);
  CHECK(verdict.orders == 6);
  CHECK(runs == 6);
}

TEST_CASE("the checker knows that orders of independent steps are one") {
  const model::Verdict verdict = explore([] {
    auto cells = std::make_shared<std::array<model::Atomic<std::uint32_t>, 2>>();
    return model::Program{{[cells] { (*cells)[0].store(1), (*cells)[0].store(2); },
                           [cells] { (*cells)[1].store(1), (*cells)[1].store(2); }}};
  });
  CHECK_FALSE(verdict.violation);
  CHECK(verdict.orders == 1);
}

TEST_CASE("the checker finds a lost update") {
  const model::Verdict verdict = explore([] {
    auto counter = std::make_shared<model::Atomic<std::uint32_t>>(0);
    const auto add = [counter] { counter->store(counter->load() + 1); };
    return model::Program{{add, add},
                          [counter] { model::require(counter->load() == 2, "an update was lost"); }};
  });
  CHECK(verdict.violation == "an update was lost");
}

TEST_CASE("both threads see nothing only where stores are buffered and not sequentially consistent") {
  const auto run = [](bool buffers, std::memory_order order) {
    return explore(
        [order] {
          struct State {
            model::Atomic<std::uint32_t> x, y;
            std::uint32_t saw_y = 9, saw_x = 9;
          };
          auto s = std::make_shared<State>();
          return model::Program{{[s, order] { s->x.store(1, order), s->saw_y = s->y.load(); },
                                 [s, order] { s->y.store(1, order), s->saw_x = s->x.load(); }},
                                [s] { model::require(s->saw_x + s->saw_y > 0, "both saw nothing"); }};
        },
        {.store_buffers = buffers});
  };
  CHECK_FALSE(run(false, std::memory_order_release).violation);
  CHECK_FALSE(run(true, std::memory_order_seq_cst).violation);
  CHECK(run(true, std::memory_order_release).violation == "both saw nothing");
}

// ---- The ring

namespace {

/// A ring for two records of two words.
template <template <class> class Atomic>
struct SmallRing {
  Positions<Atomic> positions;
  std::array<Atomic<std::uint64_t>, 4> words;
  View<Atomic> view() { return {&positions, words.data(), sizeof(std::uint64_t) * words.size()}; }
};

std::span<const std::byte> bytes_of(const std::uint64_t& value) {
  return std::as_bytes(std::span(&value, 1));
}

std::uint64_t value_in(const Record& record) {
  model::require(record.bytes.size() == sizeof(std::uint64_t) && record.kind == 7,
                 "a record that nobody wrote");
  std::uint64_t value;
  std::memcpy(&value, record.bytes.data(), sizeof value);
  return value;
}

/// A mistake in the ring's own code: as if its sequentially consistent stores were releases.
template <class T>
struct Released : model::Atomic<T> {
  using model::Atomic<T>::Atomic;
  void store(T value, std::memory_order = std::memory_order_seq_cst) {
    model::Atomic<T>::store(value, std::memory_order_release);
  }
};

/// Two processes: each has a ring end and a bell on which it sleeps.
template <template <class> class Atomic>
struct Pair {
  SmallRing<Atomic> ring;
  Atomic<std::uint32_t> bell_of_writer{0}, bell_of_reader{0};
  std::vector<std::uint64_t> taken;
};

enum class Mistake {
  none,
  tail_before_words,
  head_before_copy,
  no_look_before_sleep,
  ring_before_publish,
  quiet_reader
};

/// Writes 1, 2, ... `count`, in batches; sleeps when the ring is full.
template <template <class> class Atomic>
void write_all(Pair<Atomic>& pair, std::uint64_t count, std::uint64_t batch, Mistake mistake) {
  RingWriter<Atomic> writer(pair.ring.view());
  Bell<Atomic> own(pair.bell_of_writer), peer(pair.bell_of_reader);
  const auto publish = [&] {
    if (mistake == Mistake::ring_before_publish) peer.ring();
    if (writer.publish() && mistake != Mistake::ring_before_publish) peer.ring();
  };
  for (std::uint64_t value = 1; value <= count; ++value) {
    if (mistake == Mistake::tail_before_words) pair.ring.positions.tail.store(value * 16);
    Wrote wrote;
    while ((wrote = writer.write(7, bytes_of(value))) == Wrote::full) {
      publish();
      own.prepare_wait();
      if (writer.want_space()) {
        own.cancel_wait();
      } else {
        own.wait(Duration(0));
      }
    }
    model::require(wrote == Wrote::written, "the writer says the ring is broken");
    if (value % batch == 0 || value == count) publish();
  }
}

template <template <class> class Atomic>
void read_all(Pair<Atomic>& pair, std::uint64_t count, Mistake mistake) {
  RingReader<Atomic> reader(pair.ring.view());
  Bell<Atomic> own(pair.bell_of_reader), peer(pair.bell_of_writer);
  while (pair.taken.size() < count) {
    Record record;
    Took took = Took::empty;
    if (mistake == Mistake::head_before_copy) {  // All that is there is given back before it is read.
      const std::uint64_t tail = pair.ring.positions.tail.load();
      if (tail > pair.taken.size() * 16) pair.ring.positions.head.store(tail);
    }
    while ((took = reader.take(record)) == Took::record) pair.taken.push_back(value_in(record));
    model::require(took == Took::empty, "the reader says the ring is broken");
    if (reader.release() && mistake != Mistake::quiet_reader) peer.ring_all();
    if (pair.taken.size() == count) break;
    own.prepare_wait();
    if (mistake != Mistake::no_look_before_sleep && reader.has_news()) {
      own.cancel_wait();
    } else {
      own.wait(Duration(0));
    }
  }
}

template <template <class> class Atomic = model::Atomic>
model::Verdict explore_ring(std::uint64_t count, std::uint64_t batch, model::Options options,
                            Mistake mistake = Mistake::none) {
  return explore(
      [=] {
        auto pair = std::make_shared<Pair<Atomic>>();
        return model::Program{
            {[=] { write_all(*pair, count, batch, mistake); }, [=] { read_all(*pair, count, mistake); }},
            [=] {
              model::require(pair->taken.size() == count, "not all arrived");
              for (std::uint64_t i = 0; i < count; ++i) {
                model::require(pair->taken[i] == i + 1, "out of order or changed");
              }
              model::require(pair->bell_of_reader.load() == 0 && pair->bell_of_writer.load() == 0,
                             "a bell counts sleepers that are none");
            }};
      },
      options);
}

}  // namespace

TEST_CASE("in every order each record arrives once, whole and in order, and nobody sleeps for ever") {
  const bool buffers = GENERATE(false, true);
  const auto [count, batch] = GENERATE(table<std::uint64_t, std::uint64_t>({{1, 1}, {2, 1}, {2, 2}, {3, 3}}));
  if (test::sanitized && buffers && count == 3)
    return;  // A minute. What is checked does not depend on the build.
  CAPTURE(buffers, count, batch);
  check_holds(explore_ring(count, batch, {.store_buffers = buffers}));
}

TEST_CASE("mistakes planted around the ring are found") {
  const bool buffers = GENERATE(false, true);
  const auto [mistake, count, what] = GENERATE(table<Mistake, std::uint64_t, std::string>({
      {Mistake::tail_before_words, 1, "out of order or changed"},
      {Mistake::head_before_copy, 3, "the reader says the ring is broken"},
      {Mistake::no_look_before_sleep, 1, "somebody sleeps for ever"},
      {Mistake::ring_before_publish, 1, "somebody sleeps for ever"},
      {Mistake::quiet_reader, 3, "somebody sleeps for ever"},
  }));
  CAPTURE(buffers, what);
  const model::Verdict verdict = explore_ring(count, count, {.store_buffers = buffers}, mistake);
  CHECK(verdict.violation.value_or("nothing") == what);
}

TEST_CASE("with positions that are only released a wake is lost on x86") {
  CHECK(explore_ring<Released>(1, 1, {.store_buffers = true}).violation == "somebody sleeps for ever");
  CHECK_FALSE(explore_ring<Released>(1, 1, {.store_buffers = false}).violation);
}

// ---- The bell, with several sleepers

namespace {

struct Work {
  model::Atomic<std::uint32_t> items{0}, bell{0};
  std::uint32_t taken = 0;  // Only one fiber at a time uses it.

  bool take() {  // In one step: the queue is not what is checked here.
    const bool got = items.change([](std::uint32_t n) { return n > 0 ? n - 1 : 0; }) > 0;
    taken += got ? 1 : 0;
    return got;
  }
};

/// A wait is in vain only when another took the call of a ring, so it cannot happen as often as this.
constexpr std::uint32_t enough = 3;

/// Looks for one item, sleeps where there is none, at most `waits` times.
void find_one(Work& work, std::uint32_t waits) {
  Bell<model::Atomic> bell(work.bell);
  for (std::uint32_t i = 0; i <= waits; ++i) {
    if (work.take()) return;
    if (i == waits) return;
    bell.prepare_wait();
    if (work.take()) return bell.cancel_wait();
    bell.wait(Duration(0));
  }
}

model::Program sleepers_and_items(std::uint32_t sleepers, std::uint32_t items, std::uint32_t waits,
                                  std::uint32_t call) {
  auto work = std::make_shared<Work>();
  model::Program program;
  for (std::uint32_t i = 0; i < sleepers; ++i) program.threads.push_back([=] { find_one(*work, waits); });
  program.threads.push_back([=] {
    for (std::uint32_t i = 0; i < items; ++i) {
      work->items.fetch_add(1);
      Bell<model::Atomic>(work->bell).ring(call);
    }
  });
  program.at_end = [=] {
    model::require(work->taken + work->items.load() == items, "an item was taken twice or lost");
    model::require(waits < enough || work->taken == std::min(items, sleepers), "an item was not found");
    model::require(work->bell.load() == 0, "the bell counts sleepers that are none");
  };
  return program;
}

}  // namespace

TEST_CASE("each ring reaches a sleeper, whoever takes the call") {
  check_holds(explore([] { return sleepers_and_items(1, 1, enough, 1); }));
  check_holds(explore([] { return sleepers_and_items(2, 2, enough, 1); }, {.interruptions_max = 3}));
}

TEST_CASE("sleeps that time out leave a bell that counts nobody") {
  check_holds(explore([] { return sleepers_and_items(1, 2, 2, 1); }, {.timeouts = true}));
  check_holds(
      explore([] { return sleepers_and_items(2, 1, 1, 1); }, {.timeouts = true, .interruptions_max = 3}));
}

// ---- Two bells: a listener for the time when all workers do other things

namespace {

/// A worker, which is called and then may have something else to do; a listener; a ringer with one item.
model::Program worker_and_listener(bool passes_on) {
  struct Shared {
    model::Atomic<std::uint32_t> items{0}, workers{0}, listener{0};
    bool listened = false;
  };
  auto shared = std::make_shared<Shared>();
  const auto bells = [shared] {
    return Bells<model::Atomic>{Bell<model::Atomic>(shared->workers), Bell<model::Atomic>(shared->listener)};
  };
  model::Program program;
  program.threads.push_back([=] {  // Sleeps, wakes to something else, and does not come back.
    bells().workers.prepare_wait();
    if (shared->items.load() == 0) {
      bells().workers.wait(Duration(0));
    } else {
      bells().workers.cancel_wait();
    }
    if (passes_on && shared->items.load() > 0) bells().listener.ring();
  });
  program.threads.push_back([=] {
    bells().listener.prepare_wait();
    if (shared->items.load() == 0) {
      bells().listener.wait(Duration(0));
    } else {
      bells().listener.cancel_wait();
    }
    shared->listened = shared->items.load() > 0;
  });
  program.threads.push_back([=] {
    shared->items.fetch_add(1);
    bells().ring();
  });
  program.at_end = [=] { model::require(shared->listened, "an item lies there and nobody listens"); };
  return program;
}

}  // namespace

TEST_CASE("when those who work turn to something else, the listener hears of what is left") {
  check_holds(explore([] { return worker_and_listener(true); }));
  CHECK(explore([] { return worker_and_listener(false); }).violation);
}

namespace {

/// A sleeper, and a ringer that dies between its call and the wake; a witness of its death may rouse.
model::Program call_without_wake(bool rouses) {
  struct Shared {
    model::Atomic<std::uint32_t> items{0}, word{0};
  };
  auto shared = std::make_shared<Shared>();
  model::Program program;
  program.threads.push_back([=] {
    Bell<model::Atomic> bell(shared->word);
    bell.prepare_wait();
    if (shared->items.load() > 0) return bell.cancel_wait();
    model::require(bell.wait(Duration(0)), "a call was not found");
  });
  program.threads.push_back([=] {
    using Layout = Bell<model::Atomic>;
    shared->items.fetch_add(1);
    std::uint32_t word = shared->word.load();
    while (Layout::sleepers(word) > 0 &&
           !shared->word.compare_exchange_strong(word, word - Layout::one_sleeper + Layout::one_call)) {
    }
    if (rouses) Layout(shared->word).rouse();
  });
  return program;
}

}  // namespace

TEST_CASE("the call of a ringer that died before the wake is found by whoever is roused") {
  check_holds(explore([] { return call_without_wake(true); }));
  CHECK(explore([] { return call_without_wake(false); }).violation);
}
