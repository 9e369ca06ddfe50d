#include "nodes/http/http_server.hpp"

#include <kj/async-io.h>
#include <kj/compat/http.h>
#include <pthread.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <list>
#include <mutex>
#include <thread>

// kj's classes have no virtual destructors: the owner of an object knows its type.
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

namespace dag::web {
namespace {

constexpr auto slow_reader = 10 * kj::SECONDS;
constexpr const char* not_answered = "this request was not answered\n";
/// Time for the next piece of a body; a source without news must reply with an empty piece.
constexpr Duration piece_within = std::chrono::seconds(10);
constexpr auto out_of_files_pause = 100 * kj::MILLISECONDS;

std::string_view meaning_of(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 303:
      return "See Other";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    default:
      return status < 500 ? "Refused" : "Internal Server Error";
  }
}

kj::StringPtr text(const std::string& from) { return {from.c_str(), from.size()}; }
std::string text(kj::Maybe<kj::StringPtr> from) {
  KJ_IF_MAYBE (some, from) {
    return {some->begin(), some->size()};
  }
  return {};
}

/// The headers beyond those that HTTP itself needs.
struct Headers {
  kj::HttpHeaderTable::Builder builder;
  kj::HttpHeaderId origin = builder.add("Origin");
  kj::HttpHeaderId authorization = builder.add("Authorization");
  kj::HttpHeaderId cookie = builder.add("Cookie");
  kj::HttpHeaderId allow = builder.add("Allow");
  kj::HttpHeaderId authenticate = builder.add("WWW-Authenticate");
  kj::HttpHeaderId cache = builder.add("Cache-Control");
  kj::HttpHeaderId sniffing = builder.add("X-Content-Type-Options");
  kj::HttpHeaderId content = builder.add("Content-Security-Policy");
  kj::Own<kj::HttpHeaderTable> table = builder.build();
};

kj::HttpHeaders head_of(const HttpAnswer& answer, const Headers& ids) {
  kj::HttpHeaders headers(*ids.table);
  headers.set(kj::HttpHeaderId::CONTENT_TYPE, text(answer.type));
  headers.set(ids.cache, "no-store");
  headers.set(ids.sniffing, "nosniff");
  // Our pages load only our files, and no other page holds them in a frame.
  headers.set(ids.content, "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
  if (answer.status == 405) headers.set(ids.allow, "GET, HEAD");
  if (answer.status == 401) headers.set(ids.authenticate, "Bearer");
  for (const auto& [name, value] : answer.headers) headers.add(text(name), text(value));
  return headers;
}

kj::Promise<void> send(kj::HttpService::Response& response, const Headers& ids, const HttpAnswer& answer,
                       bool with_body) {
  const std::string meaning(meaning_of(answer.status));
  const std::string made = answer.made ? answer.made() : answer.body;
  auto stream = response.send(answer.status, text(meaning), head_of(answer, ids), made.size());
  if (!with_body) return kj::READY_NOW;
  auto body = kj::heapString(made.data(), made.size());
  auto written = stream->write(body.begin(), body.size());
  return written.attach(kj::mv(stream), kj::mv(body));
}

/// A body without an end.
struct Lasting {
  kj::Own<kj::AsyncOutputStream> stream;
  decltype(HttpAnswer::next) next;
};

class Service final : public kj::HttpService {
 public:
  /// `known`: a request of this connection was let in.
  Service(kj::Timer& timer, const Headers& headers, const HttpOptions& options, const HttpHandler& handler,
          bool& known)
      : timer_(timer),
        headers_(headers),
        options_(options),
        handler_(handler),
        door_{options.listen.host, options.token},
        known_(known) {}

  kj::Promise<void> request(kj::HttpMethod method, kj::StringPtr url, const kj::HttpHeaders& headers,
                            kj::AsyncInputStream&, Response& response) override {
    const bool with_body = method != kj::HttpMethod::HEAD;
    const auto sent = [this, &response, with_body](const HttpAnswer& answer) {
      if (answer.next && with_body) return lasts(response, answer);
      return timer_.timeoutAfter(slow_reader, send(response, headers_, answer, with_body));
    };
    const HttpHead head{kj::str(method).cStr(),
                        url.cStr(),
                        text(headers.get(kj::HttpHeaderId::HOST)),
                        text(headers.get(headers_.origin)),
                        text(headers.get(headers_.authorization)),
                        text(headers.get(headers_.cookie))};
    if (const auto refused = door_.turns_away(head)) return sent(*refused);
    known_ = true;
    const Result<HttpRequest> asked = parse_target(head.target);
    if (!asked) return sent({400, HttpAnswer{}.type, asked.error().what + "\n"});
    return answer_to([&](HttpReply reply) { handler_(*asked, std::move(reply)); },
                     options_.answer_within(*asked))
        .then([sent](HttpAnswer answer) { return sent(answer); });  // kj refers to what is no temporary.
  }

 private:
  /// The answer in time, or an answer that reports a timeout.
  kj::Promise<HttpAnswer> answer_to(const std::function<void(HttpReply)>& question, Duration within) {
    auto pair = kj::newPromiseAndCrossThreadFulfiller<HttpAnswer>();
    // A function is copied, what fulfils is not.
    const auto fulfiller =
        std::make_shared<kj::Own<kj::CrossThreadPromiseFulfiller<HttpAnswer>>>(kj::mv(pair.fulfiller));
    try {
      question([fulfiller](HttpAnswer answer) { (*fulfiller)->fulfill(std::move(answer)); });
    } catch (const std::exception&) {
      return HttpAnswer{500, HttpAnswer{}.type, not_answered};
    }
    auto late = timer_.afterDelay(within.count() * kj::NANOSECONDS).then([within] {
      const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(within);
      return HttpAnswer{503, HttpAnswer{}.type,
                        "this node has not answered within " + std::to_string(limit.count()) + " ms\n"};
    });
    return pair.promise.exclusiveJoin(kj::mv(late));
  }

  kj::Promise<void> lasts(Response& response, const HttpAnswer& answer) {
    const std::string meaning(meaning_of(answer.status));
    auto body = kj::heap<Lasting>();
    body->stream = response.send(answer.status, text(meaning), head_of(answer, headers_), nullptr);
    body->next = answer.next;
    Lasting& of = *body;
    return go_on(of).attach(kj::mv(body));
  }

  /// Until the body ends, or the browser is gone. A slow reader gets fewer pieces.
  kj::Promise<void> go_on(Lasting& body) {
    return answer_to(body.next, piece_within).then([this, &body](HttpAnswer piece) -> kj::Promise<void> {
      if (piece.status != 200) return kj::READY_NOW;
      kj::Promise<void> written = kj::READY_NOW;
      if (!piece.body.empty()) {
        auto bytes = kj::heapString(piece.body.data(), piece.body.size());
        auto out = body.stream->write(bytes.begin(), bytes.size());
        written = timer_.timeoutAfter(slow_reader, out.attach(kj::mv(bytes)));
      }
      return written.then([this] { return timer_.afterDelay(options_.pause.count() * kj::NANOSECONDS); })
          .then([this, &body] { return go_on(body); });
    });
  }

  kj::Timer& timer_;
  const Headers& headers_;
  const HttpOptions& options_;
  const HttpHandler& handler_;
  const HttpDoor door_;
  bool& known_;
};

/// Answers for failures of the server itself: they tell nothing of its inside.
class Mistakes final : public kj::HttpServerErrorHandler {
 public:
  explicit Mistakes(const Headers& headers) : headers_(headers) {}

  kj::Promise<void> handleClientProtocolError(kj::HttpHeaders::ProtocolError error,
                                              kj::HttpService::Response& response) override {
    return send(response, headers_,
                {error.statusCode, HttpAnswer{}.type, kj::str(error.description, "\n").cStr()}, true);
  }
  kj::Promise<void> handleApplicationError(kj::Exception exception,
                                           kj::Maybe<kj::HttpService::Response&> response) override {
    if (exception.getType() == kj::Exception::Type::DISCONNECTED) return kj::READY_NOW;
    KJ_IF_MAYBE (to, response) {
      return send(*to, headers_, {500, HttpAnswer{}.type, not_answered}, true);
    }
    return kj::READY_NOW;
  }

 private:
  const Headers& headers_;
};

/// A connection.
struct Guest {
  std::string host;
  bool known = false, leaves = false;
  kj::Own<kj::PromiseFulfiller<void>> leave = {};
};

/// Without the port that the other end happens to have.
std::string host_of(kj::PeerIdentity& peer) {
  auto* network = dynamic_cast<kj::NetworkPeerIdentity*>(&peer);
  if (network == nullptr) return {};
  const std::string address(network->getAddress().toString().cStr());
  return address.substr(0, address.rfind(':'));
}

/// All that lives on the server's thread.
class Listener final : private kj::TaskSet::ErrorHandler {
 public:
  Listener(kj::Timer& timer, kj::ConnectionReceiver& port, const HttpOptions& options,
           const HttpHandler& handler)
      : timer_(timer), port_(port), options_(options), handler_(handler), connections_(*this) {}

  /// Never done. A connection that cannot be had, for want of files say, is not the end.
  kj::Promise<void> accept() {
    return port_.acceptAuthenticated()
        .then(
            [this](kj::AuthenticatedStream connection) {
              welcome(host_of(*connection.peerIdentity), kj::mv(connection.stream));
              return kj::Promise<void>(kj::READY_NOW);
            },
            [this](kj::Exception&&) { return timer_.afterDelay(out_of_files_pause); })
        .then([this] { return accept(); });
  }

 private:
  struct Served {
    Served(Listener& by, bool& known)
        : service(by.timer_, by.headers_, by.options_, by.handler_, known),
          server(by.timer_, *by.headers_.table, service, by.settings()) {}
    Service service;
    kj::HttpServer server;
  };

  void welcome(std::string host, kj::Own<kj::AsyncIoStream> connection) {
    guests_.emplace_back();
    const auto guest = std::prev(guests_.end());
    guest->host = std::move(host);
    if (const auto goes = too_many(guest->host); goes == guest) {
      guests_.erase(guest);
      return;
    } else if (goes != guests_.end()) {
      goes->leave->fulfill();
      goes->leaves = true;
    }
    auto leave = kj::newPromiseAndFulfiller<void>();
    guest->leave = kj::mv(leave.fulfiller);
    auto served = kj::heap<Served>(*this, guest->known);
    auto done = served->server.listenHttp(kj::mv(connection));
    connections_.add(
        done.exclusiveJoin(kj::mv(leave.promise)).attach(kj::mv(served), kj::defer([this, guest] {
                                                           guests_.erase(guest);
                                                         })));
  }

  /// The guest that has to go now that one more has come from there; the end: nobody. Strangers go, the
  /// oldest first; guests are in the order in which they came, so if all are known it is the new one.
  std::list<Guest>::iterator too_many(const std::string& host) {
    std::size_t all = 0, of_host = 0;
    for (const Guest& guest : guests_) {
      all += guest.leaves ? 0 : 1;
      of_host += !guest.leaves && !guest.known && guest.host == host ? 1 : 0;
    }
    const bool from_there = of_host > options_.strangers_of_host_max;
    if (!from_there && all <= options_.connections_max) return guests_.end();
    return std::find_if(guests_.begin(), guests_.end(), [&](const Guest& guest) {
      return !guest.leaves && !guest.known && (!from_there || guest.host == host);
    });
  }

  kj::HttpServerSettings settings() {
    kj::HttpServerSettings settings;
    settings.headerTimeout = options_.stranger_for.count() * kj::NANOSECONDS;
    settings.errorHandler = mistakes_;
    return settings;
  }
  void taskFailed(kj::Exception&&) override {}  // A connection broke.

  kj::Timer& timer_;
  kj::ConnectionReceiver& port_;
  const HttpOptions& options_;
  const HttpHandler& handler_;
  Headers headers_;
  Mistakes mistakes_{headers_};
  std::list<Guest> guests_;
  kj::TaskSet connections_;
};

Error cannot_listen(const net::Address& address, const kj::Exception& why) {
  const std::string what(why.getDescription().cStr());
  const std::string where = net::to_string(address);
  if (what.find("in use") != std::string::npos)
    return {ErrorCode::address_in_use, "another process listens on " + where,
            "port 0 takes any that is free"};
  return {ErrorCode::address_invalid, "cannot listen on " + where, "name an address of this machine", what};
}

}  // namespace

struct HttpServer::Impl {
  HttpOptions options;
  HttpHandler handler;
  kj::Own<kj::CrossThreadPromiseFulfiller<void>> stop;
  std::thread thread;

