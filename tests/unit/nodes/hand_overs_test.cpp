// Large outputs are handed over between two processes, both played in this one: descriptors of the own
// process are opened as those of another.

#include "nodes/transport/hand_overs.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <optional>

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
  /// What the reader gets; nothing when it must come again, which is in `resent`.
  std::optional<message::Data> send(message::Data data) {
    here.hand_over(reader, data);
    talk();
    const bool complete = there.complete(owner, data);
    talk();
    return complete ? std::optional(data) : std::nullopt;
  }
  void talk() {
    while (!to_reader.empty() || !to_owner.empty()) {
      if (!to_reader.empty()) {
        const auto over = std::get<ring::HandOver>(to_reader.front());
        to_reader.pop_front();
        there.on_over(owner, broken ? ring::HandOver{over.number, {}} : over);
      } else {
        const auto back = std::get<ring::HandBack>(to_owner.front());
        to_owner.pop_front();
        if (auto data = here.on_back(reader, back)) resent.push_back(*data);
      }
    }
  }

  bool broken = false;  ///< the reader can open nothing
  std::deque<RingMessage> to_reader, to_owner;
  std::vector<message::Data> resent;
  HandOvers here{[this](Life, RingMessage said) { to_reader.push_back(said); },
                 [](Life, std::uint64_t) { return [] {}; }};
  HandOvers there{
      [this](Life, RingMessage said) { to_owner.push_back(said); },
      [this](Life of, std::uint64_t number) { return [this, of, number] { there.give_back(of, number); }; }};
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

TEST_CASE("small outputs, and those on the heap, go as they are") {
  Two two;
  message::Data small = two.data('a');
  small.bytes = Blob(std::vector<std::byte>(large));
  const std::optional<message::Data> got = two.send(small);
  REQUIRE(got);
  CHECK(got->bytes.bytes().data() == small.bytes.bytes().data());
}

TEST_CASE("who cannot open it gets the bytes, this time and from then on") {
  Two two;
  two.broken = true;
  const message::Data made = two.data('a');
  CHECK_FALSE(two.send(made));
  REQUIRE(two.resent.size() == 1);
  CHECK(two.resent[0].handed == 0);
  CHECK(two.resent[0].bytes.same_bytes(made.bytes));
  const std::optional<message::Data> next = two.send(two.data('b'));
  REQUIRE(next);
  CHECK(two.resent.size() == 1);
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
