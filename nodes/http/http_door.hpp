#pragma once
// Who may ask a node's HTTP server, and what for. Decides only that; sockets are http_server.hpp's.
//
// A browser is led astray in two ways, and a node on loopback has nothing else to fear: a page from elsewhere
// sends requests here (whose answers the browser shows it only where Origin was accepted, if at all), or a
// name of somebody else's is made to lead to this machine (then the browser says that name: Host). So both
// are looked at, whatever the method. Who listens beyond loopback wants a token besides; who has it may call
// the server by any name. A person opens /?token=TOKEN once, and the browser keeps it as a cookie.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "libdag/base/result.hpp"

namespace dag::web {

/// What counts of the head of a request; empty: it is not there.
struct HttpHead {
  std::string method, target, host, origin, authorization, cookie;
};

/// A request that was let in: it reads.
struct HttpRequest {
  std::string path;                          ///< without what is behind `?`; decoded
  std::map<std::string, std::string> query;  ///< decoded; of a name that comes twice, the first
};

struct HttpAnswer {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  /// In its place, if it is there: called by the server's thread, so that nobody else has the work.
  std::function<std::string()> made = {};
  /// In place of both: a body without an end. Called by the server's thread for its next piece, a while after
  /// the one before went out; must not block, and has the piece replied as a body, which may be empty. A
  /// status other than 200 ends it.
  std::function<void(std::function<void(HttpAnswer)>)> next = {};
  /// Besides those that every answer has.
  std::map<std::string, std::string> headers = {};
};

struct HttpDoor {
  /// Where it listens, as it was told: a name that stands there may be used to come here.
  std::string host;
  /// Empty: nobody is asked for one.
  std::string token;

  /// An answer that says why not and what to do, when it is not let in: 400, 401, 403 or 405; or 303, which
  /// has a browser keep the token that it came with.
  std::optional<HttpAnswer> turns_away(const HttpHead& head) const;

 private:
  bool brings_token(const HttpHead& head) const;
};

/// A token that is shorter is guessed.
inline constexpr std::size_t token_bytes_min = 16;

/// usage: it is no path of a server.
Result<HttpRequest> parse_target(std::string_view target);

}  // namespace dag::web
