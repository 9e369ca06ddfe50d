#pragma once
// All sockets of a process, for one thread. Decides nothing about the content. Its promise is small: a frame
// that was `sent` may still be lost when its connection breaks (link/ repeats it), but an arriving frame is
// whole and unchanged.

#include <chrono>
#include <memory>
#include <vector>

#include "libdag/base/result.hpp"
#include "libdag/base/time.hpp"
#include "libdag/net/address.hpp"
#include "libdag/net/transport_events.hpp"

namespace dag::net {

struct TransportOptions {
  /// Port 0: any that is free.
  Address listen{"127.0.0.1", 0};
  std::uint16_t bulk_port = 0;
  /// Without encryption, every process that reaches the port can speak to us, so this must be explicit.
  bool beyond_loopback = false;
  /// How long unsent frames may delay the end of the process.
  Duration linger = std::chrono::milliseconds(200);
  /// A dead peer is known when it refuses this first try. Doubled after each try, up to the second value.
  Duration reconnect_after = std::chrono::milliseconds(2);
  Duration reconnect_after_max = std::chrono::seconds(1);
};

enum class Sent {
  sent,
  /// The queue to this peer is full, or there is no connection at the moment: nothing was sent.
  busy,
  /// No such peer or caller (any more).
  gone,
};

class ZmqTransport {
 public:
  /// Listens at both ports. address_in_use names the port; address_invalid names a host that is not this
  /// machine's.
  static Result<std::unique_ptr<ZmqTransport>> open(const TransportOptions& options);
  ~ZmqTransport();
  ZmqTransport(const ZmqTransport&) = delete;
  ZmqTransport& operator=(const ZmqTransport&) = delete;

  /// Our address for others, with the ports that were chosen.
  const Address& control_address() const;
  const Address& bulk_address() const;

  /// Begins to connect; PeerConnected or PeerRefused follows. Reconnects after breaks until disconnect().
  /// Without a bulk address, bulk frames are `gone` until set_bulk_address.
  Result<PeerHandle> connect(const Address& control, const Address* bulk = nullptr);
  /// For a changed address: another process listens at the control address now, and frames queued for its
  /// predecessor are dropped.
  Status set_bulk_address(PeerHandle peer, const Address& bulk);
  /// Drops the frames that are still queued for it.
  void disconnect(PeerHandle peer);

  /// Never blocks. Large frames are not copied: the blob is shared with the I/O thread until it is sent.
  [[nodiscard]] Sent send(PeerHandle peer, Channel channel, Blob frame);
  /// On the connection that a caller made: only for callers to whom we have no connection of our own.
  [[nodiscard]] Sent answer(const CallerHandle& caller, Channel channel, Blob frame);

  /// Waits until something happens, wake() is called or the timeout has passed. Then takes available events,
  /// up to a limit per call, so that a flood does not keep the caller from its other work.
  std::vector<TransportEvent> poll(Duration timeout);

  /// From any thread: the present or next poll returns at once.
  void wake() noexcept;

 private:
  class Sockets;
  explicit ZmqTransport(std::unique_ptr<Sockets> sockets);
  std::unique_ptr<Sockets> sockets_;
};

}  // namespace dag::net
