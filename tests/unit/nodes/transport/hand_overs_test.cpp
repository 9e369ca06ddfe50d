// Large outputs are handed over between two processes, both played in this one: descriptors of the own
// process are opened as those of another, and streams go over loopback.

#include "nodes/transport/hand_overs.hpp"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "tests/support/patience.hpp"

using namespace dag;
using transport::HandOvers;

namespace {

const Life owner{{0}, {1}}, reader{{1}, {1}};
constexpr std::size_t large = Blob::large_bytes_min;

struct Two {
  Two() { arena::begin(7); }
  ~Two() { arena::end(); }

  message::Data data(char with) {
    message::Data data;
    data.job = {7};
    data.name = {{0, 3}, {{1, 1}, 1}};
    data.bytes = Blob::make(large, [&](std::byte* to) { std::fill_n(to, large, std::byte(with)); });
    return data;
  }
  /// The data that the reader gets; nothing if it must come again (in `resent`), or comes by a stream.
  std::optional<message::Data> send(message::Data data) {
    if (!here.hand_over(reader, maps, data)) return std::nullopt;
    talk();
    const bool complete = there.complete(owner, data);
    talk();
    return complete ? std::optional(data) : std::nullopt;
  }
  void talk() {
    while (!to_reader.empty() || !to_owner.empty()) {
      if (!to_reader.empty()) {
        const RingMessage said = to_reader.front();
        to_reader.pop_front();
        if (const auto* over = std::get_if<ring::HandOver>(&said)) {
          there.on_over(owner, broken ? ring::HandOver{over->number, {}} : *over);
        } else {
          ring::StreamOver stream = std::get<ring::StreamOver>(said);
          if (broken) ++stream.secret;
          there.on_over(owner, stream, "127.0.0.1");
        }
      } else {
        const auto back = std::get<ring::HandBack>(to_owner.front());
        to_owner.pop_front();
        if (auto data = here.on_back(reader, back)) resent.push_back(*data);
      }
    }
  }
  /// Waits for the end of a stream; what it brings, if a Data waited for it.
  std::optional<message::Data> streamed() {
    std::unique_lock lock(mutex);
    REQUIRE(ended_one.wait_for(lock, dag::test::patient(std::chrono::seconds(20)),
                               [this] { return !ended.empty(); }));
    auto [number, bytes] = std::move(ended.front());
    ended.pop_front();
    auto data = there.on_streamed(owner, number, std::move(bytes));
    talk();
    return data;
  }

  bool maps = true;     ///< the reader is on the owner's host
  bool broken = false;  ///< the reader can open nothing, and fetch nothing
  std::deque<RingMessage> to_reader, to_owner;
  std::vector<message::Data> resent;
  std::mutex mutex;
  std::condition_variable ended_one;
  std::deque<std::pair<std::uint64_t, std::optional<Blob>>> ended;
  HandOvers here{"127.0.0.1", [this](Life, RingMessage said) { to_reader.push_back(said); },
                 [](Life, std::uint64_t) { return [] {}; },
                 [](Life, std::uint64_t, const std::optional<Blob>&) {}};
  HandOvers there{
      "127.0.0.1", [this](Life, RingMessage said) { to_owner.push_back(said); },
      [this](Life of, std::uint64_t number) { return [this, of, number] { there.give_back(of, number); }; },
      [this](Life, std::uint64_t number, std::optional<Blob> bytes) {
        const std::lock_guard lock(mutex);
        ended.emplace_back(number, std::move(bytes));
        ended_one.notify_one();
      }};
};

}  // namespace

TEST_CASE("the reader gets the bytes without a copy, and the owner keeps them until they are handed back") {
  Two two;
  message::Data made = two.data('a');
  const auto where = arena::find(made.bytes);
  std::optional<message::Data> got = two.send(made);
  REQUIRE(got);
  CHECK(got->handed == 0);
  CHECK(got->bytes.same_bytes(made.bytes));
  CHECK(got->bytes.owner() != nullptr);
  made.bytes = {};
  CHECK(arena::use().waiting == 0);  // The reader still reads it.
  got.reset();
  two.talk();
  CHECK(arena::use().waiting == 1);
  CHECK(arena::find(two.data('b').bytes)->nonce == where->nonce);
}

