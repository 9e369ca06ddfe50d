#pragma once
// An HTTP client that sends and reads byte by byte: tests of a server must be able to be bad clients.

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/support/patience.hpp"

namespace dag::test {

struct HttpHeard {
  int status = 0;  ///< 0: the connection was closed without a word
  std::string head, body;
};

constexpr std::chrono::milliseconds for_server = std::chrono::minutes(1);

/// A connection to 127.0.0.1.
class HttpConnection {
 public:
  explicit HttpConnection(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0)
      throw std::runtime_error("no server");
  }
  ~HttpConnection() { close(socket_); }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// Reads until the server closes the connection, or has sent the length that its head announces, if any.
  HttpHeard hear() const {
    std::string all;
    for (;;) {
      const auto end = all.find("\r\n\r\n");
      if (end != std::string::npos && all.size() - end - 4 >= length_in(all.substr(0, end))) break;
      char bytes[16384];
      pollfd one{socket_, POLLIN, 0};
      if (poll(&one, 1, patient_ms(for_server)) != 1)
        throw std::runtime_error("the server says nothing: " + all);
      const ssize_t got = recv(socket_, bytes, sizeof bytes, 0);
      if (got <= 0) break;
      all.append(bytes, static_cast<std::size_t>(got));
    }
    const auto end = all.find("\r\n\r\n");
    if (end == std::string::npos) return {};
    return {std::stoi(all.substr(all.find(' ') + 1)), all.substr(0, end), all.substr(end + 4)};
  }
  /// The beginning of an answer that has no end.
  std::string hear_some() const {
    char bytes[16384];
    pollfd one{socket_, POLLIN, 0};
    if (poll(&one, 1, patient_ms(for_server)) != 1) throw std::runtime_error("the server says nothing");
    const ssize_t got = recv(socket_, bytes, sizeof bytes, 0);
    return {bytes, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }
  /// The server has closed it.
  bool is_closed() const {
    pollfd one{socket_, POLLIN, 0};
    char byte = 0;
    return poll(&one, 1, patient_ms(for_server)) == 1 && recv(socket_, &byte, 1, 0) <= 0;
  }

 private:
  static std::size_t length_in(const std::string& head) {
    const auto at = head.find("Content-Length: ");
    return at == std::string::npos ? ~std::size_t{0} : std::stoul(head.substr(at + 16));
  }
  int socket_;
};

/// `more`: lines of the head, each with its end. As version 1.0, which knows no answers in pieces.
inline HttpHeard get(std::uint16_t port, const std::string& target, const std::string& more = {}) {
  const HttpConnection connection(port);
  connection.send("GET " + target + " HTTP/1.0\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n" + more +
                  "\r\n");
  return connection.hear();
}

}  // namespace dag::test
