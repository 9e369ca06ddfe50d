#pragma once
// A thread that moves large outputs to and from other hosts (libdag/net/byte_streams.hpp), so that control
// never waits for them. It begins, and listens, when it is first used: most processes never move any.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "libdag/net/byte_streams.hpp"

namespace dag::transport {

class Streams {
 public:
  /// Listens at this host, at any port.
  explicit Streams(std::string host);
  /// Fetches in progress end without their bytes.
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  /// A reader that names the token to the port gets these bytes, until take_back(). Nothing: no port is open.
  std::optional<std::uint16_t> lend(net::StreamToken token, Blob bytes);
  void take_back(net::StreamToken token);
  /// `fetched` is called once, on the thread, or at once without a thread; nothing: there are no bytes.
  void fetch(const net::Address& owner, net::StreamToken token, std::uint64_t size_bytes,
             net::ByteStreams::Fetched fetched);
  void forget(const net::Address& owner);

 private:
  class Thread;
  Thread* thread();

  const std::string host_;
  bool failed_ = false;
  std::unique_ptr<Thread> thread_;
};

}  // namespace dag::transport
