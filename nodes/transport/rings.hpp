#pragma once
// Rings in shared memory with peers, and the state of each pair (libdag/ring/messages.hpp has the protocol).
// On the transport's thread; the lanes use the rings.

#include <map>
#include <memory>
#include <optional>

#include "libdag/ring/ring_carrier.hpp"
#include "nodes/transport/transport.hpp"

namespace dag::transport {

class Rings {
 public:
  /// Peers beyond these get no ring: n processes of one host would have n * n inboxes.
  static constexpr std::ptrdiff_t peers_max = 32;

  /// Without a doorbell there are no rings, and offers are declined.
  Rings(std::shared_ptr<ring::Doorbell> doorbell, TransportEvents& events,
        std::function<void(Life, RingMessage)> send);

  /// The peer is a member, perhaps of this host: offers it a ring, once.
  void begin(Life peer);
  void on_message(Life from, RingMessage message);
  /// Lanes here and there use the ring: so each process can open memory that the other names.
  bool up(Life peer) const;
  /// Drops a life that is over, or no member of ours any more.
  void end(Life peer);
  /// Closes broken rings. Lanes see that at once and go the other way; here it is only said.
  void look();

 private:
  struct Peer {
    bool begun = false;
    bool closed = false;  ///< there will be no ring
    std::optional<ring::RingMemory> inbox;
    std::optional<ring::Offer> offered;  ///< by the peer; it may know of us before we know of it
    bool peer_is_ready = false;
    std::shared_ptr<ring::RingCarrier> carrier;
    bool up = false;
  };

  void open(Life life, Peer& peer);
  void bring_up(Life life, Peer& peer);
  void close(Life life, Peer& peer, const std::string& why);
  void let_go(Life life, Peer& peer);

  const std::shared_ptr<ring::Doorbell> doorbell_;
  TransportEvents& events_;
  const std::function<void(Life, RingMessage)> send_;
  /// Lives that the driver takes for alive.
  std::map<Life, Peer> peers_;
};

}  // namespace dag::transport