  /// Says where it listens, or why not; then serves until `stop`.
  void run(std::promise<Result<std::uint16_t>> opened) {
    pthread_setname_np(pthread_self(), "dag-web");
    options.on_thread();
    bool said = false;
    const auto problem = kj::runCatchingExceptions([&] {
      auto io = kj::setupAsyncIo();
      const std::string host = net::to_string(options.listen);
      auto port = io.provider->getNetwork()
                      .parseAddress(text(host), options.listen.port)
                      .wait(io.waitScope)
                      ->listen();
      auto stopped = kj::newPromiseAndCrossThreadFulfiller<void>();
      stop = kj::mv(stopped.fulfiller);
      Listener listener(io.provider->getTimer(), *port, options, handler);
      opened.set_value(static_cast<std::uint16_t>(port->getPort()));
      said = true;
      listener.accept().exclusiveJoin(kj::mv(stopped.promise)).wait(io.waitScope);
    });
    KJ_IF_MAYBE (why, problem) {
      if (!said) opened.set_value(cannot_listen(options.listen, *why));
    }
  }
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() {
  impl_->stop->fulfill();
  impl_->thread.join();
}

const net::Address& HttpServer::address() const { return impl_->options.listen; }

Result<std::unique_ptr<HttpServer>> HttpServer::open(HttpOptions options, HttpHandler handler) {
  if (!net::is_loopback(options.listen) && options.token.size() < token_bytes_min) {
    return Error{
        ErrorCode::configuration_invalid,
        "HTTP on " + net::to_string(options.listen) + " would be open to whoever reaches this machine",
        "set http_token to at least " + std::to_string(token_bytes_min) +
            " characters that nobody guesses, or listen on 127.0.0.1"};
  }
  auto impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  impl->handler = std::move(handler);
  std::promise<Result<std::uint16_t>> opened;
  auto port = opened.get_future();
  impl->thread =
      std::thread([&self = *impl, opened = std::move(opened)]() mutable { self.run(std::move(opened)); });
  const Result<std::uint16_t> got = port.get();
  if (!got) {
    impl->thread.join();
    return got.error();
  }
  impl->options.listen.port = *got;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

}  // namespace dag::web
