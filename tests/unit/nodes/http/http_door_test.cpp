// Access to the HTTP server of a node, whatever browsers are made to send.

#include "nodes/http/http_door.hpp"

#include <catch2/catch.hpp>

using namespace dag::web;

namespace {

HttpHead head_of(std::string host, std::string origin = {}, std::string method = "GET") {
  return {std::move(method), "/", std::move(host), std::move(origin), {}, {}};
}

constexpr const char* methods[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "made up"};

/// 200: it is let in.
unsigned status_of(const HttpHead& head, const HttpDoor& door = {"127.0.0.1", ""}) {
  const auto refused = door.turns_away(head);
  if (refused) CHECK(refused->body.size() > 10);  // The answer says why.
  return refused ? refused->status : 200;
}

}  // namespace

TEST_CASE("addresses lead to a server, names of others do not") {
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:80", "localhost", "LocalHost:8080", "[::1]", "[::1]:99", "10.1.2.3:9100"}) {
    INFO(host);
    CHECK(status_of(head_of(host)) == 200);
  }
  for (const char* host :
       {"evil.example", "evil.example:9100", "127.0.0.1.evil.example", "localhost.evil.example"}) {
    INFO(host);
    CHECK(status_of(head_of(host)) == 403);
  }
  for (const char* host : {"", ":80", "[::1", "127.0.0.1:", "127.0.0.1:8o", "127.0.0.1:1234567", "[::1]x"}) {
    INFO(host);
    CHECK(status_of(head_of(host)) == 400);
  }
  CHECK(status_of(head_of("Node1:9100"), {"node1", ""}) == 200);
  CHECK(status_of(head_of("node2:9100"), {"node1", ""}) == 403);
}

TEST_CASE("pages of others may not ask") {
  CHECK(status_of(head_of("127.0.0.1:9100", "http://127.0.0.1:9100")) == 200);
  CHECK(status_of(head_of("127.0.0.1:9100", "https://127.0.0.1:9100")) == 200);
  for (const char* origin : {"http://evil.example", "null", "http://127.0.0.1", "http://127.0.0.1:9101",
                             "http://127.0.0.1:9100.evil.example"}) {
    INFO(origin);
    for (const char* method : methods) CHECK(status_of(head_of("127.0.0.1:9100", origin, method)) == 403);
  }
}

TEST_CASE("Host and Origin are checked whatever the method, with a token too") {
  const HttpDoor without{"127.0.0.1", ""}, with{"0.0.0.0", "sixteen-letters!"};
  for (const char* method : methods) {
    INFO(method);
    CHECK(status_of(head_of("", "", method), without) == 400);
    CHECK(status_of(head_of("evil.example", "", method), without) == 403);
    CHECK(status_of(head_of("evil.example", "http://evil.example", method), without) == 403);
    // Both are asked of a bearer of the token as well. Any name will do, as no page of others has the token.
    for (const char* host : {"", ":80", "[::1", "10.0.0.1:"}) {
      INFO(host);
      HttpHead head = head_of(host, "", method);
      CHECK(status_of(head, with) == 400);
      head.authorization = "Bearer sixteen-letters!";
      CHECK(status_of(head, with) == 400);
    }
    for (const char* origin : {"http://evil.example", "null", "http://10.0.0.1:9101"}) {
      INFO(origin);
      HttpHead head = head_of("10.0.0.1:9100", origin, method);
      CHECK(status_of(head, with) == 403);
      head.authorization = "Bearer sixteen-letters!";
      CHECK(status_of(head, with) == 403);
      head.authorization.clear();
      head.cookie = "dag_token_9100=sixteen-letters%21";
      CHECK(status_of(head, with) == 403);
      head.origin = "http://10.0.0.1:9100";
      const bool reads = head.method == "GET" || head.method == "HEAD";
      CHECK(status_of(head, with) == (reads ? 200 : 405));  // The cookie is the right one.
    }
  }
}

TEST_CASE("nothing is changed") {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    INFO(method);
    CHECK(status_of(head_of("localhost", "", method)) == 405);
  }
  CHECK(status_of(head_of("localhost", "", "HEAD")) == 200);
}

TEST_CASE("who has a token asks for it first") {
  const HttpDoor door{"0.0.0.0", "sixteen-letters!"};
  HttpHead head = head_of("10.0.0.1:9100");
  CHECK(status_of(head, door) == 401);
  for (const char* wrong : {"Bearer", "Bearer sixteen-letters", "bearer sixteen-letters!",
                            "Basic sixteen-letters!", "Bearer sixteen-letters!!"}) {
    head.authorization = wrong;
    CHECK(status_of(head, door) == 401);
  }
  head.method = "POST";
  CHECK(status_of(head, door) == 401);  // The caller learns nothing.
  head.method = "GET";
  head.authorization = "Bearer sixteen-letters!";
  CHECK(status_of(head, door) == 200);
  head.host = "any-name-of-it:9100";
  CHECK(status_of(head, door) == 200);
  head.origin = "http://evil.example";
  CHECK(status_of(head, door) == 403);
}

TEST_CASE("a target is a path and a query") {
  const HttpRequest request = parse_target("/api/job%37?name=a%20b+c&empty&x=1&x=2&=3").value_or_throw();
  CHECK(request.path == "/api/job7");
  CHECK(request.query == std::map<std::string, std::string>{{"name", "a b c"}, {"empty", ""}, {"x", "1"}});
  CHECK(parse_target("/").value_or_throw().query.empty());
  CHECK(parse_target("/?").value_or_throw().query.empty());
  for (const char* none : {"", "metrics", "/%", "/%4", "/%zz", "/%00", "http://x/", "*", "/?a=%f"}) {
    INFO(none);
    CHECK_FALSE(parse_target(none));
  }
}

TEST_CASE("a browser brings a token once, and keeps it") {
  const HttpDoor door{"0.0.0.0", "sixteen letters; and more=%"};
  HttpHead head = head_of("10.0.0.1:9100");
  head.target = "/?token=sixteen+letters%3B%20and+more%3D%25";
  const auto kept = door.turns_away(head);
  REQUIRE(kept);
  CHECK(kept->status == 303);
  CHECK(kept->headers.at("Location") == "/");
  const std::string cookie = kept->headers.at("Set-Cookie");
  const std::string pair = cookie.substr(0, cookie.find(';'));
  CHECK(pair == "dag_token_9100=sixteen%20letters%3B%20and%20more%3D%25");
  CHECK(cookie.substr(pair.size()) == "; Path=/; HttpOnly; SameSite=Lax");
  // Only there, and only with the right one.
  for (const char* target :
       {"/?token=sixteen", "/?token=", "/api/cluster?token=sixteen+letters%3B%20and+more%3D%25", "/",
        "/?token=sixteen+letters%3B%20and+more%3D%25%25"}) {
    INFO(target);
    head.target = target;
    CHECK(status_of(head, door) == 401);
  }
  head.target = "/api/cluster";
  for (const std::string& with :
       {pair, "a=b; " + pair, pair + "; c=d", "x=" + std::string(pair) + ";" + pair}) {
    INFO(with);
    head.cookie = with;
    CHECK(status_of(head, door) == 200);
  }
  for (const std::string& with : {std::string("dag_token_9100="), std::string("dag_token_9100"),
                                  "dag_token" + pair.substr(pair.find('=')), pair + "x", "x" + pair}) {
    INFO(with);
    head.cookie = with;
    CHECK(status_of(head, door) == 401);
  }
}