TEST_CASE("small outputs go as they are, whoever reads them") {
  Two two;
  two.maps = GENERATE(true, false);
  message::Data small = two.data('a');
  small.bytes = Blob(std::vector<std::byte>(large - 1));
  const std::optional<message::Data> got = two.send(small);
  REQUIRE(got);
  CHECK(got->bytes.bytes().data() == small.bytes.bytes().data());
}

TEST_CASE("who is on another host, and what lies on the heap, is served by a stream") {
  Two two;
  message::Data made = two.data('a');
  SECTION("another host") { two.maps = false; }
  SECTION("on the heap") { made.bytes = Blob(made.bytes.bytes()); }
  CHECK_FALSE(two.send(made));
  // Asked for again meanwhile: it comes once.
  message::Data again = made;
  CHECK_FALSE(two.here.hand_over(reader, two.maps, again));
  std::optional<message::Data> got = two.streamed();
  REQUIRE(got);
  CHECK(got->handed == 0);
  CHECK(got->name == made.name);
  CHECK(got->bytes.same_bytes(made.bytes));
  CHECK(got->bytes.bytes().data() != made.bytes.bytes().data());
  CHECK(two.resent.empty());
  // When it has come it may be asked for once more.
  CHECK_FALSE(two.send(made));
  REQUIRE(two.streamed());
}

TEST_CASE("who asks at once is given what was lent") {
  Two two;
  two.maps = false;
  const message::Data made = two.data('a');
  // The owner's thread is on its way back to sleep from the one before when the next is lent and asked for.
  for (int round = 0; round < 200; ++round) {
    REQUIRE_FALSE(two.send(made));
    REQUIRE(two.streamed());
  }
  CHECK(two.resent.empty());
}

TEST_CASE("bytes that come before their Data wait for it") {
  Two two;
  two.maps = false;
  message::Data data = two.data('a');
  const message::Data made = data;
  REQUIRE(two.here.hand_over(reader, false, data));
  two.talk();
  CHECK_FALSE(two.streamed());
  REQUIRE(two.there.complete(owner, data));
  CHECK(data.bytes.same_bytes(made.bytes));
}

TEST_CASE("who cannot open it gets the bytes, this time and from then on") {
  Two two;
  two.broken = true;
  two.maps = false;
  const message::Data made = two.data('a');
  CHECK_FALSE(two.send(made));
  CHECK_FALSE(two.streamed());
  REQUIRE(two.resent.size() == 1);
  CHECK(two.resent[0].handed == 0);
  CHECK(two.resent[0].bytes.same_bytes(made.bytes));
  REQUIRE(two.send(two.data('b')));
  // Nor by the other way.
  two.maps = true;
  CHECK_FALSE(two.send(two.data('c')));
  CHECK(two.resent.size() == 2);
  REQUIRE(two.send(two.data('d')));
  CHECK(two.resent.size() == 2);
}

TEST_CASE("a stream of a life that is over brings nothing") {
  Two two;
  two.maps = false;
  CHECK_FALSE(two.send(two.data('a')));
  SECTION("the owner's") { two.there.end(owner); }
  SECTION("the reader's, before it has asked") {
    two.here.end(reader);
    two.there.end(owner);
  }
  CHECK_FALSE(two.streamed());
  CHECK(two.resent.empty());
}

TEST_CASE("nothing is kept for a life that is over") {
  Two two;
  std::optional<message::Data> got = two.send(two.data('a'));
  REQUIRE(got);
  two.here.end(reader);
  CHECK(arena::use().waiting == 1);
  two.there.end(owner);
  got.reset();  // Nobody is told any more.
  CHECK(two.to_owner.empty());
}

TEST_CASE("numbers that nobody gave mean nothing") {
  Two two;
  message::Data data = two.data('a');
  data.handed = 5;
  CHECK_FALSE(two.there.complete(owner, data));
  CHECK_FALSE(two.here.on_back(reader, {5, true}));
  CHECK_FALSE(two.here.on_back(reader, {5, false}));
  CHECK(two.send(two.data('b')));
}
