#pragma once
// HTTP for people, browsers and monitoring: one thread with kj-http that answers GET and HEAD. Decides the
// limits of connections; http_door.hpp decides access, and the owner the answers.

#include <chrono>
#include <functional>
#include <memory>

#include "libdag/base/time.hpp"
#include "libdag/net/address.hpp"
#include "nodes/http/http_door.hpp"

namespace dag::web {

/// May be called by any thread, later, once.
using HttpReply = std::function<void(HttpAnswer)>;
/// Called on the server's thread; must not block.
using HttpHandler = std::function<void(const HttpRequest&, HttpReply)>;

struct HttpOptions {
  net::Address listen{};
  /// Required beyond loopback.
  std::string token = {};
  /// More connections at a time than this are closed: the oldest of those that have not made an accepted
  /// request, or the new one if there are none.
  std::size_t connections_max = 256;
  /// Limit of such connections from one address, and of the time until the first request of each.
  std::size_t strangers_of_host_max = 64;
  Duration stranger_for = std::chrono::seconds(5);
  /// A request that is not answered within this time gets 503.
  std::function<Duration(const HttpRequest&)> answer_within = [](const HttpRequest&) {
    return std::chrono::seconds(5);
  };
  /// Between two pieces of a body without an end.
  Duration pause = std::chrono::milliseconds(500);
  /// Called first on the server's thread.
  std::function<void()> on_thread = [] {};
};

class HttpServer {
 public:
  /// address_invalid, address_in_use; configuration_invalid: it would listen beyond loopback without a token.
  static Result<std::unique_ptr<HttpServer>> open(HttpOptions options, HttpHandler handler);
  /// Ends all connections. Later replies go nowhere.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// With the actual port.
  const net::Address& address() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dag::web
