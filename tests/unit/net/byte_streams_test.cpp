// Bytes by TCP streams, over real sockets on loopback: two ends in this process, each polled in turn, and
// strangers with sockets of their own.

#include "libdag/net/byte_streams.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>

#include "tests/support/patience.hpp"

using namespace dag;
using namespace std::chrono_literals;
using net::ByteStreams;
using net::StreamToken;

namespace {

constexpr net::StreamToken token{0x1234'5678'9ABC'DEF0, 1};

std::unique_ptr<ByteStreams> opened() { return ByteStreams::open({"127.0.0.1", 0}).value(); }

Blob bytes_of(std::size_t size, char with) {
  return Blob::make(size, [&](std::byte* to) { std::memset(to, with, size); });
}

struct Two {
  std::unique_ptr<ByteStreams> lender = opened(), reader = opened();
  std::vector<std::optional<Blob>> got;

  void fetch(StreamToken wanted, std::uint64_t size) {
    reader->fetch(lender->address(), wanted, size,
                  [this](std::optional<Blob> bytes) { got.push_back(std::move(bytes)); });
  }
  void until(std::size_t count) {
    const auto limit = std::chrono::steady_clock::now() + dag::test::patient(20s);
    while (got.size() < count && std::chrono::steady_clock::now() < limit) {
      if (lender) lender->poll(1ms);
      reader->poll(1ms);
    }
    REQUIRE(got.size() == count);
  }
};

/// A connection that obeys no protocol.
struct Stranger {
  explicit Stranger(std::uint16_t port) : file(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(file, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  }
  ~Stranger() { close(file); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  void say(const void* what, std::size_t size) const {
    REQUIRE(send(file, what, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size));
  }
  int file;
};

}  // namespace

TEST_CASE("who names the token gets the bytes: small, odd and large ones, in the order of asking") {
  Two two;
  const std::vector<std::size_t> sizes = {1, 8, 4097, 300'001, 20u << 20};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    two.lender->lend({token.secret, i}, bytes_of(sizes[i], static_cast<char>('a' + i)));
    two.fetch({token.secret, i}, sizes[i]);
  }
  two.until(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    REQUIRE(two.got[i]);
    CHECK(two.got[i]->same_bytes(bytes_of(sizes[i], static_cast<char>('a' + i))));
  }
}

TEST_CASE("a connection is used again, and made again when it broke") {
  Two two;
  two.lender->lend(token, bytes_of(1000, 'a'));
  for (std::size_t round = 1; round <= 3; ++round) {
    two.fetch(token, 1000);
    two.until(round);
    CHECK(two.got.back());
  }
  const net::Address at = two.lender->address();
  two.lender.reset();
  two.reader->poll(10ms);  // Sees that it is closed.
  two.lender = ByteStreams::open(at).value();
  two.lender->lend(token, bytes_of(1000, 'b'));
  two.fetch(token, 1000);
  two.until(4);
  REQUIRE(two.got.back());
  CHECK(two.got.back()->same_bytes(bytes_of(1000, 'b')));
}

TEST_CASE("what is not lent, not lent any more, or has another size, is not to be had") {
  Two two;
  two.lender->lend(token, bytes_of(1000, 'a'));
  SECTION("another secret") { two.fetch({token.secret + 1, token.number}, 1000); }
  SECTION("another number") { two.fetch({token.secret, token.number + 1}, 1000); }
  SECTION("another size") { two.fetch(token, 999); }
  SECTION("taken back") {
    two.lender->take_back(token);
    two.fetch(token, 1000);
  }
  two.until(1);
  CHECK_FALSE(two.got[0]);
  // The next one is not harmed.
  two.lender->lend(token, bytes_of(1000, 'a'));
  two.fetch(token, 1000);
  two.until(2);
  CHECK(two.got[1]);
}

TEST_CASE("with nobody there, or gone in the middle, a fetch ends without bytes") {
  Two two;
  SECTION("nobody listens") {
    const net::Address at = two.lender->address();
    two.lender.reset();
    two.reader->fetch(at, token, 1000,
                      [&](std::optional<Blob> bytes) { two.got.push_back(std::move(bytes)); });
    two.until(1);
  }
  SECTION("the lender dies") {
    const std::size_t size = 200u << 20;
    two.lender->lend(token, bytes_of(size, 'a'));
    two.fetch(token, size);
    for (int turn = 0; turn < 5; ++turn) {
      two.lender->poll(1ms);
      two.reader->poll(1ms);
    }
    CHECK(two.got.empty());
    two.lender.reset();
    two.until(1);
  }
  SECTION("the reader forgets it") {
    two.fetch(token, 1000);
    two.reader->forget(two.lender->address());
    CHECK(two.got.size() == 1);
  }
  SECTION("the reader ends") {
    two.fetch(token, 1000);
    two.reader = opened();
    CHECK(two.got.size() == 1);
  }
  CHECK_FALSE(two.got[0]);
}

TEST_CASE("strangers get nothing, and hold up nobody") {
  Two two;
  two.lender->lend(token, bytes_of(1 << 20, 'a'));
  const std::uint16_t port = two.lender->address().port;
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (int i = 0; i < 8; ++i) strangers.push_back(std::make_unique<Stranger>(port));
  // Half a token; tokens by guessing; one that asks and does not read; one that is gone at once.
  strangers[0]->say("12345", 5);
  const StreamToken guess{7, 7};
  strangers[1]->say(&guess, sizeof guess);
  for (int i = 0; i < 1000; ++i) strangers[2]->say(&token, sizeof token);
  strangers[3].reset();
  two.fetch(token, 1 << 20);
  two.until(1);
  CHECK(two.got[0]);
  std::uint64_t answer = 0;
  REQUIRE(recv(strangers[1]->file, &answer, sizeof answer, MSG_WAITALL) == sizeof answer);
  CHECK(answer == ByteStreams::unknown);
}

TEST_CASE("a lender that says what nobody asked for is left") {
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  REQUIRE(bind(listening, reinterpret_cast<sockaddr*>(&at), size) == 0);
  REQUIRE(listen(listening, 1) == 0);
  getsockname(listening, reinterpret_cast<sockaddr*>(&at), &size);
  const auto reader = opened();
  std::vector<std::optional<Blob>> got;
  reader->fetch({"127.0.0.1", ntohs(at.sin_port)}, token, 4,
                [&](std::optional<Blob> bytes) { got.push_back(std::move(bytes)); });
  reader->poll(10ms);
  const int connection = accept(listening, nullptr, nullptr);
  StreamToken asked;
  while (recv(connection, &asked, sizeof asked, MSG_DONTWAIT) != sizeof asked) reader->poll(1ms);
  CHECK(asked == token);
  const struct {
    std::uint64_t size = 4;
    char bytes[12] = "abcdefghijk";
  } said;
  REQUIRE(send(connection, &said, sizeof said, MSG_NOSIGNAL) == sizeof said);
  const auto limit = std::chrono::steady_clock::now() + dag::test::patient(20s);
  while (got.empty() && std::chrono::steady_clock::now() < limit) reader->poll(1ms);
  REQUIRE(got.size() == 1);
  REQUIRE(got[0]);
  CHECK(std::memcmp(got[0]->bytes().data(), "abcd", 4) == 0);
  // The reader has closed its end.
  char more = 0;
  for (int turn = 0; turn < 100; ++turn) reader->poll(1ms);
  CHECK(recv(connection, &more, 1, MSG_DONTWAIT) <= 0);
  close(connection);
  close(listening);
}

TEST_CASE("a port that is taken, or an address that is not ours, is an error that says so") {
  const auto one = opened();
  const auto again = ByteStreams::open(one->address());
  REQUIRE_FALSE(again);
  CHECK(again.error().what.find(net::to_string(one->address())) != std::string::npos);
  CHECK_FALSE(ByteStreams::open({"192.0.2.1", 0}));
}

// A thousand connections that were made and left took all places, for ever, and every large output went by
// the link.
TEST_CASE("connections that are made and left keep nobody out") {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  setrlimit(RLIMIT_NOFILE, &files);
  Two two;
  two.lender->lend(token, bytes_of(1000, 'a'));
  const Stranger known(two.lender->address().port);
  const auto asks = [&] {
    known.say(&token, sizeof token);
    std::array<std::byte, 8 + 1000> answer{};
    std::size_t got = 0;
    const auto limit = std::chrono::steady_clock::now() + dag::test::patient(20s);
    while (got < answer.size() && std::chrono::steady_clock::now() < limit) {
      two.lender->poll(1ms);
      const ssize_t more = recv(known.file, answer.data() + got, answer.size() - got, MSG_DONTWAIT);
      if (more == 0) return false;
      if (more > 0) got += static_cast<std::size_t>(more);
    }
    return got == answer.size();
  };
  REQUIRE(asks());

  std::vector<std::unique_ptr<Stranger>> left;
  for (std::size_t i = 0; i < ByteStreams::callers_max + 10; ++i) {
    left.push_back(std::make_unique<Stranger>(two.lender->address().port));
    two.lender->poll(0ms);
  }
  const auto open_now = [&] {
    return std::count_if(left.begin(), left.end(), [](const auto& stranger) {
      std::byte some{};
      return recv(stranger->file, &some, 1, MSG_DONTWAIT) < 0;
    });
  };
  CHECK(open_now() <= static_cast<std::ptrdiff_t>(ByteStreams::strangers_of_host_max));
  two.fetch(token, 1000);
  two.until(1);
  CHECK(two.got.back());
  CHECK(asks());
  const auto limit = std::chrono::steady_clock::now() + dag::test::patient(20s);
  while (open_now() > 0 && std::chrono::steady_clock::now() < limit) two.lender->poll(10ms);
  CHECK(open_now() == 0);
  CHECK(asks());
}
