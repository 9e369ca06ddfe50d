// The HTTP server of a node, with real connections: good ones, bad ones and many.

#include "nodes/http/http_server.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/support/http_client.hpp"

using namespace dag;
using namespace dag::web;
using dag::test::get;
using dag::test::HttpConnection;

namespace {

constexpr const char* host_line = "Host: localhost\r\n";

void echo(const HttpRequest& request, const HttpReply& reply) {
  reply({200, "text/plain; charset=utf-8", "path " + request.path});
}

struct Served {
  std::unique_ptr<HttpServer> server;
  explicit Served(HttpHandler handler = echo, HttpOptions options = {})
      : server(open(std::move(options), std::move(handler))) {}
  std::uint16_t port() const { return server->address().port; }

 private:
  static std::unique_ptr<HttpServer> open(HttpOptions options, HttpHandler handler) {
    options.listen = {"127.0.0.1", 0};
    return HttpServer::open(std::move(options), std::move(handler)).value_or_throw();
  }
};

std::string request(const std::string& line, const std::string& more = {}) {
  return line + " HTTP/1.1\r\n" + host_line + more + "\r\n";
}

}  // namespace

TEST_CASE("what is asked is answered") {
  const Served served;
  const auto heard = get(served.port(), "/x?y=1");
  CHECK(heard.status == 200);
  CHECK(heard.body == "path /x");
  CHECK_THAT(heard.head, Catch::Contains("Content-Type: text/plain") && Catch::Contains("no-store") &&
                             Catch::Contains("nosniff"));
}

TEST_CASE("one connection has many requests") {
  const Served served;
  const HttpConnection connection(served.port());
  for (int i = 0; i < 100; ++i) {
    connection.send(request("GET /" + std::to_string(i)));
    REQUIRE(connection.hear().body == "path /" + std::to_string(i));
  }
}

TEST_CASE("HEAD has the head alone") {
  const Served served;
  const HttpConnection connection(served.port());
  connection.send(request("HEAD /x", "Connection: close\r\n"));
  connection.send(request("GET /y"));
  const std::string first = [&] {
    std::string all;
    const auto heard = connection.hear();
    return heard.head + heard.body;
  }();
  CHECK_THAT(first, Catch::StartsWith("HTTP/1.1 200") && Catch::Contains("Content-Length: 7"));
  CHECK_THAT(first, !Catch::Contains("path /x"));
}

TEST_CASE("who is not let in hears why, and the handler nothing") {
  const Served served([](const HttpRequest&, const HttpReply&) { FAIL("it was asked"); });
  CHECK(get(served.port(), "/", "Origin: http://evil.example\r\n").status == 403);
  const HttpConnection connection(served.port());
  connection.send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  const auto heard = connection.hear();
  CHECK(heard.status == 403);
  CHECK_THAT(heard.body, Catch::Contains("evil.example"));
  const HttpConnection posting(served.port());
  posting.send(request("POST /", "Content-Length: 3\r\n") + "a=b");
  const auto refused = posting.hear();
  CHECK(refused.status == 405);
  CHECK_THAT(refused.head, Catch::Contains("Allow: GET, HEAD"));
}

