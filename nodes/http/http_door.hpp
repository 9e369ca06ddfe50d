#pragma once
// Access control of a node's HTTP server. Decides only that; http_server.hpp has the sockets.
//
// A node on loopback has two attacks by way of a browser to fear. A page from elsewhere sends requests here
// (the browser shows it the answers only where Origin was accepted). Or a foreign name is made to lead to
// this machine (then the browser sends that name: Host). So both headers are checked, whatever the method. A
// server beyond loopback needs a token besides; with the token a request may use any name. A person opens
// /?token=TOKEN once, and the browser keeps the token as a cookie.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "libdag/base/result.hpp"

namespace dag::web {

/// The checked parts of a request's head; empty: it is not there.
struct HttpHead {
  std::string method, target, host, origin, authorization, cookie;
};

/// A request that was let in; it only reads.
struct HttpRequest {
  std::string path;                          ///< without what is behind `?`; decoded
  std::map<std::string, std::string> query;  ///< decoded; of a name that comes twice, the first
};

struct HttpAnswer {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  /// In place of `body`: made by the server's thread, so that no other thread has the work.
  std::function<std::string()> made = {};
  /// In place of both: a body without an end. Called by the server's thread for the next piece, a while after
  /// the last one went out. Must not block; replies with the piece as a body, which may be empty. A status
  /// other than 200 ends the body.
  std::function<void(std::function<void(HttpAnswer)>)> next = {};
  /// In addition to the headers of every answer.
  std::map<std::string, std::string> headers = {};
};

struct HttpDoor {
  /// Where the server listens, as configured: a request may use this name.
  std::string host;
  /// Empty: no token is needed.
  std::string token;

  /// The refusal of a request that is not let in, with reason and advice: 400, 401, 403 or 405. Or 303, which
  /// has a browser keep the token of its request.
  std::optional<HttpAnswer> turns_away(const HttpHead& head) const;

 private:
  bool brings_token(const HttpHead& head) const;
};

/// A shorter token can be guessed.
inline constexpr std::size_t token_bytes_min = 16;

/// Error (usage): it is not a path of a server.
Result<HttpRequest> parse_target(std::string_view target);

}  // namespace dag::web
