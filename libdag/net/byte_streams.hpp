#pragma once
// Large outputs on their way to other hosts: plain TCP streams beside ZeroMQ, through which bytes go at half
// the speed and are copied some times more. For one thread, but for lending: whoever was told a token may ask
// before that thread looks up. Decides nothing about what is fetched.
//
// Whoever has bytes lends them under a token and says the token, by the link, to who may have them; who was
// told connects to the lender's port, names the token and reads. A connection stays for the next fetch. On
// it:
//
//   fetcher -> lender   the token: 16 bytes
//   lender  -> fetcher  how many bytes there are (8 bytes), and the bytes; or `unknown`
//
// Numbers are little-endian. Tokens are answered in their order. A token is a secret of 64 bits and a number:
// a stranger who reaches the port gets nothing but `unknown`.
//
// A caller is a stranger until it has named a token under which something is lent. Strangers are closed after
// a while, and the oldest ones make room when there are too many, of their own address first: so nobody who
// is known is kept out by connections that are made and left.

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
  /// Connections that others made. Who comes when all are of known callers is closed at once.
  static constexpr std::size_t callers_max = 1024;
  /// Those of strangers, in all and of one address.
  static constexpr std::size_t strangers_max = 512, strangers_of_host_max = 128;
  /// So long a caller may stay a stranger.
  static constexpr Duration stranger_for = std::chrono::seconds(2);
  /// Tokens of one caller that wait for their turn; further ones stay in its socket.
  static constexpr std::size_t waiting_max = 64;
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  /// Called once, from fetch(), poll(), forget() or the destructor. Nothing: the bytes cannot be had from
  /// there.
  using Fetched = std::function<void(std::optional<Blob>)>;

  /// Listens at that host; port 0: any that is free.
  static Result<std::unique_ptr<ByteStreams>> open(const Address& listen);
  ~ByteStreams();
  ByteStreams(const ByteStreams&) = delete;
  ByteStreams& operator=(const ByteStreams&) = delete;

  const Address& address() const;

  // From any thread.
  /// From now on until take_back(), who names the token gets these bytes.
  void lend(StreamToken token, Blob bytes);
  void take_back(StreamToken token);

  /// Asks the process at `owner` for `size_bytes`; another size is as good as none, and so is one for which
  /// there is no memory. The memory is taken when the bytes begin to come.
  void fetch(const Address& owner, StreamToken token, std::uint64_t size_bytes, Fetched fetched);
  /// Fetches from there end without their bytes.
  void forget(const Address& owner);

  /// Moves what can be moved; waits for that, wake() or the timeout.
  void poll(Duration timeout);
  /// From any thread.
  void wake() noexcept;

 private:
  class Sockets;
  explicit ByteStreams(std::unique_ptr<Sockets> sockets);
  std::unique_ptr<Sockets> sockets_;
};

}  // namespace dag::net
