#pragma once
// Large outputs on their way to other hosts: plain TCP streams beside ZeroMQ, which has half the speed and
// copies bytes several times more. For one thread, except lending: a fetcher may name a token before that
// thread sees it. Decides nothing about which outputs are fetched.
//
// The owner lends bytes under a token and tells the token, by the link, to the processes that may have them.
// The fetcher connects to the lender's port, names the token and reads. A connection stays for the next
// fetch. Its messages:
//
//   fetcher -> lender   the token: 16 bytes
//   lender  -> fetcher  how many bytes there are (8 bytes), and the bytes; or `unknown`
//
// Numbers are little-endian. Tokens are answered in order. A token is a secret of 64 bits and a number: a
// stranger that reaches the port gets nothing but `unknown`.
//
// A caller is a stranger until it has named a token with lent bytes. Strangers are closed after a while, and
// the oldest make room when there are too many, those of the same address first: so abandoned connections
// keep no known caller out.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "dag/blob.hpp"
#include "libdag/base/result.hpp"
#include "libdag/base/time.hpp"
#include "libdag/net/address.hpp"

namespace dag::net {

struct StreamToken {
  std::uint64_t secret = 0;
  std::uint64_t number = 0;
  auto operator<=>(const StreamToken&) const = default;
};

class ByteStreams {
 public:
  /// Limit of connections from others. A new one is closed at once when all are of known callers.
  static constexpr std::size_t callers_max = 1024;
  /// Limit of strangers, in all and per address.
  static constexpr std::size_t strangers_max = 512, strangers_of_host_max = 128;
  /// Time that a caller may stay a stranger.
  static constexpr Duration stranger_for = std::chrono::seconds(2);
  /// Queued tokens per caller; further ones stay in its socket.
  static constexpr std::size_t waiting_max = 64;
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  /// Called once, from fetch(), poll(), forget() or the destructor. None: the bytes cannot be had from
  /// there.
  using Fetched = std::function<void(std::optional<Blob>)>;

  /// Listens at that host; port 0: any that is free.
  static Result<std::unique_ptr<ByteStreams>> open(const Address& listen);
  ~ByteStreams();
  ByteStreams(const ByteStreams&) = delete;
  ByteStreams& operator=(const ByteStreams&) = delete;

  const Address& address() const;

  // From any thread.
  /// From now on until take_back(), a caller that names the token gets these bytes.
  void lend(StreamToken token, Blob bytes);
  void take_back(StreamToken token);

  /// Asks the process at `owner` for `size_bytes`. Fails for another size, and when there is no memory. The
  /// memory is allocated when the bytes begin to come.
  void fetch(const Address& owner, StreamToken token, std::uint64_t size_bytes, Fetched fetched);
  /// Ends fetches from there without bytes.
  void forget(const Address& owner);

  /// Moves all that can be moved; waits for that, wake() or the timeout.
  void poll(Duration timeout);
  /// From any thread.
  void wake() noexcept;

 private:
  class Sockets;
  explicit ByteStreams(std::unique_ptr<Sockets> sockets);
  std::unique_ptr<Sockets> sockets_;
};

}  // namespace dag::net