TEST_CASE("what is no HTTP is refused, and others are served on") {
  const Served served;
  for (const std::string& bad :
       {std::string("nonsense\r\n\r\n"), std::string("GET\r\n\r\n"), std::string(100'000, 'x'),
        "GET / HTTP/1.1\r\nHost: localhost\r\nLong: " + std::string(200'000, 'y') + "\r\n\r\n",
        std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\0\1\2\3\r\n\r\n", 8)}) {
    const HttpConnection connection(served.port());
    connection.send(bad);
    const auto heard = connection.hear();
    INFO(bad.substr(0, 40));
    CHECK((heard.status == 0 || (heard.status >= 400 && heard.status < 600)));
  }
  CHECK(get(served.port(), "/").status == 200);
}

TEST_CASE("a handler that throws is one answer less") {
  const Served served([](const HttpRequest& request, const HttpReply& reply) {
    if (request.path == "/bad") throw std::runtime_error("out of luck");
    echo(request, reply);
  });
  const auto heard = get(served.port(), "/bad");
  CHECK(heard.status == 500);
  CHECK_THAT(heard.body, !Catch::Contains("out of luck"));  // The inner cause is not for clients.
  CHECK(get(served.port(), "/").status == 200);
}

TEST_CASE("a body may be made by the server's own thread, whoever answers") {
  std::thread::id of_server, of_body;
  const Served served([&](const HttpRequest&, const HttpReply& reply) {
    of_server = std::this_thread::get_id();
    std::thread([&, reply] {
      reply({200, "text/plain", {}, [&] {
               of_body = std::this_thread::get_id();
               return std::string("made");
             }});
    }).join();
  });
  CHECK(get(served.port(), "/").body == "made");
  CHECK(of_body == of_server);
}

TEST_CASE("an answer may come later and from another thread") {
  std::mutex mutex;
  std::vector<std::thread> threads;
  {
    const Served served([&](const HttpRequest& request, HttpReply reply) {
      const std::lock_guard lock(mutex);
      threads.emplace_back([request, reply = std::move(reply)] { echo(request, reply); });
    });
    for (int i = 0; i < 50; ++i)
      REQUIRE(get(served.port(), "/" + std::to_string(i)).body == "path /" + std::to_string(i));
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("who gets no answer in time hears that; the answer that comes then goes nowhere") {
  HttpReply late;
  {
    const Served served([&](const HttpRequest&, HttpReply reply) { late = std::move(reply); },
                        {.answer_within = [](const HttpRequest&) { return std::chrono::milliseconds(50); }});
    const auto heard = get(served.port(), "/");
    CHECK(heard.status == 503);
    CHECK_THAT(heard.body, Catch::Contains("50 ms"));
    late({});
    CHECK(get(served.port(), "/").status == 503);
  }
  late({});  // The server is gone.
}

TEST_CASE("a reply that is dropped is a mistake, not a wait") {
  const Served served([](const HttpRequest&, const HttpReply&) {});
  CHECK(get(served.port(), "/").status == 500);
}

TEST_CASE("a body without an end goes on until it ends, or nobody reads it") {
  std::mutex mutex;
  int asked = 0;
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return ++asked;
  };
  const Served served(
      [&](const HttpRequest& request, const HttpReply& reply) {
        HttpAnswer answer{200, "text/event-stream", {}};
        const bool ends = request.path == "/ends";
        answer.next = [&count, ends](const HttpReply& piece) {
          const int now = count();
          if (ends && now > 3) return piece({503, {}, {}});
          piece({200, {}, now == 2 ? "" : "piece " + std::to_string(now) + ";"});
        };
        reply(std::move(answer));
      },
      {.pause = std::chrono::milliseconds(1)});
  const HttpConnection ending(served.port());
  ending.send(request("GET /ends", "Connection: close\r\n"));
  const auto heard = ending.hear();
  CHECK(heard.status == 200);
  CHECK_THAT(heard.head, Catch::Contains("text/event-stream"));
  CHECK_THAT(heard.body,
             Catch::Contains("piece 1;") && Catch::Contains("piece 3;") && !Catch::Contains("piece 2;"));
  const HttpConnection head(served.port());
  head.send(request("HEAD /ends", "Connection: close\r\n"));
  CHECK(head.hear().body.empty());
}

TEST_CASE("who does not read a body without an end any more frees its place") {
  const Served served(
      [](const HttpRequest& asked, const HttpReply& reply) {
        if (asked.path != "/endless") return echo(asked, reply);
        HttpAnswer answer{200, "text/event-stream", {}};
        answer.next = [](const HttpReply& piece) { piece({200, {}, "more;"}); };
        reply(std::move(answer));
      },
      {.connections_max = 1, .pause = std::chrono::milliseconds(1)});
  {
    const HttpConnection endless(served.port());
    endless.send(request("GET /endless"));
    CHECK_THAT(endless.hear_some(), Catch::Contains("200 OK"));
    CHECK(get(served.port(), "/x").status == 0);  // The first client has the only place.
  }
  int status = 0;
  for (int i = 0; status != 200 && i < 10'000; ++i) status = get(served.port(), "/x").status;
  CHECK(status == 200);
}

TEST_CASE("there are no more connections than it has room for") {
  const Served served(echo, {.connections_max = 3});
  std::vector<std::unique_ptr<HttpConnection>> connections;
  for (int i = 0; i < 3; ++i) {
    connections.push_back(std::make_unique<HttpConnection>(served.port()));
    connections.back()->send(request("GET /"));
    REQUIRE(connections.back()->hear().status == 200);
  }
  CHECK(HttpConnection(served.port()).is_closed());
  connections.back()->send(request("GET /"));
  CHECK(connections.back()->hear().status == 200);
  // A connection that ends makes room.
  connections.pop_back();
  for (int status = 0; status != 200;) {
    const HttpConnection connection(served.port());
    connection.send(request("GET /"));
    status = connection.hear().status;
  }
}

// Connections that are made and left took all places, for a quarter of a minute each.
TEST_CASE("connections that are made and left keep nobody out") {
  const Served served(echo, {.connections_max = 10, .strangers_of_host_max = 4});
  const HttpConnection known(served.port());
  known.send(request("GET /"));
  REQUIRE(known.hear().status == 200);
  std::vector<std::unique_ptr<HttpConnection>> left;
  for (int i = 0; i < 30; ++i) {
    left.push_back(std::make_unique<HttpConnection>(served.port()));
    if (i % 2 == 0) left.back()->send("GET / HT");
  }
  CHECK(get(served.port(), "/x").status == 200);
  known.send(request("GET /"));
  CHECK(known.hear().status == 200);
  for (std::size_t i = 0; i + 4 < left.size(); ++i) CHECK(left[i]->is_closed());
}

TEST_CASE("who does not ask in time is not waited for") {
  const Served served(echo, {.stranger_for = std::chrono::milliseconds(50)});
  const HttpConnection silent(served.port()), slow(served.port());
  slow.send("GET / HT");
  CHECK(silent.is_closed());
  CHECK(slow.is_closed());
}

TEST_CASE("it ends while connections are open") {
  std::unique_ptr<HttpConnection> idle, asking;
  HttpReply kept;  // Neither answered nor dropped as long as it lives.
  {
    const Served served([&](const HttpRequest&, const HttpReply& reply) { kept = reply; });
    idle = std::make_unique<HttpConnection>(served.port());
    asking = std::make_unique<HttpConnection>(served.port());
    asking->send(request("GET /"));
  }
  CHECK(asking->is_closed());
  CHECK(idle->is_closed());
}

TEST_CASE("a port that is taken, and an address that is none, are told apart") {
  const Served served;
  const auto taken = HttpServer::open({.listen = {"127.0.0.1", served.port()}}, echo);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().code == ErrorCode::address_in_use);
  const auto none = HttpServer::open({.listen = {"127.0.0.1.1", 0}, .token = "sixteen-letters!"}, echo);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::address_invalid);
}

TEST_CASE("beyond loopback there is a token") {
  for (const char* token : {"", "too-short"}) {
    const auto open = HttpServer::open({.listen = {"0.0.0.0", 0}, .token = token}, echo);
    REQUIRE_FALSE(open);
    CHECK(open.error().code == ErrorCode::configuration_invalid);
    CHECK_THAT(open.error().hint, Catch::Contains("http_token"));
  }
  const Served served(echo, {.token = "sixteen-letters!"});
  CHECK(get(served.port(), "/").status == 401);
  CHECK(get(served.port(), "/", "Authorization: Bearer sixteen-letters!\r\n").status == 200);
}
